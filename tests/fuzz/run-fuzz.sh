#!/bin/sh
# SPDX-License-Identifier: MIT
# libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer on the image loader. What it finds
# goes to the build folder.
# Usage: run-fuzz.sh [SECONDS [BUILD_FOLDER]]      Exit: 0 nothing found, 77 no clang.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-60}
build=${2:-$root/build/fuzz}
command -v clang >/dev/null || { echo "clang is not installed"; exit 77; }
[ -e "$build/build.ninja" ] ||
	CC=clang meson setup "$build" "$root" -Dbuildtype=debugoptimized -Dtests=enabled \
		-Dtool=disabled -Db_lundef=false
ninja -C "$build" tests/fuzz/fuzz_image
mkdir -p "$build/found" "$build/crashes"
exec "$build/tests/fuzz/fuzz_image" -max_total_time="$seconds" -max_len=33000 -rss_limit_mb=2000 \
	-timeout=10 -print_final_stats=1 -artifact_prefix="$build/crashes/" "$build/found" \
	"$root/tests/fuzz/corpus"
