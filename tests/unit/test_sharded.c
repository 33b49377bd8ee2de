/* SPDX-License-Identifier: MIT
 * A sharded set: lookups, batches and reloads of one shard after another. */
#include <errno.h>
#include <sys/uio.h>
#include "../test.h"
#include "../kinds/kind.h"
#include "../sharded.h"

enum { KEYS = 100000, SHARDS = 8 };

static struct weir_params params(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = KEYS;
	p.fp_rate = 0.01;
	p.seed = test_seed(kind, 7);
	return p;
}

static struct weir_handle *make(uint32_t kind)
{
	struct weir_params p = params(kind);
	struct weir_handle *set = NULL;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_int_equal(weir_handle_shards(set), SHARDS);
	return set;
}

/* Return: NULL if filters of @kind take no inserts, cannot be copied, or are routers. */
static struct weir_handle *make_if_it_can(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 10, 0.1);
	bool can = test_takes_inserts(f) && test_copies(f) && !weir_can(f, WEIR_CAN_ROUTE);
	weir_destroy(f);
	return can ? make(kind) : NULL;
}

static void insert_range(struct weir_handle *set, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++) {
		uint64_t key = test_key(i);
		assert_ok(weir_handle_insert(set, &key, 8));
	}
}

static uint64_t count_range(const struct weir_handle *set, uint64_t first, uint64_t end)
{
	uint64_t found = 0;
	for (uint64_t i = first; i < end; i++) {
		uint64_t key = test_key(i);
		found += weir_handle_contains(set, &key, 8);
	}
	return found;
}

/* Return: the fill of a filter that has as many keys as its capacity. */
static double fill_of_one(uint32_t kind, uint64_t capacity)
{
	struct weir_filter *f = test_filter(kind, capacity, 0.01);
	struct weir_stats s = WEIR_STATS_INIT;
	for (uint64_t i = 0; i < capacity; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	weir_destroy(f);
	return s.fill;
}

/* Routing by the top bits of the hash leaves the filters of the shards uniform. */
static void a_full_set_has_all_keys_at_the_planned_rate(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind) {
		struct weir_params p = params(kind->id);
		struct weir_plan plan = WEIR_PLAN_INIT;
		struct weir_handle *set = make_if_it_can(kind->id);
		if (!set)
			continue;
		p.capacity = KEYS / SHARDS;
		assert_ok(weir_plan_make(&p, &plan));
		insert_range(set, 0, KEYS);
		assert_int_equal(count_range(set, 0, KEYS), KEYS);
		double rate = (double)count_range(set, KEYS, 6 * KEYS) / (5 * KEYS);
		assert_true(rate < 0.0105);
		if (test_grows(kind->id)) { /* a growing filter is not full at its first capacity */
			assert_ok(weir_handle_destroy(set));
			continue;
		}
		assert_true(rate > 0.86 * plan.fp_rate);
		struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
		struct weir_stats filter = WEIR_STATS_INIT;
		assert_ok(weir_handle_measure(set, &s, &filter));
		const struct weir_stats *all = &filter;
		assert_int_equal(all->shards, SHARDS);
		assert_true(all->keys_estimated > 0.97 * KEYS && all->keys_estimated < 1.03 * KEYS);
		assert_true(all->fp_rate_estimated > 0.9 * rate &&
		            all->fp_rate_estimated < 1.1 * rate);
		double fill = fill_of_one(kind->id, KEYS / SHARDS);
		assert_true(all->fill_max >= all->fill && all->fill > 0.95 * fill &&
		            all->fill < 1.05 * fill);
		assert_int_equal(s.oldest, 1);
		assert_int_equal(s.generation, 1);
		assert_ok(weir_handle_destroy(set));
	}
}

