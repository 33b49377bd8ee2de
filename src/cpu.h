/* SPDX-License-Identifier: MIT
 * The CPU: which instruction set the kernels take, and how large a core's own cache is. */
#ifndef WEIR_SRC_CPU_H
#define WEIR_SRC_CPU_H

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

/* The best this CPU and build have, or what WEIR_ISA in the environment names (read at each call,
 * so at each creation).
 * Return: 0; -ENOTSUP WEIR_ISA names one that is unknown or not to be had: the sentence lists
 *   what is. */
int weir__isa_choose(enum weir_isa *out);

/* Bytes of the second-level cache, 1 MiB where the system does not say. */
uint64_t weir__cache_bytes(void);

#endif
