#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests each command on each kind of image: the command works and keeps the image's kind, or refuses
# with a message that names a remedy. Usage: test_tool_kinds.sh path/to/weir path/to/make_window
make_window=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 2000 >some
seq 1900 2100 >more
seq 5000 6000 >others
echo 10.0.0.0/8 >nets
(umask 077; printf 0123456789abcdef >key)

# Make the images, each in a file named after its form.
make_images() {
	run 0 "$weir" build -q -s 7 -o plain some
	cp plain old
	run 0 "$weir" add -q plain more
	run 0 "$weir" build -q --keyed-by=key -o keyed some
	run 0 "$weir" build -q --cidr -o normalised nets
	run 0 "$weir" build -q --allow-overfull --allow-shrink -o marks some
	run 0 "$weir" build -q -n 10M -o sharded some
	run 0 "$weir" build -q -k layered --exclude=others -o layered some
	run 0 "$weir" build -q -k fuse -o fuse some
	run 0 "$weir" route --build -q -o router a=some b=more
	run 0 "$make_window" window 0 0 1 a b c
	run 0 "$weir" delta -q -o delta old plain
}

# + the command works; - it refuses, and the image stays. A row has a name, a sign for each image,
# and the command: @ is the image, and KEYS a file of keys for it. The delta changes old into plain.
images=(plain keyed normalised marks sharded layered fuse router window delta)
matrix='
build         + + + + + - + - - -  build -q -o @ KEYS
build-n       + + + + + - + - - -  build -q -n 5000 -o @ KEYS
build-p       + + + + + - + - - -  build -q -p 2% -o @ KEYS
build-m       + + + + + - + - - -  build -q -m 1M -o @ KEYS
build-n-force + + + + + - + + + +  build -q --force -n 5000 -o @ KEYS
build-k       + + + + + - + - - -  build -q -k blocked -o @ KEYS
build-like    + - - + + - - - - -  build -q --allow-shrink --like=plain -o @ KEYS
like          + + + + + - + - - -  build -q --like=@ -o new KEYS
excluding     - - - - - + - - - -  build -q --exclude=others -n 5000 -o @ KEYS
add           + + + + + - - - - -  add -q @ KEYS
add-live      + + + + + - - - - -  add -q --live @ KEYS
remove        - - - - - - - - - -  remove -q @ KEYS
count         - - - - - - - - - -  count @ KEYS
query         + + + + + + + + + -  query -c @ KEYS
route         - - - - - - - + - -  route @ KEYS
info          + + + + + + + + + +  info @
metrics       + + + + + + + + + -  info --prometheus @
verify        + + + + + + + + + +  verify @
seal          + + + + + + + + + -  seal @
merge         + + + + + - - + - -  merge -q -o new @ @
merge-onto    + - - + + - - - - -  merge -q --allow-shrink -o @ old
delta         + + + + + + + + + -  delta -q --force -o new old @
apply         - - - - - - - - - -  apply -q -o new @ delta
apply-it      - - - - - - - - - +  apply -q -o new old @
apply-onto    + - - + + - - - - -  apply -q -o @ old delta
build-router  - - - - - - - + - -  route --build -q -o @ a=some b=more
delta-onto    - - - - - - - - - +  delta -q -o @ old plain
drill         - - - - - - - - - -  drill -d 1 @
parquet       - - - - - - - - - -  parquet @
'

kind_of() { "$weir" info --json "$1" 2>/dev/null | sed -n 's/^ *"kind": "\(.*\)",$/\1/p'; }

remedies='weir [a-z]+|--[a-z]|-k |apply it to|leave it out|another name|check the path'
# one IMAGE WANTED COMMAND...: test one cell of the matrix.
one() {
	local image=$1 wanted=$2 keys=some status
	shift 2
	[ "$image" != normalised ] || keys=nets
	set -- "${@//KEYS/$keys}"
	set -- "${@//@/img}"
	[ "$image" != keyed ] || case $1 in
	build | add | remove | count | query | route | merge) set -- "$1" --keyed-by=key "${@:2}" ;;
	esac
	cp "$image" img
	rm -f new
	"$weir" "$@" >out 2>err </dev/null
	status=$?
	case $wanted$status in
	+0 | +1) # a query without a line has 1
		[ "$status" = 0 ] || [ "$1" = query ] || fail "$image: exit 1: $*"
		[ "$image" = delta ] || [[ $* = *--force* || $* = *\ -k\ * ]] ||
			[ "$(kind_of "$image")" = "$(kind_of img)" ] ||
			fail "$image: its kind is $(kind_of img) after $*"
		ok
		;;
	-[12])
		if sed 's/^weir [a-z]*: //' err | grep -qE "$remedies"; then ok; else
			fail "$image: $* names no remedy" "$(head -n 3 err)"
		fi
		same "$image" img "what $* refuses"
		;;
	*) fail "$image: exit $status, wanted $wanted: $*" "$(head -n 3 err)" ;;
	esac
}

