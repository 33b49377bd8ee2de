#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the forms of input files of the weir command. Usage: test_tool_input.sh path/to/weir FORMS.
# FORMS: the compressed forms that the command reads besides gzip and zstd, from "xz bzip2". Prints
# the failed checks and their number; exits with 1 if any failed.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"
forms=${2-}

# packed FORM ENDING: a file in this form is read, is refused if damaged, or is refused by name.
packed() {
	local form=$1 file=keys.$2
	command -v "$form" >/dev/null || return
	"$form" -c keys >"$file"
	if [[ " $forms " != *" $form "* ]]; then
		run 2 "$weir" build -q -o in.weir "$file"
		says "^weir build: $file: is in $form format, and this weir was built without"
		return
	fi
	{ head -n 1000 keys | "$form" -c; tail -n +1001 keys | "$form" -c; } >members
	local input
	for input in "$file" members; do
		run 0 "$weir" build -q -s 7 -p 1% -o in.weir "$input"
		same in.weir one.weir "$input"
		run 0 bash -c "cat $input | '$weir' build -q -s 7 -p 1% -o in.weir"
		same in.weir one.weir "$input through a pipe"
		run 0 "$weir" query one.weir "$input"; same out keys "query $input"
	done
	head -c 1000 "$file" >"short_$file"
	run 2 "$weir" build -q -o cut.weir "short_$file"; says "short_$file: .*cut short"
	{ head -c 1000 "$file"; head -c 2000 /dev/zero; tail -c +3001 "$file"; } >"bad_$file"
	run 2 "$weir" build -q -o cut.weir "bad_$file"; says "bad_$file: damaged $form data: "
	{ cat "$file"; echo more than a header; } >"more_$file"
	run 2 "$weir" build -q -o cut.weir "more_$file"; says "damaged $form data: "
	cp keys "wrong_$file"
	run 2 "$weir" build -q -o cut.weir "wrong_$file"; says "named .$2 but not in $form format"
	"$form" -c </dev/null >"empty_$file"
	run 0 "$weir" build --json --allow-empty -o empty.weir "empty_$file"
	json out 'j["keys"] == 0'
	run 0 "$weir" build -q --as-is -o as_is.weir "$file"
	absent cut.weir 'damaged input'
}

test_packed() {
	run 0 "$weir" build -q -s 7 -p 1% -o one.weir keys
	packed xz xz
	packed bzip2 bz2
	# Text that begins like a bzip2 file.
	printf 'BZh9 is a key\nBZh\n' >text
	run 0 "$weir" build --json -o text.weir text; json out 'j["keys"] == 2'
	printf 'BZh91AY' >text
	run 0 "$weir" build --json -o text.weir text; json out 'j["keys"] == 1'
}

test_trim_comments_lowercase() {
	printf '\xef\xbb\xbf# a list\r\n Alpha \r\n\tBETA\n  # not blank\n\n#\ngamma delta' >list
	printf 'alpha\nbeta\ngamma delta\n' >wanted
	run 0 "$weir" build --json -s 7 --trim --comments --lowercase --skip-empty -o t.weir list
	json out 'j["keys"] == 3 and j["normalised"] == "trim, lowercase"'
	run 0 "$weir" query t.weir wanted; same out wanted 'the set lowercases and trims'
	printf 'ALPHA\r\n  beta\n' >other
	run 0 "$weir" query t.weir other; same out other 'lines are printed as they are'
	run 1 "$weir" query t.weir <(echo 'gammadelta')
	run 0 "$weir" query -c --comments t.weir list; prints '^3$'
	run 0 "$weir" query --comments --json -v t.weir list
	json out 'j["lines"] == 4 and j["absent"] == 1' # the empty line
	run 0 "$weir" query -v --skip-empty t.weir <(printf ' \r\n\nother\n'); prints '^other$'
	same out <(echo other) 'what is empty once trimmed is passed over'
	run 0 "$weir" info --json t.weir
	json out 'j[0]["format"] == 2 and j[0]["normalised"] == "trim, lowercase"'
	printf '#x\n #y\n' >list2
	run 0 "$weir" build --json --comments -o c.weir list2; json out 'j["keys"] == 1'
	# Options that describe the file are not saved in the image.
	run 0 "$weir" build -q -s 7 -n 10 -p 1% --comments -o file.weir <(printf '#x\nkey\n')
	run 0 "$weir" build -q -s 7 -n 10 -p 1% -o plain.weir <(printf 'key\n')
	same file.weir plain.weir 'options of the file change no image'
	run 0 "$weir" query --trim --lowercase plain.weir <(printf ' KEY\r\n')
}

