/* SPDX-License-Identifier: MIT
 * Statistics as Prometheus text (exposition format 0.0.4), for a server's own /metrics. A handle's:
 *
 *     weir_generation              gauge    of the current filter: 1, then one more a swap
 *     weir_absent                  gauge    1: there is no set yet; its figures are 0
 *     weir_age_seconds             gauge    since the current filter was published
 *     weir_keys                    gauge    distinct keys, estimated; +Inf: every bit is set
 *     weir_capacity_keys           gauge    keys that it was made for
 *     weir_fill_ratio              gauge    share of bits set
 *     weir_fp_rate                 gauge    absent keys answered with yes, estimated
 *     weir_fp_rate_asked           gauge    as it was made for
 *     weir_saturated               gauge    1: more keys than its capacity
 *     weir_nearly_full             gauge    1: inserts may be refused soon, reload a larger one
 *     weir_previous_void           gauge    1: no rollback, the previous filter refused a key
 *     weir_bytes                   gauge    of bits: all filters held
 *     weir_swaps_total             counter  commits, refreshes and rollbacks
 *     weir_refused_total           counter  commits and refreshes that a gate or a bad file stopped
 *     weir_failed_total            counter  commits whose filter could not be built
 *     weir_refused                 gauge    1: the last commit or refresh was refused or failed
 *     weir_refused_seconds         gauge    since when; 0: it is not so
 *     weir_last_reload_seconds     gauge    that the last commit or refresh took
 *
 * and a guard's:
 *
 *     weir_guard_asked_total            counter  keys that it was asked for
 *     weir_guard_stopped_total          counter  of those, ruled out by the filter
 *     weir_guard_true_positives_total   counter  passed on, and the store had them
 *     weir_guard_false_positives_total  counter  passed on, and the store had them not
 *     weir_guard_bypassed_total         counter  sent to the store, the filter not asked
 *     weir_guard_bypassed_absent_total  counter  of those, the store had them not
 *     weir_guard_unreported             gauge    passed on, and no weir_guard_saw() yet
 *     weir_guard_switches_total         counter  of a thread, to bypass or back
 *     weir_guard_threads                gauge    that have joined and not left
 *     weir_guard_threads_bypassing      gauge    of those, leave the filter out now
 *     weir_guard_fp_rate                gauge    false positives / (those + stopped), since it was
 *                                                made; of an hour: by rate() of the counters
 *     weir_guard_saved_ratio            gauge    stopped / asked, likewise
 *
 * What each is: struct weir_handle_stats, struct weir_guard_stats. Why something was refused stands
 * in refused_sentence there, and in no metric, since a label that changes makes a new series.
 * Alerts for saturated, stale, refused and absent sets are in src/packaging/alerts.yml.
 */
#ifndef WEIR_METRICS_H
#define WEIR_METRICS_H

#include <weir/guard.h>
#include <weir/handle.h>

WEIR_BEGIN_DECLS

/** A handle and the labels of its lines. */
struct weir_metrics_set {
	const struct weir_handle *handle;
	const char *labels; /* such as set="bad_ips",shard="3": names of letters, digits and _,
	                       values with \\, \" and \n escaped; printable UTF-8, at most 511
	                       bytes. Different ones for each handle. NULL or "": none. */
};

/**
 * Write the metrics of a handle.
 * @labels: as in struct weir_metrics_set.
 * @buffer: receives as much of the text as fits, and a final NUL byte. It ends with a whole line
 *   only where the answer is less than @bytes. May be NULL where that is 0.
 * Return: the bytes of the whole text, without the NUL byte, as snprintf() does; or a negative
 *   errno, and nothing was written. Another call may need some bytes more: 4096 are enough for a
 *   handle with labels of at most 100 bytes.
 * Errors: -EINVAL @h is NULL, or @labels are not labels: the sentence names the place.
 * Threads, Progress: as weir_handle_contains().  Cost: as weir_handle_measure().
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_handle_metrics(const struct weir_handle *h,
                                                     const char *labels, char *buffer,
                                                     size_t bytes);
/** As weir_handle_metrics(), of @n handles in one text: in that each metric's name may stand once
 * only, with the lines of all handles.
 * Errors: also -ENOMEM.  Progress: blocking (memory). */
WEIR_API WEIR_MUST_CHECK int64_t weir_handles_metrics(const struct weir_metrics_set *sets,
                                                      size_t n, char *buffer, size_t bytes);

/** A guard and the labels of its lines, as those of struct weir_metrics_set. */
struct weir_metrics_guard {
	struct weir_guard *guard;
	const char *labels;
};

/**
 * Write the metrics of a guard.
 * @labels, @buffer: as for weir_handle_metrics().
 * Return: as weir_handle_metrics(); 4096 bytes are enough with labels of at most 100 bytes.
 * Errors: -EINVAL @g is NULL, or @labels are not labels: the sentence names the place.
 * Threads, Progress: as weir_guard_measure().  Cost: that, and some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_guard_metrics(struct weir_guard *g, const char *labels,
                                                    char *buffer, size_t bytes);
/** As weir_guard_metrics(), of @n guards in one text.  Errors: also -ENOMEM.
 * Progress: blocking (memory). */
WEIR_API WEIR_MUST_CHECK int64_t weir_guards_metrics(const struct weir_metrics_guard *guards,
                                                     size_t n, char *buffer, size_t bytes);

WEIR_END_DECLS

#endif
