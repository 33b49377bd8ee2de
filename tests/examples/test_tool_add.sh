#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests weir add, which replaces an image or changes it in place, and weir seal, which seals an
# image that a killed process left live. Usage: test_tool_add.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >first
seq 1001 1500 >more
seq 1501 9000 >many
made() { run 0 "$weir" build -q -s 7 -n "${1:-2000}" -p 1% -o set.weir first; }
live() {
	run 0 "$weir" info --json set.weir
	json out "j[0]['live'] is $1"
}
# Wait until a process, whose messages are in ./said, reports that it waits for the lock.
until_it_waits() { soon grep -qs 'its turn' said; }

test_add_replaces() {
	made
	cp set.weir before.weir
	ln set.weir linked
	run 0 "$weir" build -q -s 7 -n 2000 -p 1% -o whole.weir first more
	run 0 "$weir" add set.weir more
	prints '^set.weir$'; prints '  keys  *500 added, about [0-9]* of them new'
	same set.weir whole.weir 'added, and built at once'
	same linked before.weir 'the old image was changed in place'
	run 0 bash -c "'$weir' add --json set.weir - <more"
	json out 'j["keys"] == 500 and j["keys_new_estimated"] == 0 and j["capacity"] == 2000'
	run 0 "$weir" add -q --allow-empty set.weir /dev/null
	same set.weir whole.weir 'nothing was added'
	run 0 "$weir" build -q -s 7 --zstd -o packed.weir first
	head -n 150 more >few
	run 0 "$weir" add -q packed.weir few; says '; weir build -n 1[0-9]* has room for them'
	run 0 "$weir" info --json packed.weir; json out 'j[0]["compressed"]'
	run 0 "$weir" query -c packed.weir first few; prints '^1150$'
	(umask 077; head -c 16 /dev/urandom >key)
	run 0 "$weir" build -q --keyed-by=key -n 2000 -o keyed.weir first
	run 0 "$weir" add -q --keyed-by=key keyed.weir more
	run 0 "$weir" query -c --keyed-by=key keyed.weir first more; prints '^1500$'
	run 2 "$weir" add -q keyed.weir more; says 'keyed.weir: is keyed'
	printf 'a\n\0b\0' >nul
	run 0 "$weir" add --json -0 --skip-empty set.weir nul; json out 'j["keys"] == 2'
	run 0 "$weir" add -q --mode=640 set.weir few
	if [ "$(stat -c %a set.weir)" = 640 ]; then ok; else fail --mode; fi
}

# marked IMAGE OVERFULL SHRINK: the image has these marks, so that servers load it.
marked() {
	run 0 "$weir" info --json "$1"
	json out "(j[0]['overfull_allowed'], j[0]['shrink_allowed']) == ($2, $3)"
}

# Servers once refused a small set with the mark SHRINK after keys were added to it.
test_add_keeps_what_was_allowed() {
	made
	run 0 "$weir" add -q set.weir few; marked set.weir False False
	run 0 "$weir" add -q --allow-overfull set.weir many; marked set.weir True False
	run 0 "$weir" build -q --allow-shrink -n 2000 -p 1% -o small.weir few
	run 0 "$weir" add -q small.weir more; marked small.weir False True
	run 0 "$weir" add -q --live small.weir first; marked small.weir False True
}

# Added keys are normalised as the keys of the image were.
test_add_does_the_same_to_keys() {
	run 0 "$weir" build -q -s 7 --trim --lowercase -n 100 -o text.weir <(printf 'One\n')
	run 0 "$weir" add -q text.weir <(printf ' TWO\r\n')
	run 0 "$weir" add -q --live --field=2 text.weir <(printf 'x,Three\n')
	run 0 "$weir" add --json --skip-empty text.weir <(printf ' \r\n\nFour\n')
	json out 'j["keys"] == 1'
	run 0 "$weir" query -c text.weir <(printf 'one\ntwo\nTHREE\nfour\n'); prints '^4$'
	run 0 "$weir" build -q -s 7 --suffixes -n 100 -o names.weir <(echo a.test)
	run 0 "$weir" add -q --hosts names.weir <(printf '0.0.0.0 b.test c.d.test\n')
	run 0 "$weir" query -c names.weir <(printf 'x.b.test\nx.c.d.test\nd.test\n'); prints '^2$'
	run 0 "$weir" build -q -s 7 --cidr -n 100 -o nets.weir <(echo 10.0.0.0/8)
	run 0 "$weir" add -q --live nets.weir <(echo 11.0.0.0/8)
	cp nets.weir before.weir
	run 1 "$weir" add --live nets.weir <(echo 192.0.2.0/24)
	says '^weir add: nets.weir: not written: keys have prefix lengths .* leave out --live'
	same nets.weir before.weir 'a length that no lookup asks for'
	run 0 "$weir" add --json nets.weir <(echo 192.0.2.0/24)
	json out 'j["normalised"] == "cidr" and j["ipv4_lengths"] == "8 24" and j["lookups"] == 2'
	run 0 "$weir" query -c nets.weir <(printf '10.1.1.1\n11.1.1.1\n192.0.2.9\n'); prints '^3$'
	run 2 "$weir" add nets.weir <(echo name); says ':1: .*not an IP'
	run 0 "$weir" add --json --allow-empty --skip-bad nets.weir <(echo name)
	says 'lines passed over: 1'; json out 'j["passed_over"] == 1 and j["keys"] == 0'
	run 2 "$weir" add --hosts nets.weir first; says '--hosts and --cidr'
	run 2 "$weir" add --trim nets.weir first
}

