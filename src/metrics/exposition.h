/* SPDX-License-Identifier: MIT
 * The only writer of Prometheus text (exposition format 0.0.4). Collect the metrics of all objects,
 * then print them: the format wants each name once, before the lines of all objects. */
#ifndef WEIR_SRC_METRICS_EXPOSITION_H
#define WEIR_SRC_METRICS_EXPOSITION_H

#include <weir/metrics.h>

struct weir__sample {
	struct weir_metric metric; /* its name is NULL once it is printed */
	const char *labels;
};

struct weir__samples { /* begin with zeros */
	struct weir__sample *of;
	size_t n, room;
};

/* Add @n metrics of one object; those that are NAN are left out. Return: 0 or -ENOMEM. */
int weir__samples_add(struct weir__samples *to, const char *labels, const struct weir_metric *of,
                      size_t n);

/* Return: the bytes of the whole text, without the NUL byte, as snprintf() does. */
int64_t weir__samples_print(struct weir__samples *s, char *buffer, size_t bytes);

/* ---- labels, as a caller gives them: name="value",name="value" ---- */

/* Return: 0, also for NULL and ""; or -EINVAL with the place and what should be there. */
int weir__labels_check(const char *labels);

#endif
