/* SPDX-License-Identifier: MIT
 * Threads join one guard, look up keys, read its statistics and leave, all concurrently. */
#include <errno.h>
#include <pthread.h>
#include "../guards.h"

enum { THREADS = 4 };

struct asker {
	struct weir_guard *g;
	uint64_t from;
};

/* Half of the threads ask for a present key. These threads soon bypass the filter, because it
 * stops no present key. The other half ask for an absent key. */
static void *ask_many(void *arg)
{
	const struct asker *a = arg;
	struct weir_guard_thread *t = joined(a->g);
	for (uint64_t i = 0; i < 20 * WINDOW; i++) {
		const uint64_t key = a->from;
		const int answer = weir_guard_ask(t, &key, sizeof key);
		assert_true(key || answer != WEIR_GUARD_ABSENT);
		weir_guard_saw(t, answer, key == 0);
		if (i % 16)
			continue;
		const struct weir_guard_stats s = stats_of(a->g); /* while other threads ask */
		assert_true(s.asked > i && s.unreported <= s.asked && s.bypassing <= s.threads);
	}
	weir_guard_leave(t);
	return NULL;
}

static void several_threads_ask(void **state)
{
	const struct weir_guard_options o = of_one(0.2, 0);
	struct weir_guard *g = made(&o);
	struct asker asker[THREADS];
	pthread_t thread[THREADS];
	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		asker[i] = (struct asker){ g, i % 2 };
		assert_int_equal(pthread_create(&thread[i], NULL, ask_many, &asker[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	const struct weir_guard_stats s = stats_of(g);
	assert_true(s.asked == THREADS * 20 * WINDOW && s.unreported == 0 && s.threads == 0);
	assert_int_equal(s.stopped, THREADS / 2 * 20 * WINDOW);
	assert_int_equal(s.true_positives + s.bypassed, THREADS / 2 * 20 * WINDOW);
	assert_true(s.bypassed > 15 * WINDOW && s.bypassed_absent == 0 && s.false_positives == 0);
	assert_int_equal(s.switches, THREADS / 2);
	assert_ok(weir_guard_destroy(g));
}

static void *come_and_go(void *guard)
{
	for (uint64_t i = 0; i < 500; i++) {
		struct weir_guard_thread *t = joined(guard);
		ask(t, 3, 1);
		assert_true(stats_of(guard).asked >= 3 * (i + 1));
		weir_guard_leave(t);
	}
	return NULL;
}

static void statistics_count_leaving_threads_once(void **state)
{
	const struct weir_guard_options o = of_one(0.2, 0);
	struct weir_guard *g = made(&o);
	pthread_t thread[THREADS];
	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, g), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	const struct weir_guard_stats s = stats_of(g);
	assert_true(s.asked == THREADS * 1500 && s.stopped == THREADS * 500 && s.threads == 0);
	assert_ok(weir_guard_destroy(g));
}

/* The first thread to leave is in the middle of the list. */
static void threads_leave_in_any_order(void **state)
{
	const struct weir_guard_options o = of_one(0, 0);
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t[3];
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		t[i] = joined(g);
		ask(t[i], 10, 5);
	}
	weir_guard_leave(t[1]);
	assert_int_equal(stats_of(g).asked, 30);
	assert_refused(weir_guard_destroy(g), -EBUSY, "2 threads have joined", "");
	weir_guard_leave(t[2]);
	assert_int_equal(stats_of(g).asked, 30);
	assert_refused(weir_guard_destroy(g), -EBUSY, "1 thread has joined", "");
	weir_guard_leave(t[0]);
	assert_int_equal(stats_of(g).asked, 30);
	assert_ok(weir_guard_destroy(g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_threads_ask),
		cmocka_unit_test(statistics_count_leaving_threads_once),
		cmocka_unit_test(threads_leave_in_any_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
