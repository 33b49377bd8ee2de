/* SPDX-License-Identifier: MIT
 * Records the findings of a drill: lost keys and errors. At the end, looks up every key of the
 * files and every inserted key once more, and measures the false-positive rate. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "drill.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"

enum { LOST_SAID = 5 };

double drill_part(const struct drill *d)
{
	return (seconds_now() - d->began) / d->seconds;
}

void drill_lost(struct drill *d, uint64_t keys, const char *format, ...)
{
	char what[160];
	va_list args;
	uint64_t before = atomic_fetch_add_explicit(&d->lost, keys, memory_order_relaxed);
	if (before >= LOST_SAID)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	say("LOST: %s", what);
}

void drill_fail(struct drill *d, int err)
{
	if (!atomic_exchange(&d->failed, true))
		say_weir(err, NULL);
	atomic_store(&d->over, true);
}

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
		      atomic_load_explicit(&record->inserted, memory_order_relaxed), "an inserter");
	}
	/* All other threads have ended, so the filter stays valid after flavor_leave(). */
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
