#!/bin/bash
# SPDX-License-Identifier: MIT
# Keys as people hold them: the forms of input files of the weir command.
# Usage: test_tool_input.sh path/to/weir FORMS. FORMS: the compressed ones that it reads besides
# gzip and zstd, of "xz bzip2". Prints what failed, then how many; exits 1 if any did.
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"
forms=${2-}

# packed FORM ENDING: a file in that form is read, refused where it is damaged, or refused by name.
packed() {
	local form=$1 file=keys.$2
	command -v "$form" >/dev/null || return
	"$form" -c keys >"$file"
	if [[ " $forms " != *" $form "* ]]; then
		run 2 "$weir" build -q -o in.weir "$file"
		says "^weir build: $file: is in $form format, and this weir was built without"
		return
	fi
	{ head -n 1000 keys | "$form" -c; tail -n +1001 keys | "$form" -c; } >members
	local input
	for input in "$file" members; do
		run 0 "$weir" build -q -s 7 -p 1% -o in.weir "$input"
		same in.weir one.weir "$input"
		run 0 bash -c "cat $input | '$weir' build -q -s 7 -p 1% -o in.weir"
		same in.weir one.weir "$input through a pipe"
		run 0 "$weir" query one.weir "$input"; same out keys "query $input"
	done
	head -c 1000 "$file" >"short_$file"
	run 2 "$weir" build -q -o cut.weir "short_$file"; says "short_$file: .*cut short"
	{ head -c 1000 "$file"; head -c 2000 /dev/zero; tail -c +3001 "$file"; } >"bad_$file"
	run 2 "$weir" build -q -o cut.weir "bad_$file"; says "bad_$file: damaged $form data: "
	{ cat "$file"; echo more than a header; } >"more_$file"
	run 2 "$weir" build -q -o cut.weir "more_$file"; says "damaged $form data: "
	cp keys "wrong_$file"
	run 2 "$weir" build -q -o cut.weir "wrong_$file"; says "named .$2 but not in $form format"
	"$form" -c </dev/null >"empty_$file"
	run 0 "$weir" build --json -o empty.weir "empty_$file"; json out 'j["keys"] == 0'
	run 0 "$weir" build -q --as-is -o as_is.weir "$file"
	absent cut.weir 'damaged input'
}

test_packed() {
	run 0 "$weir" build -q -s 7 -p 1% -o one.weir keys
	packed xz xz
	packed bzip2 bz2
	# Text that begins as such a file does.
	printf 'BZh9 is a key\nBZh\n' >text
	run 0 "$weir" build --json -o text.weir text; json out 'j["keys"] == 2'
	printf 'BZh91AY' >text
	run 0 "$weir" build --json -o text.weir text; json out 'j["keys"] == 1'
}

test_packed
finish
