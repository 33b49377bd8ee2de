#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/run.sh announces each step with its number, its time and the time of the rest. A step runs
# in the script's own shell and keeps its status. A question gets no more time than announced, and a
# build reports its progress. Options are checked before anything runs. test_pace.sh BENCH
set -eu
bench=$1
fail() {
	echo "test_pace.sh: $*" >&2
	exit 1
}
. "$bench/pace.sh"
mode=brief steps=(build slow other)
declare -A brief=([slow]=4 [other]=7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

announced() { # announced WANTED STEP
	announce "$2" "a step" 2> "$work/out"
	grep -qF "] $1" "$work/out" || fail "not \"$1\": $(cat "$work/out")"
}
announced 'step 1 of 3: a step' build
announced 'step 2 of 3: a step (4 to 8 s, then 7 to 14 s for the rest)' slow
announced 'step 3 of 3: a step (7 to 14 s)' other
mode=unknown
declare -A unknown=()
announced 'step 2 of 3: a step' slow
! grep -q '(' "$work/out" || fail "a time that nothing is known of: $(cat "$work/out")"
mode=brief
changed=no
change() { changed=yes; return 3; }
status=0
step other "a step that fails" change 2> /dev/null || status=$?
[ "$status $changed" = '3 yes' ] || fail "a step runs in this shell, with its status: $status"

# A build: ninja's lines give the progress, and the build's status is kept.
: > "$work/log"
[ "$(how_far "$work/log" 1)" = configuring ] || fail "$(how_far "$work/log" 1)"
echo '[1/11] a' > "$work/log"
[ "$(how_far "$work/log" 1)" = 'compiling: 1 of 11' ] || fail "$(how_far "$work/log" 1)"
printf '[1/8] a\n[2/8] b\nwarning: [9/9]\n' > "$work/log"
[ "$(how_far "$work/log" 10)" = 'compiling: 2 of 8, about 30 s left' ] ||
	fail "$(how_far "$work/log" 10)"
status=0
followed "$work/log" change 2> "$work/out" || status=$?
[ "$status" -eq 3 ] || fail "a build's status is lost: $status"
followed "$work/log" sleep 3 2> "$work/out"
[ "$(grep -c 'compiling: 2 of 8' "$work/out")" -eq 1 ] || fail "a slow build: $(cat "$work/out")"

# A question gets at most the announced time: --within, less one second for a late start.
# shellcheck disable=SC1090
. <(sed -n '/^ask() {$/,/^}$/p' "$bench/run.sh")
timed() { echo "$*" > "$work/asked"; }
root=/none build=/none keys='' size='' results=$work commands=() answers=()
declare -A smoke=([slow]=4) quick=([slow]=5) normal=([slow]=6) full=()
for asked in smoke=20 quick=9 normal=11; do
	mode=${asked%=*}
	ask slow
	grep -q -- " --within=${asked#*=} " "$work/asked" || fail "$mode: $(cat "$work/asked")"
done
mode=full
ask slow
! grep -q -- --within "$work/asked" || fail "--full leaves out cases: $(cat "$work/asked")"

for time in soon 0 10x -1 ''; do
	status=0
	"$bench/run.sh" --reload-every="$time" 2> "$work/out" || status=$?
	[ "$status" -eq 2 ] || fail "--reload-every=$time: status $status"
	grep -q "not a time such as 30s" "$work/out" ||
		fail "--reload-every=$time: $(cat "$work/out")"
done
