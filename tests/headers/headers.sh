#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone and included twice, as C11 and as C++17, without a warning
# under strict flags that users may have. C++ sees no _Atomic. headers.sh gcc|clang INCLUDE
set -eu
. "$(dirname "$0")/compilers.sh"
# Not -Wold-style-cast, because the headers cast as C does. Not -Wshadow in C++, because a function
# may have the name of a struct, as stat() has.
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align -Werror'
for header in "$include"/weir/*.h; do
	name=weir/$(basename "$header")
	printf '#include <%s>\n#include <%s>\ntypedef int not_empty;\n' "$name" "$name" \
		> "$work/alone.c"
	cp "$work/alone.c" "$work/alone.cc"
	$compiler -std=c11 $strict -Wshadow -Wstrict-prototypes -I "$include" -fsyntax-only \
		"$work/alone.c"
	$cxx -std=c++17 $strict -I "$include" -fsyntax-only "$work/alone.cc"
	# Only weir's own headers are searched, not xxhash.h.
	$cxx -std=c++17 -I "$include" -E "$work/alone.cc" > "$work/alone.ii"
	if awk '/^# [0-9]+ "/ { ours = index($3, "/weir/") } ours' "$work/alone.ii" |
		grep -n '_Atomic'; then
		echo "$name: _Atomic reaches C++" >&2
		exit 1
	fi
	n=$((n + 1))
done
# All headers in one C++ translation unit, in an order other than that of weir.h.
for header in "$include"/weir/*.h; do
	echo "#include <weir/$(basename "$header")>"
done | sort -r > "$work/all.cc"
$cxx -std=c++17 $strict -I "$include" -fsyntax-only "$work/all.cc"
echo "$n headers, each alone, $compiler and $cxx"
[ "$n" -ge 8 ]
