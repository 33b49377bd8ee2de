/* SPDX-License-Identifier: MIT
 * The counting and frequency kinds: removals, counts, texts of shapes, full counters, merges that
 * add counters, statistics, and the planner against an independent table. tests/conformance checks
 * bits and answers against the layout. */
#include <errno.h>
#include <math.h>
#include "../kinds/can.h"
#include "../test.h"

static struct weir_filter *made(uint32_t kind, uint32_t bits, uint32_t z, uint64_t capacity)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	test_ask_counters(&p, kind, bits, z, 0);
	p.capacity = capacity, p.fp_rate = 0.01, p.seed = 7;
	assert_ok(weir_create(&f, &p));
	return f;
}

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

static void insert_often(struct weir_filter *f, const char *key, unsigned n)
{
	while (n--)
		assert_ok(weir_insert(f, key, strlen(key)));
}

/* The table has bits per key at 1 %, computed independently of the library. */
static void sizes_agree_with_the_table(void **state)
{
	static const struct { uint32_t bits, z; double bits_per_key; } table[] = {
		{ 4, 2, 49.8 }, { 4, 4, 45.9 }, { 4, 8, 45.7 }, { 8, 2, 115.9 }, { 16, 4, 186.2 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		test_ask_counters(&p, WEIR_COUNTING, table[i].bits, table[i].z, 0);
		p.capacity = 10000000, p.fp_rate = 0.01;
		assert_ok(weir_plan_make(&p, &plan));
		if (!(fabs(plan.bits_per_key / table[i].bits_per_key - 1) < 0.02))
			fail_msg("%u bits, z %u: %g bits a key", table[i].bits, table[i].z,
			         plan.bits_per_key);
	}
}

static void the_planner_chooses_counters(void **state)
{
	static const struct {
		uint32_t kind, bits;
		double fp_rate;
		uint32_t z, chosen_bits;
	} rows[] = {
		{ WEIR_COUNTING, 0, 0.01, 2, 4 },    { WEIR_COUNTING, 0, 0.001, 4, 4 },
		{ WEIR_COUNTING, 8, 0.01, 4, 8 },    { WEIR_FREQUENCY, 0, 0.01, 4, 16 },
		{ WEIR_FREQUENCY, 32, 0.1, 4, 32 },  { WEIR_FREQUENCY, 0, 0.1, 4, 16 },
		{ WEIR_FREQUENCY, 8, 0.1, 2, 8 },    { WEIR_FREQUENCY, 0, 0.5, 2, 16 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		test_ask_counters(&p, rows[i].kind, rows[i].bits, 0, 0);
		p.capacity = 1000, p.fp_rate = rows[i].fp_rate;
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.shape.field[0], rows[i].chosen_bits);
		assert_int_equal(plan.shape.field[1], rows[i].z);
		assert_true(plan.bytes % (16 * plan.shape.field[0]) == 0);
	}
}

static void small_max_bytes_give_fewer_counters_per_key(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t z, g;
	} rows[] = { { 20000, 4, 1 }, { 4000, 2, 1 }, { 3072, 1, 1 } };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		p.kind = WEIR_FREQUENCY, p.capacity = 1000, p.max_bytes = rows[i].bytes;
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.shape.field[1], rows[i].z);
		assert_int_equal(plan.shape.field[2], rows[i].g);
		test_ask_counters(&p, WEIR_FREQUENCY, 0, 1, 1);
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.shape.field[1] * plan.shape.field[2], 1);
	}
}

