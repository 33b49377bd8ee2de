/* SPDX-License-Identifier: MIT
 * Another process replaces the file at an image's name while a function of weir uses the image. An
 * open of a FIFO without a writer blocks, so the function must open no FIFO, whenever the FIFO
 * appears. */
#include <errno.h>
#include <fcntl.h>
#include "faults.h"

#define LITTER ".weir-new-%016llx-0123456789abcdef"

static struct weir_filter *f;
static char through[4200], litter[4200];
static unsigned calls, at;

static int setup(void **state)
{
	(void)folder_setup(state);
	unsigned long long sum = XXH3_64bits("set.weir", strlen("set.weir"));
	f = test_filter(WEIR_BLOCKED, 20000, 0.01);
	snprintf(litter, sizeof litter, "%s/" LITTER, folder, sum);
	snprintf(through, sizeof through, "%s/link", folder);
	return symlink("set.weir", through);
}

static int teardown(void **state)
{
	shim = (struct shim){ 0 };
	weir_destroy(f);
	return folder_teardown(state);
}

/* Destroy the opened filter, which the test does not need. */
static int dropped(int err, struct weir_filter **g)
{
	if (!err)
		weir_destroy(*g);
	return err;
}

static int do_save(const char *name)
{
	return test_done(weir_save(f, weir_location_path(name), NULL));
}

static int do_verify(const char *name)
{
	return weir_image_verify(weir_location_path(name), NULL, NULL);
}

static int do_load(const char *name)
{
	struct weir_filter *g;
	return dropped(weir_load(&g, weir_location_path(name), NULL), &g);
}

static int do_map(const char *name)
{
	struct weir_filter *g;
	return dropped(weir_load(&g, weir_location_map(name, WEIR_MAP_READ), NULL), &g);
}

static int do_live(const char *name)
{
	struct weir_filter *g;
	int err = weir_load(&g, weir_location_map(name, WEIR_MAP_LIVE), NULL);
	if (!err) {
		const int sealed = weir_seal(g);
		assert_true(sealed == 0 || sealed == -ESTALE); /* the image was replaced */
	}
	return dropped(err, &g);
}

static int do_info(const char *name)
{
	return weir_image_inspect(weir_location_path(name),
	                          &(struct weir_image_info)WEIR_IMAGE_INFO_INIT);
}

static int do_stats(const char *name)
{
	return weir_image_measure(weir_location_path(name), WEIR_SAMPLED, NULL,
	                          &(struct weir_stats)WEIR_STATS_INIT);
}

static void put_fifos(const struct shim_call *call)
{
	(void)call;
	if (++calls != at)
		return;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	if (unlink(litter) == 0)
		assert_int_equal(mkfifo(litter, 0600), 0);
}

/* Put a whole image at the path, and the temporary file of a saver that was killed. */
static void put_files(void)
{
	unlink(path);
	unlink(litter);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_true(image_spit(litter, "left", 4));
}

/* The FIFOs appear before the first call, then before the second call, and so on. */
static void test_a_fifo_at_the_path_does_not_block_a_verb(void **state)
{
	int (*const verbs[])(const char *) = { do_save, do_verify, do_load, do_map, do_live,
		                               do_info, do_stats };
	(void)state;
	for (unsigned verb = 0; verb < 2 * sizeof verbs / sizeof *verbs; verb++) {
		at = 0;
		do {
			at++;
			put_files();
			calls = 0;
			shim.look = put_fifos;
			alarm(30); /* ends a test that blocks */
			int err = verbs[verb / 2](verb % 2 ? through : path);
			alarm(0);
			shim.look = NULL;
			assert_true(err == 0 || err == -EINVAL);
		} while (calls >= at);
		assert_true(at > 2);
	}
}

static void count_opens(const struct shim_call *call)
{
	calls += strcmp(call->what, "open") == 0;
}

/* weir_image_measure() opens the image only once, because a second open may find another file. */
static void test_statistics_open_the_image_once(void **state)
{
	(void)state;
	put_files();
	calls = 0;
	shim.look = count_opens;
	assert_ok(do_stats(path));
	assert_int_equal(calls, 1);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_a_fifo_at_the_path_does_not_block_a_verb),
		fresh(test_statistics_open_the_image_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
