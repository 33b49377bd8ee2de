#!/bin/bash
# SPDX-License-Identifier: MIT
# An exit code means the same in every command: 0 done or found, 1 not found or refused, 2 an error,
# including damage. The test makes each command exit with each of its codes. Usage:
# test_tool_exit.sh path/to/weir path/to/pages [path/to/lose.so]
pages=$(realpath "$2")
parquet=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../parquet")
lose=${3:+$(realpath "$3")}
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# code STATUS COMMAND...: like run, and note the command's code for the table below. A command that
# refuses or fails leaves no file "new" and no other file.
declare -A met
code() {
	local status=$1 name=$2
	shift
	case $name in
	replicate) name+=" $2" ;;
	route) [ "$2" != --build ] || name+=' --build' ;;
	esac
	met[$name]+=$status
	rm -f new
	run "$status" "$weir" "$@"
	[ "$status" = 0 ] || absent new "$*"
	[ "$status" != 2 ] || says '^weir'
}
# damaged FILE: copy the file to ./damaged and change two bytes in the middle.
damaged() {
	cp "$1" damaged
	printf '\125\252' | dd of=damaged bs=1 seek=$(($(stat -c %s "$1") / 2)) conv=notrunc \
		status=none
}

seq 5000 >numbers
seq 5001 5500 >later
: >none
echo no such key >absent
printf 'what stands here\n' >text
run 0 "$weir" build -q -s 7 -n 10000 -p 1e-6 -o set numbers
run 0 "$weir" build -q -k counting -s 7 -n 10000 -p 1e-6 -o counts numbers
run 0 "$weir" build -q -s 8 -n 10000 -p 1e-6 -o seed numbers
run 0 "$weir" build -q -k fuse -o fuse numbers
damaged set
cp damaged damaged_set
cp set damaged_head
printf '\125\252' | dd of=damaged_head bs=1 seek=40 conv=notrunc status=none

test_build() {
	code 0 build -q -o new numbers
	code 1 build -q -o new none
	code 1 build -q --min-keys=5001 -o new numbers            # cut short
	code 1 build -q --allow-empty -o set none                 # shrinks it
	code 1 build -q -n 100 -o new numbers                     # overfull
	code 1 build -q -k cuckoo -n 100 -o new numbers           # full
	code 1 build -q -k fuse -n 100 -o new numbers             # likewise
	code 1 build -q -o text numbers                           # no image
	code 1 build -q --trim -o set numbers                     # other steps
	code 1 build -q -o numbers numbers                        # the input
	code 1 build -q -k layered --exclude=numbers -o new later numbers
	code 1 build -q --cidr --skip-bad -o new text             # no line is a key
	code 2 build -q -o damaged numbers                        # damage, wherever it is met
	code 2 build -q --like=damaged -o new numbers
	code 2 build -q -o new no_such
	code 2 build -q -o no_such/new numbers
	code 2 build -q -o new --cidr text
	code 2 build --no-such-option
	code 2 build -q --min-keys=0 -o new numbers
	code 2 build -q --min-keys=1 --allow-empty -o new numbers
	code 2 build -q --max-memory=1K -o new numbers
}

test_readers() {
	code 0 query set numbers
	code 0 query -v set absent
	code 1 query set absent
	code 1 query set none
	code 1 query -q -v set numbers
	code 2 query damaged numbers
	code 2 query set no_such numbers                          # though lines were found
	code 2 query text numbers
	code 2 query --no-such-option
	code 0 count counts absent                                # 0 times is an answer
	code 2 count set numbers
	code 2 count damaged numbers
	code 2 count counts no_such
	code 0 info set counts fuse
	code 2 info no_such set
	code 2 info text
	code 0 verify set counts fuse
	code 2 verify damaged
	code 2 verify set damaged counts
	code 2 verify no_such
	code 2 verify text
	code 0 plan -n 1M -p 1%
	code 2 plan -n 1M -p 1% -m 1K
	code 2 plan
}