test_fields() {
	printf 'id,name\n1,"a ""b"", c"\r\n2,plain\n3,\n4, blank \n' >t.csv
	printf 'a "b", c\nplain\n\n blank \nname\n' >names
	if [[ " $forms " != *" csv "* ]]; then
		# The lines are valid, so the remedy is a library that reads them, not --skip-bad.
		run 2 "$weir" build -q --field=2 -o f.weir t.csv
		says 't.csv:2: a quote, .* without libcsv: build it with libcsv-dev installed, or'
		printf 'id,name\n1,a b c\r\n2,plain\n3,\n4, blank \n' >t.csv
	fi
	run 0 "$weir" build --json --field=2 -o f.weir t.csv; json out 'j["keys"] == 5'
	if [[ " $forms " == *" csv "* ]]; then
		run 0 "$weir" query f.weir names; same out names 'fields'
		printf 'x\ry,"z"\n' >return.csv # not the y as field 2
		run 2 "$weir" build -q --field=2 -o f3.weir return.csv
		says 'return.csv:1: a carriage return or newline between fields'
		printf 'x\ny,"z"\0' >newline.csv
		run 2 "$weir" build -q -0 --field=2 -o f3.weir newline.csv
		says 'newline between fields'
	fi
	run 0 "$weir" query -c --field=2 f.weir t.csv; prints '^5$'
	run 0 "$weir" build --json --field=2 --skip-empty -o f.weir t.csv; json out 'j["keys"] == 4'
	run 2 "$weir" build -q --field=3 -o f3.weir t.csv
	says '^weir build: t.csv:1: field 3 is asked for, and the line has 2'
	printf '1,"open\n2,b"c\n3,d\n' >open.csv
	run 2 "$weir" build -q --field=2 -o f3.weir open.csv; says 'open.csv:1: a quote'
	printf '1,a"b\n2,b"c\n3,d\n' >within.csv
	run 0 "$weir" build --json --skip-bad --field=2 -o f3.weir within.csv
	json out 'j["keys"] == 1 and j["passed_over"] == 2'
	if [[ " $forms " == *" csv "* ]]; then
		# After a wrong line the next line is read from its beginning.
		printf '1,"x"y\n2,"d"\n3,"x"y\n4,"e"\n' >within.csv
		run 0 "$weir" build --json --skip-bad --field=2 -o f3.weir within.csv
		json out 'j["keys"] == 2 and j["passed_over"] == 2'
		run 0 "$weir" query -c f3.weir <(printf 'd\ne\n'); prints '^2$'
		# Blanks are part of a field, and the given delimiter is used with quotes too.
		run 0 "$weir" build -q --field=2 -o f3.weir <(printf '"1", b ,c\n')
		run 0 "$weir" query -c f3.weir <(printf ' b \n'); prints '^1$'
		run 0 "$weir" build -q --field=2 --delimiter=';' -o f3.weir <(echo '"a;b,";c,d')
		run 0 "$weir" query -c f3.weir <(echo 'c,d'); prints '^1$'
	fi
	printf '1\t"x\n2\ty\n' >t.tsv
	run 0 "$weir" build -q --field=2 --delimiter=tab -o f.weir t.tsv
	run 0 "$weir" query -c f.weir <(printf '"x\ny\n'); prints '^2$'
	run 0 "$weir" build -q --field=2 --delimiter=';' -o f.weir <(echo 'a;b')
	run 2 "$weir" build -q --field=0 -o f.weir t.csv; says 'field'
	run 2 "$weir" build -q --field=1 --delimiter=ab -o f.weir t.csv; says 'one byte'
	run 2 "$weir" build -q --delimiter=, -o f.weir t.csv; says 'which field'
}

test_hosts_and_suffixes() {
	cat >hosts <<-'END'
		# ads
		127.0.0.1  localhost	# here

		0.0.0.0 Ads.Example.COM b.test.
		fe80::1%lo0 zone.test
		address=/c.d.test/e.test/0.0.0.0
		server=/f.test/192.0.2.1#53
		plain.org
	END
	run 0 "$weir" build --json -s 7 --hosts --keep-local --lowercase --suffixes \
		-o h.weir hosts
	json out 'j["keys"] == 8 and j["labels"] == "1-3" and j["lookups"] == 3'
	json out 'abs(j["fp_rate"] * 3 - 0.01) < 1e-9 and abs(j["fp_rate_answer"] - 0.01) < 1e-4'
	printf 'x.y.ads.example.com\nB.TEST\nwww.e.test.\nlocalhost\n' >below
	run 0 "$weir" query h.weir below; same out below 'parents are looked up'
	run 1 "$weir" query h.weir <(printf 'example.com\nd.test\ntest\norg\nxplain.org\n')
	run 0 "$weir" query -c --hosts h.weir hosts; prints '^6$'
	# Windows line ends, a comment with parts of dnsmasq lines, an empty name between slashes, a
	# name longer than any address.
	local long
	long=$(printf 'long-label.%.0s' {1..18})test
	printf '0.0.0.0 cr.test\r\n0.0.0.0 g.test # see x=/y.test/z\nserver=//1.1\n%s\n' "$long" \
		>hosts2
	printf '%s\n' '255.255.255.255 all.test' \
		'2001:0db8:0000:0000:0000:0000:255.255.255.255%eth0 six.test' >>hosts2
	run 0 "$weir" build --json -s 7 --hosts -o h2.weir hosts2; json out 'j["keys"] == 5'
	run 0 "$weir" query h2.weir <(printf 'cr.test\ng.test\n%s\ny.test\n' "$long")
	same out <(printf 'cr.test\ng.test\n%s\n' "$long") 'odd lines of a hosts file'
	# A wrong line gives no domain at all.
	long=$(printf 'a.%.0s' {1..128})
	printf '0.0.0.0 first.test %s\n0.0.0.0 second.test\n' "$long" >hosts2
	run 0 "$weir" build --json --force --hosts --suffixes --skip-bad -o h2.weir hosts2
	json out 'j["keys"] == 1 and j["passed_over"] == 1'
	rm h2.weir
	run 2 "$weir" build -q --hosts -o h2.weir <(echo '127.0.0.1'); says ':1: .*no domain after'
	run 2 "$weir" build -q --hosts -o h2.weir <(echo 'two words'); says 'no domain'
	run 2 "$weir" build -q --hosts --cidr -o h2.weir hosts; says 'not both\|its domains'
	run 2 "$weir" build -q --hosts --field=2 -o h2.weir hosts; says '--hosts and --field'
	run 2 "$weir" build -q --suffixes --cidr -o h2.weir hosts; says 'not both'
	# A query can look up parents in a plain set of domains.
	run 0 "$weir" build -q -s 7 -o d.weir <(echo example.com)
	run 1 "$weir" query d.weir <(echo www.example.com)
	run 0 "$weir" query --suffixes d.weir <(echo www.example.com)
	run 2 "$weir" query --cidr d.weir <(echo 1.2.3.4); says 'not a set of prefixes'
}