static void wrong_numbers_are_refused(void **state)
{
	static const struct {
		uint32_t kind, bits, z, g;
		uint64_t bytes;
		const char *says[2];
	} rows[] = {
		{ WEIR_COUNTING, 5, 0, 0, 0, { "counter_bits 5", "4, 8 or 16" } },
		{ WEIR_COUNTING, 32, 0, 0, 0, { "counter_bits 32", "4, 8 or 16" } },
		{ WEIR_FREQUENCY, 4, 0, 0, 0, { "counter_bits 4", "8, 16 or 32" } },
		{ WEIR_COUNTING, 4, 3, 0, 0, { "words_per_key 3", "1, 2, 4 or 8" } },
		{ WEIR_COUNTING, 4, 16, 0, 0, { "words_per_key 16", "1, 2, 4 or 8" } },
		{ WEIR_COUNTING, 4, 2, 8, 0, { "counters_per_word 8", "1 to 7" } },
		{ WEIR_COUNTING, 4, 0, 16, 0, { "counters_per_word 16", "1 to 15" } },
		{ WEIR_FREQUENCY, 32, 1, 3, 0, { "counters_per_word 3", "1 to 2" } },
		{ WEIR_COUNTING, 8, 0, 0, 64, { "max_bytes 64", "a block, which is 2 lines" } },
		{ WEIR_FREQUENCY, 32, 0, 0, 448, { "max_bytes 448", "8 lines" } },
		{ WEIR_BLOCKED, 4, 0, 0, 0, { "counter_bits 4", "kind blocked has no such" } },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		test_ask_counters(&p, rows[i].kind, rows[i].bits, rows[i].z, rows[i].g);
		p.capacity = 1, p.fp_rate = 0.01;
		if (rows[i].bytes)
			p.fp_rate = 0, p.max_bytes = rows[i].bytes;
		assert_refused(weir_plan_make(&p, &plan), -EINVAL, rows[i].says[0],
		               rows[i].says[1]);
	}
}

static void removals_undo_inserts(void **state)
{
	(void)state;
	for (uint32_t bits = 4; bits <= 16; bits *= 2)
		for (uint32_t z = 1; z <= 8; z *= 2) {
			struct weir_filter *f = made(WEIR_COUNTING, bits, z, 2000);
			for (unsigned round = 0; round < 3; round++) {
				for (uint64_t key = 0; key < 2000; key++)
					assert_ok(weir_insert_u64(f, test_key(key)));
				for (uint64_t key = 0; key < 2000; key++) {
					uint64_t bytes = test_key(key);
					assert_true(weir_contains(f, &bytes, 8));
					assert_int_equal(weir_remove(f, &bytes, 8), 1);
				}
				/* a 4-bit counter may have become full, and a full counter never
				 * decreases */
				assert_true(exact(f).counters_stuck || exact(f).fill == 0);
				assert_true(bits == 4 || exact(f).fill == 0);
			}
			weir_destroy(f);
		}
}

static void removing_an_absent_key_returns_0(void **state)
{
	struct weir_filter *f = made(WEIR_COUNTING, 4, 0, 1000);
	uint64_t keys[3] = { 1, 2, 3 }, bitmap = 0;
	(void)state;
	assert_int_equal(weir_remove(f, "a", 1), 0);
	assert_int_equal(weir_count(f, "a", 1), 0);
	insert_often(f, "a", 2);
	assert_int_equal(weir_count(f, "a", 1), 2);
	assert_int_equal(weir_remove(f, "a", 1), 1);
	assert_int_equal(weir_remove(f, "a", 1), 1);
	assert_int_equal(weir_remove(f, "a", 1), 0);
	assert_true(exact(f).fill == 0); /* the failed remove changed nothing */
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(keys, 2), NULL), 2);
	assert_int_equal(weir_remove_keys(f, weir_keys_u64(keys, 3), &bitmap), 2);
	assert_int_equal(bitmap, 3);
	weir_destroy(f);
}

/* Removals of a key with full counters return 1 and have no effect. */
static void full_counters_never_change(void **state)
{
	static const struct { uint32_t kind, bits; } rows[] = {
		{ WEIR_COUNTING, 4 }, { WEIR_COUNTING, 8 }, { WEIR_COUNTING, 16 },
		{ WEIR_FREQUENCY, 8 }, { WEIR_FREQUENCY, 16 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct weir_filter *f = made(rows[i].kind, rows[i].bits, 2, 1000);
		unsigned most = (1u << rows[i].bits) - 1;
		insert_often(f, "a", most - 1);
		assert_int_equal(weir_count(f, "a", 1), most - 1);
		assert_int_equal(exact(f).counters_stuck, 0);
		insert_often(f, "a", 1);
		assert_true(weir_count(f, "a", 1) == WEIR_COUNT_FULL);
		uint64_t stuck = exact(f).counters_stuck;
		assert_in_range(stuck, 2, 16);
		insert_often(f, "a", 3);
		assert_true(weir_count(f, "a", 1) == WEIR_COUNT_FULL);
		for (unsigned n = 0; rows[i].kind == WEIR_COUNTING && n < most + 10; n++)
			assert_int_equal(weir_remove(f, "a", 1), 1);
		assert_true(weir_contains(f, "a", 1));
		assert_int_equal(exact(f).counters_stuck, stuck);
		weir_destroy(f);
	}
}

static void batches_count_as_single_calls(void **state)
{
	struct weir_filter *f = made(WEIR_FREQUENCY, 8, 0, 1000);
	uint64_t keys[100];
	int64_t counts[100];
	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		keys[i] = test_key(i);
		for (uint64_t n = 0; n < 3 * i; n++)
			assert_ok(weir_insert_u64(f, keys[i]));
	}
	assert_ok(weir_count_keys(f, weir_keys_u64(keys, 100), counts));
	for (int64_t i = 0; i < 100; i++)
		if (3 * i >= 255 ? counts[i] != WEIR_COUNT_FULL : counts[i] < 3 * i)
			fail_msg("key %d came %d times: %d", (int)i, (int)(3 * i), (int)counts[i]);
	assert_refused(weir_remove(f, keys, 8), -ENOTSUP, "frequency", "remove");
	weir_destroy(f);
}

