#!/bin/sh
# SPDX-License-Identifier: MIT
# A shared library exports exactly the functions that its public headers mark WEIR_API, and calls no
# other functions weir_*. replica.h is the header of libweir-redis, and all other headers are
# libweir's. symbols.sh LIBRARY INCLUDE LEAST
set -eu
library=$1 include=$2 least=$3
headers=$(ls "$include"/weir/*.h | grep -v /replica.h)
case $library in *libweir-redis*) headers=$include/weir/replica.h ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A declaration may have several lines: join each from WEIR_API to its semicolon, and take the last
# name before the first bracket.
cat $headers | sed 's/WEIR_PRINTF([^)]*)//' |
	awk '/^WEIR_API/ { d = "" ; on = 1 } on { d = d " " $0 } on && /;/ { print d; on = 0 }' |
	sed -n 's/^\([^(]*[^a-z_0-9]\)\(weir_[a-z_0-9]*\)(.*/\2/p' | sort -u > "$work/promised"
marked=$(cat $headers | grep -c '^WEIR_API')
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
[ "$(wc -l < "$work/exported")" -ge "$least" ]
