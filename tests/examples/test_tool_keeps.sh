#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the properties that an image keeps when build, merge, apply or route --build replaces it
# without --force. Usage: test_tool_keeps.sh path/to/weir
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 5000 >a
seq 20 >b
seq 4001 9000 >c
(umask 077; head -c 16 /dev/urandom >key)
run 0 "$weir" build -q -s 7 -o plain.weir a
run 0 "$weir" build -q --like=plain.weir -o other.weir a
run 0 "$weir" build -q -s 7 --trim --lowercase -o steps.weir a
run 0 "$weir" build -q --keyed-by=key -o keyed.weir a
run 0 "$weir" route --build -q -s 7 -o sets.weir x=a y=c z=b
run 0 "$weir" route --build -q -s 7 -o fewer.weir x=a y=c
run 0 "$weir" build -q -s 9 -o small.weir b

# from OLD NEW: make ./delta, which changes OLD into NEW.
from() { run 0 "$weir" delta -q --force -o delta "$1" "$2"; }
# kept IMAGE PATTERN COMMAND...: -o set.weir over a copy of IMAGE is refused; --force replaces it.
kept() {
	local image=$1 pattern=$2
	shift 2
	cp "$image" set.weir
	run 1 "$weir" "$@" -q -o set.weir
	says "set.weir: not replaced: $pattern"
	same set.weir "$image" "refused: $*"
	run 0 "$weir" "$@" -q --force -o set.weir
	if cmp -s set.weir "$image"; then fail "--force: $*"; else ok; fi
}

test_does_a_replaced_image_keep_its_steps() {
	local with='the image was built with --trim --lowercase, and servers .*--force if you mean'
	kept steps.weir "$with" build --plain-keys a
	kept steps.weir "$with" merge plain.weir other.weir
	from other.weir plain.weir
	kept steps.weir "$with" apply other.weir delta
	from plain.weir steps.weir
	kept plain.weir 'the image was built without --trim --lowercase' apply plain.weir delta
	kept plain.weir 'the image was built without --trim --lowercase' merge steps.weir
}

test_does_a_replaced_image_keep_its_key() {
	local with='is keyed, and would not be.*--keyed-by=FILE, or if it is meant, --force'
	kept keyed.weir "$with" build a
	kept keyed.weir "$with" build --new-seed a
	kept keyed.weir "$with" merge plain.weir other.weir
	from other.weir plain.weir
	kept keyed.weir "$with" apply other.weir delta
	run 0 "$weir" route --build -q --keyed-by=key -o keyed_sets.weir x=a
	kept keyed_sets.weir "$with" route --build x=a
	cp keyed.weir set.weir
	run 0 "$weir" merge -q --keyed-by=key -o set.weir keyed.weir
	run 0 "$weir" build -q --keyed-by=key -o set.weir a
}

test_does_a_replaced_router_keep_its_sets() {
	local lost="1 of its 3 sets would be lost, the first is 'z'"
	kept sets.weir "$lost" route --build x=a y=c
	from plain.weir fewer.weir
	kept sets.weir "$lost" apply plain.weir delta
	kept sets.weir "$lost" merge fewer.weir
	cp fewer.weir set.weir
	run 0 "$weir" route --build -q -o set.weir z=b y=c x=a # more of them, in another order
}

# The name of a kept set may begin with the name of a lost set, and vice versa.
test_is_a_set_lost_whose_name_begins_that_of_another() {
	local lost='1 of its 2 sets would be lost, the first is'
	run 0 "$weir" route --build -q -s 7 -o ads.weir ads=a other=c
	run 0 "$weir" route --build -q -s 7 -o ads2.weir ads2=a other=c
	kept ads.weir "$lost 'ads'" route --build ads2=a other=c
	kept ads2.weir "$lost 'ads2'" route --build ads=a other=c
}

# The kind of the delta's old image was once compared, so a router could become a blocked set.
test_is_the_kind_that_of_what_the_delta_makes() {
	from sets.weir plain.weir
	kept sets.weir 'is of kind router, and would be of kind blocked' apply sets.weir delta
	cp sets.weir set.weir
	run 1 "$weir" apply -q -o set.weir set.weir delta; same set.weir sets.weir 'in place'
	from plain.weir sets.weir
	cp fewer.weir set.weir
	run 0 "$weir" apply -q -o set.weir plain.weir delta; same set.weir sets.weir 'of one kind'
}

