#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests weir info --prometheus with a strict reader, the names of metrics in the alert rules, and a
# query whose image shrinks. test_tool_metrics.sh WEIR EXPOSITION ALERTS
. "$(dirname "$0")/tool_test.sh"
exposition=$(cd "$OLDPWD" && realpath "$2") alerts=$(cd "$OLDPWD" && realpath "$3")

seq 1000 >keys
name=$(printf 'od"d\\\033[2J.weir')
run 0 "$weir" build -q -p 1% -o day.weir keys
cp day.weir "$name"
run 0 "$weir" info --prometheus day.weir "$name"
cp out text
prints '^weir_image_capacity_keys{image="day.weir"} 1[0-9]*$'
prints '^weir_image_keys{image="day.weir"} [0-9.]*$'
prints '^weir_image_lookups{image="day.weir"} 1$'
prints '^weir_image_modified_seconds{image="day.weir"} [0-9.]*$'
prints '^weir_image_live{image="day.weir"} 0$'
prints '^weir_image_saturated{image="od\\"d\\\\\\\\033\[2J.weir"} 0$'
"$exposition" <text >image_names || fail "weir info --prometheus: no such text"
[ "$(wc -l <image_names)" = 13 ] && ok || fail "not 13 metrics" "$(cat image_names)"

# Each metric has the value of --json, in the unit of its name.
cat >compare.py <<'end'
import json, math, os, re, sys
json_of = json.load(open('json'))[0]
lines = re.findall(r'^weir_image_(\w+)\{image="wide.weir"\} (\S+)$', open('metrics').read(), re.M)
names = {'capacity_keys': 'capacity', 'fp_rate': 'fp_rate_estimated', 'fp_rate_asked': 'fp_rate',
         'keys': 'keys_estimated', 'fill_ratio': 'fill'}
found = {name: float(text) for name, text in lines}
want = {name: json_of.get(names.get(name, name)) for name in found}
want['hashes_uneven'] = json_of['hashes_uneven'] == 'yes'
want['lookups'] = json_of.get('lookups', 1)
want['modified_seconds'] = os.stat('wide.weir').st_mtime
wrong = [(name, value, want[name]) for name, value in found.items()
         if not math.isclose(value, want[name], rel_tol=1e-2 if name == 'keys' else 1e-8)]
if wrong or len(found) != int(sys.argv[1]):
    sys.exit(f'{len(found)} metrics; (name, value, not) {wrong}')
end
for form in '' --zstd; do
	# shellcheck disable=SC2086
	run 0 "$weir" build -q $form --new-seed -n 3000 -p 1% -o wide.weir keys
	touch -d @1700000000.25 wide.weir
	run 0 "$weir" info --json --exact wide.weir
	cp out json
	run 0 "$weir" info --prometheus --exact wide.weir
	cp out metrics
	run 0 python3 compare.py 13
done
# no metrics for bits that were not read
run 0 "$weir" info --prometheus wide.weir
cp out metrics
run 0 python3 compare.py 8
run 0 "$weir" build -q --new-seed -n 3000 -p 1% -o wide.weir keys
mkfifo late
"$weir" add -q --live wide.weir late &
exec 9>late # opened by the command too
soon is_live wide.weir
run 0 "$weir" info --json wide.weir
cp out json
run 0 "$weir" info --prometheus day.weir wide.weir
prints '^weir_image_live{image="wide.weir"} 1$'
prints '^weir_image_keys{image="day.weir"}'
grep -q '^weir_image_keys{image="wide.weir"}' out && fail "bits of a live image" || ok
exec 9>&-
wait

# unreadable files get a message, and the other files their lines
run 2 "$weir" info --prometheus keys day.weir absent.weir
says 'keys: '
says 'absent.weir: '
prints '^weir_image_bytes{image="day.weir"} [1-9]'
run 2 "$weir" info --prometheus keys
[ -s out ] && fail "metrics of nothing" || ok
run 2 "$weir" info --prometheus --json day.weir
says 'one of them'

# the alerts
"$exposition" handle >handle_text || fail "no metrics of a handle"
"$exposition" <handle_text >handle_names || fail "weir_metrics_write(): no such text"
# other tests check the metrics of weir replicate (tests/replica/tool/test_status.py) and of nginx
# (tests/servers/nginx/test_missing.sh)
grep -o 'weir_[a-z_]*' <(grep 'expr:' "$alerts") | grep -v '^weir_replica_\|^weir_rules_' |
	sort -u >named
[ "$(wc -l <named)" -ge 5 ] && ok || fail "few metrics in the alerts" "$(cat named)"
sort image_names handle_names >there
missing=$(comm -23 named there)
[ -z "$missing" ] && ok || fail "the alerts name what is no metric" "$missing"
for what in Saturated Stale Refused Absent; do
	grep -q "alert: WeirSet$what" "$alerts" && ok || fail "no alert for $what"
done
# a file that never existed gives one alert, not the alert of an old set
rule() { sed -n "/alert: WeirSet$1$/,/alert:/p" "$alerts"; }
rule Refused | grep -q 'expr: weir_refused == 1 and weir_absent == 0$' && ok ||
	fail "refused: there may be no old set" "$(rule Refused)"
rule Absent | grep -q 'expr: weir_absent == 1$' && ok || fail "no rule for absent"
rule Absent | grep -q 'old set' && fail "absent: there is no old set" || ok

# an image that shrinks during lookups gives a sentence, not a signal
seq 1 3000000 >many
run 0 "$weir" build -q -p 0.1% -o large.weir many
mkfifo lines
"$weir" query -c --no-verify large.weir lines >out 2>err &
query=$!
exec 9>lines
sleep 0.5
truncate -s 4096 large.weir
cat many >&9
exec 9>&-
wait $query
status=$?
[ $status = 2 ] && ok || fail "a query of an image that shrinks: exit $status"
says '^weir query: large.weir: shrank while it was read'

# tmpfs allocates a hole's page at the first read, and here none is free
mkdir small
full='mount -t tmpfs -o size=64k none small && cp --sparse=always sparse.weir small/of.weir
	head -c 64K /dev/zero >small/rest 2>/dev/null; exec "$0" "$@"'
run 0 "$weir" build -q -n 1M --allow-empty -o sparse.weir /dev/null
if unshare -m sh -c "$full" true 2>/dev/null; then
	for command in 'info small/of.weir' 'query --no-verify small/of.weir keys'; do
		# shellcheck disable=SC2086 # words
		run 2 unshare -m sh -c "$full" "$weir" $command
		says '^weir [a-z]*: small/of.weir: a page of it cannot be read: it is sparse'
		has shrank err && fail 'its file is as long as it was' || ok
	done
else
	echo 'skipped: no mount name space'
fi

finish
