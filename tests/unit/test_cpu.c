/* SPDX-License-Identifier: MIT
 * Cache sizes, on CPUs and systems that this test simulates. */
#include <sys/wait.h>
#include <unistd.h>
#include "../test.h"
#include "config.h"

enum { MOST_ROWS = 8, UNKNOWN = -1 };

static long own_cache, last_cache; /* bytes, as the simulated sysconf() reports them */

#define sysconf(name) reported(name)
static long reported(int name);
#if WEIR_X86
#include <cpuid.h>

/* Results of the vendor's cpuid leaf, one row per cache. A row of type 0 ends the list. */
static const struct cache {
	unsigned type, level, ways, partitions, line, sets;
} *caches;
static unsigned rows_asked;

static int answered(unsigned leaf, unsigned row, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
	const struct cache *of = &caches[row];
	assert_int_equal(leaf, __builtin_cpu_is("amd") ? 0x8000001d : 4);
	assert_int_equal(row, rows_asked);
	rows_asked++;
	assert_true(row < MOST_ROWS); /* the library must stop at the row of type 0 */
	*a = *b = *c = *d = 0;
	if (!of->type)
		return 1;
	/* also sets fields that the library must ignore: sharing cores, APIC ids */
	*a = of->type | of->level << 5 | 1u << 8 | 15u << 14 | 7u << 26;
	*b = (of->ways - 1) << 22 | (of->partitions - 1) << 12 | (of->line - 1);
	*c = of->sets - 1;
	*d = 1;
	return 1;
}

#define __get_cpuid_count answered
#endif
#include "../../src/ground/system.c"
#undef sysconf

static long reported(int name)
{
	assert_true(name == OWN || name == LAST);
	return name == OWN ? own_cache : last_cache;
}

#if WEIR_X86
static uint64_t bytes_on(const struct cache *cpu)
{
	caches = cpu, rows_asked = 0;
	return ask_cpu();
}

static void cpuid_gives_the_last_level(void **state)
{
	static const struct cache
		zen4[MOST_ROWS] = { { 1, 1, 8, 1, 64, 64 }, { 2, 1, 8, 1, 64, 64 },
		                    { 3, 2, 8, 1, 64, 2048 }, { 3, 3, 16, 1, 64, 32768 } },
		sapphire_rapids[MOST_ROWS] = { { 1, 1, 12, 1, 64, 64 }, { 2, 1, 8, 1, 64, 64 },
		                               { 3, 2, 16, 1, 64, 2048 },
		                               { 3, 3, 15, 1, 64, 114688 } },
		odd[MOST_ROWS] = { { 3, 3, 12, 2, 128, 5000 }, { 3, 2, 8, 1, 64, 2048 } },
		none[MOST_ROWS] = { { 1, 1, 8, 1, 64, 64 }, { 3, 2, 8, 1, 64, 2048 } };
	(void)state;
	assert_int_equal(bytes_on(zen4), 32 << 20);
	assert_int_equal(bytes_on(sapphire_rapids), 105 << 20);
	assert_int_equal(bytes_on(odd), 12 * 2 * 128 * 5000);
	assert_int_equal(bytes_on(none), 0);
}
#endif

static void sysconf_values_are_checked(void **state)
{
	(void)state;
	own_cache = 0, last_cache = 5 << 20;
	assert_int_equal(ask_system(OWN, 7), 7);
	own_cache = UNKNOWN;
	assert_int_equal(ask_system(OWN, 7), 7);
	own_cache = 1023; /* too small to be a cache size */
	assert_int_equal(ask_system(OWN, 7), 7);
	own_cache = 1024;
	assert_int_equal(ask_system(OWN, 7), 1024);
	if (LAST >= 0)
		assert_int_equal(ask_system(LAST, 7), 5 << 20);
	assert_int_equal(ask_system(-1, 7), 7);
}

/* The library detects the cache sizes once per process, so each case runs in a forked child. */
static void expect(const void *cpu, long own, long last, uint64_t own_bytes, uint64_t last_bytes)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
#if WEIR_X86
		caches = cpu, rows_asked = 0;
#endif
		(void)cpu;
		own_cache = own, last_cache = last;
		for (unsigned again = 0; again < 2; again++)
			if (weir__cache_bytes() != own_bytes ||
			    weir__last_cache_bytes() != last_bytes)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void cpuid_decides_the_last_level_before_sysconf(void **state)
{
#if WEIR_X86
	static const struct cache none[MOST_ROWS],
		small[MOST_ROWS] = { { 3, 3, 16, 1, 64, 4096 } },
		/* more than 2^32 bytes */
		large[MOST_ROWS] = { { 3, 3, 16, 1, 64, 8 << 20 } };
	expect(small, 2 << 20, 320 << 20, 2 << 20, 4 << 20);
	expect(large, 2 << 20, 320 << 20, 2 << 20, UINT64_C(8) << 30);
#else
	static const int none;
#endif
	(void)state;
	expect(&none, UNKNOWN, 0, 1 << 20, 8 << 20);
	expect(&none, 2 << 20, UNKNOWN, 2 << 20, 16 << 20);
	if (LAST >= 0)
		expect(&none, 2 << 20, 24 << 20, 2 << 20, 24 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if WEIR_X86
		cmocka_unit_test(cpuid_gives_the_last_level),
#endif
		cmocka_unit_test(sysconf_values_are_checked),
		cmocka_unit_test(cpuid_decides_the_last_level_before_sysconf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
