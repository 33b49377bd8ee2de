#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests weir delta and weir apply. Usage: test_tool_delta.sh path/to/weir path/to/make_image
make_image=$(realpath "$2")
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1 20000 >first
seq 1 20100 >second
seq 101 20200 >third

test_made_and_applied() {
	run 0 "$weir" build -q -n 25000 -o set.weir first
	cp set.weir first.weir
	run 0 "$weir" build -q -o set.weir second
	run 0 "$weir" delta -o one.delta first.weir set.weir
	prints '^one.delta$'
	prints 'from image  *[0-9a-f]*, generation 0'
	prints 'changed  *1 of its 1 pieces of 1 MiB'
	run 0 "$weir" apply -o made.weir first.weir one.delta
	prints 'deltas  *1$'
	same made.weir set.weir 'what a delta makes'
	run 0 "$weir" query -c made.weir second; prints '^20100$'
	cp set.weir second.weir
	run 0 "$weir" build -q --zstd -o set.weir third
	run 0 "$weir" delta -q -o two.delta second.weir set.weir
	[ ! -s out ] && ok || fail 'a report in spite of -q'
	run 0 "$weir" apply --json -o chain.weir first.weir one.delta two.delta
	json out "j['deltas'] == 2 and j['output'] == 'chain.weir'"
	run 0 "$weir" query -c chain.weir third; prints '^20100$'
	"$make_image" of_1.weir 1 100000 1
	"$make_image" of_2.weir 2 100000 1
	run 0 "$weir" delta -o numbered.delta of_1.weir of_2.weir
	prints 'from image .*, generation 1'
	run 0 "$weir" apply --json -o numbered.weir of_1.weir numbered.delta
	json out "j['generation'] == 2"
	run 0 "$weir" apply -q -o first.weir first.weir one.delta # in place
	same first.weir second.weir 'what a delta makes in place'
	run 0 "$weir" verify first.weir
}

test_info() {
	run 0 "$weir" delta --json -o info.delta second.weir set.weir
	json out "(j['format'] == 1 and j['changed'] == 1 and j['share'] < 1 and
		len(j['old_id']) == 16 and j['old_id'] != j['new_id'])"
	run 0 "$weir" info info.delta; prints 'to image'; prints 'that image, plain'
	run 0 "$weir" info --json info.delta set.weir
	json out "j[0]['delta'] == 'info.delta' and j[1]['image'] == 'set.weir'"
}

test_options_count() {
	local bytes
	run 0 "$weir" delta -q --zstd=1 -o fast.delta second.weir set.weir
	run 0 "$weir" delta -q --zstd=19 -o small.delta second.weir set.weir
	[ "$(stat -c %s small.delta)" -lt "$(stat -c %s fast.delta)" ] && ok ||
		fail 'the level of a delta'
	bytes=$(stat -c %s second.weir) # the limit is of both images
	run 2 "$weir" delta -q --max-memory=$((bytes * 3 / 2)) -o d.delta second.weir set.weir
	says 'second.weir: .*max_bytes'
	run 2 "$weir" apply -q --max-memory=$((bytes * 3 / 2)) -o d.weir second.weir two.delta
	says 'second.weir: .*max_bytes'
	run 0 "$weir" apply -q --max-memory=$((bytes * 2)) -o d.weir second.weir two.delta
	rm d.weir
}

test_permissions() {
	rm -f mode.delta
	run 0 "$weir" delta -q --mode=600 -o mode.delta second.weir set.weir
	[ "$(stat -c %a mode.delta)" = 600 ] && ok || fail 'the mode of a delta'
	run 0 "$weir" apply -q --mode=640 -o mode.weir second.weir mode.delta
	[ "$(stat -c %a mode.weir)" = 640 ] && ok || fail 'the mode of an image'
}

test_not_smaller() {
	seq 500 >few # a set that is small when compressed, and nothing like the old one
	run 0 "$weir" build -q --zstd -s 99 -n 25000 -o other.weir few
	run 1 "$weir" delta -o none.delta second.weir other.weir
	says 'none.delta: not written: it would be no smaller than other.weir itself'
	absent none.delta 'of a delta that is not smaller'
	run 0 "$weir" delta -q --force -o large.delta second.weir other.weir
	run 0 "$weir" apply -q -o large.weir second.weir large.delta
	run 0 "$weir" query -c large.weir few; prints '^500$'
}

# opened.py FILE WORDS...: count the command's opens of the file; open and close are two events.
cat >opened.py <<'end'
import ctypes, os, struct, subprocess, sys
OPEN, CLOSE_NOWRITE = 0x20, 0x10
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(os.O_NONBLOCK)
if fd < 0 or libc.inotify_add_watch(fd, sys.argv[1].encode(), OPEN | CLOSE_NOWRITE) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
subprocess.run(sys.argv[2:], check=True)
events, opened = os.read(fd, 65536), 0
while events:
    _, mask, _, length = struct.unpack_from("iIII", events)
    opened += mask & OPEN != 0
    events = events[16 + length:]
print(opened)
end

