/* SPDX-License-Identifier: MIT
 * Chooses the instruction set by the CPU and the variable WEIR_ISA, and asks the system for cache
 * sizes and random numbers. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "config.h"
#include "ground/atomic.h"
#include "ground/error.h"
#include "ground/system.h"

#if WEIR_X86
#include <cpuid.h>
#endif

static const char *const names[WEIR_ISA_COUNT] = {
	[WEIR_ISA_SCALAR] = "scalar",
	[WEIR_ISA_NEON] = "neon",
	[WEIR_ISA_AVX2] = "avx2",
	[WEIR_ISA_AVX512] = "avx512",
};

const char *weir__isa_name(enum weir_isa isa)
{
	return names[isa];
}

/* ThreadSanitizer takes a vector load for one access instead of eight 64-bit loads ([WORD-ATOMIC]
 * in <weir/word.h>). So builds with ThreadSanitizer use only scalar kernels. */
#if defined(__SANITIZE_THREAD__)
#define ONLY_SCALAR 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONLY_SCALAR 1
#endif
#endif

static bool have(enum weir_isa isa)
{
#if defined(ONLY_SCALAR)
	return isa == WEIR_ISA_SCALAR;
#elif WEIR_X86
	switch (isa) {
	case WEIR_ISA_AVX2:
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
	case WEIR_ISA_AVX512:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") && have(WEIR_ISA_AVX2);
	default:
		return isa == WEIR_ISA_SCALAR;
	}
#elif WEIR_ARM
	return isa == WEIR_ISA_SCALAR || isa == WEIR_ISA_NEON;
#else
	return isa == WEIR_ISA_SCALAR;
#endif
}

static enum weir_isa best(void)
{
	enum weir_isa isa = WEIR_ISA_COUNT - 1;
	while (!have(isa)) /* scalar, the first, is always available */
		isa--;
	return isa;
}

int weir__isa_choose(enum weir_isa *out)
{
	const char *asked = getenv("WEIR_ISA");
	if (!asked || !*asked) {
		*out = best();
		return 0;
	}
	char list[64] = "";
	for (int isa = 0; isa < WEIR_ISA_COUNT; isa++) {
		if (!have((enum weir_isa)isa))
			continue;
		if (strcmp(asked, names[isa]) == 0) {
			*out = (enum weir_isa)isa;
			return 0;
		}
		strcat(strcat(list, " "), names[isa]);
	}
	return weir__fail(-ENOTSUP, "WEIR_ISA is \"%.40s\": this machine and build have:%s", asked,
	                  list);
}

/* Return: the result of sysconf() in bytes, or @otherwise if @name is negative or the result is
 * below 1024. */
static uint64_t ask_system(int name, uint64_t otherwise)
{
	long bytes = name < 0 ? -1 : sysconf(name);
	return bytes >= 1024 ? (uint64_t)bytes : otherwise;
}

#ifdef _SC_LEVEL2_CACHE_SIZE
enum { OWN = _SC_LEVEL2_CACHE_SIZE, LAST = _SC_LEVEL3_CACHE_SIZE };
#else
enum { OWN = -1, LAST = -1 };
#endif

/* Return: the bytes of the third-level cache that one core can use, or 0 if cpuid reports none. On
 * AMD, sysconf() adds up the caches of all cores. Source: cpuid's deterministic cache parameters,
 * leaf 4 on Intel and leaf 0x8000001d on AMD. */
static uint64_t ask_cpu(void)
{
#if WEIR_X86
	unsigned leaf = __builtin_cpu_is("amd") ? 0x8000001d : 4, a, b, c, d;
	for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &b, &c, &d) && a & 31; i++)
		if ((a >> 5 & 7) == 3)
			return (uint64_t)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) *
			       ((b & 4095) + 1) * ((uint64_t)c + 1);
#endif
	return 0;
}

uint64_t weir__cache_bytes(void)
{
	static atomic_int kib;
	int known = weir__once_load_relaxed(&kib);
	if (!known)
		weir__once_store_relaxed(&kib, known = (int)(ask_system(OWN, 1 << 20) / 1024));
	return (uint64_t)known * 1024;
}

uint64_t weir__last_cache_bytes(void)
{
	static atomic_int kib;
	int known = weir__once_load_relaxed(&kib);
	if (!known) {
		uint64_t bytes = ask_cpu();
		if (!bytes)
			bytes = ask_system(LAST, 8 * weir__cache_bytes());
		weir__once_store_relaxed(&kib, known = (int)(bytes / 1024));
	}
	return (uint64_t)known * 1024;
}

/* ---- random numbers. A sandbox may refuse getrandom() but allow /dev/urandom ---- */

#define DEVICE "/dev/urandom"

/* Return: 0 or a positive errno. */
static int read_device(uint64_t *out)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno;
	ssize_t n;
	do
		n = read(fd, out, sizeof *out);
	while (n < 0 && errno == EINTR);
	int error = n < 0 ? errno : n == sizeof *out ? 0 : EIO;
	close(fd);
	return error;
}

int weir__random(uint64_t *out)
{
	ssize_t n;
	do
		n = getrandom(out, sizeof *out, 0);
	while (n < 0 && errno == EINTR);
	if (n == sizeof *out)
		return 0;
	int refused = n < 0 ? errno : EIO, error = read_device(out);
	return error ?
	       weir__fail(-refused, "no random number: getrandom: %s; " DEVICE ": %s: allow one "
	                  "of them", weir_strerror(refused), weir_strerror(error)) :
	       0;
}
