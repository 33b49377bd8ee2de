/* SPDX-License-Identifier: MIT
 * Collects the metrics of filters, handles and guards. <weir/metrics.h> describes them. */
#include <stdlib.h>
#include <weir/guard.h>
#include <weir/handle.h>
#include "ground/error.h"
#include "metrics/exposition.h"

#define GAUGE(name, help, value) { "weir_" name, help, (double)(value), 0, 0 }
#define COUNTER(name, help, value) { "weir_" name, help, (double)(value), 1, 0 }
#define ADD(to, labels, of) weir__samples_add(to, labels, of, sizeof(of) / sizeof *(of))

/* @bytes, @nearly_full: the values of the filter, or of all filters of the handle together. */
static int add_stats(struct weir__samples *to, const char *labels, const struct weir_stats *s,
                     uint64_t bytes, bool nearly_full)
{
	const struct weir_metric of[] = {
		GAUGE("keys", "Distinct keys, estimated from the bits.", s->keys_estimated),
		GAUGE("capacity_keys", "Keys that the filter was made for.", s->capacity),
		GAUGE("fill_ratio", "Share of bits set.", s->fill),
		GAUGE("fp_rate", "Share of absent keys that one probe answers with yes, estimated.",
		      s->fp_rate_estimated),
		GAUGE("fp_rate_asked", "Share that the filter was made for.", s->fp_rate),
		GAUGE("saturated", "Whether there are more keys than the capacity.", s->saturated),
		GAUGE("hashes_uneven", "Whether hashes of the caller's own are not uniform.",
		      s->hashes_uneven == WEIR_UNEVEN_YES),
		GAUGE("nearly_full", "Whether inserts may be refused soon: reload a larger one.",
		      nearly_full),
		GAUGE("bytes", "Bytes of bits of all filters held.", bytes),
		GAUGE("lookups", "Most keys that the lookup of one text probes.", s->lookups),
	};
	return ADD(to, labels, of);
}

static int add_filter(struct weir__samples *to, const struct weir_metrics *m)
{
	struct weir_stats s = WEIR_STATS_INIT;
	(void)!weir_measure(m->filter, WEIR_SAMPLED, &s); /* only a wrong size fails */
	return add_stats(to, m->labels, &s, s.bytes, s.nearly_full);
}

static int add_handle(struct weir__samples *to, const struct weir_metrics *m)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	(void)!weir_handle_measure(m->handle, &s, &current); /* only a wrong size fails */
	const struct weir_metric before[] = {
		GAUGE("generation", "Generation of the current filter.", s.generation),
		GAUGE("absent", "Whether there is no set yet.", s.absent),
		GAUGE("age_seconds", "Seconds since the current filter was published.", s.age),
	};
	const struct weir_metric after[] = {
		GAUGE("previous_void", "Whether the previous filter refused a key: no rollback.",
		      s.previous_void),
		COUNTER("swaps_total", "Commits, refreshes and rollbacks.", s.swaps),
		COUNTER("refused_total", "Commits and refreshes that a gate or a bad file stopped.",
		        s.refused),
		GAUGE("kept_dropped", "Kept keys that the first filter had no room for.",
		      s.kept_dropped),
		COUNTER("failed_total", "Commits whose filter could not be built.", s.failed),
		GAUGE("refused", "Whether the last commit or refresh was refused or failed.",
		      s.refused_since > 0),
		GAUGE("refused_seconds", "Seconds since commits and refreshes are refused.",
		      s.refused_since),
		GAUGE("last_reload_seconds", "Seconds that the last commit or refresh took.",
		      s.last_reload),
	};
	int err = ADD(to, m->labels, before);
	if (!err)
		err = add_stats(to, m->labels, &current, s.bytes, s.nearly_full);
	return err ? err : ADD(to, m->labels, after);
}

static int add_guard(struct weir__samples *to, const struct weir_metrics *m)
{
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	(void)!weir_guard_measure(m->guard, &s); /* only a wrong size fails */
	const struct weir_metric of[] = {
		COUNTER("guard_asked_total", "Keys that the guard was asked for.", s.asked),
		COUNTER("guard_stopped_total", "Of those, ruled out by the filter.", s.stopped),
		COUNTER("guard_true_positives_total", "Passed on, and the store had them.",
		        s.true_positives),
		COUNTER("guard_false_positives_total", "Passed on, and the store had them not.",
		        s.false_positives),
		COUNTER("guard_bypassed_total", "Sent to the store without asking the filter.",
		        s.bypassed),
		COUNTER("guard_bypassed_absent_total", "Of those, the store had them not.",
		        s.bypassed_absent),
		GAUGE("guard_unreported", "Passed on, without a report of what the store had.",
		      s.unreported),
		COUNTER("guard_switches_total",
		        "Times that a thread left the filter out, or came back.", s.switches),
		GAUGE("guard_threads", "Threads that ask.", s.threads),
		GAUGE("guard_threads_bypassing", "Of those, leave the filter out now.",
		      s.bypassing),
		GAUGE("guard_fp_rate", "Share of absent keys that the filter let pass.", s.fp_rate),
		GAUGE("guard_saved_ratio", "Share of asks that the store was saved.", s.saved),
	};
	return ADD(to, m->labels, of);
}

static int add_other(struct weir__samples *to, const struct weir_metrics *m)
{
	struct weir_metric one = { 0 };
	int err = 0;
	for (uint32_t i = 0; !err && m->next(m->other, i, &one); i++)
		err = weir__samples_add(to, m->labels, &one, 1);
	return err;
}

static int (*const adders[])(struct weir__samples *to, const struct weir_metrics *m) = {
	[WEIR_METRICS_FILTER] = add_filter,
	[WEIR_METRICS_HANDLE] = add_handle,
	[WEIR_METRICS_GUARD] = add_guard,
	[WEIR_METRICS_OTHER] = add_other,
};

static int check(const struct weir_metrics *of, size_t n, const char *buffer, size_t bytes)
{
	static const char verb[] = "weir_metrics_write";
	int err = 0;
	if ((n && !of) || (bytes && !buffer))
		return weir__fail(-EINVAL, "%s is NULL: %s needs it", n && !of ? "of" : "buffer",
		                  verb);
	for (size_t i = 0; !err && i < n; i++) {
		if (of[i].form > WEIR_METRICS_OTHER)
			err = weir__fail(-EINVAL, "object %zu has the form %u: make it with a "
			                 "function of weir/metrics.h", i, of[i].form);
		else if (!of[i].other || (of[i].form == WEIR_METRICS_OTHER && !of[i].next))
			err = weir__fail(-EINVAL, "object %zu%s is NULL: %s needs it", i,
			                 of[i].other ? "'s function" : "", verb);
		else
			err = weir__labels_check(of[i].labels);
	}
	return err;
}

int64_t weir_metrics_write(const struct weir_metrics *of, size_t n, char *buffer, size_t bytes)
{
	struct weir__samples samples = { 0 };
	int64_t length = check(of, n, buffer, bytes);
	for (size_t i = 0; !length && i < n; i++)
		length = adders[of[i].form](&samples, &of[i]);
	if (!length)
		length = weir__samples_print(&samples, buffer, bytes);
	free(samples.of);
	return length;
}
