/* SPDX-License-Identifier: MIT
 * The ring: its budget, its threads, its batches and their entries. */
#include <pthread.h>
#include <stdatomic.h>
#include "../../test.h"
#include "node/ring.h"

enum { THREADS = WEIR_RING_LISTS + 16, EACH = 20000 }; /* more threads than lists, so some threads
                                                          share a list */

static atomic_uint wakes;

static void wake(void *context)
{
	(void)context;
	atomic_fetch_add(&wakes, 1);
}

static void test_the_thread_is_woken_when_64_KB_wait(void **state)
{
	(void)state;
	struct weir_ring r;
	wakes = 0;
	weir__ring_make(&r, 1 << 20, wake, NULL);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(weir__ring_put(&r, &i, 1), 1);
	assert_int_equal(wakes, 0);
	for (uint64_t i = 1000; i < 8192 + 1024; i++) /* 64 KB, and one more chunk */
		assert_true(weir__ring_put_one(&r, i));
	assert_int_equal(wakes, 1);
	weir__ring_free(&r);
}

static void test_the_budget_is_used_to_the_last_hash(void **state)
{
	(void)state;
	struct weir_ring r;
	uint64_t hashes[1000] = { 0 };
	weir__ring_make(&r, 8 * 700 + 7, NULL, NULL);
	assert_int_equal(weir__ring_put(&r, hashes, 1000), 700);
	assert_int_equal(weir__ring_put(&r, hashes, 1), 0);
	assert_false(weir__ring_put_one(&r, 0));
	assert_ok(weir__ring_collect(&r, 1));
	assert_int_equal(weir__ring_put(&r, hashes, 1), 0);
	weir__ring_acked(&r, 1, (struct weir_log_id){ 1, 2 });
	assert_false(weir__ring_release(&r, (struct weir_log_id){ 1, 1 }));
	assert_true(weir__ring_release(&r, (struct weir_log_id){ 1, 2 }));
	assert_int_equal(r.used, 0);
	assert_int_equal(weir__ring_put(&r, hashes, 1), 1);
	weir__ring_free(&r);
}

/* Puts groups of 1 to 2,998 hashes, and a single hash after each group, so groups cross the ends of
 * chunks. */
static void test_hashes_keep_their_order_over_the_edges_of_chunks(void **state)
{
	(void)state;
	enum { MANY = 6000 };
	static uint64_t hashes[MANY];
	struct weir_ring r;
	uint64_t n = 0;
	for (uint64_t i = 0; i < MANY; i++)
		hashes[i] = i;
	weir__ring_make(&r, 1 << 20, NULL, NULL);
	for (size_t some = 1; n + some <= MANY; n += some, some = some * 3 % 2999) {
		assert_int_equal(weir__ring_put(&r, hashes + n, some), some);
		if (n + some < MANY)
			assert_true(weir__ring_put_one(&r, hashes[n++ + some]));
	}
	assert_ok(weir__ring_collect(&r, 1));
	uint64_t expected = 0;
	for (const struct weir_batch *b = r.waiting.oldest; b; b = b->newer) {
		const struct weir_entry e = { .hashes = b->hashes };
		for (size_t i = 0; i < b->n; i++)
			assert_int_equal(weir__entry_hash(&e, i), expected++);
	}
	assert_int_equal(expected, n);
	weir__ring_free(&r);
}

static struct weir_ring shared;
static pthread_barrier_t start;

static void *put(void *arg)
{
	const uint64_t from = (uint64_t)(uintptr_t)arg * EACH;
	for (uint64_t i = from; i < from + EACH; i++)
		if (weir__ring_put(&shared, &i, 1) != 1)
			return (void *)1;
	return NULL;
}

static void *put_with_all(void *arg)
{
	const uint64_t first = (uint64_t)(uintptr_t)arg * EACH;
	if (weir__ring_put(&shared, &first, 1) != 1) /* this thread now owns a list */
		return (void *)1;
	pthread_barrier_wait(&start);
	for (uint64_t i = first + 1; i < first + EACH; i++)
		if (i % 8 ? !weir__ring_put_one(&shared, i) : weir__ring_put(&shared, &i, 1) != 1)
			return (void *)1;
	return NULL;
}

