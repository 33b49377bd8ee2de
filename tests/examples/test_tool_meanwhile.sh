#!/bin/bash
# SPDX-License-Identifier: MIT
# A program maps an image live while a command makes a new image in its place. No key that the
# program inserts is lost silently. Usage:
# test_tool_meanwhile.sh path/to/weir path/to/live_insert [path/to/libat_call.so].
live_insert=$(realpath "$2")
at_call=${3:+$(realpath "$3")}
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >first
seq 1001 1010 >more
seq 500 >half
mkfifo late hold
# An image larger than a pipe's buffer.
made() { run 0 "$weir" build -q -k "${1:-blocked}" -s 7 -n 200000 -p 1% -o set.weir first; }

# begun WORDS...: start a command, which has read its image and waits for keys from the FIFO.
begun() {
	timeout 60 "$weir" "$@" 2>err &
	command=$!
	exec 9>late
}
# ended STATUS: give the command its keys; it must exit with STATUS.
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

# With a lock file in another folder.
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

# A build reads only the old image's seed and size, but would remove its keys.
test_does_an_insert_survive_build() {
	made
	begun build -q -o set.weir late
	inserts mine
	ended 1 first
	says '^weir build: set.weir: not replaced: another process inserted into it or replaced it'
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

# Keys may have been inserted into that image too, which cannot be seen.
test_does_an_insert_into_the_image_of_another_build_survive_a_build() {
	local live
	for live in '' --live; do
		made
		begun build -q -o set.weir late
		run 0 "$weir" build -q -o set.weir <(seq 5000 6000)
		run 0 "$weir" add -q $live set.weir <(echo mine)
		ended 1 first
		says '^weir build: set.weir: not replaced: .*replaced it; .*run this again'
		found mine 5000
		begun build -q --force -o set.weir late
		run 0 "$weir" build -q --force -o set.weir <(seq 3000 4000)
		ended 0 first
		found 1 1000
	done
}

# The same image again, so no key is lost.
test_does_a_build_replace_an_equal_image_of_another_build() {
	made
	begun build -q -o set.weir late
	made
	ended 0 first
	found 1 1000
}

test_does_an_insert_into_an_image_that_was_not_there_survive() {
	local words first
	run 0 "$weir" build -q -s 7 -n 200000 -p 1% -o a.weir first
	run 0 "$weir" build -q --like=a.weir -o b.weir more
	run 0 "$weir" delta -q -o d.delta a.weir b.weir
	for first in 'rm -f' 'truncate -s 0'; do
		$first set.weir
		begun build -q -s 7 -n 200000 -o set.weir late
		made
		inserts mine
		ended 1 first
		says '^weir build: set.weir: not replaced: .*inserted into it or replaced it'
		found mine 1
	done
	[ "$at_call" ] || return 0
	for words in 'merge -q -o set.weir a.weir' 'apply -q -o set.weir a.weir d.delta' \
			'build -q -s 7 -n 200000 -o set.weir first'; do
		rm -f set.weir
		# shellcheck disable=SC2086 # words
		AT_SYNC="'$weir' build -q --like=a.weir -o set.weir first &&
			'$live_insert' set.weir mine" \
			LD_PRELOAD=$at_call run 1 "$weir" $words
		says 'not replaced: .*inserted into it or replaced it'
		found mine 1
	done
}

# --force allows to replace a file that is not an image. The old image is read before the insert.
test_does_an_insert_survive_a_forced_apply() {
	[ "$at_call" ] || return 0
	made
	run 0 "$weir" build -q --like=set.weir -o b.weir <(cat first more)
	run 0 "$weir" delta -q -o d.delta set.weir b.weir
	AT_SYNC="'$live_insert' set.weir mine" LD_PRELOAD=$at_call \
		run 1 "$weir" apply -q --force -o set.weir set.weir d.delta
	says '^weir apply: set.weir: not replaced: .*inserted into'
	found mine 1
}

# The merge only writes this output and has not read it.
test_does_an_insert_survive_a_merge_of_others() {
	made
	run 0 "$weir" build -q --like=set.weir -o a.weir first
	timeout 60 "$weir" merge -q -o set.weir /dev/stdin <late 2>err &
	command=$!
	exec 9>late
	head -c 150000 a.weir >&9 # more than a pipe holds
	inserts mine
	tail -c +150001 a.weir >rest
	ended 1 rest
	says '^weir merge: set.weir: not replaced: .*inserted into it'
	found mine 1
}

test_is_an_output_made_anew_that_was_removed() {
	local words gone
	run 0 "$weir" build -q -s 7 -n 200000 -p 1% -o a.weir first
	run 0 "$weir" build -q --like=a.weir -o b.weir <(cat first more)
	run 0 "$weir" delta -q -o d.delta a.weir b.weir
	for gone in 'rm set.weir' ': >set.weir' ': >empty; mv empty set.weir'; do
		made
		begun build -q -o set.weir late
		eval "$gone"
		ended 0 first
		found 1 1000
		[ "$at_call" ] || continue
		for words in 'build -q -o set.weir first' 'merge -q -o set.weir a.weir b.weir' \
				'apply -q -o set.weir a.weir d.delta'; do
			made
			# shellcheck disable=SC2086 # words
			AT_SYNC=$gone LD_PRELOAD=$at_call run 0 "$weir" $words
			found 1 1000
		done
	done
	[ "$at_call" ] || return 0
	made
	AT_SYNC='rm set.weir' LD_PRELOAD=$at_call run 1 "$weir" add -q set.weir more
	says 'not replaced: it was .*removed'
}

# The keys are in no file, so the exit status is that of a refusal, as for an image that stays live.
test_does_add_or_seal_of_an_image_that_was_replaced_exit_1() {
	local gone='set.weir: was replaced or removed during the call, so what was to be'
	made
	run 0 "$weir" build -q --like=set.weir -o other.weir first
	begun add -q --live set.weir late
	soon is_live set.weir
	mv other.weir set.weir
	ended 1
	says "^weir add: $gone"
	run 1 "$weir" query -q set.weir <<<1001
	[ "$at_call" ] || return 0
	"$weir" add -q --live set.weir late &
	command=$!
	exec 9>late
	soon is_live set.weir
	kill -9 $command
	wait $command 2>/dev/null
	exec 9>&-
	run 0 "$weir" build -q -s 7 -n 200000 -p 1% -o other.weir first
	AT_SEAL='mv other.weir set.weir' LD_PRELOAD=$at_call run 1 "$weir" seal set.weir
	says "^weir seal: $gone sealed has no name any more"
}

# A reader has locked the image, so the save continues without its own lock. A mapper comes just
# before the rename.
test_is_an_insert_reported_that_a_save_under_a_readers_lock_loses() {
	local words reader
	[ "$at_call" ] || return 0
	made
	run 0 "$weir" build -q --like=set.weir -o b.weir <(cat first more)
	run 0 "$weir" delta -q -o d.delta set.weir b.weir
	for words in 'build -q -o set.weir first' 'merge -q -o set.weir b.weir' \
			'apply -q -o set.weir set.weir d.delta' 'add -q set.weir more'; do
		made
		python3 -c "$lock" set.weir <hold >locked &
		reader=$!
		exec 8>hold
		soon grep -qs locked locked
		# shellcheck disable=SC2086 # words
		AT_RENAME="'$live_insert' set.weir mine" LD_PRELOAD=$at_call run 1 "$weir" $words
		says 'set.weir: the new image is in place, .*insert its keys again'
		found 1 1000
		# shellcheck disable=SC2086 # words
		[[ $words = apply* ]] || run 0 "$weir" $words
		exec 8>&-
		wait $reader
		: >locked
	done
}
lock='import fcntl, struct, sys
file = open(sys.argv[1], "rb")
lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 504, 8, 0)
fcntl.fcntl(file, 37, lock)  # F_OFD_SETLK
print("locked", flush=True)
sys.stdin.read()'

for test in does_an_insert_survive_add does_an_insert_through_a_lock_dir_survive_add \
		does_an_insert_survive_remove does_an_insert_survive_merge \
		does_an_insert_survive_build is_an_image_replaced_while_it_is_live \
		does_an_insert_into_the_image_of_another_build_survive_a_build \
		does_a_build_replace_an_equal_image_of_another_build \
		does_an_insert_into_an_image_that_was_not_there_survive \
		does_an_insert_survive_a_forced_apply \
		does_an_insert_survive_a_merge_of_others is_an_output_made_anew_that_was_removed \
		does_add_or_seal_of_an_image_that_was_replaced_exit_1 \
		is_an_insert_reported_that_a_save_under_a_readers_lock_loses; do
	test_$test
done
finish
