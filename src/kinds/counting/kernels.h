/* SPDX-License-Identifier: MIT
 * The layouts that have kernels of their own: those that are chosen for 10 % to 0.1 %. */
#ifndef WEIR_SRC_KINDS_COUNTING_KERNELS_H
#define WEIR_SRC_KINDS_COUNTING_KERNELS_H

#include "kind/kind.h"

/* X(counter_bits, words_per_key, counters_per_word) */
#define COUNTING_LAYOUTS(X) \
	X(4, 2, 2) X(4, 2, 3) X(4, 4, 2) X(8, 2, 2) X(8, 4, 1) X(16, 4, 1)

/* The rest of an insert and of a removal whose words before @from have changed already, where
 * another thread was in between or a counter is stuck.
 * @fresh: one of the counters in those words was 0. */
int weir__counting_put(const struct weir_array *a, uint64_t hash, unsigned from, bool fresh);
int weir__counting_take(const struct weir_array *a, uint64_t hash, unsigned from);
/* -ENOENT */
int weir__counting_absent(void);

/* The kernel for one of these, or NULL. */
const struct weir_kernel *weir__counting_scalar(const struct weir_shape *shape);
const struct weir_kernel *weir__counting_avx512(const struct weir_shape *shape);

#endif
