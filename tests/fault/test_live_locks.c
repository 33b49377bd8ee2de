/* SPDX-License-Identifier: MIT
 * The lock of a live image, if the system refuses a lock, or if two mappers create the lock file at
 * the same time. */
#include "live.h"

static unsigned steps, /* steps so far */
        turn;          /* the step at which a lock fails or another mapper comes */

static void one_lock_fails(const struct shim_call *call)
{
	if (strcmp(call->what, "fcntl") == 0)
		shim.refused = ++steps == turn ? "fcntl" : NULL;
}

/* Map the image live and seal it. Return: 0, or the error of the failed lock. */
static int map_and_seal(void)
{
	struct weir_filter *f = NULL;
	steps = 0;
	shim.look = one_lock_fails;
	int answer = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	if (!answer)
		answer = weir_seal(f);
	shim.look = NULL;
	shim.refused = NULL;
	if (answer)
		assert_refused(answer, -ENOLCK, path, "cannot lock it and its lock file");
	weir_destroy(f);
	return answer;
}

static void assert_not_mapped(const char *call, int error, int wanted, const char *what)
{
	struct weir_filter *f = NULL;
	shim.refused = call;
	shim.refused_error = error;
	int answer = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	shim.refused = NULL;
	assert_refused(answer, wanted, path, what);
	assert_null(f);
}

/* Locks fail, as on a file system that has no locks, or on a network file system whose server is
 * gone. In round 0 the folder is private. In round 1 the image is already live, but has no lock
 * file. In round 2 other users may rename files in the folder. */
static void test_what_if_a_lock_fails(void **state)
{
	char lock[4400];
	(void)state;
	name_lock(lock);
	for (unsigned round = 0; round < 3; round++) {
		unsigned refused = 0;
		assert_int_equal(chmod(folder, round == 2 ? 0777 : 0700), 0);
		steps = turn = 0;
		while (steps >= turn++) {
			if (round == 1) {
				weir_destroy(map_live());
				assert_int_equal(unlink(lock), 0);
			}
			shim.refused_error = ENOLCK;
			refused += map_and_seal() != 0;
			seal_it(map_live()); /* no lock is left */
			assert_int_equal(access(lock, F_OK), -1);
		}
		assert_int_equal(refused, round ? 4 : 3);
	}
	/* some systems report another process's lock as EACCES */
	assert_not_mapped("fcntl", EACCES, -EBUSY, "is being sealed");
	weir_destroy(map_live());
	assert_int_equal(unlink(lock), 0);
	assert_not_mapped("ftruncate64", EIO, -EIO, "cannot write to its lock file");
	seal_it(map_live());
	assert_int_equal(access(lock, F_OK), -1);
}

static struct weir_filter *other;
static int other_answer;

static void other_maps(const struct shim_call *call)
{
	(void)call;
	if (++steps == turn)
		other_answer = weir_load(&other, weir_location_map(path, WEIR_MAP_LIVE), NULL);
}

/* Two mappers that create the lock file at once must lock the same file. The first marks the image
 * live, then the lock file. Between these two marks, the second mapper gets -EBUSY. */
static void test_do_two_mappers_at_once_have_one_lock(void **state)
{
	unsigned waited = 0;
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		shim.look = other_maps;
		struct weir_filter *f = map_live();
		shim.look = NULL;
		if (steps >= turn && other_answer == 0) {
			assert_int_equal(insert(f, FEW) | insert(other, 2 * FEW), 0);
			assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
			weir_destroy(other);
			assert_has(f, 2 * FEW);
		}
		seal_it(f);
		if (steps < turn)
			break;
		assert_true(other_answer == 0 || other_answer == -EBUSY);
		waited += other_answer != 0;
	}
	assert_int_equal(waited, 1);
	assert_true(turn > 10);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, live_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_what_if_a_lock_fails),
		fresh(test_do_two_mappers_at_once_have_one_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
