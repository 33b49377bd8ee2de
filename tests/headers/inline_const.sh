#!/bin/sh
# SPDX-License-Identifier: MIT
# The compiler refuses an inlined insert into a const filter, such as weir_handle_get() returns,
# without being asked to treat warnings as errors; what is allowed compiles with none.
# inline_const.sh gcc|clang INCLUDE
set -eu
. "$(dirname "$0")/compilers.sh"

source_of() { # a function around the statement $1
	cat << END
#include <weir/handle.h>
#include <weir/inline.h>
int use(struct weir_handle *h, struct weir_filter *f, const struct weir_filter *c,
        struct weir_inline *v, struct weir_inline_mut *m);
int use(struct weir_handle *h, struct weir_filter *f, const struct weir_filter *c,
        struct weir_inline *v, struct weir_inline_mut *m)
{
	(void)h, (void)f, (void)c, (void)v, (void)m;
	return $1;
}
END
}

compiles() { # $1: the statement, then flags
	source_of "$1" > "$work/use.c"
	cp "$work/use.c" "$work/use.cc"
	shift
	c=no cc=no
	$compiler -std=c11 "$@" -I "$include" -fsyntax-only "$work/use.c" 2> "$work/c" && c=yes
	$cxx -std=c++17 "$@" -I "$include" -fsyntax-only "$work/use.cc" 2> "$work/cc" && cc=yes
	n=$((n + 1))
}

allowed() {
	compiles "$1" -Wall -Wextra -Wpedantic -Werror
	[ "$c $cc" = "yes yes" ] && return
	echo "$1: refused (C $c, C++ $cc)" >&2
	cat "$work/c" "$work/cc" >&2
	exit 1
}

refused() {
	compiles "$1"
	[ "$c $cc" = "no no" ] && grep -q error "$work/c" && grep -q error "$work/cc" && return
	echo "$1: not refused (C $c, C++ $cc)" >&2
	exit 1
}

allowed 'weir_inline_init(v, weir_handle_get(h)) || weir_inline_contains(v, "key", 3)'
allowed 'weir_inline_init(v, c) || weir_inline_contains_hash(v, 1)'
allowed 'weir_inline_init(v, f)'
allowed 'weir_inline_init_mut(m, f) || weir_inline_insert(m, "key", 3)'
allowed 'weir_inline_insert_hash(m, 1)'
allowed 'weir_inline_insert((const struct weir_inline_mut *)m, "key", 3)'
allowed 'weir_inline_contains(&m->view, "key", 3)'
refused 'weir_inline_insert(v, "key", 3)'
refused 'weir_inline_insert_hash(v, 1)'
refused 'weir_inline_insert(&m->view, "key", 3)'
refused 'weir_inline_init_mut(m, c)'
refused 'weir_inline_init_mut(m, weir_handle_get(h))'
refused 'weir_inline_init_mut(v, f)'
refused '(int)(v->words[0] = 1)'
echo "$n statements, $compiler and $cxx"
