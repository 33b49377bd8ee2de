/* SPDX-License-Identifier: MIT
 * A loaded window can be saved, and the image can be loaded again. The time that a slow load
 * takes does not count for any key. */
#include <pthread.h>
#include <sys/ioctl.h>
#include "window_image.h"

/* Set a word of the image's head. If the image still loads, the window accepts a key, and can be
 * saved and loaded again.
 * Return: the result of the first load. */
static int with_word(unsigned at, uint64_t value)
{
	const struct weir_load_options load = load_options();
	struct weir_params o = options(2, 0);
	struct weir_filter *w, *again = NULL;
	size_t n = 0;
	o.window.generation_keys = 3;
	w = make(&o);
	unsigned char *bytes = saved_bytes(w, &n);
	weir_destroy(w);
	image_put64(bytes + at, value);
	image_repair(bytes, n);
	int err = weir_load(&w, weir_location_memory(bytes, n), &load);
	free(bytes);
	if (err)
		return err;
	assert_true(weir_insert_u64(w, 1) >= 0);
	bytes = saved_bytes(w, &n);
	weir_destroy(w);
	assert_ok(weir_load(&again, weir_location_memory(bytes, n), &load));
	free(bytes);
	weir_destroy(again);
	return 0;
}

/* For the smallest double, a generation's share of the rate is 0. */
static void a_tiny_rate_is_refused(void **state)
{
	(void)state;
	assert_refused(with_word(40, 1), -EBADMSG, "fp_rate is 4.94066e-324", "of 2 generations");
}

static void the_largest_count_of_keys_is_valid(void **state)
{
	(void)state;
	assert_ok(with_word(OWN + 16, UINT64_C(1) << 48));
}

/* A window does not normalise keys. */
static void steps_are_refused(void **state)
{
	(void)state;
	assert_refused(with_word(136, UINT64_C(2) << 32), -EBADMSG, "before they are hashed",
	               "kind window");
}

static int pipe_ends[2];
static unsigned char *image;
static size_t image_bytes;

/* The members arrive 7 s after the head, which is longer than the span. */
static void *feed(void *unused)
{
	const size_t first = 2 * (size_t)IMAGE_PAGE;
	(void)unused;
	if (write(pipe_ends[1], image, first) != (ssize_t)first)
		return NULL;
	/* wait until the loader has read the head and recorded the time */
	for (int left = 1; left > 0;) {
		usleep(1000);
		if (ioctl(pipe_ends[0], FIONREAD, &left))
			return NULL;
	}
	sleep(1);
	now_ns += UINT64_C(7000000000);
	for (size_t at = first; at < image_bytes;) {
		ssize_t put = write(pipe_ends[1], image + at, image_bytes - at);
		if (put <= 0)
			return NULL;
		at += (size_t)put;
	}
	close(pipe_ends[1]);
	return NULL;
}

static void the_time_of_a_slow_load_does_not_count(void **state)
{
	const struct weir_load_options load = load_options();
	struct weir_params o = options(2, 0);
	struct weir_filter *w = make(&o);
	pthread_t thread;
	(void)state;
	o.capacity = 70;
	assert_int_equal(weir_insert_u64(w, 1), WEIR_NEW);
	assert_ok(weir_window_advance(w)); /* the key expires in 6 s */
	image = saved_bytes(w, &image_bytes);
	weir_destroy(w);
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, feed, NULL), 0);
	assert_ok(weir_load(&w, weir_location_fd(pipe_ends[0]), &load));
	pthread_join(thread, NULL);
	close(pipe_ends[0]);
	free(image);
	assert_true(weir_contains_u64(w, 1));
	assert_true(weir_window_tick(w) >= 0);
	assert_true(weir_contains_u64(w, 1)); /* the key still expires in 6 s */
	weir_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tiny_rate_is_refused),
		cmocka_unit_test(the_largest_count_of_keys_is_valid),
		cmocka_unit_test(steps_are_refused),
		cmocka_unit_test(the_time_of_a_slow_load_does_not_count),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
