#!/bin/bash
# SPDX-License-Identifier: MIT
# Test the module with 2 workers and 2,000,000 addresses at 0.5 %, under full load while the file is
# replaced every second. Then measure memory and CPU time of the same list with geo and with deny.
# show.sh WEIR MODULE [MINUTES]: 10 by default. It prints figures. It fails if a request failed, a
# listed address passed, or a worker died.
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so [MINUTES]}")
minutes=${3:-10}
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"
keys=${KEYS:-2000000} level=error

# A bijection makes distinct addresses from a counter: first the listed, then as many others.
python3 - "$keys" <<'END'
import sys
def address(i):
    x = (i * 2654435761 + 12345) & 0xffffffff
    x ^= x >> 16
    x = x * 0x45d9f3b & 0xffffffff
    x ^= x >> 16
    return '.'.join(str(x >> s & 255) for s in (24, 16, 8, 0))
n = int(sys.argv[1])
for name, first, last in (('listed', 0, n), ('strangers', n, n + n // 20),
                          ('tail1', 2 * n, 2 * n + 1000), ('tail2', 3 * n, 3 * n + 1000)):
    with open(name, 'w') as f:
        f.writelines(address(i) + '\n' for i in range(first, last))
END
awk 'NR % 50 == 0' listed > asked
for n in 1 2; do
	cat listed tail$n | "$weir" build -q --cidr -p 0.005 --seed 1 -o set$n - ||
		{ fail 'weir build'; finish; }
done
cp set1 set.weir

# memory_of: print the MiB of all nginx processes, with shared memory counted once.
memory_of() {
	local pid sum=0
	for pid in $(cat pid) $(workers_of); do
		sum=$((sum + $(awk '/^Pss:/ { print $2 }' /proc/$pid/smaps_rollup)))
	done
	echo $((sum / 1024))
}
workers_changed() { [ "$(workers_of | grep -vcxF "$1")" -ge 2 ]; }
# cpu_of: print the ms of CPU time that the workers have used.
cpu_of() {
	for pid in $(workers_of); do cut -d ' ' -f 14,15 /proc/$pid/stat; done |
		awk -v hz="$(getconf CLK_TCK)" '{ t += $1 + $2 } END { print int(t * 1000 / hz) }'
}
load() { # load SECONDS PATH FILE STATUS
	wrk -t1 -c16 "-d$1" --timeout 30s -s "$here/expect.lua" "http://127.0.0.1:$port$2" -- \
		"$3" "$4" | grep '^asked'
}
# cost PATH: print the workers' CPU time per request in us.
cost() {
	local before asked
	before=$(cpu_of)
	asked=$(load 20 "$1" strangers 200 | cut -d ' ' -f 2)
	echo $((($(cpu_of) - before) * 1000000 / asked)) | sed 's/...$/.&/'
}

start_nginx "weir_zone bad $work/set.weir;" \
	'location = /weir { weir_deny bad $binary_remote_addr; empty_gif; }
	location = /none { empty_gif; }'
pids=$(workers_of)
echo "weir: image $(($(stat -c %s set.weir) / 1024)) KiB, all of nginx $(memory_of) MiB"
for round in 1 2; do
	echo "CPU a request: none $(cost /none) us, weir $(cost /weir) us"
done
load $((minutes * 60)) /weir asked 403 > wrk1 &
wrks=($!)
load $((minutes * 60)) /weir strangers 200 > wrk2 &
wrks+=($!)
swaps=0
while kill -0 "${wrks[0]}" 2> /dev/null; do
	swaps=$((swaps + 1))
	cp set$((swaps % 2 + 1)) new && mv new set.weir
	sleep 1
done
wait "${wrks[@]}"
echo "$minutes minutes, $swaps replaced, $(metric swaps_total bad) taken," \
	"all of nginx $(memory_of) MiB"
echo "listed: $(cat wrk1)"
echo "strangers: $(cat wrk2) (0.5 % may be wrong)"
holds grep -q '^asked [1-9][0-9]* wrong 0 failed 0 ' wrk1
holds grep -q ' failed 0 ' wrk2
holds [ "$(workers_of)" = "$pids" ]
holds metric_is refused_total bad -eq 0
stop_nginx

{ echo 'geo $listed { default 0;'; sed 's/$/ 1;/' listed; echo '}'; } > geo.conf
began=$(date +%s%N)
start_nginx "include $work/geo.conf;" \
	'location = /geo { if ($listed) { return 403; } empty_gif; }'
echo "geo: started in $((($(date +%s%N) - began) / 1000000)) ms, all of nginx $(memory_of) MiB"
echo "CPU a request: geo $(cost /geo) us"
began=$(date +%s%N) old=$(workers_of)
call_nginx -s reload 2> /dev/null && soon workers_changed "$old"
echo "geo: a reload takes $((($(date +%s%N) - began) / 1000000)) ms, all of nginx then" \
	"$(memory_of) MiB"
stop_nginx

sed 's/^/deny /; s/$/;/' listed > deny.conf
began=$(date +%s%N)
start_nginx '' "location = /deny { include $work/deny.conf; empty_gif; }"
echo "deny: started in $((($(date +%s%N) - began) / 1000000)) ms, all of nginx $(memory_of) MiB"
echo "CPU a request: deny $(cost /deny) us"
stop_nginx
finish
