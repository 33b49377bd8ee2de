#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the report of weir drill. Preloaded libraries lose keys, and the drill must report these.
# Usage: test_drill.sh path/to/weir [LIBRARY...], the libraries of lose.c.
losers=()
for library in "${@:2}"; do losers+=("$(realpath "$library")"); done
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

test_report() {
	run 0 "$weir" drill -d 2 --every=0.2 keys
	prints '^  lookups/s, each reader  *[0-9.]* [kMG]  *[0-9.]* [kMG]  *\(over 100\|[0-9.]*\)$'
	# A wait for a CPU once made a ratio of 24196.19.
	prints '^    the longest  .* \(-\|[0-9]\{1,2\}[.][0-9][0-9]\|100[.]00\|over 100\)$'
	prints '^  lost  *0, of [0-9,]* lookups that had to find their key$'
	prints '^  rate  *1 % asked, [0-9.]* % measured at the end'
	prints '^  threads  *[0-9]* readers*, 1 inserter, 1 loader on [0-9]* CPUs*, urcu-bp$'
	run 0 "$weir" drill -d 1 --every=0.1 --json keys
	json out "j['source_keys'] == $n and j['lost'] == j['lost_at_end'] == 0" \
		"and j['checks'] > j['source_keys'] + j['inserts']"
	json out 'j["swaps"] >= 1 and 0 < j["reload_seconds_median"]' \
		'<= j["reload_seconds_max"] < 60'
	json out 'j["inserts"] > 1000 and j["capacity"] >= j["source_keys"] + j["inserts"]' \
		'and not j["overfull"]'
	# The rate is lower if a slow machine has not made all inserts in time.
	json out '(j["fp_rate_measured"] > 0.004 or j["inserts"] < 90000)' \
		'and j["fp_rate_measured"] < 0.0115 and j["fp_rate_worst_reload"] < 0.0125' \
		'and j["fp_rate"] == 0.01'
	json out 'j["filter_bytes_peak"] == 2 * j["filter_bytes"] < j["peak_memory_bytes"]'
	local phase
	for phase in without_reload during_reloads; do
		json out "0 <= j['$phase']['p50_ns'] <= j['$phase']['p99_ns']" \
			"<= j['$phase']['p999_ns'] <= j['$phase']['max_ns']"
		json out "j['$phase']['lookups_per_second'] > 1000" \
			"and j['$phase']['timed_lookups'] > 1000 and j['$phase']['seconds'] > 0"
	done
	json out 'abs(j["lookups_ratio"] * j["without_reload"]["lookups_per_second"]' \
		'/ j["during_reloads"]["lookups_per_second"] - 1) < 1e-6'
	json out 'j["load_average"] >= 0'
	json out 'j["crowded"] == (j["readers"] + j["inserters"] + 1 > j["cpus"])'
}

test_ways() {
	local flavor
	for flavor in bp memb qsbr mb; do
		"$weir" drill --flavor=$flavor --help >/dev/null 2>&1 || continue
		run 0 "$weir" drill -d 1 --every=0 -r 2 -w 2 --inserts=50k --flavor=$flavor \
			--keep-previous --json keys
		json out "j['swaps'] > j['rollbacks'] and j['readers'] == 2" \
			"and j['flavor'] == '$flavor' and j['lost'] == 0"
		json out 'j["inserts"] <= 50000 and j["filter_bytes_peak"] >= 2 * j["filter_bytes"]'
		run 0 "$weir" drill -d 1 --every=0.1 --flavor=$flavor --copy --pin --pace=1/2 \
			--json keys
		json out 'j["reload_by"] == "copy" and j["pinned"] and j["pace"] == 0.5'
	done
	run 0 "$weir" drill -d 1 --every=0.1 --pace=10% --copy keys
	prints '^  swaps  .*; a reload by copy at its pace takes .*(median)'
	run 0 "$weir" drill -d 1 --every=0.1 --pace=1/4 --json keys
	json out 'j["pace"] == 0.25 and j["lost"] == 0 and j["swaps"] >= 1'
	run 0 "$weir" drill -d 1 --every=0.1 -w 0 -p 0.1% --json keys
	json out 'j["inserts"] == 0 and j["during_reloads"]["inserts_per_second"] is None' \
		'and j["fp_rate"] == 0.001'
	run 0 bash -c "'$weir' drill -d 1 --json -s 7 <keys"; json out "j['source_keys'] == $n"
	# There is always time for one reload.
	run 0 "$weir" drill -d 1 --every=100 --json keys; json out 'j["swaps"] == 1'
	# A filter above its capacity proves less, and the report warns of this.
	run 0 "$weir" drill -d 1 --every=0.1 -n 1000 --inserts=1k keys
	prints 'of the bits are set: .* proves less'
	run 0 "$weir" drill -d 1 --every=0.1 -n 1000 --inserts=1k --json keys
	json out 'j["overfull"] and j["fp_rate_measured"] > 0.5'
}

