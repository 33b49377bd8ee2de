#!/bin/bash
# SPDX-License-Identifier: MIT
# The questions of bench/run.sh --smoke: each answers in seconds and loses no key, and together they
# give every answer of the verdict. test_smoke.sh SOURCE BENCH_QUESTION...
set -eu
source=$1
shift
fail() {
	echo "test_smoke.sh: $*" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seq 100000 > "$work/keys"
"$source/bench/collect" --begin -o "$work/begin.json"
answers=()
for program; do
	question=${program##*/bench_}
	words=()
	[ "$question" != cost ] || words=(--keys "$work/keys")
	began=$SECONDS
	TMPDIR=$work timeout 120 "$program" --smoke "${words[@]}" --no-context \
		--benchmark_out="$work/$question.json" --benchmark_out_format=json \
		> "$work/out" 2>&1 || fail "$question: status $?: $(tail -n 3 "$work/out")"
	echo "$question took $((SECONDS - began)) s"
	answers+=("$work/$question.json")
done
"$source/bench/collect" --since "$work/begin.json" --mode smoke -o "$work/run.json" "${answers[@]}"
"$source/bench/report" --text "$work/run.json" > "$work/text"
sed '1,/^Verdict:/d' "$work/text" > "$work/verdict"
for lead in 'It works here' 'How fast' 'What to choose' 'What one reload costs' \
	'What the set costs' 'May you trust this run'; do
	grep -q "^- $lead: " "$work/verdict" || fail "no \"$lead\" in: $(cat "$work/verdict")"
done
