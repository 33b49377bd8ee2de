/* SPDX-License-Identifier: MIT
 * Log-linear histograms. The highest set bit of a value and the six bits below that bit determine
 * the class of the value. */
#include "ticks.h"

static unsigned class_of(uint64_t value)
{
	if (value < 1u << (HISTOGRAM_SUB_BITS + 1))
		return (unsigned)value;
	unsigned shift = 63 - HISTOGRAM_SUB_BITS - (unsigned)__builtin_clzll(value);
	return (shift << HISTOGRAM_SUB_BITS) + (unsigned)(value >> shift);
}

static double middle_of(unsigned class)
{
	if (class < 1u << (HISTOGRAM_SUB_BITS + 1))
		return class;
	unsigned shift = (class >> HISTOGRAM_SUB_BITS) - 1;
	uint64_t least = (uint64_t)(class - (shift << HISTOGRAM_SUB_BITS)) << shift;
	return (double)least + ((double)(UINT64_C(1) << shift) - 1) / 2;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->counts[class_of(value)]++;
	h->total++;
	h->most = value > h->most ? value : h->most;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_CLASSES; i++)
		into->counts[i] += from->counts[i];
	into->total += from->total;
	into->most = from->most > into->most ? from->most : into->most;
}

double histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank = (uint64_t)(q * (double)h->total), below = 0;
	if (!h->total)
		return 0.0;
	rank = rank < h->total ? rank : h->total - 1;
	unsigned class = 0;
	while ((below += h->counts[class]) <= rank)
		class++;
	double middle = middle_of(class);
	return middle < (double)h->most ? middle : (double)h->most;
}