# lost LIBRARY WORDS...: the drill exits with 1 and reports the lost keys.
lost() {
	run 1 env LD_PRELOAD="$1" "$weir" drill -d 1 --every=0.1 "${@:2}" --json keys
	says '^weir drill: LOST: [0-9]* of .*keys of'
	json out 'j["lost"] > 0 and j["lost"] < j["checks"]'
}

test_losses() {
	[ ${#losers[@]} = 3 ] || return
	# keys inserted in the 0.4 s after the last reload
	lost "${losers[0]}" --every=0.6; json out 'j["lost_at_end"] >= 1 and j["swaps"] >= 1'
	lost "${losers[0]}" --copy --keep-previous
	lost "${losers[1]}" --copy; json out 'j["lost"] > j["lost_at_end"]'
	lost "${losers[2]}"; json out 'j["lost"] > j["lost_at_end"]'
	lost "${losers[2]}" --flavor=bp -w 0
	# A loss in a call that the drill does not make has no effect.
	run 0 env LD_PRELOAD="${losers[1]}" "$weir" drill -d 1 keys
	# The library simulates a busy machine, whose load may affect the figures.
	prints "load average was 3.0 before the drill began: others' work may be in the figures too"
}

test_trouble() {
	: >empty
	run 2 "$weir" drill -d 1 empty; says 'have no keys'
	run 2 "$weir" drill --pace=0 keys; says "pace '0': allowed: 0.001 to 1"
	run 2 "$weir" drill --pace=101% keys; says "pace '101%': allowed: 0.001 to 1"
	run 2 "$weir" drill no_such_file; says '^weir drill: no_such_file: No such file'
	run 2 "$weir" drill .; says '^weir drill: \.: Is a directory'
	run 2 "$weir" drill -n 1T keys; says 'more memory than this machine and its'
	run 2 "$weir" drill -p 1e-300 keys
	local bad
	for bad in -r0 -rx -r5000 -w-1 -d0 -d0.5 -d1e9 -dx --every=-1 --every=x --every=nan \
			--inserts=0 -p0 -n0 --flavor=signal -s0; do
		run 2 "$weir" drill "$bad" keys; says "^Try 'weir drill --help'"
	done
	run 2 bash -c "'$weir' drill -d 1 keys >/dev/full"; says 'No space left on device'
}

test_status_line() {
	has_terminal || return
	TERM=xterm script -qec "'$weir' drill -d 2 --every=0.1 keys" /dev/null \
		>typed 2>&1 </dev/null
	if grep -q 'drilling .* swaps, .* lookups/s, 0 lost, 0:0. left' typed; then
		ok
	else
		fail 'no status line' "$(cat -v typed)"
	fi
	TERM=xterm script -qec "'$weir' drill -d 1 --no-progress keys" /dev/null \
		>typed 2>&1 </dev/null
	if grep -q drilling typed; then fail '--no-progress draws' "$(cat -v typed)"; else ok; fi
}

for part in report ways losses trouble status_line; do
	test_$part
done
finish
