#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests hints about lists whose lines are keys in a wrapping, which lookups of bare keys do not
# find. Each of these lists was once built silently. Ordinary keys get no hint. Usage:
# test_tool_hints.sh path/to/weir
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# hint PATTERN LIST: a build of the text LIST (printf's format) prints this hint and no other.
hint() {
	printf '%b' "$2" >list
	run 0 "$weir" build -q --force --allow-shrink -o hint.weir list
	says "^weir build: hint: $1"
	[ "$(grep -c hint: err)" = 1 ] && ok || fail "one hint of '$2'" "$(cat err)"
}
# no_hint LIST: a build of the text prints no hint.
no_hint() {
	printf '%b' "$1" >list
	run 0 "$weir" build -q --force --allow-shrink -o hint.weir list
	same err /dev/null "no hint of '$1'"
}

test_wrapped_keys() {
	local first='list: each of the first 2 lines is' psql='as psql -At and mysql -N -B do$'
	hint "$first JSON, and is a key as a whole: jq -r " '{"id":1,"e":"x"}\n{"id":2,"e":"y"}\n'
	hint 'list: the first line is JSON' '{"id":1}'
	hint 'list: the first line is JSON' '[ "a", "b" ]\n'
	hint "$first a statement of SQL, .*$psql" \
		"INSERT INTO t VALUES (1,'a');\n insert into t values (2,'b');\n"
	hint "$first in quotes, which are part of the key" '"a"\n"b c"\n'
	hint "$first in quotes" "'a'\n'b c'\n"
}

test_tables() {
	local table='list: is a table with a line below the names: .*mysql -N -B do$'
	hint "$table" ' id | email \n----+-------\n  1 | a@b.c\n  2 | d@e.f\n(2 rows)\n\n'
	hint "$table" ' email \n-------\n a@b.c\n(1 row)\n'
	hint "$table" '+----+\n| id |\n+----+\n|  1 |\n+----+\n'
	hint "list: each of the first 4 lines has 1 bar, .*: --field=N --delimiter='|' takes one" \
		'a|1\nb|2\nc|3\nd|4\n'
}

test_a_list_on_one_line() {
	local list='list: the only line is one key, and looks like a list of 4: write one key a'
	hint "$list line, as tr ',' '.n' does$" 'a,b,c,d\n'
	hint "$list" 'a, b, c, d'
	hint "$list" '/a,/b,/c,/d'
	hint "$list line, as tr ' ' '.n' does$" 'user1 user2 user3 user4\n'
	hint "$list" 'a@b.c d@e.f g@h.i j@k.l\n'
	run 0 "$weir" query hint.weir <(echo 'a@b.c d@e.f g@h.i j@k.l')
	same err /dev/null 'a lookup of one key'
}

test_blanks_around_keys() {
	local blanks='the lines have blanks before or behind the keys, .*: --trim takes them off$'
	hint "$blanks" 'a \nb \n'
	hint "$blanks" ' a\nb \n'
	no_hint 'a \nb\n'
	no_hint 'a \n'
	run 0 "$weir" build -q --trim -o trim.weir <(printf 'a \nb \n')
	same err /dev/null --trim
}

test_keys_that_are_meant_get_no_hint() {
	no_hint 'https://x.test/?a=1,2,3,4\n'
	no_hint '/a/b, c/d\n/var/log/x-y\n/etc/a,b\n'
	no_hint 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1\n'
	no_hint 'The quick, brown fox, jumps, over the, dog.\n'
	no_hint 'One two three four five 6.\n'
	no_hint '{6B29FC40-CA47-1067-B31D-00DD010662DA}\n{7B29FC40-CA47-1067-B31D-00DD010662DA}\n'
	no_hint '[::1]:80\n[fe80::1]:80\n'
	no_hint '"a" and "b"\n"c" or "d"\n'
	no_hint '"key"\n'
	no_hint 'Insert into the slot\nInsert into a box\n'
	no_hint 'a\n---\nb\n'
	no_hint ' \n'
	run 0 "$weir" build -q --plain-keys -o plain.weir <(printf '{"a":1}\n')
	same err /dev/null --plain-keys
}

# In 13 of 200 builds of one key the estimate was very wrong. Seeds 1 to 60 include such builds.
test_a_few_keys_are_not_said_to_repeat() {
	local seed
	for seed in $(seq 60); do
		"$weir" build -s "$seed" --force -o one.weir <(echo key1)
	done >out 2>err
	! has 'repeat others' out && ok || fail 'one key repeats' "$(grep -c repeat out)"
	run 0 "$weir" build -o many.weir <(seq 1000; seq 1000)
	prints 'hint  *about [45][0-9] % of the lines repeat others: -n [0-9]* makes room'
}

test_wrapped_keys
test_tables
test_a_list_on_one_line
test_blanks_around_keys
test_keys_that_are_meant_get_no_hint
test_a_few_keys_are_not_said_to_repeat
finish
