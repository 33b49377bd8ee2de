/* SPDX-License-Identifier: MIT
 * A sandbox without random numbers. A refresh, which otherwise samples an image at random
 * positions, then reads the whole image. */
#include <errno.h>
#include "../forged.h"
#include "faults.h"

static unsigned asked;

static void note(const struct shim_call *call)
{
	asked += strcmp(call->what, "getrandom") == 0;
}

/* If the positions were predictable, a forger could make exactly these positions valid. */
static void test_a_refresh_asks_for_random_numbers(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 2000000, 0.01);
	struct weir_handle *h;
	(void)state;
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.01), NULL));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	asked = 0;
	shim = (struct shim){ .look = note };
	int answer = weir_handle_refresh(h, path, NULL);
	shim = (struct shim){ 0 };
	assert_int_equal(answer, 1);
	assert_true(asked > 0);
	assert_ok(weir_handle_destroy(h));
}

static void test_refresh_without_random_numbers(void **state)
{
	struct weir_handle *h;
	(void)state;
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.01), NULL));
	(void)forge_image(path, 2000000);
	shim = (struct shim){ .refused = "getrandom", .refused2 = "/dev/urandom",
	                      .refused_error = EPERM };
	int answer = weir_handle_refresh(h, path, NULL);
	shim = (struct shim){ 0 };
	assert_refused(answer, -ECANCELED, path, "overfull");
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 2000000, 0.01);
	assert_ok(weir_insert_hash(f, 7));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	shim = (struct shim){ .refused = "getrandom", .refused2 = "/dev/urandom",
	                      .refused_error = EPERM };
	answer = weir_handle_refresh(h, path, NULL);
	shim = (struct shim){ 0 };
	assert_int_equal(answer, 1);
	assert_true(weir_handle_contains_hash(h, 7));
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_refresh_asks_for_random_numbers),
		cmocka_unit_test(test_refresh_without_random_numbers),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
