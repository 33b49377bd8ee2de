#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules on address lists such as X-Forwarded-For: which address is checked, which forms are valid,
# what happens to invalid ones, limits, the log and the counters.
# test_lists.sh WEIR MODULE CLOCK
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so path/to/clock.so}")
clock=$(realpath "${3:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so path/to/clock.so}")
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"

printf '192.0.2.0/24\n2001:db8::/32\n' | set_of bad.weir --cidr -p 1e-7
printf '198.51.100.7\n2001:db9::7\n' | set_of good.weir -p 1e-7
zones="weir_zone bad $work/bad.weir check=50ms; weir_zone good $work/good.weir check=50ms;
	weir_zone log $work/bad.weir check=50ms;"
places=

# place PATH RULE...
place() {
	places+="location = /$1 { ${*:2}; empty_gif; }
	"
}
place deny 'weir_deny bad $http_x_forwarded_for addresses'
place deny_pass 'weir_deny bad $http_x_forwarded_for addresses on_invalid=pass'
place text 'weir_deny good $http_x_forwarded_for addresses'
place allow 'weir_allow good $http_x_forwarded_for addresses'
place allow_pass 'weir_allow good $http_x_forwarded_for addresses on_invalid=pass'
place status 'weir_deny bad $http_x_forwarded_for 429 addresses on_invalid=refuse'
place from1 'weir_allow good $http_x_forwarded_for from=1'
place from2 'weir_allow good $http_x_forwarded_for from=2'
place from2_pass 'weir_allow good $http_x_forwarded_for addresses from=2 on_invalid=pass'
place from64 'weir_allow good $http_x_forwarded_for from=64'
place lines 'weir_deny bad $http_Client_List addresses'
place lines2 'weir_allow good $http_client_list from=2'
place variable 'weir_deny bad $arg_u addresses'
place added 'weir_deny bad $proxy_add_x_forwarded_for addresses'
place log 'weir_deny log $http_x_forwarded_for addresses on_invalid=pass'

