#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests kinds that are built once: build makes them from files and pipes within bounded memory, and
# commands that change filters refuse them. Usage: test_tool_built.sh path/to/weir
# [path/to/seeds.so]
seeds=${2:+$(realpath "$2")}
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1 20000 >keys
seq 20001 40000 >others

test_build() {
	run 0 "$weir" build -s 5 -k fuse -o f.weir keys
	prints 'layout  *fuse, fingerprints of 8 bits in 1 part'
	prints 'keys  *20,000, 20,000 of them different'
	prints 'capacity  *20,000$'
	run 0 "$weir" query -c f.weir keys; prints '^20000$'
	run 0 "$weir" query -c f.weir others
	[ "$(cat out)" -lt 130 ] && ok || fail 'a rate far above 0.4 %'
	run 0 "$weir" verify f.weir; prints 'whole'
	run 0 "$weir" info --json f.weir
	json out "(j[0]['kind'] == 'fuse' and j[0]['fingerprint_bits'] == 8 and
		abs(j[0]['keys_estimated'] - 20000) < 100 and j[0]['capacity'] == 20000)"
	# each key twice, from a pipe, gives the same set
	run 0 "$weir" build -q -k fuse -s 5 -o once.weir keys
	run 0 "$weir" build -q -k fuse -s 5 -o twice.weir <(cat keys keys)
	same once.weir twice.weir 'equal sets are equal images'
	# the counted number is not called an estimate; cuckoo, which stores each copy, cannot count
	run 0 "$weir" build --json -k fuse -s 5 -o twice.weir <(cat keys keys)
	json out 'j["keys"] == 40000 and j["keys_different"] == 20000'
	run 0 "$weir" build -k cuckoo -s 5 -n 60000 -o copies.weir <(cat keys keys)
	prints 'keys  *40,000, each as often as it was given$'
	run 0 "$weir" build -q -k fuse -p 0.001% -o fine.weir keys
	run 0 "$weir" info fine.weir; prints 'fingerprints of 17 bits'
	run 0 "$weir" build -q -k fuse --fingerprint-bits=12 -p 1% -o fine.weir --force keys
	run 0 "$weir" info fine.weir; prints 'fingerprints of 12 bits'
	: >none
	run 0 "$weir" build -q -k fuse --allow-empty -o none.weir none
	run 1 "$weir" query -c none.weir keys; prints '^0$'
}

test_refused() {
	run 1 "$weir" build -k fuse -n 100 -o full.weir keys
	says '^weir build: -n (keys) 100: there are 20000 different keys'
	absent full.weir 'of too many keys'
	run 2 "$weir" build -k fuse --max-memory=40M -o small.weir keys
	says '^weir build: --max-memory 40M: at least'
	absent small.weir 'without memory'
	run 2 "$weir" add -t 2 f.weir others; says 'f.weir: kind fuse cannot take inserts: weir b'
	[ "$(wc -l <err)" = 1 ] || fail 'one failure has several lines'
	run 2 "$weir" remove f.weir keys; says 'kind fuse cannot remove'
	run 2 "$weir" count f.weir keys; says 'kind fuse cannot count'
	run 2 "$weir" merge -o m.weir once.weir twice.weir; says 'kind fuse cannot merge'
	run 0 "$weir" build -q -k fuse -s 99 -o seed.weir keys
	run 2 "$weir" merge -o m.weir once.weir seed.weir; says 'kind fuse cannot merge: weir build'
	# A kind that cannot merge is an error, even if the other image has another kind.
	run 0 "$weir" build -q -o blocked.weir keys
	run 2 "$weir" merge -o m.weir once.weir blocked.weir; says 'kind fuse cannot merge'
	run 2 "$weir" merge -o m.weir blocked.weir once.weir; says 'kind fuse cannot merge'
}

