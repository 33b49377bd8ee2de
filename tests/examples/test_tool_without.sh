#!/bin/bash
# SPDX-License-Identifier: MIT
# A command without its optional parts says which part is missing, and how to build it. Usage:
# test_tool_without.sh path/to/weir_without
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

test_replicate_that_is_not_built_is_no_typing_error() {
	local words
	for words in replicate 'replicate status' 'replicate publish set' 'help replicate'; do
		# shellcheck disable=SC2086
		run 2 "$weir" $words
		says '^weir: this build has no replicate: install libhiredis-dev and libsodium-dev'
		says ', and build weir with -Dreplicate=enabled$'
	done
	run 0 "$weir" help
	! has replicate out && ok || fail 'a command that is not built is listed'
}

test_a_format_that_is_not_built_names_its_library() {
	printf '\3757zXZ\0' >keys.xz
	run 2 "$weir" build -q -o set keys.xz; says 'built without liblzma: unpack it'
	printf 'BZh91AY&SY' >keys.bz2
	run 2 "$weir" build -q -o set keys.bz2; says 'built without libbz2: unpack it'
	echo '"a",b' >keys.csv
	run 2 "$weir" build -q --field=1 -o set keys.csv; says 'libcsv-dev'
}

test_replicate_that_is_not_built_is_no_typing_error
test_a_format_that_is_not_built_names_its_library
finish
