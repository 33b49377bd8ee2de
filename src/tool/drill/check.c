/* SPDX-License-Identifier: MIT
 * The end of a drill: every key of the files and every key that was inserted is looked up once
 * more, and the rate is measured. */
#include <math.h>
#include "drill.h"
#include "say.h"
#include "tool.h"

static void check(struct drill *d, const uint64_t *hashes, uint64_t n, const char *of)
{
	uint64_t found = weir_handle_contains_keys(d->handle, weir_keys_hashes(hashes, n), NULL);
	d->checked_at_end += n;
	d->lost_at_end += n - found;
	if (found < n)
		drill_lost(d, n - found, "%llu of the %llu keys of %s were not found at the end",
		           (unsigned long long)(n - found), (unsigned long long)n, of);
}

int drill_check(struct drill *d)
{
	flavor_enter(&d->flavor);
	check(d, d->source, d->n, "the source");
	for (unsigned i = 0; i < d->inserters; i++) {
		struct record *record = &d->inserter[i].record;
		check(d, record->hashes,
		      atomic_load_explicit(&record->promised, memory_order_relaxed), "an inserter");
	}
	/* No thread is left that could replace it: it may be kept from here on. */
	const struct weir_filter *f = weir_handle_get(d->handle);
	flavor_leave(&d->flavor);
	int err = weir_measure(f, WEIR_EXACT, &d->stats);
	if (err)
		return trouble_weir(err, NULL);
	d->probe.rate = NAN;
	if (probe_tells(&d->stats))
		d->probe = probe_rate(f, d->fill.from.delimiter, d->stats.fp_rate_estimated);
	return TOOL_OK;
}
