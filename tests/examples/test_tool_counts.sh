#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests kinds that count, grow or can be full, with weir build, add, merge, remove and count. Usage:
# test_tool_counts.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >first
seq 501 1000 >half
seq 500 >rest
made() {
	rm -f set.weir
	run 0 "$weir" build -q -s 7 -k counting -n 2000 -p 0.1% -o set.weir "${@:-first}"
}
# holds N FILE...: N of the files' lines are in set.weir.
holds() {
	local want=$1
	shift
	run 0 "$weir" query --json set.weir "$@"
	json out "j['maybe'] == $want"
}
# shaped IMAGE KIND BITS Z G: the image has this shape.
shaped() {
	run 0 "$weir" info --json "$1"
	json out "(j[0]['kind'], j[0]['counter_bits'], j[0]['words_per_key'],
		j[0]['counters_per_word']) == ('$2', $3, $4, $5)"
}

test_shape_options() {
	run 0 "$weir" build -q -k counting --counter-bits=8 -z 4 --counters-per-word=2 -s 7 \
		-n 2000 -o wide.weir first
	shaped wide.weir counting 8 4 2
	run 0 "$weir" build -q --like=wide.weir -o same.weir half; shaped same.weir counting 8 4 2
	run 0 "$weir" build -q -o wide.weir half; shaped wide.weir counting 8 4 2 # a rebuild
	run 0 "$weir" merge -q -o both.weir wide.weir same.weir
	run 0 "$weir" build -q -k counting --counter-bits=16 -o wide.weir half
	run 0 "$weir" info --json wide.weir; json out 'j[0]["counter_bits"] == 16'
	run 0 "$weir" build -q -k frequency --counter-bits=32 -z 1 --counters-per-word=1 \
		-n 2000 -m 64K -o often.weir first
	shaped often.weir frequency 32 1 1
	local option
	for option in --counter-bits=8 --counters-per-word=2; do
		run 2 "$weir" build $option -o none.weir first
		says "^weir build: ${option/=/ }: not for kind blocked: leave it out, or give -k c"
		run 2 "$weir" build -k classic $option -o none.weir first
		says "^weir build: ${option/=/ }: not for kind classic: leave it out, or give -k c"
		run 2 "$weir" build --like=wide.weir -k counting $option -o none.weir first
		says 'leave out the options that choose them (-p -n .* one kind)$'
	done
	run 2 "$weir" build -k counting --probes=3 -o none.weir first
	says '^weir build: --probes 3: not for kind counting: leave it out, or give -k classic$'
	run 2 "$weir" build -k counting --counter-bits=5 -n 10 -o none.weir first
	says '^weir build: --counter-bits 5: allowed: '
	run 2 "$weir" build -k frequency --counter-bits=4 -n 10 -o none.weir first
	says '^weir build: --counter-bits 4: allowed: '
	run 2 "$weir" build -k counting --counters-per-word=16 -n 10 -o none.weir first
	says '^weir build: --counters-per-word 16: allowed: '
	run 2 "$weir" build -k counting --counter-bits=33 -o none.weir first; says '1 to 32'
	absent none.weir 'a shape that was refused'
}

# layout KIND EXPRESSION: test the first row for the kind in a plan's JSON.
layout() {
	json out "[$2 for r in j['layouts'] if r['kind'] == '$1'][0]"
}

