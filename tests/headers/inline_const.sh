#!/bin/sh
# SPDX-License-Identifier: MIT
# The compiler rejects an inlined insert into a const filter, such as weir_handle_get() returns,
# even if warnings are not errors. Allowed uses compile without a warning. This holds for all
# layouts and for a single one. A layout that does not exist, or that is named too late, is rejected
# too. inline_const.sh gcc|clang INCLUDE
set -eu
. "$(dirname "$0")/compilers.sh"

source_of() { # prints a function around the statement $1
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

compiles() { # $work/use.c, with flags
	cp "$work/use.c" "$work/use.cc"
	c=no cc=no
	$compiler -std=c11 "$@" -I "$include" -fsyntax-only "$work/use.c" 2> "$work/c" && c=yes
	$cxx -std=c++17 "$@" -I "$include" -fsyntax-only "$work/use.cc" 2> "$work/cc" && cc=yes
	n=$((n + 1))
}

layout= # flags
allowed() {
	source_of "$1" > "$work/use.c"
	compiles -Wall -Wextra -Wpedantic -Werror $layout
	[ "$c $cc" = "yes yes" ] && return
	echo "$1: refused (C $c, C++ $cc) $layout" >&2
	cat "$work/c" "$work/cc" >&2
	exit 1
}

refused() {
	source_of "$1" > "$work/use.c"
	compiles $layout
	[ "$c $cc" = "no no" ] && grep -q error "$work/c" && grep -q error "$work/cc" && return
	echo "$1: not refused (C $c, C++ $cc) $layout" >&2
	exit 1
}

says() { # $1 in the error of $work/use.c, with the flags after it
	text=$1
	shift
	compiles "$@"
	[ "$c $cc" = "no no" ] && grep -q "error.*$text" "$work/c" &&
		grep -q "error.*$text" "$work/cc" && return
	echo "$*: not refused with \"$text\" (C $c, C++ $cc)" >&2
	exit 1
}

z=-DWEIR_INLINE_WORDS_PER_KEY g=-DWEIR_INLINE_BITS_PER_WORD
for layout in '' "$z=4 $g=2" "$z=1 $g=10"; do
	allowed 'weir_inline_init(v, weir_handle_get(h)) || weir_inline_contains(v, "key", 3)'
	allowed 'weir_inline_init(v, c) || weir_inline_contains_hash(v, 1)'
	allowed 'weir_inline_init(v, f) || weir_inline_contains_u64(v, 1)'
	allowed 'weir_inline_init_mut(m, f) || weir_inline_insert(m, "key", 3)'
	allowed 'weir_inline_insert_hash(m, 1) || weir_inline_insert_u64(m, 1)'
	allowed 'weir_inline_insert((const struct weir_inline_mut *)m, "key", 3)'
	allowed 'weir_inline_contains(&m->view, "key", 3)'
	refused 'weir_inline_insert(v, "key", 3)'
	refused 'weir_inline_insert_hash(v, 1)'
	refused 'weir_inline_insert_u64(v, 1)'
	refused 'weir_inline_insert(&m->view, "key", 3)'
	refused 'weir_inline_init_mut(m, c)'
	refused 'weir_inline_init_mut(m, weir_handle_get(h))'
	refused 'weir_inline_init_mut(v, f)'
	refused '(int)(v->words[0] = 1)'
done

echo '#include <weir/inline.h>' > "$work/use.c"
says 'define both or none' $z=4
says 'define both or none' $g=2
says 'allowed: 1, 2, 4 or 8' $z=3 $g=2
says 'at most 20 bits' $z=4 $g=6
says 'allowed: 1 to 10' $z=1 $g=11
says 'allowed: 1 to 10' $z=1 $g=0
printf '#include <weir/inline.h>\n#define %s\n#define %s\n#include <weir/inline.h>\n' \
	'WEIR_INLINE_WORDS_PER_KEY 4' 'WEIR_INLINE_BITS_PER_WORD 2' > "$work/use.c"
says 'before the first #include'
echo "$n statements, $compiler and $cxx"
