/* SPDX-License-Identifier: MIT
 * Chains of filters, without Redis: growth, rates, sizes and lookups. */
#include <math.h>
#include "chains.h"

enum { ABSENT = 1 << 20 };

/* ---- growth ---- */

static void grow_and_count(uint64_t capacity, uint64_t expansion, unsigned links)
{
	struct chain *c = make(0.01, capacity, expansion);
	struct chain_link *link[CHAIN_LINKS];
	uint64_t news = 0, all = 0, expected = capacity;
	for (uint64_t i = 0; c->links < links; i++) {
		struct chain_link *newest = c->newest;
		uint64_t before = newest->items;
		int answer = add(c, i);
		assert_true((answer == 0 || answer == 1) && i < 1 << 20);
		assert_int_equal(add(c, i), 0);
		news += (uint64_t)answer;
		assert_int_equal(chain_items(c), news);
		assert_true(c->newest == newest || (answer && before == newest->capacity));
	}
	assert_int_equal(chain_list(c, link), links);
	for (unsigned i = 0; i < links; i++, expected *= expansion) {
		assert_int_equal(link[i]->capacity, expected);
		assert_int_equal(link[i]->items, i + 1 < links ? expected : 1);
		assert_ptr_equal(link[i]->older, i ? link[i - 1] : NULL);
		all += expected;
	}
	assert_int_equal(chain_all_capacity(c), all);
	chain_destroy(c);
}

static void test_a_link_is_appended_when_the_newest_is_full(void **state)
{
	(void)state;
	grow_and_count(100, 2, 6);
	grow_and_count(1, 1, 40);
	grow_and_count(3000, 1, 4);
	grow_and_count(700, 3, 5);
	grow_and_count(5000, 4, 3);
}

static void test_no_added_item_is_missed(void **state)
{
	static const uint64_t capacities[] = { 1, 100, 1500, 20000 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(capacities); k++) {
		struct chain *c = make(0.01, capacities[k], 2);
		for (uint64_t i = 0; i < 60000; i++) {
			assert_true(add(c, i) >= 0);
			assert_true(has(c, i) && has(c, i / 2) && has(c, i / 7));
		}
		for (uint64_t i = 0; i < 60000; i++)
			assert_true(has(c, i) && add(c, i) == 0);
		chain_destroy(c);
	}
}

static void test_a_chain_that_does_not_scale_is_full(void **state)
{
	struct chain *c = make(0.01, 50, 0);
	(void)state;
	uint64_t absent = fill(c, 1);
	while (has(c, absent))
		absent++;
	assert_refused(add(c, absent), -ENOSPC, "full", "50");
	assert_refused(chain_grow(c, 0), -EFBIG, "at most", "1");
	assert_int_equal(add(c, 0), 0); /* a duplicate needs no room */
	assert_int_equal(chain_items(c), 50);
	chain_destroy(c);
}

static void test_a_chain_has_at_most_1075_links(void **state)
{
	struct chain *c = make(0.01, 1, 1);
	(void)state;
	uint64_t absent = fill(c, CHAIN_LINKS);
	while (has(c, absent))
		absent++;
	assert_refused(add(c, absent), -EFBIG, "at most", "1075");
	assert_int_equal(chain_items(c), CHAIN_LINKS);
	chain_destroy(c);
}

/* ---- rates ---- */

/* Return: the rate of a chain with @links full links, on the average over some seeds. @links 0: one
 * link, with as many added items as its capacity. Some of them are false positives, so they take no
 * room. */
static double measured(double error, uint64_t capacity, uint64_t expansion, unsigned links)
{
	struct chain_settings s = { error, capacity, 0, expansion, CHAIN_OWN, 0 };
	uint64_t found = 0, first = capacity;
	enum { SEEDS = 4 };
	for (s.seed = 1; s.seed <= SEEDS; s.seed++) {
		struct chain *c;
		assert_ok(chain_create(&c, &s, 0, &memory));
		for (uint64_t i = 0; !links && i < capacity; i++)
			assert_true(add(c, i) >= 0);
		if (links)
			first = fill(c, links);
		for (uint64_t i = first; i < first + ABSENT / SEEDS; i++)
			found += has(c, i);
		chain_destroy(c);
	}
	return (double)found / ABSENT;
}

