/* SPDX-License-Identifier: MIT
 * The CPU: the instruction set for the kernels, and the size of a core's own cache. */
#ifndef WEIR_SRC_GROUND_CPU_H
#define WEIR_SRC_GROUND_CPU_H

#include <stdint.h>

/* In rising order of preference. */
enum weir_isa {
	WEIR_ISA_SCALAR,
	WEIR_ISA_NEON,
	WEIR_ISA_AVX2,
	WEIR_ISA_AVX512,
	WEIR_ISA_COUNT,
};

const char *weir__isa_name(enum weir_isa isa);

/* Choose the best instruction set of this CPU and build, or the one that the environment variable
 * WEIR_ISA names. The variable is read on each call, that is, whenever a filter is made.
 * Return: 0; -ENOTSUP this CPU and build do not have the one named: the sentence lists those they
 *   have. */
int weir__isa_choose(enum weir_isa *out);

/* Bytes of the second-level cache; 1 MiB if the system does not report it. */
uint64_t weir__cache_bytes(void);

/* Bytes of the last-level cache; eight times that if the system does not report it. */
uint64_t weir__last_cache_bytes(void);

#endif
