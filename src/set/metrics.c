/* SPDX-License-Identifier: MIT
 * Statistics as Prometheus text: one table of what there is, one writer that counts what does not
 * fit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/metrics.h>
#include "error.h"
#include "set/labels.h"

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
	X("refused", "gauge", "Whether the last commit or refresh was refused or failed.", \
	  s->refused_since > 0) \
	X("refused_seconds", "gauge", "Seconds since commits and refreshes are refused.", \
	  s->refused_since) \
	X("last_reload_seconds", "gauge", "Seconds that the last commit or refresh took.", \
	  s->last_reload)

static const struct metric {
	const char *name, *type, *help;
} metrics[] = {
#define METRIC(name, type, help, value) { name, type, help },
	METRICS(METRIC)
#undef METRIC
};

enum { COUNT = sizeof metrics / sizeof *metrics };

static void values_of(double values[COUNT], const struct weir_handle_stats *s)
{
	unsigned n = 0;
#define VALUE(name, type, help, value) values[n++] = (value);
	METRICS(VALUE)
#undef VALUE
}

struct text {
	char *at;
	size_t room;
	int64_t length; /* of all of it */
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(t->at, t->room, format, args);
	va_end(args);
	size_t fits = (size_t)n < t->room ? (size_t)n : t->room ? t->room - 1 : 0;
	t->at += fits;
	t->room -= fits;
	t->length += n;
}

/* To 15 digits, which hold every count that is not an estimate. */
static void put_value(struct text *t, double value)
{
	if (isinf(value))
		put(t, "+Inf\n");
	else
		put(t, "%.15g\n", value);
}

static void put_metric(struct text *t, unsigned i, const struct weir_metrics_set *sets,
                       double (*values)[COUNT], size_t n)
{
	const struct metric *m = &metrics[i];
	put(t, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", m->name, m->help, m->name, m->type);
	for (size_t set = 0; set < n; set++) {
		const char *labels = sets[set].labels;
		if (labels && *labels)
			put(t, "weir_%s{%s} ", m->name, labels);
		else
			put(t, "weir_%s ", m->name);
		put_value(t, values[set][i]);
	}
}

static int check(const struct weir_metrics_set *sets, size_t n, const char *buffer, size_t bytes)
{
	int err = 0;
	if ((n && !sets) || (bytes && !buffer))
		return weir__fail(-EINVAL, "%s is NULL: weir_handle_metrics needs it",
		                  n && !sets ? "sets" : "buffer");
	for (size_t i = 0; !err && i < n; i++)
		err = sets[i].handle ? weir__labels_check(sets[i].labels) :
		                       weir__fail(-EINVAL, "handle %zu is NULL: "
		                                  "weir_handle_metrics needs it", i);
	return err;
}

/* @values: room for those of each. */
static int64_t metrics_of(const struct weir_metrics_set *sets, double (*values)[COUNT], size_t n,
                          char *buffer, size_t bytes)
{
	struct text t = { .at = buffer, .room = bytes };
	if (bytes)
		*buffer = '\0';
	for (size_t set = 0; set < n; set++) {
		struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
		(void)!weir_handle_stats(sets[set].handle, &s); /* could refuse its size alone */
		values_of(values[set], &s);
	}
	for (unsigned i = 0; n && i < COUNT; i++)
		put_metric(&t, i, sets, values, n);
	return t.length;
}

int64_t weir_handle_metrics(const struct weir_handle *h, const char *labels, char *buffer,
                            size_t bytes)
{
	struct weir_metrics_set set = { h, labels };
	double values[1][COUNT];
	int err = check(&set, 1, buffer, bytes);
	return err ? err : metrics_of(&set, values, 1, buffer, bytes);
}

int64_t weir_handles_metrics(const struct weir_metrics_set *sets, size_t n, char *buffer,
                             size_t bytes)
{
	int err = check(sets, n, buffer, bytes);
	if (err)
		return err;
	double (*values)[COUNT] = calloc(n ? n : 1, sizeof *values);
	if (!values)
		return weir__fail(-ENOMEM, "no memory for the metrics of %zu handles", n);
	int64_t length = metrics_of(sets, values, n, buffer, bytes);
	free(values);
	return length;
}
