#!/bin/sh
# SPDX-License-Identifier: MIT
# The C code in README.md is compiled without a warning and run: every block fenced as c is a whole
# program whose first line is the comment "example: NAME". It runs in an empty folder and must end
# with status 0.
# readme.sh README INCLUDE LIBRARY
set -eu
readme=$1 include=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "$*" >&2
	exit 1
}
[ -f "$readme" ] || fail "there is no $readme"
awk -v work="$work" '
	inside && /^```/ { inside = 0; close(file); next }
	inside == 1 && !file { # the first line of a block
		if (!match($0, /^\/\* example: [a-z0-9_-]+ \*\/$/)) {
			print FILENAME ":" NR ": a c block without its name"
			bad = 1
			exit
		}
		name = $3; file = work "/" name ".c"
		print "#line " NR " \"README.md\"" > file
	}
	inside { print > file }
	/^```c$/ { inside = 1; file = "" }
	END {
		if (inside && !bad) {
			print FILENAME ": the last block does not end"
			bad = 1
		}
		exit bad
	}
' "$readme" >&2 || fail "the blocks of $readme cannot be taken out"
n=0
for block in "$work"/*.c; do
	[ -e "$block" ] || fail "no example in $readme"
	name=$(basename "$block" .c)
	cc -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I "$include" "$block" \
		-o "$work/$name" "$library" -Wl,-rpath,"$(dirname "$library")" -pthread ||
		fail "example $name does not compile"
	mkdir "$work/run-$name"
	(cd "$work/run-$name" && "$work/$name") || fail "example $name ends with status $?"
	n=$((n + 1))
done
echo "$n examples"
