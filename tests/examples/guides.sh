#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks a guide, or README.md, as a reader would use it. blocks.py checks the page's form. Every C
# program compiles without a warning, runs in an empty folder and ends with status 0. If a block
# fenced as output follows the program, the program prints that block byte for byte. Blocks of sh
# are only parsed, because they install packages. guides.sh MODE FILE INCLUDE LIBRARY, where MODE is
# a mode of blocks.py
set -eu
[ $# -eq 4 ] || { echo "usage: guides.sh MODE FILE INCLUDE LIBRARY" >&2; exit 2; }
mode=$1 guide=$2 include=$3 library=$(realpath "$4")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "$guide: $*" >&2
	exit 1
}

# check_program NAME: compile and run NAME.c, and compare its output with NAME.output.
check_program() {
	cc -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I "$include" "$work/$1.c" \
		-o "$work/$1" "$library" -Wl,-rpath,"$(dirname "$library")" -pthread ||
		fail "the program $1 does not compile"
	mkdir "$work/run-$1"
	(cd "$work/run-$1" && exec timeout 60 "$work/$1") < /dev/null > "$work/$1.printed" ||
		fail "the program $1 ends with status $?"
	if [ -e "$work/$1.output" ] && ! cmp -s "$work/$1.output" "$work/$1.printed"; then
		diff -u --label "$guide" --label "printed by $1" "$work/$1.output" \
			"$work/$1.printed" >&2 || true
		fail "the program $1 prints something else"
	fi
}

[ -f "$guide" ] || fail "there is no such guide"
python3 -B "$here/blocks.py" "$mode" "$guide" "$work" || fail "the form is wrong"
programs=0 shells=0
for block in "$work"/*.c "$work"/*.sh; do
	case $block in
	*'*'.*) ;; # none
	*.c) check_program "$(basename "$block" .c)"; programs=$((programs + 1)) ;;
	*.sh)
		line=$(basename "$block" .sh)
		bash -n "$block" || fail "bash cannot parse the block of line $line"
		shells=$((shells + 1))
		;;
	esac
done
echo "$programs programs, $shells blocks of sh"