static void test_hashes_of_all_threads_become_batches_once_each(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	static unsigned char seen[THREADS * EACH];
	size_t n = 0;
	assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
	weir__ring_make(&shared, 64 << 20, NULL, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_with_all, (void *)i), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_ok(weir__ring_collect(&shared, 1));
	for (unsigned i = 0; i < THREADS; i++) {
		void *failed;
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_ok(weir__ring_collect(&shared, 2));
	for (const struct weir_batch *b = shared.waiting.oldest; b; b = b->newer) {
		const struct weir_entry e = { .hashes = b->hashes };
		assert_true(b->n <= WEIR_ENTRY_HASHES);
		for (size_t i = 0; i < b->n; i++, n++)
			assert_int_equal(seen[weir__entry_hash(&e, i)]++, 0);
	}
	assert_int_equal(n, THREADS * EACH);
	pthread_barrier_destroy(&start);
	assert_false(weir__ring_has_hashes(&shared));
	weir__ring_free(&shared);
}

/* A server that starts a thread for each connection relies on this reuse of lists. */
static void test_a_thread_that_ends_leaves_its_list_to_the_next(void **state)
{
	(void)state;
	weir__ring_make(&shared, 64 << 20, NULL, NULL);
	for (uintptr_t i = 0; i < 2 * WEIR_RING_LISTS; i++) {
		pthread_t thread;
		void *failed;
		assert_int_equal(pthread_create(&thread, NULL, put, (void *)i), 0);
		pthread_join(thread, &failed);
		assert_null(failed);
	}
	unsigned used = 0;
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++)
		used += shared.lists[i].oldest != NULL;
	assert_int_equal(used, 1);
	assert_null(shared.lists[0].oldest); /* no thread used the shared list */
	assert_ok(weir__ring_collect(&shared, 1));
	size_t n = 0;
	for (const struct weir_batch *b = shared.waiting.oldest; b; b = b->newer)
		n += b->n;
	assert_int_equal(n, 2 * WEIR_RING_LISTS * EACH);
	weir__ring_free(&shared);
}

static void make_three(struct weir_ring *r)
{
	weir__ring_make(r, 1 << 20, NULL, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(weir__ring_put(r, &i, 1), 1);
		assert_ok(weir__ring_collect(r, 10 + i));
	}
	r->waiting.oldest->tag = 7;
	weir__ring_acked(r, 2, (struct weir_log_id){ 4, 9 });
}

static void test_adjacent_entries_have_consecutive_ids(void **state)
{
	(void)state;
	struct weir_ring r;
	make_three(&r);
	assert_int_equal(weir__ring_lowest_stamp(&r), 12);
	const struct weir_batch *first = weir__ring_find(&r, (struct weir_log_id){ 4, 8 });
	const struct weir_batch *last = weir__ring_find(&r, (struct weir_log_id){ 4, 9 });
	assert_true(first && last && first != last);
	assert_int_equal(first->before, 0);
	assert_int_equal(last->before, 7);
	assert_null(weir__ring_find(&r, (struct weir_log_id){ 4, 7 }));
	assert_null(weir__ring_find(&r, (struct weir_log_id){ 5, 1 }));
	weir__ring_free(&r);
}

static void test_requeue_moves_only_batches_in_its_range(void **state)
{
	(void)state;
	struct weir_ring r;
	make_three(&r);
	weir__ring_requeue(&r, (struct weir_log_id){ 4, 7 }, (struct weir_log_id){ 4, 8 }, false);
	assert_null(weir__ring_find(&r, (struct weir_log_id){ 4, 8 }));
	assert_non_null(weir__ring_find(&r, (struct weir_log_id){ 4, 9 }));
	assert_int_equal(weir__ring_lowest_stamp(&r), 10);
	weir__ring_requeue(&r, (struct weir_log_id){ 4, 9 }, (struct weir_log_id){ 9, 9 }, false);
	assert_non_null(weir__ring_find(&r, (struct weir_log_id){ 4, 9 }));
	weir__ring_free(&r);
}

/* A node that reads its log from the start may look up a million batches in turn. The ends of the
 * list are hidden here, so a search that starts at an end finds no batch. */
