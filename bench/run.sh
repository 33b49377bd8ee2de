#!/bin/bash
# SPDX-License-Identifier: MIT
# The benchmark: installs what is missing, builds, does the main job on real keys, rehearses a
# reload, asks every question of bench/, and writes a report. See --help.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
. tests/install-packages.sh
. tests/build-error.sh
. tests/ends.sh
. bench/real_keys.sh
. bench/pace.sh

usage() {
	cat <<-END
	usage: bench/run.sh [--smoke | --quick | --full] [--keys=FILE] [--rate=RATE]
	                    [--reload-every=TIME] [--json=FOLDER]

	Builds weir with optimisation, makes filters of real keys (the words of wamerican-insane,
	every path that dpkg knows here), saves, maps and queries them, replaces one under load
	(weir drill), and then measures what an operator asks before deploying: how throughput
	grows with cores, what a reload does to readers, which kind and size to take, what pages
	and batches do, what a set costs.
	--smoke        does weir work here? Every step, for seconds: half a minute once it
	               is built. Its figures are too short to be measurements
	--quick        a selection: 3 minutes once it is built
	--full         every size, rate and contender: hours, 8 GB of memory
	               (without any of these: the usual cases, and the figures that weir
	               promises, in 15 minutes)
	--keys=FILE    your own keys, one a line, for the drill, for what a set costs, and for
	               the size of the set that is reloaded and of the kinds that are
	               compared; else the words
	--rate=RATE    the false-positive rate that you want, such as 0.1%, for which kind to
	               choose (1%); bench/report takes it too
	--reload-every=TIME  how often you will replace the set: 30s, 10m, 1h, 1d (1m). The
	               report says what that costs; bench/report takes it too
	--json=FOLDER  keep the figures there; else in build/bench-results/<date>
	--help         this text

	The first run builds weir too: 1 to 3 minutes on 2 idle CPUs, 8 on busy ones. A later run
	compiles only what has changed. On CPUs that other programs use too each other step takes
	up to twice as long. A question that takes longer leaves out the rest of its cases (with
	--smoke after 20 s, with --full never), and the report says how many.

	FOLDER gets each program's JSON, all questions' in run.json, and report.html.
	bench/compare reports what differs between two run.json. As root it installs the Debian
	packages that it needs; otherwise it lists those that are missing. It builds in
	build/bench (WEIR_BUILD changes the first part). It exits with 1 if a filter lost a key,
	or a measured rate is not the one asked for.
	END
}

# refuse OPTION WORDS: before anything is built.
refuse() {
	echo "bench/run.sh: $1: $2" >&2
	exit 2
}

mode=normal brief='' keys='' results='' every=1m rate=1%
for argument; do
	case $argument in
	--smoke) mode=smoke ;;
	--quick) mode=quick ;;
	--full) mode=full ;;
	--keys=*)
		keys=$(realpath -- "${argument#--keys=}" 2> /dev/null) && [ -f "$keys" ] &&
			[ -r "$keys" ] && [ -s "$keys" ] ||
			refuse "$argument" "give a file that has a key in each line"
		;;
	--rate=*) rate=${argument#--rate=} ;;
	--reload-every=*) every=${argument#--reload-every=} ;;
	--json=*)
		results=${argument#--json=}
		[ -n "$results" ] || refuse "$argument" "give a folder"
		;;
	--help | -h) usage; exit 0 ;;
	*) echo "bench/run.sh: unknown option $argument: see --help" >&2; exit 2 ;;
	esac
done
[[ $every =~ ^[1-9][0-9]{0,8}[smhd]?$ ]] ||
	refuse "--reload-every=$every" "not a time such as 30s, 10m, 1h, 1d"

[[ $rate =~ ^[0-9]*\.?[0-9]+(e-[0-9]+)?%?$ ]] &&
	awk -v r="$rate" 'BEGIN { r /= r ~ /%$/ ? 100 : 1; exit !(r > 0 && r <= 0.5) }' ||
	refuse "--rate=$rate" "give a rate up to 50%, such as 1%, 0.1%, 1e-5"

build=${WEIR_BUILD:-$root/build}/bench
[ -n "$results" ] || results=${WEIR_BUILD:-$root/build}/bench-results/$(date +%Y-%m-%d-%H%M)
work=$(mktemp -d)

# Whatever ends this script: nothing of it runs on, and no folder of results is without results.
made=() measures=''
finish() {
	end_started $measures
	rm -rf "$work"
	for folder in "${made[@]}"; do
		rmdir "$folder" 2> /dev/null || true # not empty: it holds what was measured
	done
}
trap finish EXIT
exit_on_signals
folder=$results
while [ ! -d "$folder" ]; do
	made+=("$folder")
	folder=$(dirname "$folder")
done
mkdir -p "$results" 2> /dev/null && [ -w "$results" ] ||
	refuse "--json=$results" "give a folder that may be written to"

# The seconds that each step takes on 2 CPUs without other work, as pace.sh has it.
declare -A smoke=([keys]=4 [drill]=3 [cores]=2 [reload]=2 [choice]=4 [memory]=2 [cost]=2)
declare -A quick=([keys]=5 [drill]=10 [cores]=40 [reload]=28 [choice]=28 [memory]=20 [cost]=15)
declare -A normal=([keys]=5 [drill]=22 [cores]=250 [reload]=150 [choice]=220 [memory]=125 [cost]=50
	[promised]=45)