/* Six links spend 0.76 of the rate. A chain of one link has the whole, so chance may exceed it. */
static void test_the_measured_rate_is_at_most_the_asked_one(void **state)
{
	static const double errors[] = { 0.1, 0.01, 0.001 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		double e = errors[i], chance = 1.02 * e + 4 * sqrt(e / ABSENT);
		assert_true(measured(e, 100, 1, 10) <= e); /* compact links only */
		assert_true(measured(e, 100, 2, 4) <= e);
		assert_true(measured(e, 800, 2, 6) <= e); /* compact, then blocked */
		assert_true(measured(e, 10000, 1, 4) <= e); /* blocked links only */
		assert_true(measured(e, 1000, 0, 0) <= chance);
		assert_true(measured(e, 20000, 0, 0) <= chance);
		assert_true(measured(e, 20000, 0, 0) >= 0.8 * e); /* nor is memory wasted */
	}
	assert_true(measured(0.9, 100, 0, 0) <= 0.26);
}

static void test_the_rates_of_all_links_sum_to_at_most_the_asked_one(void **state)
{
	static const double errors[] = { 0.25, 0.05, 0.01, 0.001 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++)
		for (uint64_t expansion = 0; expansion <= 4; expansion++) {
			struct chain_settings s = { errors[i], 100, SEED, expansion, CHAIN_OWN, 0 };
			double sum = 0;
			for (unsigned n = 0; n < (expansion ? CHAIN_LINKS : 1); n++)
				sum += chain_error(&s, n);
			assert_true(sum <= errors[i]);
			assert_true(sum >= (expansion ? 0.9 : 1) * errors[i]);
		}
}

/* ---- sizes ---- */

/* Return: the bits that independent probes need, as in textbooks. */
static double bits_for(double error, uint64_t capacity, unsigned *probes)
{
	*probes = 1;
	while (ldexp(1, -(int)*probes) > error * (1 + 1e-9))
		++*probes;
	double k = *probes;
	return (double)capacity * -k / log(1 - pow(error, 1 / k));
}

static void check_size(double error, uint64_t capacity)
{
	struct chain_settings s = { error, capacity, SEED, 0, CHAIN_OWN, 0 };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct chain_form f;
	unsigned k;
	error = fmin(error, 0.25);
	double bits = bits_for(error, capacity, &k);
	assert_ok(chain_size(&s, 0, &f));
	assert_int_equal(f.capacity, capacity);
	if (bits <= 8 * CHAIN_COMPACT) {
		assert_int_equal(f.probes, k);
		assert_true(8.0 * (double)f.bytes > bits - 1e-3 &&
		            8.0 * (double)f.bytes < bits + 64 + 1e-3);
		assert_int_equal(f.bytes % 8, 0);
		assert_int_equal(f.words_per_key | f.bits_per_word | f.n2, 0);
		assert_true(f.bytes <= CHAIN_COMPACT);
		return;
	}
	p.capacity = capacity;
	p.fp_rate = error;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(f.probes, 0);
	/* weir's own search rounds each capacity otherwise. */
	assert_true(fabs((double)f.bytes - (double)plan.bytes) <= 128 + 0.001 * (double)plan.bytes);
	assert_int_equal(f.bytes % 64, 0);
	assert_int_equal(f.words_per_key, test_number(&plan.shape, "words_per_key"));
	assert_int_equal(f.bits_per_word, test_number(&plan.shape, "bits_per_word"));
}

