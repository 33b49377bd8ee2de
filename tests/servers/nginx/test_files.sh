#!/bin/bash
# SPDX-License-Identifier: MIT
# The module in real nginx processes: replaced, damaged and moved files, reloads, killed workers and
# full load. test_files.sh WEIR MODULE
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so}")
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"
. "$here/sets.sh"

# takes NET: every worker starts to use the set that has the network.
takes() {
	soon is_refused_from /binary "10.$1.0.3"
	from 403 /binary 192.0.2.1 "10.$1.0.3"
	from 200 /binary 192.0.3.1
}

test_replaced() {
	local before pids n
	pids=$(workers_of)
	before=$(metric swaps_total bad)
	for n in 20 21 22 23; do
		bad_set $n
		takes $n
	done
	from 200 /binary 10.20.0.3 10.22.0.3
	bad_set 24 --zstd
	takes 24
	holds metric_is swaps_total bad -ge $((before + 5))
	holds [ "$(workers_of)" = "$pids" ]
}

# is_refused PATTERN: the file is refused with a matching message.
is_refused() {
	curl -s -m 20 "http://127.0.0.1:$port/json" |
		grep -q "\"name\":\"bad\"[^}]*\"refused_sentence\":\"[^\"]*$1"
}
# stays PATTERN: the file is refused once with a matching message, and the old set stays in use.
stays() {
	local n
	soon is_refused "$1"
	n=$(metric refused_total bad)
	holds metric_is refused bad -eq 1
	takes 30
	sleep 0.4 # some looks at the file: it is not said again
	holds metric_is refused_total bad -eq "$n"
	logged 1 "weir_zone \"bad\": $work/bad.weir: .*$1.*: the set in use stays"
}

test_damaged() {
	local pids
	pids=$(workers_of)
	bad_set 30
	takes 30
	cp bad.weir good
	{ head -c 5000 good; printf X; tail -c +5002 good; } > new
	mv new bad.weir
	stays 'the bits of shard 0 sum to'
	seq 10000 > bad.weir # in place
	stays 'byte 0 is 0x31'
	cp good bad.weir # in place
	soon metric_is refused bad -eq 0
	takes 30
	truncate -s 3000 bad.weir
	stays 'length of the file is 3000'
	cp keys bad.weir
	stays "byte 0 is 0x$(head -c 1 keys | od -An -tx1 | tr -d ' ')"
	(umask 077; head -c 16 /dev/urandom > secret)
	bad_set 33 --keyed-by=secret
	stays 'is keyed: give the key'
	rm bad.weir
	stays 'cannot open it: no such file or directory'
	mkdir bad.weir
	stays 'is a directory'
	rmdir bad.weir
	echo 192.0.2.0/24 | set_of bad.weir --cidr -p 1e-7
	stays 'about 1 keys, where the set in use has about .*: under a tenth'
	echo 192.0.2.0/24 | set_of bad.weir --cidr -p 1e-7 --allow-shrink
	soon metric_is refused bad -eq 0
	from 403 /binary 192.0.2.1
	from 200 /binary 10.30.0.3
	bad_set 31
	cp bad.weir other.weir
	bad_set 32
	takes 32
	cp other.weir bad.weir # over the file in place, by a good one
	takes 31
	holds metric_is refused bad -eq 0
	holds [ "$(workers_of)" = "$pids" ]
}

# A set whose keys are text would match no address, so every client would pass.
test_other_keys() {
	addresses 30 300 | set_of bad.weir
	stays 'its keys are text, those of the set in use addresses'
	bad_set 30
	soon metric_is refused bad -eq 0
}

# The log names the worker that has stopped: the leader, or a worker that uses an old set.
test_stopped() {
	local leader pid n=90
	for leader in yes ''; do
		soon has_leader bad
		pid=$(leader_of bad)
		[ "$leader" ] || pid=$(workers_of | grep -vxF "$pid" | head -n 1)
		kill -STOP "$pid"
		bad_set $((n += 1))
		sleep 0.3
		bad_set $((n += 1))
		soon grep -q "\"bad\": .*been waiting for .* ms for process $pid," error.log
		soon metric_above waiting_seconds bad 0
		kill -CONT "$pid"
		takes $n
		soon metric_is waiting_seconds bad -eq 0
	done
}
# metric_above NAME SET NUMBER: the metric may be a fraction.
metric_above() { awk -v x="$(metric "$1" "$2")" -v least="$3" 'BEGIN { exit !(x > least) }'; }

