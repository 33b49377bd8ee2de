#!/bin/bash
# SPDX-License-Identifier: MIT
# The scenarios of tests/examples at full size, one line each, after a line with the machine. See
# --help.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
. tests/install-packages.sh
. tests/build-error.sh

export LC_ALL=C
names=(routing signup dedup_urls digests safe_browsing lsm shown replay
	cache_penetration_sqlite cache_penetration_postgresql)

usage() {
	cat <<-END
	usage: bench/scenarios.sh [--quick] [--only=NAME] [--threads=N] [--folder=FOLDER]

	Builds the scenarios of tests/examples and runs them one after the other, each at the
	size that tests/examples/README.md states: some 15 minutes on 2 cores, 4 GB of memory,
	2 GB of disk. Each checks what it shows against the truth. It does not install Redis and
	PostgreSQL, of which some start servers of their own; without them those are left out.
	--quick          a hundredth of the size: half a minute once it is built
	--only=NAME      one of ${names[*]}
	--threads=N      2 to 64 (as many as there are processors, at least 2)
	--folder=FOLDER  where the files of the scenarios are while they run (TMPDIR, or /tmp)
	--help           this text

	As root it installs the Debian packages that it needs; otherwise it lists those that are
	missing. It builds in build/scenarios (WEIR_BUILD changes the first part). It exits with
	1 if a scenario does not keep what it promises.
	END
}

quick='' only='' threads=$(nproc) folder=${TMPDIR:-/tmp}
[ "$threads" -ge 2 ] || threads=2
[ "$threads" -le 64 ] || threads=64
for argument; do
	case $argument in
	--quick) quick=1 ;;
	--only=*) only=${argument#--only=} ;;
	--threads=*) threads=${argument#--threads=} ;;
	--folder=*) folder=${argument#--folder=} ;;
	--help | -h) usage; exit 0 ;;
	*) echo "bench/scenarios.sh: unknown option $argument: see --help" >&2; exit 2 ;;
	esac
done
[ -z "$only" ] || [[ " ${names[*]} " == *" $only "* ]] || {
	echo "bench/scenarios.sh: --only=$only: there is ${names[*]}" >&2
	exit 2
}
[[ $threads =~ ^[0-9]{1,2}$ ]] && [ "$threads" -ge 2 ] && [ "$threads" -le 64 ] || {
	echo "bench/scenarios.sh: --threads=$threads: 2 to 64 are wanted" >&2
	exit 2
}
[ -d "$folder" ] || {
	echo "bench/scenarios.sh: --folder=$folder: no such folder" >&2
	exit 2
}

build=${WEIR_BUILD:-$root/build}/scenarios
work=$(mktemp -d "$folder/weir-scenarios-XXXXXX")
trap 'rm -rf "$work"' EXIT

build_scenarios() {
	local again=
	[ ! -e "$build/build.ninja" ] || again=--reconfigure
	{
		meson setup $again "$build" -Dbuildtype=release -Dtests=enabled -Dbench=disabled &&
			ninja -C "$build" "${names[@]/#/tests/examples/}"
	} > "$work/build.log" 2>&1 || {
		echo "bench/scenarios.sh: the build failed:" >&2
		build_error "$work/build.log"
		return 1
	}
}

# The processors, the memory, the kernel.
machine() {
	awk -F ': *' -v n="$(nproc)" '
		FILENAME == "/proc/cpuinfo" && /^model name/ { cpu = $2 }
		FILENAME == "/proc/meminfo" && /^MemTotal/ { kb = $2 + 0 }
		END { printf "%d x %s, %.0f GB, ", n, cpu == "" ? "processor" : cpu, kb / 1e6 }
	' /proc/cpuinfo /proc/meminfo
	echo "Linux $(uname -r), load $(cut -d ' ' -f 1 /proc/loadavg)"
}

# run NAME ARGUMENT...: with --quick a hundredth of the numbers that have an x before them.
failed=0 divisor=1
[ -z "$quick" ] || divisor=100
run() {
	local name=$1 words=() word
	shift
	[ -z "$only" ] || [ "$only" = "$name" ] || return 0
	for word; do
		[[ $word != x[0-9]* ]] || word=$((${word#x} / divisor))
		words+=("$word")
	done
	printf '%s: ' "$name"
	"$build/tests/examples/$name" "${words[@]}" || {
		[ $? = 77 ] && echo "$name: left out" || failed=1
	}
}

need_packages gcc libc6-dev meson ninja-build pkg-config libxxhash-dev libzstd-dev liburcu-dev \
	libcmocka-dev libhiredis-dev libsqlite3-dev libpq-dev
build_scenarios
machine
run routing 64 x1000000 x2000000
for kind in blocked classic fuse; do
	run signup "$kind" x100000000 "$threads"
done
run dedup_urls x10000000 "$threads" 0.001
run digests x1000000 20 24 "$work"
for kind in blocked fuse layered; do
	run safe_browsing "$kind" x4000000 x4000 24 x10000000 "$work"
done
for percent in 100 50 25; do
	run lsm x10000000 x200000 "$percent" "$work"
done
run shown x1000000 "$threads" "$work"
run replay x4000000 "$threads" 0.2 "$work/replay.weir"
# What these start, they do not install: a daemon is not put on somebody's machine.
run cache_penetration_sqlite x1000000 x1000000 "$threads" 950 "$work"
run cache_penetration_postgresql x1000000 x1000000 "$threads" 950 "$work"
exit "$failed"
