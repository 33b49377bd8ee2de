#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the weir command's keyed images, the sets that it refuses to save, and the permissions of
# saved images. Usage: test_tool_keyed.sh path/to/weir. Prints the failed checks and their number;
# exits with 1 if any failed.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

test_keyed() {
	umask 077
	head -c 16 /dev/urandom >raw
	echo 000102030405060708090a0b0c0d0e0F >hex
	printf '\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17' >same_as_hex
	umask 022
	run 0 "$weir" build --keyed-by=raw -p 1% -o keyed.weir keys; prints '  keyed  *yes'
	run 0 "$weir" query --keyed-by=raw -c keyed.weir keys; prints "^$n\$"
	run 0 "$weir" query --keyed-by=raw -q <(cat keyed.weir) keys
	run 2 "$weir" query keyed.weir keys
	says '^weir query: keyed.weir: is keyed: give the key .*--keyed-by=FILE$'
	same out /dev/null 'a keyed image without its key answers nothing'
	run 2 "$weir" query --no-verify keyed.weir keys; says 'is keyed'
	run 2 "$weir" query --keyed-by=hex keyed.weir keys; says 'keyed by another key'
	run 0 "$weir" build -q -p 1% -o plain.weir keys
	run 2 "$weir" query --keyed-by=raw plain.weir keys; says 'plain.weir: is not keyed'
	# Commands that only read the image need no key.
	run 0 "$weir" info keyed.weir; prints '  keyed  *yes'; prints '  hash  *SipHash-2-4'
	prints '  key fingerprint  '
	run 0 "$weir" info --json keyed.weir plain.weir
	json out "[i['keyed'] for i in j] == [True, False] and [i['format'] for i in j] == [2, 1]" \
		"and abs(j[0]['keys_estimated'] / $n - 1) < 0.02 and j[1]['hash'] == 'XXH3'"
	run 0 "$weir" verify keyed.weir plain.weir; prints '^keyed.weir: whole$'
	run 0 "$weir" verify --keyed-by=raw keyed.weir
	run 2 "$weir" verify --keyed-by=hex keyed.weir; says 'another key'
	# All forms of one key give the same bytes, with one pass, two passes and a pipe.
	run 0 "$weir" build -q --keyed-by=hex -p 1% -o one.weir keys
	run 0 "$weir" build -q --keyed-by=same_as_hex -n "$n" -p 1% -o two.weir keys
	same one.weir two.weir 'a key in hexadecimal digits, and raw'
	run 0 bash -c "'$weir' build -q --keyed-by=hex -p 1% -o two.weir - <keys"
	same one.weir two.weir 'a keyed image from a pipe'
	run 0 "$weir" build -q --keyed-by=<(cat hex) -p 1% -o two.weir keys
	same one.weir two.weir 'a key from a pipe'
	run 0 "$weir" build -q --keyed-by=hex --like=one.weir -o two.weir keys
	run 0 "$weir" query --keyed-by=hex -c two.weir keys; prints "^$n\$"
	run 2 "$weir" build -q --like=one.weir -o three.weir keys; says 'one.weir: is keyed'
	run 0 "$weir" merge -q --keyed-by=hex -o both.weir one.weir two.weir
	same one.weir both.weir 'the union of two keyed images'
	run 2 "$weir" merge -o both.weir one.weir two.weir; says 'one.weir: is keyed'
	run 2 "$weir" merge --keyed-by=hex -o both.weir one.weir keyed.weir; says 'another key'
}

test_no_key() {
	umask 077
	printf '0123456789abcde' >short
	printf '0123456789abcdef0' >long
	echo 000102030405060708090a0b0c0d0e0g >no_digit
	printf '000102030405060708090a0b0c0d0e0f\n\n' >too_long
	: >none
	local file
	for file in short long no_digit too_long none; do
		run 2 "$weir" build --keyed-by=$file -o new.weir keys; says "$file: not a key"
	done
	run 2 "$weir" build --keyed-by=no_such -o new.weir keys
	says 'no_such: No such file or directory: no hash key to read: '
	run 2 "$weir" build --keyed-by=. -o new.weir keys; says '^weir build: \.: '
	run 2 "$weir" build -s 7 --keyed-by=hex -o new.weir keys; says 'place of the seed'
	umask 022
	local mode
	for mode in 604 602 644; do
		chmod $mode hex
		run 2 "$weir" build --keyed-by=hex -o new.weir keys; says "hex: its mode is 0$mode"
		run 2 "$weir" query --keyed-by=hex one.weir keys; says 'others may read or write'
	done
	chmod 660 hex
	run 2 "$weir" query --keyed-by=hex one.weir keys; says 'others may read or write'
	chmod 640 hex
	run 0 "$weir" query --keyed-by=hex -q one.weir keys
	if [ "$(id -u)" = 0 ]; then
		chown 1 hex
		run 2 "$weir" query --keyed-by=hex one.weir keys; says 'belongs to user 1,'
		chown 0 hex
	fi
	absent new.weir 'there was no key'
}