test_add_does_not_overfill() {
	local how
	for how in --json --live; do
		made
		cp set.weir before.weir
		run 1 "$weir" add $how set.weir many
		says '^weir add: set.weir: not written: .*; weir build -n [0-9]* has room for them'
		same out /dev/null 'a refused set is not reported'
		run 0 "$weir" query -c set.weir first; prints '^1000$'
		run 0 "$weir" info --json set.weir; json out 'j[0]["keys_estimated"] < 1100'
		run 0 "$weir" add -q $how --allow-overfull set.weir many
		says 'more keys than its capacity of 2,000'
		run 0 "$weir" query -c set.weir many; prints '^7500$'
	done
}

test_add_trouble() {
	made
	cp set.weir before.weir
	run 2 "$weir" add; says 'the image is missing'
	run 2 "$weir" add none.weir more
	says 'none.weir: No such file or directory: no image to read: weir build'
	run 2 "$weir" add - more; says '^weir add: -: names no image: an image is a file here'
	run 2 "$weir" add set.weir more none; says 'none: No such file'
	run 1 "$weir" add set.weir set.weir; says 'which the keys are read from'
	run 2 "$weir" add more first; says 'more: '
	run 2 "$weir" add --live --zstd set.weir more; says 'leave out --zstd'
	run 2 "$weir" add --max-memory=1K set.weir more; says 'than --max-memory allows'
	run 2 "$weir" add --live --max-memory=1K set.weir more; says 'than --max-memory allows'
	same set.weir before.weir 'failed adds'
	run 0 "$weir" build -q --zstd -o packed.weir first
	run 2 "$weir" add --live packed.weir more; says 'is compressed'
}

# Of two adds at the same time none is lost: the second waits for the first.
test_adds_take_turns() {
	made 4000
	mkfifo late
	"$weir" add -q set.weir late &
	exec 7>late
	soon is_locked set.weir
	run 124 timeout 1 "$weir" add -q set.weir many
	rm -f said
	"$weir" add -q set.weir more 7>&- 2>said &
	until_it_waits
	echo late >&7
	exec 7>&-
	wait
	echo late >key_late
	run 0 "$weir" query -c set.weir key_late more; prints '^501$'
	# A third add waits for the second, which has waited for an image that was then replaced.
	mkfifo later
	"$weir" add -q set.weir late &
	local first=$!
	exec 7>late 8<>later
	soon is_locked set.weir
	rm said
	"$weir" add -q set.weir later 7>&- 8>&- 2>said &
	until_it_waits
	exec 7>&-
	wait $first
	soon is_locked set.weir # by the second
	run 124 timeout 1 "$weir" add -q set.weir first
	echo later >&8
	exec 8>&-
	wait
	echo later >key_late
	run 0 "$weir" query -c set.weir key_late more; prints '^501$'
}

# The image says how keys are treated, and may be replaced before the add's turn.
test_add_looks_after_its_turn() {
	made
	run 0 "$weir" build -q --zstd --like=set.weir -o packed.weir first
	exec 8<set.weir
	flock 8
	rm -f said
	"$weir" add -q set.weir more 8<&- 2>said &
	until_it_waits
	mv packed.weir set.weir
	exec 8<&-
	wait $!
	run 0 "$weir" info --json set.weir; json out 'j[0]["compressed"]'
	run 0 "$weir" query -c set.weir more; prints '^500$'
}