static void batches_equal_single_calls(void **state)
{
	(void)state;
	static const size_t lengths[] = { 0, 1, 63, 64, 65, 1000 };
	for (size_t l = 0; l < COUNT_OF(lengths); l++) {
		struct weir_handle *one = make(WEIR_BLOCKED), *many = make(WEIR_BLOCKED);
		uint64_t hashes[1000], fresh[WEIR_BITMAP_WORDS(1000)],
			found[WEIR_BITMAP_WORDS(1000)];
		size_t n = lengths[l], hits = 0;
		int64_t inserted = 0;
		for (size_t i = 0; i < n; i++) {
			uint64_t key = test_key(i % 700);
			hashes[i] = weir_handle_hash(one, &key, 8);
			assert_int_equal(hashes[i], weir_handle_hash(many, &key, 8));
		}
		assert_true(weir_handle_contains_keys(many, weir_keys_hashes(hashes, n), NULL) ==
		            0);
		int64_t answer = weir_handle_insert_keys(many, weir_keys_hashes(hashes, n), fresh);
		for (size_t i = 0; i < n; i++) {
			int is_new = weir_handle_insert_hash(one, hashes[i]);
			inserted += is_new;
			assert_int_equal(fresh[i / 64] >> i % 64 & 1, is_new);
		}
		assert_int_equal(answer, inserted);
		assert_int_equal(weir_handle_insert_keys(many, weir_keys_hashes(hashes, n), NULL),
		                 0);
		for (size_t i = 0; i < n; i++) { /* alternates between present and absent keys */
			uint64_t key = test_key(i % 700 + (i & 1) * KEYS);
			hashes[i] = weir_handle_hash(one, &key, 8);
		}
		assert_int_equal(weir_handle_contains_keys(many, weir_keys_hashes(hashes, n),
		                                            found),
		                 weir_handle_contains_keys(one, weir_keys_hashes(hashes, n),
		                                            NULL));
		for (size_t i = 0; i < n; i++) {
			bool hit = weir_handle_contains_hash(one, hashes[i]);
			hits += hit;
			assert_int_equal(found[i / 64] >> i % 64 & 1, hit);
		}
		assert_int_equal(hits, weir_handle_contains_keys(many, weir_keys_hashes(hashes, n),
		                                                  NULL));
		assert_in_range(hits, (n + 1) / 2, (n + 1) / 2 + n / 50);
		assert_ok(weir_handle_destroy(one));
		assert_ok(weir_handle_destroy(many));
	}
}

/* The keys that fill() offers to each shard, in one of four forms. */
struct source {
	uint64_t keys[KEYS];
	unsigned form;
	uint32_t fails_at;
};

static int fill(struct weir_reload *r, uint32_t shard, void *context)
{
	struct source *s = context;
	if (shard == s->fails_at)
		return -EIO;
	for (size_t i = 0; s->form == 0 && i < KEYS; i++)
		assert_ok(weir_reload_insert(r, &s->keys[i], 8));
	if (s->form == 1)
		assert_ok(weir_reload_insert_keys(r, weir_keys_u64(s->keys, KEYS), NULL));
	struct iovec v[1000];
	for (size_t at = 0; s->form == 2 && at < KEYS; at += 1000) {
		for (size_t i = 0; i < 1000; i++)
			v[i] = (struct iovec){ .iov_base = &s->keys[at + i], .iov_len = 8 };
		assert_ok(weir_reload_insert_keys(r, weir_keys_iov(v, 1000), NULL));
	}
	if (s->form == 3) {
		uint64_t *hashes = malloc(sizeof s->keys);
		assert_non_null(hashes);
		weir_hash_keys(weir_reload_next(r), weir_keys_u64(s->keys, KEYS), hashes);
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
		free(hashes);
	}
	return 0;
}

static void every_shard_is_replaced(void **state)
{
	(void)state;
	struct source *s = calloc(1, sizeof *s);
	assert_non_null(s);
	for (unsigned form = 0; form < 4; form++) {
		struct weir_handle *set = make(WEIR_BLOCKED);
		struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
		insert_range(set, 0, KEYS);
		for (size_t i = 0; i < KEYS; i++)
			s->keys[i] = test_key(2 * KEYS + i);
		s->form = form, s->fails_at = UINT32_MAX;
		assert_ok(weir_reload_all(set, NULL, fill, s));
		assert_int_equal(count_range(set, 2 * KEYS, 3 * KEYS), KEYS);
		/* the old keys are no longer in the set */
		assert_true(count_range(set, 0, KEYS) < KEYS / 50);
		assert_ok(weir_handle_measure(set, &stats, NULL));
		assert_int_equal(stats.oldest, 2);
		assert_int_equal(stats.generation, 2);
		assert_ok(weir_handle_destroy(set));
	}
	free(s);
}

