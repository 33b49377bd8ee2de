#!/bin/sh
# SPDX-License-Identifier: MIT
# Run libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer: half of the time on the image
# loader; else on deltas, on Parquet filters and files, on the Redis module's loads, and on the log
# entries and manifests of replicated sets. Findings go to the build folder.
# Usage: run-fuzz.sh [SECONDS [BUILD_FOLDER]]      Exit: 0 nothing found, 77 no clang.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-60}
build=${2:-$root/build/fuzz}
command -v clang >/dev/null || { echo "clang is not installed"; exit 77; }
[ -e "$build/build.ninja" ] ||
	CC=clang meson setup "$build" "$root" -Dbuildtype=debugoptimized -Dtests=enabled \
		-Dtool=disabled -Db_lundef=false
ninja -C "$build" tests/fuzz/fuzz_image tests/fuzz/fuzz_delta tests/fuzz/fuzz_parquet \
	tests/fuzz/fuzz_parquet_file tests/fuzz/fuzz_redis tests/fuzz/fuzz_replica_entry \
	tests/fuzz/fuzz_replica_manifest

# fuzz TARGET CORPUS SECONDS MOST_BYTES
fuzz() {
	mkdir -p "$build/found_$1" "$build/crashes"
	"$build/tests/fuzz/fuzz_$1" -max_total_time="$3" -max_len="$4" -rss_limit_mb=2000 \
		-timeout=10 -print_final_stats=1 -artifact_prefix="$build/crashes/$1-" \
		"$build/found_$1" "$root/tests/fuzz/$2"
}
fuzz image corpus "$((seconds - seconds / 2))" 33000
fuzz delta corpus_delta "$((seconds / 8))" 8000
fuzz parquet corpus_parquet "$((seconds / 8))" 1000
fuzz parquet_file corpus_parquet_file "$((seconds / 8))" 8000
fuzz redis corpus_redis "$((seconds / 16))" 20000
fuzz replica_entry corpus_replica_entry "$((seconds / 32))" 70000
fuzz replica_manifest corpus_replica_manifest "$((seconds / 32))" 5000
