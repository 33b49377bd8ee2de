/* SPDX-License-Identifier: MIT
 * The keys of a builder in their order. */
#include "build/sorted.h"
#include <stdlib.h>
#include "ground/error.h"

/* Runs for parts of the first levels of any size, and of second ones up to four billion keys. */
enum { FEWEST_RUN_BITS = 4 };

static int step(void *builder, uint64_t hashes)
{
	struct weir_builder *b = builder;
	int err = 0;
	pthread_mutex_lock(&b->reporting);
	b->done += hashes;
	if (b->options.progress)
		err = weir__progress(b->options.progress, b->options.progress_arg, b->done,
		                     b->total, "hashes");
	pthread_mutex_unlock(&b->reporting);
	return err;
}

static const struct weir_sorted *of(const struct weir_key_set *given)
{
	return (const struct weir_sorted *)(const void *)given;
}

static uint64_t given_count(const struct weir_key_set *given, uint64_t part, unsigned part_bits)
{
	return weir__distinct_count(&of(given)->distinct, part, part_bits);
}

static int given_read(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
                      uint64_t *out)
{
	return weir__distinct_read(&of(given)->distinct, part, part_bits, out);
}

static int given_built(const struct weir_key_set *given, uint64_t keys)
{
	return step(of(given)->b, keys);
}

/* No kind has parts for fewer than a million keys. */
static unsigned run_bits_for(uint64_t expected)
{
	unsigned bits = FEWEST_RUN_BITS;
	while (expected >> WEIR_BIN_BITS >> bits > 1000000)
		bits++;
	return bits;
}

int weir__sort(struct weir_sorted **out, struct weir_builder *b, struct weir_collected *from,
               uint64_t expected)
{
	struct weir_sorted *s = *out = calloc(1, sizeof *s);
	if (!s)
		return weir__fail(-ENOMEM, "no memory to sort the keys in");
	s->b = b;
	s->given = (struct weir_key_set){ .threads = b->options.threads,
		                        .count = given_count,
		                        .read = given_read,
		                        .built = given_built };
	int err = weir__distinct(&s->distinct, from, run_bits_for(expected), b->options.threads,
	                         step, b);
	s->given.n = atomic_load_explicit(&s->distinct.n, memory_order_relaxed);
	return err;
}

void weir__sorted_free(struct weir_sorted *s)
{
	if (s)
		weir__distinct_end(&s->distinct);
	free(s);
}
