#!/bin/bash
# SPDX-License-Identifier: MIT
# Lines become keys in groups, and files are read in chunks. Tests more groups and chunks than one,
# and keys at the end of a chunk or file. Usage: test_tool_many.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# A group of lines has more keys than one call takes.
test_many_domains_a_line() {
	seq 30000 | sed 's/.*/0.0.0.0 &.a.test &.b.test &.c.test &.d.test/' >many_hosts
	seq 30000 | sed 's/.*/x.&.a.test\nx.&.b.test\nx.&.c.test\nx.&.d.test/' >below
	run 0 "$weir" build --json --hosts --suffixes -o many.weir many_hosts
	json out 'j["keys"] == 120000'
	run 0 "$weir" query many.weir below; same out below 'four domains a line'
	{ head -c 3000000 /dev/zero | tr '\0' 'A' | fold -w 750000; printf '\nB\n'; } >long
	run 0 "$weir" build --json --lowercase -o long.weir long; json out 'j["keys"] == 5'
	run 0 "$weir" query -c long.weir <(tr 'AB' 'ab' <long); prints '^5$'
}

# A line needs several lookups, and a group more than one call takes; most of them find nothing.
test_many_lookups_a_line() {
	local i
	for i in {0..255}; do
		printf '10.%d.0.0/16\n11.0.%d.0/24\n12.0.0.%d\n2001:db8:%x::/48\n' $i $i $i $i
	done >nets
	{ cat nets; printf '13.0.0.0/%d\n' {25..31}; } >lengths
	for i in {0..255}; do
		printf '10.%d.1.1\n11.0.%d.1\n12.0.0.%d\n2001:db8:%x::1\n99.0.0.%d\n' \
			$i $i $i $i $i
	done >mixed
	grep -v '^99' mixed >in
	# a fixed seed, because 256 lookups without a false positive would need luck
	run 0 "$weir" build --json -s 7 --cidr -p 0.0001% -o nets.weir lengths
	json out 'j["lookups"] == 10'
	run 0 "$weir" query nets.weir mixed; same out in 'addresses within prefixes'
	grep '^99' mixed >not_in
	run 0 "$weir" query -v nets.weir mixed; same out not_in 'within none'
	for i in {1..9}; do cat mixed; done >mixed9
	run 0 "$weir" query -c -t 4 nets.weir mixed9; prints "^$((9 * 1024))\$"
}

# A thread without a chunk has noted no prefix length, and must keep the lengths that others noted.
test_many_threads_note_lengths() {
	{
		seq 200000 | sed 's/$/ 10.0.0.0\/8/'
		echo '1 192.0.2.0/24'
		seq 200000 | sed 's/$/ 10.0.0.0\/8/'
	} >lines
	local threads
	for threads in 1 2 8; do
		run 0 "$weir" build --json --field=2 --delimiter=' ' --cidr -n 10 -p 1% \
			-t $threads --new-seed -o threads.weir lines
		json out 'j["ipv4_lengths"] == "8 24" and j["keys"] == 400001'
		run 0 "$weir" query -c threads.weir <(printf '10.1.1.1\n192.0.2.1\n'); prints '^2$'
	done
}

# A wrong line is named by its number in its own file, even far from the beginning.
test_numbers_of_lines() {
	seq 300000 | sed 's/$/,key/' >first
	{ cat first; echo wrong; } >second
	run 2 "$weir" build -q --field=2 -o none.weir first second
	says '^weir build: second:300001: field 2 is asked for, and the line has 1'
	absent none.weir 'a wrong line'
	printf '\xef\xbb\xbfone\n' >bom_one
	printf '\xef\xbb\xbftwo\n' >bom_two
	run 0 "$weir" build -q --trim -o bom.weir bom_one bom_two
	run 0 "$weir" query -c bom.weir <(printf 'one\ntwo\n'); prints '^2$'
}

# Only a file begins with a byte-order mark. Elsewhere the three bytes are the beginning of a key.
# In the reversed file, chunks begin with other lines.
test_is_the_mark_of_UTF_8_left_in_all_chunks_but_the_first() {
	local mark=$'\xef\xbb\xbf'
	{ echo first; seq -f "$mark%.0f" 200000; } >marks
	{ echo first; seq -f "$mark%.0f" 200000 -1 1; } >reversed
	run 0 "$weir" build -q -s 7 -p 0.001% -o marks.weir marks
	same err /dev/null 'build: no mark left out'
	run 0 "$weir" query -c marks.weir reversed; prints '^200001$'
	same err /dev/null 'query: no mark left out'
}

# More files than a process may have open.
test_many_files() {
	local i
	for i in {1..70}; do echo "in file $i" >"file$i"; done
	run 0 bash -c "ulimit -n 40; '$weir' build --json -n 1000 -p 0.001% -o all.weir file*"
	json out 'j["keys"] == 70'
	run 0 bash -c "ulimit -n 40; '$weir' query -c all.weir file*"; prints '^70$'
}

for part in many_domains_a_line many_lookups_a_line many_threads_note_lengths numbers_of_lines \
		is_the_mark_of_UTF_8_left_in_all_chunks_but_the_first many_files; do
	test_$part
done
finish
