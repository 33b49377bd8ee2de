#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the weir command's messages for mistakes, and the shells' completions. Usage:
# test_tool_messages.sh path/to/weir path/to/weir.bash path/to/_weir path/to/weir.fish
bash=$(realpath "$2") zsh=$(realpath "$3") fish=$(realpath "$4")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

test_not_an_image_comes_first() {
	run 0 "$weir" build -q -p 1% -o lines.weir keys
	seq 1000 >ips.txt
	echo 1 >short.txt
	local file command
	for file in ips.txt short.txt; do
		for command in query info add remove count verify seal; do
			"$weir" $command $file </dev/null >out 2>err
			says "^weir $command: $file: not a weir image: byte 0 is 0x31"
		done
	done
	head -c 100 lines.weir >cut.weir
	run 2 "$weir" verify cut.weir; says 'cut.weir: damaged: ends at byte 100'
	run 2 "$weir" verify /dev/null
	says ': ends at byte 0, before an image begins: name an image, as weir build -o makes$'
	run 2 "$weir" query ips.txt lines.weir
	says '^weir query: ips.txt is not an image, lines.weir is one: swapped?$'
	run 2 "$weir" add ips.txt short.txt lines.weir; says 'lines.weir is one: swapped?$'
	for command in query verify 'merge -o x' count 'build -o x --like=-'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $command - ; says '^weir [a-z]*: -: names no image: /dev/stdin is '
	done
	# These commands cannot read an image from a pipe.
	for command in info 'info --prometheus' add remove seal route 'delta -o x -' \
			'apply -o x -' 'verify --from=-'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $command - ; says '^weir [a-z]*: -: names no image: an image is'
	done
}

test_more_numbers_than_a_router_has_sets() {
	run 2 "$weir" plan --sets 64 -p 1% "--keys=$(seq -s, 70)"
	says '^weir plan: --keys: more than 64 numbers$'
	run 2 "$weir" plan --sets 64 -p 1% "--keys=$(printf '%02100d' 1)"
	says '^weir plan: --keys: 2100 characters: too many$'
}

test_like_names_its_normalisation() {
	echo 10.0.0.0/8 >nets
	echo nonsense >names
	run 0 "$weir" build -q --cidr -p 1% -o nets.weir nets
	run 2 "$weir" build -q --like=nets.weir -o none.weir names
	says '^weir build: --like=nets.weir: was built with --cidr, and the same is done to keys$'
}

test_did_you_mean() {
	run 2 "$weir" qeury x; says "^weir: 'qeury' is not a command: did you mean query?"
	run 2 "$weir" ver; says 'did you mean verify?'
	run 2 "$weir" BUILD; says "'BUILD' is not a command: did you mean build?"
	run 2 "$weir" fold; says 'did you mean merge?'
	run 2 "$weir" version; says 'did you mean --version?'
	run 0 "$weir" -V; prints '^weir [0-9]'
	run 0 "$weir" --help; prints ' -V'
	run 2 "$weir" frobnicate; says "^weir: 'frobnicate' is not a command\$"
	run 2 "$weir" build --alow-overfull
	says "'--alow-overfull': did you mean --allow-overfull?"
	run 2 "$weir" plan --rat3=1%; says 'did you mean --rate?'
	run 2 "$weir" plan --zebra; says "unrecognized option '--zebra'\$"
}

# The library's names of parameters do not appear in the command's messages.
test_words_of_the_command() {
	run 2 "$weir" build -n 1M -p 1% -m 64K -o none.weir keys
	says '-n (keys) 1000000 at -p (rate) 0.01 needs .*: -m (memory) is 65536'
	run 2 "$weir" plan -n 1M -p 1e-12; says "'1e-12': allowed: 1e-9 to 0.5"
	run 2 "$weir" plan -n 1000T -p 1%; says '-n (keys) 1000000000000000: allowed: 1 to 2^48'
	run 2 "$weir" build -z 9 -o none.weir keys; says 'allowed: 1 to 8'
	run 2 "$weir" build --mode=9 -o none.weir keys; says 'allowed: 1 to 777'
	run 0 "$weir" plan -n 10T -p 2e-6
	if grep -q 'max_bytes\|fp_rate\|capacity [0-9]' out; then
		fail 'library words' "$(cat out)"
	fi
	run 0 "$weir" plan -n 1M -p 1% -m 2M; prints '^\* *blocked z=2'
	run 2 "$weir" plan -n 1M -p 1% -m 64K; says '-m (memory) is 65536'
}