test_plan_of_shapes() {
	run 0 "$weir" plan --json -n 1M -p 1% --counter-bits=8 --counters-per-word=2 \
		--fingerprint-bits=16 --max-keys=100M
	layout counting "r['counter_bits'] == 8 and r['counters_per_word'] == 2"
	layout frequency "r['counter_bits'] == 8 and r['counters_per_word'] == 2"
	layout cuckoo "r['fingerprint_bits'] == 16 and 16 < r['bits_per_key'] < 17"
	layout growing "(r['layers'], r['max_capacity']) == (5, 100000000)"
	layout growing "90 < r['worst_bits_per_key'] < 110 and 20 < r['late_bits_per_key'] < 30"
	layout growing "19 < r['full_bits_per_key'] < 21"
	layout blocked "r['bits_per_key'] < 13 and 'counter_bits' not in r"
	run 0 "$weir" plan --json -n 1M -p 1%
	layout cuckoo "r['fingerprint_bits'] == 12"
	run 0 "$weir" plan -n 1M -p 1% --counter-bits=32
	prints '^ *counting z=2  *-  '
	prints '^- counting z=2: *--counter-bits 32: allowed: 4, 8 or 16'
	prints '^ *frequency z=4 .* of 32 bits a key$'
	run 0 "$weir" plan -n 1M -p 1% --max-keys=1000
	prints '^- growing z=2: *--max-keys 1000: allowed: 1000000 to 21845000000'
	run 0 "$weir" plan -n 1M -p 1%
	prints '^- growing z=4: .* after the second layer was added 77\..*, after the last 60\.'
	run 2 "$weir" plan -n 1M -p 1% --counter-bits=5
	says '^weir plan: --counter-bits 5: allowed: '
	run 0 "$weir" plan --json -k counting -n 1M -p 1% --counter-bits=8
	json out "([x['kind'] for x in j['layouts']] == ['counting'] * 4 and
		[x['words_per_key'] for x in j['layouts'] if x['default']] == [4] and
		'such counters' in j['reason'])"
	run 0 "$weir" plan -k fuse -n 1M -p 1%; prints '^\* *fuse '
	[ "$(grep -c '1,000,000 ' out)" = 2 ] && ok || fail 'more than the kind that was asked for'
	run 2 "$weir" plan -k fuse -n 1M -p 1% --counter-bits=8; says 'bits 8: not for kind'
	run 2 "$weir" plan -k nothing -n 1M -p 1%; says "--kind 'nothing': the kinds are blocked "
	run 2 "$weir" plan -k counting -n 1M -p 1% -m 10K; says '-m (memory) is 10240'
	run 0 "$weir" plan -n 1M -p 1% --fingerprint-bits=13; prints 'fuse .* of 13 bits in 1 part'
	prints '^ *cuckoo  *-  '; prints '^- cuckoo: *--fingerprint-bits 13: allowed: 12 or 16'
	run 2 "$weir" plan -n 1M -p 1% --fingerprint-bits=33; says '1 to 32'
	run 0 "$weir" build -q -k cuckoo --fingerprint-bits=16 -n 2000 -p 1% -o moves.weir first
	run 0 "$weir" build -q -o moves.weir half
	run 0 "$weir" info --json moves.weir; json out "j[0]['fingerprint_bits'] == 16"
	run 0 "$weir" build -q --fingerprint-bits=12 -k cuckoo -o moves.weir half
	run 0 "$weir" info --json moves.weir; json out "j[0]['fingerprint_bits'] == 12"
	run 2 "$weir" build --max-keys=9 -o none.weir first
	says '^weir build: --max-keys 9: not for kind blocked: leave it out, or give -k growing$'
	run 2 "$weir" build --fingerprint-bits=12 -k counting -o none.weir first
	says '^weir build: --fingerprint-bits 12: not for kind counting: leave it out, or give'
	says ' -k cuckoo, fuse or layered$'
	absent none.weir 'a shape that was refused'
}

