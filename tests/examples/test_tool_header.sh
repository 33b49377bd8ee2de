#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the header of a file of fields: it is not a key, and it names the column of the keys. Usage:
# test_tool_header.sh path/to/weir FORMS; FORMS as for test_tool_input.sh; "csv": quotes are read.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"
forms=" ${2-} "
strict='-n 1000 -p 1e-6' # no answer is yes by chance

# keys_are FILE KEY...: of the lines of ./known, exactly these are in the image.
keys_are() {
	local image=$1
	shift
	"$weir" query "$image" known >found 2>err
	same found <(printf '%s\n' "$@") "the keys of $image"
}

printf '%s\n' id email ann@x.test bob@x.test eve@x.test 1 2 3 'a, b' >known
printf 'id,email\n1,ann@x.test\n2,bob@x.test\n' >people.csv
printf 'email,id\neve@x.test,3\n' >others.csv

test_header_is_no_key() {
	run 0 "$weir" build --json $strict --header --field=2 -o h.weir people.csv
	json out 'j["keys"] == 2'
	keys_are h.weir ann@x.test bob@x.test
	run 0 "$weir" build --json $strict --header -o whole.weir people.csv others.csv
	json out 'j["keys"] == 3' # of each file the first line
	run 0 "$weir" query --header whole.weir people.csv
	same out <(tail -n +2 people.csv) 'the header is not printed either'
	run 0 "$weir" query --header --json whole.weir people.csv others.csv
	json out 'j["lines"] == 3 and j["maybe"] == 3'
	# Without the option the header is a line like any other.
	run 0 "$weir" build --json $strict --field=2 -o all.weir people.csv
	json out 'j["keys"] == 3'
	says '^weir build: hint: people.csv: the first line seems to name the columns, .*--header'
	local how
	for how in '--header --field=2' --field=email '--plain-keys --field=2'; do
		# shellcheck disable=SC2086
		run 0 "$weir" build -q $how -o hint.weir people.csv
		same err /dev/null "no hint with $how"
	done
	run 0 "$weir" build -q --field=2 -o hint.weir <(printf 'id,name\n1,Ann\n2,Bob\n')
	same err /dev/null 'no hint where other lines have words too'
	run 0 "$weir" build -q --field=2 -o hint.weir <(printf 'id,\n1,7\n2,8\n')
	same err /dev/null 'no hint of a name that is empty'
	run 0 "$weir" build -q --field=2 -o hint.weir <(printf 'id,name\n')
	same err /dev/null 'no hint of one line'
}

test_field_by_name() {
	run 0 "$weir" build --json $strict --field=email -o n.weir people.csv
	json out 'j["keys"] == 2'
	keys_are n.weir ann@x.test bob@x.test
	run 0 "$weir" build -q $strict --field=id -o id.weir people.csv; keys_are id.weir 1 2
	# The column's position is found in each file anew.
	run 0 "$weir" build --json $strict --field=email -o two.weir people.csv others.csv \
		people.csv
	json out 'j["keys"] == 5'
	keys_are two.weir ann@x.test bob@x.test eve@x.test
	run 0 "$weir" query -c --field=email -t 3 two.weir others.csv people.csv; prints '^3$'
	run 0 "$weir" build -q $strict --field=email --delimiter=';' -o s.weir \
		<(printf 'id;email\n1;ann@x.test\n')
	keys_are s.weir ann@x.test
	run 0 "$weir" build -q $strict --field=email --delimiter=tab -o s.weir \
		<(printf 'id\temail\n1\tbob@x.test\n')
	keys_are s.weir bob@x.test
	# A number is a position, even if a column has that name.
	run 0 "$weir" build -q $strict --header --field=2 -o s.weir <(printf '2,1\n3,ann@x.test\n')
	keys_are s.weir ann@x.test
	run 2 "$weir" build -q --field= -o s.weir people.csv; says "--field '': allowed: 1 to"
	run 2 "$weir" build -q --field=4294967295 -o s.weir people.csv
	says "--field '4294967295': allowed: 1 to 4294967294"
	# The last option wins.
	run 0 "$weir" build --json $strict --field=none --field=2 -o s.weir people.csv
	json out 'j["keys"] == 3'
}

