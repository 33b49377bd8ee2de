/* SPDX-License-Identifier: MIT
 * What images hold as Prometheus text, for node_exporter's textfile collector. */
#ifndef WEIR_TOOL_PROMETHEUS_H
#define WEIR_TOOL_PROMETHEUS_H

#include <stdio.h>
#include <time.h>
#include <weir/weir.h>

/* An image that was looked at. */
struct sample {
	const char *path; /* its label */
	struct weir_image_info info;
	struct weir_stats stats; /* if its bits were looked at, else sampled is 0 */
	struct timespec modified;
};

/* The metrics of images. */
void prometheus_print(const struct sample *samples, size_t n, FILE *to);
/* Of any objects, whose figures stay as they are. */
void prometheus_write(const struct weir_metrics *of, size_t n, FILE *to);

#endif
