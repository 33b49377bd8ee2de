#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the tests: installs missing packages, builds, runs, and counts what passed. See --help, and
# tests/README.md for what each test asks.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
build=${WEIR_BUILD:-$root/build}
logs=$build/logs
# Prefer Debian's tools: those of a version manager start a shell script for each call.
PATH=/usr/bin:/bin:$PATH
. tests/install-packages.sh
. tests/build-error.sh
. tests/ends.sh
. tests/steps.sh

usage() {
	cat <<-END
	usage: tests/run.sh [--smoke | --ci | --all | STEP...]

	Without an argument: builds weir with what Debian 12 installs in a minute and runs its
	tests (under 10 minutes on 2 cores). A plain "meson test" runs the same tests.
	--smoke   only builds it, and looks at headers and symbols
	--ci      what every change must pass, within 35 minutes on 2 cores:
	          ${ci_steps[*]}
	--all     every step: other compilers, sanitizers, other architectures, models, planted
	          bugs, fuzzing
	--list    the steps, with what each does
	STEP...   only these, such as: tests/run.sh asan
	--help    this

	As root it installs the Debian packages that a step needs; otherwise it lists those that
	are missing. It builds in ${build#"$root/"} (WEIR_BUILD changes that) and says when a step
	begins and ends, and every $every s how far it is. It ends with "N passed, N failed" and
	an exit status of 0 if nothing failed. A signal ends it with all that it has started.
	END
}

# counts FILE: print the results of meson's test log, as "passed failed skipped".
counts() {
	awk '{
		if (!match($0, /"result": "[A-Z]+"/)) next
		result = substr($0, RSTART + 11, RLENGTH - 12)
		if (result == "OK" || result == "EXPECTEDFAIL") passed++
		else if (result == "SKIP") skipped++
		else failed++
	} END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# Called by a step: build and run tests of a build folder, and add the results to the step's tally.
# Succeeds even if tests fail, because failures are counted.
meson_test() {
	local folder=$build/$1 status=0 log
	shift
	rm -f "$folder"/meson-logs/testlog*.json
	meson test -C "$folder" --print-errorlogs "$@" || status=$?
	log=$(ls "$folder"/meson-logs/testlog*.json 2> /dev/null | head -n 1)
	[ -s "$log" ] && [ "$status" -lt 125 ] || return 1
	counts "$log" >> "$tally"
	tests/failures.py "$log" >> "$failures"
	sed -n 's/.*"name": "[^"]* \/ \([^"]*\)".*"result": "SKIP".*/\1/p' "$log" >> "$skips"
}

# Called by a step for a check of its own, which counts as one result.
check() {
	echo "+ $*"
	if "$@"; then
		echo "1 0 0" >> "$tally"
	else
		echo "0 1 0" >> "$tally"
	fi
}

limit=2700      # seconds for a step, far above its usual time, so that a run always ends. --all has
                # more, because two long steps at a time slow each other down
deadline=86400
short=          # --ci: a build skips tests that another build of the run has, and sizes are smaller
                # (test_is_short() in short.h)
every=30        # seconds between two progress lines of a step

# Print the seconds of each finished step, the longest first, and of the whole run.
print_times() {
	local step
	for step in "${steps[@]}"; do
		[ ! -s "$logs/$step.seconds" ] || echo "$(cat "$logs/$step.seconds") $step"
	done | sort -rn | awk -v all=$SECONDS '
		{ printf "%s%s %d s", (NR > 1 ? ", " : "time of each step: "), $2, $1 }
		END { if (NR) printf "; in all %d s\n", all }'
}

# When this script ends, for any reason, its last line counts what passed. A step that was begun or
# waiting and has no result has failed.
finish() {
	local status=$? passed failed ended step
	end_started
	read -r passed failed ended < \
		<(awk '{ p += $1; f += $2 } END { print p + 0, f + 0, NR }' "$results")
	failed=$((failed + ${#steps[@]} - ended))
	for step in "${steps[@]}"; do
		[ ! -e "$logs/$step.begun" ] || [ -e "$logs/$step.seconds" ] ||
			echo "FAIL $step was ended before it had a result: $logs/$step.log"
	done
	print_times
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] || [ "$status" -ne 0 ] || status=1
	exit "$status"
}

report() {
	local step=$1 p=$2 f=$3 s=$4 seconds=$5 used=$6
	printf '%-4s %-10s %4d passed, %d failed%s  %4d s, %d s of a core\n' \
		"$([ "$f" -eq 0 ] && echo ok || echo FAIL)" "$step" "$p" "$f" \
		"$([ "$s" -gt 0 ] && printf ', %d skipped (%s)' "$s" "$(paste -sd, "$skips")")" \
		"$seconds" "$used"
	if [ "$f" -gt 0 ]; then
		# Failures come first, so that a cut output still has them.
		if [ -s "$failures" ]; then
			head -n 100 "$failures"
		elif build_failed "$log"; then
			build_error "$log" 2>&1
		else
			tail -n 40 "$log"
		fi | printable | sed 's/^/    | /'
		echo "    the whole of it: $log"
	elif [ -e "$logs/$step.report" ]; then
		sed 's/^/    /' "$logs/$step.report"
	fi
}

# Print the progress of a running step.
progress() {
	printf '     %-10s %4d s so far: %s\n' "$1" "$2" \
		"$(tail -n 1 "$3" | printable | cut -c 1-60)"
}

# End a step that takes more than $2 seconds. Descriptor 3 gets the progress lines.
watch() {
	local step=$1 left=$2 log=$4 pause
	while [ "$left" -gt 0 ]; do
		pause=$((left < every ? left : every))
		sleep "$pause"
		left=$((left - pause))
		progress "$step" $(($2 - left)) "$log" >&3
	done
	echo "ended after $2 s" >> "$log"
	trap '' TERM # run_step() ends this process as soon as the step has ended
	end_tree "$3"
}

# Set $used to the CPU seconds that this worker's steps have used so far.
note_used() {
	times > "$logs/$1.times" # not in a subshell, whose times would be 0
	used=$(awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, /[ms]/)
			seconds += 60 * part[1] + part[2]
		}
		printf "%d", seconds
	}' "$logs/$1.times")
}

run_step() {
	local step=$1 begin=$SECONDS status p f s seconds used before runs watches
	note_used "$step"
	before=$used
	log=$logs/$1.log tally=$logs/$step.tally skips=$logs/$step.skipped
	failures=$logs/$step.failures
	: > "$tally"
	: > "$skips"
	: > "$failures"
	rm -f "$logs/$step.report"
	: > "$logs/$step.begun"
	echo "     $step begins: $log"
	seconds=$((deadline - SECONDS < limit ? deadline - SECONDS : limit))
	set -m # own process groups, so that a terminal's Ctrl-C reaches this script alone
	(
		set -e
		[ "$seconds" -gt 0 ] || { echo "not begun: the whole run is out of time"; exit 1; }
		"step_$step"
	) > "$log" 2>&1 < /dev/null &
	runs=$!
	watch "$step" "$seconds" "$runs" "$log" 3>&1 > /dev/null 2>&1 &
	watches=$!
	set +m
	wait "$runs" 2> /dev/null
	status=$?
	kill -TERM -- "-$watches" 2> /dev/null
	wait "$watches" 2> /dev/null
	end_tree "$runs" # a step that a signal ended may leave processes
	read -r p f s < \
		<(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$tally")
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	[ $((p + f)) -gt 0 ] || f=1 # a step without any check has failed
	note_used "$step"
	echo $((SECONDS - begin)) > "$logs/$step.seconds"
	# In one piece, so that lines of two workers do not mix.
	report "$step" "$p" "$f" "$s" $((SECONDS - begin)) $((used - before)) > "$logs/$step.line"
	cat "$logs/$step.line"
	echo "$p $f" >> "$results"
}

# Take the next step from the queue and print it.
take() {
	(flock 8; head -n 1 "$queue"; sed -i 1d "$queue") 8> "$queue.lock"
}

worker() {
	local step
	patience=$((patience - 10)) # end the step before the main process kills this worker
	trap end_started EXIT
	exit_on_signals
	while step=$(take) && [ -n "$step" ]; do
		run_step "$step"
	done
}

main() {
	steps=()
	case ${1-} in
	--help | -h) usage; exit 0 ;;
	--list) list_steps; exit 0 ;;
	--ci)
		steps=("${ci_steps[@]}") deadline=4500 short=yes # for a slow machine
		export WEIR_TEST_SHORT=1
		;;
	--all) steps=("${all_steps[@]}") deadline=28800 limit=7200 ;; # hours
	--smoke) steps=(smoke) ;;
	-*) echo "tests/run.sh: unknown option $1: see --help" >&2; exit 2 ;;
	'') steps=(quick) ;;
	*) steps=("$@") ;;
	esac
	for step in "${steps[@]}"; do
		declare -F "step_$step" > /dev/null || {
			echo "no step \"$step\": see tests/run.sh --list" >&2
			exit 2
		}
	done
	mkdir -p "$logs" || exit 1
	queue=$logs/queue results=$logs/results
	printf '%s\n' "${steps[@]}" > "$queue"
	: > "$results"
	rm -f "$logs"/*.seconds "$logs"/*.begun
	trap finish EXIT
	exit_on_signals
	# Two workers, because much of a step is a single long test, or waits.
	for _ in 1 2; do
		worker &
	done
	wait
}

main "$@"
