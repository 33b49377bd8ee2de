/* SPDX-License-Identifier: MIT
 * The blocked layout's own mathematics: from bits a key to rate and back. */
#ifndef WEIR_SRC_KINDS_BLOCKED_RATE_H
#define WEIR_SRC_KINDS_BLOCKED_RATE_H

/* The rate of z words of g bits at @bits_per_key, as rate.c explains. */
double weir__blocked_rate(double bits_per_key, unsigned z, unsigned g);
/* The least bits a key for a rate of at most @fp_rate with z words of g bits. */
double weir__blocked_bits(double fp_rate, unsigned z, unsigned g);
/* The largest g for z: at most 10, and z * g at most the 20 fields of r and r2. */
unsigned weir__blocked_max_g(unsigned z);

#endif
