/* SPDX-License-Identifier: MIT
 * The distinct hashes of a builder, in memory or in a file. The first 8 bits of a hash choose
 * its bin, and the next bits choose its run within the bin. A part is all hashes with the same
 * first bits: several bins, one bin, or some runs of one bin. */
#include <stdlib.h>
#include "../folder.h"
#include "../test.h"
#include "build/distinct.h"

enum { HASHES = 20000, TWICE = 500, RUN_BITS = 4, MOST_BITS = WEIR_BIN_BITS + RUN_BITS };

static struct weir_collected collected;
static struct weir_distinct distinct;
static uint64_t sorted[HASHES], got[HASHES];

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int step(void *sum, uint64_t hashes)
{
	*(uint64_t *)sum += hashes;
	return 0;
}

/* Return: a hash whose top bits are not 00, so that some parts are empty. */
static uint64_t hash_of(uint64_t i)
{
	const uint64_t hash = test_key(i);
	return hash >> 63 ? hash : hash | UINT64_C(1) << 62;
}

/* Sort HASHES hashes. Add each hash @times times, and then add the first TWICE hashes once more. */
static void sort_all(bool to_file, unsigned times)
{
	uint64_t steps = 0;
	weir__collect_begin(&collected, UINT64_MAX, folder);
	for (uint64_t i = 0; i < HASHES; i++) {
		sorted[i] = hash_of(i);
		for (unsigned n = 0; n < times; n++)
			assert_ok(weir__collect(&collected, &sorted[i], 1));
	}
	assert_ok(weir__collect(&collected, sorted, TWICE));
	if (to_file)
		assert_ok(weir__collect_to_file(&collected));
	assert_ok(weir__distinct(&distinct, &collected, RUN_BITS, 1, step, &steps));
	assert_int_equal(steps, times * HASHES + TWICE);
	assert_int_equal(atomic_load(&distinct.n), HASHES);
	assert_true(distinct.to_file == to_file);
	qsort(sorted, HASHES, sizeof *sorted, by_number);
}

/* Asserts that each part has exactly the hashes whose top bits are the number of the part. */
static void assert_parts(unsigned part_bits)
{
	uint64_t at = 0, empty_parts = 0;
	for (uint64_t part = 0; part >> part_bits == 0; part++) {
		const uint64_t n = weir__distinct_count(&distinct, part, part_bits);
		assert_in_range(n, 0, HASHES - at);
		assert_ok(weir__distinct_read(&distinct, part, part_bits, got));
		qsort(got, n, sizeof *got, by_number);
		assert_true(n == 0 || memcmp(got, sorted + at, n * sizeof *got) == 0);
		assert_true(n == 0 || part_bits == 0 || sorted[at] >> (64 - part_bits) == part);
		at += n;
		empty_parts += n == 0;
	}
	assert_int_equal(at, HASHES);
	assert_true(part_bits < 2 || empty_parts > 0);
}

static void of_every_size(unsigned times)
{
	for (int to_file = 0; to_file < 2; to_file++) {
		sort_all(to_file, times);
		for (unsigned part_bits = 0; part_bits <= MOST_BITS; part_bits++)
			assert_parts(part_bits);
		weir__distinct_end(&distinct);
		weir__collect_end(&collected);
	}
}

static void hashes_without_duplicates(void **state)
{
	(void)state;
	of_every_size(1);
}

/* Each hash is added three times. The sort needs memory for all added hashes, but the result has
 * only about a third of that number. */
static void hashes_with_many_duplicates(void **state)
{
	(void)state;
	of_every_size(3);
}

/* The caller asks for no runs, but weir__distinct() splits a bin with many hashes into runs. */
static void more_hashes_than_expected_get_more_runs(void **state)
{
	enum { MORE = 1 << 20 };
	uint64_t steps = 0;
	(void)state;
	weir__collect_begin(&collected, UINT64_MAX, folder);
	for (uint64_t i = 0; i < MORE; i++) {
		const uint64_t hash = test_key(i);
		assert_ok(weir__collect(&collected, &hash, 1));
	}
	assert_ok(weir__distinct(&distinct, &collected, 0, 1, step, &steps));
	assert_int_equal(atomic_load(&distinct.n), MORE);
	assert_in_range(distinct.run_bits, 1, 3);
	weir__distinct_end(&distinct);
	weir__collect_end(&collected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_without_duplicates),
		cmocka_unit_test(hashes_with_many_duplicates),
		cmocka_unit_test(more_hashes_than_expected_get_more_runs),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