# Hashes beyond the memory go to an unnamed file. Two threads need 126M, and 3,000,000 hashes need
# 23M, so 127M are too little for any distribution over the threads' lanes.
test_spilled() {
	seq 1 3000000 >many
	run 0 "$weir" build -q -k fuse -s 5 -o all.weir many
	run 0 "$weir" build -q -k fuse -t 2 -s 5 --max-memory=127M -o spilled.weir many
	same all.weir spilled.weir 'with less memory'
	TMPDIR=/nowhere run 2 "$weir" build -q -k fuse -t 2 --max-memory=127M -o none2.weir many
	says 'TMPDIR /nowhere: .*: set TMPDIR to a folder with room.*, or give more --max-memory$'
}

test_replaced() {
	run 0 "$weir" build -q -k fuse -o r.weir keys
	run 0 "$weir" build -q -k fuse -o r.weir keys others
	run 0 "$weir" query -c r.weir others; prints '^20000$'
	run 0 "$weir" build -q -o r.weir keys # the kind is taken over
	run 0 "$weir" info r.weir; prints 'layout  *fuse'
	run 0 "$weir" build -q -k fuse -o r.weir keys others
	head -n 100 keys >few
	run 1 "$weir" build -q -k fuse -o r.weir few; says 'not replaced'
	run 0 "$weir" query -c r.weir others; prints '^20000$'
}

# A layered set is exact on both lists. A key in both lists is named with both places.
test_layered() {
	seq 100001 400000 >good
	seq 400001 500000 >better
	run 0 "$weir" build -k layered --exclude good --exclude=better -o x.weir keys
	prints 'layout  *layered, fingerprints of 6 bits in 1 part, then 1 bit in 1'
	prints 'excluded  *400,000$'
	run 0 "$weir" query -c x.weir keys; prints '^20000$'
	run 1 "$weir" query -c x.weir good better; prints '^0$'
	run 0 "$weir" verify x.weir; prints 'whole'
	run 0 "$weir" build --json -k layered --exclude good --exclude-keys=3 -o few.weir keys
	json out "(j['excluded'] == 300000 and j['excluded_passed'] > 300000 / 128 and
		j['fingerprint_bits'] == 6)"
	run 0 "$weir" build -q -k layered -p 0.01% --exclude <(cat good) -o x.weir --force keys
	run 0 "$weir" info x.weir; prints 'fingerprints of 13 bits'
	run 1 "$weir" query -c x.weir good; prints '^0$'
	# a rebuild keeps the kind
	run 0 "$weir" build -q --exclude good -o x.weir keys
	run 0 "$weir" info x.weir; prints 'layered'
	run 1 "$weir" query -c x.weir good; prints '^0$'
	seq 7 >both
	for threads in 1 3; do
		run 1 "$weir" build -q -k layered -t $threads --exclude good --exclude both \
			-o y.weir keys
		says "^weir build: keys:[1-7] '[1-7]' is excluded by both:[1-7]: .*more are in both"
	done
	echo '  17 ' >both
	run 1 "$weir" build -q -k layered --trim --exclude both -o y.weir keys
	says "^weir build: keys:17 '17' is excluded by both:1: a key can be in one .* only\$"
	run 2 "$weir" build -q -k layered --exclude <(seq 7) -o y.weir keys
	says 'a key is in both lists, or two keys have one hash.*pipe'
	run 2 "$weir" build -q -k fuse --exclude good -o y.weir keys
	says 'kind fuse has no exclude list'
	run 2 "$weir" build -q -k fuse --exclude-keys=4 -o y.weir keys; says 'not for kind fuse'
	cp good list # the exclude list that the image would replace
	run 1 "$weir" build -q -k layered --exclude list --force -o list keys
	says 'list: not replaced: .*which the keys are read from'
	same list good "weir build replaced its exclude list"
	run 2 "$weir" build -q -k layered --exclude nowhere -o y.weir keys; says 'nowhere'
	absent y.weir 'of lists that were refused'
	run 0 "$weir" plan -n 11.7M -p 50% --exclude-keys=804.3M
	prints 'layered  *11,700,000  12.8 MiB  *9.15  0.7813 %'
}

