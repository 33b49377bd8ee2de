/* SPDX-License-Identifier: MIT
 * A histogram of times: exact below 128 ticks, above that 64 classes for each doubling, so that
 * a quantile is off by 0.8 % at most. */
#ifndef WEIR_TOOL_HISTOGRAM_H
#define WEIR_TOOL_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_SUB_BITS = 6,
       HISTOGRAM_CLASSES = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS };

/* Start from zeros. */
struct histogram {
	uint64_t total, most; /* how many values; the largest, exact */
	uint64_t counts[HISTOGRAM_CLASSES];
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The quantile @q (0 to 1): the middle of its class. 0 if there are no values. */
double histogram_quantile(const struct histogram *h, double q);

#endif