# list STATUS PATH VALUE...: a request with each value of X-Forwarded-For has that status.
list() {
	local want=$1 path=$2 value
	shift 2
	for value; do
		gives "$want" "$path" -H "X-Forwarded-For: $value"
	done
}
# repeat N WORD: print the word N times, with commas between.
repeat() {
	local all
	printf -v all "%$1s" ''
	all=${all// /$2,}
	echo "${all%,}"
}

test_directives_of_lists() {
	local line want
	port=$(free_port)
	while IFS='|' read -r line want; do
		configure "weir_zone a $work/bad.weir; $line" ''
		run 1 call_nginx -t
		says "$want"
	done <<-'END'
	weir_deny a $http_x from=2;|from is a number from 1 to 64, of weir_allow, not: "2"
	weir_allow a $http_x from=0;|from is a number from 1 to 64, of weir_allow, not: "0"
	weir_allow a $http_x from=65;|from is a number from 1 to 64, of weir_allow, not: "65"
	weir_allow a $http_x from=;|from is a number from 1 to 64, of weir_allow, not: ""
	weir_deny a $http_x on_invalid=pass;|on_invalid= needs addresses or from= .*: "$http_x"
	weir_deny a $http_x addresses on_invalid=x;|on_invalid is refuse or pass, not: "x"
	weir_deny a $binary_remote_addr addresses;|are for a list as text, .* not: "$binary_remote
	weir_deny a $http_x address;|the options of a rule are .*addresses, from= and .*: "address"
	END
}

test_deny_refuses_if_any_of_the_list_is_in_the_set() {
	list 403 /deny 192.0.2.1 '192.0.2.1, 10.0.0.1' '10.0.0.1,192.0.2.1' \
		'10.0.0.1, 192.0.2.1, 10.0.0.2' '10.0.0.1 , 2001:db8::1'
	list 200 /deny 10.0.0.1 '10.0.0.1, 10.0.0.2' '10.0.0.1,10.0.0.2,2001:db9::1'
	list 403 /text '10.0.0.1, 198.51.100.7' '2001:db9:0::7'
	list 200 /text '10.0.0.1, 198.51.100.8'
	list 429 /status '192.0.2.1, 10.0.0.1' x
}

test_allow_asks_the_last_of_the_list() {
	list 200 /allow 198.51.100.7 '10.0.0.1, 198.51.100.7' 'x,,198.51.100.7'
	list 403 /allow 10.0.0.1 '198.51.100.7, 10.0.0.1'
	list 200 /from1 '10.0.0.1, 198.51.100.7'
	list 403 /from1 '198.51.100.7, 10.0.0.1'
}

# Text left of the checked address changes nothing. A list that is too short matches no set.
test_from_counts_from_the_right() {
	local path
	for path in /from2 /from2_pass; do
		list 200 $path '198.51.100.7, 10.0.0.1' 'x, 198.51.100.7, y'
		list 403 $path '10.0.0.1, 198.51.100.7' '198.51.100.7, 10.0.0.1, 10.0.0.2'
		list 403 $path 198.51.100.7
		gives 403 $path
	done
	list 403 /from2 '198.51.100.7, x, 10.0.0.1'
	list 200 /from2_pass '10.0.0.1, x, 10.0.0.1'
	list 200 /from64 "198.51.100.7,$(repeat 63 10.0.0.1)"
	list 403 /from64 "$(repeat 62 10.0.0.1),198.51.100.7" "$(repeat 63 198.51.100.7)"
}

# For each form, check an address that is in the set and an address that is not.
test_forms_that_are_addresses() {
	list 403 /deny 192.0.2.1 192.0.2.1:80 192.0.2.1:0 192.0.2.1:65535 2001:db8::1 \
		'[2001:db8::1]' '[2001:db8::1]:443' ::ffff:192.0.2.1 ::FFFF:c000:201 \
		'[::ffff:192.0.2.1]:443' 2001:0db8:0:0:0:0:0:1 2001:DB8::1 \
		$'\t192.0.2.1 \t, 10.0.0.1'
	list 200 /deny 10.0.0.1 10.0.0.1:80 10.0.0.1:0 10.0.0.1:65535 2001:db9::1 \
		'[2001:db9::1]' '[2001:db9::1]:443' ::ffff:10.0.0.1 '[::ffff:10.0.0.1]:443' \
		0.0.0.0 255.255.255.255 :: $'\t10.0.0.1 \t, 10.0.0.2'
	list 200 /allow '[2001:db9::7]:1' 2001:db9:0:0::7 198.51.100.7:1 ::ffff:198.51.100.7
}

# Every rule refuses invalid forms. With on_invalid=pass a rule lets them pass.
test_forms_that_are_none() {
	local form
	for form in 010.0.0.1 10.00.0.1 10.0.0.01 ::ffff:10.0.0.01 fe80::1%eth0 '[fe80::1%1]:80' \
		localhost unknown _hidden 10.0.0 10.0.0.1.2 10.0.0.256 0x0a.0.0.1 167772161 \
		10.0.0.1: 10.0.0.1:x 10.0.0.1:080 10.0.0.1:65536 10.0.0.1:-1 10.0.0.1:123456789 \
		'[10.0.0.1]:80' '[2001:db9::1' '2001:db9::1]' '[2001:db9::1]80' '[2001:db9::1]:' \
		'[]' '[' ':' ':80' '"[2001:db9::1]"' '10.0.0.1 10.0.0.2' '10.0.0.1;' \
		2001:db9:::1 2001:db9::1::2 1:2:3:4:5:6:7:8:9 2001:db9::12345 \
		'10.0.0.1,,10.0.0.1' ',10.0.0.1' '10.0.0.1,' , 'x, 10.0.0.1' '10.0.0.1, x' \
		"$(printf '1%.0s' {1..300})"; do
		list 403 /deny "$form"
		list 200 /deny_pass "$form"
	done
	list 403 /allow '198.51.100.7, 198.51.100.07' '198.51.100.7,' '198.51.100.7, name'
	list 200 /allow_pass '10.0.0.1, 198.51.100.07' '10.0.0.1,' '10.0.0.1, name'
	list 403 /allow_pass 10.0.0.1 'x, 10.0.0.1'
	list 403 /deny_pass 'x, 192.0.2.1' '192.0.2.1, x' # which hides no address
}

# A request without the list is treated like a request without a key.
test_no_list_is_in_no_set() {
	local how
	for how in '' 'X-Forwarded-For;'; do
		gives 200 /deny ${how:+-H "$how"}
		gives 403 /allow ${how:+-H "$how"}
		gives 403 /allow_pass ${how:+-H "$how"}
	done
}

# two STATUS PATH NAME VALUE VALUE: a request with two header lines has that status.
two() { gives "$1" "$2" -H "$3: $4" -H "$3: $5"; }
test_lines_of_one_name_are_one_list() {
	local name
	for name in X-Forwarded-For x-forwarded-for; do
		two 403 /deny $name 10.0.0.1 192.0.2.1
		two 403 /deny $name '192.0.2.1, 10.0.0.1' 10.0.0.1
		two 200 /deny $name 10.0.0.1 10.0.0.2
		two 200 /allow $name 10.0.0.1 '10.0.0.1, 198.51.100.7'
		two 403 /allow $name 198.51.100.7 10.0.0.1
		two 200 /from2 $name 198.51.100.7 10.0.0.1
		two 403 /from2 $name '198.51.100.7, 10.0.0.2' 10.0.0.1
		two 403 /deny $name 10.0.0.1 x
	done
	# headers whose lines nginx itself does not join
	two 403 /lines Client-List 10.0.0.1 192.0.2.1
	two 200 /lines Client-List 10.0.0.1 10.0.0.2
	two 200 /lines Client-Lists 10.0.0.1 192.0.2.1
	two 200 /lines2 client-list 198.51.100.7 10.0.0.1
	two 403 /lines2 client-list 10.0.0.1 198.51.100.7
	gives 403 /lines -H 'Client-List: 10.0.0.1' -H 'Client-List;'
}

test_other_variables_are_lists_too() {
	gives 403 '/variable?u=10.0.0.1,192.0.2.1'
	gives 200 '/variable?u=10.0.0.1,10.0.0.2'
	gives 403 '/variable?u=10.0.0.1,x'
	gives 403 /added -H 'X-Real-IP: 192.0.2.1' -H 'X-Forwarded-For: 10.0.0.1'
	gives 200 /added -H 'X-Real-IP: 10.0.0.2' -H 'X-Forwarded-For: 10.0.0.1'
}

# A list beyond 64 addresses or 4096 bytes is refused, even with on_invalid=pass.
test_lists_beyond_the_limits_are_refused() {
	local path blanks lines=() n
	list 200 /deny "$(repeat 64 10.0.0.1)"
	list 200 /allow "$(repeat 64 198.51.100.7)"
	printf -v blanks '%4079s' ''
	for path in /deny /deny_pass; do
		list 403 $path "$(repeat 65 10.0.0.1)" "$(repeat 800 10.0.0.1)" "$(repeat 65 '')"
		list 200 $path "10.0.0.1,${blanks}10.0.0.1"
		list 403 $path "10.0.0.1,${blanks} 10.0.0.1"
		two 200 $path X-Forwarded-For 10.0.0.1,10.0.0.1 "10.0.0.1${blanks:19}, 10.0.0.1"
		two 403 $path X-Forwarded-For 10.0.0.1,10.0.0.1 \
			"10.0.0.1${blanks:18}, 10.0.0.1"
		two 403 $path X-Forwarded-For "$(repeat 32 10.0.0.1)" "$(repeat 33 10.0.0.1)"
		two 403 $path X-Forwarded-For "$(repeat 250 10.0.0.1)" "$(repeat 250 10.0.0.1)"
	done
	for path in /allow /allow_pass; do
		list 403 $path "$(repeat 65 198.51.100.7)"
		list 403 $path "10.0.0.1,$blanks     198.51.100.7"
	done
	for n in {1..200}; do
		lines+=(-H 'X-Forwarded-For: 10.0.0.1')
	done
	gives 200 /deny "${lines[@]:0:128}"
	gives 403 /deny "${lines[@]:0:130}"
	gives 403 /deny_pass "${lines[@]}"
}

# sum_logged: print the sum of the numbers in the log's lines.
sum_logged() { sed -n 's/.*"log": .*since the last such line: \([0-9]*\).*/\1/p' error.log |
	awk '{ sum += $1 } END { print sum + 0 }'; }
has_logged() { [ "$(sum_logged)" = "$1" ]; }
# still_logged N: the log has N lines, unless more than 30 seconds have passed since $begun.
still_logged() {
	sleep 0.3 # some checks of each worker
	[ $((SECONDS - begun)) -ge 30 ] || logged "$1" 'zone "log": keys that are no address'
}

test_invalid_keys_are_counted_and_logged_once_a_minute() {
	local n before
	before=$(metric invalid_total log)
	holds [ "$before" = 0 ]
	logged 0 'zone "log": keys that are no address'
	begun=$SECONDS
	gives 200 /log -H $'X-Forwarded-For: 10.0.0.1, n\tme'
	for n in {1..10}; do
		list 200 /log x '10.0.0.1,'
	done
	list 403 /log "$(repeat 65 10.0.0.1)" 'x, 192.0.2.1'
	holds metric_is invalid_total log -eq 22
	holds metric_is hits_total log -eq 1
	holds metric_is requests_refused_total log -eq 2
	gives 200 /json
	json body 'j["sets"][2]["invalid_total"] == 22'
	still_logged 1
	logged 1 'since the last such line: 1, such as: 10.0.0.1, n\\tme,'
	printf '%29s' '' > clock
	still_logged 1
	printf '%61s' '' > clock # now the rest is due
	soon has_logged 22
	logged 2 'zone "log": keys that are no address'
	printf '%200s' '' > clock # nothing is
	sleep 0.3
	logged 2 'zone "log": keys that are no address'
	begun=$SECONDS
	list 200 /log x
	soon has_logged 23
	logged 3 'zone "log": keys that are no address'
}

test_a_reload_keeps_the_counter() {
	local pids
	pids=$(workers_of)
	run 0 call_nginx -s reload
	soon are_others "$pids"
	holds metric_is invalid_total log -eq 23
	list 200 /log x # within the minute
	holds metric_is invalid_total log -eq 24
	still_logged 3
}
are_others() { [ "$(workers_of | wc -l)" = 2 ] && ! workers_of | grep -qxF "$1"; }

test_directives_of_lists
: > clock
as="env LD_PRELOAD=$clock WEIR_CLOCK=$work/clock"
start_nginx "$zones" "$places"
test_deny_refuses_if_any_of_the_list_is_in_the_set
test_allow_asks_the_last_of_the_list
test_from_counts_from_the_right
test_forms_that_are_addresses
test_forms_that_are_none
test_no_list_is_in_no_set
test_lines_of_one_name_are_one_list
test_other_variables_are_lists_too
test_lists_beyond_the_limits_are_refused
test_invalid_keys_are_counted_and_logged_once_a_minute
test_a_reload_keeps_the_counter
logged 0 'exited on signal'
stop_nginx
finish
