/* SPDX-License-Identifier: MIT
 * What the rest of the library knows of routers: weir__kind_router (R1). */
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
	       k <= WEIR_ROUTER_ROWS && sets >= 1 && sets <= columns &&
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

/* ---- what verbs of filters would ask: is the key in any set? ---- */

static bool contains_hash(const struct weir_filter *f, uint64_t hash)
{
	return weir__router_own(f)->kernel->route(&f->array, hash) != 0;
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return contains_hash(f, weir__hash_by(&f->hashing, key, len));
}

static int no_insert_hash(struct weir_filter *f, uint64_t hash)
{
	(void)hash;
	return weir__kind_cannot(f->kind, "take a key without a set");
}

static int no_insert(struct weir_filter *f, const void *key, size_t len)
{
	(void)key, (void)len;
	return no_insert_hash(f, 0);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel scalar = {
		.isa = WEIR_ISA_SCALAR,
		.verbs = { contains, contains_hash, no_insert, no_insert_hash, NULL, NULL },
		.block_lines = WEIR__PAGE_LINES,
	};
	(void)isa, (void)shape;
	return &scalar;
}

/* ---- the whole array ---- */

/* Of the pages that have rows. */
static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	uint64_t from = first < WEIR__PAGE_LINES ? WEIR__PAGE_LINES : first;
	for (uint64_t i = 8 * from; i < 8 * (first + n); i++)
		sum->used += (unsigned)__builtin_popcountll(
			weir__word_load_relaxed(f->array.words + i));
	sum->lines += n;
	sum->cells += 512 * n;
}

/* Of all columns together: weir_router_stats() says it of each. */
static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	*rate = (double)sum->used / (double)sum->cells;
	*keys = *rate * 512 * (double)f->array.lines / weir__router_probes(&f->array);
}

static int create(struct weir_filter *f)
{
	struct weir_router_own *own = calloc(1, sizeof *own);
	if (!own)
		return weir__fail(-ENOMEM, "no memory for the names of a router's sets");
	own->kernel = weir__router_kernel(&f->array.shape);
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
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.create = create,
	.destroy = destroy,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
	.check = weir__router_read_names,
	.made_by = "weir_router_create()",
	.read_by = "weir_router_load()",
};