# allowed IMAGE OVERFULL SHRINK: the image has these marks.
allowed() {
	run 0 "$weir" info --json "$1"
	json out "j[0]['overfull_allowed'] is $2 and j[0]['shrink_allowed'] is $3"
}

test_an_empty_list_replaces_no_set() {
	: >empty
	head -n $((n / 20)) keys >few
	run 0 "$weir" build -q -s 7 -o guarded.weir keys
	cp guarded.weir before.weir
	local list
	for list in 'few' '--allow-empty empty'; do
		# shellcheck disable=SC2086
		run 1 "$weir" build -p 1% -o guarded.weir $list
		says '^weir build: guarded.weir: not replaced: .*under a tenth.*--allow-shrink$'
		same out /dev/null 'a refused set is not reported as built'
		same guarded.weir before.weir 'a refused set replaced an image'
	done
	# One option allows a set without keys, and another a much smaller set.
	run 1 "$weir" build -q -o guarded.weir empty
	says 'no keys in empty: .*--allow-empty publishes .*, in place of another with --allow-shr'
	run 1 "$weir" build -q --allow-shrink -o guarded.weir empty; says 'publishes an empty set$'
	same guarded.weir before.weir 'an empty set replaced an image'
	cp before.weir emptied.weir
	run 0 "$weir" build -q --allow-shrink --allow-empty -o emptied.weir empty
	allowed emptied.weir False True
	run 1 "$weir" query emptied.weir keys
	run 1 bash -c "'$weir' build -q -o guarded.weir <empty"
	same guarded.weir before.weir 'a refused set replaced an image'
	run 1 "$weir" build -q --allow-overfull -o guarded.weir empty
	run 0 "$weir" build -q -o few.weir few
	run 1 "$weir" merge -q -o guarded.weir few.weir few.weir
	says 'not replaced: .*--allow-shrink'
	same guarded.weir before.weir 'a refused union replaced an image'
	run 0 "$weir" build -q --allow-shrink -o guarded.weir few; allowed guarded.weir False True
	# -o - does not replace a file named "-".
	cp before.weir ./-
	run 0 bash -c "'$weir' build -q -o - few >stdout.weir"
	rm ./- stdout.weir
	# There is nothing to compare with: no image, a damaged image, an image with every bit set.
	run 0 "$weir" build -q --allow-empty -o nothing.weir empty
	allowed nothing.weir False False
	head -n 10 keys >text.weir
	run 0 "$weir" build -q --force --allow-empty -o text.weir empty
	says '^weir build: text.weir: not compared with the file that it replaces: '
	# A plain image takes no memory for the comparison; a compressed image does, and its limit
	# is reported.
	run 0 "$weir" build -q --zstd -m 8M -p 1% -o packed.weir keys
	cp before.weir plain.old
	run 1 "$weir" build -q --max-memory=6M -t 1 -p 1% -o plain.old few; says 'under a tenth'
	run 1 "$weir" build -q -p 1% -o packed.weir few; says 'under a tenth'
	run 2 "$weir" build -q --max-memory=6M -t 1 -p 1% -o packed.weir few
	says '^weir build: packed.weir: not replaced: its seed cannot be kept: needs .*--new-seed$'
	run 0 "$weir" build -q --new-seed --max-memory=6M -t 1 -p 1% -o packed.weir few
	says '^weir build: packed.weir: not compared with the image that it replaces: '
	cp before.weir damaged.weir
	printf '\125\252' | dd of=damaged.weir bs=1 seek=9000 conv=notrunc status=none
	run 0 "$weir" build -q --force --allow-empty -o damaged.weir empty
	says '^weir build: damaged.weir: not compared with the image that it replaces: '
	run 0 "$weir" build -q --allow-overfull -n 10 -p 1% -o full.weir keys
	run 0 "$weir" build -q -o full.weir few
	run 0 "$weir" build -q --zstd -o packed.weir keys
	run 1 "$weir" build -q -o packed.weir few
	run 0 "$weir" build -q --force --keyed-by=same_as_hex -o keyed.weir keys
	run 1 "$weir" build -q --force -o keyed.weir few; says 'under a tenth'
}

