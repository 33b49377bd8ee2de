#!/bin/bash
# SPDX-License-Identifier: MIT
# The weir command on images of windows: info, query and verify read them, the others report that it
# is a window. Usage: test_tool_window.sh path/to/weir path/to/make_window.
make_window=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

printf '%s\n' alpha beta gamma delta >keys
(umask 077 && printf '0123456789abcdef' >key)
# made LEVEL KEYED SECONDS [IMAGE]: gamma is in the newest generation, which is so many seconds old.
made() { run 0 "$make_window" "${4:-w.weir}" "$1" "$2" "$3" alpha beta gamma; }

test_info() {
	made 0 0 0.5
	run 0 "$weir" info w.weir
	prints 'window, columns of 3 generations, 1 word of 10 bits a key'
	prints 'remembers  *for 2 s at least, an advance each 1 s$'
	prints 'or  *after 1,000 keys in a generation; so far 1$'
	prints 'saved  *20[0-9-]* [0-9:]* UTC$'
	prints 'generation 0  *became the newest 0.5 s before; bits set: 0.0'
	prints 'generation 2  *became the newest 2.5 s before; bits set: 0.0'
	prints 'keys, estimated  *3$'
	run 0 "$weir" info --json w.weir
	json out "(j[0]['kind'] == 'window' and j[0]['generations'] == 3 and
		j[0]['layout'] == 1 and j[0]['span_seconds'] == 2 and
		j[0]['generation_keys'] == 1000 and j[0]['keys_counted'] == 1 and
		j[0]['ages_seconds'] == [0.5, 1.5, 2.5] and len(j[0]['fills']) == 3 and
		j[0]['keys_estimated'] == 3 and j[0]['capacity'] == 3000 and
		0 <= $(date +%s) - j[0]['saved_seconds'] < 100)"
	run 0 "$weir" info --prometheus w.weir
	prints '^weir_image_keys{image="w.weir"} [23][.]'
	prints '^weir_image_saturated{image="w.weir"} 0$'
	run 0 "$make_window" w.weir 0 0 0 alpha
	run 0 "$weir" info w.weir
	prints 'generation 1  *was never the newest$'
	run 0 "$weir" info --json w.weir; json out 'j[0]["ages_seconds"] == [0, None, None]'
}

# Compressed content is read only on request. Statistics do not need the key.
test_compressed_and_keyed() {
	made 3 1 0.5
	run 0 "$weir" info w.weir; prints 'compressed: not looked at'
	run 0 "$weir" info --exact w.weir; prints 'generation 1  *became the newest 1.5 s'
	run 0 "$weir" verify w.weir; prints 'whole'
	run 2 "$weir" query w.weir keys; says 'w.weir: is keyed: give the key'
	run 0 "$weir" query --keyed-by=key -c w.weir keys; prints '^3$'
	(umask 077 && printf 'fedcba9876543210' >other_key)
	run 2 "$weir" query --keyed-by=other_key w.weir keys
	says 'w.weir: is keyed by another key'
	run 2 "$weir" query --max-memory=1 --keyed-by=key w.weir keys; says 'max-memory'
	run 2 "$weir" info --exact --max-memory=1 w.weir; says 'max-memory'
}

# Saturated as in weir_measure(): more keys than the capacity of 3,000, by three deviations.
test_overfull() {
	run 0 "$make_window" w.weir 0 0 0 alpha =2900
	run 0 "$weir" info --prometheus w.weir; prints '^weir_image_saturated{image="w.weir"} 0$'
	run 0 "$make_window" w.weir 0 0 0 alpha =4000
	run 0 "$weir" info --prometheus w.weir; prints '^weir_image_saturated{image="w.weir"} 1$'
	local fill
	fill=$(sed -n 's/^weir_image_fill_ratio{.*} //p' out)
	run 0 "$weir" info --json w.weir
	json out "abs(sum(j[0]['fills']) / 3 - $fill) < 1e-5 and j[0]['fills'][1:] == [0, 0]"
}

test_query() {
	made 0 0 0.5
	run 0 "$weir" query w.weir keys
	head -n 3 keys >known; same out known 'the three that were inserted'
	run 0 "$weir" query -v w.weir keys; prints '^delta$'
	run 0 "$weir" query --json w.weir keys; json out 'j["maybe"] == 3 and j["absent"] == 1'
	run 1 "$weir" query w.weir <(echo other)
	run 0 "$weir" query --lowercase --trim -c w.weir <(printf ' ALPHA \nBeta\nx\n')
	prints '^2$'
	run 0 "$weir" query --suffixes -c w.weir <(printf 'a.b.gamma\nx\n'); prints '^1$'
	run 2 "$weir" query --cidr w.weir keys; says 'not a set of prefixes'
}

# An advance is overdue since the save, and drops alpha's generation.
test_forget_older() {
	made 0 0 1.0
	run 0 "$weir" query -c w.weir keys; prints '^3$'
	"$weir" query --forget-older w.weir keys >out 2>err; [ $? != 2 ] && ok || fail 'trouble'
	if grep -q alpha out; then fail 'alpha is remembered for more than its time'; else ok; fi
	run 0 "$weir" build -q -n 10 -p 1% -o set.weir keys
	run 2 "$weir" query --forget-older set.weir keys; says 'set.weir is not a window'
}

test_others_say_whose_it_is() {
	made 0 0 0.5
	cp w.weir before.weir
	run 0 "$weir" build -q -n 10 -p 1% -o set.weir keys
	local command
	for command in 'add w.weir keys' 'remove w.weir keys' 'count w.weir keys' \
		'merge -o o.weir w.weir set.weir' 'merge -o o.weir set.weir w.weir' \
		'build --like=w.weir -o o.weir keys'; do
		# shellcheck disable=SC2086 # words
		run 2 "$weir" $command
		says 'w.weir: is a window: weir query, weir info and weir verify read it'
	done
	absent o.weir 'of a window'
	run 1 "$weir" build -o w.weir keys; says 'w.weir: not replaced: is of kind window'
	run 1 "$weir" build --new-seed -k classic -o w.weir keys; says 'is of kind window'
	same w.weir before.weir 'nothing of that changes a window'
}

test_damaged() {
	made 0 0 0.5
	printf 'x' | dd of=w.weir bs=1 seek=9000 conv=notrunc 2>dd_err
	run 2 "$weir" verify w.weir; says 'w.weir: damaged: '
	run 2 "$weir" query w.weir keys; says 'w.weir: '
	head -c 9000 before.weir >cut.weir
	run 2 "$weir" verify cut.weir; says 'damaged'
}

test_info
test_compressed_and_keyed
test_overfull
test_query
test_forget_older
test_others_say_whose_it_is
test_damaged
finish
