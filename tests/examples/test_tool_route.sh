#!/bin/bash
# SPDX-License-Identifier: MIT
# Routers and the weir command. Usage: test_tool_route.sh path/to/weir
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1 5000 >a
seq 4001 6000 >b
: >c
tab=$(printf '\t')

test_build_and_route() {
	run 0 "$weir" route --build --allow-empty -s 7 -o s.weir first=a second=b c
	prints 'room of each set  *5,000$'
	prints 'first  *[45][.0-9]* k keys, estimated'
	prints 'c  *0 keys, estimated'
	printf '%s\n' 4500 3 5500 >keys
	run 0 "$weir" route s.weir keys
	prints "^4500${tab}first${tab}second$"
	prints "^3${tab}first"
	prints "^5500${tab}.*second"
	run 0 "$weir" route s.weir a; [ "$(grep -c "${tab}first" out)" = 5000 ] || fail "lost keys"
	run 0 "$weir" route --json s.weir keys
	json out "[sorted(l['sets']) for l in j][0] == ['first', 'second'] and j[1]['key'] == '3'"
	printf 'zz\n' >none
	run 1 "$weir" route s.weir none; prints '^zz$'
	run 1 "$weir" route --json s.weir c; json out 'j == []'
	run 0 "$weir" route --build --allow-empty -o none.weir c; prints 'c  *0 keys, estimated'
	run 2 "$weir" route missing.weir keys
	says '^weir route: missing.weir: .*weir route --build -o makes one'
	run 2 "$weir" route s.weir nothing keys; says 'nothing: '; prints "^3${tab}first"
	# the exit status is of all lines, however many come after the one that has a set
	run 0 "$weir" route --build -q -s 7 -p 0.0001% -o rare.weir a
	{ echo 3; seq 100001 102000; } >long
	run 0 "$weir" route rare.weir long; prints "^3${tab}a$"
	printf '3\0004500\000' >nul
	run 0 "$weir" route -0 s.weir nul
	[ "$(tr -d '\000' <out)" = "3${tab}first4500${tab}first${tab}second" ] || fail "with NULs"
}

test_saturated() {
	run 0 "$weir" route --build --allow-empty -s 7 -n 100 -o full.weir few=c many=a
	prints 'many  *.*; saturated$'
	! grep 'few  .*saturated' out || fail "an empty set is saturated"
	run 0 "$weir" info --json full.weir
	json out "[s['saturated'] for s in j[0]['sets']] == [False, True]"
}

test_info_and_verify() {
	run 0 "$weir" info s.weir
	prints 'router, 3 sets in 8 columns, 6 rows a key'
	prints 'second  *2.0'
	run 0 "$weir" info --json s.weir
	json out "(j[0]['kind'] == 'router' and [s['name'] for s in j[0]['sets']] ==
		['first', 'second', 'c'] and j[0]['sets'][2]['keys_estimated'] == 0 and
		j[0]['capacity'] == 5000)"
	run 0 "$weir" info --prometheus s.weir; prints '^weir_image_saturated{image="s.weir"} 0$'
	run 0 "$weir" verify s.weir; prints 'whole'
	head -c 9000 s.weir >cut.weir
	run 2 "$weir" verify cut.weir; says 'damaged'
	run 2 "$weir" route cut.weir a; says 'cut.weir: '
}

test_keyed_and_compressed() {
	(umask 077 && printf '0123456789abcdef' >key)
	run 0 "$weir" route --build --zstd -q --keyed-by=key -o k.weir a b
	run 2 "$weir" route k.weir a; says 'k.weir: is keyed: give the key'
	run 0 "$weir" route --keyed-by=key k.weir b; prints "^6000${tab}b$"
	run 0 "$weir" info --exact k.weir; prints 'keyed  *yes'
	run 2 "$weir" route --max-memory=8K --keyed-by=key k.weir b
	says ': more than --max-memory allows'
}

# The other subcommands treat it as a filter of the keys of all its sets.
test_others_take_it_as_a_filter() {
	run 0 "$weir" query s.weir a
	run 0 "$weir" merge -q -o z.weir s.weir s.weir
	run 0 "$weir" route z.weir a
	run 0 "$weir" build -q -p 1% -o f.weir a
	run 2 "$weir" route f.weir a; says 'kind blocked and no router'
	run 1 "$weir" merge -o y.weir s.weir f.weir; says 'kind'
}

test_plan() {
	run 0 "$weir" plan --sets 64 -n 1M -p 1%
	prints 'bits a key and set  *9.9'
	prints 'false sets a lookup  *0.6[34]'
	prints 'of that wasted  *0 bytes'
	run 0 "$weir" plan --sets 3 -n 1M,2M,10 -p 1% --json
	json out "j['capacity'] == 2000000 and 0.8 < j['bytes_wasted'] / j['bytes'] < 0.82"
	run 2 "$weir" plan --sets 3 -n 1M,2M -p 1%; says '2 numbers for 3 sets'
	run 2 "$weir" plan --sets 3 -n 1,2,3,4 -p 1%; says '4 numbers for 3 sets'
	run 2 "$weir" plan --sets 65 -n 1M -p 1%; says 'sets'
	run 2 "$weir" plan --sets 6 -n 1M; says 'give two of'
	run 2 "$weir" plan --sets 6 -p 1% -m 1K; says '-m (memory) 1024: allowed'
	run 2 "$weir" plan --sets 6 -n 1M -p 1% --counter-bits=8; says 'no options of one kind'
	run 2 "$weir" plan --sets 6 -n 1M -p 1% -k fuse; says 'leave out -k'
	run 2 "$weir" plan -n 1,2 -p 1%; says 'keys'
}

