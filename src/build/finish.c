/* SPDX-License-Identifier: MIT
 * The end of a builder: the keys are sorted, then the kind builds, in a larger array if it must. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "build/builder.h"
#include "build/distinct.h"
#include "clock.h"
#include "error.h"
#include "filter.h"
#include "kinds/list.h"
#include "options.h"
#include "plan.h"
#include "progress.h"

enum { ENLARGED = 4 /* times */ };

/* The keys sorted, for the kind. */
struct sorted {
	struct weir_key_set given; /* first */
	struct weir_distinct distinct;
	struct weir_builder *b;
};

static int step(void *builder, uint64_t hashes)
{
	struct weir_builder *b = builder;
	int err = 0;
	pthread_mutex_lock(&b->reporting);
	b->done += hashes;
	if (b->options.progress)
		err = weir__progress(b->options.progress, b->options.progress_arg, b->done,
		                     b->total);
	pthread_mutex_unlock(&b->reporting);
	return err;
}

static const struct sorted *of(const struct weir_key_set *given)
{
	return (const struct sorted *)(const void *)given;
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

/* Larger and larger, within what was given. */
static int build(struct weir_filter **out, struct weir_params *p, const struct sorted *s)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!p->capacity)
		p->capacity = s->given.n ? s->given.n : 1;
	int err = weir_plan(p, &plan);
	if (!err)
		err = build_as_planned(out, p, &plan, &s->given);
	for (unsigned i = 0; i < ENLARGED && err == -EAGAIN && weir__kind(p->kind)->enlarge; i++) {
		weir__kind(p->kind)->enlarge(&plan);
		if (p->max_bytes && plan.bytes > p->max_bytes)
			break;
		s->b->done = s->b->total - s->given.n;
		err = build_as_planned(out, p, &plan, &s->given);
	}
	return err == -EAGAIN ? weir__fail(-ENOSPC, "%s", weir_error_detail()) : err;
}

static int check_number(const struct weir_params *p, uint64_t n)
{
	if (!p->capacity || n <= p->capacity)
		return 0;
	return weir__fail(-ENOSPC, "capacity %" PRIu64 ": there are %" PRIu64 " different keys",
	                  p->capacity, n);
}

/* No kind has parts for fewer than a million keys. */
static unsigned run_bits_for(uint64_t capacity)
{
	unsigned bits = 0;
	while (capacity >> WEIR_BIN_BITS >> bits > 1000000)
		bits++;
	return bits;
}

static int finish(struct weir_builder *b, struct weir_filter **out, struct sorted *s,
                  struct weir_build_report *report)
{
	const double begun = weir__seconds();
	report->added = weir__collected(&b->collected);
	b->total = 2 * report->added;
	int err = weir__distinct(&s->distinct, &b->collected, run_bits_for(b->params.capacity),
	                         b->options.threads, step, b);
	const double sorted = weir__seconds();
	report->sort_seconds = sorted - begun;
	report->spilled_bytes = atomic_load_explicit(&b->collected.end, memory_order_relaxed);
	if (err)
		return err;
	s->given.n = report->keys = atomic_load_explicit(&s->distinct.n, memory_order_relaxed);
	b->total = report->added + report->keys;
	err = check_number(&b->params, report->keys);
	if (!err)
		err = build(out, &b->params, s);
	report->build_seconds = weir__seconds() - sorted;
	return err;
}

int weir_builder_finish(struct weir_builder *b, struct weir_filter **out,
                        struct weir_build_report *report)
{
	struct weir_build_report ours = WEIR_BUILD_REPORT_INIT;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the filter needs a place");
	int err = report ? weir__size_check(report, sizeof *report, "weir_build_report") : 0;
	if (err)
		return err;
	err = atomic_exchange_explicit(&b->failed, -EINVAL, memory_order_relaxed);
	if (err)
		return weir__builder_has_failed(err);
	struct sorted *s = malloc(sizeof *s);
	if (!s)
		return weir__fail(-ENOMEM, "no memory to sort the keys in");
	s->b = b;
	s->given = (struct weir_key_set){ .threads = b->options.threads,
		                        .count = given_count,
		                        .read = given_read,
		                        .built = given_built };
	err = finish(b, out, s, &ours);
	weir__distinct_end(&s->distinct);
	free(s);
	if (report) {
		ours.struct_size = report->struct_size;
		memcpy(report, &ours, report->struct_size);
	}
	return err;
}

/* ---- all at once ---- */

int weir_build(struct weir_filter **out, const struct weir_params *params, const uint64_t *hashes,
               size_t n)
{
	struct weir_params p;
	struct weir_builder *b;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_build needs a place for the filter");
	int err = weir__params_check_open(params, &p);
	if (err)
		return err;
	if (!p.seed && !p.hash_key && !weir__kind(p.kind)->as_is)
		return weir__fail(-EINVAL, "seed 0: give the one that the hashes were made with");
	if (n && !hashes)
		return weir__fail(-EINVAL, "hashes is NULL: %zu of them to build from", n);
	err = weir_builder_create(&b, &p, NULL);
	if (err)
		return err;
	err = weir_builder_add_hashes(b, hashes, n);
	if (!err)
		err = weir_builder_finish(b, out, NULL);
	weir_builder_destroy(b);
	return err;
}
