/* SPDX-License-Identifier: MIT
 * The memory of a builder whose announced numbers are far too high: an exclude list or a capacity
 * of 2^48 keys, followed by few keys. The builder must not take memory for the announced
 * numbers. */
#include <malloc.h>
#include <weir/build.h>
#include "cost.h"

static void build(const struct weir_params *p, int wanted, unsigned excluded)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	o.max_memory = 64 * MIB;
	must(weir_builder_create(&b, p, &o) == 0);
	for (uint64_t i = 0; i < 100; i++)
		must(weir_builder_add_hash(b, test_key(i)) == 0);
	must(!excluded || weir_builder_seal(b) == 0);
	for (uint64_t i = 0; i < excluded; i++)
		must(weir_builder_exclude_hash(b, test_key(100 + i)) == 0);
	must(weir_builder_finish(&f, b, NULL) == wanted);
	for (uint64_t i = 0; i < 100 && !wanted; i++)
		must(weir_contains_hash(f, test_key(i)));
	for (uint64_t i = 0; i < excluded; i++)
		must(!weir_contains_hash(f, test_key(100 + i)));
	weir_builder_destroy(b);
	if (!wanted)
		weir_destroy(f);
}

static struct weir_params params(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.fp_rate = 0.01;
	p.seed = 3;
	return p;
}

static void of_a_long_list(void)
{
	struct weir_params p = params(WEIR_LAYERED);
	p.layered.exclude_keys = UINT64_C(1) << 48;
	build(&p, 0, 5000);
	p.layered.fingerprint_bits = 32;
	build(&p, 0, 5000);
}

static void of_a_large_filter(void)
{
	struct weir_params p = params(WEIR_FUSE);
	p.capacity = UINT64_C(1) << 48;
	build(&p, -EFBIG, 0);
	p.kind = WEIR_LAYERED;
	build(&p, -EFBIG, 0);
}

/* The builder must free the unsorted keys as soon as it has sorted them. */
static void of_many_hashes(void)
{
	enum { MANY = 6000000 }; /* large enough that malloc() maps the arrays */
	const struct weir_params p = params(WEIR_FUSE);
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 128 * KIB);
#endif
	must(weir_builder_create(&b, &p, NULL) == 0);
	for (uint64_t i = 0; i < MANY; i++)
		must(weir_builder_add_hash(b, test_key(i)) == 0);
	must(weir_builder_finish(&f, b, NULL) == 0);
	weir_builder_destroy(b);
	weir_destroy(f);
}

static void hashes_release_memory_after_sorting(void **state)
{
	(void)state;
	if (TEST_SANITIZED)
		skip(); /* a sanitizer's malloc() keeps freed memory */
	within(of_many_hashes, 0, 96 * MIB);
}

static void exclude_absent_keys(void **state)
{
	(void)state;
	within(of_a_long_list, 0, 64 * MIB);
}

static void impossible_capacity(void **state)
{
	(void)state;
	within(of_a_large_filter, 0, 64 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exclude_absent_keys),
		cmocka_unit_test(hashes_release_memory_after_sorting),
		cmocka_unit_test(impossible_capacity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
