/* SPDX-License-Identifier: MIT
 * A guard's figures as Prometheus text. */
#include <weir/metrics.h>
#include "metrics/exposition.h"

#define METRICS(X) \
	X("asked_total", "counter", "Keys that the guard was asked for.", (double)s->asked) \
	X("stopped_total", "counter", "Of those, ruled out by the filter.", (double)s->stopped) \
	X("true_positives_total", "counter", "Passed on, and the store had them.", \
	  (double)s->true_positives) \
	X("false_positives_total", "counter", "Passed on, and the store had them not.", \
	  (double)s->false_positives) \
	X("bypassed_total", "counter", "Sent to the store without asking the filter.", \
	  (double)s->bypassed) \
	X("bypassed_absent_total", "counter", "Of those, the store had them not.", \
	  (double)s->bypassed_absent) \
	X("unreported", "gauge", "Passed on, and nobody has reported what the store had.", \
	  (double)s->unreported) \
	X("switches_total", "counter", "Times that a thread left the filter out, or came back.", \
	  (double)s->switches) \
	X("threads", "gauge", "Threads that ask.", s->threads) \
	X("threads_bypassing", "gauge", "Of those, leave the filter out now.", s->bypassing) \
	X("fp_rate", "gauge", "Share of absent keys that the filter let pass.", s->fp_rate) \
	X("saved_ratio", "gauge", "Share of asks that the store was saved.", s->saved)

static const struct weir__metric metrics[] = {
#define METRIC(name, type, help, value) { "guard_" name, type, help },
	METRICS(METRIC)
#undef METRIC
};

static bool given(const void *array, size_t i, const char **labels)
{
	const struct weir_metrics_guard *guards = array;
	*labels = guards[i].labels;
	return guards[i].guard != NULL;
}

static void values_of(const void *array, size_t i, double *values)
{
	const struct weir_metrics_guard *guards = array;
	struct weir_guard_stats stats = WEIR_GUARD_STATS_INIT, *s = &stats;
	(void)!weir_guard_measure(guards[i].guard, &stats); /* could refuse its size alone */
#define VALUE(name, type, help, value) *values++ = (value);
	METRICS(VALUE)
#undef VALUE
}

enum { ROWS = sizeof metrics / sizeof *metrics };
_Static_assert((int)ROWS <= (int)WEIR__METRICS, "there is room for a guard's metrics");

static const struct weir__subjects subjects = {
	"weir_guard_metrics", "guard", "guards", metrics, ROWS, given, values_of
};

int64_t weir_guard_metrics(struct weir_guard *g, const char *labels, char *buffer, size_t bytes)
{
	const struct weir_metrics_guard one = { g, labels };
	return weir__exposition(&subjects, &one, 1, buffer, bytes);
}

int64_t weir_guards_metrics(const struct weir_metrics_guard *guards, size_t n, char *buffer,
                            size_t bytes)
{
	return weir__exposition(&subjects, guards, n, buffer, bytes);
}