# An option without its second slash still names a domain.
test_dnsmasq_without_a_second_slash() {
	printf 'server=/kept.test/192.0.2.1\nserver=//192.0.2.1\nserver=/lost.test\n' >open.conf
	run 2 "$weir" build -q --hosts -o open.weir open.conf
	says "open.conf:3: 'server=/lost.test': no domain"
	run 0 "$weir" build --json --hosts --skip-bad -o open.weir open.conf
	json out 'j["keys"] == 1 and j["passed_over"] == 1'
}

# A closed descriptor's number must not be reused for the image, whose bytes would be added as keys.
test_closed_standard_descriptors() {
	local how
	seq 100 >few
	run 0 "$weir" build -q -s 7 -n 2000 -o closed.weir few
	cp closed.weir before.weir
	for how in -q --live; do
		"$weir" add $how closed.weir <&- >out 2>err
		run 0 test $? = 2
		same closed.weir before.weir 'standard input was closed'
	done
	"$weir" add -q closed.weir few <&- >&- 2>&-
	run 0 test $? = 0
	run 0 "$weir" verify -q closed.weir
}

# A few kilobytes of zstd can contain a line that is longer than any memory.
test_a_line_without_an_end() {
	head -c $((16 << 20)) /dev/zero | tr '\0' a >line
	run 0 "$weir" build -q -n 1 -o line.weir line
	head -c $((2 << 20)) line >>line.more
	cat line.more >>line
	run 2 "$weir" build -q -n 1 -o line.weir line
	says '^weir build: line: a line of more than 16.0 MiB, from byte 1 on: is it text? (-0'
	{ echo first; cat line; } >second
	run 2 "$weir" build -q --trim -n 1 -o second.weir second
	says '^weir build: second:2: a line of more than 16.0 MiB, from byte 7 on: is it text?'
	echo a >word
	run 2 "$weir" query -0 -c line.weir line word; says 'is it text?$'; prints '^0$'
	rm line second
}

test_cidr() {
	printf '10.1.2.3/8\n192.0.2.1\n2001:DB8::/32\n::1/128\n::ffff:203.0.113.0/120\n' >nets
	rm -f c.weir
	run 0 "$weir" build --json -s 7 --cidr -p 1% -o c.weir nets
	json out 'j["ipv4_lengths"] == "8 24 32" and j["ipv6_lengths"] == "32 128"' \
		'and j["lookups"] == 3 and abs(j["fp_rate"] * 3 - 0.01) < 1e-9'
	printf '%s\n' 10.255.0.1 192.0.2.1 2001:db8:1::9 ::1 203.0.113.77 ::ffff:10.0.0.1 >in
	printf '11.0.0.1\n192.0.2.2\n2001:db9::\n::2\n203.0.114.1\n10.0.0.0/7\n' >not_in
	run 0 "$weir" query c.weir in; same out in 'addresses within prefixes'
	run 1 "$weir" query c.weir not_in
	run 0 "$weir" query -v c.weir not_in; same out not_in 'addresses within none'
	# A pipe gives the same set, although its prefix lengths are known only at its end; -n and
	# -m give the size.
	run 0 "$weir" build -q --cidr -s 7 -o net1.weir nets
	run 0 bash -c "'$weir' build -q --cidr -s 7 -o net2.weir <nets"
	same net1.weir net2.weir 'prefixes from a pipe'
	run 0 "$weir" build -q --cidr -n 100 -m 4K -o net2.weir nets
	run 0 "$weir" query net2.weir in; same out in 'the size given'
	# With -n, too, the asked rate is the rate of an answer.
	run 0 "$weir" build --json --cidr -n 100 -p 1% -o net3.weir nets
	json out 'j["capacity"] == 100 and abs(j["fp_rate_answer"] - 0.01) < 1e-4' \
		'and abs(j["fp_rate"] * 3 - 0.01) < 1e-9'
	# The report once called 0.3333 % the asked rate.
	run 0 "$weir" build --cidr -n 100 -p 1% -o net3.weir nets
	prints '  rate  *0.3333 % for each of 3 lookups, 1 % asked for all of them; '
	run 0 "$weir" info net3.weir; prints '  rate of one lookup  *0.3333 %$'
	run 0 "$weir" merge -o net4.weir net3.weir; prints '  rate of one lookup  *0.3333 %$'
	run 0 "$weir" add net3.weir nets; prints '  rate of one lookup  *0.3333 %$'
	run 0 "$weir" build --json --force --suffixes -n 100 -p 1% -o net3.weir --new-seed \
		<(printf 'a.b\na.b.c\n')
	json out 'j["capacity"] == 100 and abs(j["fp_rate"] * 2 - 0.01) < 1e-9'
	run 0 "$weir" build -q --cidr -o all.weir <(printf '0.0.0.0/0\n')
	run 0 "$weir" query -c all.weir <(printf '255.1.2.3\n1.1.1.1\n'); prints '^2$'
	run 1 "$weir" query all.weir <(printf '::1\n')
	printf '%s\n' fe80::1%eth0 10.0.0.0/33 1.2.3 '' 10.0.0.0/255.0.0.0 $'10.0.0.1\r' \
		1.1.1.1 >bad
	run 2 "$weir" build -q --cidr -o bad.weir bad
	says '^weir build: bad:1: .*a zone does not belong'
	absent bad.weir 'wrong text'
	run 0 "$weir" build --json --cidr --skip-bad -o bad.weir bad
	json out 'j["keys"] == 1 and j["passed_over"] == 6'; says 'lines passed over: 6'
	run 0 "$weir" build --json --force --cidr --trim --skip-bad --skip-empty -o bad.weir bad
	json out 'j["keys"] == 2 and j["passed_over"] == 4'
	run 2 "$weir" query c.weir <(printf '10.0.0.1\nname\n'); says ':2: .name.: not an IP'
	run 0 "$weir" query --skip-bad -c c.weir <(printf '10.0.0.1\nname\n'); prints '^1$'
}

