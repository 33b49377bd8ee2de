/* SPDX-License-Identifier: MIT
 * The bytes that each filter of a footer may take: up to the next one, or to the footer. If filters
 * could share bytes, a small file would have any number of large ones to read. */
#include <errno.h>
#include <stdlib.h>
#include "parquet/footer.h"

static uint64_t count(const struct weir_footer *footer, uint64_t chunks)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < chunks; i++)
		n += weir__chunk_has_filter(&footer->chunks[i]);
	return n;
}

static int by_place(const void *a, const void *b)
{
	const struct weir_chunk *x = *(struct weir_chunk *const *)a;
	const struct weir_chunk *y = *(struct weir_chunk *const *)b;
	return (x->filter_at > y->filter_at) - (x->filter_at < y->filter_at);
}

static void give_room(struct weir_chunk *const *in_order, uint64_t n, uint64_t end,
                      struct weir_thrift *t)
{
	for (uint64_t i = n; i-- && !t->fault; end = in_order[i]->filter_at) {
		struct weir_chunk *chunk = in_order[i];
		chunk->filter_room = end - chunk->filter_at;
		if (!chunk->filter_room || chunk->filter_bytes > chunk->filter_room)
			weir__thrift_fault(t, "two filters lie in the same bytes of the file");
	}
}

int weir__footer_rooms(struct weir_footer *footer, uint64_t filters_end, struct weir_thrift *t)
{
	const uint64_t chunks = (uint64_t)footer->n_groups * footer->n_columns;
	const uint64_t n = count(footer, chunks);
	struct weir_chunk **in_order = malloc((n + 1) * sizeof *in_order);
	uint64_t at = 0;
	if (!in_order)
		return -ENOMEM;
	for (uint64_t i = 0; i < chunks; i++)
		if (weir__chunk_has_filter(&footer->chunks[i]))
			in_order[at++] = &footer->chunks[i];
	qsort(in_order, n, sizeof *in_order, by_place);
	give_room(in_order, n, filters_end, t);
	free(in_order);
	return 0;
}
