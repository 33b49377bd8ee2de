#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/scenarios.sh runs each scenario, and the guide and the tests name each one. An invalid
# option is refused, and the message says what is allowed. test_scenarios.sh SOURCE
set -eu
cd "$1"
failed=0

check() { # check TEXT COMMAND...
	local text=$1
	shift
	"$@" || {
		echo "not so: $text" >&2
		failed=1
	}
}

# refused WANTED ARGUMENT...: the script exits with 2 and a sentence that contains WANTED.
refused() {
	local wanted=$1 answer status=0
	shift
	answer=$(bench/scenarios.sh "$@" 2>&1) || status=$?
	check "$* exits with 2, not $status" [ "$status" -eq 2 ]
	check "$*: $wanted, not $answer" grep -qF -- "$wanted" <<< "$answer"
}

help=$(bench/scenarios.sh --help)
names=0
for source in tests/examples/*/; do
	name=$(basename "$source")
	[[ $name != @(servers|replay|pages) ]] || continue # these are no scenarios
	names=$((names + 1))
	programs="$name(_[a-z]+)?" # one for each database, say
	check "--help has $name" grep -qwE "$programs" <<< "$help"
	check "bench/scenarios.sh runs $name" grep -qE "^	?run $programs " bench/scenarios.sh
	check "$name has its place in the guide" grep -qF "]($name)" tests/examples/README.md
	check "$name has a README.md with its usage" \
		grep -qF "$(sed -n 's/^static const char usage.. = "\(.*\)";/\1/p' \
			"$source$name.c")" "$source/README.md"
	check "$name is under 200 lines" [ "$(wc -l < "$source$name.c")" -lt 200 ]
done
check "there are eight scenarios, not $names" [ "$names" -eq 8 ]
refused '--only=nothing: there is routing' --only=nothing
refused '--threads=1: 2 to 64' --threads=1
refused '--threads=6x: 2 to 64' --threads=6x
refused '--folder=/nowhere/at/all: no such folder' --folder=/nowhere/at/all
refused 'unknown option --fast: see --help' --fast
exit "$failed"