# -p is the rate of an answer, for any number of lookups. A rebuild once asked for the product of
# rate and lookups, and so for a larger set each time.
test_rate_is_of_an_answer() {
	for i in $(seq 9 32); do echo "10.$i.0.0/$i"; done >prefixes
	local kind
	for kind in fuse layered; do
		run 0 "$weir" build -k $kind --cidr -p 1% -o c.weir --force prefixes
		prints 'lookups an answer  *24$'
		prints 'rate of an answer  *\(1\|0\.99[0-9]*\) %$'
		cp c.weir first.weir
		run 0 "$weir" build --force -k $kind -o c.weir prefixes
		prints 'rate of an answer  *\(1\|0\.99[0-9]*\) %$'
		same first.weir c.weir 'a rebuild asks for the same rate'
		run 0 "$weir" build -k $kind --cidr -p 1% -o piped.weir --force \
			<(cat prefixes)
		prints 'rate of an answer  *\(1\|0\.99[0-9]*\) %$'
		run 0 "$weir" query -c piped.weir <(echo 10.9.0.0); prints '^1$'
		run 0 "$weir" build -k $kind --suffixes -p 1% -o s.weir --force \
			<(printf '%s\n' a.org b.c.d.org)
		prints 'lookups an answer  *2$'
		prints 'rate of an answer  *\(1\|0\.99[0-9]*\) %$'
	done
	run 0 "$weir" build -q -k fuse --allow-empty --cidr -o none.weir --force <(cat none)
	run 0 "$weir" query -v -c none.weir <(echo 10.9.0.0); prints '^1$'
}

# Both lists cannot come from standard input. The list that was read second was once silently empty.
test_one_standard_input() {
	run 2 "$weir" build -q -k layered --exclude - -o i.weir -
	says 'exclude -: the keys are read from standard input'
	run 2 "$weir" build -q -k layered --exclude - -o i.weir
	says 'exclude -: the keys are read from standard input'
	absent i.weir 'of two lists from one input'
	run 0 bash -c '"$1" build -q -k layered --exclude - -o i.weir keys <others' - "$weir"
	run 1 "$weir" query -c i.weir others; prints '^0$'
}

# A rebuild keeps the kind, and needs the exclude list again.
test_list_left_out() {
	run 0 "$weir" build -q -k layered --exclude others -o e.weir keys
	run 1 "$weir" build -q -o e.weir keys; says 'e.weir: is of kind layered, and what it excl'
	run 1 "$weir" build -q --like=e.weir -o e2.weir keys; says 'e.weir: is of kind layered'
	run 1 "$weir" query -c e.weir others; prints '^0$'
	run 0 "$weir" build -q -k layered -o e.weir keys
}

# It once showed a fingerprint of seed 0, as if there were a secret.
test_split_has_no_seed() {
	run 0 "$weir" build -q -k split -o split.weir keys
	run 0 "$weir" info split.weir; prints 'seed fingerprint  *none$'
	# From a pipe it was once refused because of a seed that was not given.
	run 0 bash -c "cat keys | '$weir' build -q -k split -o split_piped.weir"
	same split_piped.weir split.weir 'kind split, from a pipe'
}

# The number of excluded keys determines the fingerprint's width, so they are counted.
test_counted() {
	seq 200 >few
	seq 1000 30999 >most
	run 0 "$weir" build -q -k layered -s 3 -p 50% --exclude most -o counted.weir few
	run 0 "$weir" build -q -k layered -s 3 -p 50% --exclude-keys=30000 --exclude most \
		-o given.weir few
	same counted.weir given.weir 'as if their number were given'
	run 0 "$weir" build -q -k layered -s 3 -p 50% --exclude-keys=200 --exclude most \
		-o less.weir few
	! cmp -s counted.weir less.weir || fail 'the number changes nothing'
}

