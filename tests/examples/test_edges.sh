#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests how the weir command prints names from others and numbers that JSON lacks, and how it
# handles signals. Usage: test_edges.sh path/to/weir path/to/make_image [path/to/interrupt.so]
make_image=$(realpath "$2") interrupt=${3:+$(realpath "$3")}
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# A terminal title, a cleared screen, C1 in UTF-8 and in Latin-1, a second line, DEL.
evil=$'\033]0;owned\a\033[2J\302\2332J\233\nweir: all is well\177'
shown='\\033\]0;owned\\007\\033\[2J\\302\\2332J\\233\\nweir: all is well\\177'
good=$'gr\303\266\303\237e'
controls=$'[\001-\010\013\014\016-\037\177\200-\237]'

# plain FILE: the file has no control character except newlines.
plain() {
	if LC_ALL=C grep -q "$controls" <(sed "s/$good//g" "$1"); then
		fail "control characters in $1" "$(cat -v "$1" | head -c 600)"
	else
		ok
	fi
}

# Messages on standard error are escaped, even if it is not a terminal.
test_messages_are_escaped() {
	local name
	run 0 "$weir" build -q -s 7 -p 1% -o set.weir keys
	for name in "$evil" "./$evil" "$evil.gz"; do
		run 2 "$weir" query "$name" keys; plain err; says "$shown"
		run 2 "$weir" query set.weir "$name"; plain err; says "$shown"
		run 2 "$weir" build -o no.weir "$name"; plain err; says "$shown"
		run 2 "$weir" build -o "no/$name" keys; plain err; says "$shown"
		run 2 "$weir" build --like="$name" -o no.weir keys; plain err; says "$shown"
		run 2 "$weir" merge -o no.weir set.weir "$name"; plain err; says "$shown"
		run 2 "$weir" info "$name"; plain err; says "$shown"
		run 2 "$weir" verify "$name"; plain err; says "$shown"
		run 2 "$weir" drill "$name"; plain err; says "$shown"
		# A message that begins with the name has the name once.
		run 2 "$weir" verify "$name"
		if [ "$(grep -o owned err | wc -l)" = 1 ]; then ok; else fail 'named twice'; fi
	done
	# A name of escapes alone is printed once.
	run 2 "$weir" verify $'\033\033\033'
	if [ "$(grep -o '\\033\\033\\033' err | wc -l)" = 1 ]; then ok; else fail 'named twice'; fi
	# A name that the message contains by chance is still printed.
	ln -sf /dev/stdin f
	run 2 bash -c "echo nonsense | '$weir' query f keys"
	says '^weir query: f: not a weir image: byte 0'
	run 2 "$weir" "$evil"; plain err; says "$shown"
	run 2 "$weir" plan -n "$evil" -p 1%; plain err; says "$shown"
	run 2 "$weir" query "$good.weir" keys; plain err; says "^weir query: $good.weir: "
	# If the image goes to standard output, the report goes to standard error.
	run 0 bash -c "'$weir' build -p 1% -o - keys >stdout.weir"; plain err
}

# getopt's own messages would print the argument unescaped.
test_wrong_options_are_escaped() {
	local command
	for command in plan build query info merge add seal verify drill; do
		run 2 "$weir" $command "--$evil"; plain err
		says "^weir $command: unrecognized option '--$shown'"
		run 2 "$weir" $command "--help=$evil"; plain err
		says "^weir $command: option '--help' doesn't allow an argument"
		run 2 "$weir" $command $'-\033'; plain err
		says "^weir $command: invalid option -- '\\\\033'"
		run 2 "$weir" $command -X; says "^weir $command: invalid option -- 'X'"
	done
	run 2 "$weir" query keys -vX; says "^weir query: invalid option -- 'X'"
	run 2 "$weir" build --output; says "^weir build: option '--output' requires an argument"
	run 2 "$weir" build -o; says "^weir build: option requires an argument -- 'o'"
	run 2 "$weir" build --m=1; says "^weir build: option '--m=1' is ambiguous"
	run 0 "$weir" plan --key=1000 --rat=1% # abbreviated as ever
}

# Lines from the caller stay unchanged in a pipe. A name may come from others, and the pipe may end
# at a terminal, so names are escaped.
test_a_pipe_gets_lines_as_they_are() {
	# Use only the ASCII words, because other words contain bytes of control characters.
	{ printf 'one\n%s\n' "${evil//$'\n'/-}"; printf 'two\377\n'
		grep -v '[^ -~]' keys; } >evil_keys
	run 0 "$weir" build -q -p 1% -o "$evil" evil_keys
	run 0 "$weir" query "$evil" evil_keys; same out evil_keys 'keys in a pipe'
	run 0 bash -c "'$weir' query -v set.weir evil_keys | cat"
	if grep -q $'\033' out; then ok; else fail 'no control character is left'; fi
	run 0 "$weir" verify "$evil"; plain out; prints "^$shown: whole\$"
	run 0 "$weir" info "$evil"; plain out; prints "^$shown\$"
}

# on_terminal WORDS...: run a command on a terminal, and store its output in ./typed.
on_terminal() {
	local status=0
	printf '%q ' "$@" >command.sh
	TERM=dumb script -qec 'bash ./command.sh' /dev/null >typed 2>&1 </dev/null || status=$?
	sed -i 's/\r$//' typed
	if [ $status = 0 ]; then ok; else fail "exit $status on a terminal: $*"; fi
	plain typed
}
typed() {
	if grep -q -- "$1" typed; then ok; else
		fail "the terminal lacks '$1'" "$(cat -v typed | head -c 600)"
	fi
}

