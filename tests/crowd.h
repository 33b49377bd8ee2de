/* SPDX-License-Identifier: MIT
 * The probability that a cuckoo filter refuses a key: the formula in src/kinds/cuckoo/whole.c. */
#ifndef WEIR_TESTS_CROWD_H
#define WEIR_TESTS_CROWD_H

#include <math.h>
#include <stdint.h>

static inline double crowd_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Return: the logarithm of P(Binomial(n, p) > k), summed term by term. */
static inline double crowd_tail(double n, double p, double k)
{
	double sum = 0;
	for (double i = k + 1; i <= n; i++)
		sum += exp(crowd_choose(n, i) + i * log(p) + (n - i) * log1p(-p));
	return log(sum);
}

/* Return: an upper bound for the probability that some set of buckets gets too many keys. */
static inline double crowd_chance(unsigned m, unsigned places, uint64_t keys)
{
	double sum = 0;
	for (unsigned s = 1; s < m; s++)
		if (keys > (uint64_t)s * places)
			sum += exp(crowd_choose(m, s) +
			           crowd_tail((double)keys, (double)s * s / m / m,
			                      (double)s * places));
	return sum;
}

#endif