test_info_explains_the_file() {
	run 0 "$weir" info lines.weir
	prints '  file  *.*: the bits begin at 4.00 KiB of it, after head, checksums and padding'
}

# -p 1 once had to be below 100 %, and -p 60% at most 50 %.
test_one_rule_of_rates() {
	local rate
	for rate in 1 60% 0 1e-10; do
		run 2 "$weir" plan -n 1M -p $rate
		says "^weir plan: --rate '$rate': allowed: 1e-9 to 0.5 (50%), such as"
	done
	run 0 "$weir" plan -n 1M -p 50%
	run 0 "$weir" plan -n 1M -p 1e-9
}

# Messages of library and command use one name for one error, the C library's.
test_one_vocabulary() {
	mkdir -p dir
	run 2 "$weir" query dir keys; says 'dir: is a directory'
	run 2 "$weir" build -q -o dir keys; says 'dir: is a directory'
	run 2 "$weir" query keys/x keys; says ': Not a directory$'
	ln -sf loop loop
	run 2 "$weir" query loop keys; says ': Too many levels of symbolic links$'
	# Messages do not name C functions.
	mkfifo fifo
	run 2 "$weir" info fifo; says 'is not a regular file'
	if grep -q 'weir_' err; then fail 'a C function' "$(cat err)"; else ok; fi
}

# missing REMEDY COMMAND...: the file "nowhere" is missing, and the sentence for that is always the
# same.
missing() {
	run 2 "$weir" "${@:2}"
	says "^weir [a-z ]*: nowhere: No such file or directory: $1\$"
	[ "$(grep -vc '^Try ' err)" = 1 ] && ok || fail "sentences: ${*:2}" "$(cat err)"
}

# A missing file of keys, a missing image and a missing image of weir add once had three messages.
test_a_missing_file() {
	local image='no image to read: weir build -o makes one' command
	local keys='no keys to read: give another file'
	run 0 "$weir" build -q -n 100 -o there.weir <(echo key)
	run 0 "$weir" build -q -k counting -n 100 -o counts.weir <(echo key)
	run 0 "$weir" route --build -q -o routes.weir a=keys
	for command in query info 'info --json' 'info --prometheus' verify 'verify --json' seal \
		add 'add --live' remove count 'delta -o x there.weir' 'apply -o x' \
		'merge -o x there.weir' 'merge -o x' 'build -o x --like'; do
		# shellcheck disable=SC2086
		case $command in
		apply*) missing "$image" $command nowhere there.weir ;;
		*) missing "$image" $command nowhere ;;
		esac
	done
	missing 'no image to read: weir route --build -o makes one' route nowhere
	missing "$image" delta -o x nowhere there.weir
	missing 'no delta to read: weir delta -o makes one' apply -o x there.weir nowhere
	for command in 'build -o x' 'build -o x keys' 'query there.weir' 'query -q there.weir' \
		'add there.weir' 'add --live there.weir' 'remove counts.weir' 'count counts.weir' \
		'route routes.weir' 'route --build -o x' drill \
		'build -k layered -o x keys --exclude'; do
		# shellcheck disable=SC2086
		missing "$keys" $command nowhere
	done
	local key='give the one that weir build had, or .*: (umask 077; head .*/urandom > FILE)'
	for command in build query add; do
		missing "no hash key to read: $key" $command --keyed-by=nowhere there.weir keys
	done
	missing 'no Parquet file to read: give another name' parquet nowhere
	absent x 'of a file that is not there'
	"$weir" --help | grep -q ' replicate ' || return 0
	local connect='--set=none --url=unix:///nowhere/at/all'
	# shellcheck disable=SC2086
	{
		missing "$image" replicate publish $connect nowhere
		for key in --trusted '--trusted=there.weir --secret'; do
			missing 'no key to read: weir replicate key makes a pair' replicate \
				publish $connect --state=state $key=nowhere there.weir
		done
		missing 'no password to read: give another file' replicate status $connect \
			--password-file=nowhere
	}
}

# The message once was that byte 0 is 0x1f.
test_a_packed_image() {
	run 0 "$weir" build -q -o packed.weir keys
	local tool
	for tool in gzip zstd xz bzip2; do
		command -v $tool >/dev/null || continue
		$tool -c packed.weir >packed.$tool
		run 2 "$weir" query packed.$tool keys
		says "packed.$tool: not a weir image: it is in $tool format: unpack it first\$"
	done
	printf '\037\213 short' >no.gz
	run 2 "$weir" query no.gz keys; says 'byte 0 is 0x1f'
}

