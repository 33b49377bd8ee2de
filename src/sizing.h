/* SPDX-License-Identifier: MIT
 * The sizing that every kind's plan ends with: any one of {capacity, fp_rate, max_bytes} from the
 * other two, by the kind's own formula. */
#ifndef WEIR_SRC_SIZING_H
#define WEIR_SRC_SIZING_H

#include <weir/params.h>

/* What the library allows of each. */
#define WEIR__MOST_KEYS (UINT64_C(1) << 48)
#define WEIR__MOST_BYTES (UINT64_C(1) << 46)
#define WEIR__MOST_RATE 0.5
/* 2^64: two keys of one hash cannot be told apart, whatever the kind. */
#define WEIR__HASHES 18446744073709551616.0

/* A kind's own mathematics: the least bits a key for a rate, and the rate of so many bits a key. */
struct weir_formula {
	double (*bits)(double fp_rate, const struct weir_shape *shape);
	double (*rate)(double bits_per_key, const struct weir_shape *shape);
};

/* What a kind chooses its shape for: a rate (0 where the size is given instead), or the bits a key
 * that the size allows. */
struct weir_wanted {
	double fp_rate; /* what is left for the shape once the floor of 64-bit hashes is taken off */
	double bits_per_key;
};
struct weir_wanted weir__wanted(const struct weir_params *params);

/* Completes a plan whose shape is chosen: capacity, bytes, shards and the rates. 0 or a negative
 * errno with its sentence. */
int weir__size_complete(const struct weir_params *params, const struct weir_formula *formula,
                        struct weir_plan *out);

#endif
