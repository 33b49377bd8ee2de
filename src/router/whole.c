/* SPDX-License-Identifier: MIT
 * Unions of whole routers, and copies of some of their sets. */
#include "filter/merge.h"
#include "ground/error.h"
#include "router/router.h"

static int check(const struct weir_filter *dst, const struct weir_filter *src)
{
	int err = weir__merge_check(dst, src);
	return err ? err : weir__router_alike(dst, src);
}

/* The bits of these sets in a word: once for each of its cells. */
static uint64_t in_each_cell(const struct weir_array *a, uint64_t sets)
{
	uint64_t bits = sets & weir__router_all(a);
	for (unsigned width = weir__router_columns(a); width < 64; width *= 2)
		bits |= bits << width;
	return bits;
}

int weir__router_copy_sets(struct weir_filter *dst, const struct weir_filter *src, uint64_t sets)
{
	const uint64_t wanted = in_each_cell(&src->array, sets), words = 8 * src->array.lines;
	int err = check(dst, src);
	for (uint64_t i = WEIR__PAGE_WORDS; !err && i < words; i++) {
		uint64_t bits = weir__word_load_relaxed(src->array.words + i) & wanted;
		if (bits & ~weir__word_load_relaxed(dst->array.words + i))
			weir__word_or_relaxed(dst->array.words + i, bits);
	}
	return err;
}

int weir_router_merge(struct weir_router *dst, const struct weir_router *src)
{
	return weir__router_copy_sets(weir__router_mut(dst), weir__router_filter(src),
	                              ~UINT64_C(0));
}