test_like_and_merge() {
	run 0 "$weir" build -q --cidr -n 1000 -p 1% -o a.weir <(printf '10.0.0.0/8\n')
	run 0 "$weir" build -q --like=a.weir -o b.weir <(printf '11.1.0.0/16\n')
	run 0 "$weir" merge -q -o both.weir a.weir b.weir
	run 0 "$weir" query -c both.weir <(printf '10.9.9.9\n11.1.2.3\n'); prints '^2$'
	run 2 "$weir" build -q --trim --like=a.weir -o b.weir nets; says 'not the same is done'
	run 0 "$weir" build -q -s 7 -m 4K -n 9 -o lines.weir nets
	run 0 "$weir" build -q -s 7 -m 4K -n 9 --cidr -o nets.weir nets
	run 1 "$weir" merge -q -o both.weir lines.weir nets.weir
	says 'what is done to keys differs'
}

# With one address among prefixes, or one odd line in a hosts file, the hint was once missing: the
# deny list matched nothing, with exit status 0.
test_hints_of_mixed_lists() {
	rm -f h.weir # a set of domains
	run 0 "$weir" build -q -o h.weir <(printf '10.0.0.0/8\n192.168.1.7\n2001:db8::/32\n')
	says '^weir build: hint: most lines are IP prefixes: --cidr finds the addresses in them$'
	run 0 "$weir" build -q -o h.weir <(seq -f '10.%.0f.0.0/16' 50; echo 192.0.2.1)
	says 'hint: most lines are IP prefixes: --cidr'
	run 0 "$weir" build -q -o h.weir <(seq -f '10.0.%.0f.1' 250; seq -f '10.1.%.0f.1' 250
		echo 192.0.2.0/24)
	says 'hint: some lines are IP prefixes: --cidr'
	run 0 "$weir" build -q -o h.weir <(seq -f '10.0.%.0f.1' 250; seq -f '10.1.%.0f.1' 250)
	same err /dev/null 'no hint of addresses alone'
	run 0 "$weir" build -q -o h.weir --allow-shrink <(printf '10.0.0.0/8\n10.0.0.1\na/b\nc\n')
	same err /dev/null 'no hint of one prefix among other texts'
	run 0 "$weir" build -q -o h.weir <(printf '0.0.0.0 a.test\n::1 b.test\n\n# x\nodd one\n')
	says 'hint: most lines are those of a hosts file: --hosts'
	run 0 "$weir" build -q -o h.weir <(printf 'a\r\nb\r\nc\n'); says 'most lines end in a ca'
}

test_hints() {
	run 0 "$weir" build -o hint.weir <(printf 'a\r\nb\r\n'); says 'hint: .*--trim'
	run 0 "$weir" query hint.weir <(printf 'a\r\n'); says 'hint: .*--trim'
	run 0 "$weir" build -o hint.weir <(printf '# x\n10.0.0.0/8\n::/0\n'); says 'hint: .*--cidr'
	run 0 "$weir" build -o hint.weir <(printf '0.0.0.0 a.test\n'); says 'hint: .*--hosts'
	run 0 "$weir" build -o hint.weir <(printf '0.0.0.0 a.test\nword\n')
	same err /dev/null 'no hint where half of the lines are such ones'
	test_hints_of_mixed_lists
	# Hints are printed with -q too: jobs have -q, and servers answered no for keys that they
	# had.
	run 0 "$weir" build -q -o hint.weir <(printf '10.0.0.0/8\n'); says 'hint: .*--cidr'
	run 0 "$weir" build -q -o hint.weir <(printf 'a\r\nb\r\n'); says 'hint: .*--trim'
	run 0 "$weir" build -q -o hint.weir <(printf '0.0.0.0 a.test\n'); says 'hint: .*--hosts'
	run 0 "$weir" build -q --plain-keys -o hint.weir <(printf '10.0.0.0/8\r\n')
	same err /dev/null --plain-keys
	run 0 "$weir" build --trim -o trim.weir <(printf 'a\r\n'); same err /dev/null --trim
	local names=$'0.0.0.0 Ads.Example # Why\n'
	run 0 "$weir" build --hosts -o caps.weir <(printf '%s' "$names"); says 'hint: .*--lowercase'
	run 0 "$weir" build --hosts --lowercase -o small.weir <(printf '%s' "$names")
	same err /dev/null 'capitals, and --lowercase'
	run 0 "$weir" build --suffixes -o below.weir <(echo Ads.example); says 'hint: .*--lowercase'
	run 0 "$weir" build --hosts -o comment.weir <(echo '0.0.0.0 ads.example # Why')
	same err /dev/null 'capitals in a comment'
	run 0 "$weir" build --hosts -o idn.weir <(printf '0.0.0.0 m\303\274nchen.example\n')
	says 'hint: .*beyond ASCII.*xn--'
	run 0 "$weir" build -o caps_too.weir <(echo 'Ads.Example')
	same err /dev/null 'keys as such'
}

