/* SPDX-License-Identifier: MIT
 * Batches into full filters. Every filter gets all keys that precede the first refused key. No
 * filter keeps the refused key or a later key. weir_error_taken() returns how many keys were
 * inserted. */
#define KEYS 1300 /* more than 20 pieces of 64 keys (AT_A_TIME in set/dual_write.c) */
#include "../kinds/kind.h"
#include "full_keys.h"

/* Asserts that the filter has exactly the first @taken keys, and that weir_error_taken() says
 * @taken. */
static void assert_inserted(const struct weir_filter *f, size_t taken)
{
	assert_int_equal(weir_error_taken(), taken);
	assert_int_equal(*bounded_word(f, 0), taken);
	for (unsigned i = 0; i < taken; i++)
		assert_true(weir_contains_hash(f, hashes[i]));
}

/* Asserts that only the first @taken keys are marked as new. If @taken is not 0, key 0 must be
 * marked. */
static void assert_answers(const uint64_t *bitmap, size_t taken, size_t n)
{
	for (size_t i = 0; i < WEIR_BITMAP_WORDS(n) * 64; i++)
		if (bitmap[i / 64] >> i % 64 & (i >= taken))
			fail_msg("key %zu of %zu taken is answered NEW", i, taken);
	if (taken)
		assert_true(bitmap[0] & 1);
}

static void a_batch_into_a_full_filter(void **state)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	(void)state;
	for (unsigned form = 0; form < FORMS; form++)
		for (size_t n = 1; n <= KEYS; n = n < 9 ? n + 1 : 3 * n + 1) {
			for (uint32_t most = 0; most < n; most = most < 7 ? most + 1 : 2 * most) {
				struct weir_filter *f =
					bounded_make(&bounded_keeps, FULL_LINES, most);
				memset(bitmap, 0xff, sizeof bitmap);
				assert_int_equal(weir_insert_keys(f, keys_of(form, n), bitmap),
				                 -ENOSPC);
				assert_inserted(f, most);
				assert_answers(bitmap, most, n);
				weir_destroy(f);
			}
		}
	struct weir_filter *f = bounded_make(&bounded_keeps, FULL_LINES, 700);
	assert_int_equal(weir_fill_keys(f, weir_keys_hashes(hashes, KEYS)), -ENOSPC);
	assert_inserted(f, 700);
	weir__filter_read_only(f);
	assert_int_equal(weir_fill_keys(f, weir_keys_hashes(hashes, KEYS)), -EROFS);
	assert_int_equal(weir_error_taken(), 0);
	for (size_t n = 0; n <= KEYS; n = 6 * n + 1) {
		(void)weir__stopped(1, 0);
		assert_int_equal(weir_insert_keys(f, keys_of(n % 3, n), NULL), -EROFS);
		assert_int_equal(weir_error_taken(), 0);
	}
	weir_destroy(f);
}

/* Insert @n keys during a reload. @current and @next are the capacities of the two filters. The
 * smaller capacity decides how many keys are inserted. */
static void assert_least_decides(unsigned form, size_t n, uint32_t current, uint32_t next,
                                 size_t wanted)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct weir_handle *h = full_open(&bounded_removes, current);
	struct weir_reload *r = full_begin(h, &bounded_removes, next, false);
	memset(bitmap, 0xff, sizeof bitmap);
	assert_int_equal(weir_handle_insert_keys(h, keys_of(form, n), bitmap), -ENOSPC);
	assert_non_null(strstr(weir_error_detail(), next < current ? "the next filter" :
	                                                             "copies are all"));
	assert_inserted(weir_handle_get(h), wanted);
	assert_inserted(weir_reload_next(r), wanted);
	assert_answers(bitmap, wanted, n);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