# With --skip-bad, query skips lines that are not addresses, and prints their number.
test_query_skips_what_is_no_address() {
	run 0 "$weir" build -q --cidr -n 100 -p 1e-6 -o nets <(echo 10.0.0.0/8)
	printf 'name\n10.1.1.1\n300.1.1.1\n\n10.0.0.0/33\n10.2.2.2\nlast\n' >mixed
	code 0 query --cidr --skip-bad nets mixed
	same out <(printf '10.1.1.1\n10.2.2.2\n') 'the addresses behind other lines'
	says '^weir query: lines passed over: 5$'
	code 0 query --cidr --skip-bad -t 3 --json nets mixed
	json out 'j["lines"] == 2 and j["maybe"] == 2 and j["passed_over"] == 5'
	code 1 query --cidr --skip-bad nets text                  # none of it is an address
	says '^weir query: lines passed over: 1$'
	code 1 query --cidr --skip-bad -v nets mixed              # nor in the set, nor out of it
	same out none 'lines that are passed over'
	code 2 query --cidr nets mixed                            # without it the first is an error
	same out <(printf '10.1.1.1\n10.2.2.2\n') 'what is right is answered all the same'
	says '^weir query: mixed:1: .name.: not an IP .*(--skip-bad passes over such lines)$'
	# It said that five were passed over, as if --skip-bad had been given.
	says '^weir query: lines without an answer: 5: all others were looked up$'
	code 0 query --cidr -q nets mixed                         # one is found: as with grep -q
	code 2 query --cidr -q nets text
}

# Only verify called a damaged image damaged; others reported a wrong sum, without a remedy.
test_damage_has_a_name_and_a_remedy() {
	local command
	for command in 'query damaged numbers' 'count damaged numbers' 'add damaged later' \
			'remove damaged later' 'merge -o new set damaged' 'verify damaged'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $command
		says "^weir ${command%% *}: damaged: damaged: the bits of .* sum to "
		says ': restore it, or build it anew$'
	done
	for command in 'info damaged_head' 'info --prometheus damaged_head' 'seal damaged_head'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $command
		says "^weir ${command%% *}: damaged_head: damaged: "
		says ': restore it, or build it anew$'
	done
	run 2 "$weir" query text numbers; says '^weir query: text: not a weir image'
}

test_changes() {
	head -n 5 numbers >five
	cp set new_set
	code 0 add -q new_set later
	code 1 add -q new_set none
	code 1 add -q new_set new_set                             # it would read what it writes
	run 0 "$weir" build -q -k cuckoo -s 3 -n 2000 -o moves five
	code 1 add -q moves numbers                               # full
	code 1 add -q moves <(for _ in {1..20}; do echo same; done)
	code 2 add -q fuse later                                  # a kind that takes none
	code 2 add -q damaged later
	code 2 add -q new_set no_such
	code 1 add -q --skip-bad nets text                        # no line is a key
	says 'no keys in text: 1 line was passed over'
	run 0 "$weir" build -q --cidr -k counting -n 100 -o netcounts <(echo 10.0.0.0/8)
	code 1 remove -q --skip-bad netcounts text
	cp counts new_counts
	code 0 remove -q new_counts five
	code 1 remove -q new_counts absent                        # none is there
	code 1 remove -q new_counts none
	code 1 remove -q new_counts numbers                       # shrinks it
	code 2 remove -q set later
	code 2 remove -q damaged later
	code 0 seal -q set
	code 2 seal -q no_such
	code 2 seal -q text
	# The image is in use: another process adds in place and waits for its input.
	run 0 "$weir" build -q -s 7 -n 10000 -o live numbers
	mkfifo slow
	"$weir" add -q --live live slow 2>adder &
	local adder=$!
	exec 7>slow
	soon is_live live
	code 1 seal -q live
	code 1 add -q live later
	code 1 build -q -o live numbers
	code 1 remove -q live later
	exec 7>&-
	wait $adder
	run 0 test $? = 1 # it had no keys
}

test_unions_and_deltas() {
	code 0 merge -q -o new set set
	code 1 merge -q -o new set seed                           # another seed
	code 1 merge -q -o new set counts                         # another kind
	code 1 merge -q -o text set set
	code 2 merge -q -o new set damaged
	code 2 merge -q -o damaged_head set set
	code 2 merge -q -o new set no_such
	code 2 merge -q -o new fuse fuse                          # a kind that has no union
	run 0 "$weir" build -q --like=set -o next numbers later
	code 0 delta -q -o new set next
	cp new change
	run 0 "$weir" build -q --zstd -s 99 -n 25000 -o small later
	code 1 delta -q -o new set small                          # no smaller than the image
	code 1 delta -q -o text set next
	code 2 delta -q -o new set damaged
	code 2 delta -q -o new set no_such
	code 0 apply -q -o new set change
	same new next 'apply'
	code 1 apply -q -o new seed change                        # made from another image
	code 1 apply -q -o text set change
	damaged change
	code 2 apply -q -o new set damaged
	code 2 apply -q -o new set no_such
	cp damaged_set damaged
}

