/* SPDX-License-Identifier: MIT
 * A handle's statistics as Prometheus text. */
#include <weir/metrics.h>
#include "metrics/exposition.h"

#define METRICS(X) \
	X("generation", "gauge", "Generation of the current filter.", (double)s->generation) \
	X("absent", "gauge", "Whether there is no set yet.", s->absent) \
	X("age_seconds", "gauge", "Seconds since the current filter was published.", s->age) \
	X("keys", "gauge", "Distinct keys, estimated from the bits.", s->filter.keys_estimated) \
	X("capacity_keys", "gauge", "Keys that the filter was made for.", \
	  (double)s->filter.capacity) \
	X("fill_ratio", "gauge", "Share of bits set.", s->filter.fill) \
	X("fp_rate", "gauge", "Share of absent keys answered with yes, estimated.", \
	  s->filter.fp_rate_estimated) \
	X("fp_rate_asked", "gauge", "Share that the filter was made for.", s->filter.fp_rate) \
	X("saturated", "gauge", "Whether there are more keys than the capacity.", \
	  s->filter.saturated) \
	X("nearly_full", "gauge", "Whether inserts may be refused soon: reload a larger one.", \
	  s->nearly_full) \
	X("previous_void", "gauge", "Whether the previous filter refused a key: no rollback.", \
	  s->previous_void) \
	X("bytes", "gauge", "Bytes of bits of all filters held.", (double)s->bytes) \
	X("swaps_total", "counter", "Commits, refreshes and rollbacks.", (double)s->swaps) \
	X("refused_total", "counter", "Commits and refreshes that a gate or a bad file stopped.", \
	  (double)s->refused) \
	X("failed_total", "counter", "Commits whose filter could not be built.", \
	  (double)s->failed) \
	X("refused", "gauge", "Whether the last commit or refresh was refused or failed.", \
	  s->refused_since > 0) \
	X("refused_seconds", "gauge", "Seconds since commits and refreshes are refused.", \
	  s->refused_since) \
	X("last_reload_seconds", "gauge", "Seconds that the last commit or refresh took.", \
	  s->last_reload)

static const struct weir__metric metrics[] = {
#define METRIC(name, type, help, value) { name, type, help },
	METRICS(METRIC)
#undef METRIC
};

static bool given(const void *array, size_t i, const char **labels)
{
	const struct weir_metrics_set *sets = array;
	*labels = sets[i].labels;
	return sets[i].handle != NULL;
}

static void values_of(const void *array, size_t i, double *values)
{
	const struct weir_metrics_set *sets = array;
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT, *s = &stats;
	(void)!weir_handle_measure(sets[i].handle, &stats); /* could refuse its size alone */
#define VALUE(name, type, help, value) *values++ = (value);
	METRICS(VALUE)
#undef VALUE
}

enum { ROWS = sizeof metrics / sizeof *metrics };
_Static_assert((int)ROWS <= (int)WEIR__METRICS, "there is room for a handle's metrics");

static const struct weir__subjects subjects = {
	"weir_handle_metrics", "handle", "sets", metrics, ROWS, given, values_of
};

int64_t weir_handle_metrics(const struct weir_handle *h, const char *labels, char *buffer,
                            size_t bytes)
{
	const struct weir_metrics_set one = { h, labels };
	return weir__exposition(&subjects, &one, 1, buffer, bytes);
}

int64_t weir_handles_metrics(const struct weir_metrics_set *sets, size_t n, char *buffer,
                             size_t bytes)
{
	return weir__exposition(&subjects, sets, n, buffer, bytes);
}