static void a_batch_during_a_reload(void **state)
{
	static const uint32_t rooms[] = { 0, 1, 63, 64, 511, 512, 513, 1023, 1100, 2000 };
	(void)state;
	for (unsigned form = 0; form < FORMS; form++)
		for (unsigned i = 0; i < COUNT_OF(rooms); i++) {
			if (rooms[i] < KEYS) {
				assert_least_decides(form, KEYS, 2000, rooms[i], rooms[i]);
				assert_least_decides(form, KEYS, rooms[i], 2000, rooms[i]);
				assert_least_decides(form, KEYS, rooms[i], rooms[i] / 2,
				                     rooms[i] / 2);
			}
		}
	for (unsigned form = 0; form < FORMS; form++) /* the last key is refused */
		for (uint32_t n = 1; n <= 66; n++)
			assert_least_decides(form, n, 2000, n - 1, n - 1);
}

static void a_batch_makes_a_full_previous_filter_void(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_handle *h = full_open(&bounded_removes, 600);
		assert_ok(weir_reload_commit(full_begin(h, &bounded_removes, 2000, true)));
		assert_true(weir_handle_insert_keys(h, keys_of(form, KEYS), NULL) > 0);
		assert_int_equal(*bounded_word(weir_handle_get(h), 0), KEYS);
		assert_true(stats_of(h).previous_void);
		assert_int_equal(weir_handle_rollback(h), -ENOENT);
		assert_ok(weir_handle_destroy(h));
	}
}

/* The previous filter is about to become current again, so every insert must reach it. */
static void a_full_filter_that_a_rollback_returns_to_refuses(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_handle *h = full_open(&bounded_removes, 600);
		struct weir_filter *previous = (struct weir_filter *)(uintptr_t)weir_handle_get(h);
		assert_ok(weir_reload_commit(full_begin(h, &bounded_removes, 2000, true)));
		assert_int_equal(weir__standby_decide_relaxed(&previous->standby,
		                                              WEIR_STANDBY_RETURNS),
		                 WEIR_STANDBY_RETURNS);
		assert_refused(weir_handle_insert_keys(h, keys_of(form, KEYS), NULL), -ENOSPC,
		               "the filter that a rollback returns to", "taken back");
		assert_inserted(weir_handle_get(h), 600);
		assert_inserted(previous, 600);
		const struct iovec last = vectors[KEYS - 1];
		assert_refused(form == 0 ? weir_handle_insert_hash(h, hashes[KEYS - 1]) :
		               form == 1 ? weir_handle_insert(h, last.iov_base, last.iov_len) :
		                           weir_handle_insert_u64(h, numbers[KEYS - 1]),
		               -ENOSPC, "the filter that a rollback returns to", "taken back");
		assert_int_equal(*bounded_word(weir_handle_get(h), 0), 600);
		assert_ok(weir_handle_destroy(h));
	}
}

/* The error names the next filter, because it is smaller than the current filter. The previous
 * filter is smaller than both, so it becomes void. */
static void a_batch_that_all_three_filters_refuse(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_handle *h = full_open(&bounded_removes, 100);
		assert_ok(weir_reload_commit(full_begin(h, &bounded_removes, 400, true)));
		struct weir_reload *r = full_begin(h, &bounded_removes, 300, true);
		assert_int_equal(weir_handle_insert_keys(h, keys_of(form, KEYS), NULL), -ENOSPC);
		assert_non_null(strstr(weir_error_detail(), "the next filter"));
		assert_inserted(weir_handle_get(h), 300);
		assert_inserted(weir_reload_next(r), 300);
		assert_true(stats_of(h).previous_void);
		weir_reload_abort(r);
		assert_ok(weir_handle_destroy(h));
	}
}

static void a_batch_of_a_loader(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_handle *h = full_open(&bounded_removes, 1);
		struct weir_reload *r = full_begin(h, &bounded_removes, 700, false);
		assert_int_equal(weir_reload_insert_keys(r, keys_of(form, KEYS), NULL), -ENOSPC);
		assert_inserted(weir_reload_next(r), 700);
		weir_reload_abort(r);
		assert_ok(weir_handle_destroy(h));
	}
}

