/* SPDX-License-Identifier: MIT
 * A window that a timer thread advances. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "window.h"
#include "window/window.h"

/* A source file can include the headers of only one flavor. */
extern const struct rcu_flavor_struct urcu_qsbr_flavor;

enum {
	SOON = 60, /* seconds until a hanging test is ended */
	ADVANCES = 1000,
};

/* Return: parameters of a window of four generations with the system's clock and a timer. */
static struct weir_params timed(void)
{
	struct weir_params o = options(4, 0);
	o.window.run.clock = NULL;
	o.window.run.timer = 1;
	return o;
}

static void test_the_timer_advances_by_time_and_number(void **state)
{
	struct weir_params o = timed();
	(void)state;
	o.window.span_seconds = 0.03;
	struct weir_filter *w = make(&o);
	assert_int_equal(weir_insert_hash(w, 77), WEIR_NEW);
	/* count five advances from the start of the loop, because some may have happened since the
	 * insert */
	for (uint64_t before = stats_of(w).advances; stats_of(w).advances < before + 5;)
		usleep(1000);
	assert_false(weir_contains_hash(w, 77));
	weir_destroy(w);
	o.window.span_seconds = 0;
	o.window.generation_keys = 100;
	w = make(&o);
	for (uint64_t i = 0; stats_of(w).advances < 3; i++) {
		(void)weir_insert_u64(w, test_key(i));
		if (i % 100 == 99)
			usleep(1000);
	}
	weir_destroy(w);
}

/* A window that advances only after a number of keys lets the timer sleep without a timeout. */
static void test_the_timer_sleeps_until_an_advance_is_due(void **state)
{
	struct weir_params o = options(4, 0); /* the period is 2 s and 1 ns, by rounding up */
	struct weir_filter *w = make(&o);
	uint64_t wait;
	(void)state;
	assert_false(weir__window_due(weir__window_of(w), &wait));
	assert_int_equal(wait, UINT64_C(2000000001));
	now_ns += 500000000;
	assert_false(weir__window_due(weir__window_of(w), &wait));
	assert_int_equal(wait, UINT64_C(1500000001));
	now_ns += wait;
	assert_true(weir__window_due(weir__window_of(w), &wait));
	assert_int_equal(wait, 0);
	weir_destroy(w);
	o.window.span_seconds = 0;
	o.window.generation_keys = 10;
	w = make(&o);
	assert_false(weir__window_due(weir__window_of(w), &wait));
	assert_true(wait == UINT64_MAX);
	weir_destroy(w);
}

static atomic_uint wakes;
bool __real_weir__window_wake(const struct weir_window *w);
bool __wrap_weir__window_wake(const struct weir_window *w);
bool __wrap_weir__window_wake(const struct weir_window *window)
{
	wakes++;
	return __real_weir__window_wake(window);
}

static void test_only_the_last_key_of_a_generation_wakes(void **state)
{
	enum { NUMBER = 50 };
	struct weir_params o = timed();
	uint64_t key = 0;
	(void)state;
	alarm(SOON);
	o.window.span_seconds = 0;
	o.window.generation_keys = NUMBER;
	struct weir_filter *w = make(&o);
	for (unsigned generation = 0; generation < 4; generation++) {
		wakes = 0;
		while (stats_of(w).keys_counted < NUMBER - 1)
			(void)weir_insert_u64(w, test_key(key++));
		assert_int_equal(wakes, 0);
		/* insert again if the key was a false positive */
		while (weir_insert_u64(w, test_key(key++)) != WEIR_NEW)
			;
		assert_int_equal(wakes, 1);
		while (stats_of(w).advances == generation)
			usleep(1000);
	}
	assert_int_equal(wakes, 1);
	weir_destroy(w);
	alarm(0);
}

static atomic_uint found_busy;
int __real_weir__window_advance(struct weir_window *w, bool only_due);
int __wrap_weir__window_advance(struct weir_window *w, bool only_due);
int __wrap_weir__window_advance(struct weir_window *window, bool only_due)
{
	const int answer = __real_weir__window_advance(window, only_due);
	found_busy += answer == -EBUSY;
	return answer;
}

static void *advance_once(void *window)
{
	return (void *)(intptr_t)weir_window_advance(window);
}

/* Inserts make an advance due while another advance waits for this thread's section. When the
 * section ends, no thread wakes the timer thread, so that thread must check again by itself. */
static void test_the_timer_returns_to_a_busy_window(void **state)
{
	enum { NUMBER = 50 };
	struct weir_params o = timed();
	pthread_t thread;
	void *answer;
	(void)state;
	alarm(SOON);
	o.window.span_seconds = 0;
	o.window.generation_keys = NUMBER;
	struct weir_filter *w = make(&o);
	urcu_bp_flavor.read_lock();
	assert_int_equal(pthread_create(&thread, NULL, advance_once, w), 0);
	while (stats_of(w).advances < 1)
		usleep(1000);
	for (uint64_t key = 0; stats_of(w).keys_counted < NUMBER; key++)
		(void)weir_insert_u64(w, test_key(key));
	while (!found_busy)
		usleep(1000);
	urcu_bp_flavor.read_unlock();
	assert_int_equal(pthread_join(thread, &answer), 0);
	assert_null(answer);
	while (stats_of(w).advances < 2)
		usleep(1000);
	weir_destroy(w);
	alarm(0);
}

