#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests weir parquet, and weir query with a Parquet file's column. Usage: test_tool_parquet.sh
# path/to/weir FOLDER (tests/parquet).
files=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"
cp "$files"/*.parquet .

# ask COLUMN ANSWERS TEXT...: weir query prints ANSWERS for these texts, with lines joined by ;.
ask() {
	local column=$1 want=$2 got
	shift 2
	printf '%s\n' "$@" >texts
	"$weir" query "$column" texts >out 2>err
	got=$(tr '\t' ' ' <out | paste -sd ';')
	[ "$got" = "$want" ] && ok || fail "$column $*: '$got', not '$want'" "$(cat err)"
}
# wrong COLUMN TEXT SENTENCE [OPTION...]: the text is refused as a value.
wrong() {
	local column=$1 text=$2 sentence=$3
	shift 3
	printf '%s\n' "$text" >texts
	run 2 "$weir" query "$@" "$column" texts
	says "^weir query: texts:1: '$text' is not a value of type $sentence"
}

# Value n of row group g is number 32 g + n (tests/parquet/make.mjs).
test_types() {
	local uuid=00000000-0000-4000-8000-000000000064
	ask numbers.parquet:i32 '-20000 0;12288 1;+75855 2' -20000 12288 5 +75855
	ask numbers.parquet:i64 '0 0;95000000665 2' 0 95000000665 9223372036854775807
	ask numbers.parquet:u32 '4250227990 2;44739242 0' 4250227990 44739242 4294967295
	ask numbers.parquet:f '0.1 0;3.2 1;1e-1 0;0x1.99999ap-4 0' 0.1 3.2 1e-1 0x1.99999ap-4
	ask numbers.parquet:d '0 0;-0.0 0;28.5 2' 0 -0.0 28.5 inf
	ask texts.parquet:s 'name 0 0;name 95 2' 'name 0' 'name 95' 'name 96' ' name 0'
	ask texts.parquet:b 'raw 33 1' 'raw 33'
	ask texts.parquet:id "$uuid 2;${uuid//-/} 2" $uuid ${uuid//-/} ${uuid/64/96}
	ask nested.parquet:top.a '0 0;95 2' 0 95 96
	ask nested.parquet:top.b.c 'deep 40 1' 'deep 40'
	ask nested.parquet:list.list.element 'item 7 0' 'item 7'
	ask dated.parquet:day '2000-02-28 0;2000-02-29 0;2000-03-31 1' 2000-02-28 2000-02-29 \
		2000-03-31 2001-03-01
	ask dated.parquet:price '1.25 0;40 1;118.75 2;1.250 0' 1.25 40 118.75 1.250 0.01
	ask dated.parquet:total '12345678.75 0' 12345678.75 -12345678.75
}

# A text that is not exactly a value is refused, because the answer no would be believed.
test_no_values() {
	local text
	for text in '' abc 1.5 ' 1' '1 ' 2147483648 -2147483649 1e3 0x10 99999999999999999999; do
		wrong numbers.parquet:i32 "$text" \
			'INT32: a whole number from -2147483648 to 2147483647'
	done
	for text in 9223372036854775808 -9223372036854775809; do
		wrong numbers.parquet:i64 $text \
			'INT64: a whole number from -9223372036854775808 to 9223372036854775807'
	done
	wrong numbers.parquet:i32 18446744073709551620 'INT32: a whole number' # 2^64 + 4
	wrong dated.parquet:total 184467440737095517 \
		'INT64 DECIMAL: a number of up to 2 decimals' # 2^64 + 84 as it is stored
	for text in -1 4294967296; do
		wrong numbers.parquet:u32 $text \
			'INT32 UNSIGNED: a whole number from 0 to 4294967295'
	done
	for text in nan '' '0.1 ' ' 0.1' 1,5 1e39; do
		wrong numbers.parquet:f "$text" 'FLOAT: '
	done
	for text in NaN 1e309 -1e309 abc; do wrong numbers.parquet:d "$text" 'DOUBLE: '; done
	for text in 2000-2-28 2001-02-29 2000-00-01 2000-13-01 0000-01-01 11015 1900-02-29 \
		2000-02-28x 2000-04-31; do
		wrong dated.parquet:day "$text" 'INT32 DATE: YYYY-MM-DD'
	done
	for text in 1.255 1..2 . - 21474836.48 1e2; do
		wrong dated.parquet:price "$text" 'INT32 DECIMAL: a number of up to 2 decimals'
	done
	for text in 00000000-0000-4000-8000-00000000006 00000000-0000-4000-8000-00000000006g \
		00000000-0000-4000-80000-0000000006; do
		wrong texts.parquet:id "$text" 'FIXED_LEN_BYTE_ARRAY UUID: 32 hexadecimal digits'
	done
	wrong texts.parquet:b 6 'BYTE_ARRAY: hexadecimal digits' --stored
	wrong texts.parquet:b 6g 'BYTE_ARRAY: hexadecimal digits' --stored
	wrong dated.parquet:price 1.25 'INT32 DECIMAL: a whole number' --stored
	printf '1\nx\n-20000\n' >texts
	run 0 "$weir" query --skip-bad numbers.parquet:i32 texts
	says '^weir query: lines passed over: 1$'
	prints '^-20000	0$'
}

test_stored() {
	printf '%s\n' 11015 11016 99 >texts
	run 0 "$weir" query --stored dated.parquet:day texts; prints '^11016	0$'
	printf '%s\n' 125 >texts
	run 0 "$weir" query --stored dated.parquet:price texts; prints '^125	0$'
	printf '%s\n' 1704067200000000 >texts
	run 0 "$weir" query --stored dated.parquet:at texts; prints '^1704067200000000	0$'
	run 2 "$weir" query dated.parquet:at texts
	says '^weir query: dated.parquet:at: weir reads no text as INT64 TIMESTAMP: '
	printf '%s\n' 726177203333 7261772033333 >texts
	run 2 "$weir" query --stored texts.parquet:b texts
	prints '^726177203333	1$'
	says "texts:2: '7261772033333' is not a value of type BYTE_ARRAY"
	run 2 "$weir" query dated.parquet:flag texts
	says '^weir query: dated.parquet:flag: type BOOLEAN: filters of such columns are not '
}

test_a_column_is_not_keyed() {
	(umask 077; head -c 16 /dev/urandom >key)
	run 2 "$weir" query --keyed-by=key numbers.parquet:i64 /dev/null
	says '^weir query: --keyed-by: numbers.parquet:i64 is not keyed$'
}

test_options() {
	printf '%s\n' -20000 4 12288 5 >texts
	run 0 "$weir" query -v numbers.parquet:i32 texts
	printf '4\n5\n' >want; same out want 'those in no row group'
	run 0 "$weir" query -c numbers.parquet:i32 texts; printf '2\n' >want; same out want '-c'
	run 0 "$weir" query -cv numbers.parquet:i32 texts; same out want '-cv'
	run 0 "$weir" query -q numbers.parquet:i32 texts; : >want; same out want '-q'
	printf 'name,value\nx,-20000\ny,4\n' >table.csv
	run 0 "$weir" query --field=value numbers.parquet:i32 table.csv
	printf 'x,-20000\t0\n' >want; same out want '--field=value'
	run 0 "$weir" query --json numbers.parquet:i32 texts
	json out 'j["keys"] == [{"key": "-20000", "row_groups": [0]},' \
		'{"key": "12288", "row_groups": [1]}]'
	json out '(j["lines"], j["maybe"], j["absent"], j["passed_over"]) == (4, 2, 2, 0)'
	json out '[(g["row_group"], g["rows"], g["filter"], g["maybe"]) for g in j["row_groups"]]' \
		'== [(0, 2048, True, 1), (1, 2048, True, 1), (2, 2048, True, 0)]'
	printf '%s\n' -20000 5 12288 75855 >texts
	run 0 "$weir" query --json -v numbers.parquet:i32 texts
	json out '(j["lines"], j["maybe"], j["absent"]) == (4, 3, 1) and len(j["keys"]) == 1'
	printf '4\n' >texts
	run 1 "$weir" query numbers.parquet:i32 texts
	run 1 "$weir" query -q numbers.parquet:i32 texts
	run 1 "$weir" query --json numbers.parquet:i32 texts; json out 'j["keys"] == []'
	printf '# ids\nx,  12288\n' >texts
	run 0 "$weir" query --comments --field=2 --trim numbers.parquet:i32 texts
	prints '^x,  12288	1$'
	printf '12288\0004\000' >texts
	run 0 "$weir" query -0 numbers.parquet:i32 texts
	printf '12288\t1\0' >want; same out want '-0'
	run 2 "$weir" query --suffixes numbers.parquet:i32 texts
	says 'not for the column of a Parquet'
	run 2 "$weir" query --forget-older numbers.parquet:i32 texts; says 'is not a window'
	run 2 "$weir" query --max-memory=10 numbers.parquet:i32 texts; says '--max-memory allows'
	run 2 "$weir" query --max-memory=100K numbers.parquet:i32 nothing; says 'nothing: '
}

# Each filter alone would fit, but the filters of all row groups are in memory at once.
test_memory_of_all_row_groups() {
	python3 -B "$files/large.py" large.parquet 3 1048576
	echo 5 >texts
	run 1 "$weir" query --max-memory=4M large.parquet:c texts
	same err /dev/null 'there is room'
	run 2 "$weir" query --max-memory=2560K large.parquet:c texts
	says '^weir query: large.parquet: its footer or its filters need more .* (2.50 MiB)$'
}

# More lines than one batch, and every value in its row group.
test_many() {
	local n
	for n in $(seq 0 95); do echo "name $n"; done >texts
	for n in $(seq 1 30); do cat texts; done >many
	run 0 "$weir" query texts.parquet:s many
	awk -F'\t' '{ sub("name ", "", $1); if (index(","$2",", "," int($1 / 32) ",")) right++ }
		END { print right }' out >found
	echo 2880 >want; same found want 'values that were found'
	# a zero has two hashes, so these lines have more than one batch
	{ yes 0 | head -n 400; yes 28.5 | head -n 100; } >zeros
	run 0 "$weir" query numbers.parquet:d zeros
	sort out | uniq -c | tr -s ' \t' ' ' >found
	printf ' 400 0 0\n 100 28.5 2\n' >want; same found want 'lines behind zeros'
}

test_no_filter() {
	seq 3 >texts
	run 0 "$weir" query without.parquet:d texts
	says '^weir query: without.parquet:d: 2 of 2 row groups have no filter, and may hold any '
	printf '1\t0,1\n2\t0,1\n3\t0,1\n' >want; same out want 'row groups without a filter'
	run 1 "$weir" query -v without.parquet:d texts
	run 1 "$weir" parquet without.parquet; says 'no column has a filter'
	run 1 "$weir" parquet --json without.parquet
	json out 'j["filters"] == [] and j["columns"] == 1'
	run 1 "$weir" parquet --all without.parquet; prints ' d .* no filter'
}

test_names() {
	run 2 "$weir" query dated.parquet texts
	says '^weir query: dated.parquet: name a column of this file, dated.parquet:COLUMN; it has'
	run 2 "$weir" query dated.parquet:dy texts
	says '^weir query: dated.parquet: has no column dy; it has: day, price, total, at, flag$'
	run 2 "$weir" query dated.parquet: texts; says 'has no column ; it has'
	run 2 "$weir" query none.parquet:day texts; says 'none.parquet:day: '
	echo 2000-02-28 >texts
	cp dated.parquet a:b.parquet
	run 0 "$weir" query a:b.parquet:day texts
	run 2 "$weir" query --stored keys texts
	says '--stored: keys is not a column of a Parquet file'
	head -c 3000 dated.parquet >cut.parquet
	run 2 "$weir" query cut.parquet:day texts
	says '^weir query: cut.parquet: not a Parquet file'
	printf 'PAREPARE\0\0\0\0PARE' >secret.parquet
	run 2 "$weir" query secret.parquet:day texts; says 'footer is encrypted'
	run 2 "$weir" parquet secret.parquet
	says '^weir parquet: secret.parquet: its footer is enc'
}

test_list() {
	run 0 "$weir" parquet numbers.parquet
	prints '^ *group *column *type *rows *bytes *blocks *offset *keys *rate$'
	prints '^ *2 *u32 *INT32 UNSIGNED *2,048 *64 bytes *2 *[0-9]'
	run 0 "$weir" parquet --json texts.parquet
	json out '(j["file"], j["columns"], j["row_groups"], len(j["filters"]))' \
		'== ("texts.parquet", 3, 3, 9)'
	json out 'j["filters"][8]["column"] == "id" and j["filters"][8]["logical"] == "UUID"'
	json out '{(f["blocks"], f["bytes"], f["rows"], f["filter"]) for f in j["filters"]}' \
		'== {(2, 64, 2048, True)}'
	json out 'all(25 < f["keys_estimated"] < 40 and 0 < f["fp_rate_estimated"] < 0.01' \
		'for f in j["filters"])'
	run 0 "$weir" parquet --all dated.parquet; prints ' flag *BOOLEAN *2,048 *no filter'
	run 2 "$weir" parquet; says 'the file is missing'
	run 2 "$weir" parquet a.parquet b.parquet; says 'one file at a time'
	run 2 "$weir" parquet --max-memory=10 numbers.parquet; says '--max-memory allows'
	run 2 "$weir" parquet keys; says '^weir parquet: keys: not a Parquet file'
	run 0 "$weir" parquet --help; prints '^Usage: weir parquet'
}

# make_groups FILE N: make a file with a column c and N row groups without a filter.
make_groups() {
	python3 - "$1" "$2" <<-'EOF'
		import struct, sys
		n = int(sys.argv[2])
		varint = bytes((n >> 7 * i & 127) | (128 if n >> 7 * (i + 1) else 0)
		               for i in range(5) if n >> 7 * i)
		schema = b'\x48\1r\x15\2\0' + b'\x15\4\x38\1c\0'
		meta = b'\x15\4\x29\x18\1c\x26\2\0'
		group = b'\x19\x1c\x3c' + meta + b'\0\x26\2\0'
		footer = b'\x29\x2c' + schema + b'\x29\xfc' + varint + group * n + b'\0'
		tail = struct.pack('<I', len(footer)) + b'PAR1'
		open(sys.argv[1], 'wb').write(b'PAR1' + footer + tail)
	EOF
}

# Each cell once cost as much as all cells of its column, so this took an hour.
test_long_table() {
	make_groups groups.parquet 200000
	run 1 "$weir" parquet --all groups.parquet
	[ "$(wc -l <out)" = 200001 ] && ok || fail "$(wc -l <out) lines" "$(head -c 300 err)"
	prints '^199999  c  *INT64 *1  no filter'
}

test_types
test_no_values
test_stored
test_options
test_memory_of_all_row_groups
test_many
test_no_filter
test_names
test_list
test_long_table
finish
