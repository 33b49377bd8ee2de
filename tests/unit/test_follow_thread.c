/* SPDX-License-Identifier: MIT
 * The follower's thread: what it is, how it is started, stopped and refused. */
#include <math.h>
#include <signal.h>
#include "../declared.h"
#include "../followers.h"

static struct weir_follower *untouched;

/* Asked on the thread itself, by report. */
static struct {
	pthread_mutex_t lock;
	struct weir_follower *f;
	char name[32];
	bool signals_blocked;
	int stop_answer;
	char stop_sentence[600];
	sem_t asked;
} thread = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void ask_thread(void *context, int result, const char *sentence)
{
	sigset_t blocked;
	pthread_mutex_lock(&thread.lock);
	pthread_getname_np(pthread_self(), thread.name, sizeof thread.name);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	thread.signals_blocked = true;
	/* an emulator keeps some of the real-time signals for itself */
	for (int s = 1; s < 32; s++)
		if (s != SIGKILL && s != SIGSTOP && !sigismember(&blocked, s))
			thread.signals_blocked = false;
	if (thread.f) {
		thread.stop_answer = weir_follow_stop(thread.f);
		snprintf(thread.stop_sentence, sizeof thread.stop_sentence, "%s",
		         weir_error_detail());
	}
	pthread_mutex_unlock(&thread.lock);
	report(context, result, sentence);
	sem_post(&thread.asked);
}

static void test_name_and_signals(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	sigset_t before, after;
	(void)state;
	o.report = ask_thread;
	o.context = &heard;
	o.poll_seconds = never;
	sem_init(&thread.asked, 0, 0);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	save(0, 100);
	assert_ok(weir_follow(&f, h, path, &o));
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int s = 1; s <= SIGRTMAX; s++)
		/* the caller's own are as they were */
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
	assert_ok(weir_follow_stop(f));
	thread.f = NULL;
	close_handle(flavors, h);
}

static void test_stop(void **state)
{
	(void)state;
	assert_int_equal(weir_follow_stop(NULL), 0);
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		heard.swaps = 0;
		save(0, 100);
		for (unsigned polling = 0; polling < 2; polling++) {
			/* the file is the same: no second swap */
			struct weir_follower *f = follow(h, never, polling);
			expect(flavor, 1, 0);
			if (flavor->has_sections) {
				flavor->rcu->read_lock();
				assert_refused(weir_follow_stop(f), -EDEADLK, "weir_follow_stop",
				               "inside a read-side section");
				flavor->rcu->read_unlock();
			}
			double begun = now();
			assert_ok(weir_follow_stop(f));
			assert_true(now() - begun < patience);
		}
		close_handle(flavor, h);
	}
}

/* A thread that waits for a grace period of the flavor, and notes its end. */
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

/* Between two looks the follower is in no section: with qsbr it has gone offline, or no grace
 * period of the whole program would end. */
static void test_a_follower_that_waits_holds_nobody_up(void **state)
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
		usleep(20000); /* it has reported the swap, and waits by now */
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
		assert_ok(weir_follow_stop(f));
		close_handle(flavor, h);
	}
}

/* Thread-local variables lie in a thread's stack, as large as the program has them. */
static __thread char of_each_thread[600 << 10];

static void touch_all(void *context, int result, const char *sentence)
{
	memset(of_each_thread, 'x', sizeof of_each_thread);
	report(context, result, sentence);
}

static void test_large_thread_local_variables(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	o.report = touch_all;
	o.context = &heard;
	save(0, 100);
	assert_ok(weir_follow(&f, h, path, &o));
	expect(flavors, 1, 0);
	assert_ok(weir_follow_stop(f));
	close_handle(flavors, h);
}

/* Stopped in the middle of looks, and of the grace periods of those. */
static void test_stop_at_any_moment(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		for (unsigned i = 0; i < 30; i++) {
			save(i, i + 10);
			struct weir_follower *f = follow(h, 0.001, i % 2);
			usleep(i * 50);
			assert_ok(weir_follow_stop(f));
			/* the first look is at once: stop waits for it */
			assert_int_equal(missing_in(h, i, i + 10), 0);
		}
		close_handle(flavor, h);
	}
}

/* The caller's own progress, on the thread. */
static struct {
	sem_t begun;
	unsigned calls;
} looks;

static int count_looks(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	if (looks.calls++ == 0)
		sem_post(&looks.begun);
	return 0;
}

