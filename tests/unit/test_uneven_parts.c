/* SPDX-License-Identifier: MIT
 * Hashes that are uneven only in one part of a filter ([SPREAD]): in one word of each block, in the
 * first or last blocks, or in one layer. The tests also cover filters without a verdict. */
#include "../folder.h"

enum { KEYS = 30000 };

static const double asked = 0.01;

static struct weir_stats figures(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

/* In nearly full blocks, uniform hashes and uneven hashes set almost the same bits. */
static void nearly_full_blocks_give_no_verdict(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, KEYS, asked);
	(void)state;
	for (uint64_t i = 0; figures(f).fill < 0.98; i += 1000)
		for (uint64_t key = i; key < i + 1000; key++)
			assert_ok(weir_insert_u64(f, key));
	const struct weir_stats s = figures(f);
	assert_true(s.fill < 0.99);
	assert_int_equal(s.hashes_uneven, WEIR_UNEVEN_UNKNOWN);
	weir_destroy(f);
}

/* The measurement reads one word of each block. Each key sets a bit in every word. */
static void a_verdict_needs_enough_keys(void **state)
{
	static const struct { unsigned keys, said; } few[] = {
		{ 40, WEIR_UNEVEN_UNKNOWN }, { 100, WEIR_UNEVEN_NO }
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(few); i++) {
		struct weir_filter *f = test_filter(WEIR_SPLIT, 1000, asked);
		for (uint64_t key = 0; key < few[i].keys; key++)
			assert_ok(weir_insert_hash(f, test_key(key)));
		assert_int_equal(figures(f).hashes_uneven, few[i].said);
		weir_destroy(f);
	}
}

/* Each filter of the test has uneven hashes in another word of its blocks. The last filter has
 * uniform hashes. */
static void uneven_hashes_in_one_word_are_reported(void **state)
{
	static const uint32_t salts[] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
		                          0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };
	(void)state;
	for (size_t word = 0; word <= COUNT_OF(salts); word++) {
		const uint32_t salt = word < COUNT_OF(salts) ? salts[word] : 0;
		struct weir_filter *f = test_filter(WEIR_SPLIT, KEYS, asked);
		for (uint64_t i = 0, keys = 0; keys < KEYS / 2; i++)
			/* insert a hash only if its lower half passes this test */
			if ((uint32_t)test_key(i) * salt >> 31 == 0) {
				assert_ok(weir_insert_hash(f, test_key(i)));
				keys++;
			}
		if (figures(f).hashes_uneven != (salt ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO))
			fail_msg("word %zu: %u", word, figures(f).hashes_uneven);
		weir_destroy(f);
	}
}

/* In the first or last 64 of many blocks, the keys set only every other bit of a word. For
 * comparison, the test also inserts keys that set any bit. Each of these blocks has about as many
 * keys as any other block. */
static void uneven_hashes_at_the_ends_are_reported(void **state)
{
	enum { MANY = 1500000, ENDS = 64 };
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const bool last = i & 1, alike = i & 2;
		struct weir_filter *f = test_filter(WEIR_BLOCKED, MANY, asked);
		const struct weir_stats empty = figures(f);
		const uint64_t blocks = empty.bytes / 64, block = UINT64_MAX / blocks;
		assert_int_equal(test_number(&empty.shape, "words_per_key"), 2);
		assert_int_equal(test_number(&empty.shape, "bits_per_word"), 3);
		for (uint64_t k = 0; k < MANY; k++) {
			const uint64_t hash = test_key(k);
			if ((last ? ~hash : hash) / block >= ENDS)
				assert_ok(weir_insert_hash(f, hash));
		}
		for (uint64_t k = MANY, keys = 0; keys < MANY * ENDS / blocks; k++) {
			const uint64_t from_end = test_key(k) % (ENDS * block);
			const uint64_t hash = last ? ~from_end : from_end;
			const uint64_t r = hash * UINT64_C(0x9E3779B97F4A7C15);
			/* The top 4 bits of r choose the words. Below them, six fields of 6 bits
			 * choose bits in the words. The mask has the low bit of each field. */
			if (alike && r >> 24 & UINT64_C(0x41041041))
				continue;
			assert_ok(weir_insert_hash(f, hash));
			keys++;
		}
		assert_int_equal(figures(f).hashes_uneven,
		                 alike ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
		weir_destroy(f);
	}
}

static void a_save_refuses_uneven_hashes_in_any_layer(void **state)
{
	enum { LAYERS = 3, FIRST = 4000 };
	(void)state;
	for (unsigned poor = 0; poor < LAYERS; poor++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_filter *f;
		uint64_t layers = 0, bytes = 0;
		p.kind = WEIR_GROWING, p.capacity = FIRST, p.fp_rate = asked, p.seed = 42;
		p.growing.max_capacity = 1000 * FIRST;
		assert_ok(weir_create(&f, &p));
		for (uint64_t key = 0; layers <= LAYERS; key++) {
			if (key % 500 == 0) {
				const uint64_t now = figures(f).bytes;
				layers += now != bytes;
				bytes = now;
			}
			const bool here = layers == poor + 1;
			assert_ok(weir_insert_hash(f, here ? test_key(key) >> 1 : test_key(key)));
		}
		assert_refused(weir_save(f, weir_location_path(path), NULL), -EDOM, "not uniform",
		               "allow_uneven");
		weir_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearly_full_blocks_give_no_verdict),
		cmocka_unit_test(a_verdict_needs_enough_keys),
		cmocka_unit_test(uneven_hashes_in_one_word_are_reported),
		cmocka_unit_test(uneven_hashes_at_the_ends_are_reported),
		cmocka_unit_test_setup_teardown(a_save_refuses_uneven_hashes_in_any_layer,
		                                folder_setup,
		                                folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
