/* SPDX-License-Identifier: MIT
 * A sparse image goes live only if its holes have disk space, whatever error the system returns. */
#include <fcntl.h>
#include "live.h"

enum { PAGE = 4096 };

static off_t middle; /* offset of the hole, in the middle of the file */

/* Make the second half of the file, where all bits are 0, a hole. Return: false if that fails. */
static bool dig(void)
{
	struct stat st;
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	middle = st.st_size / 2 / PAGE * PAGE;
	bool dug = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, middle,
	                     st.st_size - middle) == 0;
	assert_int_equal(close(fd), 0);
	return dug;
}

static bool has_a_hole(void)
{
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	off_t hole = lseek(fd, middle, SEEK_HOLE), end = lseek(fd, 0, SEEK_END);
	assert_int_equal(close(fd), 0);
	return hole < end;
}

/* The image stays sealed, because a store into a hole on a full disk would kill the process. */
static void test_an_image_whose_holes_get_no_space_does_not_go_live(void **state)
{
	static const char copy[] = "cp --sparse=never", room[] = "free space there";
	static const struct {
		int error, answer;
		const char *remedy;
	} cases[] = {
		{ EPERM, EOPNOTSUPP, copy },  { EOPNOTSUPP, EOPNOTSUPP, copy },
		{ ENOSYS, EOPNOTSUPP, copy }, { EINVAL, EOPNOTSUPP, copy },
		{ ENOSPC, ENOSPC, room },     { EDQUOT, EDQUOT, room },
	};
	(void)state;
	if (!dig())
		skip();
	const unsigned open = open_descriptors();
	for (unsigned i = 0; i < COUNT_OF(cases); i++)
		for (unsigned told = 0; told < 2; told++) { /* told: lseek() finds the hole */
			struct weir_filter *f = NULL;
			shim.refused = "fallocate";
			shim.refused2 = told ? NULL : "lseek64";
			shim.refused_error = cases[i].error;
			int answer = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL);
			shim.refused = shim.refused2 = NULL;
			assert_refused(answer, -cases[i].answer, path, cases[i].remedy);
			assert_true(sealed() && has_a_hole());
			assert_int_equal(open_descriptors(), open);
		}
}

/* If lseek() cannot tell whether the file has holes, the file's number of blocks shows whether it
 * has any. */
static void test_a_whole_image_goes_live_without_reservation(void **state)
{
	static const int errors[] = { EPERM, EOPNOTSUPP, ENOSYS, EINVAL };
	struct stat st;
	int fd = open(path, O_RDWR);
	(void)state;
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(fallocate(fd, 0, 0, st.st_size), 0); /* fills all holes */
	assert_int_equal(close(fd), 0);
	for (unsigned i = 0; i < COUNT_OF(errors); i++) {
		shim.refused = "fallocate";
		shim.refused2 = "lseek64";
		shim.refused_error = errors[i];
		struct weir_filter *f = map_live();
		shim.refused = shim.refused2 = NULL;
		seal_it(f);
	}
}

static unsigned interrupts;

static void go_on(const struct shim_call *call)
{
	if (strcmp(call->what, "fallocate") == 0 && interrupts-- == 0)
		shim.refused = NULL;
}

static void test_an_interrupted_reservation_is_repeated(void **state)
{
	(void)state;
	if (!dig())
		skip();
	interrupts = 3;
	shim.look = go_on;
	shim.refused = "fallocate";
	shim.refused_error = EINTR;
	struct weir_filter *f = map_live();
	shim.look = NULL;
	assert_null(shim.refused);
	assert_false(has_a_hole());
	assert_int_equal(insert(f, FEW), 0);
	seal_it(f);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, live_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_an_image_whose_holes_get_no_space_does_not_go_live),
		fresh(test_a_whole_image_goes_live_without_reservation),
		fresh(test_an_interrupted_reservation_is_repeated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