# Two keys have one hash under seed 5. A given seed is kept, and both keys are named; a drawn seed
# is drawn again.
test_one_hash() {
	python3 - <<-'EOF'
	M = 2**64 - 1
	def rotl(x, n): return (x << n | x >> 64 - n) & M
	def mix(h, n): # XXH3 of 4 to 8 bytes, behind the secret
	    h ^= rotl(h, 49) ^ rotl(h, 24)
	    h = h * 0x9FB21C651E98DF25 & M
	    h ^= (h >> 35) + n
	    h = h * 0x9FB21C651E98DF25 & M
	    return h ^ h >> 28
	def unmix8(h):
	    back = pow(0x9FB21C651E98DF25, -1, 2**64)
	    x = h ^ h >> 28; x ^= h >> 56
	    h = x * back & M
	    x = 0
	    for _ in range(64): x = h ^ (x >> 35) + 8
	    h = x * back & M
	    # h -> h ^ rotl(h, 49) ^ rotl(h, 24): its order divides 64
	    y = h
	    for _ in range(63): y = y ^ rotl(y, 49) ^ rotl(y, 24)
	    return y
	def swapped(n): # the two halves of the word that is mixed, as bytes of a key
	    return (n >> 32).to_bytes(4, 'little') + (n & 2**32 - 1).to_bytes(4, 'little')
	seed = 5
	secret = 0x1cad21f72c81017c ^ 0xdb979083e96dd4de
	flip = secret - (seed ^ int.from_bytes(seed.to_bytes(4, 'little'), 'big') << 32) & M
	for i in range(10000, 99999):
	    key = b'%d' % i
	    word = int.from_bytes(key[-4:], 'little') + (int.from_bytes(key[:4], 'little') << 32)
	    other = swapped(unmix8(mix((word & M) ^ flip, 5)) ^ flip)
	    if not set(other) & {10, 13, 0}:
	        open('one', 'wb').write(key + b'\n'); open('other', 'wb').write(other + b'\n')
	        break
	EOF
	run 1 "$weir" build -q -k layered -s 5 --exclude other -o z.weir one
	says '^weir build: one:1 .* and other:1 .* have one hash by chance'
	run 0 "$weir" build -q -k layered -s 6 --exclude other -o z.weir one
	run 0 "$weir" query -c z.weir one; prints '^1$'
	run 1 "$weir" query -c z.weir other; prints '^0$'
	[ "$seeds" ] || return 0
	LD_PRELOAD=$seeds run 0 "$weir" build -q -k layered --exclude other -o drawn.weir one
	same z.weir drawn.weir 'seed 5 was left for seed 6'
}

# innocent_addresses, innocent_names: print absent keys, of which a rate of a half finds half.
innocent_addresses() {
	seq 0 4999 | awk '{ print "10.0." int($1 / 250) "." $1 % 250 }'
	seq 0 999 | awk '{ printf "2001:db8:1::%x\n::ffff:10.1.%d.%d\n", $1, $1 / 250, $1 % 250 }'
}
innocent_names() { seq 5000 | awk '{ print "www" $1 ".host" $1 % 700 ".Example" }'; }

# An address or a name is excluded by all its lookups, for all included lengths.
test_layered_lookups() {
	seq 0 999 | awk '{ print "192.168." int($1 / 250) "." $1 % 250
		print "172.16." $1 % 64 ".0/24"; print "198.18.0.0/15"
		print "2001:db9:" $1 % 50 "::/48" }' | sort -u >ranges
	innocent_addresses >innocent
	run 0 "$weir" build -k layered --cidr -p 50% -s 3 --exclude innocent -o of_c.weir ranges
	prints 'excluded  *[1-9][0-9],[0-9]*$'
	run 0 "$weir" query -c of_c.weir ranges; prints "^$(wc -l <ranges)\$"
	run 1 "$weir" query -c of_c.weir innocent; prints '^0$'
	seq 0 999 | awk '{ print "10.9.0." $1 % 250 }' >stranger
	run 0 "$weir" query -c of_c.weir stranger
	[ "$(cat out)" -gt 0 ] && ok || fail 'no other address is found by chance: a weak test'
	# a size instead of a rate; a pipe, which is read once
	run 0 "$weir" build -q -k layered --cidr -m 64k -s 3 --exclude innocent -o of_m.weir ranges
	run 1 "$weir" query -c of_m.weir innocent; prints '^0$'
	run 0 "$weir" build -q -k layered --cidr -p 50% -s 3 --exclude innocent -o of_p.weir \
		<(cat ranges)
	same of_c.weir of_p.weir 'a set of ranges from a pipe'
	innocent_names >innocent
	seq 900 | awk '{ print "bad" $1 ".example"; print "x.y.bad" $1 ".test" }' >domains
	run 0 "$weir" build -q -k layered --suffixes --lowercase -p 50% --exclude innocent \
		-o of_n.weir domains
	run 0 "$weir" query -c of_n.weir domains; prints '^1800$'
	run 1 "$weir" query -c of_n.weir innocent; prints '^0$'
	run 0 "$weir" query -c of_n.weir <(seq 2000 | sed 's/$/.example/') # by chance
}

