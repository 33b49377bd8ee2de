#!/bin/bash
# SPDX-License-Identifier: MIT
# A step of bench/run.sh that takes longer than announced says so while it runs; one that keeps its
# time says nothing more, and the status of either is its own. --reload-every is checked before
# anything runs.
# test_pace.sh BENCH
set -eu
bench=$1
fail() {
	echo "test_pace.sh: $*" >&2
	exit 1
}
. "$bench/pace.sh"
mode=brief steps=(slow other)
declare -A brief=([slow]=1 [other]=7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step slow "a slow step" sleep 6 2> "$work/slow" || fail "a step's status is lost"
grep -q 'a slow step (about 1 s, then 7 s more)' "$work/slow" || fail "not announced"
grep -Eq 'slow takes longer than the 1 s announced: [3-9] s so far' "$work/slow" ||
	fail "late, and not reported: $(cat "$work/slow")"
step other "a quick step" true 2> "$work/quick"
[ "$(wc -l < "$work/quick")" -eq 1 ] || fail "in time, and reported: $(cat "$work/quick")"
changed=no
change() { changed=yes; return 3; }
status=0
step other "a step that fails" change 2> /dev/null || status=$?
[ "$status $changed" = '3 yes' ] || fail "a step runs in this shell, with its status: $status"
for time in soon 0 10x -1 ''; do
	status=0
	"$bench/run.sh" --reload-every="$time" 2> "$work/out" || status=$?
	[ "$status" -eq 2 ] || fail "--reload-every=$time: status $status"
	grep -q "not a time such as 30s" "$work/out" ||
		fail "--reload-every=$time: $(cat "$work/out")"
done