test_moved() {
	other=$(mktemp -d /dev/shm/weir-nginx.XXXXXX) || return
	if [ "$(stat -c %d "$other")" = "$(stat -c %d .)" ]; then
		echo 'skipped: /dev/shm is no other file system'
		return
	fi
	bad_set 40
	mv bad.weir "$other/set"
	bad_set 41
	takes 41
	mv "$other/set" bad.weir
	takes 40
}

# memory_of_sets: print the KiB of pages of all zones.
memory_of_sets() {
	local fd
	for fd in "/proc/$(workers_of | head -n 1)/fd/"*; do
		case $(readlink "$fd") in
		*memfd:weir*) stat -L -c %b "$fd" ;;
		esac
	done | awk '{ sum += $1 } END { print int(sum / 2) }'
}

# The pages that were read from a refused file are freed.
test_pages_of_what_is_refused() {
	local before
	bad_set 42
	takes 42
	before=$(memory_of_sets)
	holds [ "$before" -gt 10 ]
	seq 40000 | set_of new -n 1200000 -p 1% --allow-shrink
	holds [ "$(stat -c %s new)" -gt 1500000 ]
	printf X | dd of=new bs=1 seek=1400000 conv=notrunc status=none
	mv new bad.weir
	soon is_refused 'bits of shard'
	holds [ "$(memory_of_sets)" -lt $((before + 700)) ]
}

# A set whose every bit is set has no key estimate, so any set may replace it.
test_full_set() {
	seq 20000 | set_of plain.weir -n 10 -p 10% --allow-overfull
	soon is_refused_from /plain 192.0.2.77
	logged 1 'weir_zone "plain": .*taken, .*: every bit is set'
	echo 203.0.113.5 | set_of plain.weir
	soon passes_from /plain 192.0.2.77
	from 403 /plain 203.0.113.5
}

# limit PID LIMIT: set the soft limit of descriptors. Only the process's own user may set it.
limit() {
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	"${as[@]}" prlimit --pid "$1" --nofile="$2":
}

# Without descriptors a worker cannot read the file, so the set stays, whatever on_error is.
test_no_descriptors() {
	local pid
	from 403 /dropping 203.0.113.5
	for pid in $(workers_of); do
		limit "$pid" 3 # those that it has stay
	done
	printf '203.0.113.5\n203.0.113.6\n' | set_of plain.weir
	soon grep -q '"dropping": .*open files.*: the set in use stays' error.log
	for pid in $(workers_of); do
		limit "$pid" 1000
	done
	soon is_refused_from /dropping 203.0.113.6
	logged 0 '"dropping": .*there is no set now'
}

test_reload() {
	local hits swaps pids
	hits=$(metric hits_total bad)
	swaps=$(metric swaps_total bad)
	pids=$(workers_of)
	bad_set 50
	takes 50
	# an incomplete request keeps a worker of the old configuration running
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	printf 'GET /binary HTTP/1.1\r\nHost: a\r\nX-Real-IP: 10.55.0.3\r\n' >&7
	run 0 call_nginx -s reload
	soon workers_changed "$pids"
	soon is_led_by_a_new_one "$pids"
	holds are_draining "$pids"
	for n in 51 52 53 54 55; do
		bad_set $n
		takes $n
	done
	printf 'Connection: close\r\n\r\n' >&7
	holds grep -q '^HTTP/1.1 403' <(timeout 20 cat <&7)
	exec 7>&-
	soon old_are_gone "$pids" # for a moment they take requests too
	holds metric_is hits_total bad -gt "$hits"
	holds metric_is swaps_total bad -eq $((swaps + 6))
	# a reload while the file is not an image
	echo none > bad.weir
	soon metric_is refused bad -eq 1
	pids=$(workers_of)
	run 0 call_nginx -s reload
	soon workers_changed "$pids"
	soon old_are_gone "$pids"
	takes 55
	run 0 call_nginx -t
	says 'not a weir image'
	bad_set 56
	takes 56
}
# At least two workers are new.
workers_changed() { [ "$(workers_of | grep -vcxF "$1")" -ge 2 ]; }
is_led_by_a_new_one() { has_leader bad && ! grep -qxF "$(leader_of bad)" <<< "$1"; }
are_draining() { ! old_are_gone "$1"; }
old_are_gone() { ! workers_of | grep -qxF "$1"; }

test_killed() {
	local leader n
	for n in 60 61 62 63 64; do
		soon has_leader bad
		leader=$(leader_of bad)
		bad_set $n
		kill -KILL "$leader"
		takes $n
		bad_set $((n + 10))
		takes $((n + 10))
	done
	logged 5 'exited on signal 9'
}

