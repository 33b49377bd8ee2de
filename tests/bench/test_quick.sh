#!/bin/sh
# SPDX-License-Identifier: MIT
# A quick run measures readers during a paced reload only if the loader has its own CPU, and in few
# cases, because each takes ten times as long. test_quick.sh BENCH_RELOAD
set -eu
rows=$("$1" --quick --no-context --benchmark_list_tests)
paced=$(echo "$rows" | grep -c '/op:hit/.*/pace:') || true
wanted=2
[ "$(nproc)" -gt 1 ] || wanted=0
if [ "$paced" -ne "$wanted" ]; then
	echo "test_quick.sh: $paced rows at a pace of: $rows" >&2
	exit 1
fi
