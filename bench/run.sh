#!/bin/bash
# SPDX-License-Identifier: MIT
# The benchmark: installs what is missing, builds, does the main job on real keys, measures, and prints tables. See --help.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
. tests/install-packages.sh
. bench/real_keys.sh

usage() {
	cat <<-END
	usage: bench/run.sh [--quick | --full] [--json=FOLDER]

	Builds weir with optimisation, makes filters of real keys (the words of wamerican-insane, every path that dpkg knows here),
	saves, maps and queries them, replaces one while it is in use (weir drill), and measures lookups and inserts beside other
	filters, on 1 and 2 threads.
	--quick        what a newcomer wants, within 3 minutes (the default)
	--full         every size up to 100 million keys, every rate, every contender: an hour or two, 8 GB of memory
	--json=FOLDER  keep the figures there as JSON
	--help         this text

	As root it installs the Debian packages that it needs; otherwise it says which are missing. It builds in build/bench
	(WEIR_BUILD changes the first part). It exits with 1 if a filter lost a key, or a measured rate is not the one asked for.
	END
}

mode=quick json=
for argument; do
	case $argument in
	--quick) mode=quick ;;
	--full) mode=full ;;
	--json=*) json=${argument#--json=} ;;
	--help | -h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

build=${WEIR_BUILD:-$root/build}/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$json" ] || json=$work
mkdir -p "$json"

say() {
	printf '[%3d s] %s\n' "$SECONDS" "$*" >&2
}

build_weir() {
	local again=
	[ ! -e "$build/build.ninja" ] || again=--reconfigure
	meson setup $again "$build" -Dtests=false -Dtool=enabled -Dbench=enabled > "$work/build.log" 2>&1 &&
		meson compile -C "$build" >> "$work/build.log" 2>&1 || {
		tail -n 30 "$work/build.log" >&2
		echo "bench/run.sh: the build failed" >&2
		return 1
	}
}

# Ahead of others where one may: a benchmark that shares its CPU measures the others.
timed() {
	if [ "$(id -u)" -eq 0 ]; then
		nice -n -5 "$@"
	else
		"$@"
	fi
}

# drill SECONDS: the job weir is for: from the source without a pause; then by copy with a CPU for the reader and one for the loader.
drill() {
	say "the words replaced while they are looked up and added to (twice $1 s)"
	printf '\nweir drill: one reload after the other, from the source\n'
	timed "$build/src/tool/weir" drill --no-progress -d "$1" --every=0 "$work/words" || failed=1
	printf '\nweir drill: every half second, by copy, a reader and the loader alone on their CPUs\n'
	timed "$build/src/tool/weir" drill --no-progress -d "$1" --every=0.5 --copy -r 1 -w 0 --pin "$work/words" || failed=1
}

quick() {
	say "Google Benchmark: inserts, hits, misses of a million keys (40 s)"
	timed "$build/bench/bench_core" --largest=1000000 --table --benchmark_out="$json/core.json" --benchmark_out_format=json \
		--benchmark_filter='^(insert|hit|miss)/(weir_(single|inline|batch)|split_block_(single|batch)|textbook|libbloom|mutex.*|rwlock.*|urcu.*|machine.*)/n:1M/p:1%'
	say "what weir promises, beside the yardstick (60 s)"
	echo
	timed "$build/bench/bench_targets" --promised --rounds=15 --json="$json/targets.json"
	say "what the handle promises (15 s)"
	echo
	timed "$build/bench/bench_handle" --promised --rounds=15 --json="$json/handle.json"
}

full() {
	say "Google Benchmark: everything"
	timed "$build/bench/bench_core" --largest=100000000 --table --benchmark_out="$json/core.json" --benchmark_out_format=json
	say "what weir promises, beside the yardstick"
	echo
	timed "$build/bench/bench_targets" --largest=100000000 --json="$json/targets.json"
	say "what the handle promises"
	echo
	timed "$build/bench/bench_handle" --json="$json/handle.json"
}

say "looking for what is needed"
need_packages gcc g++ libc6-dev meson ninja-build pkg-config libxxhash-dev libzstd-dev zlib1g-dev libjansson-dev libbenchmark-dev \
	liburcu-dev libbloom-dev wamerican-insane
say "building in ${build#"$root/"}"
build_weir
say "filters of real keys"
failed=0
real_keys "$build/src/tool/weir" "$work" || failed=1
drill "$([ "$mode" = quick ] && echo 5 || echo 30)"
echo
"$mode"
[ "$json" = "$work" ] || say "the figures are in $json"
say "done"
exit $failed
