/* SPDX-License-Identifier: MIT
 * The end of a builder; and weir_build(), which is one from its beginning. */
#include <string.h>
#include "build/builder.h"
#include "filter/kinds.h"
#include "filter/plan.h"
#include "ground/error.h"
#include "ground/system.h"

/* Of a kind without an exclude list. */
static int finish_at_once(struct weir_builder *b, struct weir_filter **out)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_sorted *sorted = NULL;
	int err = weir__builder_sort(b, &sorted);
	const double begun = weir__seconds();
	if (!err)
		err = weir_plan(&b->params, &plan);
	if (!err)
		err = weir__builder_make(b, out, &b->params, &plan, &sorted->given);
	b->report.build_seconds = weir__seconds() - begun;
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

int weir_build(struct weir_filter **out, const struct weir_params *params, struct weir_keys keys,
               const struct weir_builder_options *options)
{
	struct weir_params p;
	struct weir_builder *b;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_build needs a place for the filter");
	int err = weir__params_check_open(params, &p);
	if (err)
		return err;
	if (keys.form == WEIR_KEYS_HASHES && !p.seed && !p.hash_key && !weir__kind(p.kind)->as_is)
		return weir__fail(-EINVAL, "seed 0: give the one that the hashes were made with");
	if (keys.n && !keys.at)
		return weir__fail(-EINVAL, "keys.at is NULL: %zu keys to build from",
		                  (size_t)keys.n);
	err = weir_builder_create(&b, &p, options);
	if (err)
		return err;
	err = weir_builder_add_keys(b, keys);
	if (!err)
		err = weir_builder_finish(b, out, NULL);
	weir_builder_destroy(b);
	return err;
}