test_a_rate_that_is_raised() {
	seq -f '10.%.0f.0.0/16' 0 99 >nets
	run 0 "$weir" build -q --cidr -n 1000 -p 1% -o raised.weir nets
	run 0 "$weir" add -q raised.weir <(echo 11.0.0.0/16); same err /dev/null 'the same length'
	run 0 "$weir" add -q raised.weir <(echo 12.0.0.0/8)
	says 'raised.weir: an answer takes 2 lookups now, and took 1: '
	says ': its rate is up to 2 %, not 1 %; '
	run 0 "$weir" add -q raised.weir <(echo 13.0.0.0/8); same err /dev/null 'that length again'
}

test_figures_of_little() {
	run 0 "$weir" build -o tiny.weir <(echo 1)
	if grep -q 'a second\|bits for each' out; then fail 'noise' "$(cat out)"; else ok; fi
	prints '^  time  *[0-9.]* s$'; prints '^  memory  *64 bytes$'
	# A rate measured on few cache lines was once printed as if it were reliable.
	local asked='^  rate  *1 % asked; not measured: under 1,000 keys that says little$'
	run 0 "$weir" build -o few.weir <(seq 900); prints "$asked"
	run 0 "$weir" build --json -o few.weir <(seq 900)
	json out 'j["fp_rate_measured"] is None and j["looked_up"] == 0 and j["fp_rate"] == 0.01'
	run 0 "$weir" build -o few.weir <(seq 900; seq 900); prints "$asked" # 900 different ones
	run 0 "$weir" build -o enough.weir <(seq 1100)
	prints '  rate  *0\.[0-9]* % measured, 1 % asked'
	seq 900 >few
	run 0 "$weir" drill -r 1 -w 0 -d 1 few; prints "${asked/  rate /  rate}"
	run 0 "$weir" drill -r 1 -w 0 -d 1 --json few; json out 'j["fp_rate_measured"] is None'
	run 0 "$weir" build -o large.weir all_keys; prints 'bits for each key of the capacity'
	run 0 "$weir" plan -n 1 -p 1e-9
	if grep -q ' 1 keys' out; then fail 'one key' "$(cat out)"; else ok; fi
}

test_is_the_kind_named_that_was_meant() {
	run 2 "$weir" build -k fuze -o x keys
	says "^weir build: --kind 'fuze': did you mean fuse? The kinds are blocked classic "
	run 2 "$weir" plan -k bloked -n 9 -p 1%; says "'bloked': did you mean blocked? The kinds"
	run 2 "$weir" build -k nothing -o x keys; says "--kind 'nothing': the kinds are blocked "
}

# The whole message once was "5: No such file or directory".
test_does_a_level_that_stands_apart_have_a_sentence() {
	local command
	run 0 "$weir" build -q -o there.weir <(echo key)
	for command in 'build -o x' 'merge -o x' 'add there.weir' 'route --build -o x'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $command --zstd 5 keys
		says "--zstd 5: there is no file '5': to give the option that value, write --zstd="
	done
	echo key >5
	run 0 "$weir" build -q --zstd 5 -o x # a file of that name is read
	rm 5 x
	run 0 "$weir" build -q -o x keys --zstd
	rm x
}

test_is_the_sentence_of_an_overfull_set_one_to_read() {
	local room='it has room for 100 different keys, and would have'
	local or='or if it is meant, --allow-overfull$'
	rm -f over.weir
	run 1 "$weir" build -q -s 7 -n 100 -o over.weir keys
	says ": $room too many to estimate; -n [0-9]* has room for them, $or"
	run 1 "$weir" build -q -s 7 -n 100 -o over.weir <(seq 900)
	says ": $room about [89][0-9]*; -n [0-9]* has room for them, $or"
	# -n alone was once refused, as long as -m stayed.
	run 1 "$weir" build -q -p 0.01% -m 1K -o small.weir <(seq 10000)
	says '; -n 10000 without -m has room for them, or'
	run 0 "$weir" build -q -s 7 -n 100 -o over.weir <(seq 50)
	run 1 "$weir" add over.weir <(seq 101 50100)
	says "$room too many to estimate; weir build -n 50[0-9]* has room for them, "
	run 0 "$weir" add --allow-overfull over.weir keys
	prints '  in it now  *too many to estimate$'
	says ': more keys than its capacity of 100: too many to estimate are in it, so the rate is '
}

# The message once had 20971520, and "at least 198180864 for 3 threads".
test_are_bytes_of_a_limit_as_they_are_typed() {
	run 2 "$weir" build -t 3 -k fuse --max-memory=20M -n 1M -o x keys
	says '^weir build: --max-memory 20M: at least 189M, however few keys .* -t (threads) 3$'
	run 2 "$weir" build -t 1 -k fuse --max-memory=10000001 -n 1M -o x keys
	says '^weir build: --max-memory 10000001: at least 63M, '
}

