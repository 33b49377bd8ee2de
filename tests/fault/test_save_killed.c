/* SPDX-License-Identifier: MIT
 * A saver is killed before each of its system calls, and 200 times at a random moment. The path
 * names the whole old image or the whole new image. A temporary file is left only if the saver dies
 * between linkat and renameat, because no system call links a file over an existing name. Without
 * O_TMPFILE the new image has a temporary name from the start. The next save removes a temporary
 * file that a killed saver has left. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "faults.h"

enum { KILLS = 200, MOST_CALLS = 200 };

static struct weir_filter *small, *large;

static int setup(void **state)
{
	(void)folder_setup(state);
	small = test_filter(WEIR_BLOCKED, 1000, 0.01);
	large = test_filter(WEIR_BLOCKED, 4000000, 0.01);
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(small);
	weir_destroy(large);
	(void)folder_teardown(state);
	return 0;
}

static int save(const struct weir_filter *f, uint64_t generation)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = generation;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

/* Save in a child that is killed before its n-th call. Return: true if the child was killed. */
static bool dies_at(unsigned n, bool no_tmpfile)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		shim = (struct shim){ .armed = true, .at = n, .die = true,
		                      .no_tmpfile = no_tmpfile };
		_exit(save(small, 2) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	return status != 0;
}

/* Remove the leftover file, if there is one. Its name must begin with @prefix, and there must be no
 * second leftover file. Return: the number of removed files. */
static unsigned litter(const char *prefix)
{
	char name[256], file[4400];
	unsigned n = folder_entries(folder, "set.weir", name);
	if (!n)
		return 0;
	if (n > 1 || strncmp(name, prefix, strlen(prefix)))
		fail_msg("%u files stay, one is %s", n, name);
	snprintf(file, sizeof file, "%s/%s", folder, name);
	assert_int_equal(unlink(file), 0);
	return n;
}

static void test_killed_before_each_call(void **state)
{
	unsigned n, between = 0;
	(void)state;
	assert_ok(save(small, 1));
	for (n = 1; n < MOST_CALLS && dies_at(n, false); n++) {
		char name[256];
		bool left = folder_entries(folder, "set.weir", name) > 0;
		if (left && strncmp(name, ".weir-new-", 10))
			fail_msg("%s stays", name);
		between += left;
		uint64_t generation = generation_of(path);
		assert_true(generation == 1 || generation == 2);
		assert_ok(save(small, 1));
		assert_int_equal(litter(""), 0); /* the save has removed a leftover file */
	}
	assert_in_range(n, 10, MOST_CALLS - 1);
	assert_int_equal(between, 1);
}

static void test_killed_creating(void **state)
{
	unsigned n;
	(void)state;
	unlink(path);
	for (n = 1; n < MOST_CALLS && dies_at(n, false); n++) {
		assert_int_equal(litter(""), 0);
		if (access(path, F_OK) == 0)
			assert_int_equal(generation_of(path), 2);
		unlink(path);
	}
	assert_in_range(n, 10, MOST_CALLS - 1);
}

static void test_killed_without_tmpfile(void **state)
{
	unsigned n, left = 0;
	(void)state;
	assert_ok(save(small, 1));
	for (n = 1; n < MOST_CALLS && dies_at(n, true); n++) {
		char name[256];
		left += folder_entries(folder, "set.weir", name);
		uint64_t generation = generation_of(path);
		assert_true(generation == 1 || generation == 2);
		assert_ok(save(small, 1));
		assert_int_equal(litter(""), 0);
	}
	assert_in_range(n, 10, MOST_CALLS - 1);
	assert_in_range(left, 4, n);
}

static uint64_t nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Kill a saver @wait ns after its start. Return: true if it was killed before it ended. */
static bool killed_after(uint64_t wait, uint64_t generation)
{
	int start[2], status;
	char byte;
	assert_int_equal(pipe(start), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(write(start[1], "s", 1) != 1 || save(large, generation));
	assert_int_equal(read(start[0], &byte, 1), 1);
	struct timespec t = { .tv_sec = (time_t)(wait / 1000000000),
	                      .tv_nsec = (long)(wait % 1000000000) };
	nanosleep(&t, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(status == 0 || WIFSIGNALED(status));
	close(start[0]);
	close(start[1]);
	return status != 0;
}

static void test_killed_at_random(void **state)
{
	uint64_t random = 1, generation = 1, killed = 0, replaced = 0, left = 0;
	(void)state;
	uint64_t once = UINT64_MAX;
	/* take the time of the shortest of five saves, because the disk may delay a save */
	for (unsigned i = 0; i < 5; i++) {
		uint64_t begin = nanoseconds();
		assert_ok(save(large, generation));
		uint64_t took = nanoseconds() - begin;
		once = took < once ? took : once;
	}
	for (unsigned i = 0; i < KILLS; i++) {
		killed += killed_after(test_random(&random) % (once * 5 / 4), generation + 1);
		left += litter(".weir-new-");
		uint64_t now = generation_of(path);
		assert_true(now == generation || now == generation + 1);
		replaced += now != generation;
		generation = now;
	}
	print_message("%u savers: %llu killed, %llu had switched the name, %llu died between link "
	              "and rename\n",
	              KILLS, (unsigned long long)killed, (unsigned long long)replaced,
	              (unsigned long long)left);
	assert_true(killed > KILLS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_before_each_call),
		cmocka_unit_test(test_killed_creating),
		cmocka_unit_test(test_killed_without_tmpfile),
		cmocka_unit_test(test_killed_at_random),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
