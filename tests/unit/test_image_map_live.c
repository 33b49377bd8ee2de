/* SPDX-License-Identifier: MIT
 * Images that are mapped live: several processes insert into one at once; the live mark and the
 * seal. */
#include <signal.h>
#include <sys/wait.h>
#include <weir/inline.h>
#include "mapped.h"

enum { PROCESSES = 2 };

static bool is_live(void)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	return info.live;
}

/* Inserts the keys @from, @from + @step ... below @to; 0 is success. */
typedef int insert_fn(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to);

/* Each process inserts keys of its own, waits for the others at the start, and exits; 0 is
 * success. */
static int insert_in_process(insert_fn *insert, unsigned number, int start)
{
	struct weir_filter *f;
	char byte;
	if (weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL))
		return 1;
	if (read(start, &byte, 1) != 1)
		return 2;
	int failed = insert(f, number, PROCESSES, KEYS);
	weir_destroy(f);
	return failed;
}

static void live_in_several_processes(insert_fn *insert)
{
	struct weir_filter *f, *g;
	int start[2], status;
	save_fresh(WEIR_BLOCKED, 0);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_int_equal(pipe(start), 0);
	for (unsigned p = 0; p < PROCESSES; p++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(insert_in_process(insert, p, start[0]));
	}
	usleep(20000);
	assert_int_equal(write(start[1], "go", PROCESSES), PROCESSES);
	assert_int_equal(insert(f, KEYS, 1, 2 * KEYS), 0);
	for (unsigned p = 0; p < PROCESSES; p++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(missing(f, 0, 2 * KEYS), 0);
	assert_true(missing(f, 2 * KEYS, 3 * KEYS) > KEYS / 100 * 97);
	assert_ok(weir_seal(f));
	weir_destroy(f);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_int_equal(missing(g, 0, 2 * KEYS), 0);
	weir_destroy(g);
	close(start[0]);
	close(start[1]);
}

static void test_live_in_several_processes(void **state)
{
	(void)state;
	live_in_several_processes(insert_each);
}

/* Plain stores, as into a private filter, would undo what another process inserts into the same
 * word at that moment. */
static void test_live_loads_are_atomic(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++)
		live_in_several_processes(load_pieces);
}

static void test_live_mark_and_seal(void **state)
{
	struct weir_filter *f, *g, *h;
	(void)state;
	save_fresh(WEIR_CLASSIC, 1000);
	assert_ok(weir_load(&h, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_true(is_live());
	assert_refused(weir_load(&untouched, weir_location_path(path), NULL), -EBUSY, path, "live");
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), NULL), -EBUSY,
	               path, "live");
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_PRIVATE), NULL),
	               -EBUSY, path, "live");
	assert_refused(weir_verify(h), -EBUSY, path, "live");
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_ok(weir_insert_hash(f, test_key(1000)));
	assert_true(weir_contains_hash(h, test_key(1000))); /* one file, one set of pages */
	weir_destroy(f);
	assert_true(is_live());
	assert_ok(
		weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL)); /* as after a crash */
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_insert_hash(g, test_key(1001)));
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_true(is_live());
	assert_ok(weir_insert_hash(f, test_key(1002)));
	weir_destroy(g);
	assert_ok(weir_seal(f));
	assert_false(is_live());
	assert_ok(weir_verify(h));
	/* it is now as if mapped to read */
	assert_int_equal(missing(f, 0, 1003), 0);
	assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
	assert_refused(weir_insert_keys(f, weir_keys_hashes((uint64_t[]){ 1 }, 1), NULL), -EROFS,
	               "sealed", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
	assert_ok(weir_verify(f));
	/* and in nobody's way */
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_verify(f), -EBUSY, path, "live");
	assert_ok(weir_seal(g));
	weir_destroy(f);
	weir_destroy(g);
	weir_destroy(h);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_int_equal(missing(g, 0, 1003), 0);
	weir_destroy(g);
}

/* A view made before the seal does not know of it: its inserts must not reach the sealed image. */
static void test_a_view_cannot_insert_after_the_seal(void **state)
{
	struct weir_inline_mut view;
	struct weir_filter *f;
	int status;
	(void)state;
	save_fresh(WEIR_BLOCKED, 10);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_inline_init_mut(&view, f));
	assert_ok(weir_inline_insert_hash(&view, test_key(10)));
	assert_ok(weir_seal(f));
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(weir_inline_insert_hash(&view, test_key(11)) < 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_int_equal(missing(f, 0, 11), 0);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_in_several_processes),
		cmocka_unit_test(test_live_loads_are_atomic),
		cmocka_unit_test(test_live_mark_and_seal),
		cmocka_unit_test(test_a_view_cannot_insert_after_the_seal),
	};
	return cmocka_run_group_tests(tests, folder_setup, teardown);
}