static void merges_add_up_to_the_largest_value(void **state)
{
	static const uint32_t kinds[] = { WEIR_COUNTING, WEIR_FREQUENCY };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct weir_filter *a = made(kinds[k], 8, 0, 1000), *b = made(kinds[k], 8, 0, 1000),
		                   *folded = NULL;
		insert_often(a, "both", 3), insert_often(b, "both", 4);
		insert_often(a, "full", 200), insert_often(b, "full", 100);
		insert_often(b, "one", 1);
		assert_ok(weir_merge(a, b));
		assert_int_equal(weir_count(a, "both", 4), 7);
		assert_int_equal(weir_count(a, "one", 3), 1);
		assert_int_equal(weir_count(a, "full", 4), WEIR_COUNT_FULL);
		assert_int_equal(weir_count(b, "both", 4), 4);
		uint32_t shrunk = exact(a).bytes / 128 % 2 ? 1 : 2;
		assert_ok(weir_fold(&folded, a, shrunk));
		assert_true(weir_count(folded, "both", 4) >= 7);
		assert_int_equal(weir_count(folded, "full", 4), WEIR_COUNT_FULL);
		weir_destroy(a), weir_destroy(b), weir_destroy(folded);
	}
}

static void every_sum_stops_at_the_largest_value(void **state)
{
	(void)state;
	for (unsigned x = 0; x < 256; x += 5)
		for (unsigned y = 0; y < 256; y += 3) {
			struct weir_filter *a = made(WEIR_COUNTING, 8, 1, 1),
			                   *b = made(WEIR_COUNTING, 8, 1, 1);
			insert_often(a, "k", x), insert_often(b, "k", y);
			assert_ok(weir_merge(a, b));
			int64_t sum = weir_count(a, "k", 1);
			assert_int_equal(sum, x + y < 255 ? (int64_t)(x + y) : WEIR_COUNT_FULL);
			weir_destroy(a), weir_destroy(b);
		}
}

static void shape_texts_name_the_counters(void **state)
{
	struct weir_shape shape = { WEIR_COUNTING, .field = { 4, 2, 3 } };
	char text[WEIR_SHAPE_TEXT];
	(void)state;
	assert_ok(weir_shape_text(&shape, text));
	assert_string_equal(text, "2 words of 3 counters of 4 bits a key");
	shape = (struct weir_shape){ WEIR_FREQUENCY, .field = { 16, 1, 1 } };
	assert_ok(weir_shape_text(&shape, text));
	assert_string_equal(text, "1 word of 1 counter of 16 bits a key");
	shape.field[0] = 4; /* 4 bits are valid only in the counting kind */
	assert_refused(weir_shape_text(&shape, text), -EINVAL, "frequency", "no such shape");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_agree_with_the_table),
		cmocka_unit_test(the_planner_chooses_counters),
		cmocka_unit_test(small_max_bytes_give_fewer_counters_per_key),
		cmocka_unit_test(wrong_numbers_are_refused),
		cmocka_unit_test(removals_undo_inserts),
		cmocka_unit_test(removing_an_absent_key_returns_0),
		cmocka_unit_test(full_counters_never_change),
		cmocka_unit_test(batches_count_as_single_calls),
		cmocka_unit_test(merges_add_up_to_the_largest_value),
		cmocka_unit_test(every_sum_stops_at_the_largest_value),
		cmocka_unit_test(shape_texts_name_the_counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
