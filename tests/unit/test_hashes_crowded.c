/* SPDX-License-Identifier: MIT
 * Hashes that are not uniform, although sums over all blocks look right ([SPREAD]): one crowded
 * block, few values of the lower half, few partner buckets. The tests also cover windows and
 * routers, which consist of other filters. */
#include <weir/window.h>
#include "../folder.h"
#include "../handles.h"

enum { KEYS = 30000, ABSENT = 20000 };

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_COUNTING, WEIR_GROWING, WEIR_CUCKOO,
	                          WEIR_SPLIT, WEIR_FREQUENCY };
static const double asked = 0.01;

static uint64_t uniform(uint64_t i) { return test_key(i); }

static struct weir_stats figures(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

/* Some keys are identifiers that were not hashed and crowd into one block. The test skips classic,
 * which mixes hashes itself. */
static void one_crowded_block_is_reported(void **state)
{
	static const uint64_t percent[] = { 2, 5, 20, 50, 90 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		for (size_t i = 0; i < COUNT_OF(percent); i++) {
			struct weir_filter *f = test_filter(kinds[k], KEYS, asked);
			for (uint64_t n = 0; n < KEYS; n++) /* a cuckoo filter refuses some keys */
				(void)!weir_insert_hash(f, n % 100 < percent[i] ? n : uniform(n));
			if (figures(f).hashes_uneven != WEIR_UNEVEN_YES)
				fail_msg("%s: %llu %% of the keys in one block",
				         weir_kind_name(kinds[k]), (unsigned long long)percent[i]);
			weir_destroy(f);
		}
}

/* No word of the sample has more used cells than one key could fill. Only the number of used cells
 * of the whole block shows that the block is crowded. */
static void all_keys_in_one_block_are_reported(void **state)
{
	struct weir_filter *f = test_filter(WEIR_FREQUENCY, KEYS, asked);
	(void)state;
	for (uint64_t n = 0; n < KEYS; n++)
		assert_ok(weir_insert_hash(f, UINT64_C(1) << 63 | n << 16));
	assert_int_equal(figures(f).hashes_uneven, WEIR_UNEVEN_YES);
	weir_destroy(f);
}

/* In a split filter only the lower half of a hash chooses a key's bits in the block. Keys with
 * equal lower halves in the same block are therefore equal to the filter. A block has 25 keys, so
 * the equal keys add 25 / 2^bits to the rate. */
static void few_lower_halves_of_split_are_reported(void **state)
{
	(void)state;
	for (unsigned bits = 5; bits <= 64; bits += bits < 10 ? 1 : 54) {
		struct weir_filter *f = test_filter(WEIR_SPLIT, KEYS, asked);
		const uint64_t lower = ~UINT64_C(0) << (bits < 32 ? 32 - bits : 0);
		uint64_t yes = 0;
		for (uint64_t n = 0; n < KEYS; n++)
			assert_ok(weir_insert_hash(f, uniform(n) & lower));
		for (uint64_t n = KEYS; n < KEYS + ABSENT; n++)
			yes += weir_contains_hash(f, uniform(n) & lower);
		const uint32_t uneven = figures(f).hashes_uneven;
		print_message("%u lower bits: rate %.4f, uneven %u\n", bits,
		              (double)yes / ABSENT, uneven);
		if (bits <= 10)
			assert_true((double)yes / ABSENT > 2 * asked);
		assert_int_equal(uneven, bits <= 10 ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
		weir_destroy(f);
	}
}

/* Each key is one of about 8,000 users and one of 128 items. The upper half of the hash depends
 * only on the user and chooses the first bucket. So the keys share about 8,000 first buckets. The
 * lower half depends only on the item and chooses the partner bucket. */
static void few_partner_buckets_of_a_million_are_reported(void **state)
{
	enum { MILLION = 1000000 };
	struct weir_filter *f = test_filter(WEIR_CUCKOO, MILLION, asked);
	(void)state;
	for (uint64_t n = 0, refused = 0; n < MILLION && refused < 2000; n++)
		refused += weir_insert_hash(f, uniform(n / 128) >> 32 << 32 |
		                               (uint32_t)(n % 128 * 2 * 2654435769u)) < 0;
	assert_int_equal(figures(f).hashes_uneven, WEIR_UNEVEN_YES);
	weir_destroy(f);
}

static void the_builder_reports_a_crowded_block(void **state)
{
	struct weir_builder *b = test_builder(WEIR_FUSE, asked);
	struct weir_filter *f;
	(void)state;
	for (uint64_t n = 0; n < KEYS; n++)
		assert_ok(weir_builder_add_hash(b, n % 100 < 2 ? n : uniform(n)));
	assert_refused(weir_builder_finish(&f, b, NULL), -EDOM, "not uniform",
	               "look up by those too");
	assert_ok(weir_builder_destroy(b));
}

/* ---- windows and routers ---- */

/* All keys are in the second generation's slot. */
static void a_window_reports_uneven_hashes(void **state)
{
	(void)state;
	for (uint32_t layout = WEIR_WINDOW_COLUMNS; layout <= WEIR_WINDOW_RING; layout++)
		for (int poor = 0; poor < 3; poor++) {
			struct weir_params p = WEIR_PARAMS_INIT;
			struct weir_filter *f;
			p.kind = WEIR_WINDOW;
			p.window.layout = layout;
			p.window.generations = 4;
			p.capacity = KEYS;
			p.fp_rate = asked;
			assert_ok(weir_create(&f, &p));
			assert_ok(weir_window_advance(f));
			for (uint64_t n = 0; n < KEYS / 4; n++)
				assert_ok(weir_insert_hash(f, poor == 1 ? uniform(n) >> 32 :
				                              poor && n % 5 == 0 ? n : uniform(n)));
			const struct weir_stats s = figures(f);
			assert_int_equal(s.hashes_uneven, poor ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
			assert_int_equal(s.uneven_why != NULL, poor != 0);
			weir_destroy(f);
		}
}

/* The poor hashes have equal top bits, have equal low bits, or put a fifth of the keys into one
 * page (64 lines) of the router's array. */
static void a_router_reports_uneven_hashes(void **state)
{
	(void)state;
	for (uint32_t sets = 3; sets <= 64; sets += 61)
		for (int poor = 0; poor < 4; poor++) {
			struct weir_params p = WEIR_PARAMS_INIT;
			struct weir_filter *f;
			p.kind = WEIR_ROUTER;
			p.router.sets = sets;
			p.capacity = KEYS;
			p.fp_rate = asked;
			assert_ok(weir_create(&f, &p));
			for (uint64_t n = 0; n < KEYS; n++)
				assert_ok(weir_insert_into_hash(
					f, 2, poor == 1 ? uniform(n) >> 32 :
					      poor == 2 && n % 5 == 0 ? n :
					      poor == 3 ? uniform(n) << 43 : uniform(n)));
			const struct weir_stats s = figures(f);
			assert_int_equal(s.hashes_uneven, poor ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
			assert_int_equal(s.uneven_why != NULL, poor != 0);
			if (poor)
				assert_refused(weir_save(f, weir_location_path(path), NULL), -EDOM,
				               "not uniform", "allow_uneven");
			weir_destroy(f);
		}
}

/* ---- refused inserts, and commits without a gate ---- */

static uint64_t sequential(uint64_t n) { return n; }
static uint64_t bits_32(uint64_t n) { return (uint32_t)uniform(n); }
static uint64_t one_key(uint64_t n) { return uniform(n / 1000000); }

/* Insert until the filter refuses a key. Return: the result of the refused insert. */
static int until_refused(struct weir_filter *f, uint64_t (*of)(uint64_t))
{
	int answer = 0;
	for (uint64_t n = 0; answer >= 0; n++)
		answer = weir_insert_hash(f, of(n));
	return answer;
}

static void a_cuckoo_filter_blames_uneven_hashes_when_far_from_full(void **state)
{
	const uint64_t capacities[] = { 300, 1000, 1000000 };
	uint64_t (*const poor[])(uint64_t) = { sequential, bits_32, one_key };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(capacities); i++) {
		struct weir_filter *f = test_filter(WEIR_CUCKOO, capacities[i], asked);
		assert_refused(until_refused(f, uniform), -ENOSPC, "are full",
		               "rebuild into a larger filter");
		weir_destroy(f);
		for (size_t n = 0; n < COUNT_OF(poor); n++) {
			f = test_filter(WEIR_CUCKOO, capacities[i], asked);
			assert_refused(until_refused(f, poor[n]), -ENOSPC, "are used: it has all",
			               "are not uniform: give such hashes to the _u64 verbs, "
			               "which mix them, and look up by those too");
			weir_destroy(f);
		}
	}
}

static int commit_filled(struct weir_handle *h, const struct weir_reload_options *o,
                         uint64_t (*of)(uint64_t))
{
	struct weir_reload *r;
	assert_ok(weir_reload_begin(&r, h, o));
	for (uint64_t n = 0; n < KEYS && !o->next; n++)
		assert_ok(weir_reload_insert_hash(r, of(n)));
	return weir_reload_commit(r);
}

static void a_commit_without_a_gate_checks_the_hashes(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_handle *h = open_handle(flavors, KEYS);
	(void)state;
	assert_ok(commit_filled(h, &o, uniform));
	assert_refused(commit_filled(h, &o, sequential), -ECANCELED, "weir_reload_commit refused",
	               "look up by those too");
	assert_int_equal(stats_of(h).refused, 1);
	assert_int_equal(stats_of(h).generation, 2);
	o.next = test_filter(WEIR_BLOCKED, KEYS, asked);
	for (uint64_t n = 0; n < KEYS; n++)
		assert_ok(weir_insert_hash(o.next, sequential(n)));
	assert_ok(commit_filled(h, &o, NULL));
	o.next = NULL;
	gate.allow_uneven = true;
	o.gate = &gate;
	assert_ok(commit_filled(h, &o, sequential));
	close_handle(flavors, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_crowded_block_is_reported),
		cmocka_unit_test(all_keys_in_one_block_are_reported),
		cmocka_unit_test(few_lower_halves_of_split_are_reported),
		cmocka_unit_test(few_partner_buckets_of_a_million_are_reported),
		cmocka_unit_test(the_builder_reports_a_crowded_block),
		cmocka_unit_test(a_window_reports_uneven_hashes),
		cmocka_unit_test_setup_teardown(a_router_reports_uneven_hashes,
		                                folder_setup, folder_teardown),
		cmocka_unit_test(a_cuckoo_filter_blames_uneven_hashes_when_far_from_full),
		cmocka_unit_test(a_commit_without_a_gate_checks_the_hashes),
	};
	return cmocka_run_group_tests_name("hashes_crowded", tests, NULL, NULL);
}
