#!/bin/bash
# SPDX-License-Identifier: MIT
# What a rebuild takes from the image that it replaces, and which owners it trusts; a job's flow is
# in test_tool_rebuild.sh. Usage: test_tool_replaced.sh path/to/weir path/to/make_image
make_image=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1000 >a1000
seq 400000 >a400k
seq 20000 >a20k
seq 800000 >a800k

# is EXPRESSION: check weir info --json of set.weir.
is() {
	run 0 "$weir" info --json set.weir
	json out "(lambda j: $1)(j[0])"
}
build() { run 0 "$weir" build -q -o set.weir "$@"; }

# A requested layout takes effect even where the size would be kept.
test_a_layout_is_asked_for() {
	build -n 1000 -p 1% -z 2 a1000; is 'j["words_per_key"] == 2'
	build -z 4 a1000; is 'j["words_per_key"] == 4'
	build a1000; is 'j["words_per_key"] == 4'
	build -z 4 -g 1 a1000; is 'j["bits_per_word"] == 1'
	build -z 4 a1000; is 'j["bits_per_word"] == 1'
	build -z 4 -g 2 a1000; is '(j["words_per_key"], j["bits_per_word"]) == (4, 2)'
	build -k classic --probes=5 -p 1% a1000; is 'j["probes"] == 5'
	build -k classic a1000; is 'j["probes"] == 5'
	build -k classic --probes=6 a1000; is 'j["probes"] == 6'
	run 0 "$weir" query -c set.weir a1000; prints '^1000$'
}

# The size from -m is kept to the byte, whatever the rate.
test_a_size_that_was_given() {
	local memory
	for memory in 1K 2000 7777 4K 33K 100000; do
		build --new-seed -n 1000 -m $memory a1000
		cp set.weir before.weir
		build a1000; same set.weir before.weir "-n 1000 -m $memory"
		build --new-seed -m $memory a1000
		cp set.weir before.weir
		build a1000; same set.weir before.weir "-m $memory"
	done
}

# Half of an odd number of lines is rounded up, so that the requested rate is kept.
test_half_of_an_odd_size() {
	rm -f set.weir
	build -p 1% a1000; is 'j["bytes"] == 21 * 64'
	head -n 499 a1000 >a499
	build a499; is '(j["bytes"], j["fp_rate"]) == (11 * 64, 0.01) and j["capacity"] >= 499'
}

# A program made the image with another number of shards than the command would choose.
test_shards_are_kept() {
	run 0 "$make_image" set.weir 1 400000 2
	is 'j["shards"] == 2'
	local bytes
	bytes=$(python3 -c 'import json; print(json.load(open("out"))[0]["bytes"])')
	cp set.weir model.weir
	build a400k; is "(j['shards'], j['bytes']) == (2, $bytes)"
	run 0 "$weir" merge -q -o union.weir model.weir set.weir
	build a800k; is "(j['shards'], j['bytes']) == (4, 2 * $bytes)"
	run 0 "$weir" merge -q --allow-overfull -o union.weir model.weir set.weir
	run 0 "$weir" query -c union.weir a800k; prints '^800000$'
	build a400k; is "(j['shards'], j['bytes']) == (2, $bytes)"
}

# Everybody who may write an image may have chosen its seed, whatever grants the right.
test_whoever_may_write_it() {
	local mode
	for mode in 602 620 666; do
		rm -f set.weir
		build a1000
		chmod $mode set.weir
		build a1000
		says "seed is not kept, since others may write it (mode 0$mode)"
	done
	for mode in 600 644 755; do
		rm -f set.weir
		build a1000
		chmod $mode set.weir
		run 0 "$weir" build --json -o set.weir a1000; json out 'j["seed_kept"]'
		same err /dev/null "mode $mode"
	done
}

# All users trust an image of root; only its owner trusts another user's image.
test_other_users() {
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if [ "$(id -u)" != 0 ] || ! chmod 755 . || ! "${as[@]}" "$weir" --version >out 2>&1; then
		echo 'skipped: not root, or other users cannot run the command here'
		return
	fi
	mkdir -m 777 theirs
	cp a1000 theirs
	cd theirs || exit 1
	build a1000
	run 0 "${as[@]}" "$weir" build --json -o set.weir a1000; json out 'j["seed_kept"]'
	says 'set.weir: was of user 0, group 0, mode 0644; is of user 65534, group 65534, mode 0644'
	run 0 "${as[@]}" "$weir" build --json -o set.weir a1000; json out 'j["seed_kept"]'
	same err /dev/null 'whose it is has not changed'
	run 0 "$weir" build --json -o set.weir a1000; json out 'not j["seed_kept"]'
	says 'since user 65534, who owns it,'
	chown 1 set.weir
	run 0 "${as[@]}" "$weir" build --json -o set.weir a1000; json out 'not j["seed_kept"]'
	says 'since user 1, who owns it,'
	cd ..
}

# Hashes that are kept until they are counted take memory besides the filter.
test_hashes_count_too() {
	local build="'$weir' build -q -t 1 -p 0.0001% -o none.weir"
	run 2 bash -c "seq 1000000 | $build --max-memory=14M"
	says 'the filter needs .* beside the hashes of its keys: more than --max-memory allows'
	run 0 bash -c "seq 1000000 | $build --max-memory=18M"
}

for part in a_layout_is_asked_for a_size_that_was_given half_of_an_odd_size \
		shards_are_kept whoever_may_write_it \
		other_users hashes_count_too; do
	test_$part
done
finish
