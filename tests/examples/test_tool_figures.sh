#!/bin/bash
# SPDX-License-Identifier: MIT
# The numbers and messages of the weir command fit the kind: copies, slots and layers, the possible
# unions, and what a change keeps. Usage: test_tool_figures.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >first
seq 501 1000 >half

test_copies() {
	run 0 "$weir" build -q -k cuckoo -n 2000 -p 1% -s 7 -o moves.weir first
	run 0 "$weir" add moves.weir half; prints '  keys  *500 added, one copy each$'
	run 0 "$weir" add --json moves.weir <(echo 7)
	json out 'j["keys_new_estimated"] is None and j["keys_estimated"] == 1501'
	run 0 "$weir" info moves.weir; prints '  places taken  '
	if grep -q 'bits set' out; then fail 'places are no bits'; else ok; fi
	seq 20600 >far
	run 0 "$weir" build -q -k cuckoo -n 20000 -p 1% -s 3 -o over.weir far
	says '^weir build: over.weir: more keys than its capacity of 20,000: .* soon be refused$'
}

test_growing() {
	seq 20000 >far
	run 0 "$weir" build -k growing -n 1000 --max-keys=21000 -s 9 -o grows.weir far
	prints '  memory  .*, 1[0-9]\.[0-9]* bits for each key$'
	run 0 "$weir" info grows.weir
	prints '  of the first layer  *1,000$'; prints '  room for keys  *21,000$'
	prints '  bits a key now  *1[0-9]\.'
	run 0 "$weir" info --json grows.weir
	json out 'j[0]["max_capacity"] == 21000 and 10 < j[0]["bits_per_key"] < 20'
	run 0 "$weir" build -q -o plain.weir first
	run 0 "$weir" info --json plain.weir; json out '"max_capacity" not in j[0]'
}

test_unions() {
	run 0 "$weir" build -q -s 7 -o blocked.weir first
	run 0 "$weir" build -q -s 7 -k classic -o classic.weir first
	run 1 "$weir" merge -o both.weir blocked.weir classic.weir
	says 'classic.weir, merged into blocked.weir: it is of kind classic, and the other of kind'
	# growing filters have as many layers as their keys need
	run 0 "$weir" build -q -k growing -n 1000 --max-keys=100000 -s 9 -o small.weir half
	run 0 "$weir" build -q -k growing -n 1000 --max-keys=100000 -s 9 -o large.weir far
	run 0 "$weir" build -q --like=large.weir -o large2.weir <(seq 30001 50000)
	run 0 "$weir" merge -q -o both.weir large.weir small.weir
	run 0 "$weir" query -c both.weir far half; prints '^20500$'
	run 2 "$weir" merge -o both.weir large.weir large2.weir
	says 'merged into large.weir: cannot merge: layer 0 of both has about '
	rm both.weir
	run 0 "$weir" build -q --like=small.weir -o other.weir <(seq 2001 2100)
	run 0 "$weir" merge -q -o both.weir small.weir other.weir
	run 0 "$weir" query -c both.weir half <(seq 2001 2100); prints '^600$'
	rm both.weir
	# no room
	run 0 "$weir" build -q -k cuckoo -n 1000 -p 1% -s 7 -o one.weir first
	run 0 "$weir" build -q --like=one.weir -o two.weir half
	run 1 "$weir" merge -o both.weir one.weir two.weir
	says 'merged into one.weir: not written: full: .*1.00 k are in it.*-n with a larger'
	absent both.weir 'a union without room'
	# counters
	run 0 "$weir" build -q -k counting -n 2000 -p 1% -s 7 -o counts.weir first
	run 0 "$weir" merge -o both.weir counts.weir counts.weir
	prints '  counters above 0  '; prints '  counters full  *0$'
}

# A changed image keeps its generation and its marks.
test_what_changes_keep() {
	local kind
	run 0 "$weir" build -q -k counting -n 2000 -s 7 -o set.weir first
	run 0 "$weir" build -q --allow-shrink -k counting -n 2000 -o set.weir <(seq 20)
	run 0 "$weir" info --json set.weir
	json out 'j[0]["shrink_allowed"] and not j[0]["overfull_allowed"]'
	run 0 "$weir" build -q --allow-overfull -k counting -n 20 -p 1% -o over.weir first
	run 0 "$weir" remove -q over.weir half
	run 0 "$weir" info --json over.weir; json out 'j[0]["overfull_allowed"]'
	run 0 "$weir" info --json set.weir
	json out 'isinstance(j[0]["generation"], int)'
}

test_counts_of_files() {
	run 0 "$weir" build -q -k counting -n 2000 -p 0.1% -o set.weir first half
	run 2 "$weir" count set.weir none; says '^weir count: none: No such file'
	same out /dev/null 'nothing was counted'
	run 0 "$weir" count --skip-empty set.weir <(printf '\n501\n\n1\n')
	printf '2\t501\n1\t1\n' >want
	same out want 'empty lines'
	run 0 "$weir" count set.weir <(printf '\n501\n')
	[ "$(wc -l <out)" = 2 ] && ok || fail 'an empty line is a key'
}

for part in copies growing unions what_changes_keep counts_of_files; do
	test_$part
done
finish
