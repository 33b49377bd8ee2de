#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the memory of a build against its limit, for the whole process, not only the filter. A build
# stays below the limit, or is refused with a sentence. Usage: test_tool_memory.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# peak.py MIB WORDS...: run the command, and check often that its anonymous memory is at most MIB.
cat >peak.py <<'end'
import re, subprocess, sys, time
build = subprocess.Popen(sys.argv[2:])
peak = 0
while build.poll() is None:
    try:
        with open(f"/proc/{build.pid}/status") as status:
            found = re.search(r"RssAnon:\s+(\d+)", status.read())
    except OSError:
        break
    peak = max(peak, int(found[1]) if found else 0)
    time.sleep(0.002)
build.wait()
if peak > 1024 * float(sys.argv[1]):
    sys.exit(f"{peak / 1024:.1f} MiB, above {sys.argv[1]}: {sys.argv[2:]}")
sys.exit(build.returncode)
end
# within MIB WORDS...: run a build with this --max-memory.
within() {
	local most=$1
	shift
	run 0 python3 peak.py "$most" "$weir" build -q --max-memory="${most}M" -o of.weir "$@"
	rm -f of.weir
}
seq 800000 >lines
gzip -1 -k lines

# 800,000 hashes are 6.1 MiB. Each of two threads once had as much, and the library twice that to
# load them.
test_readers_count() {
	local kind t
	for kind in blocked cuckoo; do
		for t in 1 2; do
			within 9 -t $t -k $kind lines
			within 9 -t $t -k $kind -n 800K lines.gz
		done
	done
	run 2 "$weir" build -t 2 --max-memory=3M -o of.weir lines
	says '^weir build: to read the keys takes 4.00 MiB: more than --max-memory allows (3.00'
	run 2 "$weir" build -t 2 --max-memory=7M -p 0.001% -o of.weir lines
	says '^weir build: the filter needs .*, and 4.00 MiB to fill it: more than --max-memory'
	absent of.weir 'what was refused'
}

# The hashes of a pipe are collected, and a filter follows.
test_kept_hashes_count() {
	run 0 bash -c "python3 peak.py 14 '$weir' build -q -t 2 --max-memory=14M -o of.weir <lines"
	run 2 bash -c "'$weir' build -t 2 --max-memory=9M -o of.weir <lines"
	says '^weir build: the hashes of the keys so far take more than the .* that --max-memory'
}

# The filter was once not counted.
test_filters_of_builders_count() {
	local most
	within 63 -t 1 -k fuse lines
	within 126 -t 2 -k fuse lines
	run 2 "$weir" build -t 1 --max-memory=63M -k fuse -n 20M -o of.weir lines
	says '^weir build: the filter needs 22.0 MiB, and .* to build it: more than --max-memory'
	seq 3000000 >more
	for most in '' '-m 1G'; do
		run 2 "$weir" build -t 1 --max-memory=63M -k fuse -p 1e-9 $most -o of.weir more
		says '^weir build: the filter needs 13.0 MiB, and 50.0 MiB to build and save it'
	done
	absent of.weir 'what was refused'
}

# At the end there are two copies of the first level, with a given size and without.
test_layered_counts_twice() {
	seq 5000000 5100000 >listed
	run 2 "$weir" build -t 1 --max-memory=70M -k layered --exclude=listed -n 8M -o of.weir lines
	says '^weir build: the filter needs 16.0 MiB, and 65.0 MiB to build it: more than --max'
	run 2 "$weir" build -t 1 --max-memory=72M -k layered --exclude=listed -p 1e-9 -o of.weir \
		more
	says '^weir build: the filter needs 12.2 MiB, and 50.0 MiB to build and save it: more'
	absent of.weir 'what was refused'
}

# A kind whose keys move is saved from a copy, and so is a stream. zstd needs two copies of a shard.
test_saving_counts() {
	local level
	run 2 "$weir" build -t 1 --max-memory=14M -k cuckoo -n 5M -o of.weir lines
	says '^weir build: the filter needs .*, and .* to save it: more than --max-memory allows'
	within 24 -t 1 -k cuckoo -n 5M lines
	run 2 "$weir" build -t 1 --max-memory=14M -n 8M -o - lines
	says ' to save it: more than --max-memory allows'
	within 14 -t 1 -n 8M lines
	run 2 "$weir" build -t 1 --max-memory=12M -n 8M -o of.weir lines # and the process
	says '^weir build: the filter needs 9.80 MiB, and 3.00 MiB to save it: more than --max'
	for level in 15 19; do
		run 2 "$weir" build -t 1 --max-memory=80M -n 8M --zstd=$level -o of.weir lines
		says '^weir build: the filter needs 9.80 MiB, and 87.2 MiB to save it: more than'
	done
	run 2 "$weir" build -t 1 --max-memory=250M -k fuse -n 100M --zstd=1 -o of.weir lines
	says ' to save it: more than --max-memory allows'
}

# With --like there is no message about the size of the replaced image.
test_the_size_of_another_image() {
	run 0 "$weir" build -q -n 8M -o like.weir lines
	cp like.weir of.weir
	run 2 "$weir" build -t 1 --max-memory=8M --like=like.weir -o of.weir lines
	says '^weir build: the filter needs 9.80 MiB, and .* than --max-memory allows (8.00 MiB)$'
	rm like.weir of.weir
}

