#!/bin/bash
# SPDX-License-Identifier: MIT
# The tests: installs what is missing, builds, runs, and says what passed. See --help, and tests/README.md for what asks what.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
build=${WEIR_BUILD:-$root/build}
logs=$build/logs
. tests/install-packages.sh
. tests/steps.sh

usage() {
	cat <<-END
	usage: tests/run.sh [--ci | --all | STEP...]

	Without an argument: builds weir with what Debian 12 installs in a minute and runs its tests (about 3 minutes on 2 cores).
	--ci      what every change must pass, within half an hour on 2 cores: ${ci_steps[*]}
	--all     every step: other compilers, sanitizers, other architectures, models, planted bugs, fuzzing (an hour)
	--list    the steps, with what each does
	STEP...   only these, such as: tests/run.sh asan
	--help    this

	As root it installs the Debian packages that a step needs; otherwise it says which are missing. It builds in ${build#"$root/"}
	(WEIR_BUILD changes that) and ends with "N passed, N failed" and an exit status of 0 if nothing failed.
	END
}

# counts FILE: the results of meson's test log, as "passed failed skipped".
counts() {
	awk '{
		if (!match($0, /"result": "[A-Z]+"/)) next
		result = substr($0, RSTART + 11, RLENGTH - 12)
		if (result == "OK" || result == "EXPECTEDFAIL") passed++
		else if (result == "SKIP") skipped++
		else failed++
	} END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# What a step calls to run the tests of a build folder: results go to the step's tally. Answers 0 even if tests fail: they are counted.
meson_test() {
	local folder=$build/$1 status=0 log
	shift
	rm -f "$folder"/meson-logs/testlog*.json
	meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || status=$?
	log=$(ls "$folder"/meson-logs/testlog*.json 2> /dev/null | head -n 1)
	[ -s "$log" ] && [ "$status" -lt 125 ] || return 1
	counts "$log" >> "$tally"
	sed -n 's/.*"name": "[^"]* \/ \([^"]*\)".*"result": "SKIP".*/\1/p' "$log" >> "$skips"
}

# What a step calls for a check of its own: one result.
check() {
	echo "+ $*"
	if "$@"; then
		echo "1 0 0" >> "$tally"
	else
		echo "0 1 0" >> "$tally"
	fi
}

passed=0 failed=0 job= watch=
limit=900    # seconds a step may take: far above what it does; so that a run always ends
deadline=86400

# Whatever ends this script, its last line says what passed.
finish() {
	local status=$?
	[ -z "$job" ] || { kill -TERM -- "-$job" 2> /dev/null; failed=$((failed + 1)); }
	[ -z "$watch" ] || kill -TERM -- "-$watch" 2> /dev/null
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] || exit 1
	exit "$status"
}

run_step() {
	local step=$1 log=$logs/$1.log begin=$SECONDS status p f s seconds
	tally=$logs/$step.tally skips=$logs/$step.skipped
	: > "$tally"
	: > "$skips"
	seconds=$((deadline - SECONDS < limit ? deadline - SECONDS : limit))
	set -m # a process group of its own, so that it can be ended with all it started
	(set -e; [ "$seconds" -gt 0 ] || { echo "not begun: the whole run is out of time"; exit 1; }; "step_$step") \
		> "$log" 2>&1 < /dev/null &
	job=$!
	(sleep "$seconds"; echo "ended after $seconds s" >> "$log"; kill -TERM -- "-$job") > /dev/null 2>&1 &
	watch=$!
	set +m
	wait "$job"
	status=$?
	kill -TERM -- "-$watch" 2> /dev/null
	wait "$watch" 2> /dev/null
	job= watch=
	read -r p f s < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$tally")
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	[ $((p + f)) -gt 0 ] || f=1 # a step that checked nothing has failed
	passed=$((passed + p)) failed=$((failed + f))
	printf '%-4s %-10s %4d passed, %d failed%s  %4d s\n' "$([ "$f" -eq 0 ] && echo ok || echo FAIL)" "$step" "$p" "$f" \
		"$([ "$s" -gt 0 ] && printf ', %d skipped (%s)' "$s" "$(paste -sd, "$skips")")" $((SECONDS - begin))
	if [ "$f" -gt 0 ]; then
		tail -n 40 "$log" | sed 's/^/    | /'
		echo "    the whole of it: $log"
	elif [ -e "$logs/$step.report" ]; then
		sed 's/^/    /' "$logs/$step.report"
	fi
}

main() {
	local steps=()
	case ${1-} in
	--help | -h) usage; exit 0 ;;
	--list) list_steps; exit 0 ;;
	--ci) steps=("${ci_steps[@]}") deadline=1740 ;;
	--all) steps=("${all_steps[@]}") deadline=5100 ;; # whatever happens, it ends
	-*) usage >&2; exit 2 ;;
	'') steps=(quick) ;;
	*) steps=("$@") ;;
	esac
	for step in "${steps[@]}"; do
		declare -F "step_$step" > /dev/null || { echo "no step \"$step\": see tests/run.sh --list" >&2; exit 2; }
	done
	trap finish EXIT
	trap 'exit 130' INT TERM HUP
	mkdir -p "$logs" || { failed=1; exit 1; }
	for step in "${steps[@]}"; do
		rm -f "$logs/$step.report"
		run_step "$step"
	done
}

main "$@"