test_forms_of_a_header() {
	local file
	printf '\xef\xbb\xbfid, email \r\n1,ann@x.test\r\n' >windows.csv
	run 0 "$weir" build -q $strict --field=email -o f.weir windows.csv
	keys_are f.weir ann@x.test
	run 0 "$weir" build -q $strict --field=id -o f.weir windows.csv; keys_are f.weir 1
	# Blanks around the name are ignored, in the option and in the header.
	run 0 "$weir" build -q $strict --field=' email ' -o f.weir people.csv
	keys_are f.weir ann@x.test bob@x.test
	# Without --comments a header may begin with # itself.
	printf '#id,email\n1,ann@x.test\n2,bob@x.test\n' >hash.csv
	run 0 "$weir" build -q $strict --field=email -o f.weir hash.csv
	keys_are f.weir ann@x.test bob@x.test
	run 0 "$weir" build --json $strict --header -o f.weir hash.csv; json out 'j["keys"] == 2'
	# Before the header, lines of blanks are skipped as empty lines are.
	printf '\r\n \t\nid,email\r\n1,ann@x.test\r\n' >blanks.csv
	run 0 "$weir" build -q $strict --skip-empty --field=email -o f.weir blanks.csv
	keys_are f.weir ann@x.test
	printf '# exported\n\nid,email\n# 1,ann@x.test\n2,bob@x.test' >comments.csv
	run 0 "$weir" build --json $strict --comments --skip-empty --field=email -o f.weir \
		comments.csv
	json out 'j["keys"] == 1'
	keys_are f.weir bob@x.test
	printf 'id,email\0001,ann@x.test\0' >nul.csv
	run 0 "$weir" build -q -0 $strict --field=email -o f.weir nul.csv
	keys_are f.weir ann@x.test
	gzip -c people.csv >people.csv.gz
	zstd -qc people.csv >people.csv.zst
	for file in people.csv.gz people.csv.zst; do
		run 0 "$weir" build -q $strict --field=email -o f.weir $file others.csv
		keys_are f.weir ann@x.test bob@x.test eve@x.test
	done
	for file in people.csv people.csv.gz; do
		run 0 bash -c "cat $file |
			'$weir' build -q -p 1e-6 --field=email -o f.weir - others.csv"
		keys_are f.weir ann@x.test bob@x.test eve@x.test
	done
	# A header alone, with or without a newline, or an empty file: no keys, and no error.
	printf 'id,email' >alone.csv
	: >none.csv
	run 0 "$weir" build -q $strict --allow-empty --field=email -o f.weir alone.csv none.csv \
		people.csv
	keys_are f.weir ann@x.test bob@x.test
	run 1 "$weir" query --field=email f.weir alone.csv none.csv; same out none.csv 'no lines'
}

test_quotes() {
	[[ $forms == *' csv '* ]] || return
	printf '"id","e ""mail"", all"\r\n1,"a, b"\r\n' >quoted.csv
	run 0 "$weir" build -q $strict --field='e "mail", all' -o q.weir quoted.csv
	keys_are q.weir 'a, b'
	printf '"id,email\n1,ann@x.test\n' >open.csv
	run 2 "$weir" build -q --field=email -o none.weir open.csv
	says '^weir build: open.csv: its first line names no columns: a quote that no'
	absent none.weir 'a header that is no line of fields'
}

# With --skip-bad, each line of a note in one cell was once taken as a row. A key in the note was
# then in the set, and the row's own key was not.
test_skip_bad_keeps_out_of_a_cell() {
	local how
	printf 'id,host,note\n1,good.test,"hello\n2,evil.test,x\nbye"\n3,fine.test,ok\n' >cell.csv
	printf 'id,host,note\n1,good.test, "a ""b"" c\n2,evil.test,x\nbye"\n' >blank.csv
	rm -f cell.weir
	for how in --field=host '--field=2 --header' '--field=2 -t 1'; do
		# shellcheck disable=SC2086
		run 2 "$weir" build -q $how --skip-bad -o cell.weir cell.csv
		says '^weir build: cell.csv:2: a quote that no other ends on its line: .* one line$'
		# shellcheck disable=SC2086
		run 2 "$weir" build -q $how --skip-bad -o cell.weir blank.csv
		says 'blank.csv:2: a quote that no other ends on its line'
	done
	printf 'id,"host\n1,x","note"\n1,good.test,x\n' >cell_head.csv
	run 2 "$weir" build -q --header --field=2 --skip-bad -o cell.weir cell_head.csv
	says 'cell_head.csv: its first line ends within a quoted field: write the names of the'
	run 2 "$weir" build -q --field=note --skip-bad -o cell.weir cell_head.csv
	says 'cell_head.csv: its first line names no columns: a quote that no other ends'
	absent cell.weir 'a set of the lines of a cell'
	run 0 "$weir" build -q -k counting $strict -o cell.weir <(echo fine.test)
	for how in query count; do
		run 2 "$weir" $how --field=host --skip-bad cell.weir cell.csv
		says "^weir $how: cell.csv:2: a quote that no other ends on its line"
		prints '3,fine.test,ok$'
	done
	run 2 "$weir" add -q --field=host --skip-bad cell.weir cell.csv; says 'cell.csv:2: a quote'
	# With tabs a quote is an ordinary byte.
	run 0 "$weir" build -q $strict --field=2 --delimiter=tab --skip-bad -o t.weir \
		<(printf '1\t"a\n2\t3\n')
	keys_are t.weir 3
	# --skip-bad skips rows with a missing field or with a quote inside a field.
	run 0 "$weir" build --json $strict --field=2 --skip-bad -o t.weir \
		<(printf '1,3\n2\n3,5" disk\n')
	json out 'j["keys"] == 1 and j["passed_over"] == 2'
}

