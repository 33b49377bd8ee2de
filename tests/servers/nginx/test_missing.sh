#!/bin/bash
# SPDX-License-Identifier: MIT
# The rules while their set is missing or refused: weir_allow refuses and weir_deny passes, unless
# on_missing= or on_error= says otherwise. The log and the status page say which.
# test_missing.sh WEIR MODULE [ALERTS]
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so [alerts.yml]}")
alerts=${3:+$(realpath "$3")}
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"

# place PATH RULE: add a location with this rule.
place() { places+="location = /$1 { $2 \$binary_remote_addr ${3-}; empty_gif; }"; }
# listed ADDRESS: write a file that has this address.
listed() { echo "$1" | set_of set.weir --cidr; }

# start_zones: one zone's file is missing, another zone's file is damaged. Each has six rules.
start_zones() {
	local zone rule
	places=
	echo none > torn.weir
	for zone in gone torn; do
		for rule in deny allow; do
			place $zone/$rule "weir_$rule $zone"
			place $zone/$rule/refuse "weir_$rule $zone" 'on_missing=refuse 429'
			place $zone/$rule/pass "weir_$rule $zone" on_missing=pass
		done
	done
	start_nginx "weir_zone gone $work/set.weir check=50ms;
		weir_zone torn $work/torn.weir check=50ms;" "$places"
}

test_rules_without_a_set_deny_opens_and_allow_closes() {
	local zone
	for zone in gone torn; do
		from 200 /$zone/deny 192.0.2.1
		from 403 /$zone/allow 192.0.2.1
		gives 429 /$zone/deny/refuse
		gives 429 /$zone/allow/refuse
		from 200 /$zone/deny/pass 192.0.2.1
		from 200 /$zone/allow/pass 192.0.2.1
	done
}

test_the_log_says_once_which_rules_refuse() {
	local n
	for n in $(seq 20); do
		status_of /gone/allow > /dev/null
	done
	logged 1 'weir_zone "gone": .*set.weir: cannot open it: no such.*: there is no set now'
	logged 1 '"gone": .*: rules that refuse every request: 3, that let it pass: 3'
	logged 1 'weir_zone "torn": .*torn.weir: .*: there is no set now: rules that refuse'
}

test_status_counts_rules_that_refuse() {
	local zone
	for zone in gone torn; do
		holds metric_is absent $zone -eq 1
		holds metric_is rules_refusing $zone -eq 3
		holds metric_is rules_passing $zone -eq 3
	done
	gives 200 /json
	json body 'j["sets"][0]["rules_refusing"] == 3 and j["sets"][0]["rules_passing"] == 3'
	holds metric_is requests_refused_total torn -eq 3
	holds metric_is off_total torn -eq 6
}

# The alert WeirRulesRefuse names a metric that exists.
test_the_alert_names_the_metric() {
	[ "$alerts" ] || return 0
	local name
	name=$(sed -n '/alert: WeirRulesRefuse$/,/expr:/s/.*expr: \([a-z_]*\).*/\1/p' "$alerts")
	holds [ "$name" ]
	gives 200 /metrics
	holds grep -q "^$name{set=\"gone\"} 3" body
}

test_a_set_that_comes_ends_it() {
	listed 192.0.2.1
	soon metric_is absent gone -eq 0
	from 403 /gone/deny 192.0.2.1
	from 200 /gone/deny 192.0.2.2
	from 403 /gone/allow 192.0.2.2
	from 200 /gone/allow 192.0.2.1
	from 403 /gone/deny/pass 192.0.2.1
	from 429 /gone/allow/refuse 192.0.2.2
	from 403 /gone/allow/pass 192.0.2.2
	holds metric_is rules_refusing gone -eq 0
	holds metric_is rules_passing gone -eq 0
	rm set.weir # the set in use stays
	soon metric_is refused gone -eq 1
	from 403 /gone/allow 192.0.2.2
	from 200 /gone/allow 192.0.2.1
	logged 1 '"gone": .*: there is no set now'
	stop_nginx
}

# A rule's on_missing overrides on_error of the rule's zone, which drops a set.
test_on_error_is_the_usual_of_its_rules() {
	local how zones=
	places=
	listed 192.0.2.1
	for how in pass deny; do
		zones+="weir_zone $how $work/set.weir check=50ms on_error=$how;"
		place $how/deny "weir_deny $how"
		place $how/allow "weir_allow $how"
		place $how/other "weir_deny $how" on_missing=$([ $how = pass ] && echo refuse ||
			echo pass)
	done
	start_nginx "$zones" "$places"
	for how in pass deny; do
		from 200 /$how/allow 192.0.2.1
		from 200 /$how/other 192.0.2.2
	done
	logged 0 'there is no set now'
	echo none > set.weir
	for how in pass deny; do
		soon metric_is absent $how -eq 1
	done
	from 200 /pass/deny 192.0.2.1
	from 200 /pass/allow 192.0.2.2
	from 403 /pass/other 192.0.2.2
	from 403 /deny/deny 192.0.2.2
	from 403 /deny/allow 192.0.2.1
	from 200 /deny/other 192.0.2.1
	logged 1 '"pass": .*: there is no set now: .* refuse every request: 1, .* pass: 2'
	logged 1 '"deny": .*: there is no set now: .* refuse every request: 2, .* pass: 1'
	listed 192.0.2.1
	soon metric_is absent deny -eq 0
	from 403 /deny/other 192.0.2.1
	echo none > set.weir
	soon metric_is absent deny -eq 1
	logged 2 '"deny": .*: there is no set now' # each time that it goes
	stop_nginx
}

# reloads PLACES: reload nginx with these locations, and wait for the new workers.
reloads() {
	local pids
	pids=$(workers_of)
	configure "weir_zone gone $work/none.weir check=50ms;" "$1"
	run 0 call_nginx -s reload
	soon are_others "$pids"
}
are_others() { [ "$(workers_of | wc -l)" = 2 ] && ! workers_of | grep -qxF "$1"; }

test_a_reload_says_it_again_only_if_rules_changed() {
	local refuses passes
	places=
	place one 'weir_deny gone' on_missing=refuse
	refuses=$places places=
	place one 'weir_deny gone'
	passes=$places
	start_nginx "weir_zone gone $work/none.weir check=50ms;" "$refuses"
	from 403 /one 192.0.2.1
	reloads "$refuses"
	logged 0 'there is still no set'
	reloads "$passes"
	from 200 /one 192.0.2.1
	logged 1 '"gone": .*there is still no set, and the rules changed: .* request: 0, .* pass: 1'
	stop_nginx
}

start_zones
test_rules_without_a_set_deny_opens_and_allow_closes
test_status_counts_rules_that_refuse
test_the_log_says_once_which_rules_refuse
test_the_alert_names_the_metric
test_a_set_that_comes_ends_it
test_on_error_is_the_usual_of_its_rules
test_a_reload_says_it_again_only_if_rules_changed
finish
