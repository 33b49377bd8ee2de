/* SPDX-License-Identifier: MIT
 * Facts about the machine: the CPU's instruction sets, cache sizes, the time, a random number. Also
 * the instruction set that a kernel.c is compiled for. */
#ifndef WEIR_SRC_GROUND_SYSTEM_H
#define WEIR_SRC_GROUND_SYSTEM_H

#include <stdint.h>
#include <time.h>

/* ---- the CPU ---- */

/* Instruction sets, in increasing order of preference. */
enum weir_isa {
	WEIR_ISA_SCALAR,
	WEIR_ISA_NEON,
	WEIR_ISA_AVX2,
	WEIR_ISA_AVX512,
	WEIR_ISA_COUNT,
};

const char *weir__isa_name(enum weir_isa isa);

/* Choose the best instruction set of this CPU and build, or the one named by the environment
 * variable WEIR_ISA. Each call reads the variable.
 * Return: 0, or -ENOTSUP if this CPU or build lacks the named instruction set. The error sentence
 * lists the available instruction sets. */
int weir__isa_choose(enum weir_isa *out);

/* The size of the second-level cache in bytes; 1 MiB if the system reports no size. */
uint64_t weir__cache_bytes(void);

/* The size of the last-level cache in bytes; 8 * weir__cache_bytes() if the system reports none. */
uint64_t weir__last_cache_bytes(void);

/* The instruction set that a kernel is compiled for. src/meson.build compiles each kernel.c for any
 * CPU (KERNEL_SCALAR, below), and again for each instruction set of the architecture. For an
 * instruction set, src/meson.build adds the compiler's flags and defines WEIR_KERNEL_AVX2,
 * WEIR_KERNEL_AVX512 or WEIR_KERNEL_NEON. If a kind gains nothing from an instruction set, its
 * kernel.c defines nothing in that compilation. */

/* KERNEL_NAME(weir__blocked) expands to weir__blocked_avx2, for example. */
#if defined(WEIR_KERNEL_AVX512)
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_NAME(name) name##_avx512
#elif defined(WEIR_KERNEL_AVX2)
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_NAME(name) name##_avx2
#elif defined(WEIR_KERNEL_NEON)
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_NAME(name) name##_neon
#else
#define KERNEL_SCALAR 1
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_NAME(name) name##_scalar
#endif

/* ---- time ---- */

/* Return: the time of a clock in ns. */
static inline uint64_t weir__clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Return: CLOCK_MONOTONIC in seconds. */
static inline double weir__seconds(void)
{
	return (double)weir__clock(CLOCK_MONOTONIC) * 1e-9;
}

/* ---- random numbers: seeds, and names that cannot be guessed ---- */

/* Get a random number from the kernel. Return: 0 or a negative errno. */
int weir__random(uint64_t *out);

#endif
