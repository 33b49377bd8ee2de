/* SPDX-License-Identifier: MIT
 * Pure mathematics: from bits per key to rate and back, for each layout. */
#ifndef WEIR_SRC_SIZING_H
#define WEIR_SRC_SIZING_H

#include <stdint.h>

/* Rate of the blocked layout with z words of g bits at @bits_per_key (DESIGN:
 * E_N[(E_W[E[(b/64)^g]])^z]). */
double weir__blocked_rate(double bits_per_key, unsigned z, unsigned g);
/* Least bits a key for a rate of at most @fp_rate with z, g. */
double weir__blocked_bits(double fp_rate, unsigned z, unsigned g);
/* The g with the least bits for z at that rate; its bits through @bits. */
unsigned weir__blocked_best_g(double fp_rate, unsigned z, double *bits);
/* Largest g that the derivation's 20 fields allow for z. */
unsigned weir__blocked_max_g(unsigned z);

double weir__classic_rate(double bits_per_key, unsigned k);
double weir__classic_bits(double fp_rate, unsigned k);
unsigned weir__classic_best_k(double fp_rate, double *bits);

/* Lines of 64 bytes for @bits bits, rounded up so that a power-of-two number of shards of at
 * least 1024 lines each divides them (at most 65536 shards, a rounding of at most 0.1 %); the
 * shards through @shards. */
uint64_t weir__lines(double bits, uint32_t *shards);
/* The same, rounded down: lines and shards that fit in @bytes, at least 64. */
uint64_t weir__lines_within(uint64_t bytes, uint32_t *shards);

#endif
