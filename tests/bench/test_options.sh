#!/bin/bash
# SPDX-License-Identifier: MIT
# For an unknown option a script prints one line that names the option, to stderr, and exits with
# status 2. The whole usage would hide that line. test_options.sh SOURCE
set -eu
cd "$1"
failed=0
for script in bench/run.sh bench/scenarios.sh tests/run.sh tests/bare.sh; do
	status=0
	answer=$("$script" --bogus 2>&1 > /dev/null) || status=$?
	wanted="$script: unknown option --bogus: see --help"
	[ "$status" -eq 2 ] && [ "$answer" = "$wanted" ] || {
		echo "$script --bogus: status $status, not 2, or not \"$wanted\": $answer" >&2
		failed=1
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/empty"
for option in "--keys=$work/nosuch" "--keys=$work/no/such" "--keys=$work" "--keys=$work/empty" \
	--keys= "--json=$work/empty/within" --json= --rate=2 --rate= --reload-every=0; do
	status=0
	answer=$(WEIR_BUILD=$work/build timeout 30 bench/run.sh --smoke "$option" \
		2>&1 > /dev/null) || status=$?
	[ "$status" -eq 2 ] && [[ $answer = "bench/run.sh: $option: "* && $answer != *$'\n'* ]] &&
		[ -z "$(find "$work/build" -type f 2> /dev/null)" ] || {
		echo "bench/run.sh $option: status $status, or not one line: $answer" >&2
		failed=1
	}
done
exit "$failed"
