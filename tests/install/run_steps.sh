#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the output of tests/run.sh while its steps run, with steps of this test: run_steps.sh SOURCE
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
sed 's/^patience=50/patience=15/' "$source/tests/ends.sh" > "$work/tests/ends.sh"
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
		echo $BASHPID > "$logs/pid"
		echo 'all run'
		sleep 600
	}
	step_compiles() {
		echo $BASHPID > "$logs/pid"
		echo 'all run'
		while sh -c 'sh -c "sleep 1; true"; true'; do :; done
	}
END
run() { WEIR_BUILD=$work/build bash "$work/tests/run.sh" "$@" > "$work/out" 2>&1; }
has() { grep -q -- "$1" "$work/out" || fail "no line '$1'"; }
last() { [ "$(tail -n 1 "$work/out")" = "$1" ] || fail "the last line is not '$1'"; }

# A step's begin is reported before it ends.
run quick wrong && fail 'a step that fails is no failure'
has '^ *quick begins: .*/quick.log$'
has '^ok *quick *1 passed, 0 failed'
has '^ *wrong begins: '
has '^FAIL *wrong *0 passed, 1 failed'
[ "$(grep -n 'quick begins' "$work/out" | cut -d : -f 1)" -lt \
	"$(grep -n '^ok *quick' "$work/out" | cut -d : -f 1)" ] || fail 'it begins after its end'
last '1 passed, 1 failed'

# The output names a step that takes too long, and a step that is running when the run is ended.
run endless && fail 'a step that is ended is no failure'
has '^FAIL *endless '
has '| ended after 4 s$'
last '0 passed, 1 failed'

# A signal ends all started processes, in any session, and the output names the running step. Each
# process of the run has the mark in its environment.
sed -i 's/^limit=4/limit=600/' "$work/tests/run.sh"
left() { grep -lsz "^WEIR_BUILD=$work/build\$" /proc/[0-9]*/environ; }

# begin STEP: start a run in its own process group, and return once the step runs.
begin() {
	rm -rf "$work/build/logs"
	set -m
	env --default-signal WEIR_BUILD="$work/build" bash "$work/tests/run.sh" "$1" \
		> "$work/out" 2>&1 &
	set +m
	for _ in $(seq 1200); do # a minute
		grep -qs '^all run' "$work/build/logs/$1.log" && break
		sleep 0.05
	done
}

# ended SIGNAL STATUS: the run ends within 10 seconds, with all processes that it has started.
ended() {
	status=0
	for _ in $(seq 200); do
		kill -0 $! 2> /dev/null || break
		sleep 0.05
	done
	! kill -KILL $! 2> /dev/null || fail "$1: still running"
	wait $! || status=$?
	[ "$status" -eq "$2" ] || fail "$1: status $status"
	for _ in $(seq 20); do # a worker's last helper processes
		[ -n "$(left)" ] || break
		sleep 0.05
	done
	[ -z "$(left)" ] || fail "$1: left running: $(left)"
	! grep -q Killed "$work/out" || fail "$1: bash names what it has ended"
	left | sed 's,/proc/\([0-9]*\)/.*,\1,' | xargs -r kill -KILL 2> /dev/null
}

# is_ended_by SIGNAL STATUS: no process of the run is left, and the output names the running step.
is_ended_by() {
	ended "$@"
	has '^FAIL stubborn was ended before it had a result: .*/stubborn.log$'
	last '0 passed, 1 failed'
}

for signal in HUP=129 INT=130 QUIT=131 TERM=143; do
	begin stubborn
	kill "-${signal%=*}" $!
	is_ended_by "${signal%=*}" "${signal#*=}"
done

# timeout sends its signal to the whole group: the workers once ended before the main process could
# see what they had started, and the step went on.
for signal in HUP=129 INT=130 QUIT=131 TERM=143; do
	begin stubborn
	kill "-${signal%=*}" -- "-$!"
	is_ended_by "${signal%=*} to the group" "${signal#*=}"
done

# A signal to one process: a worker ends its step with itself, and so does the process that runs the
# step. The step has then failed.
begin stubborn
kill -TERM "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$(cat "$work/build/logs/pid")/status")"
is_ended_by 'TERM to the worker' 1
begin compiles
kill -TERM "$(cat "$work/build/logs/pid")"
ended 'TERM to the step' 1
has '^FAIL *compiles '
last '0 passed, 1 failed'

# Progress is shown on a pipe too.
run long || fail 'a step that passes is a failure'
has '^ *long *[1-9] s so far: a line of the log$'
last '1 passed, 0 failed'
[ $failed = 0 ] && echo 'each step has a name'
exit $failed
