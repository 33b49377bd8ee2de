#!/bin/bash
# SPDX-License-Identifier: MIT
# A job that rebuilds an image for years: what the new image keeps of the old one, and what weir
# build refuses to replace. Usage: test_tool_rebuild.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# is IMAGE KEY: print a field of weir info --json.
is() {
	"$weir" info --json "$1" |
		python3 -c "import json, sys; print(json.load(sys.stdin)[0]['$2'])"
}
equal() { if [ "$1" = "$2" ]; then ok; else fail "'$1' is not '$2': $3"; fi; }
differ() { if [ "$1" != "$2" ]; then ok; else fail "'$1' twice: $3"; fi; }
damage() { printf '\125\252' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

seq 1000 >a1000
seq 500 >a500
seq 499 >a499
seq 1001 >a1001
seq 2001 >a2001

# Without this, each rebuild has another seed, and following servers refuse it.
test_a_rebuild_keeps_the_seed() {
	run 0 "$weir" build -p 0.1% -o set.weir a1000
	if grep -q ' seed ' out; then fail 'a seed of nothing'; else ok; fi
	local seed size
	seed=$(is set.weir seed_fingerprint) size=$(is set.weir bytes)
	run 0 "$weir" build -p 0.1% -o set.weir a500
	prints '  seed  *that of the image that is replaced: servers go on following'
	prints '  size  *that of the image that is replaced$'
	equal "$(is set.weir seed_fingerprint)" "$seed" 'a rebuild'
	equal "$(is set.weir bytes)" "$size" 'half of the keys'
	equal "$(is set.weir capacity)" 1000 'half of the keys'
	run 0 "$weir" build --json -o set.weir a500
	json out 'j["seed_kept"] and j["size_kept"] and j["fp_rate"] == 0.001'
	run 0 bash -c "'$weir' build -q -o set.weir - <a1000"
	equal "$(is set.weir seed_fingerprint)" "$seed" 'from a pipe'
	equal "$(is set.weir bytes)" "$size" 'from a pipe'
	run 0 "$weir" build -q -n 5000 -p 1% -o set.weir a1000
	equal "$(is set.weir seed_fingerprint)" "$seed" '-n'
	equal "$(is set.weir capacity)" 5000 '-n'
	run 0 "$weir" build -q -s 7 -o set.weir a1000
	differ "$(is set.weir seed_fingerprint)" "$seed" -s
	seed=$(is set.weir seed_fingerprint)
	run 0 "$weir" build -q --zstd -o set.weir a1000
	run 0 "$weir" build -q -o set.weir a1000
	equal "$(is set.weir seed_fingerprint)" "$seed" 'of a compressed one'
	run 0 "$weir" build --new-seed -o set.weir a1000; prints '  seed  *not that of the image'
	differ "$(is set.weir seed_fingerprint)" "$seed" '--new-seed'
	run 2 "$weir" build --new-seed -s 7 -o set.weir a1000; says 'leave out -s'
	run 0 "$weir" query -c set.weir a1000; prints '^1000$'
}

# Other sizes differ from the old one by a power of two, so that both can be folded to one size.
test_the_size_goes_by_steps() {
	seq 100000 >a100k
	seq 100001 >more
	seq 49999 >fewer
	seq 900000 >many
	run 0 "$weir" build -q -s 7 -p 1% -o step.weir a100k
	local bytes
	bytes=$(is step.weir bytes)
	run 0 "$weir" build -p 1% -o step.weir more; prints '  size  *that of .* replaced, doubled'
	equal "$(is step.weir bytes)" $((2 * bytes)) 'one key more'
	run 0 "$weir" build --json -p 1% -o step.weir fewer
	json out 'not j["size_kept"] and j["seed_kept"] and 49999 < j["capacity"] < 50100' \
		"and 2 * j['bytes'] == $bytes and j['fp_rate'] == 0.01"
	run 0 "$weir" build -p 1% -o step.weir many
	equal "$(is step.weir bytes)" $((16 * bytes)) 'nine times the keys'
	run 0 "$weir" build --allow-shrink -p 1% -o step.weir fewer; prints 'halved'
	equal "$(is step.weir bytes)" $((bytes / 2)) 'and back'
	run 0 "$weir" build -q -p 0.5% -o step.weir fewer; equal "$(is step.weir capacity)" 49999 -p
	run 0 "$weir" build -q -k classic -o step.weir fewer
	equal "$(is step.weir kind) $(is step.weir fp_rate)" 'classic 0.005' -k
	run 0 "$weir" build -q -o step.weir fewer; equal "$(is step.weir kind)" classic 'its kind'
	run 0 "$weir" build -q -m 1M -o step.weir fewer; equal "$(is step.weir kind)" classic -m
	run 0 "$weir" build -q -o step.weir fewer; equal "$(is step.weir bytes)" 1048576 'as -m was'
	run 0 "$weir" build -q -o step.weir a100k
	equal "$(is step.weir bytes)" $((4 << 20)) 'as -m was, doubled twice'
}

# --like is for images to be merged: never smaller than the model, larger if necessary.
test_like_doubles() {
	run 0 "$weir" build -q -p 1% -o model.weir a1000
	run 0 "$weir" build --json --like=model.weir -o like.weir a499
	json out 'j["capacity"] == 1000 and j["seed_kept"] and j["size_kept"]'
	run 0 "$weir" build --json --like=model.weir -o like.weir a2001
	json out '4000 <= j["capacity"] < 4200 and j["seed_kept"] and not j["size_kept"]'
	equal "$(is like.weir seed_fingerprint)" "$(is model.weir seed_fingerprint)" --like
}

# Without this, a job that omits the option adds prefixes as plain lines.
test_a_rebuild_does_the_same_to_keys() {
	printf '10.0.0.0/8\n192.0.2.1\n' >nets
	run 0 "$weir" build -q --cidr --trim -p 1% -o nets.weir nets
	cp nets.weir model.weir
	run 0 "$weir" build -q -o nets.weir nets; same nets.weir model.weir 'a rebuild'
	run 0 "$weir" build -q --new-seed -o nets.weir nets
	run 0 "$weir" query -c nets.weir <(echo ' 10.1.2.3'); prints '^1$'
	run 0 "$weir" build -q --like=model.weir -o alike.weir nets
	same alike.weir model.weir --like
	run 2 "$weir" build -q --cidr --like=model.weir -o alike.weir nets
	says '^weir build: --like=model.weir: not the same is done to its keys (trim, cidr): '
	run 2 "$weir" build -q --hosts -o nets.weir nets; says 'built with --trim --cidr, '
	run 1 "$weir" build --json --cidr -o nets.weir nets
	run 0 "$weir" build --json --force --cidr -o nets.weir nets
	json out 'j["normalised"] == "cidr" and j["seed_kept"] and not j["size_kept"]'
	chmod g+w nets.weir
	run 0 "$weir" build -q -o nets.weir nets
	says 'nor is done again .* its keys (cidr), unless'
	equal "$(is nets.weir format)" 1 'of others'
}

# The requested rate is per answer, an image's rate per lookup: they must not be compared directly.
test_lookups_keep_the_size() {
	local i rate
	for i in {0..255}; do printf '10.%d.0.0/16\n10.9.%d.0/24\n10.9.9.%d\n' $i $i $i; done >nets3
	for rate in 1% 0.7%; do
		run 0 "$weir" build -q --new-seed --cidr -p $rate -o size.weir nets3
		cp size.weir before.weir
		run 0 "$weir" build -q -o size.weir nets3; same size.weir before.weir "$rate before"
		run 0 "$weir" build -q -p $rate -o size.weir nets3
		same size.weir before.weir "$rate again"
		run 0 bash -c "'$weir' build -q -p $rate -o size.weir <nets3"
		same size.weir before.weir "$rate from a pipe"
	done
	# With fewer lookups the same bytes can hold more keys, and with more lookups fewer keys.
	local bytes
	bytes=$(is size.weir bytes)
	grep -v /24 nets3 >nets2
	run 0 "$weir" build --json -p 0.7% -o size.weir nets2
	json out "j['lookups'] == 2 and j['size_kept'] and j['bytes'] == $bytes" \
		"and abs(j['fp_rate_answer'] - 0.007) < 1e-4 and j['capacity'] > 768"
	run 0 "$weir" build --json -o size.weir nets3
	json out "j['lookups'] == 3 and j['bytes'] == $bytes and j['size_kept']" \
		"and abs(j['fp_rate_answer'] - 0.007) < 1e-4"
	run 0 "$weir" build --json -o size.weir nets3 <(printf '10.0.0.0/%d\n' {8..15})
	json out "j['lookups'] == 11 and j['bytes'] == 2 * $bytes and not j['size_kept']" \
		"and abs(j['fp_rate_answer'] - 0.007) < 1e-4"
	run 0 "$weir" build -q --cidr -n 5000 -p 1% -o size.weir nets3
	equal "$(is size.weir capacity)" 5000 -n
}

# Lookups in the union use the prefix lengths of both images, folded or not.
test_merge_unites_lengths() {
	run 0 "$weir" build -q --cidr -s 7 -n 2000 -m 8K -o wide.weir <(echo 10.0.0.0/8)
	run 0 "$weir" build -q --cidr -s 7 -n 1000 -m 4K -o narrow.weir <(echo 11.1.1.0/24)
	local order
	for order in 'wide.weir narrow.weir' 'narrow.weir wide.weir'; do
		# shellcheck disable=SC2086
		run 0 "$weir" merge --json -o union.weir $order; json out 'j["folded"]'
		run 0 "$weir" query -c union.weir <(printf '10.9.9.9\n11.1.1.9\n12.0.0.1\n')
		prints '^2$'
	done
}

# Larger images can be merged if they can be folded to the size of the smallest.
test_merge_folds() {
	seq 10000 >low
	seq 10001 15000 >high
	seq 20001 90000 >further
	run 0 "$weir" build -q -s 7 -n 100000 -p 1% -o large.weir low
	run 0 "$weir" build -q -s 7 -n 50000 -p 1% -o half.weir high
	run 0 "$weir" build -q -s 7 -n 30000 -p 1% -o odd.weir high
	equal "$(is large.weir bytes)" $((2 * $(is half.weir bytes))) 'the example'
	rm union.weir
	local order
	for order in 'large.weir half.weir' 'half.weir large.weir' \
			'large.weir half.weir large.weir' 'large.weir half.weir half.weir'; do
		# shellcheck disable=SC2086
		run 0 "$weir" merge -o union.weir $order
		prints '  size  *that of the smallest image: larger ones were folded'
		prints '  capacity  *50,000$'
		run 0 "$weir" query -c union.weir low high; prints '^15000$'
		run 0 "$weir" verify -q union.weir
	done
	run 1 "$weir" merge -o none.weir large.weir odd.weir
	says '^weir merge: odd.weir, merged into large.weir: it has .* 2, 4, 8, .*--like'
	run 0 "$weir" build -q -s 8 -n 50000 -p 1% -o other.weir high
	run 1 "$weir" merge -o none.weir large.weir other.weir; says 'merged into .*seed differs'
	run 2 "$weir" merge --max-memory=150K -o none.weir large.weir half.weir
	says 'half.weir, merged into .*--max-memory leaves'
	run 0 "$weir" build -q -s 7 -n 100000 -p 1% -o large.weir further low
	run 1 "$weir" merge -q -o none.weir large.weir half.weir; says 'none.weir: not written: '
	absent none.weir 'unions that were refused'
}

# Whoever may write the old image may have chosen its seed.
test_a_seed_of_others_is_not_kept() {
	run 0 "$weir" build -q -o others.weir a1000
	local seed
	seed=$(is others.weir seed_fingerprint)
	chmod g+w others.weir
	run 0 "$weir" build -q -o others.weir a1000
	says '^weir build: others.weir: its seed is not kept, since others may write it (mode 0664)'
	differ "$(is others.weir seed_fingerprint)" "$seed" 'mode 664'
	seed=$(is others.weir seed_fingerprint)
	chmod 664 others.weir
	run 0 "$weir" build -q --new-seed -o others.weir a1000
	if grep -q 'seed is not kept' err; then fail 'a warning of what was asked'; else ok; fi
	if [ "$(id -u)" = 0 ]; then
		chown 1 others.weir
		run 0 "$weir" build -q -o others.weir a1000; says 'since user 1, who owns it,'
	fi
	(umask 077; head -c 16 /dev/urandom >key; head -c 16 /dev/urandom >other_key)
	run 0 "$weir" build -q --new-seed -o hash.weir a1000
	run 0 "$weir" build -q --keyed-by=key -o hash.weir a1000
	says 'hashed by XXH3, and are keyed'
	run 0 "$weir" build --keyed-by=key -o hash.weir a500
	prints '  key  *that of the image that is replaced'
	prints '  size  *that of the image that is replaced'
	cp hash.weir before.weir
	run 1 "$weir" build -q --keyed-by=other_key -o hash.weir a500
	says 'hash.weir: not replaced: is keyed, and would be keyed by another key, .*--force$'
	same hash.weir before.weir 'an image of another key was replaced'
	run 0 "$weir" build -q --force --keyed-by=other_key -o hash.weir a500
	says 'keyed by another key: servers that follow it refuse that'
	run 0 "$weir" build -q --force -o hash.weir a500
	says 'hashed by SipHash-2-4, and are not keyed'
}

# A damaged image may have lost the seed that servers require, and may be a sign of other damage.
test_a_damaged_image_stays() {
	local at # fixed seeds: damage() must change both bytes
	for at in 60 20; do
		run 0 "$weir" build -q -s 7 -o whole.weir a1000
		[ $at = 60 ] || at=$(($(stat -c %s whole.weir) - 30))
		cp whole.weir damaged.weir
		damage damaged.weir $at
		cp damaged.weir before.weir
		run 2 "$weir" build -q -o damaged.weir a1000
		says '^weir build: damaged.weir: not replaced: .*--force$'
		same damaged.weir before.weir 'a damaged image was replaced'
		run 0 "$weir" build -q --force -o damaged.weir a1000
		run 0 "$weir" verify -q damaged.weir
	done
	run 0 "$weir" build -q -s 7 --zstd -o packed.weir a1000
	damage packed.weir $(($(stat -c %s packed.weir) - 30))
	run 2 "$weir" build -q -o packed.weir a1000; says 'not replaced'
	run 0 "$weir" build -q --force -o packed.weir a1000; says 'its seed is not kept'
}

# weir build --force --keyed-by=key -o key must not replace the key.
test_the_key_is_not_replaced() {
	local name
	(umask 077; head -c 16 /dev/urandom >key)
	cp key key.before
	ln key hard.key
	for name in key ./key hard.key; do
		run 1 "$weir" build --force --keyed-by=key -o $name a1000
		says "^weir build: $name: not replaced: it is the file that the key is read from"
	done
	same key key.before 'the key'
}

# weir build -o keys.txt keys.txt must not replace the keys.
test_keys_are_not_replaced() {
	seq 2000 >keys.txt
	cp keys.txt keys.before
	ln -s keys.txt link
	ln keys.txt hard
	local name
	for name in keys.txt ./keys.txt link hard; do
		run 1 "$weir" build -o $name keys.txt
		says "^weir build: $name: not replaced: "
		run 1 "$weir" build --force -o $name a1000 keys.txt a500
		says "^weir build: $name: not replaced: it is the same file as keys.txt, "
	done
	run 1 bash -c "'$weir' build --force -o keys.txt <keys.txt"; says 'it is standard input'
	run 1 bash -c "'$weir' build --force -o keys.txt a500 - <keys.txt"; says 'standard input'
	run 1 "$weir" build -o keys.txt a1000
	says '^weir build: keys.txt: not replaced: it is neither a weir image nor empty: check '
	if grep -q -- --force err; then fail 'advice to replace what is no image'; else ok; fi
	run 0 "$weir" build -q -o image.weir a1000
	run 1 "$weir" merge -o keys.txt image.weir; says 'keys.txt: not replaced: it is neither'
	run 1 "$weir" delta -o keys.txt image.weir image.weir; says 'nor empty: check the path'
	if grep -q -- --force err; then fail 'advice to replace what is no delta'; else ok; fi
	same keys.txt keys.before 'the keys'
	run 1 "$weir" build -q -o image.weir image.weir; says 'which the keys are read from'
	: >made_by_mktemp
	run 0 "$weir" build -q -o made_by_mktemp a1000
	run 0 "$weir" merge -q --force -o keys.txt image.weir
	run 0 "$weir" build -q -o keys.txt a1000
	cp keys.before keys.txt
	run 0 "$weir" build -q --force -o keys.txt a1000
	says 'not compared with the file that it replaces'
}

# The message about an overfull set names a number of keys that suffices.
test_overfull_names_the_room_that_fits() {
	run 0 "$weir" build -q -s 7 -n 1000 -p 1% -o grown.weir a1000
	cp grown.weir before.weir
	run 1 "$weir" build -q -n 1000 -p 1% -o grown.weir a2001
	same grown.weir before.weir 'an overfull set replaced an image'
	local room
	room=$(sed -n 's/.*; -n \([0-9]*\) has room for them, or.*/\1/p' err)
	run 0 "$weir" build -q -n "${room:-1}" -p 1% -o grown.weir a2001
	same err /dev/null "-n $room"
	run 1 "$weir" build -q -n 10 -p 1% -o grown.weir a2001; says '; -n 2010 has room for them'
	run 0 "$weir" build -q -n 1800 -p 1% -o grown.weir a2001; says '; -n 2[0-9]* has room'
}

# Both problems are reported at once.
test_overfull_and_shrunk_together() {
	seq 100000 >a100k
	run 0 "$weir" build -q -p 1% -o large.weir a100k
	run 1 "$weir" build -q -n 500 -p 1% -o large.weir a2001
	says 'large.weir: not written: .*--allow-overfull$'
	says 'large.weir: not replaced: .*--allow-shrink$'
}

# A job whose export was cut short at 59 %, with status 0, must not publish the incomplete set.
test_min_keys_refuses_an_export_that_was_cut_short() {
	seq 1000 >whole
	seq 590 >short
	cat short short >short_twice
	local kind
	for kind in blocked classic counting growing cuckoo fuse layered split frequency; do
		run 0 "$weir" build -q -k $kind --min-keys=1k -o $kind.weir whole
		cp $kind.weir before.weir
		run 1 "$weir" build -q -k $kind --min-keys=1K -o $kind.weir short
		says 'short: 590 keys, where --min-keys is 1000: nothing was written'
		same $kind.weir before.weir "the image stays: $kind"
		[ $kind != cuckoo ] || continue # a cuckoo filter stores each copy of a key
		run 1 "$weir" build -q -k $kind -n 1200 --min-keys=1e3 -o $kind.weir short_twice
		case $kind in
		fuse | layered) says 'short_twice: 1180 keys, 590 of them different, where' ;;
		*) says 'short_twice: 1180 keys, about [56][0-9][0-9] of them different, where' ;;
		esac
		same $kind.weir before.weir "the image stays: $kind"
	done
	run 0 "$weir" build -q --min-keys=590 -k fuse -o exact.weir short_twice
	run 1 "$weir" build -q --min-keys=591 -k fuse -o exact.weir short_twice
	run 1 "$weir" build -q --min-keys=1001 -o few.weir whole
	says 'whole: 1000 keys, where --min-keys is 1001: nothing was written: is the export comp'
	run 1 "$weir" build -q --min-keys=2 -o few.weir <(echo one); says ': 1 key, where --min'
	run 1 "$weir" build -q --min-keys=600 -o few.weir --like=blocked.weir short
	says 'short: 590 keys, where'
	echo one_more > one
	run 1 "$weir" build -q --min-keys=1k -o few.weir short one
	says 'short and 1 more file: 591 keys'
	run 1 bash -c "'$weir' build -q --min-keys=1k -o - <short >few.stdout"
	says 'standard input: 590 keys, where'
	same few.stdout /dev/null 'nothing on standard output'
	run 1 "$weir" build -q --min-keys=600 -k layered --exclude=<(seq 591 900) -o few.weir short
	says 'short: 590 keys, where' # those of the other list do not count
	absent few.weir 'a set of too few keys'
	# The input without keys is named first, and the option that would let it pass is no remedy.
	run 1 "$weir" build -q --min-keys=5 -o few.weir /dev/null
	says 'no keys in .*--allow-empty publishes an empty set, without --min-keys$'
	run 2 "$weir" build -q --min-keys=5 --allow-empty -o few.weir short
	says 'leave out one of them'
	# Too full for an estimate: the lines are counted, and a message says so.
	run 0 "$weir" build -q -n 30 --allow-overfull --min-keys=1k -o full.weir short_twice
	says '^weir build: full.weir: --min-keys counts repeated keys too: nearly every bit is set'
	run 0 "$weir" build -q -n 30 --allow-overfull -o full.weir short_twice
	if grep -q min-keys err; then fail 'a word on an option that was not given'; else ok; fi
}

for part in a_rebuild_keeps_the_seed the_size_goes_by_steps like_doubles \
		a_rebuild_does_the_same_to_keys lookups_keep_the_size merge_unites_lengths \
		merge_folds a_seed_of_others_is_not_kept a_damaged_image_stays \
		keys_are_not_replaced the_key_is_not_replaced overfull_names_the_room_that_fits \
		overfull_and_shrunk_together min_keys_refuses_an_export_that_was_cut_short; do
	test_$part
done
finish