# Whole rows were once keys, which no lookup of an address found.
test_does_a_list_of_rows_get_a_hint() {
	local command said='each of the first 4 lines has 2 commas, and is a key as a whole, such'
	local like="as '192.0.2.3,x,2024'"
	printf '%s\n' '# addr' '' addr,kind,year 192.0.2.1,bad,2024 '"a,b",bad,2024' \
		192.0.2.3,x,2024 >rows
	tail -n 4 rows | sed 's/"a,b"/ab/' | tr , ';' >semicolons
	tr ';' '\t' <semicolons >tabs
	rm -f row.weir
	run 0 "$weir" build -o row.weir rows keys
	says "^weir build: hint: rows: $said $like: --field=N takes one field$"
	[ "$(wc -l <err)" = 1 ] && ok || fail 'one hint for each file' "$(cat err)"
	run 0 "$weir" build -n 10 --allow-shrink -o row.weir semicolons tabs
	says "hint: semicolons: .* 2 semicolons, .*: --field=N --delimiter=';' takes one field$"
	says "hint: tabs: each .* 2 tabs, .*: --field=N --delimiter=tab takes one field$"
	run 0 "$weir" build -q -k counting -n 99 -o rows.weir <(cat rows; seq 20)
	run 0 "$weir" query rows.weir keys rows; says "hint: rows: $said" # each file
	for command in add count query remove; do
		run 0 "$weir" $command rows.weir rows
		says "^weir $command: hint: rows: $said"
	done
	# With -q, rows were once silently taken as keys.
	run 0 "$weir" build -q -o row.weir --allow-shrink rows
	says "^weir build: hint: rows: $said"
	run 0 "$weir" add -q row.weir rows; says "^weir add: hint: rows: $said"
	run 0 "$weir" route --build -o route.weir a=rows
	says "^weir route: hint: rows: $said $like: cut -d , -f N takes one field$"
	run 0 "$weir" route route.weir tabs rows; says 'hint: tabs: .*: cut -f N takes'
	says 'hint: rows: .* 2 commas'
	awk '{ printf "%080d,%s\n", NR, $1 }' <(seq 9) >wide
	run 0 "$weir" build -o row.weir --allow-shrink wide
	says "first 9 lines has 1 comma, .* '0\{60\}...': --field"
}

test_do_lists_that_are_no_rows_get_no_hint_of_fields() {
	local url=https://example.org/
	rm -f row.weir
	printf '%s\n' "$url?a=1,2" "$url?a;b" "$url" "${url}x,y,z" "${url}x,y" >urls
	head -n 4 rows >short # of which one line is blank, and one a comment
	run 0 "$weir" build -o row.weir urls; same err /dev/null 'occasional commas'
	run 0 "$weir" build -o row.weir short; same err /dev/null 'three lines'
	run 0 "$weir" build -o row.weir --plain-keys rows; same err /dev/null --plain-keys
	run 0 "$weir" build -o row.weir --field=1 --delimiter=tab tabs <(printf 'a\tb\n')
	same err /dev/null --field
	run 0 "$weir" build -q --plain-keys -o row.weir rows; same err /dev/null '-q --plain-keys'
	run 0 "$weir" query -q row.weir rows; same err /dev/null 'query -q'
	run 0 "$weir" route --build -q -o row.route a=rows; same err /dev/null 'route -q'
	run 0 "$weir" build -o row.weir <(seq -f '127.0.0.1	h%.0f.test' 9)
	says 'hint: the lines are those of a hosts file'
	[ "$(wc -l <err)" = 1 ] && ok || fail 'two hints of one form' "$(cat err)"
}

