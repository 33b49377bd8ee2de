/* SPDX-License-Identifier: MIT
 * L2: whoever inserts puts it into the pending batch first. All lists of those are locked, so it
 * waits there, and its handle must not have it yet. */
#include <pthread.h>
#include <time.h>
#include "two.h"

enum { KEY = 7, WAITS = 50 }; /* milliseconds */

static void *insert(void *arg)
{
	const uint64_t key = KEY;
	int kept;
	(void)arg;
	int answer = weir__node_of_keys(&node[A]) ?
		weir__node_insert(&node[A], &key, sizeof key, &kept) :
		weir__node_insert_hash(&node[A], test_key(KEY), &kept);
	return answer < 0 || kept ? &node[A] : NULL;
}

static bool has_it(void)
{
	const uint64_t key = KEY;
	return weir__node_of_keys(&node[A]) ? weir_handle_contains(handle[A], &key, sizeof key) :
	                                      has(A, KEY);
}

static void check_order(void)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	struct weir_pending *p = &node[A].pending;
	bool early = false;
	pthread_t thread;
	void *failed;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++)
		pthread_mutex_lock(&p->lists[i].lock);
	assert_int_equal(pthread_create(&thread, NULL, insert, NULL), 0);
	for (unsigned i = 0; i < WAITS; i++) {
		nanosleep(&millisecond, NULL);
		early = early || has_it();
	}
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++)
		pthread_mutex_unlock(&p->lists[i].lock);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_false(early);
	assert_true(has_it());
}

static void test_a_hash_is_pending_first(void **state)
{
	(void)state;
	check_order();
}

static void test_a_key_is_pending_first(void **state)
{
	(void)state;
	die(A);
	be_born_with(A, 0xa, test_filter(WEIR_BLOCKED, 1000, 1e-6), WEIR_ENTRY_KEYS);
	check_order();
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_a_hash_is_pending_first),
		OF(test_a_key_is_pending_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