/* The handle keeps inserts until keep_inserts bytes are used. */
static void a_batch_before_the_first_set(void **state)
{
	(void)state;
	for (enum weir_absent absent = WEIR_ABSENT_YES; absent <= WEIR_ABSENT_NO; absent++) {
		struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
		struct weir_handle *h = NULL;
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
		o.flags = WEIR_HANDLE_ANY_SEED;
		o.absent = absent;
		o.keep_inserts = 4096;
		assert_ok(weir_handle_create(&h, NULL, &o));
		memset(bitmap, 0xff, sizeof bitmap);
		/* the handle refuses hashes, because no set has chosen a hash function yet */
		assert_int_equal(weir_handle_insert_keys(h, keys_of(0, KEYS), bitmap), -EINVAL);
		assert_int_equal(weir_error_taken(), 0);
		assert_int_equal(weir_handle_insert_keys(h, keys_of(2, KEYS), bitmap), -ENOBUFS);
		size_t taken = weir_error_taken();
		assert_true(taken > 64 && taken < 256);
		assert_answers(bitmap, absent == WEIR_ABSENT_NO ? taken : 0, KEYS);
		assert_int_equal(weir_handle_insert_keys(h, keys_of(1, KEYS), NULL), -ENOBUFS);
		assert_int_equal(weir_error_taken(), 0);
		assert_ok(weir_handle_destroy(h));
	}
}

static void a_batch_in_several_sections_counts_all_keys(void **state)
{
	enum { MANY = (1 << 20) + 700 };
	struct weir_handle *h = full_open(&bounded_keeps, (1 << 20) + 70);
	uint64_t *many = calloc(MANY, sizeof *many), *bitmap = calloc(WEIR_BITMAP_WORDS(MANY), 8);
	int64_t *counts = calloc(MANY, sizeof *counts);
	(void)state;
	bitmap[WEIR_BITMAP_WORDS(MANY) - 1] = ~UINT64_C(0);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(many, MANY), bitmap), -ENOSPC);
	assert_int_equal(weir_error_taken(), (1 << 20) + 70);
	assert_true(bitmap[0] == 1 && bitmap[WEIR_BITMAP_WORDS(MANY) - 1] == 0);
	many[MANY - 1] = 1;
	assert_int_equal(weir_handle_count_keys(h, weir_keys_hashes(many, MANY), counts), MANY - 1);
	assert_true(counts[0] == (1 << 20) + 70 && counts[MANY - 2] == counts[0]);
	assert_int_equal(counts[MANY - 1], 0);
	many[MANY - 1] = 0;
	assert_ok(weir_handle_destroy(h));
	h = full_open(&bounded_keeps, 70);
	bitmap[WEIR_BITMAP_WORDS(MANY) - 1] = ~UINT64_C(0);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(many, MANY), bitmap), -ENOSPC);
	assert_int_equal(weir_error_taken(), 70);
	assert_int_equal(bitmap[WEIR_BITMAP_WORDS(MANY) - 1], 0);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(many, MANY), NULL), -ENOSPC);
	assert_int_equal(weir_error_taken(), 0);
	assert_ok(weir_handle_destroy(h));
	free(many);
	free(bitmap);
	free(counts);
}

/* Return: the index in hashes[] of key number @n of the shard, counted from 0. */
static size_t before(uint32_t shard, size_t n)
{
	size_t i = 0;
	for (; i < KEYS; i++)
		if (hashes[i] >> 63 == shard && n-- == 0)
			break;
	return i;
}

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void a_batch_into_a_sharded_set(void **state)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct weir_handle *set = full_sharded(100);
	(void)state;
	size_t wanted = smaller_of(before(0, 100), before(1, 100));
	memset(bitmap, 0xff, sizeof bitmap);
	assert_int_equal(weir_handle_insert_keys(set, weir_keys_hashes(hashes, KEYS), bitmap),
	                 -ENOSPC);
	assert_int_equal(weir_error_taken(), wanted);
	assert_answers(bitmap, wanted, KEYS);
	assert_int_equal(weir_handle_contains_keys(set, weir_keys_hashes(hashes, wanted), NULL),
	                 wanted);
	assert_int_equal(*bounded_word(weir_handle_get_shard(set, 0), 0) +
	                         *bounded_word(weir_handle_get_shard(set, 1), 0),
	                 wanted);
	for (uint32_t shard = 0; shard < 2; shard++)
		for (unsigned form = 0; form < FORMS; form++) {
			struct weir_reload *r;
			assert_ok(shard_begin(&r, set, shard, NULL));
			assert_int_equal(weir_reload_insert_keys(r, keys_of(form, KEYS), NULL),
			                 -ENOSPC);
			assert_int_equal(weir_error_taken(), before(shard, 100));
			weir_reload_abort(r);
		}
	assert_ok(weir_handle_destroy(set));
}

