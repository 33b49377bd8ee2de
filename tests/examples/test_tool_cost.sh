#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the cost of hostile images: the weir command's memory does not depend on the declared sizes,
# and Ctrl-C ends a long run. Usage: test_tool_cost.sh path/to/weir path/to/declare.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"
declare=$(cd "$OLDPWD" && realpath "${2:?usage: $0 path/to/weir path/to/declare}")

# within MIB STATUS WORDS...: like run; the command's peak of memory must be below MIB.
cat >peak.py <<'end'
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL)
mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
if mib >= float(sys.argv[1]):
    sys.exit(f"{mib:.0f} MiB at its peak, not below {sys.argv[1]}: {sys.argv[2:]}")
sys.exit(status)
end
within() {
	local most=$1 status=$2
	shift 2
	run "$status" python3 peak.py "$most" "$@"
}
# stops WORDS...: the command runs until SIGINT ends it.
stops() { run 124 timeout -s INT -k 60 2 "$@"; }

# A shard of 4 GiB once took 4 GiB of memory, and a shard of 8 TiB took hours.
test_declared() {
	run 0 "$declare" sparse.weir 1
	within 64 2 "$weir" verify --max-memory=1000K sparse.weir
	says '^weir verify: sparse.weir: needs 1.00 MiB of memory: more than --max-memory allows'
	within 64 2 "$weir" verify sparse.weir; says 'sparse.weir: damaged: .*shard 0'
	within 64 2 "$weir" query sparse.weir keys; says 'shard 0'
	within 64 0 "$weir" info sparse.weir; prints '  of the bits looked at  *0\.09'
	run 0 "$declare" sparse.weir 8192
	within 64 0 "$weir" info --json sparse.weir
	json out '0 < j[0]["sampled"] < 1e-3 and j[0]["fill"] == 0'
	local command
	for command in verify query; do
		stops "$weir" "$command" sparse.weir keys
	done
	run 2 "$weir" merge -o more.weir sparse.weir
	says '^weir merge: sparse.weir: needs .* TiB of memory: more than --max-memory allows'
	has_terminal || return
	for command in verify 'query --count'; do
		shown 'verifying .*left' "'$weir' $command sparse.weir"
		if grep -q 'verifying .*left' typed; then
			ok
		else
			fail "weir $command: no progress line on a terminal" "$(cat -v typed)"
		fi
	done
}

# A sparse old image of 16 GiB was once read for a minute, although a sample is enough.
test_old_image_is_sampled() {
	head -n 5 keys >five
	# Under one seed in 400 two of the five keys share bits, and the estimate is four.
	run 0 "$weir" build -q -s 7 -m 64M -p 1% -o old.weir keys
	# A full read finds that it is damaged.
	printf '\125\252' | dd of=old.weir bs=1 seek=$(($(stat -c %s old.weir) - 100)) \
		conv=notrunc status=none
	run 1 "$weir" build -q -o old.weir five
	says '^weir build: old.weir: not replaced: about 5 different keys, .*under a tenth'
	run 0 "$weir" build -q -o old.weir keys
	same err /dev/null 'a sample was enough, and the old image was read'
	# With so few keys a sample does not tell, and an image above the limit is not read.
	run 0 "$declare" sparse.weir 16
	run 2 "$weir" build -q --max-memory=64M -o sparse.weir five
	says 'more than --max-memory allows .* that of the image that is replaced: -n gives another'
	# The mapped sample counts too, and the kernel maps more around each page.
	within 128 0 "$weir" build -q -n 5 --max-memory=64M -o sparse.weir five
	says '^weir build: sparse.weir: not compared with the image .*: a sample does not tell'
	run 0 "$weir" build -q --allow-shrink -m 64M -p 1% -o old.weir five
	run 0 "$weir" build -q -o old.weir five
	same err /dev/null 'all of the old image was read, and decided'
}

# 36 KiB that unpack to 1 GiB once took 1 GiB of memory in verify, info and query.
test_compressed() {
	run 0 "$weir" build -q -s 7 -m 256M -p 50% --zstd=1 -o large.weir keys
	within 64 0 "$weir" verify large.weir; prints '^large.weir: whole$'
	within 64 0 bash -c "cat large.weir | '$weir' verify /dev/stdin"
	within 64 0 "$weir" info large.weir; prints '  bits  *compressed: not looked at'
	within 64 0 "$weir" info --json large.weir
	json out 'j[0]["sampled"] == 0 and "not looked at" in j[0]["bits"] and "fill" not in j[0]'
	local refused='large.weir: needs 256 MiB of memory: more than --max-memory allows'
	within 64 2 "$weir" info --exact --max-memory=64M large.weir
	says "^weir info: $refused"
	within 64 2 "$weir" query --max-memory=64M large.weir keys
	says "^weir query: $refused (64.0 MiB)"
	within 64 2 "$weir" merge --max-memory=64M -o more.weir large.weir
	says "^weir merge: $refused"
	run 2 "$weir" merge --max-memory=256M -o more.weir large.weir large.weir
	says '^weir merge: large.weir: needs .* more than --max-memory allows (0 bytes)'
	absent more.weir 'a merge that was refused'
	within 64 2 bash -c "cat large.weir | '$weir' query --max-memory=64M /dev/stdin keys"
	says '^weir query: /dev/stdin: needs more memory than --max-memory allows (64.0 MiB)'
	run 0 "$weir" query -c --max-memory=256M large.weir keys; prints "^$n$"
	run 0 "$weir" info --exact --json --max-memory=256M large.weir
	json out 'j[0]["sampled"] == 1 and j[0]["fill"] > 0'
	within 64 2 "$weir" verify --max-memory=1M large.weir
	says '^weir verify: large.weir: needs .* more than --max-memory allows (1.00 MiB)'
	run 2 "$weir" verify --json --max-memory=1M large.weir
	json out 'j[0]["state"] == "trouble" and "--max-memory" in j[0]["error"]'
	local command
	for command in info verify query merge; do
		run 2 "$weir" $command --max-memory=x large.weir
		says "^weir $command: --max-memory 'x': "
	done
}

# In a key file in zstd format, only frames of the present format may follow a frame, because
# decoders of old formats are no longer maintained.
test_old_frames() {
	printf 'a\nb\n' | zstd -q >frame.zst
	cat frame.zst frame.zst >keys.zst
	run 0 "$weir" query -c -v large.weir keys.zst; prints '^4$'
	local magic
	for magic in 1e 22 23 24 25 26 27 29; do
		cp frame.zst keys.zst
		printf '\x'$magic'\xb5\x2f\xfd\0\x38\x40\0\2z\n\xc0\0\0' >>keys.zst
		run 2 "$weir" query -c -v large.weir keys.zst
		says 'keys.zst: damaged zstd data: bytes that are not a frame follow a frame'
	done
	{ cat frame.zst; printf '\x28\xb5'; } >keys.zst
	run 2 "$weir" query -c large.weir keys.zst; says 'keys.zst: damaged'
}

for part in declared old_image_is_sampled compressed old_frames; do
	test_$part
done
finish