# Lookups of a domain in a set of URLs, or of a URL in a set of domains, once silently found
# nothing.
test_are_urls_named_where_keys_are_domains() {
	local said='the keys of this set are domains: give the domain of a URL alone'
	{ seq -f 'd%.0f.test' 3000; echo https://a.test/x; echo b.test/y; } >mixed
	rm -f names.weir
	run 0 "$weir" build -q --suffixes -p 0.0001% -o names.weir mixed # no chance hit
	says "^weir build: hint: 2 lines have a slash, as URLs have, such as 'https://a.test/x'"
	says "'https://a.test/x': $said"
	[ "$(wc -l <err)" = 1 ] && ok || fail 'one hint for each pass' "$(cat err)"
	run 0 "$weir" add -q names.weir mixed; says "^weir add: hint: 2 lines have .*: $said"
	run 0 "$weir" query -c names.weir <(cat mixed; echo c.d.test/); prints '^3002$'
	says "^weir query: hint: 3 lines have a slash, .*: $said"
	run 1 "$weir" query -q names.weir <(echo https://d1.test/x)
	says 'hint: 1 line has a slash, '
	run 0 "$weir" query -t 3 names.weir <(echo d1.test); same err /dev/null 'a domain'
	run 0 "$weir" build -q -k counting -n 99 -o texts.weir <(echo a.test)
	run 1 "$weir" query --suffixes texts.weir <(echo http://b/); says "$said"
	run 1 "$weir" query texts.weir <(echo http://b/); same err /dev/null 'keys that are texts'
	run 0 "$weir" build -q -k counting -n 99 --suffixes -o counted.weir <(echo a.test)
	run 0 "$weir" count counted.weir <(echo http://a.test/)
	says '^weir count: hint: 1 line has'
	run 0 "$weir" build -q -k layered --suffixes -o urls.weir \
		--exclude=<(echo http://x/; echo x.b) <(echo a.test)
	says "such as 'http://x/': $said"
}

# An empty list once published a set that answers no for every key, with exit status 0.
test_no_keys() {
	: >none
	printf '\n \n' >blank
	printf '# a\n#b\n' >remarks
	rm -f empty.weir one.weir
	local said='nothing was written: --allow-empty publishes an empty set$' kind
	for kind in blocked classic counting growing cuckoo fuse layered split frequency; do
		run 1 "$weir" build -q -k $kind -o empty.weir none
		says "^weir build: no keys in none: $said"
		run 0 "$weir" build -q -k $kind --allow-empty -o $kind.empty none
		same err /dev/null 'what is meant needs no word'
		run 1 "$weir" query -c $kind.empty keys
	done
	run 1 "$weir" build -q -o empty.weir </dev/null; says "no keys in standard input: $said"
	: >place.weir # as mktemp leaves it: nothing that could shrink
	run 1 "$weir" build -q -o place.weir none; says "no keys in none: $said"
	run 1 "$weir" build -q -o empty.weir none - none; says "no keys in none and 2 more files: "
	run 1 "$weir" build -q -n 100 -p 1% -o empty.weir none; says "no keys in none: $said"
	run 1 "$weir" build -q -m 4K -o empty.weir none; says "no keys in none: $said"
	run 1 "$weir" build -q --trim --skip-empty -o empty.weir blank; says "in blank: $said"
	run 1 "$weir" build -q --comments -o empty.weir remarks; says "in remarks: $said"
	run 1 "$weir" build -q --hosts -o empty.weir remarks; says "in remarks: $said"
	run 1 "$weir" build -q --cidr --comments -o empty.weir remarks; says "in remarks: $said"
	run 1 "$weir" build -q --field=1 --header -o empty.weir <(echo name); says "$said"
	run 1 "$weir" build --cidr --skip-bad -o empty.weir <(printf '1.2.3.0/24 ; SBL1\nx\n')
	says ': 2 lines were passed over, and no other is a key: --allow-empty publishes'
	run 1 "$weir" build --field=2 --skip-bad -o empty.weir <(echo one)
	says ': 1 line was passed'
	run 1 bash -c "'$weir' build -q -o - none >stdout.weir"
	same stdout.weir none 'nothing on standard output'
	absent empty.weir 'a set of a list without keys'
	run 0 "$weir" build -q -k counting -o empty.weir <(echo key)
	cp empty.weir before.weir
	local how
	for how in 'add' 'add --skip-bad' 'remove'; do
		# shellcheck disable=SC2086
		run 1 "$weir" $how empty.weir none
		says "no keys in none: nothing was written: --allow-empty takes that for done"
	done
	same empty.weir before.weir 'the image stays'
	run 0 "$weir" add -q --allow-empty empty.weir none
	run 0 "$weir" remove -q --allow-empty empty.weir none
	run 0 "$weir" build -q -n 100 -o live.weir <(echo key)
	run 1 "$weir" add --live live.weir none; says 'no keys in none'
	run 0 "$weir" verify -q live.weir # and it is not left live
	for how in '' '-n 10'; do
		# shellcheck disable=SC2086
		run 1 "$weir" route --build $how -q -o r.weir a=keys b=none
		says '^weir route: no keys in none: nothing was written: --allow-empty makes it an'
	done
	absent r.weir 'a router with a set without keys'
	run 0 "$weir" route --build --allow-empty -q -o r.weir a=keys b=none
}

# The bytes between newlines were once taken as keys: 24 of an image. A file without keys among
# several was silently skipped, so a failed export removed its part of the set.
test_a_file_without_keys_among_others() {
	: >none
	printf 'id,email\n' >alone.csv
	printf 'id,email\n1,ann@x.test\n' >people.csv
	echo key >one
	rm -f part.weir
	local how said='nothing was written: --allow-empty publishes the set of the other files$'
	for how in '' '-n 100' '-n 100 -p 1%' '-k fuse' '-k layered -n 10'; do
		# shellcheck disable=SC2086
		run 1 "$weir" build -q $how -o part.weir one none
		says "^weir build: no keys in none: $said"
	done
	run 1 "$weir" build -q -o part.weir none one none none
	says "no keys in none and 2 more files: $said"
	run 1 "$weir" build -q -o part.weir one /dev/null; says "no keys in /dev/null: $said"
	run 1 "$weir" build -q -o part.weir one -; says "no keys in standard input: $said"
	run 1 bash -c "cat one | '$weir' build -q -o part.weir - none"; says "in none: $said"
	run 1 "$weir" build -q --header --field=2 -o part.weir people.csv alone.csv
	says "no keys in alone.csv: $said"
	run 1 "$weir" build -q --field=email -o part.weir none people.csv; says "in none: $said"
	run 1 "$weir" build -q --cidr --skip-bad -o part.weir one <(echo 10.0.0.0/8)
	says 'no keys in one: 1 line was passed over, and no other is a key: --allow-empty pub'
	run 1 "$weir" build -q --comments -t 3 -o part.weir one <(echo '#'); says "$said"
	absent part.weir 'a set of a part'
	run 0 "$weir" build -q --allow-empty -o part.weir one none /dev/null
	same err /dev/null 'what is meant needs no word'
	run 0 "$weir" build -q -k counting -o part.weir one
	cp part.weir before.weir
	for how in add remove; do
		run 1 "$weir" $how part.weir one none
		says 'no keys in none: nothing was written: --allow-empty takes the other files al'
	done
	same part.weir before.weir 'the image stays'
	run 0 "$weir" add -q --allow-empty part.weir one none
}

test_no_text() {
	run 0 "$weir" build -q -o image.weir <(echo key)
	run 2 "$weir" build -q -o none.weir image.weir
	says '^weir build: image.weir: is a weir image, and no file of keys: swapped? (--as-is '
	run 2 bash -c "cat image.weir | '$weir' build -q -o none.weir"
	says '^weir build: standard input: is a weir image'
	run 2 bash -c "{ printf WEI; sleep .1; cat <(tail -c +4 image.weir); } |
		'$weir' query image.weir"; says 'is a weir image, and no file of keys'
	run 2 "$weir" add -q image.weir <(cat image.weir); says 'swapped?'
	absent none.weir 'a set of an image'
	run 0 "$weir" build -q --as-is -o raw.weir image.weir
	run 0 "$weir" build --json -o raw2.weir <(printf 'WEIRIMG2\nWEIRIMG')
	json out 'j["keys"] == 2'
}

# The bytes of such a file were once keys, with exit status 0.
test_is_a_file_refused_that_is_no_list() {
	local file zeros
	zeros=$(printf '%0256d' 0 | tr 0 n)
	printf 'PK\3\4\n' >'a zip archive (.zip, .xlsx, .docx, .jar)'
	printf 'PK\5\6\n' >'an empty zip archive'
	printf '7z\xbc\xaf\x27\x1c\n' >'a 7z archive'
	printf 'Rar!\x1a\7\n' >'a rar archive'
	printf '%s\0ustar\n' "$zeros" >'a tar archive'
	printf '\4\x22\x4d\x18\n' >'in lz4 format'
	printf 'PAR1\x15\n' >'a Parquet file'
	printf 'SQLite format 3\0\n' >'an SQLite database'
	printf '%%PDF-1.7\n' >'a PDF document'
	printf '\x7fELF\n' >'an ELF program'
	printf '\xff\xfea\n' >'in UTF-16, as its byte order mark shows'
	cp in\ UTF-16* little
	printf '\xfe\xff\na\n' >big
	printf 'a\n\0b\n' >'binary, with NUL bytes'
	printf 'a\rb\rc' >'one line with carriage returns in it, as from an old Mac'
	for file in a\ * an\ * in\ * binary* one\ line*; do
		run 2 "$weir" build -q -o none.weir "$file"
		says "^weir build: $file: is $file, and no file of keys: .* (--as-is takes the "
		run 2 bash -c "gzip <'$file' | '$weir' build -q -o none.weir"
		says "^weir build: standard input: is $file, and"
	done
	run 2 "$weir" build -q -o none.weir big; says 'big: is in UTF-16, .*: iconv -f UTF-16 -t'
	absent none.weir 'a set of what is no list'
	{ echo key; echo other; } >list
	run 0 "$weir" build -q -k counting -n 9 -o list.weir list
	for file in build\ -o\ list.weir add\ list.weir remove\ list.weir; do
		# shellcheck disable=SC2086
		run 2 "$weir" $file -q little; says '^weir [a-z]*: little: is in UTF-16'
	done
	for file in query count; do # and go on with the next file
		run 2 "$weir" $file list.weir little list; says ': little: is in UTF-16'
		prints key; prints other
	done
	run 2 "$weir" route --build -q -o none.weir a=list b=little; says 'b: \|little: is in UTF'
	run 2 "$weir" build -q -k layered --exclude=little -o none.weir list; says 'little: is in'
}

# --as-is allows keys of any bytes, and -0 allows keys that end with NUL bytes.
test_are_binary_keys_taken_by_the_options_for_them() {
	printf 'PK\3\4\nb\0\nc\r' >bytes
	run 0 "$weir" build --json --as-is -o bytes.weir bytes; json out 'j["keys"] == 3'
	run 0 "$weir" query -c --as-is bytes.weir bytes; prints '^3$'
	printf 'a\rb\0c\nd\0' >nul
	run 0 "$weir" build --json -0 -o nul.weir nul; json out 'j["keys"] == 2'
	printf '%s\n' 'bustard ustar' PAR1 'SQLite format 3' 7z PK >words
	run 0 "$weir" build -q -o text.weir words
	same err /dev/null 'words that formats begin with'
	# One key in five may have a NUL byte, and the file still counts as text.
	run 0 "$weir" build -q -o text.weir --allow-shrink <(printf 'a\0b\nc\nd\ne\nf\n')
	run 2 "$weir" build -q -o text.weir <(printf 'a\0b\nc\nd\n')
	says 'is binary, with NUL bytes'
	# A line with a carriage return inside is a line.
	run 0 "$weir" build -q -o text.weir <(printf 'a\rb\nc\n')
	run 0 "$weir" build -q -o text.weir <(printf 'a\r'); says 'hint: .*--trim'
	{ printf 'a\r'; head -c 99999 keys | tr '\n' ' '; echo; } >long
	run 0 "$weir" build -q -o text.weir --allow-shrink long
	# A line above the limit is checked, too.
	yes abc | head -n 4500000 | tr '\n' '\r' >mac
	run 2 "$weir" build -q -o none.weir mac; says "old Mac, and no file of keys: tr '.r' '.n'"
	rm mac
}

# The byte-order mark was once a part of the first key, which no lookup found.
test_is_a_byte_order_mark_no_part_of_the_first_key() {
	printf '\xef\xbb\xbfone\ntwo\n' >marked
	printf 'one\ntwo\n' >unmarked
	gzip -c marked >marked.gz
	local step said='byte order marks of UTF-8 left out: '
	for step in --plain-keys --trim; do
		rm -f mark.weir unmark.weir
		run 0 "$weir" build -q -s 7 $step -o mark.weir marked; says "${said}1, at the start"
		[ "$(grep -c "$said" err)" = 1 ] && ok || fail 'said once a pass' "$(cat err)"
		run 0 "$weir" build -q -s 7 $step -o unmark.weir unmarked; same err /dev/null 'none'
		same mark.weir unmark.weir "$step"
		run 0 "$weir" query unmark.weir marked; same out unmarked query; says "${said}1,"
		run 0 "$weir" query unmark.weir marked.gz marked; says "${said}2,"
	done
	run 0 "$weir" build -q -k counting -n 9 -o count.weir marked
	run 0 "$weir" count count.weir marked; says "${said}1,"; prints '^1.one$'
	run 0 "$weir" add -q count.weir marked; says "${said}1,"
	run 0 "$weir" remove -q --allow-shrink count.weir marked; says "${said}1,"
	run 0 "$weir" route --build -q -o route.weir a=marked; says "${said}1,"
	run 0 "$weir" route route.weir marked; says "${said}1,"; prints '^one.a$'
	# NUL-ended records may not be text, so they stay unchanged.
	printf '\xef\xbb\xbfone\0' >nul
	run 0 "$weir" build -q -s 7 -0 -o nul.weir nul; same err /dev/null -0
	run 0 "$weir" query -0 -c nul.weir nul; prints '^1$'
}

# A line of up to 17 MiB was once accepted if it ended there.
test_is_the_limit_of_a_line_16_MiB() {
	head -c 16777216 /dev/zero | tr '\0' x >most
	local file
	{ cat most; echo; echo key; } >ended
	cp most unended
	for file in ended unended; do
		run 0 "$weir" build -q -o line.weir $file
		{ printf x; cat $file; } >"long_$file"
		run 2 "$weir" build -q -o long.weir "long_$file"
		says 'a line of more than 16.0 MiB, from byte 1 on'
	done
	absent long.weir 'a line that is too long'
}

test_is_the_advice_of_a_refusal_for_the_command_line() {
	run 2 "$weir" route --build -q -p 1e-8 -o advice.weir a=keys
	says ' -p (rate) 1e-08: allowed'
	run 2 "$weir" build -q -k split --lowercase --trim -o advice.weir keys
	says ': --trim --lowercase: kind split takes keys as they are: leave it out$'
}

# The command once waited silently.
test_a_terminal() {
	has_terminal || return
	shown 'ends them' "'$weir' build -q -o typed.weir"
	grep -q 'weir build: reads keys from the terminal, one a line; Ctrl-D ends them' typed &&
		ok || fail 'no hint at a terminal' "$(cat typed)"
	run 0 bash -c "echo a | '$weir' build -q -o typed.weir"; same err /dev/null 'a pipe'
}

test_packed
test_trim_comments_lowercase
test_fields
test_hosts_and_suffixes
test_dnsmasq_without_a_second_slash
test_closed_standard_descriptors
test_a_line_without_an_end
test_cidr
test_like_and_merge
test_hints
test_does_a_list_of_rows_get_a_hint
test_do_lists_that_are_no_rows_get_no_hint_of_fields
test_are_urls_named_where_keys_are_domains
test_no_keys
test_a_file_without_keys_among_others
test_no_text
test_is_a_file_refused_that_is_no_list
test_are_binary_keys_taken_by_the_options_for_them
test_is_a_byte_order_mark_no_part_of_the_first_key
test_is_the_limit_of_a_line_16_MiB
test_is_the_advice_of_a_refusal_for_the_command_line
test_a_terminal
finish
