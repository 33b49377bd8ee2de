/* SPDX-License-Identifier: MIT
 * The follower's thread: name, signal mask, start and options. While the follower waits, it does
 * not delay grace periods. */
#include <math.h>
#include <signal.h>
#include "../followers.h"

static struct weir_follower *untouched;

/* Filled by the report function, on the follower's thread. */
static struct {
	pthread_mutex_t lock;
	struct weir_follower *f;
	char name[32];
	bool signals_blocked;
	int stop_answer;
	char stop_sentence[600];
	sem_t asked;
} thread = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_thread(void *context, int result, const char *sentence)
{
	sigset_t blocked;
	pthread_mutex_lock(&thread.lock);
	pthread_getname_np(pthread_self(), thread.name, sizeof thread.name);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	thread.signals_blocked = true;
	/* only the standard signals: an emulator reserves some of the real-time signals */
	for (int s = 1; s < 32; s++)
		if (s != SIGKILL && s != SIGSTOP && !sigismember(&blocked, s))
			thread.signals_blocked = false;
	if (thread.f) {
		thread.stop_answer = weir_follower_stop(thread.f);
		snprintf(thread.stop_sentence, sizeof thread.stop_sentence, "%s",
		         weir_error_detail());
	}
	pthread_mutex_unlock(&thread.lock);
	report(context, result, sentence);
	sem_post(&thread.asked);
}

static void test_the_thread_has_a_name_and_blocks_signals(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	sigset_t before, after;
	(void)state;
	o.report = note_thread;
	o.context = &heard;
	o.poll_seconds = never;
	sem_init(&thread.asked, 0, 0);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	save(0, 100);
	assert_ok(weir_follower_start(&f, h, path, &o));
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int s = 1; s <= SIGRTMAX; s++)
		/* the caller's signal mask is unchanged */
		assert_int_equal(sigismember(&before, s), sigismember(&after, s));
	while (sem_wait(&thread.asked))
		;
	pthread_mutex_lock(&thread.lock);
	assert_string_equal(thread.name, "weir-follow");
	assert_true(thread.signals_blocked);
	thread.f = f;
	pthread_mutex_unlock(&thread.lock);
	save(100, 200);
	while (sem_wait(&thread.asked))
		;
	if (thread.stop_answer != -EDEADLK || !strstr(thread.stop_sentence, "own thread"))
		fail_msg("stopped on its own thread: %d, \"%s\"", thread.stop_answer,
		         thread.stop_sentence);
	assert_ok(weir_follower_stop(f));
	thread.f = NULL;
	close_handle(flavors, h);
}

/* A thread that waits for a grace period of the flavor and posts when the grace period ends. */
struct grace {
	const struct rcu_flavor_struct *rcu;
	sem_t over;
};

static void *wait_for_grace(void *argument)
{
	struct grace *g = argument;
	g->rcu->register_thread();
	g->rcu->update_synchronize_rcu();
	g->rcu->unregister_thread();
	sem_post(&g->over);
	return NULL;
}

/* Between two polls the follower is outside any read section, and offline with qsbr. */
static void test_a_waiting_follower_delays_no_grace_period(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		struct grace g = { .rcu = flavor->rcu };
		struct timespec until;
		pthread_t waiting;
		heard.swaps = 0;
		save(0, 100);
		struct weir_follower *f = follow(h, never, true);
		expect(flavor, 1, 0);
		usleep(20000); /* by now the follower has reported the swap and waits */
		sem_init(&g.over, 0, 0);
		flavor->rcu->thread_offline();
		assert_int_equal(pthread_create(&waiting, NULL, wait_for_grace, &g), 0);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += (time_t)patience;
		int late;
		while ((late = sem_timedwait(&g.over, &until)) != 0 && errno == EINTR)
			;
		if (late)
			fail_msg("%s: no grace period within %.0f s of a follower that waits",
			         flavor->name, patience);
		pthread_join(waiting, NULL);
		flavor->rcu->thread_online();
		assert_ok(weir_follower_stop(f));
		close_handle(flavor, h);
	}
}

/* A thread's stack also has the program's thread-local variables. The follower must therefore make
 * its stack large enough for them. */
static __thread char of_each_thread[600 << 10];

static void touch_all(void *context, int result, const char *sentence)
{
	memset(of_each_thread, 'x', sizeof of_each_thread);
	report(context, result, sentence);
}