# completes WORDS PATTERN: bash offers this for the last word, or for a new word after a final
# blank.
completes() {
	cat >offer.sh <<-'end'
		. "$1"
		read -ra COMP_WORDS <<<"weir $2"
		case $2 in *' ') COMP_WORDS+=('') ;; esac
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_weir
		echo "${COMPREPLY[*]}"
	end
	run 0 bash offer.sh "$bash" "$1"; prints "$2"
}

# The completions have each option of each --help.
test_completions() {
	local command option
	bash -n "$bash"
	for command in plan build query info merge add remove count seal verify drill; do
		"$weir" $command --help >help
		grep -o -- '^ *\(-[a-z0-9], \)\?--[a-z-]*' help | grep -o -- '--[a-z-]*' >options
		if [ -s options ]; then ok; else fail "no options of $command"; fi
		while read -r option; do
			sed -n "/^	$command)/,/;;/p" "$zsh" >zsh_options
			if grep -q "^	$command) .*[' ]$option[' ]" "$bash" &&
				grep -q -- "'$option[=[]" zsh_options &&
				grep -q "from $command'.* -l ${option#--} " "$fish"; then
				ok
			else
				fail "$command $option: is in no completion"
			fi
		done <options
	done
	# Short options, in bash too; file names where the option takes a file; quotes that end on
	# their line.
	grep -q "^	build) words='-o --output -p --rate " "$bash" && ok || fail 'short options'
	grep -q "from build' -s o -l output -r " "$fish" && ok || fail 'no files after -o'
	grep -q "from build' -s p -l rate -x " "$fish" && ok || fail 'files after -p'
	run 0 python3 -c 'import shlex, sys
for path in sys.argv[1:]:
    for line in open(path):
        shlex.split(line.rstrip(" \\\n"), comments=True)' "$zsh" "$fish"
	cat >complete.sh <<-'end'
		. "$1"
		COMP_WORDS=(weir build --allow-o) COMP_CWORD=2
		_weir
		echo "${COMPREPLY[*]}"
	end
	run 0 bash complete.sh "$bash"; prints '^--allow-overfull$'
	local kinds='^blocked classic counting growing cuckoo fuse layered split frequency'
	completes 'build -k ' "$kinds"
	completes 'build --kind = cl' '^classic$'
	completes 'build --kind =' "$kinds"
	completes 'drill --flavor = ' '^bp memb qsbr mb$'
	completes 'help ver' '^verify$'
	grep -q "^	help)\$" "$zsh" && grep -q "1:command:(plan build query " "$zsh" && ok ||
		fail 'zsh: help'
	grep -q "from help' -f -a 'plan build query " "$fish" && ok || fail 'fish: help'
	touch bits.file
	completes 'build -p ' '^$' # no files
	completes 'merge --mode = ' '^$'
	grep -qF -- "'-k+[the kind of filter]:kind:(blocked classic counting growing " "$zsh" &&
		ok || fail 'zsh: -k'
	grep -qF -- "-s k -l kind -x -a 'blocked classic counting growing " "$fish" && ok ||
		fail 'fish: -k'
	grep -qF -- "-l flavor -x -a 'bp memb qsbr mb'" "$fish" && ok || fail 'fish: --flavor'
	# Texts are not cut in a bracket or after the first word, and keep their apostrophes.
	local wrong
	wrong=$(sed -n "s/.* -d [\"']\(.*\)[\"']$/\1/p" "$fish" | grep -vx seconds |
		grep -E '^[a-z]*$|\([^)]*$|(filters|dnsmasqs) ')
	[ -z "$wrong" ] && ok || fail 'mangled texts' "$wrong"
	grep -qF -- '-d "default: the CPUs this process may use"' "$fish" && ok || fail '--threads'
	grep -qF "of dnsmasq's, or" "$fish" && grep -qF "of dnsmasq'\\''s, or" "$zsh" && ok ||
		fail 'an apostrophe'
}

for part in not_an_image_comes_first did_you_mean words_of_the_command info_explains_the_file \
		one_rule_of_rates one_vocabulary a_missing_file a_packed_image \
		a_rate_that_is_raised figures_of_little is_the_kind_named_that_was_meant \
		does_a_level_that_stands_apart_have_a_sentence \
		is_the_sentence_of_an_overfull_set_one_to_read \
		are_bytes_of_a_limit_as_they_are_typed completions; do
	test_$part
done
finish
