/* SPDX-License-Identifier: MIT
 * Statistics from the bits themselves: all of them, or a sample spread over the shards. */
#include <math.h>
#include <string.h>
#include "error.h"
#include "filter.h"
#include "options.h"

enum { SAMPLE_LINES = (1 << 20) / 64, RUN_LINES = WEIR__STATS_FEWEST_LINES };

/* A sample: the first lines of every step'th shard. */
struct sample {
	uint64_t lines;
	uint32_t step;
};

/* Keys hash to lines at random, so the first lines of a shard are as good a sample as any. A run is
 * at least a page long: single lines would each miss the cache and the TLB, which takes a hundred
 * times as long for a filter of 1 GiB. */
static struct sample choose(const struct weir_filter *f, uint64_t most)
{
	uint64_t runs = most / RUN_LINES;
	if (f->array.lines <= most)
		return (struct sample){ f->array.lines / f->shards, 1 };
	if (f->shards <= runs)
		return (struct sample){ most / f->shards, 1 };
	return (struct sample){ RUN_LINES, f->shards / (uint32_t)runs };
}

/* Are there more keys than capacity, by more than three standard deviations of the estimate from a
 * sample of that share? */
static bool saturated(const struct weir_stats *s)
{
	return s->keys_estimated >
	       (double)s->capacity + 3 * sqrt((double)s->capacity / s->sampled) + 1;
}

static double fill_of(const struct weir_measure *m)
{
	return (double)m->used / (double)m->cells;
}

static void measure(const struct weir_filter *f, struct sample sample, struct weir_stats *s)
{
	struct weir_measure all = { 0 };
	uint64_t whole = f->array.lines / f->shards;
	for (uint32_t shard = 0; shard < f->shards; shard += sample.step) {
		struct weir_measure one = { 0 };
		f->kind->measure(f, shard * whole, sample.lines, &one);
		s->fill_max = fmax(s->fill_max, fill_of(&one));
		all.lines += one.lines;
		all.cells += one.cells;
		all.used += one.used;
		all.rate += one.rate;
	}
	s->fill = fill_of(&all);
	s->sampled = (double)all.lines / (double)f->array.lines;
	f->kind->estimate(f, &all, &s->keys_estimated, &s->fp_rate_estimated);
	s->saturated = saturated(s);
}

int weir__stats_within(const struct weir_filter *f, uint64_t lines, struct weir_stats *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_stats");
	if (err)
		return err;
	struct weir_stats s = {
		.struct_size = out->struct_size,
		.shape = f->array.shape,
		.shards = f->shards,
		.bytes = f->bytes,
		.capacity = f->capacity,
		.fp_rate = f->fp_rate,
		.isa = weir__isa_name(f->kernel->isa),
		.seed_fingerprint = weir__seed_fingerprint(f->array.seed)
	};
	measure(f, choose(f, lines), &s);
	memcpy(out, &s, out->struct_size);
	return 0;
}

int weir_stats(const struct weir_filter *f, struct weir_stats *out)
{
	return weir__stats_within(f, SAMPLE_LINES, out);
}

int weir_stats_exact(const struct weir_filter *f, struct weir_stats *out)
{
	return weir__stats_within(f, UINT64_MAX, out);
}