static void test_sizes_agree_with_the_formulas(void **state)
{
	static const double errors[] = { 0.5, 0.25, 0.2, 0.1, 0.05, 0.03, 0.01, 0.005, 0.003, 0.001,
		                         0.0002, 1e-4, 1e-5, 1e-6, 1e-7 };
	uint64_t random = 5;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		for (uint64_t capacity = 1; capacity <= UINT64_C(1) << 32; capacity *= 4) {
			check_size(errors[i], capacity);
			check_size(errors[i], capacity + test_random(&random) % capacity);
		}
		for (uint64_t capacity = 1000; capacity <= 20000; capacity += 500)
			check_size(errors[i], capacity);
	}
}

/* A replica has sized other keys before, and needs the same sizes. */
static void test_a_size_does_not_depend_on_those_before(void **state)
{
	enum { RATES = 100 };
	struct chain_settings s = { .capacity = UINT64_C(1) << 32, .seed = SEED };
	struct chain_form up[RATES], down;
	(void)state;
	for (int i = 0; i < RATES; i++) {
		s.error = 0.01 * (1 + 1e-4 * i);
		assert_ok(chain_size(&s, 0, &up[i]));
	}
	assert_true(up[RATES - 1].bytes < up[0].bytes);
	for (int i = RATES - 1; i >= 0; i--) {
		s.error = 0.01 * (1 + 1e-4 * i);
		assert_ok(chain_size(&s, 0, &down));
		assert_int_equal(down.bytes, up[i].bytes);
	}
}

static void test_capacities_and_rates_have_limits(void **state)
{
	struct chain_settings s = { 1e-12, CHAIN_CAPACITY_MOST / 3, SEED, 2, CHAIN_OWN, 0 };
	struct chain_form f;
	(void)state;
	assert_true(chain_error(&s, 0) == 1e-9);
	assert_ok(chain_size(&s, 1, &f));
	assert_int_equal(f.capacity, s.capacity * 2);
	assert_ok(chain_size(&s, 2, &f));
	assert_int_equal(f.capacity, CHAIN_CAPACITY_MOST);
	s.expansion = CHAIN_EXPANSION_MOST;
	assert_ok(chain_size(&s, 63, &f));
	assert_int_equal(f.capacity, CHAIN_CAPACITY_MOST);
}

/* Each link of a chain has the size for its own rate and capacity. */
static void test_later_links_have_sizes_of_their_rates(void **state)
{
	struct chain_settings s = { 0.01, 300, SEED, 2, CHAIN_OWN, 0 };
	struct chain *c = make(s.error, s.capacity, s.expansion);
	struct chain_link *link[CHAIN_LINKS];
	(void)state;
	for (unsigned n = 1; n < 12; n++)
		assert_ok(chain_grow(c, 0));
	unsigned n = chain_list(c, link);
	for (unsigned i = 0; i < n; i++) {
		struct chain_settings one = { chain_error(&s, i), link[i]->capacity, SEED, 0,
			                      CHAIN_OWN, 0 };
		struct chain_form f;
		assert_ok(chain_size(&one, 0, &f));
		assert_int_equal(f.bytes, link[i]->bytes);
		assert_int_equal(f.probes, link[i]->probes);
		assert_int_equal(link[i]->probes == 0, link[i]->bytes > CHAIN_COMPACT);
	}
	assert_true(link[0]->probes && !link[n - 1]->probes);
	chain_destroy(c);
}

/* ---- equal chains ---- */

static void test_equal_changes_give_equal_bits(void **state)
{
	(void)state;
	for (uint64_t capacity = 10; capacity < 100000; capacity *= 20) {
		struct chain *a = make(0.01, capacity, 2), *b = make(0.01, capacity, 2), *copy;
		for (uint64_t i = 0; i < 10 * capacity; i++) {
			assert_int_equal(add(a, i % (8 * capacity)), add(b, i % (8 * capacity)));
			(void)has(a, i);
		}
		assert_same(a, b);
		assert_int_equal(chain_copy(&copy, a), 0);
		assert_same(a, copy);
		fill(a, a->links + 1);
		fill(copy, copy->links + 1);
		assert_same(a, copy);
		assert_int_equal(chain_usage(a), chain_usage(copy));
		chain_destroy(a);
		chain_destroy(b);
		chain_destroy(copy);
	}
}