test_route() {
	code 0 route --build -q -s 7 -p 1e-6 -o new a=numbers b=later
	cp new routes
	code 1 route --build -q -o new a=numbers b=none
	code 1 route --build -q -o set a=numbers                  # another purpose
	code 2 route --build -q -o damaged_head a=numbers
	code 2 route --build -q -o new a=no_such
	code 0 route routes numbers
	code 1 route routes absent
	code 2 route set numbers
	code 2 route routes no_such
}

test_parquet() {
	code 0 parquet "$parquet/numbers.parquet"
	code 1 parquet "$parquet/without.parquet"
	code 2 parquet text
	code 2 parquet no_such
}

test_drill() {
	code 0 drill -r 1 -w 1 --inserts=2000 -d 1 numbers
	code 2 drill -d 1 no_such
	code 2 drill -d 1 none
	if [ "$lose" ]; then
		LD_PRELOAD=$lose code 1 drill -r 1 -w 1 -d 2 --every=0 numbers
	else
		met[drill]+=1
	fi
}

test_replicate() {
	"$weir" --help | grep -q ' replicate ' || return 0
	local away='--set=none --url=unix:///nowhere/at/all' command
	code 0 replicate key secret public
	code 1 replicate key secret public                        # it is there
	code 2 replicate key no_such/secret public
	for command in 'publish set' 'follow -o new' status 'rollback --generation=1.1'; do
		# shellcheck disable=SC2086
		code 2 replicate ${command%% *} $away ${command#"${command%% *}"}
	done
}

# The page of each command has exactly the codes that this test has produced.
test_the_pages_have_the_codes() {
	local command line codes page
	# It did not have these three among what is refused.
	for line in 'no keys at all in the input' 'a full filter: more keys than there is' \
			'more copies of one key than a filter of kind'; do
		if sed '1,/^These are refused/d' "$pages/weir-images.7" | grep -q "^$line"; then
			ok
		else
			fail "the manual lacks '$line'"
		fi
	done
	for command in plan build merge query info count delta apply add remove route \
			'route --build' seal verify parquet drill 'replicate key'; do
		[[ $command != replicate* || ${met[$command]-} ]] || continue
		page=${command% --build}
		page=$pages/weir-${page// /-}.1
		codes=$(sed -n '/^\.Sh DIAGNOSTICS/,/^\.El/s/^\.It \([0-2]\)$/\1/p' "$page" |
			tr -d '\n')
		if [ "$codes" = "$(grep -o . <<<"${met[$command]-}" | sort -u | tr -d '\n')" ]; then
			ok
		else
			fail "$command: $page has '$codes', the test ${met[$command]-}"
		fi
	done
}

# A table of fixed columns was torn apart where the terminal is narrower than it.
test_the_pages_fit_a_narrow_terminal() {
	local width page
	command -v man >/dev/null && command -v nroff >/dev/null || return 0
	for page in "$pages"/weir*.[17]; do
		# What is shown as it stands, such as a table that a command prints: 80 columns.
		sed -n '/^\.Bd -literal/,/^\.Ed/s/^[^.].*/&/p' "$page" |
			sed 's/\\(aq/'\''/g; s/\\e/\\/g; s/\\&//g' >literal
		for width in 60 80; do
			# A man that shows none ends the test.
			MANWIDTH=$width man -P cat "$page" >shown 2>torn || return 0
			same torn /dev/null "what man says of $width columns"
			[ $width = 80 ] || grep -vF -f literal shown >prose
			[ $width = 60 ] || cp shown prose
			# A line of a crontab cannot go on in the next one.
			if grep -v '7 \* \* \* \*' prose | grep ".\{$((width + 1))\}" >wide; then
				fail "$page takes more than $width columns" "$(cat wide)"
			else
				ok
			fi
		done
	done
}

for part in build readers query_skips_what_is_no_address \
		damage_has_a_name_and_a_remedy changes unions_and_deltas route parquet \
		drill replicate the_pages_have_the_codes the_pages_fit_a_narrow_terminal; do
	test_$part
done
finish
