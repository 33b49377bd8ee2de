#!/bin/bash
# SPDX-License-Identifier: MIT
# The module in real nginx processes: rules, addresses, files that are replaced, damaged, missing,
# reloads, killed workers. test_nginx.sh WEIR MODULE
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so}")
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"

addresses() { # addresses NET N: N addresses of 10.NET.x.y
	seq 0 $(($2 - 1)) | awk -v net="$1" '{ print "10." net "." int($1 / 256) "." $1 % 256 }'
}
bad_set() { # bad_set NET OPTION...: a list with a network of its own each time, beside what stays
	local net=$1
	shift
	{ addresses "$net" 300; echo 192.0.2.0/24; echo 2001:db8::/32; echo 198.51.100.7; } |
		set_of bad.weir --cidr -p 1e-7 "$@"
}
exact_set() { # exact_set NET: exact answers for what is always listed and for the innocents
	{ addresses "$1" 300; addresses 192 256; } |
		set_of exact.weir --kind layered --exclude innocents
}

test_directives() {
	local zone="weir_zone a $work/bad.weir;" line
	port=$(free_port)
	while IFS='|' read -r line want; do
		configure "$line" ''
		run 1 call_nginx -t
		says "$want"
	done <<-END
	weir_deny b \$remote_addr;|weir_zone "b" is used in .*nginx.conf:[0-9]* and defined nowhere
	$zone $zone|weir_zone is defined twice: "a"
	weir_zone a-b $work/bad.weir;|name is 1 to 64 letters, digits and _, not: "a-b"
	weir_zone a $work/bad.weir check=1ms;|check is a time of 10ms or more, not: "1ms"
	weir_zone a $work/bad.weir max=17;|max is a size of 4k or more, not: "17"
	weir_zone a $work/bad.weir on_error=x;|on_error is keep, pass or deny, not: "x"
	weir_zone a $work/bad.weir key=x;|the key is one variable, .* not: "x"
	weir_zone a $work/bad.weir maps;|no such option: "maps"
	$zone weir_deny a remote_addr;|the key is one variable, .* not: "remote_addr"
	$zone weir_deny a \$remote_addr 200;|a status from 400 to 599, not: "200"
	$zone weir_deny a;|a zone and a variable, or off, not: "a"
	END
}

test_rules() {
	from 403 /binary 192.0.2.1 192.0.2.255 10.1.0.3 198.51.100.7 2001:db8::1 2001:db8:ff::
	from 403 /binary ::ffff:192.0.2.9 ::ffff:10.1.1.1
	from 200 /binary 192.0.3.1 10.1.1.250 10.2.0.3 198.51.100.8 2001:db9::1 ::ffff:192.0.3.1
	from 403 /text 192.0.2.1 2001:db8::1 ::ffff:192.0.2.9
	from 200 /text 192.0.3.1 2001:db9::1 ::ffff:192.0.3.1
	from 403 /plain 203.0.113.5 ::ffff:203.0.113.5 2001:db8:1::5
	from 403 /plain_text 203.0.113.5 ::ffff:203.0.113.5 2001:db8:1::5
	from 200 /plain 203.0.113.6 ::ffff:203.0.113.6 2001:db8:1::6
	from 200 /plain_text 203.0.113.6 ::ffff:203.0.113.6 2001:db8:1::6
	gives 429 /status -H 'X-Real-IP: 192.0.2.1'
	gives 403 /off/on -H 'X-Real-IP: 192.0.2.1'
	gives 200 /off -H 'X-Real-IP: 192.0.2.1'
	gives 200 '/users?u=alice'
	gives 200 '/users?u=BOB'
	gives 403 '/users?u=eve'
	gives 403 /users
	gives 401 '/both?u=eve' -H 'X-Real-IP: 192.0.3.1'
	gives 403 '/both?u=bob' -H 'X-Real-IP: 192.0.2.1'
	gives 200 '/both?u=bob' -H 'X-Real-IP: 192.0.3.1'
	gives 200 '/word?u=bob' -H 'X-Real-IP: 192.0.2.1'
	holds grep -qx 'hit hit off mapped-hit' body
	gives 200 '/word?u=eve' -H 'X-Real-IP: 192.0.3.1'
	holds grep -qx 'miss miss off mapped-miss' body
	gives 403 '/header' -H 'X-Real-IP: 192.0.2.1' -D headers
	holds grep -q '^X-Weir: hit' headers
	gives 403 /loopback
	[ -z "$listen" ] || holds [ "$(curl -s -o /dev/null -w '%{http_code}' \
		"http://127.0.0.1:$port6/loopback")" = 403 ]
}

test_status() {
	gives 200 /json
	json body 'len(j["sets"]) == 6 and j["sets"][0]["name"] == "bad"'
	json body 'j["sets"][0]["path"].endswith("/bad.weir") and j["sets"][0]["absent"] == 0'
	json body '290 < j["sets"][0]["keys"] < 320 and j["sets"][0]["refused_sentence"] == ""'
	json body 'j["sets"][0]["hits_total"] > 5 and j["sets"][0]["misses_total"] > 5'
	json body '"none.weir" in j["sets"][4]["refused_sentence"] and j["sets"][4]["refused"] == 1'
	gives 200 /metrics
	holds [ "$(grep -c '^# TYPE weir_hits_total counter$' body)" = 1 ]
	holds [ "$(grep -c '^weir_absent{set="[a-z]*"} [01]$' body)" = 6 ]
	holds [ "$(grep '^weir_hits_total' body | wc -l)" = 6 ]
	gives 405 /json -X POST
}

# takes NET: the set with that network comes into use, in every worker.
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
	holds metric_is swaps_total bad -eq $((before + 4))
	holds [ "$(workers_of)" = "$pids" ]
}

