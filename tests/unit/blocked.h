/* SPDX-License-Identifier: MIT
 * Bytes and false-positive rate of a blocked filter with z words per key and g bits per word. */
#ifndef WEIR_TESTS_BLOCKED_H
#define WEIR_TESTS_BLOCKED_H

#include "kinds/blocked/blocked.h"

static inline double blocked_bits(double fp_rate, unsigned z, unsigned g)
{
	const struct weir_sectors s = weir__blocked_sectors(z, g);
	return weir__sectors_cells(fp_rate, &s);
}

static inline double blocked_rate(double bits_per_key, unsigned z, unsigned g)
{
	const struct weir_sectors s = weir__blocked_sectors(z, g);
	return weir__sectors_rate(bits_per_key, &s);
}

#endif