test_layered_covered() {
	printf '192.0.2.0/24\n10.0.0.0/8\n' >ranges
	printf '172.16.0.1\n10.1.2.3\n' >innocent
	run 1 "$weir" build -q -k layered --cidr --exclude innocent -o of_u.weir ranges
	says "ranges:2 '10.0.0.0/8' covers what innocent:2 excludes, '10.1.2.3': leave one .* out\$"
	echo 172.16.0.0/16 >innocent
	run 2 "$weir" build -q -k layered --cidr --exclude innocent -o of_u.weir ranges
	says 'innocent:1: is a prefix: .* only single addresses are excluded'
	run 0 "$weir" build -q -k layered --cidr --skip-bad --exclude innocent --allow-empty \
		-o of_u.weir ranges
	printf 'bad.example\ngood.test\n' >domains
	printf 'www.other.test\nwww.bad.example\n' >innocent
	run 1 "$weir" build -q -k layered --suffixes --exclude innocent -o of_v.weir domains
	says "domains:1 'bad.example' covers what innocent:2 excludes, 'www.bad.example'"
	absent of_v.weir 'of lists that were refused'
}

# An empty exclude list, from a failed export, was once accepted silently.
test_an_exclude_list_without_keys() {
	seq 100 >in
	seq 101 200 >out_of_it
	: >none
	echo id >head
	rm -f x.weir
	local how
	for how in '' '-n 200' --exclude-keys=100; do
		# shellcheck disable=SC2086
		run 1 "$weir" build -q -k layered $how --exclude=none -o x.weir in
		says '^weir build: no keys in none: nothing was written: --allow-empty excludes not'
	done
	run 1 bash -c "'$weir' build -q -k layered --exclude=- -o x.weir in </dev/null"
	says 'no keys in standard input: '
	run 1 "$weir" build -q -k layered --header --exclude=head -o x.weir in; says 'keys in head:'
	run 1 "$weir" build -q -k layered --exclude=out_of_it --exclude=none -o x.weir in
	says 'in none: nothing was written: --allow-empty excludes the keys of the other lists$'
	echo 10.0.0.0/8 >in
	run 1 "$weir" build -q -k layered --cidr --skip-bad --exclude=head -o x.weir in
	says '^weir build: no keys in head: 1 line was passed over, and no other is a key'
	absent x.weir 'a set without its list'
	printf 'name\n11.0.0.1\nx\n' >out_of_it
	run 0 "$weir" build --json -k layered --cidr --skip-bad --exclude=out_of_it -o x.weir in
	says '^weir build: lines of the exclude list passed over: 2$'
	json out 'j["excluded_passed_over"] == 2 and j["passed_over"] == 0'
	run 0 "$weir" build -q -k layered --cidr --allow-empty --exclude=none -o x.weir in
	same err /dev/null 'what is meant needs no word'
}

test_build
test_layered
test_an_exclude_list_without_keys
test_layered_lookups
test_layered_covered
test_rate_is_of_an_answer
test_one_standard_input
test_list_left_out
test_counted
test_split_has_no_seed
test_one_hash
test_refused
test_spilled
test_replaced
finish