# Long lines and unpacked input count, because they are kept whole.
test_long_lines_count() {
	head -c 8M /dev/zero | tr '\0' a >long
	run 2 "$weir" build -n 1 --max-memory=12M -o of.weir long
	says '^weir build: long: a line of more than .*, for which memory is too short: is it'
	within 80 -t 1 -n 1 long
	# The memory of a long line is released after it: short lines fill whole reads.
	for _ in 1 2 3 4 5; do cat long; echo; cat lines lines lines lines; done >long_and_short
	within 80 -t 1 -n 1M long_and_short
	rm long_and_short
	zstd -q --long=25 lines -o window.zst
	run 2 "$weir" build -n 800K --max-memory=12M -o of.weir window.zst
	says '^weir build: window.zst: to unpack this zstd data takes more than .* of memory'
}

# 50 KiB that unpack to lines of 200 MiB: each thread once had one or two lines, in every command.
test_does_a_bomb_of_long_lines_take_the_memory() {
	local line command
	for line in 1 2 3 4 5 6; do
		head -c 200M /dev/zero | tr '\0' a
		echo
	done | zstd -q -o bomb.zst
	run 0 "$weir" build -q -k counting -n 1000 -o counts.weir <(seq 100)
	for command in 'query -t 2' count 'add -q -t 2' 'remove -q -t 2'; do
		# shellcheck disable=SC2086 # words
		run 2 python3 peak.py 128 "$weir" $command counts.weir bomb.zst
		says ': a line of more than 16.0 MiB, from byte 1 on: is it text? (-0 is for keys'
	done
	run 2 python3 peak.py 128 "$weir" route --build -q -o routes.weir all=bomb.zst
	says ': a line of more than 16.0 MiB, from byte 1 on: is it text?'
	run 2 python3 peak.py 128 "$weir" drill -d 1 bomb.zst
	says ': a line of more than 16.0 MiB, from byte 1 on: is it text?'
	rm bomb.zst
}

# own_group: make a control group below that of this process, in $group; false if that fails.
own_group() {
	local path
	path=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	group=/sys/fs/cgroup/memory$path/weir-test.$$
	[ -n "$path" ] && mkdir "$group" 2>/dev/null || return
	trap 'rmdir "$group/below" "$group"; rm -rf "$work"' EXIT
}

# The kernel once killed builds in a group with a limit of 60 MiB, or below such a group.
test_control_groups() {
	own_group || { echo 'skipped: no control group of version 1 can be made'; return; }
	mkdir "$group/below"
	echo $((32 << 20)) >"$group/memory.limit_in_bytes"
	local in="echo \$\$ >$group/below/cgroup.procs; exec '$weir' build -q -p 1% -o of.weir"
	run 0 bash -c "$in -n 10M lines"
	run 2 bash -c "$in -n 100M lines"
	says '^weir build: the filter needs .*: more than its control group allows (2'
	run 2 bash -c "$in --max-memory=1G -n 100M lines"; says 'its control group allows'
	run 2 bash -c "$in -k fuse lines"
	says 'kind fuse is built in 63.0 MiB for each thread: more than its control group'
	echo $((80 << 20)) >"$group/memory.limit_in_bytes"
	run 0 bash -c "$in -k fuse lines more"
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || return
	run 2 env TMPDIR=/dev/shm bash -c "$in -k fuse lines more"
	says 'memory has room for [0-9]*: with --max-memory the others go to a file in TMPDIR'
	[ "$(wc -l <err)" = 1 ] || fail 'one failure has several lines' "$(head err)"
}

# Only build once respected its control group. The kernel killed other commands, and add --live left
# the image live.
test_does_a_list_kill_a_command_in_a_small_group() {
	[ -d "$group/below" ] || return
	local in="echo \$\$ >$group/below/cgroup.procs; exec '$weir'" command list
	# the declared window of a stream, even with few keys
	zstd -q --long=27 <lines >window.zst
	xz -0 --lzma2=preset=0,dict=64MiB <lines >window.xz
	run 0 "$weir" build -q -k counting -n 1M -o counts.weir lines
	run 0 "$weir" build -q -n 4M -o live.weir lines
	for list in window.zst window.xz; do
		"$weir" query counts.weir $list 2>&1 | grep -q 'was built without' && continue
		echo $((64 << 20)) >"$group/memory.limit_in_bytes"
		for command in 'query counts.weir' 'count counts.weir' 'add -q counts.weir' \
				'remove -q counts.weir' 'add -q --live live.weir' 'drill -d 1' \
				'build -q -o new.weir' 'route --build -q -o new.weir'; do
			run 2 bash -c "$in $command $list"
			says "^weir [a-z]*: $list: to unpack this .* more than .*: unpack it before"
		done
		absent new.weir 'what was refused'
	done
	if is_live live.weir; then fail 'the image is left live'; else ok; fi
	zstd -qf --long=24 <lines >window.zst
	run 0 bash -c "$in query -q counts.weir window.zst"
	# each thread's hashes, and as many in the library
	echo $((32 << 20)) >"$group/memory.limit_in_bytes"
	run 0 bash -c "$in add -q -t 2 --live live.weir more"
	run 0 "$weir" query -q live.weir more
	run 2 bash -c "$in drill -d 1 more"
	says '^weir drill: the hashes of the keys so far take more than .*: give fewer of them$'
}

for part in readers_count kept_hashes_count filters_of_builders_count layered_counts_twice \
		saving_counts the_size_of_another_image long_lines_count \
		does_a_bomb_of_long_lines_take_the_memory control_groups \
		does_a_list_kill_a_command_in_a_small_group; do
	"test_$part"
done
finish
