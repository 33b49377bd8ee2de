#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports exactly the functions that a public header marks WEIR_API, and calls no
# others weir_*.
# symbols.sh LIBRARY INCLUDE
set -eu
library=$1 include=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A declaration may run over lines: join each from WEIR_API to its semicolon, take the last name
# before the first bracket.
cat "$include"/weir/*.h | sed 's/WEIR_PRINTF([^)]*)//' |
	awk '/^WEIR_API/ { d = "" ; on = 1 } on { d = d " " $0 } on && /;/ { print d; on = 0 }' |
	sed -n 's/^\([^(]*[^a-z_0-9]\)\(weir_[a-z_0-9]*\)(.*/\2/p' | sort -u > "$work/promised"
marked=$(cat "$include"/weir/*.h | grep -c '^WEIR_API')
if [ "$marked" -ne "$(wc -l < "$work/promised")" ]; then
	read=$(wc -l < "$work/promised")
	echo "$marked declarations are marked WEIR_API, this script reads $read names" >&2
	exit 1
fi
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u > "$work/exported"
if ! diff "$work/promised" "$work/exported" > "$work/difference"; then
	echo "promised by the headers (<) and exported by $library (>) differ:" >&2
	cat "$work/difference" >&2
	exit 1
fi
echo "$(wc -l < "$work/exported") symbols"
[ "$(wc -l < "$work/exported")" -ge 30 ]
