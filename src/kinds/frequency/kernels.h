/* SPDX-License-Identifier: MIT
 * The layouts that have kernels of their own: those that are chosen for 10 % to 1 %. */
#ifndef WEIR_SRC_KINDS_FREQUENCY_KERNELS_H
#define WEIR_SRC_KINDS_FREQUENCY_KERNELS_H

#include "kind/kind.h"

/* X(counter_bits, words_per_key, counters_per_word) */
#define FREQUENCY_LAYOUTS(X) \
	X(8, 2, 2) X(8, 4, 1) X(16, 4, 1) X(32, 4, 1)

/* The kernel for one of these, or NULL. */
const struct weir_kernel *weir__frequency_scalar(const struct weir_shape *shape);
const struct weir_kernel *weir__frequency_avx512(const struct weir_shape *shape);

#endif
