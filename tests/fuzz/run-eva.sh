#!/bin/sh
# SPDX-License-Identifier: MIT
# Prove with Frama-C's Eva that the image header check has no run-time error for any input: no
# overflow (not even an unsigned one), no access outside its arrays, no read of uninitialised
# memory, no division by zero. Then check that the proof fails for a header check with an error.
# Usage: run-eva.sh [SOURCE_ROOT]      Exit: 0 proven, 1 not proven, 77 Frama-C is not installed.
set -eu
root=$(cd "${1:-$(dirname "$0")/../..}" && pwd)
command -v frama-c >/dev/null || {
	echo "frama-c is not installed (Debian: frama-c-base)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

alarms() { # HEAD_C: analyse this file and print the number of alarms
	frama-c -eva -eva-slevel 400 -eva-slevel-function nothing_later:0 \
		-eva-split-return full -eva-min-loop-unroll 512 \
		-warn-unsigned-overflow -machdep gcc_x86_64 \
		-cpp-extra-args="-I$root/src -I$root/include" \
		"$root/tests/fuzz/eva_header.c" "$root/src/image/steps.c" "$1" \
		>"$work/log" 2>&1 || {
		cat "$work/log"
		exit 1
	}
	grep -q '100% coverage' "$work/log" || {
		echo "not every function was reached" >&2
		exit 1
	}
	sed -n 's/^ *\([0-9]*\) alarms\{0,1\} generated.*/\1/p' "$work/log"
}

found=$(alarms "$root/src/image/head.c")
if [ "$found" != 0 ]; then
	grep -A2 'eva:alarm' "$work/log"
	echo "the header check: $found alarms"
	exit 1
fi
echo "the header check: 0 alarms"

# Without the check that shards is not 0, the analysis must find an alarm.
sed 's/h->shards >= 1 && //' "$root/src/image/head.c" >"$work/mutant.c"
if cmp -s "$root/src/image/head.c" "$work/mutant.c"; then
	echo "the mutant is not one: adapt run-eva.sh to head.c"
	exit 1
fi
found=$(alarms "$work/mutant.c")
[ "$found" != 0 ] || { echo "the analysis does not see a missing check"; exit 1; }
echo "without the check of shards: $found alarms, as it should be"