static void test_reading_in_order_walks_from_one_batch_to_the_next(void **state)
{
	enum { BATCHES = 1000 };
	(void)state;
	struct weir_ring r;
	weir__ring_make(&r, 1 << 20, NULL, NULL);
	for (uint64_t i = 0; i < BATCHES; i++) {
		assert_int_equal(weir__ring_put(&r, &i, 1), 1);
		assert_ok(weir__ring_collect(&r, 1));
	}
	weir__ring_acked(&r, BATCHES, (struct weir_log_id){ 4, BATCHES });
	const struct weir_batches ends = r.acked;
	assert_ptr_equal(weir__ring_find(&r, (struct weir_log_id){ 4, 1 }), ends.oldest);
	r.acked = (struct weir_batches){ NULL, NULL };
	for (uint64_t i = 2; i <= BATCHES; i++)
		assert_non_null(weir__ring_find(&r, (struct weir_log_id){ 4, i }));
	assert_null(weir__ring_find(&r, (struct weir_log_id){ 4, BATCHES + 1 }));
	for (uint64_t i = BATCHES; i; i--)
		assert_non_null(weir__ring_find(&r, (struct weir_log_id){ 4, i }));
	r.acked = ends;
	weir__ring_free(&r);
}

/* The oldest batch is hidden here, so a new search would find no stamp. */
static void test_the_lowest_stamp_is_not_sought_again_in_each_round(void **state)
{
	(void)state;
	struct weir_ring r;
	weir__ring_make(&r, 1 << 20, NULL, NULL);
	assert_int_equal(weir__ring_lowest_stamp(&r), UINT64_MAX);
	static const uint64_t stamps[] = { 5, 3, 3, 4, 2, 2, 6 };
	static const uint64_t lowest[] = { 5, 3, 3, 3, 2, 2, 2 }, left[] = { 2, 2, 2, 2, 2, 6 };
	for (uint64_t i = 0; i < COUNT_OF(stamps); i++) {
		assert_int_equal(weir__ring_put(&r, &i, 1), 1);
		assert_ok(weir__ring_collect(&r, stamps[i]));
		struct weir_batch *const oldest = r.waiting.oldest;
		r.waiting.oldest = i ? NULL : oldest;
		assert_int_equal(weir__ring_lowest_stamp(&r), lowest[i]);
		r.waiting.oldest = oldest;
	}
	for (uint64_t i = 0; i < COUNT_OF(left); i++) {
		weir__ring_acked(&r, 1, (struct weir_log_id){ 4, 1 + i });
		assert_int_equal(weir__ring_lowest_stamp(&r), left[i]);
	}
	weir__ring_acked(&r, 1, (struct weir_log_id){ 4, 7 });
	assert_int_equal(weir__ring_lowest_stamp(&r), UINT64_MAX);
	weir__ring_requeue(&r, (struct weir_log_id){ 4, 0 }, (struct weir_log_id){ 4, 4 }, false);
	assert_int_equal(weir__ring_lowest_stamp(&r), 3);
	weir__ring_free(&r);
}

static void test_a_batch_that_was_found_and_is_gone_is_not_found_again(void **state)
{
	const struct weir_log_id first = { 4, 8 }, second = { 4, 9 };
	(void)state;
	struct weir_ring r;
	make_three(&r);
	assert_non_null(weir__ring_find(&r, first));
	assert_true(weir__ring_release(&r, first));
	assert_null(weir__ring_find(&r, first));
	assert_non_null(weir__ring_find(&r, second));
	weir__ring_requeue(&r, first, second, false); /* the batch keeps its old id */
	assert_null(weir__ring_find(&r, second));
	weir__ring_acked(&r, 1, (struct weir_log_id){ 5, 1 });
	assert_non_null(weir__ring_find(&r, (struct weir_log_id){ 5, 1 }));
	weir__ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_thread_is_woken_when_64_KB_wait),
		cmocka_unit_test(test_the_budget_is_used_to_the_last_hash),
		cmocka_unit_test(test_hashes_keep_their_order_over_the_edges_of_chunks),
		cmocka_unit_test(test_hashes_of_all_threads_become_batches_once_each),
		cmocka_unit_test(test_a_thread_that_ends_leaves_its_list_to_the_next),
		cmocka_unit_test(test_adjacent_entries_have_consecutive_ids),
		cmocka_unit_test(test_requeue_moves_only_batches_in_its_range),
		cmocka_unit_test(test_reading_in_order_walks_from_one_batch_to_the_next),
		cmocka_unit_test(test_the_lowest_stamp_is_not_sought_again_in_each_round),
		cmocka_unit_test(test_a_batch_that_was_found_and_is_gone_is_not_found_again),
	};
	return cmocka_run_group_tests_name("replica_ring", tests, NULL, NULL);
}
