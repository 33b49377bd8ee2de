#!/bin/bash
# SPDX-License-Identifier: MIT
# The module in real nginx processes: directives, rules, addresses, figures, and zones without a
# file. test_rules.sh WEIR MODULE
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so}")
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"
. "$here/sets.sh"

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
	weir_zone a $work/bad.weir maps;|the options of weir_zone are .*, not: "maps"
	weir_zone a $work/bad.weir keyed_by=none;|keyed_by: .*/none: cannot open it: no such file
	weir_zone a $work/bad.weir keyed_by=bad.weir;|keyed_by: .*/bad.weir: its mode is 0644
	$zone weir_deny a remote_addr;|the key is one variable, .* not: "remote_addr"
	$zone weir_deny a \$remote_addr 200;|a rule are a status from 400 to 599, .*, not: "200"
	$zone weir_deny a \$remote_addr on_missing=x;|on_missing is refuse or pass, not: "x"
	$zone weir_deny a;|the variable is missing, .* after zone: "a"
	END
}

test_rules() {
	from 403 /binary 192.0.2.1 192.0.2.255 10.1.0.3 198.51.100.7 2001:db8::1 2001:db8:ff::
	from 403 /binary ::ffff:192.0.2.9 ::ffff:10.1.1.1
	from 200 /binary 192.0.3.1 10.1.1.250 10.2.0.3 198.51.100.8 2001:db9::1 ::ffff:192.0.3.1
	from 403 /binary 172.16.0.0 172.31.255.255 2001:db9:8000:: 2001:db9:ffff::1
	from 200 /binary 172.15.255.255 172.32.0.0 2001:db9:7fff:ffff::1 2001:dba::
	from 403 /binary 2001:dba::77
	from 200 /binary 2001:dba::76
	from 403 /text 192.0.2.1 2001:db8::1 ::ffff:192.0.2.9
	from 200 /text 192.0.3.1 2001:db9::1 ::ffff:192.0.3.1
	from 403 /plain 203.0.113.5 ::ffff:203.0.113.5 2001:db8:1::5
	from 403 /plain_text 203.0.113.5 ::ffff:203.0.113.5 2001:db8:1::5
	from 200 /plain 203.0.113.6 ::ffff:203.0.113.6 2001:db8:1::6
	from 200 /plain_text 203.0.113.6 ::ffff:203.0.113.6 2001:db8:1::6
	gives 429 /status -H 'X-Real-IP: 192.0.2.1'
	gives 403 /off/on -H 'X-Real-IP: 192.0.2.1'
	gives 200 /off -H 'X-Real-IP: 192.0.2.1'
	from 403 /above 192.0.2.1
	from 403 /above/heir 192.0.2.1
	from 200 /above/off 192.0.2.1
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
	gives 200 '/said?v=eve&u=bob' -D headers # what the rule was answered
	holds grep -q '^X-Weir: miss' headers
	gives 200 /binary --unix-socket socket # no address
	gives 403 /loopback
	[ -z "$listen" ] || holds [ "$(curl -s -o /dev/null -w '%{http_code}' \
		"http://127.0.0.1:$port6/loopback")" = 403 ]
}

# through_proxy STATUS ADDRESS...: a front proxy passes the client's address on.
through_proxy() {
	local want=$1 address family
	shift
	[ "$listen" ] || return 0
	for address; do
		family=TCP6
		[[ $address == *:* ]] || family=TCP4
		exec 8<> "/dev/tcp/127.0.0.1/$proxy_port"
		printf 'PROXY %s %s ::1 1 2\r\nGET /proxy HTTP/1.0\r\n\r\n' $family "$address" >&8
		holds grep -q "^HTTP/1.1 $want" <(timeout 20 cat <&8)
		exec 8>&-
	done
}

# The rules match an IPv6 address in each of its spellings.
test_proxy() {
	through_proxy 403 2001:db8:1::5 2001:DB8:1::5 2001:db8:1:0:0:0:0:5 ::ffff:203.0.113.5
	through_proxy 403 ::FFFF:203.0.113.5 ::ffff:cb00:7105
	through_proxy 200 2001:db8:1::6 ::ffff:203.0.113.6
}

# A variable that is not an address matches no set, and the log says so at once.
test_no_address() {
	gives 200 '/no_address?u=here'
	gives 200 '/no_address?u=there'
	logged 1 'weir_zone "bad": keys that are no address'
}

test_status() {
	gives 200 /json
	json body 'len(j["sets"]) == 7 and j["sets"][0]["name"] == "bad"'
	json body 'j["sets"][0]["path"].endswith("/bad.weir") and j["sets"][0]["absent"] == 0'
	json body '290 < j["sets"][0]["keys"] < 320 and j["sets"][0]["refused_sentence"] == ""'
	json body 'j["sets"][0]["hits_total"] > 5 and j["sets"][0]["misses_total"] > 5'
	json body '"no\"ne.weir" in j["sets"][5]["refused_sentence"]'
	json body 'j["sets"][5]["refused"] == 1'
	gives 200 /metrics
	holds [ "$(grep -c '^# TYPE weir_hits_total counter$' body)" = 1 ]
	holds [ "$(grep -c '^weir_absent{set="[a-z]*"} [01]$' body)" = 7 ]
	holds [ "$(grep '^weir_hits_total' body | wc -l)" = 7 ]
	gives 405 /json -X POST
	holds [ "$(raw 'HEAD /json' | sed '1,/^\r$/d' | wc -c)" = 0 ]
}
# raw REQUEST: print the raw response.
raw() {
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	printf '%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' "$1" >&7
	timeout 20 cat <&7
	exec 7>&-
}

# adds METRIC SET COMMAND...: the command increments the metric by one.
adds() {
	local metric=$1 set=$2 before
	before=$(metric "$1" "$2")
	shift 2
	"$@"
	holds metric_is "$metric" "$set" -eq $((before + 1))
}
test_counters() {
	local misses
	adds requests_refused_total bad from 403 /binary 192.0.2.1
	adds hits_total bad from 403 /binary 192.0.2.1
	adds misses_total bad from 200 /binary 192.0.3.1
	adds invalid_total bad gives 200 '/no_address?u=x'
	misses=$(metric misses_total none)
	adds off_total none gives 200 /none
	holds metric_is misses_total none -eq "$misses"
	soon metric_is refused_seconds none -ge 1
	holds metric_is age_seconds none -eq 0
}

# If the file is missing, damaged, too large or unreadable, nginx still starts. Until a good file
# comes, on_error decides for the zone.
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
	chmod 640 secret.weir
	# the group is one of the user who starts nginx, and not of the workers
	[ "$(id -u)" != 0 ] || { chgrp 4242 secret.weir && as='setpriv --groups 4242'; }
	start_nginx "$zones" "$places"
	from 200 /keep 192.0.2.1
	from 200 /pass 192.0.2.1
	from 403 /deny 192.0.2.1 192.0.3.1
	from 403 /only_keep 192.0.3.1
	from 200 /only_pass 192.0.3.1
	from 403 /only_deny 192.0.3.1
	logged 1 'weir_zone "keep": .*later.weir: cannot open it: no such.*: .*: 1, .* pass: 1'
	logged 1 'weir_zone "deny": .*later.weir: cannot open it: no such.*: .*: 2, .* pass: 0'
	logged 1 'weir_zone "bad": .*torn.weir: .*length of the file is 3000'
	logged 1 'weir_zone "small": .*: its plain image has .* room for 4096: a larger max= '
	if [ "$(id -u)" = 0 ]; then
		logged 1 'weir_zone "secret": .*secret.weir: cannot open it: permission denied'
		holds grep -qx 'Groups:[^0-9]*4242 *' "/proc/$(cat pid)/status"
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

# keyed_set FILE KEY LINE
keyed_set() { echo "$3" | set_of "$1" --keyed-by="$2"; }

# The master reads the key. If the master runs as root, the workers cannot read the key. A reload
# with another key loads no set of the old key.
test_keyed() {
	local zones='' how places=''
	(umask 077; head -c 16 /dev/urandom > one.key; head -c 16 /dev/urandom > two.key)
	cp one.key a.key
	for how in load map; do
		zones+="weir_zone $how $work/keyed.weir check=50ms keyed_by=a.key $how;"
		places+="location = /$how { weir_deny $how \$binary_remote_addr; empty_gif; }"
	done
	zones+="weir_zone open $work/keyed.weir check=50ms;"
	zones+="weir_zone closed $work/plain.weir check=50ms keyed_by=$work/one.key;"
	keyed_set keyed.weir one.key 192.0.2.1
	start_nginx "$zones" "$places"
	from 403 /load 192.0.2.1
	from 403 /map 192.0.2.1
	from 200 /load 192.0.2.2
	from 200 /map 192.0.2.2
	holds metric_is absent open -eq 1
	holds metric_is absent closed -eq 1
	logged 1 'weir_zone "open": .*keyed.weir: .*is keyed: .*, by keyed_by=FILE'
	logged 1 'weir_zone "closed": .*plain.weir: .*keyed'
	keyed_set keyed.weir one.key 192.0.2.2
	soon is_refused_from /load 192.0.2.2
	soon is_refused_from /map 192.0.2.2
	keyed_set keyed.weir two.key 192.0.2.3
	soon metric_is refused load -eq 1
	soon metric_is refused map -eq 1
	from 403 /load 192.0.2.2
	from 403 /map 192.0.2.2
	cp two.key a.key
	call_nginx -s reload
	soon is_refused_from /load 192.0.2.3
	soon is_refused_from /map 192.0.2.3
	soon passes_from /load 192.0.2.2
	soon passes_from /map 192.0.2.2
	stop_nginx
}

# nginx runs as a single process.
test_alone() {
	as= main='master_process off;'
	bad_set 2
	start_nginx "weir_zone bad $work/bad.weir check=50ms;" '
		location = /binary { weir_deny bad $binary_remote_addr; empty_gif; }'
	from 403 /binary 10.2.0.3
	bad_set 3
	soon is_refused_from /binary 10.3.0.3
	from 200 /binary 10.2.0.3
	stop_nginx
	main=
}

test_directives
start_rules
test_rules
test_proxy
test_no_address
test_status
test_counters
pid=$(cat pid)
stop_nginx
holds is_gone "$pid"
listen= socket=
test_no_file
test_keyed
test_alone
finish
