/* SPDX-License-Identifier: MIT
 * Filters made around given memory, whatever their kind. */
#ifndef WEIR_SRC_FILTER_H
#define WEIR_SRC_FILTER_H

#include "kind.h"

/* Everything about a filter but its bits and its seed; checked. */
struct weir_layout {
	const struct weir_kind *kind;
	struct weir_shape shape;
	uint32_t shards;
	uint64_t lines;
	uint64_t capacity;
	double fp_rate;
};

/*
 * Make a filter of @layout around given memory (image, clone, fold).
 * @memory: the bits, 64 * layout->lines bytes of them at memory->bits; owned by the filter on
 *   success, still the caller's on failure.
 * @insert_error: 0, or what inserts answer (-EROFS).
 */
int weir__filter_make(struct weir_filter **out, const struct weir_layout *layout, uint64_t seed,
                      const struct weir_memory *memory, int insert_error);

/* The layout of a filter. */
struct weir_layout weir__filter_layout(const struct weir_filter *f);

/* What inserts into such a filter are answered: its insert_error, with the sentence that fits. */
int weir__insert_refused(const struct weir_filter *f);

/* Equal for equal seeds; tells 32 bits of a seed's 64, so it is for whoever may see the image. */
uint64_t weir__seed_fingerprint(uint64_t seed);

#endif
