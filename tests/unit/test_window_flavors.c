/* SPDX-License-Identifier: MIT
 * Windows with each flavor of RCU: advanced by several threads, and used while another thread's
 * read section stalls an advance. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>
#include <urcu/flavor.h>
#include "window.h"

extern const struct rcu_flavor_struct urcu_bp_flavor, urcu_memb_flavor, urcu_mb_flavor,
	urcu_qsbr_flavor;
static const struct rcu_flavor_struct *const flavors[] = {
	NULL, &urcu_bp_flavor, &urcu_memb_flavor, &urcu_mb_flavor, &urcu_qsbr_flavor
};

static const struct rcu_flavor_struct *enter(const struct rcu_flavor_struct *flavor)
{
	flavor = flavor ? flavor : &urcu_bp_flavor;
	flavor->register_thread();
	return flavor;
}

/* Repeats inserts, lookups, ticks and statistics in a window of each flavor. */
static void every_function_works_in_each_flavor(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(flavors); i++) {
		struct weir_params o = options(4, 0);
		const struct rcu_flavor_struct *flavor = enter(flavors[i]);
		o.window.run.flavor = flavors[i];
		struct weir_filter *w = make(&o);
		for (uint64_t k = 0; k < 12; k++) {
			uint64_t key = test_key(k), again = test_key(k + 100);
			assert_int_equal(weir_insert_u64(w, key), WEIR_NEW);
			assert_int_equal(weir_insert_keys(w, weir_keys_u64(&again, 1),
			                                         NULL),
			                 1);
			wait_for(2.001);
			assert_int_equal(weir_window_tick(w), 1);
			assert_int_equal(weir_age(w, &key, 8), 1);
			assert_true(weir_contains_u64(w, again));
			for (uint64_t old = 0; old <= k; old++)
				assert_int_equal(weir_contains_u64(w, test_key(old)),
				                 k - old < 3);
			assert_int_equal(stats_of(w).advances, k + 1);
		}
		weir_destroy(w);
		flavor->unregister_thread();
	}
}

/* weir_destroy() ends the timer in a thread that is online, while the timer's thread may be waiting
 * for a grace period. The two threads must not wait for each other. */
static void a_timer_ends_in_each_flavor(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(flavors); i++) {
		struct weir_params o = options(4, 0);
		const struct rcu_flavor_struct *flavor = enter(flavors[i]);
		o.window.run.flavor = flavors[i];
		o.window.run.clock = NULL;
		o.window.span_seconds = 0.006;
		o.window.run.timer = 1;
		struct weir_filter *w = make(&o);
		while (stats_of(w).advances < 3)
			flavor->read_quiescent_state();
		weir_destroy(w);
		flavor->unregister_thread();
	}
}

/* An advance waits until read sections end. A thread inside a section of the window's flavor would
 * wait for its own section, so the advance fails. */
static void a_loaded_window_detects_its_sections(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(flavors); i++) {
		struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
		struct weir_params o = options(4, 0);
		struct weir_filter *w = make(&o), *back = NULL;
		int fd = memfd_create("window", 0);
		assert_ok(weir_save(w, weir_location_fd(fd), NULL));
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load.run.flavor = flavors[i];
		assert_ok(weir_load(&back, weir_location_fd(fd), &load));
		const struct rcu_flavor_struct *flavor = enter(flavors[i]);
		flavor->read_lock();
		if (flavor == &urcu_qsbr_flavor) /* qsbr has no sections */
			assert_ok(weir_window_advance(back));
		else
			assert_refused(weir_window_advance(back), -EDEADLK, "section", "");
		flavor->read_unlock();
		assert_ok(weir_window_advance(back));
		weir_destroy(back);
		weir_destroy(w);
		flavor->unregister_thread();
		close(fd);
	}
}

/* The thread is offline again after the save. */
static void an_offline_thread_of_qsbr_can_save(void **state)
{
	struct weir_params o = options(4, 0);
	(void)state;
	o.window.run.flavor = &urcu_qsbr_flavor;
	const struct rcu_flavor_struct *flavor = enter(&urcu_qsbr_flavor);
	struct weir_filter *w = make(&o);
	int fd = memfd_create("window", 0);
	assert_ok(weir_save(w, weir_location_fd(fd), NULL));
	assert_true(flavor->read_ongoing());
	flavor->thread_offline();
	assert_ok(weir_save(w, weir_location_fd(fd), NULL));
	assert_false(flavor->read_ongoing());
	flavor->thread_online();
	close(fd);
	weir_destroy(w);
	flavor->unregister_thread();
}

struct stalled {
	const struct rcu_flavor_struct *flavor;
	struct weir_filter *w;
	_Atomic uint64_t now_ns;
	atomic_uint looks; /* readings of the clock by the advancing thread */
	atomic_bool inside, go_on, advanced;
};

static _Thread_local bool advances;

static uint64_t shared_clock(void *stalled)
{
	struct stalled *s = stalled;
	uint64_t now = s->now_ns;
	s->looks += advances;
	return now;
}