# After a blank line the header was once taken as a key.
test_a_first_line_that_is_no_header() {
	local how
	rm -f blank.weir
	{ echo; cat people.csv; } >blank.csv
	{ printf ' \r\n'; cat people.csv; } >blank_too.csv
	for how in '' --field=2 --field=email; do
		# shellcheck disable=SC2086
		run 2 "$weir" build -q --header $how -o blank.weir blank.csv
		says '^weir build: blank.csv: its first line is blank, and is to name the columns: '
		# shellcheck disable=SC2086
		run 2 "$weir" build -q --header $how -o blank.weir blank_too.csv
		says 'blank_too.csv: its first line is blank'
		# shellcheck disable=SC2086
		run 0 "$weir" build --json --header --skip-empty $how -o b.weir blank.csv
		json out 'j["keys"] == 2'
	done
	{ echo 'exported today'; cat people.csv; } >title.csv
	run 2 "$weir" build -q --header --field=2 -o blank.weir people.csv title.csv
	says '^weir build: title.csv: its first line names no column 2: it has 1: write the names'
	says 'columns there, or give --delimiter=C$'
	{ echo '"a, b",c'; cat people.csv; } >title.csv
	run 2 "$weir" build -q --header --field=3 -o blank.weir title.csv
	says 'its first line names no column 3: it has 2: write the names of the columns there$'
	absent blank.weir 'a set with a header in it'
	run 0 "$weir" build -q $strict --field=email -o n.weir people.csv
	run 2 "$weir" query --header --field=2 n.weir blank.csv people.csv
	says '^weir query: blank.csv: its first line is blank'
	same out <(tail -n +2 people.csv) 'query goes on with the next file'
}

# Only the first file was once checked.
test_hint_of_a_later_header() {
	printf '1,ann@x.test\n2,bob@x.test\n' >bare.csv
	run 0 "$weir" build -q -t 2 --field=1 -o hint.weir bare.csv people.csv others.csv
	says '^weir build: hint: people.csv: the first line seems to name the columns, and is a key'
	run 0 "$weir" build -q --field=1 -k fuse -o hint.weir bare.csv people.csv
	if [ "$(grep -c hint: err)" = 1 ]; then ok; else fail 'one hint' "$(cat err)"; fi
	run 0 "$weir" build -q --field=1 -o hint.weir bare.csv bare.csv
	same err /dev/null 'no hint where no file has a header'
}

