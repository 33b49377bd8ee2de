/* SPDX-License-Identifier: MIT
 * Writes Prometheus text (exposition format 0.0.4). The format groups the lines of all objects by
 * name, so a caller adds the metrics of all objects and then prints once. */
#ifndef WEIR_SRC_METRICS_EXPOSITION_H
#define WEIR_SRC_METRICS_EXPOSITION_H

#include <weir/metrics.h>

struct weir__sample {
	struct weir_metric metric; /* metric.name is NULL once the sample was printed */
	const char *labels;
};

struct weir__samples { /* start from { 0 } */
	struct weir__sample *of;
	size_t n, room;
};

/* Add @n metrics of one object, except metrics whose value is NAN. Return: 0 or -ENOMEM. */
int weir__samples_add(struct weir__samples *to, const char *labels, const struct weir_metric *of,
                      size_t n);

/* Print the text. Return: its length in bytes without the NUL byte, as snprintf() does. It is the
 * whole length even if @bytes is too small. */
int64_t weir__samples_print(struct weir__samples *s, char *buffer, size_t bytes);

/* ---- labels from a caller: name="value",name="value" ---- */

/* Return: 0 if the labels are valid, NULL or ""; else -EINVAL. The error sentence names the byte,
 * its fault and the allowed form. */
int weir__labels_check(const char *labels);

#endif