# shrinks IMAGE COMMAND...: the command is refused because the image would shrink.
shrinks() {
	local image=$1
	shift
	cp "$image" set.weir
	run 1 "$weir" "$@" -q -o set.weir
	says 'about [12][0-9] different keys, where the old image has about [45].*--allow-shrink$'
	same set.weir "$image" "refused: $*"
	run 0 "$weir" "$@" -q --allow-shrink -o set.weir
}

test_does_a_replaced_image_keep_most_of_its_keys() {
	shrinks plain.weir build b
	shrinks plain.weir merge small.weir
	from plain.weir small.weir
	shrinks plain.weir apply plain.weir delta
	shrinks fewer.weir route --build x=b y=b
	run 0 "$weir" info --json set.weir
	json out 'j[0]["shrink_allowed"] and not j[0]["overfull_allowed"]'
	# The publisher's image has the mark that allows shrinking, so no option is needed.
	cp plain.weir set.weir
	run 0 "$weir" build -q --allow-shrink -o set.weir b
	from plain.weir set.weir
	cp plain.weir copy.weir
	run 0 "$weir" apply -q -o copy.weir copy.weir delta; same copy.weir set.weir 'as allowed'
}

# Only one mark of an image allows it to shrink: not the marks of a keyed set, of an overfull set or
# of a set that stores keys once.
test_may_only_an_image_marked_so_shrink() {
	run 0 "$weir" build -q --keyed-by=key -o keyed_small.weir b
	from keyed.weir keyed_small.weir
	shrinks keyed.weir apply keyed.weir delta
	cp small.weir full.weir
	run 0 "$weir" add -q --allow-overfull full.weir <(seq 10)
	run 0 "$weir" info --json full.weir; json out 'j[0]["overfull_allowed"]'
	from plain.weir full.weir
	shrinks plain.weir apply plain.weir delta
	run 0 "$weir" build -q -k counting --once -o counts.weir a
	run 0 "$weir" build -q -k counting --once -o few_counts.weir b
	from counts.weir few_counts.weir
	shrinks counts.weir apply counts.weir delta
}

# works FIRST OTHER: the command in merge's message makes an image that can be merged.
works() {
	run 1 "$weir" merge -q -o none.weir "$1" "$2"
	says 'anew of its keys, and merge that: weir build --like='
	local command model
	command=$(sed -n 's/.*: weir \(build --like=.*\) NEW KEYS$/\1 new.weir c/p' err)
	model=$(sed -n 's/.*--like=\([^ ]*\) .*/\1/p' err)
	rm -f new.weir
	# shellcheck disable=SC2086
	run 0 "$weir" $command -q
	run 0 "$weir" merge -q --allow-overfull --force -o none.weir "$model" new.weir
	rm -f none.weir
}

# The command once named the old image, which was then not replaced, or a pipe that had been read
# already.
test_does_the_command_that_merge_names_work() {
	run 0 "$weir" build -q -s 9 --lowercase -o lower.weir a
	run 0 "$weir" build -q -k classic -o classic.weir a
	run 0 "$weir" build -q -s 9 -o seed.weir a
	works plain.weir lower.weir
	works plain.weir classic.weir
	works plain.weir sets.weir
	works sets.weir plain.weir
	works <(cat plain.weir) seed.weir
	works plain.weir <(cat seed.weir)
	run 0 "$weir" route --build -q -s 8 -o sets_8.weir x=a y=c z=b
	run 1 "$weir" merge -q -o none.weir sets.weir sets_8.weir
	says 'the same -s SEED and -n N (weir build .* weir route --build -o NEW NAME=KEYS...)$'
	for set in 1 2; do
		run 0 "$weir" route --build -q -s 8 -n 9000 -o "new_$set.weir" x=a y=c z=b
	done
	run 0 "$weir" merge -q -o none.weir new_1.weir new_2.weir
}

test_does_the_command_that_merge_names_work
test_does_a_replaced_image_keep_its_steps
test_does_a_replaced_image_keep_its_key
test_does_a_replaced_router_keep_its_sets
test_is_a_set_lost_whose_name_begins_that_of_another
test_is_the_kind_that_of_what_the_delta_makes
test_does_a_replaced_image_keep_most_of_its_keys
test_may_only_an_image_marked_so_shrink
finish
