#!/bin/sh
# SPDX-License-Identifier: MIT
# A benchmark program whose time ends leaves out the remaining rows, names them, and exits with
# status 0. Without --within it leaves out nothing. test_within.sh BENCH_COST
set -eu
cost=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seq 1000 > "$work/keys"
run() {
	TMPDIR=$work "$cost" --quick --keys "$work/keys" --benchmark_filter=what:save --no-context \
		--benchmark_min_time=0.001 --benchmark_out="$work/out.json" \
		--benchmark_out_format=json "$@" > /dev/null 2>&1
}
fail() {
	echo "test_within.sh: $*" >&2
	exit 1
}
run --within=0.000001 || fail "status $? where nothing was begun"
grep -q '"error_message": "left out: ' "$work/out.json" || fail "nothing was left out"
! grep -q items_per_second "$work/out.json" || fail "begun too late"
run --within=1000 || fail "status $?"
! grep -q 'left out' "$work/out.json" || fail "left out in time"