test_what_is_shown() {
	made
	run 0 "$weir" info set.weir; prints '  counters above 0  '; prints '  counters full  *0$'
	prints '  layout  *counting, '
	run 0 "$weir" info --json set.weir; json out 'j[0]["counters_stuck"] == 0'
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat half; done >often
	made often
	run 0 "$weir" info --json set.weir; json out 'j[0]["counters_stuck"] > 500'
	run 0 "$weir" info --prometheus set.weir
	prints '^weir_image_counters_full{image="set.weir"} [1-9][0-9]*$'
	run 0 "$weir" build -q -o plain.weir first
	run 0 "$weir" info --json plain.weir; json out '"counters_stuck" not in j[0]'
	run 0 "$weir" info plain.weir; prints '  bits set  '
	run 0 "$weir" info --prometheus set.weir plain.weir
	if grep -q 'counters_full{image="plain' out; then fail 'counters of bits'; else ok; fi
	run 0 "$weir" build --json -k counting -n 2000 -o shown.weir often
	json out 'j["kind"] == "counting" and j["counter_bits"] == 4 and j["counters_stuck"] > 500'
	run 0 "$weir" plan -n 1M -p 1%; prints '^ *counting z=2 '; prints '^ *frequency z=2 '
	run 0 "$weir" plan --json -n 1M -p 1%
	json out '[r["counter_bits"] for r in j["layouts"]
		if r["kind"] == "counting" and r["words_per_key"] == 2] == [4]'
}

test_remove() {
	made
	ln set.weir before.weir
	run 0 "$weir" remove set.weir half
	prints '^set.weir$'; prints '  keys removed  *500$'; same err /dev/null 'all were there'
	holds 500 rest
	run 0 "$weir" query -c before.weir first; prints '^1000$' # was not changed in place
	run 0 "$weir" build -q --like=before.weir -o rest.weir rest
	cmp -s set.weir rest.weir && ok || fail 'what is left differs from what was never there'
	cat half <(echo 1) >gone
	run 0 bash -c "'$weir' remove --json set.weir - <gone"
	says '^weir remove: set.weir: keys that were not there: 500: '
	json out 'j["keys"] == 501 and j["removed"] == 1 and j["absent"] == 500'
	# A key can be removed as often as it was added.
	made first half
	run 0 "$weir" remove -q set.weir half; holds 1000 first
	run 0 "$weir" remove -q -t 4 set.weir half half half
	says 'keys that were not there: 1000: with a chance of about [0-9.]* % at least one of the '
	holds 500 rest
}

# Removals of 1,000 absent keys once removed copies of 2 other keys, and the command reported only
# that 998 were absent.
test_remove_warns_of_other_keys_copies() {
	made
	seq 100001 300000 >never
	cp set.weir before.weir
	run 1 "$weir" remove --allow-shrink set.weir never
	says 'not written: .* found keys may never have been added: .*--force$'
	same set.weir before.weir 'the wrong file'
	run 0 "$weir" remove --json --allow-shrink --force set.weir never
	says ': about [1-9][0-9]* of the [0-9]* removed ones may never have been added. Lookups '
	says 'may miss up to 8 other keys for each of those: build the set anew, and remove only k'
	json out '0 < j["removed"] < 1000' # what was told is about what happened
	local told removed
	told=$(sed -n 's/.*: about \([0-9]*\) of the \([0-9,]*\) removed.*/\1/p' err)
	removed=$(sed -n 's/.*: about \([0-9]*\) of the \([0-9,]*\) removed.*/\2/p' err)
	[ "${told:-0}" -gt 0 ] && [ "$told" -le "${removed/,/}" ] && ok ||
		fail "told $told of $removed" "$(cat err)"
	made
	run 0 "$weir" remove -q set.weir <(seq 5; echo never)
	says ': with a chance of about 0\.[0-9]* % at least one of the 5 removed ones was never ad'
	run 0 "$weir" remove -q set.weir <(seq 6 9); same err /dev/null 'all were there'
	# If no key was in, the image is not even written.
	made
	local before
	before=$(stat -c %i set.weir)
	run 1 "$weir" remove -q set.weir <(echo never)
	says 'not written: keys that were not there: 1, all of them: remove only keys that were '
	[ "$(stat -c %i set.weir)" = "$before" ] && ok || fail 'replaced for nothing'
}

