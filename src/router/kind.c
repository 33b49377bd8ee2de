/* SPDX-License-Identifier: MIT
 * The kind router, as the rest of the library sees it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/kind.h"
#include "router/router.h"

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const uint32_t columns = shape->field[WEIR_ROUTER_COLUMNS];
	const uint32_t k = shape->field[WEIR_ROUTER_PROBES];
	const uint32_t sets = shape->field[WEIR_ROUTER_SETS_AT];
	return (columns == 8 || columns == 16 || columns == 32 || columns == 64) && k >= 1 &&
	       k <= WEIR__ROUTER_ROWS && sets >= 1 && sets <= columns &&
	       (lines == UINT64_MAX ||
	        (lines % WEIR__PAGE_LINES == 0 && lines >= 2 * WEIR__PAGE_LINES));
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const uint32_t k = shape->field[WEIR_ROUTER_PROBES];
	const uint32_t sets = shape->field[WEIR_ROUTER_SETS_AT];
	snprintf(text, WEIR_SHAPE_TEXT, "%" PRIu32 " set%s in %" PRIu32 " columns, %" PRIu32
	         " row%s a key", sets, sets == 1 ? "" : "s", shape->field[WEIR_ROUTER_COLUMNS], k,
	         k == 1 ? "" : "s");
}

/* ---- copies of some sets ---- */

/* Return: a word with the bits of these sets in each of its cells. */
static uint64_t in_each_cell(const struct weir_array *a, uint64_t sets)
{
	uint64_t bits = sets & weir__router_all(a);
	for (unsigned width = weir__router_columns(a); width < 64; width *= 2)
		bits |= bits << width;
	return bits;
}

void weir__router_copy_sets(struct weir_filter *dst, const struct weir_filter *src, uint64_t sets)
{
	const uint64_t wanted = in_each_cell(&src->array, sets), words = 8 * src->array.lines;
	for (uint64_t i = WEIR__PAGE_WORDS; i < words; i++) {
		uint64_t bits = weir__word_load_relaxed(src->array.words + i) & wanted;
		if (bits & ~weir__word_load_relaxed(dst->array.words + i))
			weir__word_or_relaxed(dst->array.words + i, bits);
	}
}

/* ---- the kind ---- */

static int create(struct weir_filter *f)
{
	struct weir_router_own *own = calloc(1, sizeof *own);
	if (!own)
		return weir__fail(-ENOMEM, "no memory for the names of a router's sets");
	f->own = own;
	return 0;
}

static void destroy(struct weir_filter *f)
{
	free(f->own);
}

const struct weir_kind weir__kind_router = {
	.id = WEIR_ROUTER,
	.name = "router",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | WEIR_CAN_ROUTE,
	.fields = { "columns", "rows_per_key", "sets" },
	.settle = weir__router_settle,
	.plan = weir__router_plan,
	.legal = legal,
	.describe = describe,
	.kernel = weir__router_kernel,
	.measure = weir__router_look,
	.estimate = weir__router_estimate,
	.judge = weir__router_judge,
	.create = create,
	.destroy = destroy,
	.begin = weir__router_name,
	.asked = weir__router_names_of,
	.head_lines = WEIR__PAGE_LINES,
	.check = weir__router_read_names,
	.alike = weir__router_alike,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
};
