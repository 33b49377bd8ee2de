#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs Spin on every variant of every model here, or of those named: each must show what its head says, "holds" or "fails".
set -eu
models=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Prints errors and states of a variant; a search that was cut short has no verdict.
explore() {
	rm -f pan*
	spin -a ${2:+-D"$2"} "$1" > spin.log 2>&1 || { cat spin.log >&2; return 1; }
	${CC:-cc} -O1 -w -DSAFETY -DCOLLAPSE -o pan pan.c
	./pan -m1000000 > pan.log 2>&1
	! grep -q 'search depth too small\|out of memory' pan.log || { cat pan.log >&2; return 1; }
	sed -n 's/.*errors: \([0-9]*\).*/\1/p; s/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log | xargs
}

if [ $# -eq 0 ]; then
	set -- "$models"/*.pml
fi
wrong=0 ran=0
for model; do
	sed -n 's/^ \*  variant \{0,1\}\([A-Z_]*\): \(holds\|fails\).*/\2 \1/p' "$model" > variants
	[ -s variants ] || { echo "$model: names no variant" >&2; exit 1; }
	while read -r expected variant; do
		counts=$(explore "$model" "$variant") || { echo "$model $variant: no verdict" >&2; exit 1; }
		errors=${counts% *} states=${counts#* }
		shown=holds
		[ "$errors" -eq 0 ] || shown=fails
		verdict=ok
		[ "$shown" = "$expected" ] || { verdict="NOT OK: it must be \"$expected\""; wrong=$((wrong + 1)); }
		ran=$((ran + 1))
		printf '%-10s %-16s %-6s %8s states  %s\n' "$(basename "$model")" "${variant:--}" "$shown" "$states" "$verdict"
	done < variants
done
echo "$ran variants, $wrong wrong"
[ "$wrong" -eq 0 ]
