/* SPDX-License-Identifier: MIT
 * Size and false-positive rate of the blocked layout with z words of g bits a key. */
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
