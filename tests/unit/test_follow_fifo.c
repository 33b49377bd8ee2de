/* SPDX-License-Identifier: MIT
 * Following a path that is a FIFO. A FIFO may never get a writer, so the follower must not block
 * on it. */
#include <sys/stat.h>
#include <unistd.h>
#include "../followers.h"

static void put_fifo(void)
{
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(rename(other, path), 0);
}

/* Uses a rename, because weir_save() refuses to replace a FIFO. */
static void put_image(void)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
	assert_ok(weir_insert_hash(f, test_key(1)));
	assert_ok(weir_save(f, weir_location_path(other), NULL));
	assert_int_equal(rename(other, path), 0);
	weir_destroy(f);
}

static void test_a_fifo_without_writer_does_not_block(void **state)
{
	(void)state;
	for (unsigned polling = 0; polling < 2; polling++) {
		struct weir_handle *h = open_handle(flavors, 10000);
		heard.swaps = heard.failures = 0;
		put_fifo();
		alarm(60); /* ends a test that blocks */
		struct weir_follower *f = follow(h, polling ? often : never, polling);
		expect(flavors, 0, 1);
		heard_last(-EINVAL, "is not a regular file, but a pipe");
		put_image();
		expect(flavors, 1, 1);
		put_fifo();
		expect(flavors, 1, 2);
		double begun = now();
		assert_ok(weir_follower_stop(f));
		assert_true(now() - begun < patience);
		assert_int_equal(missing_in(h, 1, 2), 0);
		close_handle(flavors, h);
		alarm(0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_fifo_without_writer_does_not_block, setup,
		                                folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
