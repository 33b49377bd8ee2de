#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the choice of kind and size: a quick run measures every kind, with all verbs that the kind
# has, at rates that it supports; and no key is lost by kinds that change while they are in use.
# test_choice.sh BENCH_CHOICE
set -eu
choice=$1
fail() {
	echo "test_choice.sh: $*" >&2
	exit 1
}
rows=$("$choice" --quick --no-context --benchmark_list_tests)
# kinds OP RATE-OR-SIZE: print the kinds with such rows, sorted.
kinds() {
	echo "$rows" | sed -n "s|^choice/kind:\([a-z]*\)/.*$2/.*/op:$1/.*|\1|p" | sort -u | xargs
}
expect() {
	[ "$(kinds "$1" "$2")" = "$3" ] || fail "$1 at $2: $(kinds "$1" "$2"), expected $3"
}
all="blocked classic counting cuckoo frequency fuse growing layered split yardstick"
for rate in 0.01 0.001 1e-05; do
	for op in miss batch; do
		expect $op rate:$rate "$all"
	done
done
# all kinds but those that are built once
expect insert rate:0.01 "blocked classic counting cuckoo frequency growing split yardstick"
expect remove rate:0.01 "counting cuckoo"
expect count rate:0.01 "counting cuckoo frequency"
# cuckoo has no rate near 10 %; sixteen bits are one counter of frequency
expect miss rate:0.1 "blocked classic counting frequency fuse growing layered split yardstick"
expect miss bits:16 "blocked classic counting cuckoo fuse growing layered split yardstick"
# The run may end early, so every kind has its first row, at the operator's rate or the usual one,
# before any kind has its second.
each_kind_first() {
	kinds=$(echo "$all" | wc -w)
	first=$(echo "$rows" | head -n "$kinds")
	[ "$(echo "$first" | grep -c "/rate:$1/.*/op:miss/")" -eq "$kinds" ] &&
		[ "$(echo "$first" | sed 's|^choice/kind:\([a-z]*\)/.*|\1|' | sort -u | xargs)" = \
			"$all" ] ||
		fail "not one row of each kind comes first: $first"
	echo "$first" | grep -q "kind:blocked/z:$2/" ||
		fail "blocked's first row is not weir's own layout"
}
each_kind_first 0.01 2
for asked in 0.4% 0.004; do
	rows=$("$choice" --quick --rate=$asked --no-context --benchmark_list_tests)
	each_kind_first 0.004 2
	expect miss rate:0.01 "$all" # and the usual rates after it
done
rows=$("$choice" --quick --rate=0.1% --no-context --benchmark_list_tests)
[ -z "$(echo "$rows" | sort | uniq -d)" ] || fail "a rate that is usual too comes twice"
for bad in 0 60% 1x ''; do
	status=0
	said=$("$choice" --rate=$bad 2>&1 > /dev/null) || status=$?
	[ "$status" -eq 2 ] && [ "${said#*--rate=$bad: give a rate}" != "$said" ] ||
		fail "--rate=$bad: status $status, $said"
done
changing='kind:(counting|cuckoo|growing)/rate:0.01/.*op:(miss|insert|remove|count)/'
"$choice" --quick --no-context --benchmark_repetitions=1 --benchmark_min_time=0.001 \
	--benchmark_filter="$changing" \
	> /dev/null 2>&1 || fail "status $? where keys are removed, counted, inserted"