# route --build must not replace arbitrary files or its own input.
test_what_stands_there_is_kept() {
	cp a kept
	run 1 "$weir" route --build -q -o kept first=a b; says 'kept: not replaced: it is neither'
	run 1 "$weir" route --build -q -o a first=a b; says 'a: not replaced: it is '
	ln a hard; : >empty
	run 1 "$weir" route --build -q --force -o hard a b; says 'same file as a'
	same a kept 'a file of keys'
	run 0 "$weir" route --build -q -o empty a b
	run 0 "$weir" route --build --allow-empty --force -q -o empty a c
	run 0 "$weir" build -q -p 1% -o g.weir a
	run 1 "$weir" route --build -q -o g.weir a b; says 'is of kind blocked, and would be of'
	run 0 "$weir" route --build -q --force -o g.weir a b
	run 0 "$weir" route --build -o - first=a b; cp out piped.weir
	grep -q 'room of each set' err || fail 'the report is not on standard error'
	run 0 "$weir" verify piped.weir; absent ./- 'of -o -'
	run 2 "$weir" route --force g.weir a; says 'force: of --build alone'
}

test_misuse() {
	run 2 "$weir" route --build a; says 'without -o'
	run 2 "$weir" route --build -o x.weir; says '0 sets'
	run 2 "$weir" route --build --max-memory=8K -o x.weir a; says '8192 are the most'
	run 2 "$weir" route --build -o x.weir =a; says 'NAME=FILE'
	run 2 "$weir" route --build -o x.weir a=-; says 'read twice'
	run 2 "$weir" route --build -o x.weir a=a a=b; says 'one name'
	run 2 "$weir" route --build -o x.weir a=nothing; says 'nothing'
	run 2 "$weir" route -o x.weir s.weir; says 'of --build alone'
	[ ! -e x.weir ] || fail "x.weir was written"
}

# Only an image at -o may be replaced, and no file that was read.
test_replaces_images_alone() {
	echo precious >notes; cp notes notes_before; cp a list
	run 1 "$weir" route --build -q -o notes a b
	says 'notes: not replaced: it is neither a weir image nor empty'
	same notes notes_before "weir route replaced a file that is no image"
	run 1 "$weir" route --build -q --force -o list list b; says 'which the keys are read from'
	same list a "weir route replaced the file that it read"
	mkdir -p folder; run 2 "$weir" route --build -q -o folder a b; says 'is a directory'
	run 0 "$weir" route --build -q --force -s 7 -o notes first=a b
	run 0 "$weir" route --build -q -s 7 -o notes first=a b
	run 2 "$weir" route --force notes a; says '--force: of --build alone'
}

test_build_to_standard_output() {
	run 0 "$weir" route --build -s 7 -o - first=a b
	same out notes "standard output has another image than the file"
	grep -q 'room of each set' err && ok || fail "the report is not on standard error"
	absent - "a file is named as standard output is"
}

# Each file is read twice, and a pipe is empty the second time. Such a set would be empty or too
# small for its keys.
test_a_pipe_is_not_read_twice() {
	mkfifo fifo
	rm -f pipe.weir
	run 2 timeout 60 "$weir" route --build -q -o pipe.weir first=a second=fifo
	says '^weir route: fifo: is not a regular file, and is to be read twice: give the number'
	run 2 "$weir" route --build -q -o pipe.weir first=a second=<(cat b)
	says ': is not a regular file, and is to be read twice: '
	run 2 "$weir" route --build -q -o pipe.weir nowhere; says 'nowhere: No such file'
	absent pipe.weir 'a router of a pipe'
	run 0 "$weir" route --build -q -n 5000 -s 7 -o pipe.weir first=a second=<(cat b)
	run 0 "$weir" route pipe.weir b; prints "^6000${tab}second$"
}

# A file that grows between the two passes would overfill its set.
test_a_file_that_changes_between_passes() {
	local tries writer
	seq 1000000 >long
	echo 0 >grows
	while echo x >>grows; do sleep 0.01; done 2>/dev/null & # ends with the folder at the latest
	writer=$!
	for tries in $(seq 10); do
		"$weir" route --build -q -o grown.weir first=grows second=long 2>err && continue
		break
	done
	kill $writer
	wait $writer 2>/dev/null
	says '^weir route: grows: changed while it was read: it had .* lines, then .*: build again$'
}

# A list that takes minutes to read shows its progress.
test_does_a_router_show_its_progress() {
	has_terminal || return 0
	local slow="{ for i in 1 2 3; do echo \$i; sleep .3; done; } |"
	shown 'building .*keys' "$slow '$weir' route --build -n 9 -o slow.weir a=/dev/stdin"
}

test_build_and_route
test_a_pipe_is_not_read_twice
test_a_file_that_changes_between_passes
test_saturated
test_replaces_images_alone
test_build_to_standard_output
test_info_and_verify
test_keyed_and_compressed
test_others_take_it_as_a_filter
test_plan
test_what_stands_there_is_kept
test_misuse
test_does_a_router_show_its_progress
finish
