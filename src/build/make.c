/* SPDX-License-Identifier: MIT
 * The steps of a builder: sort the keys, then build a filter by the plan. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "build/builder.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "kind/spread.h"

/* ---- the keys in their order ---- */

/* The fewest bits that choose a run of a bin. Four bits make enough runs for a second level (of a
 * filter with an exclude list) of up to four billion keys. */
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

static const struct weir_sorted *sorted_of(const struct weir_key_set *given)
{
	return (const struct weir_sorted *)(const void *)given;
}

static uint64_t count_keys(const struct weir_key_set *given, uint64_t part, unsigned part_bits)
{
	return weir__distinct_count(&sorted_of(given)->distinct, part, part_bits);
}

static int read_keys(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
                     uint64_t *out)
{
	return weir__distinct_read(&sorted_of(given)->distinct, part, part_bits, out);
}

static int report_built(const struct weir_key_set *given, uint64_t keys)
{
	return step(sorted_of(given)->b, keys);
}

/* Return: the run bits that make runs of at most a million keys. A kind that cuts its keys into
 * parts gives each part more than a million keys, so no part is smaller than a run. */
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
		                        .count = count_keys,
		                        .read = read_keys,
		                        .built = report_built };
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

/* ---- building, in a larger array if the keys do not fit the planned one ---- */

enum { ENLARGED = 4 /* limit: the array is enlarged at most four times */ };

static int build_as_planned(struct weir_filter **out, const struct weir_params *p,
                            const struct weir_plan *plan, const struct weir_key_set *given)
{
	struct weir_filter *f = NULL;
	int err = weir__create_planned(&f, p, plan);
	if (!err)
		err = f->kind->build(f, given);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

int weir__builder_make(struct weir_builder *b, struct weir_filter **out,
                       const struct weir_params *p, struct weir_plan *plan,
                       const struct weir_key_set *given)
{
	const uint64_t begun = b->done;
	int err = build_as_planned(out, p, plan, given);
	for (unsigned i = 0; i < ENLARGED && err == -EAGAIN && weir__kind(p->kind)->enlarge; i++) {
		weir__kind(p->kind)->enlarge(plan);
		if (p->max_bytes && plan->bytes > p->max_bytes)
			break;
		b->done = begun;
		err = build_as_planned(out, p, plan, given);
	}
	return err == -EAGAIN ? weir__fail(-ENOSPC, "%s", weir_error_detail()) : err;
}

static int check_number(const struct weir_params *p, uint64_t n)
{
	if (!p->capacity || n <= p->capacity)
		return 0;
	return weir__refused(
		weir__fail(-ENOSPC, "capacity %" PRIu64 ": there are %" PRIu64 " different keys",
		           p->capacity, n),
		WEIR_ERROR_MORE_KEYS, "capacity", (double)p->capacity, (double)n, 0, 0);
}

static int check_hashes(struct weir_builder *b, const struct weir_distinct *d)
{
	const char *why;
	b->report.hashes_uneven = weir__distinct_uneven(d, &why);
	if (b->report.hashes_uneven != WEIR_UNEVEN_YES || b->options.allow_uneven)
		return 0;
	return weir__refused(
		weir__fail(-EDOM, "the hashes of the keys are not uniform, %s: " WEIR__UNEVEN_REMEDY
		           "; allow_uneven tries to build", why),
		WEIR_ERROR_UNEVEN, "allow_uneven", 0, 0, 0, 0);
}

/* Return: the rate x that equal hashes of different keys add. If the hashes of n keys are drawn
 * from n / x values, n / x * (1 - e^-x) of the values occur. The function solves this for x. */
static double rate_of_equal(double keys, double hashes)
{
	double least = 0, most = 1024;
	for (unsigned i = 0; i < 64; i++) {
		const double x = (least + most) / 2;
		*(-expm1(-x) / x * keys > hashes ? &least : &most) = x;
	}
	return least;
}

/* Check the number of distinct hashes against options.different_keys. The hashes alone do not show
 * that different keys share a hash, so the caller has to give the number of different keys. */
static int check_values(struct weir_builder *b)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	const uint64_t keys = b->options.different_keys, hashes = b->report.keys;
	if (hashes >= keys || b->options.allow_uneven)
		return 0;
	const double x = rate_of_equal((double)keys, (double)hashes);
	int err = weir_plan_make(&b->params, &plan);
	const double told = b->hash_bits ? ldexp((double)keys, -(int)b->hash_bits) : 0;
	if (err || x <= plan.fp_rate + fmin(told, 0.5))
		return err;
	return weir__refused(
		weir__fail(-EDOM, "different_keys %" PRIu64 ": only %" PRIu64 " hashes differ, as "
		           "if of 2^%.0f values, which adds %.2g to the rate: give keys, not "
		           "hashes, to inserts and lookups, or count each key once", keys, hashes,
		           log2((double)keys / x), x),
		WEIR_ERROR_UNEVEN, "different_keys", (double)keys, (double)hashes, x, 0);
}

/* Estimate the number of excluded keys that pass the sieve. If the builder chooses the width of the
 * fingerprint, return an upper bound: half of the excluded keys, but at most 64 per included key.
 * If more keys passed, a filter with the widest fingerprint, 32 bits, would be smaller. */
static uint64_t may_pass(const struct weir_params *p, uint64_t keys)
{
	if (p->layered.fingerprint_bits) /* at most 32: weir_builder_create() checked it */
		return p->layered.exclude_keys >> p->layered.fingerprint_bits;
	return p->layered.exclude_keys / 2 / 64 < keys ? p->layered.exclude_keys / 2 : 64 * keys;
}

int weir__builder_sort(struct weir_builder *b, struct weir_sorted **out)
{
	struct weir_build_report *report = &b->report;
	struct weir_plan plan = WEIR_PLAN_INIT;
	const double begun = weir__seconds();
	report->added = weir__collected(&b->collected);
	b->total = 2 * report->added;
	const uint64_t keys = b->params.capacity ? b->params.capacity : report->added;
	/* Refuse an impossible plan before sorting, whose memory grows with the capacity. */
	int err = b->params.capacity ? weir_plan_make(&b->params, &plan) : 0;
	if (!err)
		err = weir__sort(out, b, &b->collected, keys + may_pass(&b->params, keys));
	report->sort_seconds = weir__seconds() - begun;
	report->spilled_bytes = atomic_load_explicit(&b->collected.end, memory_order_relaxed);
	if (err)
		return err;
	report->keys = (*out)->given.n;
	b->total = report->added + report->keys;
	err = check_number(&b->params, report->keys);
	if (!err)
		err = check_hashes(b, &(*out)->distinct);
	if (!err && !b->params.capacity) {
		b->params.capacity = report->keys ? report->keys : 1;
		err = weir__params_settle(&b->params);
	}
	return err ? err : check_values(b);
}