/* A sparse file of some kilobytes that declares 8 TiB would be read for hours. */
static void test_stop_while_a_huge_file_is_read(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	refresh.progress = count_looks;
	o.refresh = &refresh;
	o.report = report;
	o.context = &heard;
	assert_true(declare_image(path, UINT64_C(8) << 40));
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 100);
		looks.calls = 0;
		sem_init(&looks.begun, 0, 0);
		assert_ok(weir_follow(&f, h, path, &o));
		while (sem_wait(&looks.begun))
			;
		double begun = now();
		assert_ok(weir_follow_stop(f));
		double took = now() - begun;
		print_message("%s: stopped within %.1f ms\n", flavor->name, took * 1e3);
		assert_true(took < 2); /* 0.1 on a machine that is not busy */
		/* no verdict on the file, and nothing to report */
		assert_int_equal(stats_of(h).refused, 0);
		assert_int_equal(heard.failures, 0);
		assert_int_equal(missing_in(h, 0, 100), 0);
		close_handle(flavor, h);
	}
}

/* Of a caller whose options end before progress: the follower's own is called all the same. */
static void test_stop_a_shorter_struct_s_follower(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follower *f;
	(void)state;
	refresh.struct_size = offsetof(struct weir_refresh_options, progress);
	o.refresh = &refresh;
	assert_true(declare_image(path, UINT64_C(8) << 40));
	assert_ok(weir_follow(&f, h, path, &o));
	usleep(100000); /* it reads */
	double begun = now();
	assert_ok(weir_follow_stop(f));
	assert_true(now() - begun < patience);
	close_handle(flavors, h);
}

static int stop_it(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return 1;
}

/* What the caller's progress stops is reported, and tried again. */
static void test_stopped_by_the_callers_progress(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	save(0, 100);
	refresh.progress = stop_it;
	o.refresh = &refresh;
	o.report = report;
	o.context = &heard;
	assert_ok(weir_follow(&f, h, path, &o));
	expect(flavors, 0, 1);
	heard_last(-ECANCELED, "progress");
	assert_ok(weir_follow_stop(f));
	assert_int_equal(stats_of(h).refused, 0);
	close_handle(flavors, h);
}

static void test_options(void **state)
{
	static const double bad[] = { -1, 0.0009, 86401, INFINITY, NAN };
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	assert_refused(weir_follow(NULL, h, path, &o), -EINVAL, "out is NULL", "weir_follow");
	assert_refused(weir_follow(&untouched, NULL, path, &o), -EINVAL, "the handle is NULL",
	               "weir_follow");
	assert_refused(weir_follow(&untouched, h, NULL, &o), -EINVAL, "path is NULL",
	               "weir_follow");
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		o.poll_seconds = bad[i];
		assert_refused(weir_follow(&untouched, h, path, &o), -EINVAL, "poll_seconds",
		               "0.001 to 86400");
	}
	o.poll_seconds = 0;
	o.struct_size = 5;
	assert_refused(weir_follow(&untouched, h, path, &o), -EINVAL,
	               "weir_follow_options.struct_size 5", "_INIT");
	o.struct_size = sizeof o + 1;
	assert_refused(weir_follow(&untouched, h, path, &o), -EINVAL,
	               "weir_follow_options.struct_size", "_INIT");
	o.struct_size = sizeof o;
	refresh.struct_size = 5;
	o.refresh = &refresh;
	assert_refused(weir_follow(&untouched, h, path, &o), -EINVAL,
	               "weir_refresh_options.struct_size 5", "_INIT");
	assert_null(untouched);

	save(0, 100);
	/* a header that had no more */
	o.struct_size = offsetof(struct weir_follow_options, poll_seconds);
	o.report = ask_thread;
	refresh.keep_previous = true;
	refresh.defer_free = true;
	refresh.struct_size = offsetof(struct weir_refresh_options, defer_free);
	assert_ok(weir_follow(&f, h, path, &o));
	refresh.keep_previous = false; /* the follower has its own copy */
	assert_ok(weir_follow_stop(f));
	assert_int_equal(stats_of(h).swaps, 1);
	assert_true(stats_of(h).previous_kept);
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_ok(weir_follow(&f, h, path, NULL));
	assert_ok(weir_follow_stop(f));
	close_handle(flavors, h);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_name_and_signals),
		fresh(test_stop),
		fresh(test_stop_at_any_moment),
		fresh(test_stop_while_a_huge_file_is_read),
		fresh(test_stop_a_shorter_struct_s_follower),
		fresh(test_stopped_by_the_callers_progress),
		fresh(test_a_follower_that_waits_holds_nobody_up),
		fresh(test_large_thread_local_variables),
		fresh(test_options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
