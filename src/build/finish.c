/* SPDX-License-Identifier: MIT
 * The end of a builder: the keys are sorted, then the kind builds, in a larger array if it must. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "build/sorted.h"
#include "error.h"
#include "filter.h"
#include "kinds/list.h"
#include "options.h"
#include "plan.h"

enum { ENLARGED = 4 /* times */ };

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

double weir__builder_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int check_number(const struct weir_params *p, uint64_t n)
{
	if (!p->capacity || n <= p->capacity)
		return 0;
	return weir__fail(-ENOSPC, "capacity %" PRIu64 ": there are %" PRIu64 " different keys",
	                  p->capacity, n);
}

int weir__builder_sort(struct weir_builder *b, struct weir_sorted **out)
{
	struct weir_build_report *report = &b->report;
	const double begun = weir__builder_now();
	report->added = weir__collected(&b->collected);
	b->total = 2 * report->added;
	int err = weir__sort(out, b, &b->collected,
	                     b->params.capacity + b->params.exclude_keys / 2);
	report->sort_seconds = weir__builder_now() - begun;
	report->spilled_bytes = atomic_load_explicit(&b->collected.end, memory_order_relaxed);
	if (err)
		return err;
	report->keys = (*out)->given.n;
	b->total = report->added + report->keys;
	err = check_number(&b->params, report->keys);
	if (!err && !b->params.capacity)
		b->params.capacity = report->keys ? report->keys : 1;
	return err;
}

/* Of a kind without an exclude list. */
static int finish_at_once(struct weir_builder *b, struct weir_filter **out)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_sorted *sorted = NULL;
	int err = weir__builder_sort(b, &sorted);
	const double begun = weir__builder_now();
	if (!err)
		err = weir_plan(&b->params, &plan);
	if (!err)
		err = weir__builder_make(b, out, &b->params, &plan, &sorted->given);
	b->report.build_seconds = weir__builder_now() - begun;
	weir__sorted_free(sorted);
	return err;
}

static int finish(struct weir_builder *b, struct weir_filter **out)
{
	if (!weir__kind(b->params.kind)->sieve)
		return finish_at_once(b, out);
	int err = b->sieve ? 0 : weir__builder_seal(b);
	return err ? err : weir__builder_finish_sealed(b, out);
}

int weir_builder_finish(struct weir_builder *b, struct weir_filter **out,
                        struct weir_build_report *report)
{
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the filter needs a place");
	int err = report ? weir__size_check(report, sizeof *report, "weir_build_report") : 0;
	if (err)
		return err;
	err = atomic_exchange_explicit(&b->failed, -EINVAL, memory_order_relaxed);
	if (err)
		return weir__builder_has_failed(err);
	err = finish(b, out);
	if (report) {
		b->report.struct_size = report->struct_size;
		memcpy(report, &b->report, report->struct_size);
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
	if (!p.seed && !p.hash_key)
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
