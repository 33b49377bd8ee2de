/* SPDX-License-Identifier: MIT
 * Union and copy for kinds whose bits only go from 0 to 1. */
#include "kinds/common/bits.h"

int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++) {
		uint64_t bits = weir__word_load_relaxed(src->array.words + i);
		if (bits & ~weir__word_load_relaxed(dst->array.words + i))
			weir__word_or_relaxed(dst->array.words + i, bits);
	}
	return 0;
}

void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out)
{
	const uint64_t *from = f->array.words + 8 * first;
	for (uint64_t i = 0; i < 8 * n; i++)
		out[i] = WEIR__LE64(weir__word_load_relaxed(from + i));
}
