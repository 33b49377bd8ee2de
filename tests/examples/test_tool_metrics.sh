#!/bin/bash
# SPDX-License-Identifier: MIT
# weir info --prometheus, read strictly; the metrics that the alert rules name exist; what becomes
# of a query whose image shrinks.
# test_tool_metrics.sh WEIR EXPOSITION ALERTS
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
prints '^weir_image_modified_seconds{image="day.weir"} [0-9.]*$'
prints '^weir_image_live{image="day.weir"} 0$'
prints '^weir_image_saturated{image="od\\"d\\\\\\\\033\[2J.weir"} 0$'
"$exposition" <text >image_names || fail "weir info --prometheus: no such text"
[ "$(wc -l <image_names)" = 11 ] && ok || fail "not 11 metrics" "$(cat image_names)"

# what cannot be read has a message, and the others their lines
run 2 "$weir" info --prometheus day.weir keys absent.weir
says 'keys: '
says 'absent.weir: '
prints '^weir_image_bytes{image="day.weir"} '
run 2 "$weir" info --prometheus keys
[ -s out ] && fail "metrics of nothing" || ok
run 2 "$weir" info --prometheus --json day.weir
says 'one of them'

# the alerts
"$exposition" handle >handle_text || fail "no metrics of a handle"
"$exposition" <handle_text >handle_names || fail "weir_handle_metrics(): no such text"
grep -o 'weir_[a-z_]*' <(grep 'expr:' "$alerts") | sort -u >named
[ "$(wc -l <named)" -ge 5 ] && ok || fail "few metrics in the alerts" "$(cat named)"
sort image_names handle_names >there
missing=$(comm -23 named there)
[ -z "$missing" ] && ok || fail "the alerts name what is no metric" "$missing"
for what in Saturated Stale Refused; do
	grep -q "alert: WeirSet$what" "$alerts" && ok || fail "no alert for $what"
done

# an image that shrinks while keys are looked up in it: a sentence, no signal
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

finish