static void *stall(void *arg)
{
	struct stalled *s = arg;
	const struct rcu_flavor_struct *flavor = enter(s->flavor);
	flavor->read_lock();
	s->inside = true;
	while (!s->go_on)
		usleep(100);
	flavor->read_unlock();
	flavor->unregister_thread();
	return NULL;
}

static void *advance(void *arg)
{
	struct stalled *s = arg;
	const struct rcu_flavor_struct *flavor = enter(s->flavor);
	advances = true;
	assert_ok(weir_window_advance(s->w));
	s->advanced = true;
	flavor->unregister_thread();
	return NULL;
}

/* Other threads see the advance at once. Until the section ends, a second advance fails, and a tick
 * is a no-op. */
static void an_advance_waits_for_a_stalled_section(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(flavors); i++) {
		struct weir_params o = options(4, 0);
		struct stalled s = { .flavor = flavors[i], .now_ns = 1000000000 };
		pthread_t sleeper, advancer;
		o.window.run.flavor = flavors[i];
		o.window.run.clock = shared_clock;
		o.window.run.clock_arg = &s;
		const struct rcu_flavor_struct *flavor = enter(flavors[i]);
		s.w = make(&o);
		assert_int_equal(weir_insert(s.w, "key", 3), WEIR_NEW);
		assert_int_equal(pthread_create(&sleeper, NULL, stall, &s), 0);
		while (!s.inside)
			usleep(100);
		flavor->thread_offline(); /* qsbr: this thread must not delay the advance */
		assert_int_equal(pthread_create(&advancer, NULL, advance, &s), 0);
		flavor->thread_online();
		/* Wait until the advance is published and its time is recorded. An advance reads
		 * the clock first to see how late it is, and a second time to record its time. */
		while (stats_of(s.w).advances == 0 || s.looks < 2)
			usleep(100);
		assert_int_equal(weir_age(s.w, "key", 3), 1);
		s.now_ns += UINT64_C(100000000000);
		assert_refused(weir_window_advance(s.w), -EBUSY, "under way", "");
		assert_int_equal(weir_window_tick(s.w), 0);
		assert_int_equal(stats_of(s.w).advances, 1);
		assert_false(s.advanced);
		s.go_on = true;
		flavor->thread_offline();
		pthread_join(sleeper, NULL);
		pthread_join(advancer, NULL);
		flavor->thread_online();
		assert_int_equal(weir_window_tick(s.w), 1);
		assert_int_equal(stats_of(s.w).advances, 2);
		weir_destroy(s.w);
		flavor->unregister_thread();
	}
}

/* The window that quick_clock() advances. Another thread may advance a window in the same way,
 * after a tick has read the clock and before the tick claims the advance. The tick then finds no
 * advance due, and releases its claim. */
static struct weir_filter *quick;

static uint64_t quick_clock(void *unused)
{
	struct weir_filter *w = quick;
	(void)unused;
	quick = NULL;
	if (w)
		assert_ok(weir_window_advance(w));
	return now_ns;
}

static void a_tick_gives_way_to_a_quicker_advance(void **state)
{
	struct weir_params o = options(4, 0);
	(void)state;
	o.window.run.clock = quick_clock;
	quick = NULL;
	struct weir_filter *w = make(&o);
	wait_for(2.001);
	/* quick_clock() advances the window before it returns. Then the tick compares the clock's
	 * time with a generation that is no longer the newest. */
	quick = w;
	assert_int_equal(weir_window_tick(w), 0);
	assert_int_equal(stats_of(w).advances, 1);
	assert_int_equal(weir_window_tick(w), 0);
	wait_for(2.001);
	assert_int_equal(weir_window_tick(w), 1);
	assert_ok(weir_window_advance(w));
	weir_destroy(w);
}

struct tickers {
	struct weir_filter *w;
	pthread_barrier_t begin;
	atomic_uint advanced;
};

static void *tick(void *arg)
{
	struct tickers *t = arg;
	pthread_barrier_wait(&t->begin);
	for (unsigned i = 0; i < 200; i++) {
		int answer = weir_window_tick(t->w);
		assert_true(answer == 0 || answer == 1);
		t->advanced += (unsigned)answer;
	}
	return NULL;
}

static void two_ticks_advance_once(void **state)
{
	struct weir_params o = options(4, 0);
	(void)state;
	struct tickers t = { .w = make(&o) };
	for (unsigned round = 1; round <= 20; round++) {
		pthread_t thread[2];
		wait_for(2.001);
		assert_int_equal(pthread_barrier_init(&t.begin, NULL, 2), 0);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, tick, &t), 0);
		for (unsigned i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		pthread_barrier_destroy(&t.begin);
		assert_int_equal(t.advanced, round);
		assert_int_equal(stats_of(t.w).advances, round);
	}
	weir_destroy(t.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_function_works_in_each_flavor),
		cmocka_unit_test(a_timer_ends_in_each_flavor),
		cmocka_unit_test(a_loaded_window_detects_its_sections),
		cmocka_unit_test(an_offline_thread_of_qsbr_can_save),
		cmocka_unit_test(an_advance_waits_for_a_stalled_section),
		cmocka_unit_test(a_tick_gives_way_to_a_quicker_advance),
		cmocka_unit_test(two_ticks_advance_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