test_a_terminal_gets_them_escaped() {
	has_terminal || return
	on_terminal "$weir" query "$evil" evil_keys
	typed "^one\$"
	typed "^${shown//\\\\n/-}\$"
	typed '^two\\377$'
	if [ "$(wc -l <typed)" = "$(wc -l <evil_keys)" ]; then ok; else fail 'lines of keys'; fi
	on_terminal "$weir" verify "$evil"; typed "^$shown: whole\$"
	on_terminal "$weir" info "$evil"; typed "^$shown\$"
	on_terminal "$weir" info --json "$evil"; typed 'owned'
	on_terminal "$weir" build -p 1% -o "$evil" keys; typed "^$shown\$"
	on_terminal "$weir" merge -o "$evil" "$evil"; typed "^$shown\$"
	on_terminal "$weir" verify "$evil" set.weir; typed '^set.weir: whole$'
	printf '%s\n' "$good" >good_keys
	on_terminal "$weir" query -v set.weir good_keys; typed "^$good\$"
	# With -0 a newline is a part of the key.
	printf 'a\nb\0c\0' >nul
	run 0 "$weir" build -0 -q -n 100 -p 0.0001% -o nul.weir nul
	on_terminal "$weir" query -0 nul.weir nul
	tr '\0' '|' <typed >bars
	if grep -q '^a\\nb|c|' bars; then ok; else fail 'query -0' "$(cat -v typed)"; fi
}

# JSON has a name unchanged if the name is UTF-8, and otherwise escaped as in messages.
test_names_in_json() {
	local name
	cp set.weir "$good.weir"; cp set.weir $'gr\303\266\377.weir'; cp set.weir $'c\302\2331\177'
	run 0 "$weir" verify --json "$good.weir" $'gr\303\266\377.weir' $'c\302\2331\177'
	json out '[i["image"] for i in j] ==' \
		'["gr\u00f6\u00dfe.weir", "gr\u00f6\\377.weir", "c\x9b1\x7f"]'
	has_terminal || return
	on_terminal "$weir" verify --json "$good.weir" $'c\302\2331\177'
	json typed '[i["image"] for i in j] == ["gr\u00f6\u00dfe.weir", "c\x9b1\x7f"]'
}

# A number above 2^63 - 1 is printed as a string of digits, and never negative.
test_large_generation_in_json() {
	local number
	for number in 0 9007199254740993 9223372036854775807; do
		run 0 "$make_image" numbered.weir $number
		run 0 "$weir" info --json numbered.weir; json out "j[0]['generation'] == $number"
	done
	for number in 9223372036854775808 18446744073709551615; do
		run 0 "$make_image" numbered.weir $number
		run 0 "$weir" info --json numbered.weir; json out "j[0]['generation'] == '$number'"
		run 0 "$weir" add -q numbered.weir <(echo key)
		run 0 "$weir" info --json numbered.weir; json out "j[0]['generation'] == '$number'"
		run 0 "$weir" info numbered.weir; tr -d , <out >digits
		if grep -q "generation *$number\$" digits; then ok; else fail "info of $number"; fi
	done
}

# Signals interrupt every blocking call. No exit status, file or line may change.
test_interrupted_keys_and_images() {
	if [ -z "$interrupt" ]; then
		echo 'skipped: nothing can be preloaded in this build'
		return
	fi
	local late
	mkfifo keys_late
	late() { (sleep 0.3; exec cat "$1" >"$2") & }
	late keys keys_late
	LD_PRELOAD=$interrupt run 0 "$weir" build -q -s 7 -n "$n" -p 1% -o late.weir keys_late
	run 0 "$weir" build -q -s 7 -n "$n" -p 1% -o one.weir keys
	same late.weir one.weir 'keys from a FIFO'
	late keys keys_late
	LD_PRELOAD=$interrupt run 0 "$weir" build -q -s 7 -p 1% -o late.weir keys_late
	same late.weir one.weir 'keys from a FIFO, counted'
	late keys keys_late
	LD_PRELOAD=$interrupt run 0 "$weir" query one.weir keys_late
	same out keys 'query of a FIFO'
	mkfifo -m 600 key_late
	echo 000102030405060708090a0b0c0d0e0f >digits
	(sleep 0.3; exec >key_late; sleep 0.3; cat digits) & # its open waits, and its read
	LD_PRELOAD=$interrupt run 0 "$weir" build -q --keyed-by=key_late -p 1% -o keyed.weir keys
	LD_PRELOAD=$interrupt run 0 "$weir" query <(sleep 0.3; exec cat one.weir) keys
	same out keys 'an image from a pipe'
	LD_PRELOAD=$interrupt run 0 "$weir" merge -q -o late.weir <(sleep 0.3; exec cat one.weir)
	same late.weir one.weir 'a merge of a pipe'
	wait
	if [ -z "$(find . -name '.weir-new*')" ]; then ok; else fail 'litter' "$(ls -a)"; fi
}

for part in messages_are_escaped wrong_options_are_escaped a_pipe_gets_lines_as_they_are \
		a_terminal_gets_them_escaped names_in_json large_generation_in_json \
		interrupted_keys_and_images; do
	test_$part
done
finish