/* Other seeds have other false positives, or a client could learn them. */
static void test_another_seed_has_other_false_positives(void **state)
{
	struct chain_settings s = { 0.01, 100, SEED, 2, CHAIN_OWN, 0 };
	struct chain *a = make(s.error, s.capacity, s.expansion), *b;
	unsigned both = 0, one = 0;
	(void)state;
	s.seed++;
	assert_ok(chain_create(&b, &s, 0, &memory));
	uint64_t first = fill(a, 8);
	fill(b, 8);
	for (uint64_t i = 2 * first; i < 2 * first + 100000; i++) {
		one += has(a, i) != has(b, i);
		both += has(a, i) && has(b, i);
	}
	assert_true(one > 500 && both < 50);
	chain_destroy(a);
	chain_destroy(b);
}

static void check_hashes(const struct chain *c, uint64_t first, size_t n)
{
	uint64_t hashes[1000] = { 0 };
	bool found[1001];
	found[n] = true;
	for (size_t i = 0; i < n; i++) {
		uint64_t item = test_key(first + i);
		hashes[i] = chain_hash(c, &item, sizeof item);
		found[i] = i & 1;
	}
	chain_has_hashes(c, hashes, n, found);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found[i], has(c, first + i));
	assert_true(found[n]);
}

static void test_many_lookups_equal_single_ones(void **state)
{
	static const size_t numbers[] = { 0, 1, 2, 63, 64, 65, 128, 1000 };
	static const uint64_t capacities[] = { 10, 800, 30000 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(capacities); k++) {
		struct chain *c = make(0.1, capacities[k], 2);
		uint64_t added = fill(c, 4);
		for (size_t i = 0; i < COUNT_OF(numbers); i++) {
			check_hashes(c, added - numbers[i] / 2, numbers[i]);
			check_hashes(c, 0, numbers[i]);
		}
		chain_destroy(c);
	}
}

/* ---- usage ---- */

static void test_usage_is_what_the_allocator_gave(void **state)
{
	(void)state;
	for (uint64_t capacity = 10; capacity < 100000; capacity *= 10) {
		struct chain *c = make(0.01, capacity, 2);
		for (unsigned n = 0; n < 8; n++) {
			assert_int_equal(chain_usage(c), counted_bytes);
			assert_true(chain_bytes(c) < chain_usage(c));
			assert_ok(chain_grow(c, 0));
		}
		while (c->links > 1)
			chain_shrink(c);
		assert_int_equal(chain_usage(c), counted_bytes);
		chain_destroy(c);
	}
	struct chain *c = make(0.01, 100, 2); /* one compact link is one allocation */
	assert_int_equal(counted_blocks, 1);
	chain_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_link_is_appended_when_the_newest_is_full,
		                          counted_check),
		cmocka_unit_test_teardown(test_no_added_item_is_missed, counted_check),
		cmocka_unit_test_teardown(test_a_chain_that_does_not_scale_is_full, counted_check),
		cmocka_unit_test_teardown(test_a_chain_has_at_most_1075_links, counted_check),
		cmocka_unit_test_teardown(test_the_measured_rate_is_at_most_the_asked_one,
		                          counted_check),
		cmocka_unit_test(test_the_rates_of_all_links_sum_to_at_most_the_asked_one),
		cmocka_unit_test(test_sizes_agree_with_the_formulas),
		cmocka_unit_test(test_a_size_does_not_depend_on_those_before),
		cmocka_unit_test(test_capacities_and_rates_have_limits),
		cmocka_unit_test_teardown(test_later_links_have_sizes_of_their_rates,
		                          counted_check),
		cmocka_unit_test_teardown(test_equal_changes_give_equal_bits, counted_check),
		cmocka_unit_test_teardown(test_another_seed_has_other_false_positives,
		                          counted_check),
		cmocka_unit_test_teardown(test_many_lookups_equal_single_ones, counted_check),
		cmocka_unit_test_teardown(test_usage_is_what_the_allocator_gave, counted_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