# Without weir seal the shell could not end the live state that a killed process left.
test_seal() {
	made
	cp set.weir before.weir
	run 0 "$weir" seal set.weir; prints '^set.weir: was sealed already$'
	same set.weir before.weir 'nothing was to be sealed'
	mkfifo pipe
	ln set.weir same.weir
	"$weir" add -q --live set.weir pipe &
	local add=$!
	exec 7>pipe
	soon is_live set.weir
	live True
	run 1 "$weir" seal set.weir; says '^weir seal: set.weir: stays live, since another process'
	run 1 "$weir" add -q --live set.weir more; says 'stays live'
	kill -9 $add
	wait $add 2>/dev/null
	exec 7>&-
	live True
	run 2 "$weir" query set.weir first
	run 1 "$weir" build -q -o set.weir first; says 'not replaced: it is live, .*weir seal'
	run 1 "$weir" add -q set.weir first; says 'is live: .*weir seal.*--live'
	run 0 "$weir" seal set.weir; prints '^set.weir: sealed$'
	live False
	run 0 "$weir" verify -q set.weir
	run 0 "$weir" query -c set.weir first more; prints '^1500$'
	same set.weir same.weir 'changed in place'
	run 0 "$weir" add -q --live set.weir more
	live False
	run 2 "$weir" seal none.weir set.weir; prints '^set.weir: was sealed already$'
	run 2 "$weir" seal; says 'the image is missing'
	run 2 "$weir" seal none.weir; run 2 "$weir" seal first; run 2 "$weir" seal -
}

lock_files() {
	if [ "$(find . -name '.weir-live-*' | wc -l)" = "$1" ]; then ok; else fail "lock files"; fi
}

# Of two adds in place at once, the first to end leaves the image live, and its exit status says so.
test_live_exit_status() {
	made
	rm -f pipe
	mkfifo pipe
	"$weir" add -q --live set.weir pipe &
	local add=$!
	exec 7<>pipe
	soon is_live set.weir
	lock_files 1
	run 1 "$weir" add --live set.weir more
	says 'stays live'; prints '^  keys  *500 added'
	echo last >pipe
	exec 7>&-
	wait $add && ok || fail 'the last one did not seal'
	live False
	lock_files 0
	run 0 "$weir" query -c set.weir first more; prints '^1500$'
}

# The lock file may be in another folder. Without a lock file an image does not go live.
test_lock_dir() {
	made
	mkdir -p locks
	# shellcheck disable=SC2046 # two numbers
	mkdir ".weir-live-$(printf %016x-%016x $(stat -c '%d %i' set.weir))"
	run 2 "$weir" add -q --live set.weir more
	says '^weir add: set.weir: cannot open its lock file .*--lock-dir'
	live False
	run 0 "$weir" add -q --live --lock-dir=locks set.weir more
	run 0 "$weir" seal --lock-dir=locks set.weir
	run 2 "$weir" add -q --live --lock-dir=none set.weir more
	says 'cannot open none, the folder'
	run 2 "$weir" add -q --lock-dir=locks set.weir more; says '--lock-dir is for --live'
	rmdir .weir-live-* locks
	run 0 "$weir" query -c set.weir first more; prints '^1500$'
}

# To change a keyed image in place and to seal it, the key is needed.
test_keyed_in_place() {
	run 0 "$weir" build -q --keyed-by=key -n 2000 -p 1% -o keyed.weir first
	run 2 "$weir" add -q --live keyed.weir more; says '^weir add: keyed.weir: is keyed: give'
	run 0 "$weir" add -q --live --keyed-by=key keyed.weir more
	"$weir" add -q --live --keyed-by=key keyed.weir pipe &
	local add=$!
	exec 7<>pipe
	soon is_live keyed.weir
	kill -9 $add
	wait $add 2>/dev/null
	exec 7>&-
	run 2 "$weir" seal keyed.weir; says '^weir seal: keyed.weir: is keyed: give'
	run 0 "$weir" seal --keyed-by=key keyed.weir; prints '^keyed.weir: sealed$'
	run 0 "$weir" query -c --keyed-by=key keyed.weir first more; prints '^1500$'
}

for part in add_replaces add_keeps_what_was_allowed add_does_the_same_to_keys \
		add_does_not_overfill add_trouble adds_take_turns \
		add_looks_after_its_turn seal live_exit_status lock_dir keyed_in_place; do
	test_$part
done
finish