test_remove_as_keys_were_added() {
	rm set.weir
	run 0 "$weir" build -q -s 7 -k counting --trim --lowercase -n 100 -p 0.1% -o set.weir \
		<(printf 'One\nTwo\nThree\n')
	run 0 "$weir" remove --json set.weir --field=2 <(printf 'x, ONE \r\n')
	json out 'j["removed"] == 1'
	holds 2 <(printf 'one\ntwo\nthree\n')
	rm set.weir
	run 0 "$weir" build -q -s 7 -k counting --cidr -n 100 -p 0.1% -o set.weir \
		<(printf '10.0.0.0/8\n192.0.2.0/24\n')
	run 0 "$weir" remove --json set.weir <(echo 10.9.9.9/8); json out 'j["removed"] == 1'
	holds 1 <(printf '10.1.1.1\n192.0.2.7\n')
	run 2 "$weir" remove set.weir <(echo name); says ':1: .*not an IP'
	run 0 "$weir" remove --json --allow-empty --skip-bad set.weir <(echo name)
	says 'lines passed over: 1'; json out 'j["keys"] == 0 and j["passed_over"] == 1'
	(umask 077; head -c 16 /dev/urandom >key)
	run 0 "$weir" build -q --zstd -k counting --keyed-by=key -n 2000 -o packed.weir first
	run 2 "$weir" remove packed.weir half; says 'packed.weir: is keyed'
	run 0 "$weir" remove -q --mode=640 --keyed-by=key packed.weir half
	run 0 "$weir" info --json packed.weir; json out 'j[0]["compressed"]'
	[ "$(stat -c %a packed.weir)" = 640 ] && ok || fail --mode
	made
	printf '1\n0002\0003\0' | tr '\n' '\0' >nul
	run 0 "$weir" remove --json -0 --skip-empty set.weir nul; json out 'j["keys"] == 3'
}

test_remove_trouble() {
	made
	cp set.weir before.weir
	run 2 "$weir" remove; says 'the image is missing'
	run 2 "$weir" remove none.weir half; says 'none.weir: No such file or directory: no image'
	run 2 "$weir" remove - half; says 'names no image'
	run 2 "$weir" remove half set.weir; says 'swapped?$'
	run 1 "$weir" remove set.weir set.weir; says 'which the keys are read from'
	run 2 "$weir" remove set.weir half none; says 'none: No such file'
	run 2 "$weir" remove --max-memory=1K set.weir half; says 'more than'
	run 1 "$weir" remove set.weir first; says 'set.weir: not replaced: .*--allow-shrink'
	same set.weir before.weir 'failed removals'
	run 0 "$weir" remove -q --allow-shrink set.weir first
	run 1 "$weir" query -c set.weir first; prints '^0$'
	run 0 "$weir" info --json set.weir; json out 'j[0]["shrink_allowed"]'
	local kind
	for kind in blocked classic frequency; do
		run 0 "$weir" build -q -k $kind -n 2000 -o other.weir first
		cp other.weir before.weir
		run 2 "$weir" remove other.weir half
		says "^weir remove: other.weir: .*$kind"
		same other.weir before.weir 'cannot remove'
	done
}

# Of two removals at the same time none is lost, and an add waits, too.
test_removals_take_turns() {
	made
	mkfifo late
	"$weir" remove -q set.weir late &
	exec 7>late
	sleep 0.2
	"$weir" remove -q set.weir half 7>&- &
	"$weir" add -q set.weir <(seq 2001 2010) 7>&- &
	sleep 0.2
	seq 10 >&7
	exec 7>&-
	wait
	holds 500 rest <(seq 2001 2010)
}

