#!/bin/bash
# SPDX-License-Identifier: MIT
# Kinds that are built once and the weir command: build makes them from files and pipes, within
# bounded memory, and what changes filters refuses them. Usage: test_tool_built.sh path/to/weir.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

seq 1 20000 >keys
seq 20001 40000 >others

test_build() {
	run 0 "$weir" build -k fuse -o f.weir keys
	prints 'layout  *fuse, fingerprints of 8 bits in 1 part'
	prints 'keys  *20,000, about 20'
	prints 'capacity  *20,000$'
	run 0 "$weir" query -c f.weir keys; prints '^20000$'
	run 0 "$weir" query -c f.weir others
	[ "$(cat out)" -lt 130 ] && ok || fail 'a rate far above 0.4 %'
	run 0 "$weir" verify f.weir; prints 'whole'
	run 0 "$weir" info --json f.weir
	json out "(j[0]['kind'] == 'fuse' and j[0]['fingerprint_bits'] == 8 and
		abs(j[0]['keys_estimated'] - 20000) < 100 and j[0]['capacity'] == 20000)"
	# each key twice, from a pipe: the same set
	run 0 "$weir" build -q -k fuse -s 5 -o once.weir keys
	run 0 "$weir" build -q -k fuse -s 5 -o twice.weir <(cat keys keys)
	same once.weir twice.weir 'equal sets are equal images'
	run 0 "$weir" build -q -k fuse -p 0.001% -o fine.weir keys
	run 0 "$weir" info fine.weir; prints 'fingerprints of 17 bits'
	run 0 "$weir" build -q -k fuse --fingerprint-bits=12 -p 1% -o fine.weir --force keys
	run 0 "$weir" info fine.weir; prints 'fingerprints of 12 bits'
	: >none
	run 0 "$weir" build -q -k fuse -o none.weir none
	run 1 "$weir" query -c none.weir keys; prints '^0$'
}

test_refused() {
	run 2 "$weir" build -k fuse -n 100 -o full.weir keys
	says '^weir build: -n (keys) 100: there are 20000 different keys'
	absent full.weir 'of too many keys'
	run 2 "$weir" build -k fuse --max-memory=1M -o small.weir keys; says 'max_memory 1048576'
	absent small.weir 'without memory'
	run 2 "$weir" add f.weir others; says 'kind fuse cannot take inserts'
	run 2 "$weir" remove f.weir keys; says 'kind fuse cannot remove'
	run 2 "$weir" count f.weir keys; says 'kind fuse cannot count'
	run 2 "$weir" merge -o m.weir once.weir twice.weir; says 'kind fuse cannot merge'
}

# The hashes beyond that are in a file without a name.
test_spilled() {
	seq 1 3000000 >many
	run 0 "$weir" build -q -k fuse -s 5 -o all.weir many
	run 0 "$weir" build -q -k fuse -s 5 --max-memory=140M -o spilled.weir many
	same all.weir spilled.weir 'with less memory'
	TMPDIR=/nowhere run 2 "$weir" build -q -k fuse --max-memory=140M -o none2.weir many
	says 'spill_folder /nowhere: '
}

test_replaced() {
	run 0 "$weir" build -q -k fuse -o r.weir keys
	run 0 "$weir" build -q -k fuse -o r.weir keys others
	run 0 "$weir" query -c r.weir others; prints '^20000$'
	head -n 100 keys >few
	run 1 "$weir" build -q -k fuse -o r.weir few; says 'not replaced'
	run 0 "$weir" query -c r.weir others; prints '^20000$'
}

test_build
test_refused
test_spilled
test_replaced
finish
