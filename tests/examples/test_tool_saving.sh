#!/bin/bash
# SPDX-License-Identifier: MIT
# Saves of the weir command: what interrupts them, what the command must not wait for before, and
# changes by other processes during a save. Usage: test_tool_saving.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# signalled NAME DISPOSITION STATUS WORDS...: send the signal to the command while it writes more to
# standard output than a pipe holds. The output goes to ./image.
cat >signalled.py <<'end'
import signal, subprocess, sys
name, disposition, want = sys.argv[1:4]
number = signal.Signals[name]
command = subprocess.Popen(sys.argv[4:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           preexec_fn=lambda: signal.signal(number, signal.Handlers[disposition]))
begin = command.stdout.read(1)
command.send_signal(number)
with open('image', 'wb') as image:
    image.write(begin + command.stdout.read())
status = command.wait()
if status != int(want):
    sys.exit(f'{name} ({disposition}) while it saves: status {status}, not {want}')
end
signalled() { run 0 python3 signalled.py "$@"; }

test_a_signal_ends_it_as_a_signal() {
	local command name
	run 0 "$weir" build -q -s 7 -n 1M -p 0.1% -o set.weir keys
	for command in build merge; do
		set -- "$weir" build -q -s 7 -n 1M -p 0.1% -o - keys
		[ $command = build ] || set -- "$weir" merge -q -o - set.weir
		signalled SIGINT SIG_DFL -2 "$@"
		same err /dev/null 'an interrupted save has nothing to add'
		signalled SIGTERM SIG_DFL -15 "$@"
		signalled SIGHUP SIG_DFL -1 "$@"
		# As under nohup or in a background job, the command continues.
		for name in SIGHUP SIGINT SIGTERM; do
			signalled $name SIG_IGN 0 "$@"
			same image set.weir "$name was ignored"
		done
	done
}

# After a union no memory is left for the next image; 0 bytes must not mean unlimited. An old image
# that needs more is not decompressed for a comparison.
test_memory_of_a_merge() {
	run 0 "$weir" build -q -p 1% -o packed.weir --zstd keys
	head -n $((n / 20)) keys >few
	run 0 "$weir" build -q -p 1% -o few.weir few
	run 0 "$weir" build -q --zstd --like=few.weir -o few_packed.weir few
	local bytes
	run 0 "$weir" info --json few.weir
	bytes=$(python3 -c 'import json; print(json.load(open("out"))[0]["bytes"])')
	run 2 "$weir" merge -q --max-memory="$bytes" -o more.weir few.weir few_packed.weir
	says '^weir merge: few_packed.weir: needs .* than --max-memory allows (0 bytes)$'
	run 0 "$weir" merge -q --max-memory=$((2 * bytes)) -o more.weir few.weir few_packed.weir
	run 0 "$weir" merge -q --max-memory="$bytes" -o packed.weir few.weir
	says '^weir merge: packed.weir: not compared with the image that it replaces: '
	run 0 "$weir" build -q -p 1% -o packed.weir --zstd keys
	run 1 "$weir" merge -q -o packed.weir few.weir; says 'under a tenth'
}

# at_once STATUS WORDS...: like run, within a minute. waits WORDS...: the command must still wait.
at_once() {
	local status=$1
	shift
	run "$status" timeout 60 "$@"
}
waits() { run 124 timeout 0.5 "$@"; }

# A command waits for the writer of a FIFO only if it reads keys from it. It does not wait for an
# image, an output path, or a key whose mode is too open.
test_a_fifo_without_a_writer() {
	mkfifo -m 600 pipe
	mkfifo -m 644 loose
	ln -s pipe link
	local name command
	for name in pipe link; do
		at_once 2 "$weir" build -q -o $name keys; says "^weir build: $name: is not"
		at_once 2 "$weir" merge -q -o $name set.weir; says "$name: is not a regular file"
		at_once 2 "$weir" info $name; says "^weir info: $name: is not a regular file, but"
		for command in "query $name keys" "verify $name" "count $name keys" \
				"merge -o new.weir $name" "merge -o new.weir set.weir $name" \
				"build --like=$name -o new.weir keys" "add $name keys" \
				"apply -o new.weir set.weir $name"; do
			# shellcheck disable=SC2086 # words
			at_once 2 "$weir" $command
			says "^weir [a-z]*: $name: is not a regular file, but a pipe"
		done
		waits "$weir" query set.weir $name
		waits "$weir" build -q -o new.weir $name
	done
	for name in build query verify merge; do
		at_once 2 "$weir" $name --keyed-by=loose set.weir; says 'loose: its mode is 0644'
	done
	waits "$weir" query --keyed-by=pipe set.weir keys
	absent new.weir 'the keys never came'
	# If the command closed the pipe at once, the writer's image would be lost.
	{ cat set.weir; echo done >written; } >pipe &
	at_once 2 "$weir" info pipe
	run 0 sh -c 'exec timeout 60 "$0" query -c /dev/stdin keys <pipe' "$weir"; prints "^$n\$"
	run 0 "$weir" query -c <(cat set.weir) keys; prints "^$n\$"
	run 0 "$weir" verify -q <(cat set.weir)
	run 0 "$weir" merge -q -o new.weir <(cat set.weir) set.weir
	rm new.weir
	wait
	same written <(echo done) 'the writer of an image has ended'
}

# The first part of an image is more than a pipe holds, so the command has begun to read it.
much=$((1 << 17))

# slowly COMMAND WORDS...: the command has read slow.weir, of $kind, and waits for the FIFO slow or
# for more of /dev/stdin. Then a job replaces slow.weir by second.weir, and ./late follows. The
# command's message ends with $lost.
slowly() {
	run 0 "$weir" build -q -s 7 -k "${kind:-blocked}" -n 200000 -o slow.weir first
	if [ "${*: -1}" = /dev/stdin ]; then
		timeout 60 "$weir" "$@" <slow 2>said &
		exec 9>slow
		head -c $much late >&9
	else
		timeout 60 "$weir" "$@" 2>said &
		exec 9>slow # the command has opened it too
	fi
	cp second.weir new.weir
	mv new.weir slow.weir
	if [ "${*: -1}" = /dev/stdin ]; then tail -c +$((much + 1)) late; else cat late; fi >&9
	exec 9>&-
	wait $!
	run 0 test $? = 1
	mv said err
	says "^weir $1: slow.weir: was replaced or removed during the call, so what .* be $lost\$"
	same slow.weir second.weir 'what came meanwhile'
}

test_an_image_rebuilt_meanwhile() {
	seq 1000 >first
	seq 5001 6000 >second
	mkfifo slow
	echo word >late
	run 0 "$weir" build -q -s 7 -n 200000 -o second.weir second
	local lost='added is not in it: add it again' kind
	slowly add -q slow.weir slow
	slowly add -q --live slow.weir slow
	echo 1000 >late
	kind=counting lost='removed is still in it: remove it again' slowly remove -q slow.weir slow
	cp second.weir late
	lost='merged is not in it: merge again' slowly merge -q -o slow.weir slow.weir /dev/stdin
}

# Beyond a limit of file size (ulimit -f), a message says so, and the old file stays.
test_a_limit_of_files() {
	run 0 "$weir" build -q -s 7 -n 100000 -p 1% -o set.weir keys
	cp set.weir before.weir
	mkdir -p limited
	cp set.weir limited/
	local command
	for command in 'add limited/set.weir' 'build --new-seed -n 300000 -o limited/set.weir' \
		'build -n 300000 -o limited/new.weir'; do
		# shellcheck disable=SC2086 # words
		run 2 bash -c "ulimit -f 20; exec \"\$@\"" limited "$weir" $command keys
		says 'limited/.*weir: cannot .*: larger than the limit'
		same limited/set.weir before.weir 'a file over the limit'
		run 0 test "$(ls -A limited)" = set.weir
	done
	run 2 bash -c "ulimit -f 20; exec \"\$@\"" limited "$weir" build -n 300000 -o - keys
	says 'standard output: cannot write: '
	rm -r limited
}

# Whoever may write to the folder creates a link while keys are read. Its target is not an image,
# and must stay.
test_a_link_that_comes_meanwhile() {
	local command
	echo precious >diary
	cp diary before
	for command in build merge; do
		rm -f slow.weir
		if [ $command = build ]; then
			cp first late
			timeout 60 "$weir" build -q -n 3000 -o slow.weir slow 2>said &
		else
			cp second.weir late
			timeout 60 "$weir" merge -q -o slow.weir /dev/stdin <slow 2>said &
		fi
		exec 9>slow
		head -c $much late >&9
		ln -s diary slow.weir
		tail -c +$((much + 1)) late >&9
		exec 9>&-
		wait $!
		run 0 test $? = 1
		mv said err
		says "^weir $command: slow.weir: not replaced: it is neither a weir image"
		same diary before "replaced by weir $command"
	done
	rm slow.weir
}

# Two commands add to one image, one of them by a union: neither loses the other's keys.
test_a_union_takes_its_turn() {
	run 0 "$weir" build -q -s 7 -n 200000 -o both.weir first
	timeout 60 "$weir" merge -q -o both.weir both.weir /dev/stdin <slow &
	exec 9>slow
	head -c $much late >&9
	timeout 60 "$weir" add -q both.weir <(echo word) 2>said &
	soon grep -qs 'its turn' said
	tail -c +$((much + 1)) late >&9
	exec 9>&-
	wait
	run 0 "$weir" query -c both.weir first second <(echo word); prints '^2001$'
}

# Whoever may read an image can lock it.
test_a_locked_image() {
	rm -f err
	flock set.weir timeout 60 sh -c 'until grep -qs "its turn" err; do sleep 0.1; done' &
	soon is_locked set.weir
	run 0 timeout 60 "$weir" add -q set.weir keys
	says '^weir add: set.weir: waits for its turn: another process has locked it'
	wait
}

# In a chroot without /proc the seed is kept too.
test_a_job_without_proc() {
	local without='umount -l /proc && exec "$0" "$@"'
	export LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$(dirname "$(ldd "$weir" | awk '/libweir/ { print $3 }')")
	if unshare -m sh -c "$without" "$weir" --version >/dev/null 2>&1; then
		run 0 "$weir" build -q -s 7 -p 0.5% -o bare.weir keys
		run 0 unshare -m sh -c "$without" "$weir" build --json -o bare.weir keys
		json out 'j["seed_kept"] and j["size_kept"] and j["fp_rate"] == 0.005'
	else
		echo 'skipped: not root, or the command needs /proc to start'
	fi
	unset LD_LIBRARY_PATH
}

# The requested level of compression takes effect.
test_level_of_compression() {
	head -n 2000 keys >few
	local level
	for level in =1 '' =19; do
		run 0 "$weir" build -q -s 7 -m 4M -n 1M --zstd$level -o level$level.weir few
		run 0 "$weir" query -c level$level.weir few; prints '^2000$'
	done
	stat -c %s level=19.weir level.weir level=1.weir >sizes
	if [ "$(sort -u sizes | wc -l)" = 3 ]; then ok; else fail 'one level' "$(cat sizes)"; fi
}

for part in a_signal_ends_it_as_a_signal memory_of_a_merge a_fifo_without_a_writer \
	an_image_rebuilt_meanwhile a_link_that_comes_meanwhile a_union_takes_its_turn \
	a_locked_image a_job_without_proc level_of_compression a_limit_of_files; do
	test_$part
done
finish