test_wrong_names() {
	run 2 "$weir" build -q --field=mail -o none.weir people.csv
	says "^weir build: people.csv: no column is named 'mail': its first line has id, email\$"
	run 2 "$weir" build -q --field=Email -o none.weir people.csv; says 'has id, email$'
	run 2 "$weir" build -q --field=email --delimiter=';' -o none.weir people.csv
	says 'its first line has id,email: one column; --delimiter=C says what is between two$'
	printf 'id,email,email\n1,a,b\n' >twice.csv
	run 2 "$weir" build -q --field=email -o none.weir twice.csv
	says "twice.csv: columns 2 and 3 are both named 'email': give the number of one, --field=2"
	run 0 "$weir" build -q --field=id -o id.weir twice.csv # another name may come twice
	seq -s , -f 'a_long_name_of_a_column_%.0f' 1 1000 >wide.csv
	run 2 "$weir" build -q --field=x -o none.weir wide.csv
	says 'has a_long_name_of_a_column_1, a_long.*, \.\.\.$'
	printf '%0200d,%0197d\n' 1 2 >edge.csv # as much as is shown, and a byte more
	run 2 "$weir" build -q --field=x -o none.weir edge.csv; says 'has 0*1, 0*2$'
	printf '%0200d,%0198d\n' 1 2 >edge.csv
	run 2 "$weir" build -q --field=x -o none.weir edge.csv; says 'has 0*1, \.\.\.$'
	{ echo id,; head -c 100000 /dev/zero | tr '\0' x; } | tr -d '\n' >long.csv
	run 2 "$weir" build -q --field=x -o none.weir long.csv; says 'has id, \.\.\.$'
	run 2 "$weir" build -q --field=$'\e[31m' -o none.weir people.csv; says "'.033\[31m'"
	absent none.weir 'a column that is not there'
	# The second file is checked too. A file that lacks the column does not stop query.
	printf 'id,mail\n9,nobody\n' >lacks.csv
	run 2 "$weir" build -q --field=email -o none.weir people.csv lacks.csv
	says "^weir build: lacks.csv: no column is named 'email'"
	run 0 "$weir" build -q $strict --field=email -o n.weir people.csv
	run 2 timeout 60 "$weir" query -t 2 --field=email n.weir lacks.csv people.csv
	says "^weir query: lacks.csv: no column is named 'email': its first line has id, mail"
	same out <(tail -n +2 people.csv) 'query goes on with the next file'
	# A line's number counts the header.
	printf 'id,email\n1,ann@x.test\n2\n' >short.csv
	run 2 "$weir" build -q --field=email -o none.weir short.csv
	says 'short.csv:3: field 2 is asked for, and the line has 1'
	run 0 "$weir" build --json --field=email --skip-bad -o n.weir short.csv
	json out 'j["keys"] == 1 and j["passed_over"] == 1'
}

# --field works in every command that has it.
test_commands() {
	run 0 "$weir" build -q $strict -k counting --field=email -o c.weir people.csv
	run 0 "$weir" count --field=email c.weir people.csv
	same out <(printf '1\t1,ann@x.test\n1\t2,bob@x.test\n') 'count'
	run 0 "$weir" count --header --field=1 c.weir people.csv
	same out <(printf '0\t1,ann@x.test\n0\t2,bob@x.test\n') 'count --header'
	run 0 "$weir" add -q --field=email c.weir others.csv
	keys_are c.weir ann@x.test bob@x.test eve@x.test
	run 0 "$weir" remove -q --field=email c.weir people.csv; keys_are c.weir eve@x.test
	run 2 "$weir" remove -q --field=mail c.weir people.csv; says "named 'mail'"
	run 0 "$weir" build -q -k layered --field=email --exclude=others.csv -o l.weir people.csv
	run 1 "$weir" query --field=email l.weir others.csv
	printf 'email,id\nann@x.test,7\n' >both.csv
	run 1 "$weir" build -q -k layered --field=email --exclude=both.csv -o l.weir people.csv
	says "people.csv:2 'ann@x.test' is excluded by both.csv:2"
}

# Threads read pieces of a file in turn, and each thread must know the column.
test_many_pieces() {
	{ echo email,id; seq -f 'key-%.0f,x' 1 300000; } >left.csv
	{ echo id,email; seq -f 'x,key-%.0f' 300001 600000; } >right.csv
	seq -f 'key-%.0f' 1 600000 >wanted
	run 0 "$weir" build --json -t 4 -p 0.1% --field=email -o m.weir left.csv right.csv left.csv
	json out 'j["keys"] == 900000'
	run 0 "$weir" query -c m.weir wanted; prints '^600000$'
	run 0 "$weir" query -c -t 4 --field=email m.weir right.csv left.csv; prints '^600000$'
	# A line's number counts the header, also in a later piece.
	{ cat left.csv; echo short; } >late.csv
	run 2 "$weir" build -q --field=id -o none.weir late.csv
	says 'late.csv:300002: field 2 is asked for, and the line has 1'
}

for part in header_is_no_key field_by_name forms_of_a_header quotes skip_bad_keeps_out_of_a_cell \
		a_first_line_that_is_no_header hint_of_a_later_header wrong_names commands \
		many_pieces; do
	test_$part
done
finish