static void test_the_stack_fits_large_thread_local_variables(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	o.report = touch_all;
	o.context = &heard;
	save(0, 100);
	assert_ok(weir_follower_start(&f, h, path, &o));
	expect(flavors, 1, 0);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

static void test_wrong_options_are_refused(void **state)
{
	static const double bad[] = { -1, 0.0009, 86401, INFINITY, NAN };
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	assert_refused(weir_follower_start(NULL, h, path, &o), -EINVAL, "out is NULL",
	               "weir_follower_start");
	assert_refused(weir_follower_start(&untouched, NULL, path, &o), -EINVAL,
	               "the handle is NULL", "weir_follower_start");
	assert_refused(weir_follower_start(&untouched, h, NULL, &o), -EINVAL, "path is NULL",
	               "weir_follower_start");
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		o.poll_seconds = bad[i];
		assert_refused(weir_follower_start(&untouched, h, path, &o), -EINVAL,
		               "poll_seconds", "0.001 to 86400");
	}
	o.poll_seconds = 0;
	o.struct_size = 5;
	assert_refused(weir_follower_start(&untouched, h, path, &o), -EINVAL,
	               "weir_follow_options.struct_size 5", "_INIT");
	o.struct_size = sizeof o + 1;
	assert_refused(weir_follower_start(&untouched, h, path, &o), -EINVAL,
	               "weir_follow_options.struct_size", "_INIT");
	o.struct_size = sizeof o;
	refresh.struct_size = 5;
	o.refresh = &refresh;
	assert_refused(weir_follower_start(&untouched, h, path, &o), -EINVAL,
	               "weir_refresh_options.struct_size 5", "_INIT");
	assert_null(untouched);

	save(0, 100);
	/* an older header declares both option structs without the last fields */
	o.struct_size = offsetof(struct weir_follow_options, poll_seconds);
	o.report = note_thread;
	refresh.keep_previous = true;
	refresh.map = true;
	refresh.pace = -1;
	refresh.struct_size = offsetof(struct weir_refresh_options, map);
	assert_ok(weir_follower_start(&f, h, path, &o));
	refresh.keep_previous = false; /* the follower has copied the options */
	assert_ok(weir_follower_stop(f));
	assert_int_equal(stats_of(h).swaps, 1);
	assert_true(stats_of(h).previous_kept);
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_ok(weir_follower_start(&f, h, path, NULL));
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

/* Overwrites the stack that weir_follower_start() used, so that the test fails if the follower
 * still points into that stack. */
static __attribute__((noinline)) void write_over_the_stack(void)
{
	volatile char stack[1 << 14];
	for (unsigned i = 0; i < sizeof stack; i++)
		stack[i] = 0;
}

static void test_options_and_gate_are_copied(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	gate.min_keys = 500;
	refresh.gate = &gate;
	o.refresh = &refresh;
	o.report = report;
	o.context = &heard;
	o.poll_seconds = often;
	assert_ok(weir_follower_start(&f, h, path, &o));
	expect(flavors, 0, 1); /* no file exists */
	memset(&gate, 0, sizeof gate);
	memset(&refresh, 0, sizeof refresh);
	memset(&o, 0, sizeof o);
	write_over_the_stack();
	save(0, 100);
	expect(flavors, 0, 2);
	heard_last(-ECANCELED, "min_keys");
	save(0, 1000);
	expect(flavors, 1, 2);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

static void test_a_failure_after_a_success_is_reported_again(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follower *f = follow(h, never, false);
	(void)state;
	expect(flavors, 0, 1);
	for (unsigned i = 1; i < 4; i++) {
		/* save another set, because a file of the same set may have the inode, the times
		 * and the commit record of the old file, and the follower would skip that file */
		save(100 * i, 100 * i + 100);
		expect(flavors, i, i);
		assert_int_equal(unlink(path), 0);
		expect(flavors, i, i + 1);
		heard_last(-ENOENT, "no such file");
	}
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_the_thread_has_a_name_and_blocks_signals),
		fresh(test_a_waiting_follower_delays_no_grace_period),
		fresh(test_the_stack_fits_large_thread_local_variables),
		fresh(test_wrong_options_are_refused),
		fresh(test_options_and_gate_are_copied),
		fresh(test_a_failure_after_a_success_is_reported_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
