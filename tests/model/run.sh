#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs Spin on every variant of every model in this folder, or of the named models. Each variant
# must show what the head of its model says, "holds" or "fails".
#
#     run.sh [--full] [MODEL.pml...]
#
# --full: also run the unnamed variant with larger bounds, from the line "full" in a model's head.
# As many variants run at a time as there are processors.
set -eu

# Explore one variant and print its line. An incomplete search has no verdict.
# line: EXPECTED|MODEL.pml|DEFINES|BOUNDS
explore() {
	IFS='|' read -r expected model variant bounds <<-END
		$1
	END
	mkdir "$work/$$"
	cd "$work/$$"
	# shellcheck disable=SC2046,SC2086
	spin -a $(for define in $variant $bounds; do echo "-D$define"; done) "$model" \
		> spin.log 2>&1 || { cat spin.log; return 1; }
	# A failing search ends early, so optimising it is not worth the compiler's time.
	case $expected in fails) optimize=-O0 ;; *) optimize=-O1 ;; esac
	${CC:-cc} $optimize -w -DSAFETY -o pan pan.c || return 1
	# Most searches are shallow, and clearing a large stack takes half a second.
	for depth in 20000 1000000; do
		./pan -m$depth > pan.log 2>&1 || return 1
		grep -q 'search depth too small' pan.log || break
	done
	if grep -q 'search depth too small\|out of memory\|recompile' pan.log; then
		cat pan.log
		return 1
	fi
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
	shown=holds why= verdict=ok
	if [ "$errors" -ne 0 ]; then
		shown=fails
		why=$(sed -n 's/^pan:1: *\(.*\) (at depth.*/\1/p' pan.log)
	fi
	case $shown:$why in
	"$expected:" | "$expected:assertion violated"*) ;;
	*) verdict="NOT OK: it must be \"$expected\", and fail by an assertion only" ;;
	esac
	printf '%-13s %-42s %s %9s states  %s %s\n' "${model##*/}" \
		"${variant:--}${bounds:+ $bounds}" "$shown" "$states" "$verdict" "${why#assertion}"
	cd /
	rm -rf "${work:?}/$$"
}

if [ "${1-}" = --explore ]; then
	work=$2
	explore "$3" || echo "$3: NO VERDICT"
	exit 0
fi

models=$(cd "$(dirname "$0")" && pwd)
full=
[ "${1-}" != --full ] || { full=yes; shift; }
[ $# -gt 0 ] || set -- "$models"/*.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for model; do
	model=$(realpath "$model")
	sed -n "s@^ \*  variant \{0,1\}\([A-Z_ ]*\): \(holds\|fails\).*@\2|$model|\1|@p" "$model" \
		> "$work/variants"
	[ -s "$work/variants" ] || { echo "$model: names no variant" >&2; exit 1; }
	# A variant that does not begin its line would not run.
	[ "$(grep -oE 'variant ?[A-Z_ ]*: (holds|fails)' "$model" | wc -l)" -eq \
		"$(wc -l < "$work/variants")" ] ||
		{ echo "$model: begin each variant with a line of its own" >&2; exit 1; }
	[ -z "$full" ] || sed -n "s@^ \*  full \([A-Z_0-9= ]*\):.*@holds|$model||\1@p" "$model" \
		>> "$work/variants"
	cat "$work/variants" >> "$work/all"
done
xargs -d '\n' -n 1 -P "$(nproc)" "$0" --explore "$work" < "$work/all" | tee "$work/lines"
ran=$(wc -l < "$work/all") right=$(grep -c ' states  ok' "$work/lines" || true)
echo "$ran variants, $((ran - right)) wrong"
[ "$ran" -eq "$right" ]