# stays N SENTENCE: the file is refused with that, once, and the set in use stays.
stays() {
	local before=$1 n
	shift
	soon metric_is refused_total bad -gt "$before"
	holds metric_is refused_total bad -eq $((before + 1))
	holds metric_is refused bad -eq 1
	takes 30
	n=$(metric age_seconds bad)
	sleep 0.4 # eight looks at the file: it is not said again
	holds metric_is refused_total bad -eq $((before + 1))
	logged 1 "weir_zone \"bad\": $work/bad.weir: .*$1.*: the set in use stays"
}

test_damaged() {
	local pids n
	pids=$(workers_of)
	bad_set 30
	takes 30
	cp bad.weir good
	n=$(metric refused_total bad)
	{ head -c 5000 good; printf X; tail -c +5002 good; } > new
	mv new bad.weir
	stays "$n" 'the bits of shard 0 sum to'
	seq 10000 > bad.weir # in place
	stays $((n + 1)) 'not a weir image'
	cp good bad.weir # in place
	soon metric_is refused bad -eq 0
	takes 30
	truncate -s 3000 bad.weir
	stays $((n + 2)) 'length of the file is 3000'
	cp keys bad.weir
	stays $((n + 3)) "byte 0 is 0x$(head -c 1 keys | od -An -tx1 | tr -d ' ')"
	rm bad.weir
	stays $((n + 4)) 'cannot open it: no such file or directory'
	mkdir bad.weir
	stays $((n + 5)) 'is a directory'
	rmdir bad.weir
	echo 192.0.2.0/24 | set_of bad.weir --cidr -p 1e-7
	stays $((n + 6)) 'about 1 keys, where the set in use has about .*: under a tenth'
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

test_reload() {
	local hits swaps pids
	hits=$(metric hits_total bad)
	swaps=$(metric swaps_total bad)
	pids=$(workers_of)
	bad_set 50
	takes 50
	# a request that is not whole yet keeps a worker of the old configuration
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	printf 'GET /binary HTTP/1.1\r\nHost: a\r\nX-Real-IP: 10.55.0.3\r\n' >&7
	run 0 call_nginx -s reload
	soon workers_changed "$pids"
	holds metric_is hits_total bad -ge "$hits"
	holds metric_is swaps_total bad -eq $((swaps + 1))
	for n in 51 52 53 54 55; do
		bad_set $n
		takes $n
	done
	printf 'Connection: close\r\n\r\n' >&7
	holds grep -q '^HTTP/1.1 403' <(timeout 20 cat <&7)
	exec 7>&-
	soon old_are_gone "$pids"
	# with a file that is no image
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
# Two new ones and none of those; none of those.
workers_changed() { [ "$(workers_of | grep -vcxF "$1")" -ge 2 ]; }
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

# Listed and innocent addresses at full load while the set is replaced: no answer is wrong.
test_load() {
	local n before wrks=() from=always want=403
	before=$(metric swaps_total exact)
	for n in 1 2; do
		wrk -t1 -c8 -d15 --timeout 20s -s "$here/expect.lua" \
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

# missing, damaged, too large or unreadable when nginx starts: it starts, and the zone is as
# on_error says until a good file comes.
test_no_file() {
	local zones= places= how
	for how in keep pass deny; do
		zones+="weir_zone $how $work/later.weir check=50ms on_error=$how;"
		places+="location = /$how { weir_deny $how \$binary_remote_addr; empty_gif; }"
		places+="location = /only_$how { weir_allow $how \$binary_remote_addr; empty_gif; }"
	done
	zones+="weir_zone bad $work/torn.weir check=50ms;"
	zones+="weir_zone small $work/bad.weir check=50ms max=4k;"
	head -c 3000 bad.weir > torn.weir
	[ "$(id -u)" = 0 ] || zones+="# "
	zones+="weir_zone secret $work/secret.weir check=50ms;"
	cp bad.weir secret.weir
	chmod 600 secret.weir
	start_nginx "${zones/# weir_zone secret*/}" "$places"
	from 200 /keep 192.0.2.1
	from 200 /pass 192.0.2.1
	from 403 /deny 192.0.2.1 192.0.3.1
	from 200 /only_keep 192.0.3.1
	from 200 /only_pass 192.0.3.1
	from 403 /only_deny 192.0.3.1
	logged 1 'weir_zone "keep": .*later.weir: cannot open it: no such.*: there is no set now, and req'
	logged 1 'weir_zone "deny": .*later.weir: cannot open it: no such.*, and rules refuse'
	logged 1 'weir_zone "bad": .*torn.weir: .*length of the file is 3000'
	logged 1 'weir_zone "small": .*bad.weir: its plain image has .* room for 4096: a larger max='
	if [ "$(id -u)" = 0 ]; then
		logged 1 'weir_zone "secret": .*secret.weir: cannot open it: permission denied'
		chmod 644 secret.weir
		soon metric_is absent secret -eq 0
	fi
	cp bad.weir new && mv new later.weir
	for how in keep pass deny; do
		soon metric_is absent "$how" -eq 0
		from 403 "/$how" 192.0.2.1
		from 200 "/$how" 192.0.3.1
		from 200 "/only_$how" 192.0.2.1
		from 403 "/only_$how" 192.0.3.1
	done
	echo none > later.weir
	for how in keep pass deny; do
		soon metric_is refused "$how" -eq 1
	done
	from 403 /keep 192.0.2.1
	from 200 /pass 192.0.2.1
	from 403 /deny 192.0.2.1 192.0.3.1
	cp bad.weir new && mv new later.weir
	for how in keep pass deny; do
		soon metric_is absent "$how" -eq 0
		soon metric_is refused "$how" -eq 0
		from 200 "/$how" 192.0.3.1
	done
	stop_nginx
}

# What is not replaced by rename is not for map; and two zones of one file.
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

addresses 200 2000 > innocents
addresses 192 256 > always
bad_set 1
exact_set 1
printf '203.0.113.5\n2001:db8:1::5\n' | set_of plain.weir
printf 'Alice\nbob\n' | set_of users.weir --lowercase
echo 127.0.0.1 | set_of loopback.weir --cidr
test_directives

port6=$(free_port)
listen="listen [::ffff:127.0.0.1]:$port6 ipv6only=off;"
port=$(free_port)
configure '' ''
call_nginx -t > /dev/null 2>&1 || listen=
places='
	location = /binary { weir_deny bad $binary_remote_addr; empty_gif; }
	location = /text { weir_deny bad $remote_addr; empty_gif; }
	location = /plain { weir_deny plain $binary_remote_addr; empty_gif; }
	location = /plain_text { weir_deny plain $remote_addr; empty_gif; }
	location = /exact { weir_deny exact $binary_remote_addr; empty_gif; }
	location = /status { weir_deny bad $binary_remote_addr 429; empty_gif; }
	location /off { weir_deny off; empty_gif;
		location /off/on { weir_deny bad $binary_remote_addr; empty_gif; } }
	location = /users { weir_allow users $arg_u; empty_gif; }
	location = /both { weir_deny bad $binary_remote_addr; weir_allow users $arg_u 401; empty_gif; }
	location = /word { return 200 "$weir_users $weir_bad $weir_none mapped-$how\n"; }
	location = /header { weir_deny bad $binary_remote_addr; empty_gif;
		add_header X-Weir $weir_bad always; }
	location = /loopback { weir_deny loopback $binary_remote_addr; empty_gif; }'
start_nginx "weir_zone bad $work/bad.weir check=50ms max=4m;
	weir_zone plain $work/plain.weir check=50ms max=4m;
	weir_zone users $work/users.weir check=50ms max=4m key=\$arg_u;
	weir_zone exact $work/exact.weir check=50ms max=4m;
	weir_zone none $work/none.weir check=50ms max=4m;
	weir_zone loopback $work/loopback.weir max=4m;
	map \$weir_bad \$how { default \$weir_bad; }" "$places"
test_rules
test_status
test_replaced
test_damaged
test_moved
test_reload
test_killed
test_load
pid=$(cat pid)
stop_nginx
holds is_gone "$pid"
listen=
test_no_file
test_map
finish