/* The batch goes into the reload of a shard and into a reload with a pace. */
static void a_long_batch_of_a_loader(void **state)
{
	enum { MANY = 70000 };
	uint64_t *many = malloc(MANY * sizeof *many), *bitmap = malloc(MANY / 8 + 8);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *set = full_sharded(100), *h = full_open(&bounded_removes, 1);
	struct weir_reload *r;
	(void)state;
	o.pace = 1;
	for (size_t i = 0; i < MANY; i++)
		many[i] = test_key(i);
	for (unsigned answers = 0; answers < 2; answers++) {
		uint64_t *where = answers ? bitmap : NULL;
		memset(bitmap, 0xff, MANY / 8 + 8);
		assert_ok(shard_begin(&r, set, 1, NULL));
		assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(many, MANY), where),
		                 -ENOSPC);
		assert_in_range(weir_error_taken(), 100, 400);
		assert_true(!answers || bitmap[MANY / 64 - 1] == 0);
		weir_reload_abort(r);
		memset(bitmap, 0xff, MANY / 8 + 8);
		assert_ok(weir__writer_begin(h, "the test"));
		assert_ok(weir__reload_open(&r, h, bounded_make(&bounded_removes, FULL_LINES, 700),
		                            &o));
		assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(many, MANY), where),
		                 -ENOSPC);
		assert_int_equal(weir_error_taken(), 700);
		assert_true(!answers || bitmap[MANY / 64 - 1] == 0);
		weir_reload_abort(r);
	}
	assert_ok(weir_handle_destroy(set));
	assert_ok(weir_handle_destroy(h));
	free(many);
	free(bitmap);
}

/* Inserts twenty times the capacity into every kind. */
static void only_kinds_with_a_limit_refuse_keys(void **state)
{
	enum { MANY = 2000 };
	uint64_t many[MANY], bitmap[WEIR_BITMAP_WORDS(MANY)];
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		many[i] = test_key(i);
	FOR_EACH_KIND(kind) {
		struct weir_filter *f = test_bound_filter(kind->id, MANY / 20, 0.01);
		const bool refuses = f->kind->most != NULL;
		struct weir_handle *h = NULL;
		if (f->insert_error || !weir_can(f, WEIR_CAN_PUBLISH)) {
			weir_destroy(f);
			continue;
		}
		assert_ok(weir_handle_create(&h, f, NULL));
		int64_t answer = weir_handle_insert_keys(h, weir_keys_hashes(many, MANY), bitmap);
		size_t taken = answer < 0 ? weir_error_taken() : MANY;
		assert_true(answer == -ENOSPC ? refuses : answer > 0);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(many, taken), NULL), taken);
		assert_answers(bitmap, taken, MANY);
		assert_int_equal(stats_of(h).nearly_full, refuses);
		assert_true(answer > 0 || weir_handle_insert_hash(h, many[taken]) == -ENOSPC);
		assert_ok(weir_handle_destroy(h));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_into_a_full_filter),
		cmocka_unit_test(a_batch_during_a_reload),
		cmocka_unit_test(a_batch_makes_a_full_previous_filter_void),
		cmocka_unit_test(a_full_filter_that_a_rollback_returns_to_refuses),
		cmocka_unit_test(a_batch_that_all_three_filters_refuse),
		cmocka_unit_test(a_batch_of_a_loader),
		cmocka_unit_test(a_batch_before_the_first_set),
		cmocka_unit_test(a_batch_in_several_sections_counts_all_keys),
		cmocka_unit_test(a_batch_into_a_sharded_set),
		cmocka_unit_test(a_long_batch_of_a_loader),
		cmocka_unit_test(only_kinds_with_a_limit_refuse_keys),
	};
	return cmocka_run_group_tests(tests, make_keys, NULL);
}