# The checked bytes are saved: a file that is replaced after the check is not read again.
test_is_each_file_of_a_chain_read_once() {
	local file opened
	run 0 "$weir" delta -q -o three.delta set.weir second.weir
	cp chain.weir checked.weir # is replaced, so what the deltas make is checked
	for file in second.weir:1 two.delta:1 three.delta:2; do # of the last first its head
		opened=${file#*:}
		run 0 python3 opened.py "${file%:*}" "$weir" apply -q -o checked.weir second.weir \
			two.delta three.delta
		prints "^$opened\$"
	done
	same checked.weir second.weir 'of a chain'
	rm checked.weir
}

test_refused() {
	run 1 "$weir" apply -o wrong.weir second.weir one.delta
	says 'one.delta: is a delta from image .*, and second.weir is '
	absent wrong.weir 'of another image'
	# A file that is not regular is not read, and gives an error, not a refusal.
	run 2 "$weir" apply -q -o wrong.weir /dev/null one.delta
	says 'dev/null: is not a regular file'
	run 2 "$weir" apply -q -o wrong.weir first.weir /dev/null; says 'is not a regular file'
	absent wrong.weir 'of nothing'
	run 1 "$weir" apply -o wrong.weir second.weir two.delta one.delta
	says 'one.delta: is a delta from .*, and two.delta is '
	run 2 "$weir" apply -o wrong.weir one.delta one.delta; says 'a delta, not an image'
	run 2 "$weir" apply -o wrong.weir second.weir set.weir; says 'not a delta: .* an image'
	run 2 "$weir" query one.delta first; says 'make an image of it (weir apply)'
	head -c 200 one.delta >cut.delta
	run 2 "$weir" apply -o wrong.weir first.weir cut.delta
	says 'cut.delta: damaged: has 200 bytes .*: fetch it again, or make it anew by weir delta$'
	run 1 "$weir" apply -o third second.weir two.delta; says 'third: not replaced'
	run 1 "$weir" delta -o third second.weir set.weir; says 'third: not replaced'
	run 1 "$weir" delta -o set.weir second.weir second.weir; says 'set.weir: not replaced'
	run 2 "$weir" delta --force -o set.weir second.weir set.weir; says 'one of the two images'
	run 2 "$weir" apply --force -o two.delta second.weir two.delta; says 'one of the deltas'
	run 2 "$weir" delta -o d.delta second.weir; says 'two images are needed'
	run 2 "$weir" apply -o d.weir second.weir; says 'at least one delta'
	run 2 "$weir" delta second.weir set.weir; says '-o DELTA is missing'
	run 2 "$weir" apply second.weir two.delta; says '-o NEW is missing'
	run 2 "$weir" delta -o - second.weir set.weir; says 'give it a file'
	run 2 "$weir" apply -o - second.weir two.delta; says 'written to a file'
	run 2 "$weir" delta -o d.delta - set.weir; says 'image'
	run 2 "$weir" apply -o d.weir second.weir -; says 'image'
	run 2 "$weir" delta --zstd=20 -o d.delta second.weir set.weir; says "--zstd '20'"
	run 2 "$weir" delta --max-memory=10K -o d.delta second.weir set.weir
	says 'second.weir: .*max_bytes'
	run 2 "$weir" apply --max-memory=10K -o d.weir second.weir two.delta
	says 'second.weir: .*max_bytes'
	run 2 "$weir" delta -o d.delta second.weir nothing
	says 'nothing: No such file or directory: no image to read: '
	run 2 "$weir" diff; says 'did you mean delta?'
}

# weir verify once accepted no delta, and weir info called a delta with a damaged head an image.
test_a_delta_is_verified() {
	run 0 "$weir" verify one.delta
	prints '^one.delta: a delta from image [0-9a-f]\{16\} to [0-9a-f]\{16\}: head, map and '
	prints ' frames whole; their contents are checked by --from=IMAGE or by weir apply$'
	run 0 "$weir" verify --json one.delta; json out 'j[0]["contents_checked"] is False'
	run 0 "$weir" verify set.weir one.delta two.delta
	run 0 "$weir" verify -q one.delta; same out /dev/null 'quiet'
	run 0 "$weir" verify --json one.delta
	json out "j[0]['state'] == 'whole' and j[0]['delta'] == 'one.delta' and j[0]['new_id']"
	run 0 "$weir" info one.delta; prints 'checksums  *of the head alone: weir verify reads'
	"$weir" build -q -s 5 -n 25000 -o from.weir first
	"$weir" build -q -s 5 -n 25000 -o to.weir second
	run 0 "$weir" delta -q -o from.delta from.weir to.weir
	run 0 "$weir" verify --from=from.weir from.delta; prints ', and makes that$'
	run 0 "$weir" verify --json --from=from.weir from.delta
	json out 'j[0]["contents_checked"] is True'
	run 2 "$weir" verify --from=to.weir from.delta; says ': apply it to the image that it was'
	run 2 "$weir" verify --from=none.weir from.delta; says 'none.weir: No such file'
	run 2 "$weir" verify --max-memory=10K --from=from.weir from.delta; says 'max_bytes'
	local at size
	size=$(stat -c %s one.delta)
	for at in 20 60 100 130 150; do # old end, new end, spare words, map, frame
		cp one.delta bad.delta
		printf '\377' | dd of=bad.delta bs=1 seek=$at conv=notrunc status=none
		run 2 "$weir" verify bad.delta
		says 'bad.delta: damaged: .*: fetch it again, or make it anew by weir delta$'
		run 2 "$weir" verify --json bad.delta; json out "j[0]['state'] == 'damaged'"
		[ $at -lt 128 ] || continue
		run 2 "$weir" info bad.delta; says 'bad.delta: damaged: the delta'
	done
	for at in 8 100 128 150 $((size - 1)); do
		head -c "$at" one.delta >bad.delta
		run 2 "$weir" verify bad.delta; says 'damaged: .*: fetch it again, or make it anew'
		run 2 "$weir" info bad.delta; says 'bad.delta: damaged: '
	done
	run 2 "$weir" build -q -o new.weir one.delta; says 'is a weir delta, and no file of keys'
}

for part in made_and_applied info options_count permissions not_smaller \
		is_each_file_of_a_chain_read_once refused \
		a_delta_is_verified; do
	"test_$part"
done
finish
