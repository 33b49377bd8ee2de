#!/bin/bash
# SPDX-License-Identifier: MIT
# A program maps an image live while a command works on a new one in its place: no key that it
# inserts is lost in silence. Usage: test_tool_meanwhile.sh path/to/weir path/to/live_insert.
live_insert=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >first
seq 1001 1010 >more
seq 500 >half
mkfifo late hold
# Of a size that no pipe holds.
made() { run 0 "$weir" build -q -k "${1:-blocked}" -s 7 -n 200000 -p 1% -o set.weir first; }

# begun WORDS...: the command has read its image, and waits for the keys in the FIFO.
begun() {
	timeout 60 "$weir" "$@" 2>err &
	command=$!
	exec 9>late
}
# ended STATUS: it gets its keys, and ends so.
ended() {
	cat "${2:-more}" >&9
	exec 9>&-
	wait $command
	local got=$?
	if [ $got = "$1" ]; then ok; else fail "exit $got, not $1" "$(cat err)"; fi
}
inserts() {
	if "$live_insert" set.weir "$@" </dev/null >said 2>&1; then ok; else fail "$(cat said)"; fi
}
found() { run 0 "$weir" query -c set.weir <(printf '%s\n' "$@"); prints "^$#\$"; }

test_does_an_insert_survive_add() {
	made
	begun add -q set.weir late
	inserts mine
	ended 1
	says '^weir add: set.weir: not replaced: .*inserted into since it was read: repeat'
	found mine 1 1000
	run 1 "$weir" query -q set.weir <<<1001
	begun add -q set.weir late
	ended 0
	found mine 1 1001
}

# With another lock file: of another folder.
test_does_an_insert_through_a_lock_dir_survive_add() {
	made
	mkdir -p locks
	begun add -q set.weir late
	inserts mine locks
	ended 1
	found mine 1
}

test_does_an_insert_survive_remove() {
	made counting
	begun remove -q set.weir late
	inserts 1001
	ended 1 half
	says '^weir remove: set.weir: not replaced: .*inserted into since it was read'
	found 1001 1
}

test_does_an_insert_survive_merge() {
	made
	run 0 "$weir" build -q --like=set.weir -o other.weir more
	timeout 60 "$weir" merge -q -o set.weir set.weir /dev/stdin <late 2>err &
	command=$!
	exec 9>late
	head -c 150000 other.weir >&9 # more than a pipe holds: it reads, and has read the first
	inserts mine
	tail -c +150001 other.weir >rest
	ended 1 rest
	says '^weir merge: set.weir: not replaced: .*inserted into since it was read'
	found mine 1
}

# What a build reads is the seed, and how large it is; but its keys would go.
test_does_an_insert_survive_build() {
	made
	begun build -q -o set.weir late
	inserts mine
	ended 1 first
	says '^weir build: set.weir: not replaced: a process has inserted into it meanwhile'
	found mine 1
	begun build -q -o set.weir late
	ended 0 first
	run 1 "$weir" query -q set.weir <<<mine
	begun build -q --force -o set.weir late
	inserts mine
	ended 0 first
	run 1 "$weir" query -q set.weir <<<mine
}

test_is_an_image_replaced_while_it_is_live() {
	local words live
	for words in 'add -q set.weir' 'build -q -o set.weir'; do
		made
		# shellcheck disable=SC2086 # words
		begun $words late
		"$live_insert" set.weir mine <hold >said 9>&- &
		live=$!
		exec 8>hold
		soon grep -qs live said
		ended 1 first
		says 'not replaced: it is live'
		exec 8>&-
		if wait $live; then ok; else fail 'not sealed'; fi
		found mine 1
	done
}

# Two builds at once: the last one wins.
test_does_a_build_replace_that_of_another_build() {
	made
	begun build -q -o set.weir late
	run 0 "$weir" build -q -o set.weir <(seq 5000 6000)
	ended 0 first
	found 1 1000
	run 1 "$weir" query -q set.weir <<<5000
}

for test in does_an_insert_survive_add does_an_insert_through_a_lock_dir_survive_add \
		does_an_insert_survive_remove does_an_insert_survive_merge \
		does_an_insert_survive_build is_an_image_replaced_while_it_is_live \
		does_a_build_replace_that_of_another_build; do
	test_$test
done
finish
