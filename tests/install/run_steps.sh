#!/bin/bash
# SPDX-License-Identifier: MIT
# What tests/run.sh says while its steps run: run_steps.sh SOURCE. The steps are this test's own.
set -u
source=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
	echo "FAILED: $*"
	sed 's/^/    | /' "$work/out"
	failed=1
}
mkdir "$work/tests"
cp "$source"/tests/{install-packages.sh,build-error.sh} "$work/tests/"
sed 's/^every=[0-9]*/every=1/; s/^limit=[0-9]*/limit=4/' "$source/tests/run.sh" \
	> "$work/tests/run.sh"
sed 's/"$tries" -lt 50/"$tries" -lt 5/' "$source/tests/ends.sh" > "$work/tests/ends.sh"
cat > "$work/tests/steps.sh" <<-'END'
	list_steps() { echo none; }
	all_steps=() ci_steps=()
	step_quick() { check true; }
	step_wrong() { check false; }
	step_endless() { echo 'a line of the log'; sleep 60; }
	step_long() { echo 'a line of the log'; sleep 3; check true; }
	step_stubborn() {
		setsid sleep 600 &
		timeout 600 sleep 600 &
		trap '' TERM
		echo 'all run'
		sleep 600
	}
END
run() { WEIR_BUILD=$work/build bash "$work/tests/run.sh" "$@" > "$work/out" 2>&1; }
has() { grep -q -- "$1" "$work/out" || fail "no line '$1'"; }
last() { [ "$(tail -n 1 "$work/out")" = "$1" ] || fail "the last line is not '$1'"; }

# Nothing was said before a step had ended.
run quick wrong && fail 'a step that fails is no failure'
has '^ *quick begins: .*/quick.log$'
has '^ok *quick *1 passed, 0 failed'
has '^ *wrong begins: '
has '^FAIL *wrong *0 passed, 1 failed'
[ "$(grep -n 'quick begins' "$work/out" | cut -d : -f 1)" -lt \
	"$(grep -n '^ok *quick' "$work/out" | cut -d : -f 1)" ] || fail 'it begins after its end'
last '1 passed, 1 failed'

# A step that takes too long has a name, and so has one that is running when all is ended.
run endless && fail 'a step that is ended is no failure'
has '^FAIL *endless '
has '| ended after 4 s$'
last '0 passed, 1 failed'

# A signal ends all that was started, wherever it is, and says which step was running. Each process
# of the run has the mark in its environment.
sed -i 's/^limit=4/limit=600/' "$work/tests/run.sh"
left() { grep -lsz "^WEIR_BUILD=$work/build\$" /proc/[0-9]*/environ; }
for signal in HUP=129 INT=130 TERM=143; do
	env --default-signal WEIR_BUILD="$work/build" bash "$work/tests/run.sh" stubborn \
		> "$work/out" 2>&1 &
	for _ in $(seq 1200); do # a minute
		grep -qs '^all run' "$work/build/logs/stubborn.log" && break
		sleep 0.05
	done
	kill "-${signal%=*}" $!
	status=0
	wait $! || status=$?
	[ "$status" -eq "${signal#*=}" ] || fail "ended by $signal: status $status"
	[ -z "$(left)" ] || fail "$signal: left running: $(left)"
	has '^FAIL stubborn was ended before it had a result: .*/stubborn.log$'
	last '0 passed, 1 failed'
	rm "$work/build/logs/stubborn.log"
done

# How far it is shows on a pipe too.
run long || fail 'a step that passes is a failure'
has '^ *long *[1-9] s so far: a line of the log$'
last '1 passed, 0 failed'
[ $failed = 0 ] && echo 'each step has a name'
exit $failed