test_count() {
	made first half half
	run 0 "$weir" count set.weir <(printf '1\n501\nabsent\n502')
	printf '1\t1\n3\t501\n0\tabsent\n3\t502\n' >want
	same out want 'counts'
	run 0 bash -c "seq 3 | '$weir' count -0 set.weir"
	printf '0\t1\n2\n3\n\0' >want
	same out want 'one key with newlines'
	run 0 "$weir" count --json set.weir <(printf '501\n\377"\nabsent\n')
	json out 'j == [{"key": "501", "count": 3, "full": False},
		{"key": "\\377\"", "count": 0, "full": False},
		{"key": "absent", "count": 0, "full": False}]'
	run 0 "$weir" count --json set.weir /dev/null; json out 'j == []'
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo 7; done >often
	run 0 "$weir" add -q set.weir often # 17 now: once by the build
	run 0 "$weir" count set.weir <(echo 7); prints '^15+	7$'
	run 0 "$weir" count --json set.weir <(echo 7)
	json out 'j == [{"key": "7", "count": 15, "full": True}]'
	run 0 "$weir" remove -q set.weir often often # a full counter stays
	run 0 "$weir" count set.weir <(echo 7); prints '^15+	7$'
	# Counts come in the order of the input, across groups and chunks.
	run 0 "$weir" build -q -k frequency -n 1M -p 0.1% -o often.weir all_keys keys
	run 0 "$weir" count often.weir keys absent_keys
	cut -f 2- out >lines
	cat keys absent_keys >both
	same lines both 'the order of the lines'
	head -n "$n" out | awk '$1 < 2' >low
	same low /dev/null 'a count below the truth'
	[ "$(tail -n "+$((n + 1))" out | grep -vc '^0	')" -lt $((n / 100 + 5)) ] && ok ||
		fail 'absent keys that were counted'
}

test_count_as_keys_were_added() {
	run 0 "$weir" build -q -s 7 -k frequency --suffixes -n 100 -p 0.1% -o names.weir \
		<(printf 'a.test\na.test\nb.a.test\n')
	run 0 "$weir" count names.weir <(printf 'x.b.a.test\na.test\nc.test\n')
	printf '3\tx.b.a.test\n2\ta.test\n0\tc.test\n' >want
	same out want 'all that cover a domain'
	local often
	for often in 10.0.0.0/8 10.1.0.0/16; do # is full, and the other is not
		rm -f set.weir
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $often; done >nets
		run 0 "$weir" build -q -s 7 -k counting --cidr -n 100 -p 0.1% -o set.weir nets \
			<(printf '10.0.0.0/8\n10.1.0.0/16\n')
		run 0 "$weir" count set.weir <(echo 10.1.1.1); prints '^16+	10.1.1.1$'
	done
	run 2 "$weir" count --field=2 names.weir <(printf 'x,a.test\nx\n'); says ':2: '
	prints '^2	x,a.test$'
	run 0 "$weir" count --skip-bad --field=1 --delimiter=tab names.weir \
		<(printf 'a.test\n')
	prints '^2	a.test$'
	run 0 "$weir" count --skip-bad --field=2 names.weir <(printf 'x\nx,a.test\n')
	says 'lines passed over: 1'; prints '^2	x,a.test$'
	run 0 "$weir" count --hosts names.weir <(printf '0.0.0.0 a.test # one\n#none\n')
	prints '^2	0.0.0.0 a.test # one$'
	[ "$(wc -l <out)" = 1 ] && ok || fail 'a comment has no count'
	run 0 "$weir" build -q --keyed-by=key -k frequency -n 100 -o keyed.weir <(echo a)
	run 2 "$weir" count keyed.weir keys; says 'keyed.weir: is keyed'
	run 0 "$weir" count --keyed-by=key --no-verify keyed.weir <(echo a); prints '^1	a$'
	local kind
	for kind in blocked classic; do
		run 0 "$weir" build -q -k $kind -o other.weir first
		run 2 "$weir" count other.weir first; says "^weir count: other.weir: .*$kind"
		same out /dev/null 'no counts'
	done
	run 2 "$weir" count; says 'the image is missing'
	run 2 "$weir" count - keys; says 'names no image'
	run 2 "$weir" count other.weir none
	run 2 "$weir" count keys other.weir; says 'swapped?$'
}