# Under full load no answer is wrong for listed or innocent addresses while the set is replaced.
test_load() {
	local n before wrks=() from=always want=403
	before=$(metric swaps_total exact)
	for n in 1 2; do
		wrk -t1 -c8 -d12 --timeout 20s -s "$here/expect.lua" \
			"http://127.0.0.1:$port/exact" -- $from $want > wrk$n 2>&1 &
		wrks+=($!)
		from=innocents want=200
	done
	for n in $(seq 100 119); do
		exact_set "$n"
		soon is_refused_from /exact "10.$n.0.3"
	done
	wait "${wrks[@]}"
	for n in 1 2; do
		if grep -q '^asked [1-9][0-9]* wrong 0 failed 0 ' wrk$n; then ok; else
			fail "wrk$n" "$(cat wrk$n)"
		fi
	done
	holds metric_is swaps_total exact -eq $((before + 20))
	grep -h '^asked' wrk1 wrk2
	logged 0 'exited on signal 11\|exited on signal 7'
}

# Two zones use one file. It is replaced by rename alone, since map allows nothing else.
test_map() {
	local n zones="weir_zone one $work/bad.weir check=50ms map;"
	zones+="weir_zone two $work/bad.weir check=70ms;"
	start_nginx "$zones" '
		location = /one { weir_deny one $binary_remote_addr; empty_gif; }
		location = /two { weir_deny two $binary_remote_addr; empty_gif; }'
	for n in 130 131 132 133; do
		bad_set $n
		for zone in one two; do
			soon is_refused_from /$zone "10.$n.0.3"
			from 403 /$zone 192.0.2.1
			from 200 /$zone 192.0.3.1 "10.$((n - 1)).0.3"
		done
	done
	head -c 2000 bad.weir > new && mv new bad.weir
	soon metric_is refused one -eq 1
	soon metric_is refused two -eq 1
	from 403 /one 10.133.0.3
	from 403 /two 10.133.0.3
	logged 2 'length of the file is 2000.*the set in use stays'
	logged 0 'exited on signal'
	bad_set 134
	soon is_refused_from /one 10.134.0.3
	soon is_refused_from /two 10.134.0.3
	stop_nginx
}

# one CONFIGURATION: start nginx with zone one and its rule. The second call reloads it.
one() {
	local pids command=start_nginx
	[ ! -e pid ] || command=configure pids=$(workers_of)
	$command "weir_zone one $1;" 'location = /one { weir_deny one $binary_remote_addr;
		empty_gif; }'
	[ $command = start_nginx ] && return
	run 0 call_nginx -s reload
	soon workers_changed "$pids"
	soon old_are_gone "$pids"
}

# After a reload with another max= or path the workers use another store.
test_reload_of_others() {
	bad_set 140
	one "$work/bad.weir check=50ms max=4k"
	soon metric_is refused one -eq 1
	from 200 /one 10.140.0.3
	one "$work/bad.weir check=50ms max=4m"
	soon is_refused_from /one 10.140.0.3
	mkdir other
	cp bad.weir first
	bad_set 141
	mv bad.weir other/set
	mv first bad.weir
	one "$work/other/set check=50ms max=4m"
	soon is_refused_from /one 10.141.0.3
	from 200 /one 10.140.0.3
}

# A file becomes unreachable, and then reachable again without a change.
test_out_of_reach() {
	local swaps
	swaps=$(metric swaps_total one)
	chmod 0 other
	soon metric_is refused one -eq 1
	from 403 /one 10.141.0.3
	chmod 755 other
	soon metric_is refused one -eq 0
	holds metric_is swaps_total one -eq "$swaps"
}

# A file that is written in place is refused only after a second without a change.
test_slowly_written() {
	local refused begun
	bad_set 142
	refused=$(metric refused_total one)
	begun=$(date +%s%N)
	head -c 5000 bad.weir > other/set
	sleep 0.3
	tail -c +5001 bad.weir >> other/set
	if [ $(($(date +%s%N) - begun)) -lt 900000000 ]; then
		soon is_refused_from /one 10.142.0.3
		holds metric_is refused_total one -eq "$refused"
	fi
}

# check= sets the interval between checks of the file.
test_seldom() {
	local swaps
	one "$work/other/set check=1h max=4m"
	sleep 0.5 # the first look is soon
	swaps=$(metric swaps_total one)
	bad_set 143
	mv bad.weir other/set
	sleep 1.5
	holds metric_is swaps_total one -eq "$swaps"
	from 403 /one 10.142.0.3
	stop_nginx
}

start_rules
test_replaced
test_damaged
bad_set 30
takes 30
test_other_keys
test_stopped
test_moved
test_pages_of_what_is_refused
test_full_set
test_no_descriptors
test_reload
test_killed
test_load
stop_nginx
listen= socket=
test_map
test_reload_of_others
test_out_of_reach
test_slowly_written
test_seldom
finish