/* The last key of a generation wakes the timer thread by a write(). If the write were a
 * cancellation point, a cancelled insert would lose its result after inserting the key. */
static atomic_bool cancelled;
static struct weir_filter *counted;

static void *insert_cancelled(void *after)
{
	int answers = 0;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	while (!cancelled)
		continue;
	for (uint64_t i = 0; i < 10; i++) {
		errno = 4242;
		if (weir_insert_u64(counted, test_key(i)) == WEIR_NEW)
			answers += errno == 4242;
	}
	*(int *)after = answers;
	pthread_testcancel();
	return NULL;
}

static void test_a_cancelled_insert_returns_its_result(void **state)
{
	struct weir_params o = timed();
	pthread_t thread;
	void *result = NULL;
	int answers = 0;
	(void)state;
	o.window.span_seconds = 0;
	o.window.generation_keys = 10;
	counted = make(&o);
	assert_int_equal(pthread_create(&thread, NULL, insert_cancelled, &answers), 0);
	assert_int_equal(pthread_cancel(thread), 0);
	cancelled = true;
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(answers, 10);
	weir_destroy(counted);
}

/* The child has no timer thread, and the parent's timer thread continues. The test cannot detect a
 * pthread_join() in the child, because glibc's pthread_join() returns at once in the child. */
static void test_a_forked_child_can_destroy_a_window(void **state)
{
	struct weir_params o = timed();
	(void)state;
	o.window.span_seconds = 0.03;
	struct weir_filter *w = make(&o);
	int status = -1;
	pid_t child = fork();
	if (child == 0) {
		alarm(SOON);
		weir_destroy(w);
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	uint64_t before = stats_of(w).advances;
	while (stats_of(w).advances < before + 2)
		usleep(1000);
	weir_destroy(w);
}

/* The mask of the creating thread stays unchanged. */
static void test_the_timer_thread_blocks_signals(void **state)
{
	struct weir_params o = timed();
	sigset_t before, after;
	(void)state;
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	struct weir_filter *w = make(&o);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	for (int signal = 1; signal < SIGRTMAX; signal++)
		assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
	weir_destroy(w);
}

/* A timer thread that waits for a number of keys sleeps without a timeout. */
static void test_destroy_wakes_an_idle_timer(void **state)
{
	struct weir_params o = timed();
	(void)state;
	alarm(SOON);
	o.window.span_seconds = 0;
	o.window.generation_keys = 100;
	struct weir_filter *w = make(&o);
	usleep(50000);
	weir_destroy(w);
	alarm(0);
}

static atomic_bool advanced;

/* Advances until the window has made ADVANCES advances, including those that the timer thread made.
 * How often an advance meets the timer thread at work depends on scheduling. */
static void *advance_by_hand(void *window)
{
	urcu_qsbr_flavor.register_thread();
	while (stats_of(window).advances < ADVANCES) {
		int err = weir_window_advance(window);
		if (err && err != -EBUSY) /* -EBUSY: the timer thread is advancing */
			break;
		urcu_qsbr_flavor.thread_offline();
		usleep(100);
		urcu_qsbr_flavor.thread_online();
	}
	urcu_qsbr_flavor.unregister_thread();
	atomic_store(&advanced, true);
	return NULL;
}

/* Inserts make an advance due while another advance waits for a grace period. The timer thread must
 * be offline while it waits for that advance, because otherwise the grace period would not end. */
static void test_with_qsbr_the_timer_waits_offline(void **state)
{
	struct weir_params o = timed();
	pthread_t thread;
	(void)state;
	alarm(SOON);
	o.window.span_seconds = 0;
	o.window.generation_keys = 1000;
	o.window.run.flavor = &urcu_qsbr_flavor;
	struct weir_filter *w = make(&o);
	urcu_qsbr_flavor.register_thread();
	assert_int_equal(pthread_create(&thread, NULL, advance_by_hand, w), 0);
	for (uint64_t i = 0; !atomic_load(&advanced); i++) {
		(void)weir_insert_u64(w, i);
		if (i % 256 == 0)
			urcu_qsbr_flavor.read_quiescent_state();
	}
	urcu_qsbr_flavor.unregister_thread();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(stats_of(w).advances >= ADVANCES); /* no advance failed */
	weir_destroy(w);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_timer_thread_blocks_signals),
		cmocka_unit_test(test_the_timer_advances_by_time_and_number),
		cmocka_unit_test(test_the_timer_sleeps_until_an_advance_is_due),
		cmocka_unit_test(test_only_the_last_key_of_a_generation_wakes),
		cmocka_unit_test(test_the_timer_returns_to_a_busy_window),
		cmocka_unit_test(test_a_cancelled_insert_returns_its_result),
		cmocka_unit_test(test_a_forked_child_can_destroy_a_window),
		cmocka_unit_test(test_destroy_wakes_an_idle_timer),
		cmocka_unit_test(test_with_qsbr_the_timer_waits_offline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