# A union adds counters. Keys that another process adds in place would be added twice.
test_merge_and_live() {
	made
	cp set.weir before.weir
	run 0 "$weir" build -q --like=set.weir -o more.weir half
	run 0 "$weir" merge -q -o both.weir set.weir more.weir
	run 0 "$weir" count both.weir <(printf '1\n501\n'); printf '1\t1\n2\t501\n' >want
	same out want 'a union'
	run 2 "$weir" add --live set.weir half
	says '^weir add: set.weir: is of kind counting, .*: leave out --live$'
	same set.weir before.weir 'nothing was added'
	run 0 "$weir" add -q set.weir half
	same set.weir both.weir 'added, and merged'
}

# A rebuild once asked for no size at all.
test_rebuilds_of_growing() {
	local how
	for how in -q --like=grows.weir; do
		rm -f grows.weir
		run 0 "$weir" build -q -k growing -n 100 --max-keys=5000 -o grows.weir half
		[ "$how" = -q ] && cp grows.weir grown.weir || rm -f grown.weir
		run 0 "$weir" build -q "$how" -o grown.weir first
		run 0 "$weir" query -c grown.weir first; prints '^1000$'
		run 0 "$weir" info --json grown.weir
		json out '(j[0]["kind"], j[0]["capacity"], j[0]["layers"])' \
			'== ("growing", 100, 4)'
	done
	seq 12000 >far
	run 0 "$weir" build --json -o grown.weir far # above --max-keys: twice, and twice again
	json out 'j["seed_kept"] and not j["size_kept"] and j["capacity"] == 400'
	run 0 "$weir" build --json --max-keys=50000 -k growing -o grown.weir far
	json out 'j["seed_kept"] and not j["size_kept"] and j["capacity"] == 12000'
	run 0 "$weir" build -q -k growing -n 1000 -m 64K -o sized.weir first
	run 0 "$weir" build --json -o sized.weir half; json out 'j["size_kept"]'
}

test_cuckoo() {
	# a fixed seed: under one seed in 600 another key has the fingerprint of 501
	run 0 "$weir" build -q -s 7 -k cuckoo -n 2000 -p 0.3% -o moves.weir first half
	run 0 "$weir" build -q -o moves.weir first half # a rebuild
	run 0 "$weir" info --json moves.weir; json out 'j[0]["kind"] == "cuckoo"'
	run 0 "$weir" count moves.weir <(echo 501); prints '^2	501$'
	run 0 "$weir" remove --json moves.weir half; json out 'j["removed"] == 500'
	run 0 "$weir" query -c moves.weir first; prints '^1000$'
	run 2 "$weir" add --live moves.weir half; says 'is of kind cuckoo, .*: leave out --live$'
}

# --once: repeated lines use the space of one copy.
test_once() {
	local n kind
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do seq 900; done >often
	run 1 "$weir" build -q -k cuckoo -n 1000 -p 0.3% -s 3 -o none.weir often
	for kind in cuckoo counting; do
		run 0 "$weir" build -q -k $kind --once -n 1000 -p 0.3% -s 3 -o once.weir often
		run 0 "$weir" count once.weir <(echo 501); prints '^1	501$'
		run 0 "$weir" info --json once.weir; json out 'j[0]["once"]'
		run 0 "$weir" info once.weir; prints '^  once  *yes$'
		cp once.weir before.weir
		run 0 "$weir" add once.weir often
		prints '^  keys  *10,800 added, about [0-9]* of them new$'
		run 0 "$weir" count once.weir <(echo 501); prints '^1	501$'
		run 2 "$weir" remove once.weir often
		says '^weir remove: once.weir: was built with --once: .*: build it without$'
		run 0 "$weir" merge -q --force -o all.weir once.weir before.weir
		run 0 "$weir" info --json all.weir; json out 'j[0]["once"]'
		run 0 "$weir" build -q --force --like=once.weir -o like.weir often
		run 0 "$weir" info --json like.weir; json out 'j[0]["once"]'
	done
	run 2 "$weir" build --once -o none.weir often; says '--once: not for kind blocked, but for'
	[ ! -e none.weir ] && ok || fail 'an image that was refused is there'
}

