#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests that bench/compare reports a real slowdown and nothing else, with measurements on this
# machine. The other tests of bench/compare use made-up runs. planted.sh [--same N] [FOLDER]: builds
# copies of the last commit with planted slowdowns, measures them and the unchanged commit with
# bench_cores, and compares. --same measures the unchanged commit N times (8: 28 pairs) and prints
# the rate of false alarms.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
same=0
[ "${1-}" != --same ] || { same=$2; shift 2; }
folder=${1:-$root/build/planted}
mkdir -p "$folder/same"
cases='^cores/op:(hit|insert)/set:(blocked|split)/rate:0.01/.*fits:L2/.*/threads:1/'

# plant NAME: change the sources to have this slowdown.
plant() {
	case $1 in
	none) ;;
	sleep) # a short wait for every hashed key
		sed -i '/^\tstruct weir_batch batch = weir__batch(f, keys);/i\
\	for (volatile size_t i = 0; i < keys.n * 8; i++) {}' src/filter/batches.c ;;
	batch) # lookups of a batch are done one by one
		sed -i '/^int64_t weir_contains_keys/,/^}/c\
int64_t weir_contains_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)\
{\
	int64_t found = 0;\
	for (size_t i = 0; i < keys.n; i++) {\
		bool there = weir_contains(f, (const char *)keys.at + i * keys.width, keys.width);\
		bitmap[i / 64] = (i % 64 ? bitmap[i / 64] : 0) \| (uint64_t)there << i % 64;\
		found += there;\
	}\
	return found;\
}' src/filter/batches.c ;;
	esac
}

# built NAME: build the sources with this slowdown.
built() {
	local copy=$folder/$1
	[ ! -e "$copy/out/bench/bench_cores" ] || return 0
	rm -rf "$copy"
	mkdir -p "$copy"
	git -C "$root" archive HEAD | tar -x -C "$copy"
	(
		cd "$copy" && plant "$1" &&
			meson setup out -Dtool=disabled -Dbench=enabled &&
			ninja -C out bench/bench_cores
	) > "$copy.log" 2>&1 || {
		tail -n 20 "$copy.log" >&2
		exit 2
	}
	file=src/filter/batches.c
	if [ "$1" != none ] && cmp -s "$copy/$file" "$folder/none/$file"; then
		echo "planted.sh: $1 changed nothing" >&2
		exit 2
	fi
}

# measured NAME RUN.json: measure this build.
measured() {
	echo "measuring $1" >&2
	"$root/bench/collect" --begin -o "$folder/begin.json"
	"$folder/$1/out/bench/bench_cores" --no-context --benchmark_filter="$cases" \
		--benchmark_out="$folder/cores.json" --benchmark_out_format=json > /dev/null
	"$root/bench/collect" --since "$folder/begin.json" -o "$2" "$folder/cores.json"
}

built none
if [ "$same" -gt 0 ]; then
	rm -f "$folder/same/"*.json
	for i in $(seq -w "$same"); do
		measured none "$folder/same/$i.json"
	done
	exec "$root/bench/compare" --self-test "$folder/same"
fi
failed=0
measured none "$folder/before.json"
for name in sleep batch; do
	built "$name"
	measured "$name" "$folder/$name.json"
	echo "== $name"
	if "$root/bench/compare" "$folder/before.json" "$folder/$name.json"; then
		echo "planted.sh: $name was not flagged" >&2
		failed=1
	fi
done
measured none "$folder/after.json"
echo "== the same code again"
"$root/bench/compare" "$folder/before.json" "$folder/after.json" || {
	echo "planted.sh: the same code was flagged" >&2
	failed=1
}
exit $failed