test_each_command_works_on_a_kind_or_names_the_remedy() {
	local name cells image words i
	while read -r name cells; do
		[ "$name" ] || continue
		read -ra words <<<"$cells"
		for i in "${!images[@]}"; do
			one "${images[i]}" "${words[i]}" "${words[@]:${#images[@]}}"
		done
	done <<<"$matrix"
}

# A rebuild once silently lost the list and became blocked.
test_a_rebuild_of_a_layered_image_keeps_its_list() {
	local options
	for options in -n\ 5000 -p\ 2% -m\ 1M --like=plain -k\ blocked '--new-seed -n 5000'; do
		cp layered img
		# shellcheck disable=SC2086
		run 1 "$weir" build -q $options -o img some; says 'exclude'
		same layered img "$options"
	done
	run 0 "$weir" build -q -n 5000 --exclude=others -o img some
	[ "$(kind_of img)" = layered ] && ok || fail 'the kind with -n and --exclude'
	run 1 "$weir" query -c img others
	chmod g+w img # whoever may write it is not trusted with its seed; the kind stays
	run 1 "$weir" build -q -n 5000 -o img some; says 'exclude'
	run 0 "$weir" build -q -k layered -o img some # it has none now: that is meant
	run 0 "$weir" build -q --force -k blocked -o img some
}

# Counters once silently became bits, and a key that counted once became many.
test_a_rebuild_keeps_the_kind() {
	run 0 "$weir" build -q -k counting --counter-bits=16 --once -o img some
	run 0 "$weir" build -q -n 9000 -o img some
	run 0 "$weir" info --json img
	json out "j[0]['kind'] == 'counting' and j[0]['counter_bits'] == 16 and j[0]['once']"
	run 0 "$weir" build -q -n 9000 --counter-bits=8 -o img some
	run 0 "$weir" info --json img; json out "j[0]['counter_bits'] == 8 and j[0]['once']"
	run 2 "$weir" build -q -n 9000 --probes=7 -o img some
	says 'not for kind counting: leave it out, or give -k classic$'
	run 0 "$weir" build -q -n 9000 -k counting -o img some # named anew: nothing is taken over
	run 0 "$weir" info --json img; json out "not j[0]['once']"
	for kind in classic counting growing cuckoo fuse split frequency; do
		rm -f img
		run 0 "$weir" build -q -k $kind -o img some
		for option in '-n 9000' '-p 0.3%' '-m 1M' '--new-seed'; do
			# shellcheck disable=SC2086
			[ "$kind $option" = 'split --new-seed' ] ||
				run 0 "$weir" build -q $option -o img some
			[ "$(kind_of img)" = $kind ] && ok ||
				fail "$kind after $option: $(kind_of img)"
		done
	done
}

# The new image has another kind than the old image.
test_a_set_of_another_kind_replaces_none_by_a_slip() {
	cp router img
	run 1 "$weir" build -q -o img some
	says '^weir build: img: not replaced: is of kind router, .*: weir route --build makes one'
	run 0 "$weir" build -q --force -o img some
	cp layered img
	run 1 "$weir" merge -q -o img old; says 'without its list of keys that are excluded'
	run 0 "$weir" merge -q --force --allow-shrink -o img old
	cp fuse img
	run 1 "$weir" apply -q -o img old delta; says 'is of kind fuse, and would be of kind b'
	run 0 "$weir" apply -q --force -o img old delta; same img plain 'what --force replaces'
	run 2 "$weir" add -q router more; says 'no verb changes one of its sets: weir route --build'
	run 2 "$weir" build -q --like=router -o new some; says 'is a router: weir route --build'
}

make_images
for part in each_command_works_on_a_kind_or_names_the_remedy \
		a_rebuild_of_a_layered_image_keeps_its_list a_rebuild_keeps_the_kind \
		a_set_of_another_kind_replaces_none_by_a_slip; do
	test_$part
done
finish