/* During the reload of one shard, keys are inserted into all shards. */
static void inserts_during_a_shards_reload_stay(void **state)
{
	(void)state;
	struct weir_handle *set = make(WEIR_BLOCKED);
	insert_range(set, 0, 1000);
	for (uint32_t shard = 0; shard < SHARDS; shard++) {
		struct weir_reload *r, *other;
		assert_ok(shard_begin(&r, set, shard, NULL));
		assert_refused(shard_begin(&other, set, (shard + 1) % SHARDS, NULL), -EBUSY,
		               "weir_reload_begin", "under way");
		insert_range(set, 1000 * (shard + 1), 1000 * (shard + 2));
		assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
		assert_ok(weir_reload_commit(r));
	}
	assert_int_equal(count_range(set, 0, 1000 * (SHARDS + 1)), 1000 * (SHARDS + 1));
	assert_ok(weir_handle_destroy(set));
}

static void a_failed_loader_keeps_the_other_shards(void **state)
{
	(void)state;
	struct weir_handle *set = make(WEIR_BLOCKED);
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	struct source *s = calloc(1, sizeof *s);
	assert_non_null(s);
	for (size_t i = 0; i < KEYS; i++)
		s->keys[i] = test_key(i);
	insert_range(set, 0, KEYS);
	s->form = 1, s->fails_at = SHARDS / 2;
	assert_int_equal(weir_reload_all(set, NULL, fill, s), -EIO);
	assert_ok(weir_handle_measure(set, &stats, NULL));
	assert_int_equal(stats.oldest, 1);
	assert_int_equal(stats.generation, 2);
	assert_int_equal(count_range(set, 0, KEYS), KEYS);
	s->fails_at = UINT32_MAX;
	assert_ok(weir_reload_all(set, NULL, fill, s));
	assert_int_equal(count_range(set, 0, KEYS), KEYS);
	free(s);
	assert_ok(weir_handle_destroy(set));
}

static void the_hash_chooses_the_shard(void **state)
{
	(void)state;
	struct weir_handle *set = make(WEIR_BLOCKED);
	uint64_t hash = UINT64_C(5) << 61 | 12345;
	assert_int_equal(weir_handle_shard(set, hash), 5);
	assert_int_equal(weir_handle_insert_hash(set, hash), WEIR_NEW);
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct weir_stats stats = WEIR_STATS_INIT;
		assert_ok(weir_measure(weir_handle_get_shard(set, i), WEIR_SAMPLED, &stats));
		assert_int_equal(stats.fill > 0, i == 5);
	}
	assert_true(weir_contains_hash(weir_handle_get_shard(set, 5), hash << 3 | 5));
	assert_ok(weir_handle_destroy(set));
}

static void each_shard_can_grow_to_its_share(void **state)
{
	struct weir_params p = params(WEIR_GROWING);
	struct weir_handle *set = NULL;
	(void)state;
	p.capacity = KEYS / 100;
	p.growing.max_capacity = KEYS;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	insert_range(set, 0, KEYS);
	assert_int_equal(count_range(set, 0, KEYS), KEYS);
	assert_true(count_range(set, KEYS, 2 * KEYS) < KEYS / 50);
	struct weir_handle_stats held = WEIR_HANDLE_STATS_INIT;
	struct weir_stats whole = WEIR_STATS_INIT;
	assert_ok(weir_handle_measure(set, &held, &whole));
	assert_true(whole.capacity == KEYS / 100 && whole.max_capacity == KEYS);
	weir_handle_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_shard_can_grow_to_its_share),
		cmocka_unit_test(a_full_set_has_all_keys_at_the_planned_rate),
		cmocka_unit_test(batches_equal_single_calls),
		cmocka_unit_test(every_shard_is_replaced),
		cmocka_unit_test(inserts_during_a_shards_reload_stay),
		cmocka_unit_test(a_failed_loader_keeps_the_other_shards),
		cmocka_unit_test(the_hash_chooses_the_shard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
