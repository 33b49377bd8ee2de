/* SPDX-License-Identifier: MIT
 * A window is saved while a read section stalls, and while an advance waits for the section. An
 * offline thread of urcu-qsbr saves into a pipe that is read only later. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <urcu/urcu-qsbr.h>
#include <urcu/flavor.h>
#include "window_image.h"

extern const struct rcu_flavor_struct urcu_memb_flavor;

static struct weir_filter *w;
static const struct rcu_flavor_struct *flavor;
static atomic_bool held, end, advanced, saved, left_offline, copied_online;
static _Thread_local bool saves;
static int ends[2];

static void *hold(void *unused)
{
	flavor->register_thread();
	flavor->read_lock();
	atomic_store(&held, true);
	while (!atomic_load(&end))
		usleep(1000);
	flavor->read_unlock();
	flavor->unregister_thread();
	return unused;
}

static void *advance(void *unused)
{
	flavor->register_thread();
	atomic_store(&advanced, weir_window_advance(w) == 0);
	flavor->unregister_thread();
	return unused;
}

/* A save reads this clock inside the section in which it copies the window. */
static uint64_t watched_clock(void *arg)
{
	if (saves)
		atomic_store(&copied_online, flavor->read_ongoing());
	return test_clock(arg);
}

static void begin(const struct rcu_flavor_struct *f)
{
	struct weir_params o = options(3, 0);
	flavor = f;
	o.window.run.flavor = f;
	o.window.run.clock = watched_clock;
	w = make(&o);
	atomic_store(&held, false);
	atomic_store(&end, false);
	atomic_store(&advanced, false);
	atomic_store(&saved, false);
	flavor->register_thread();
}

static void finish(void)
{
	weir_destroy(w);
	flavor->unregister_thread();
}

static struct weir_filter *through_an_image(void)
{
	const struct weir_load_options load = load_options();
	struct weir_filter *copy = NULL;
	int fd = memfd_create("image", 0);
	assert_ok(weir_save(w, weir_location_fd(fd), NULL));
	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	assert_ok(weir_load(&copy, weir_location_fd(fd), &load));
	close(fd);
	return copy;
}

/* Asserts that @of has all keys: 0 to 99 from before the advance, and 100 to 199 from after its
 * publication. */
static void assert_all(const struct weir_filter *of)
{
	for (uint64_t k = 0; k < 200; k++) {
		assert_int_equal(weir_age(of, &k, 8), k < 100);
		assert_true(weir_contains_u64(of, k));
	}
}

static void a_save_during_a_stalled_advance_has_all_keys(void **state)
{
	pthread_t holder, advancer;
	(void)state;
	begin(&urcu_memb_flavor);
	for (uint64_t k = 0; k < 100; k++)
		assert_true(weir_insert_u64(w, k) >= 0);
	assert_int_equal(pthread_create(&holder, NULL, hold, NULL), 0);
	while (!atomic_load(&held))
		usleep(1000);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	assert_int_equal(pthread_create(&advancer, NULL, advance, NULL), 0);
	while (stats_of(w).advances == 0)
		usleep(1000);
	for (uint64_t k = 100; k < 200; k++)
		assert_true(weir_insert_u64(w, k) >= 0);
	assert_int_equal(weir_window_advance(w), -EBUSY);
	struct weir_filter *copy = through_an_image();
	assert_all(copy);
	weir_destroy(copy);
	wait_for(100);
	assert_int_equal(weir_window_tick(w), 0); /* another advance is in progress */
	assert_false(atomic_load(&advanced));
	assert_all(w);
	atomic_store(&end, true);
	pthread_join(holder, NULL);
	pthread_join(advancer, NULL);
	assert_true(atomic_load(&advanced));
	assert_all(w);
	finish();
}

static void *save_offline(void *unused)
{
	flavor->register_thread();
	flavor->thread_offline();
	saves = true;
	atomic_store(&held, true);
	atomic_store(&saved, weir_save(w, weir_location_fd(ends[1]), NULL) > 0);
	atomic_store(&left_offline, !flavor->read_ongoing());
	flavor->unregister_thread();
	close(ends[1]);
	return unused;
}

/* A save delays advances only while the save copies in memory. */
static void a_save_into_a_pipe_delays_no_advance(void **state)
{
	static char bytes[1 << 16];
	pthread_t saver, advancer;
	int in_pipe = 0;
	(void)state;
	begin(&urcu_qsbr_flavor);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&saver, NULL, save_offline, NULL), 0);
	flavor->thread_offline();
	/* If bytes are in the pipe, the saver has copied the window. The image has about 100 KiB,
	 * but the pipe holds only 64 KiB, so the save is not finished. */
	for (unsigned i = 0; i < 6000 && in_pipe < 1 << 15; i++) {
		usleep(10000);
		assert_int_equal(ioctl(ends[0], FIONREAD, &in_pipe), 0);
	}
	assert_int_equal(pthread_create(&advancer, NULL, advance, NULL), 0);
	for (unsigned i = 0; i < 6000 && !atomic_load(&advanced); i++)
		usleep(10000);
	const bool early = atomic_load(&advanced), yet = atomic_load(&saved);
	while (read(ends[0], bytes, sizeof bytes) > 0)
		;
	pthread_join(saver, NULL);
	pthread_join(advancer, NULL);
	flavor->thread_online();
	close(ends[0]);
	assert_true(atomic_load(&saved) && !yet);
	assert_true(atomic_load(&copied_online) && atomic_load(&left_offline));
	assert_true(early); /* the advance did not wait for the pipe */
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_save_during_a_stalled_advance_has_all_keys),
		cmocka_unit_test(a_save_into_a_pipe_delays_no_advance),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