declare -A full=()
questions=(cores reload choice memory cost)
steps=(build keys drill "${questions[@]}")
cores="how does throughput grow with cores?"
[ "$(nproc)" -gt 1 ] || cores="how fast is it?"
declare -A asks=([cores]=$cores
	[reload]="what does a reload do to readers?" [choice]="which kind and size?"
	[memory]="what do pages and batches do?" [cost]="what does a set cost?")
if [[ $mode = @(smoke|quick) ]]; then
	brief=yes
else
	steps+=(promised)
fi

# Only what this script runs.
targets=(src/tool/weir "${questions[@]/#/bench/bench_}")
[ -n "$brief" ] || targets+=(bench/bench_targets bench/bench_handle)
# Nothing depends on what else is installed here: no format, no module for a server. Symbols for a
# debugger would take a tenth of the time.
options=(-Dauto_features=disabled -Dzstd=enabled -Dtool=enabled -Dbench=enabled -Ddebug=false)

compile_weir() {
	local again=
	[ ! -e "$build/build.ninja" ] || again=--reconfigure
	meson setup $again "$build" "${options[@]}" && ninja -C "$build" "${targets[@]}"
} > "$work/build.log" 2>&1

build_weir() {
	followed "$work/build.log" compile_weir || {
		[ ! -d "$build" ] || cp "$work/build.log" "$build/build.log"
		echo "bench/run.sh: the build failed (all of it: ${build#"$root/"}/build.log):" >&2
		build_error "$work/build.log"
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

# The job weir is for: from the source without a pause; then by copy with a CPU for the reader and
# one for the loader, where there are two.
drill() {
	local seconds=10 weir=$build/src/tool/weir
	[ "$mode" != quick ] || seconds=4
	[ "$mode" != smoke ] || seconds=1
	printf 'weir drill: one reload after the other, from the source\n'
	timed "$weir" drill --no-progress -d "$seconds" --every=0 "$keys" || failed=1
	printf '\nweir drill: every half second, by copy, one reader, pinned\n'
	timed "$weir" drill --no-progress -d "$seconds" --every=0.5 --copy -r 1 -w 0 --pin \
		"$keys" || failed=1
	echo
}

# ask QUESTION: every question answers in its own process; one that fails does not keep the others
# from answering.
ask() {
	local question=$1 words=("${build#"$root/"}/bench/bench_$1") out=$work/$1.json
	local -n known=$mode
	[ "$mode" = normal ] || words+=("--$mode")
	[ "$question" != cost ] || words+=(--keys "$keys")
	[[ $question != @(reload|choice) ]] || [ -z "$size" ] || words+=("--size=$size")
	[ "$question" != choice ] || words+=("--rate=$rate")
	commands+=(--command "$question=${words[*]//"$work/"/}")
	case $mode in
	smoke) words+=(--within=20) ;; # complete, if that is possible at all
	quick | normal) words+=("--within=$((known[$question] * busy - 1))") ;;
	esac
	words+=(--no-context --benchmark_out="$out" --benchmark_out_format=json)
	timed "${words[@]}" > /dev/null || {
		failed=1
		echo "bench/run.sh: bench_$question failed" >&2
	}
	[ -s "$out" ] || return 0
	mv "$out" "$results"
	answers+=("$results/$question.json")
}

# What weir promises, which are ratios to a yardstick: measured side by side.
promised() {
	local which=(--promised --rounds=15)
	[ "$mode" = normal ] || which=()
	local name
	for name in targets handle; do
		timed "$build/bench/bench_$name" "${which[@]}" --json="$results/$name.json" ||
			failed=1
	done
}

measure() {
	bench/collect --begin --rate "$rate" -o "$work/begin.json"
	step build "building in ${build#"$root/"} (the first time 1 to 3 minutes on 2 CPUs)" \
		build_weir
	failed=0
	step keys "filters of real keys" real_keys "$build/src/tool/weir" "$work" || failed=1
	echo
	size=''
	if [ -n "$keys" ]; then
		size=$(wc -l < "$keys")
	else
		keys=$work/words
	fi
	step drill "weir drill: a set is replaced while it is looked up and added to" drill
	answers=() commands=()
	for question in "${questions[@]}"; do
		step "$question" "bench_$question: ${asks[$question]}" ask "$question"
	done
	[ -n "$brief" ] ||
		step promised "what weir promises beside the yardstick, and the handle" promised
	bench/collect --since "$work/begin.json" -o "$results/run.json" --build "$build" \
		--mode "$mode" --reload-every "$every" --rate "$rate" "${commands[@]}" \
		"${answers[@]}" || failed=1
	echo
	bench/report --text "$results/run.json"
	say "the report:"
	bench/report "$results/run.json" -o "$results/report.html"
	return $failed
}

# In the foreground: apt ends before a signal does anything here.
say "looking for what is needed"
need_packages gcc g++ libc6-dev meson ninja-build pkg-config libxxhash-dev libzstd-dev zlib1g-dev \
	libjansson-dev libbenchmark-dev liburcu-dev libbloom-dev wamerican-insane python3
command -v gnuplot > /dev/null || need_packages gnuplot-nox
# In the background, where a signal ends it: it has a process group of its own, so that the Ctrl-C
# of a terminal reaches this shell alone.
set -m
measure &
measures=$!
set +m
wait "$measures" 2> /dev/null # bash names what a signal has ended
