/* SPDX-License-Identifier: MIT
 * Figures as Prometheus text (exposition format 0.0.4): a table of what there is, and the values of
 * each object beside its labels. */
#ifndef WEIR_SRC_METRICS_EXPOSITION_H
#define WEIR_SRC_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir__metric {
	const char *name; /* after weir_ */
	const char *type; /* "gauge" or "counter" */
	const char *help;
};

enum { WEIR__METRICS = 20 }; /* most rows of a table */

/* Objects of one type, each with labels, in the caller's array. */
struct weir__subjects {
	const char *verb, *what, *array; /* for sentences: weir_handle_metrics, handle, sets */
	const struct weir__metric *table;
	unsigned rows; /* at most WEIR__METRICS */
	/* Is there an object in element @i? Its labels. */
	bool (*given)(const void *array, size_t i, const char **labels);
	/* Its figures, one for each row. */
	void (*values)(const void *array, size_t i, double *values);
};

/* Return: the bytes of the whole text, without the NUL byte, as snprintf() does; -EINVAL something
 * is NULL, or labels are not labels; -ENOMEM, not of one object. */
int64_t weir__exposition(const struct weir__subjects *s, const void *array, size_t n, char *buffer,
                         size_t bytes);

/* ---- labels, as a caller gives them: name="value",name="value" ---- */

/* Return: 0, also for NULL and ""; or -EINVAL with the place and what should be there. */
int weir__labels_check(const char *labels);

#endif
