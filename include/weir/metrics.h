/* SPDX-License-Identifier: MIT
 * Metrics: writes the figures of several objects as one Prometheus text (exposition format 0.0.4),
 * for a server's /metrics page. Each metric name comes once, followed by the lines of all objects.
 *
 *     struct weir_metrics of[] = { weir_metrics_handle(ips, "set=\"ips\""),
 *                                  weir_metrics_guard(guard, "set=\"ips\"") };
 *     weir_metrics_write(of, 2, buffer, sizeof buffer);
 *
 * Metrics of a filter. For a handle they are those of its current filter.
 *
 *     weir_keys                    gauge    distinct keys, estimated; +Inf: every bit is set
 *     weir_capacity_keys           gauge    keys that the filter was made for
 *     weir_fill_ratio              gauge    share of bits set
 *     weir_fp_rate                 gauge    false positives among absent keys, estimated, for one
 *                                           probe; a lookup makes up to weir_lookups probes
 *     weir_fp_rate_asked           gauge    rate that the filter was made for
 *     weir_saturated               gauge    1: more keys than its capacity
 *     weir_hashes_uneven           gauge    1: hashes given by callers are not uniform
 *     weir_nearly_full             gauge    1: inserts may be refused soon, load a larger filter
 *     weir_bytes                   gauge    bytes of bits; for a handle of all its filters
 *     weir_lookups                 gauge    largest number of keys that one lookup of a text probes
 *
 * More metrics of a handle:
 *
 *     weir_generation              gauge    number of the current filter: 1, plus 1 at each swap
 *     weir_absent                  gauge    1: no filter yet, so the metrics of a filter are 0
 *     weir_age_seconds             gauge    time since the current filter was published
 *     weir_previous_void           gauge    1: no rollback, since the previous filter refused a key
 *     weir_swaps_total             counter  commits, refreshes and rollbacks
 *     weir_refused_total           counter  commits and refreshes stopped by a gate or a bad file
 *     weir_failed_total            counter  commits whose filter could not be built
 *     weir_kept_dropped            gauge    kept keys that did not fit in the first filter
 *     weir_refused                 gauge    1: the last commit or refresh was refused or failed
 *     weir_refused_seconds         gauge    time since refusals began; 0 while weir_refused is 0
 *     weir_last_reload_seconds     gauge    duration of the last commit or refresh
 *
 * Metrics of a guard:
 *
 *     weir_guard_asked_total            counter  keys in calls of weir_guard_ask() and its forms
 *     weir_guard_stopped_total          counter  keys that the filter ruled out
 *     weir_guard_true_positives_total   counter  keys that the filter let pass and the store had
 *     weir_guard_false_positives_total  counter  keys that the filter let pass and the store lacked
 *     weir_guard_bypassed_total         counter  keys sent to the store without the filter
 *     weir_guard_bypassed_absent_total  counter  bypassed keys that the store did not have
 *     weir_guard_unreported             gauge    keys sent to the store, without a weir_guard_saw()
 *     weir_guard_switches_total         counter  how often a thread started or stopped bypassing
 *     weir_guard_threads                gauge    threads that have joined and not left
 *     weir_guard_threads_bypassing      gauge    threads that bypass the filter now
 *     weir_guard_fp_rate                gauge    false positives / (false positives + stopped)
 *     weir_guard_saved_ratio            gauge    stopped / asked
 *
 * The last two metrics cover all the time since the guard was made; for the last hour use rate() of
 * the counters. struct weir_stats, weir_handle_stats and weir_guard_stats describe each figure. The
 * reason of a refusal is only in weir_handle_stats.refused_sentence: a label that changes makes a
 * new series. src/packaging/alerts.yml has alerts for saturated, stale, refused and absent sets.
 */
#ifndef WEIR_METRICS_H
#define WEIR_METRICS_H

#include <weir/filter.h>

WEIR_BEGIN_DECLS

struct weir_handle;
struct weir_guard;

enum weir_metrics_form {
	WEIR_METRICS_FILTER = 0,
	WEIR_METRICS_HANDLE = 1,
	WEIR_METRICS_GUARD = 2,
	WEIR_METRICS_OTHER = 3, /* an object of another library, or of the caller */
};

/** A metric of an object that the library does not know. */
struct weir_metric {
	const char *name, *help; /* valid until the text is written. name is the full name of the
	                            metric, such as app_queries_total. If several objects use
	                            one name, help and counter come from the first object */
	double value;            /* NAN: leave the object's line out */
	uint32_t counter;        /* 1: a counter; 0: a gauge */
	uint32_t reserved;       /* 0 */
};

/**
 * Get metric number @i of an object. The library that owns the object provides this function.
 * Return: 1; 0 if @i is past the last metric.
 */
typedef int weir_metric_fn(const void *object, uint32_t i, struct weir_metric *out);

/** An object and the labels of its lines. Make one with the functions below. */
struct weir_metrics {
	union {
		const struct weir_filter *filter;
		const struct weir_handle *handle;
		struct weir_guard *guard;
		const void *other;
	};
	const char *labels;   /* such as set="bad_ips",shard="3", different for all objects of one
	                         form. Names are letters, digits and _; values are printable UTF-8
	                         with \\, \" and \n escaped. NULL or "": no labels. */
	weir_metric_fn *next; /* for WEIR_METRICS_OTHER; else NULL */
	uint32_t form;        /* enum weir_metrics_form */
	uint32_t reserved;
};

/** Get the metrics of a filter. A filter and a handle in one text need different labels. */
static inline struct weir_metrics weir_metrics_filter(const struct weir_filter *f,
                                                      const char *labels)
{
	struct weir_metrics m = { { f }, labels, NULL, WEIR_METRICS_FILTER, 0 };
	return m;
}

/** Get the metrics of a handle and of its current filter. */
static inline struct weir_metrics weir_metrics_handle(const struct weir_handle *h,
                                                      const char *labels)
{
	struct weir_metrics m = { { NULL }, labels, NULL, WEIR_METRICS_HANDLE, 0 };
	m.handle = h;
	return m;
}

/** Get the metrics of a guard. */
static inline struct weir_metrics weir_metrics_guard(struct weir_guard *g, const char *labels)
{
	struct weir_metrics m = { { NULL }, labels, NULL, WEIR_METRICS_GUARD, 0 };
	m.guard = g;
	return m;
}

/** Get the metrics of any other object, which @next provides one by one. */
static inline struct weir_metrics weir_metrics_other(const void *object, weir_metric_fn *next,
                                                     const char *labels)
{
	struct weir_metrics m = { { NULL }, labels, next, WEIR_METRICS_OTHER, 0 };
	m.other = object;
	return m;
}

/**
 * Write the metrics of @n objects.
 * @buffer: receives as much of the text as fits, and a final NUL byte. The text is complete only if
 *   the return value is less than @bytes. May be NULL if @bytes is 0.
 * @bytes: size of @buffer. 4096 for each object are enough if its labels have at most 100 bytes.
 * Return: the length of the whole text in bytes, without the NUL byte, as snprintf() does; or a
 *   negative errno; then nothing was written. Figures change, so the next call may need more bytes.
 * Errors: -EINVAL if an object is NULL or its labels are malformed (see the sentence); -ENOMEM.
 * Threads: as weir_measure(), weir_handle_measure() or weir_guard_measure() of each object.
 * Progress: blocking (memory).  Cost: as these measure functions, and some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_metrics_write(const struct weir_metrics *of, size_t n,
                                                    char *buffer, size_t bytes);

WEIR_END_DECLS

#endif