test_an_overfull_set_is_not_written() {
	run 1 "$weir" build -n $((n / 2)) -p 1% -o over.weir keys
	says '^weir build: over.weir: not written: its rate would be .* %, .*--allow-overfull$'
	absent over.weir 'an overfull set'
	run 1 bash -c "'$weir' build -q -n $((n / 2)) -p 1% -o - keys >stdout.weir"
	same stdout.weir /dev/null 'an overfull set to standard output'
	run 0 "$weir" build -q --allow-overfull -n $((n / 2)) -p 1% -o over.weir keys
	says 'over.weir: more keys than its capacity'
	allowed over.weir True False
	# Slightly above the capacity the set is saturated: written, with a warning.
	run 0 "$weir" build -q -n $((n * 10 / 11)) -p 1% -o saturated.weir keys
	says 'saturated.weir: more keys than its capacity'
	allowed saturated.weir False False
	# With enough capacity no set is overfull, even if few keys are spread unevenly.
	seq 1000 >a1000
	local seed
	for seed in {1..40} 32; do
		rm -f chance.weir
		run 0 "$weir" build -q -s $seed -p 0.0001% -o chance.weir a1000
	done
	run 0 "$weir" add -q chance.weir a1000
	run 0 "$weir" merge -q -o chance.weir chance.weir
	head -n $((n / 2)) keys >first
	tail -n $((n / 2)) keys >second
	run 0 "$weir" build -q -n $((n / 2)) -p 1% -o first.weir first
	run 0 "$weir" build -q --like=first.weir -o second.weir second
	run 1 "$weir" merge -q -o union.weir first.weir second.weir; says 'not written'
	absent union.weir 'an overfull union'
	run 0 "$weir" merge -q --allow-overfull -o union.weir first.weir second.weir
	allowed union.weir True False
}

# mode FILE MODE: the file has these permissions.
mode() {
	if [ "$(stat -c %a "$1")" = "$2" ]; then ok; else fail "$1: $(stat -c %a "$1"), not $2"; fi
}

# Once there was only a message, and servers that follow the image refused the new image.
test_does_an_image_keep_its_key() {
	local said='not replaced: is keyed, and would be keyed by another key, which servers'
	(umask 077; head -c 16 /dev/urandom >one_key; head -c 16 /dev/urandom >two_key)
	local how
	for how in '' '-k layered --exclude=/dev/null --allow-empty'; do
		rm -f own.weir
		# shellcheck disable=SC2086
		{
			run 0 "$weir" build -q --keyed-by=one_key $how -o own.weir keys
			run 0 "$weir" build -q --keyed-by=one_key $how -o own.weir keys
			run 1 "$weir" build -q --keyed-by=two_key $how -o own.weir keys
		}
		says "^weir build: own.weir: $said"
	done
	run 0 "$weir" build -q --keyed-by=two_key -o its.weir keys
	run 0 "$weir" build -q --force -k blocked --keyed-by=one_key -o own.weir keys
	run 1 "$weir" merge -q --keyed-by=two_key -o own.weir its.weir; says "weir merge: .*$said"
	run 0 "$weir" merge -q --keyed-by=two_key -o its.weir its.weir
	run 0 "$weir" route --build -q --keyed-by=one_key -o set.weir a=keys
	run 0 "$weir" route --build -q --keyed-by=one_key -o set.weir a=keys
	run 1 "$weir" route --build -q --keyed-by=two_key -o set.weir a=keys
	says "weir route: .*$said"
	run 0 "$weir" route --build -q --force --keyed-by=two_key -o set.weir a=keys
	cp its.weir old.weir
	run 0 "$weir" add -q --keyed-by=two_key its.weir absent_keys --allow-overfull
	run 0 "$weir" delta -q --force -o its.delta old.weir its.weir
	run 1 "$weir" apply -q -o own.weir old.weir its.delta; says "weir apply: .*$said"
	run 0 "$weir" apply -q -o old.weir old.weir its.delta
}

test_mode() {
	umask 022
	run 0 "$weir" build -q -o mode.weir keys; mode mode.weir 644
	rm mode.weir
	run 0 "$weir" build -q --mode=640 -o mode.weir keys; mode mode.weir 640
	rm mode.weir
	run 0 "$weir" merge -q --mode=0600 -o mode.weir plain.weir; mode mode.weir 600
	run 0 "$weir" build -q --mode=777 -o mode.weir keys; mode mode.weir 777
	local bad
	for bad in '' 0 8 1000 u=rw 64x -640; do
		run 2 "$weir" build --mode="$bad" -o new.weir keys
		says "^weir build: --mode '$bad': "
	done
	absent new.weir 'wrong options'
}

for part in keyed no_key an_empty_list_replaces_no_set an_overfull_set_is_not_written \
		does_an_image_keep_its_key mode; do
	test_$part
done
finish