# A full kind: the message says what was added and what makes space, and the image stays unchanged.
test_no_room() {
	local t
	rm -f moves.weir # seeds are given: how many of one key there is room for depends on them
	run 0 "$weir" build -q -k cuckoo -n 2000 -p 0.3% -s 3 -o moves.weir first
	seq 1001 6000 >far
	cp moves.weir before.weir
	for t in 1 4; do
		run 1 "$weir" add -t $t moves.weir far
		says '^weir add: moves.weir: not written: there is room for 1,[0-9]* of these '
		says ' of these 5,000 keys; nothing was added: build it anew from your records '
		says 'with -n of at least 6000$'
		[ "$(wc -l <err)" -eq 1 ] && ok || fail 'more than one sentence'
		same moves.weir before.weir 'a set that is full'
	done
	for t in 1 2 3 4 5 6 7 8 9 10 11; do echo same; done >same_keys
	run 1 "$weir" add moves.weir same_keys
	# ten copies, where a bucket pair has no slots for them
	says 'not written: one of the keys is in it as often as it can hold a key; nothing '
	same moves.weir before.weir 'a key that came too often'
	# the same with a set that is at its capacity already
	run 0 "$weir" build -q -k cuckoo -n 1000 -p 0.3% -s 3 -o at.weir first
	run 1 "$weir" add at.weir same_keys
	says 'not written: one of the keys is in it as often as it can hold a key; nothing '
	run 0 "$weir" add -q moves.weir half; run 0 "$weir" query -c moves.weir first
	prints '^1000$'
	rm before.weir
	run 1 "$weir" build -k cuckoo -n 2000 -o none.weir far
	says '^weir build: none.weir: not written: there is room for 2,[0-9]* of these 5,000 keys; '
	says 'nothing was saved: build it with -n of at least 5000$'
	run 0 "$weir" build -q -k cuckoo -n 5000 -o told.weir far # the number that it named
	run 1 bash -c "'$weir' build -k cuckoo -n 2000 -o none.weir <far" # cannot be counted
	says 'not written: there is room for 2,[0-9]* of these keys; .*: build it with a larger -n'
	run 0 "$weir" build -q -k growing -n 100 --max-keys=1000 -o grows.weir half
	cp grows.weir before.weir
	run 1 "$weir" add grows.weir far
	says 'grows.weir: not written: there is room for [0-9]* of these 5,000 keys; nothing was '
	says ': build it anew from your records with --max-keys of at least 5[45][0-9]0$'
	same grows.weir before.weir 'one that grows no more'
	run 1 "$weir" build -k growing -n 100 --max-keys=1000 -o none.weir far
	says 'room for 1,0[0-9]* of these 5,000 keys; .* build it with --max-keys of at least 5000'
	absent none.weir 'what was refused'
}

test_terminal() {
	has_terminal || return
	printf '\033[2J\n' >rude
	made rude
	script -qec "'$weir' count set.weir rude" /dev/null >typed </dev/null
	tr -d '\r' <typed >out
	printf '1\t\\033[2J\n' >want
	same out want 'an escape sequence'
}

for part in shape_options plan_of_shapes what_is_shown remove \
		remove_warns_of_other_keys_copies remove_as_keys_were_added remove_trouble \
		removals_take_turns count count_as_keys_were_added merge_and_live \
		rebuilds_of_growing cuckoo once no_room terminal; do
	test_$part
done
finish
