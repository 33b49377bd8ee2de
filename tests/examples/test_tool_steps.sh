#!/bin/bash
# SPDX-License-Identifier: MIT
# The preparation of keys must not change by accident: following servers would refuse the image, and
# the job would go on making such images. Usage: test_tool_steps.sh path/to/weir
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq -f 'Key-%.0f' 1000 >names
seq -f '10.%.0f.0.0/16' 0 200 >nets
lacks() { if grep -q -- "$1" "$2"; then fail "$2 has '$1'" "$(head -c 300 "$2")"; else ok; fi; }

# A mere warning about --lowercase over a plain set is too little: each later run would inherit it.
test_another_step_is_refused() {
	run 0 "$weir" build -q -p 1% -o set.weir names
	cp set.weir plain.weir
	local option
	for option in --lowercase --trim --suffixes '--trim --lowercase'; do
		# shellcheck disable=SC2086
		run 1 "$weir" build -q $option -o set.weir names
		says "^weir build: set.weir: not replaced: the image was built without $option, "
		says ", and servers that follow it would refuse keys prepared otherwise: "
		says ": leave $option out, or pass --force if you mean it\$"
	done
	run 1 "$weir" build -q --cidr -o set.weir nets
	says 'was built without --cidr, and servers .*: leave --cidr out, or pass --force if '
	same set.weir plain.weir 'the set'
	run 0 "$weir" build -q -o set.weir names; same set.weir plain.weir 'the usual job'
	run 0 "$weir" build -q --plain-keys -o set.weir names
	same set.weir plain.weir '--plain-keys of a plain one'
}

test_a_change_is_taken_back() {
	run 0 "$weir" build --force --lowercase -o set.weir names
	says '^weir build: set.weir: the image that is replaced was built without --lowercase, '
	says 'refuse keys .*: to take this back, build it again with --force --plain-keys$'
	# Without this, one output says both that servers refuse it and that they go on following.
	lacks 'go on following' out
	prints '  seed  *that of the image that is replaced$'
	run 0 "$weir" build -q -o set.weir names; same err /dev/null 'lowercase again'
	run 1 "$weir" build -q --plain-keys -o set.weir names
	says 'was built with --lowercase, and servers .*: leave --plain-keys out, or pass --force'
	run 1 "$weir" build -q --trim -o set.weir names
	says 'was built with --lowercase, not with --trim, and servers .*: leave --trim out, or'
	run 0 "$weir" build -q --force --plain-keys -o set.weir names
	says 'was built with --lowercase, and servers .*, build it again with --force --lowercase$'
	same set.weir plain.weir 'what was taken back'
	run 0 "$weir" build -q --force --trim --cidr -o set.weir nets
	run 0 "$weir" build -q --force --suffixes -o set.weir names
	says 'was built with --trim --cidr, not with --suffixes, and servers .*back, build it '
	says ' again with --force --trim --cidr$'
	run 0 "$weir" build -q --force --plain-keys -o set.weir names
}

# The message names the way out.
test_a_job_that_inherits_prefixes() {
	run 0 "$weir" build -q --force --cidr -o set.weir nets
	run 2 "$weir" build -q -o set.weir names
	says "^weir build: names:1: 'Key-1': not an IP address"
	says '^weir build: set.weir: the image that is replaced was built with --cidr, .* mista'
	says ' --force --plain-keys ends it$'
	cat names nets > mixed
	run 0 "$weir" build -q --skip-bad -o set.weir mixed
	says '--force --plain-keys ends it'
	run 2 "$weir" build -q --hosts -o set.weir names; says '--force --plain-keys ends it'
	run 2 "$weir" build -q --cidr -o set.weir names; lacks 'ends it' err
	run 0 "$weir" build -q --force --plain-keys -o set.weir names
	same set.weir plain.weir 'the job'
}

# --like and keys do not bypass this check.
test_like_and_keys() {
	run 0 "$weir" build -q --cidr -o nets.weir nets
	cp nets.weir before.weir
	run 1 "$weir" build -q --like=plain.weir -o nets.weir names
	says 'nets.weir: not replaced: the image was built with --cidr, unlike --like=plain.weir, '
	says ' refuse keys prepared otherwise: give another --like, or pass --force if you mean it$'
	run 1 "$weir" build -q --new-seed --plain-keys -o nets.weir names
	says 'was built with --cidr, and servers .*: leave --plain-keys out'
	(umask 077; head -c 16 /dev/urandom >key)
	run 1 "$weir" build -q --keyed-by=key --plain-keys -o nets.weir names
	says 'was built with --cidr, and servers .*: leave --plain-keys out'
	same nets.weir before.weir 'what was refused'
	run 0 "$weir" build -q --force --like=plain.weir -o nets.weir names
	run 2 "$weir" build -q --like=before.weir --plain-keys -o x.weir nets
	says 'not the same .* --plain-keys, and'
	run 0 "$weir" build -q --like=plain.weir --plain-keys -o x.weir names
	local step
	for step in trim lowercase cidr suffixes; do
		run 2 "$weir" build --plain-keys --$step -o x.weir names
		says '--plain-keys: nothing is done to keys'
	done
	run 2 "$weir" query --plain-keys x.weir names
}

# Servers that accept any seed refuse another key too.
test_another_key_is_refused_by_all() {
	run 0 "$weir" build -q -o keyed.weir names
	run 0 "$weir" build -q --keyed-by=key -o keyed.weir names
	says 'refuse that, also those that take any seed: .* with the key$'
	(umask 077; head -c 16 /dev/urandom >other)
	run 0 "$weir" build -q --force --keyed-by=other -o keyed.weir names
	says 'also those that take any seed: .* with the new key$'
	run 0 "$weir" build -q --force -o keyed.weir names
	says 'also those that take any seed: .* without a key$'
}

for part in another_step_is_refused a_change_is_taken_back a_job_that_inherits_prefixes \
		like_and_keys another_key_is_refused_by_all; do
	test_$part
done
finish
