/* SPDX-License-Identifier: MIT
 * Several threads that save to one path at the same time. */
#include <pthread.h>
#include "../folder.h"

static void *save_many_times(void *f)
{
	unsigned failed = 0;
	for (unsigned i = 0; i < 200; i++)
		failed += weir_save(f, path, NULL) < 0;
	return (void *)(uintptr_t)failed;
}

/* None takes away the name that another is about to rename; the last to switch wins, and nothing
 * else is left in the folder. */
static void test_several_savers_of_one_path(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01), *g;
	pthread_t savers[4];
	(void)state;
	assert_ok(weir_insert_hash(f, 7));
	for (unsigned i = 0; i < COUNT_OF(savers); i++)
		assert_int_equal(pthread_create(&savers[i], NULL, save_many_times, f), 0);
	for (unsigned i = 0; i < COUNT_OF(savers); i++) {
		void *failed;
		pthread_join(savers[i], &failed);
		assert_null(failed);
	}
	assert_ok(weir_load(&g, path, NULL));
	assert_true(weir_contains_hash(g, 7));
	weir_destroy(g);
	weir_destroy(f);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* it was empty */
	assert_int_equal(mkdir(folder, 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several_savers_of_one_path),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
