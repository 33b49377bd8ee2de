/* SPDX-License-Identifier: MIT
 * Several processes map one image live and are killed at every step. The image is always live, or
 * sealed and valid, and no acknowledged insert is lost. */
#include <time.h>
#include "live.h"

enum { RANDOM_KILLS = 150, CHILDREN = 3, MS = 1000000 };

static int live_and_seal(void)
{
	struct weir_filter *f;
	if (weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL) || insert(f, 3 * FEW))
		return 1;
	if (weir_seal(f))
		return 2;
	weir_destroy(f);
	return 0;
}

/* Call @act in a child that is killed at its n-th step. Return: the child's status. */
static int dies_at(unsigned n, int (*act)(void))
{
	int status;
	pid_t child = new_process();
	if (child == 0) {
		shim.at = n;
		shim.armed = shim.die = true;
		_exit(act());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_killed_at_every_step(void **state)
{
	unsigned n, left_live = 0;
	(void)state;
	for (n = 1; n < MOST_STEPS; n++) {
		int status = dies_at(n, live_and_seal);
		bool is_sealed = sealed();
		left_live += !is_sealed;
		struct weir_filter *f = map_live(); /* the child's lock ended with the child */
		if (!status)
			assert_has(f, 3 * FEW);
		seal_it(f);
		if (!status)
			break;
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	assert_in_range(n, 20, MOST_STEPS - 1);
	assert_in_range(left_live, 10, n);
}

/* This process has mapped the image live. A child that maps, inserts and seals is killed at each of
 * its steps. The child's seal never succeeds, and no insert of this process is lost. */
static void test_killed_beside_a_live_mapping(void **state)
{
	unsigned n;
	struct weir_filter *f = map_live();
	(void)state;
	for (n = 1; n < MOST_STEPS; n++) {
		int status = dies_at(n, live_and_seal);
		assert_false(sealed());
		assert_int_equal(insert(f, n * FEW), 0);
		if (!WIFSIGNALED(status)) {
			assert_int_equal(WEXITSTATUS(status), 2); /* the child got -EBUSY */
			break;
		}
	}
	assert_in_range(n, 10, MOST_STEPS - 1);
	for (unsigned i = 1; i <= n; i++)
		assert_has(f, i * FEW);
	seal_it(f);
}

static void pause_up_to(long ns, uint64_t *random)
{
	struct timespec t = { .tv_nsec = (long)(test_random(random) % (uint64_t)ns) };
	nanosleep(&t, NULL);
}

/* Map, insert and try to seal until killed at a random moment. */
static int live_for_ever(unsigned number)
{
	uint64_t random = (uint64_t)getpid();
	for (uint64_t round = 0;; round++) {
		struct weir_filter *f = NULL;
		pause_up_to(10 * MS, &random);
		int err = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL);
		if (!err && insert(f, (1000 * number + round % 7) * FEW))
			return 1;
		err = err ? err : weir_seal(f);
		if (err && err != -EBUSY)
			return fprintf(stderr, "%s\n", weir_error_detail()), 2;
		weir_destroy(f);
	}
}

static pid_t start(unsigned number)
{
	pid_t child = new_process();
	if (child == 0)
		_exit(live_for_ever(number));
	return child;
}

static void test_killed_at_random(void **state)
{
	uint64_t random = 1, seals = 0;
	pid_t children[CHILDREN];
	int status;
	(void)state;
	for (unsigned i = 0; i < CHILDREN; i++)
		children[i] = start(i);
	for (unsigned i = 0; i < RANDOM_KILLS; i++) {
		pause_up_to(20 * MS, &random);
		seals += sealed();
		unsigned victim = (unsigned)(test_random(&random) % CHILDREN);
		assert_int_equal(kill(children[victim], SIGKILL), 0);
		assert_int_equal(waitpid(children[victim], &status, 0), children[victim]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		seals += sealed();
		children[victim] = start(victim);
	}
	for (unsigned i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], &status, 0);
	}
	print_message("found sealed %llu times of %u\n", (unsigned long long)seals,
	              2 * RANDOM_KILLS);
	seal_it(map_live());
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, live_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_killed_at_every_step),
		fresh(test_killed_beside_a_live_mapping),
		fresh(test_killed_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
