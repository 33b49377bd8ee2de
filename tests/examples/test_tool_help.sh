#!/bin/bash
# SPDX-License-Identifier: MIT
# weir help opens the manual page of a command with man. Without man or the page it prints the text
# of --help, and names the place of the page.
# Usage: test_tool_help.sh path/to/weir path/to/pages
pages=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

commands=$("$weir" help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -v '^weir$')
mkdir -p bin found/man1 found/man7 empty
cp "$pages"/*.1 found/man1
cp "$pages"/*.7 found/man7
# A man that tells how it was called, and ends as it is told.
printf '#!/bin/sh\necho "man:$#:$*:"\nexit "${MAN_STATUS:-0}"\n' >bin/man
chmod +x bin/man

test_without_a_command_it_lists_the_commands() {
	local command
	for command in help '--help' 'help help'; do
		# shellcheck disable=SC2086
		run 0 "$weir" $command
		prints '^  build  *make a filter of the lines of files$'
		prints "^'weir help COMMAND' opens the manual page of a command"
	done
	[ "$(wc -w <<<"$commands")" -ge 15 ] && ok || fail 'commands' "$commands"
}

test_each_command_has_a_page_that_man_is_asked_for() {
	local command
	for command in $commands; do
		PATH=$work/bin:$PATH run 0 "$weir" help "$command"
		prints "^man:1:weir-$command:\$"
		[ "$(wc -l <out)" = 1 ] && ok || fail "help $command prints more" "$(cat out)"
		same err /dev/null "help $command"
		[ -s "$pages/weir-$command.1" ] && ok || fail "there is no weir-$command(1)"
		"$weir" "$command" --help >short
		run 0 "$weir" "$command" --help
		prints "^Usage: weir $command "
	done
	grep -q '^replicate$' <<<"$commands" || return 0
	for command in publish follow status rollback key; do
		PATH=$work/bin:$PATH run 0 "$weir" help replicate $command
		prints "^man:1:weir-replicate-$command:\$"
		[ -s "$pages/weir-replicate-$command.1" ] && ok || fail "no page of $command"
	done
}

test_man_finds_the_page_by_MANPATH() {
	command -v man >/dev/null && command -v nroff >/dev/null || return 0
	MANPATH=$work/found man build >/dev/null 2>&1
	MANPATH=$work/found man -P cat weir-build >shown 2>/dev/null || return 0 # man shows none
	MANPATH=$work/found MANPAGER=cat run 0 "$weir" help build
	prints 'weir-build.*make a filter of the lines of files'
	prints 'EXAMPLES'
	same out shown 'what man shows'
	MANPATH=$work/empty run 0 "$weir" help build
	prints '^Usage: weir build '
	says '^weir: man does not show weir-build(1), whose place is /.*/man1/weir-build.1: '
}

test_without_man_it_prints_the_short_text() {
	local command
	for command in $commands; do
		"$weir" "$command" --help >short
		PATH=$work/empty run 0 "$weir" help "$command"
		same out short "help $command without man"
		says "^weir: cannot run man: install man-db; the page is /.*/man1/weir-$command.1\$"
		MAN_STATUS=16 PATH=$work/bin:$PATH run 0 "$weir" help "$command"
		tail -n +2 out >rest
		same rest short "help $command without its page"
		says "^weir: man does not show weir-$command(1), whose place is /"
	done
}

test_the_page_names_each_option_of_the_short_text() {
	local command option
	for command in $commands; do
		cat "$pages/weir-$command"*.1 | sed 's/\\-/-/g' >page
		"$weir" "$command" --help | grep -o -- '^ *\(-[a-z0-9], \)\?--[a-z-]*' |
			grep -o -- '--[a-z-]*' | grep -v -e '^--help$' >options
		while read -r option; do
			grep -q "Fl -*${option#--}\b" page && ok ||
				fail "weir-$command(1) does not name $option"
		done <options
	done
}

test_an_unknown_command_is_an_error() {
	local word
	# shellcheck disable=SC2016
	for word in qeury nothing '' -k '$(touch run)' '; touch run' ../build; do
		PATH=$work/bin:$PATH run 2 "$weir" help "$word"
		says '^weir: .* is not a command'
		if has 'man:' out; then fail "man was asked for '$word'"; else ok; fi
	done
	run 2 "$weir" help qeury; says "^weir: 'qeury' is not a command: did you mean query?"
	PATH=$work/bin:$PATH run 0 "$weir" help build '; touch run'; prints '^man:1:weir-build:$'
	absent run 'a word was run as a command'
	grep -q '^replicate$' <<<"$commands" || return 0
	PATH=$work/bin:$PATH run 2 "$weir" help replicate nothing
	says "'nothing' is not a command of replicate: give publish, follow, status, rollback"
}

for part in without_a_command_it_lists_the_commands \
		each_command_has_a_page_that_man_is_asked_for man_finds_the_page_by_MANPATH \
		without_man_it_prints_the_short_text \
		the_page_names_each_option_of_the_short_text an_unknown_command_is_an_error; do
	test_$part
done
finish
