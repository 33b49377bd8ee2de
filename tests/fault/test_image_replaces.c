/* SPDX-License-Identifier: MIT
 * Saves that name the image they were made from (weir_save_options.replaces). A live mapping may
 * insert at any step of a save. No such insert is lost without an error. */
#include <sys/file.h>
#include "live.h"

/* CHANGED is the first key that is inserted before a save. MAPPED is the first key that the mapper
 * inserts. */
enum { CHANGED = 7000, MAPPED = 8000 };

static unsigned steps, /* steps so far */
        turn;          /* the step at which the other process acts */
static int mapped, sealed_it;
static struct weir_filter *changed, *mapper;
static struct weir_save_options options;

static uint64_t commit_of(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.commit;
}

/* Load the image and insert into the loaded filter. */
static int replace_setup(void **state)
{
	(void)live_setup(state);
	options = (struct weir_save_options)WEIR_SAVE_OPTIONS_INIT;
	options.replaces = commit_of(path);
	assert_true(options.replaces != 0);
	assert_ok(weir_load(&changed, weir_location_path(path), NULL));
	assert_int_equal(insert(changed, CHANGED), 0);
	mapper = NULL;
	return 0;
}

static int replace_teardown(void **state)
{
	shim = (struct shim){ 0 };
	weir_destroy(changed);
	return folder_teardown(state);
}

static int replace(void)
{
	return test_done(weir_save(changed, weir_location_path(path), &options));
}

static bool has(uint64_t from)
{
	struct weir_filter *f;
	unsigned n = 0;
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	for (uint64_t i = from; i < from + FEW; i++)
		n += weir_contains_hash(f, test_key(i));
	weir_destroy(f);
	return n == FEW;
}

static void test_a_save_replaces_only_the_image_that_was_read(void **state)
{
	struct weir_image_info live = WEIR_IMAGE_INFO_INIT;
	(void)state;
	assert_ok(replace());
	assert_true(has(CHANGED));
	assert_refused(replace(), -EAGAIN, path, "repeat the change");
	struct weir_filter *f = map_live();
	assert_ok(weir_image_inspect(weir_location_path(path), &live));
	assert_int_equal(live.commit, 0);
	seal_it(f);
	assert_int_equal(unlink(path), 0);
	assert_refused(replace(), -EAGAIN, path, "removed");
	assert_int_not_equal(access(path, F_OK), 0);
}

static void test_a_save_does_not_replace_a_live_image(void **state)
{
	(void)state;
	mapper = map_live();
	assert_int_equal(insert(mapper, MAPPED), 0);
	assert_refused(replace(), -EAGAIN, path, "is live");
	weir_destroy(mapper); /* the image stays live */
	assert_refused(replace(), -EAGAIN, path, "is live");
	seal_it(map_live());
	assert_refused(replace(), -EAGAIN, path, "inserted into");
	assert_true(has(MAPPED) && !has(CHANGED));
	options.replaces = 0;
	assert_ok(replace());
	assert_true(!has(MAPPED) && has(CHANGED));
}

static void map_and_seal(void)
{
	mapped = weir_load(&mapper, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	if (mapped)
		return;
	assert_int_equal(insert(mapper, MAPPED), 0);
	sealed_it = weir_seal(mapper);
	weir_destroy(mapper);
}

static void another_maps(const struct shim_call *call)
{
	(void)call;
	const char *refused = shim.refused; /* the call that the shim refuses to the save */
	if (++steps != turn)
		return;
	shim.refused = NULL;
	map_and_seal();
	shim.refused = refused;
}

/* Save while a process maps and seals at step number turn. Return: true if the save reached that
 * step. */
static bool mapper_came(int *answer)
{
	steps = 0;
	mapped = sealed_it = 0;
	shim.look = another_maps;
	*answer = replace();
	shim.look = NULL;
	return steps >= turn;
}

/* Either the save or the mapper is refused, or the image has the keys of both. */
static void test_no_insert_is_lost_at_any_step_of_a_save(void **state)
{
	unsigned saved = 0, refused = 0, kept_out = 0;
	int answer;
	(void)state;
	for (turn = 1; mapper_came(&answer); turn++) {
		if (mapped) {
			assert_int_equal(mapped, -EBUSY);
			assert_ok(answer);
			kept_out++;
		} else if (answer) {
			assert_int_equal(answer, -EAGAIN);
			assert_ok(sealed_it);
			assert_true(has(MAPPED));
			refused++;
		} else {
			assert_ok(sealed_it);
			assert_true(has(MAPPED) && has(CHANGED)); /* the mapper came second */
			saved++;
		}
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(refused > 3 && kept_out > 0 && saved > 0);
}

/* A save comes at each step of a mapper that has the old file open. */
static void another_saves(const struct shim_call *call)
{
	(void)call;
	if (++steps == turn)
		sealed_it = replace();
}

static void test_no_mapper_goes_live_in_a_replaced_file(void **state)
{
	unsigned saved = 0, refused = 0;
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		sealed_it = 0;
		shim.look = another_saves;
		struct weir_filter *f = map_live();
		shim.look = NULL;
		if (steps < turn) {
			seal_it(f);
			break;
		}
		assert_true(sealed_it == 0 || sealed_it == -EAGAIN);
		saved += sealed_it == 0;
		refused += sealed_it != 0;
		assert_int_equal(insert(f, MAPPED), 0);
		seal_it(f);
		assert_true(has(MAPPED) && has(CHANGED) == (sealed_it == 0));
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(saved > 3 && refused > 3);
}

/* The later save lacks the keys of the earlier save, so one of the two must be refused. */
static void test_one_of_two_saves_of_one_image_is_refused(void **state)
{
	unsigned first = 0, second = 0;
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		shim.look = another_saves;
		int answer = replace();
		shim.look = NULL;
		if (steps < turn)
			break;
		assert_int_equal(answer + sealed_it, -EAGAIN);
		first += answer == 0;
		second += answer != 0;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(first > 3 && second > 3);
}

/* A saver without write access to the image cannot lock it, so it may notice the mapper only after
 * the rename. The answer is then -ENOTRECOVERABLE. An answer of -EAGAIN would mean "not replaced",
 * and the caller would save again over the new image. */
static void test_a_mapper_is_noticed_without_a_lock(void **state)
{
	unsigned late = 0, refused = 0;
	int answer;
	(void)state;
	for (turn = 1;; turn++) {
		shim.refused = "fcntl";
		shim.refused_error = EBADF;
		bool did = mapper_came(&answer);
		shim.refused = NULL;
		if (!did)
			break;
		bool in_place = answer && strstr(weir_error_detail(), "is in place") != NULL;
		late += in_place;
		refused += answer != 0;
		assert_true(answer == 0 || answer == (in_place ? -ENOTRECOVERABLE : -EAGAIN));
		assert_true(answer || mapped || has(MAPPED));
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(late > 0 && refused > late);
}

/* Another process creates the first image at the path, and inserts into it. */
static void another_makes(const struct shim_call *call)
{
	(void)call;
	const char *refused = shim.refused;
	if (++steps != turn)
		return;
	shim.refused = NULL;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.replaces = WEIR_REPLACES_NOTHING;
	sealed_it = test_done(weir_save(f, weir_location_path(path), &o));
	weir_destroy(f);
	if (!sealed_it)
		map_and_seal();
	shim.refused = refused;
}

/* Two savers each save the first image at the path, and one of the saves must fail. @empty: the
 * path has an empty file; otherwise the path has no file. @refused: a call that the shim refuses,
 * or NULL. */
static void save_in_place_of_nothing(bool empty, const char *refused)
{
	unsigned first = 0, second = 0;
	for (turn = 1;; turn++) {
		options.replaces = WEIR_REPLACES_NOTHING;
		assert_int_equal(empty ? truncate(path, 0) : unlink(path), 0);
		steps = 0;
		mapped = 0;
		shim.refused = refused;
		shim.refused_error = EOPNOTSUPP;
		shim.look = another_makes;
		int answer = replace();
		shim.look = NULL;
		shim.refused = NULL;
		if (steps < turn)
			break;
		assert_int_equal(answer + sealed_it, -EAGAIN);
		assert_true(answer ? has(MAPPED) : has(CHANGED));
		first += answer == 0;
		second += answer != 0;
		(void)replace_teardown(NULL);
		(void)replace_setup(NULL);
	}
	assert_true(first > 1 && second > 3);
}

static void test_a_save_keeps_a_file_that_appears(void **state)
{
	(void)state;
	assert_refused((options.replaces = WEIR_REPLACES_NOTHING, replace()), -EAGAIN, path,
	               "not replaced");
	save_in_place_of_nothing(false, NULL);
	save_in_place_of_nothing(false, "linkat ."); /* the new file has a temporary name at once */
}

static void test_a_save_keeps_a_file_put_over_an_empty_one(void **state)
{
	(void)state;
	save_in_place_of_nothing(true, NULL);
}

static int lock_it(int flags, short type)
{
	const struct flock lock = { .l_type = type, .l_start = 504, .l_len = 8 };
	int fd = open(path, flags | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	return fd;
}

static void test_a_readers_lock_does_not_prevent_a_save(void **state)
{
	(void)state;
	int fd = lock_it(O_RDONLY, F_RDLCK);
	assert_ok(replace());
	assert_true(has(CHANGED));
	close(fd);
	options.replaces = commit_of(path);
	fd = lock_it(O_RDWR, F_WRLCK); /* another saver would take the same lock */
	assert_refused(replace(), -EAGAIN, path, "lslocks");
	close(fd);
	assert_ok(replace());
}

static void test_no_insert_is_lost_under_a_readers_lock(void **state)
{
	unsigned late = 0, refused = 0;
	int answer;
	(void)state;
	for (turn = 1;; turn++) {
		int fd = lock_it(O_RDONLY, F_RDLCK);
		bool did = mapper_came(&answer);
		close(fd);
		if (!did)
			break;
		assert_int_equal(mapped, 0);
		assert_true(answer || has(MAPPED));
		late += answer == -ENOTRECOVERABLE;
		refused += answer == -EAGAIN;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(late > 0 && refused > 3);
}

/* A reader has locked the image, and a save comes at each step of a mapper. */
static void test_mapped_inserts_survive_a_save_under_a_readers_lock(void **state)
{
	char name[256];
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		int fd = lock_it(O_RDONLY, F_RDLCK);
		shim.look = another_saves;
		struct weir_filter *f = map_live();
		shim.look = NULL;
		close(fd);
		assert_int_equal(insert(f, MAPPED), 0);
		seal_it(f);
		assert_true(has(MAPPED));
		assert_int_equal(folder_entries(folder, "set.weir", name), 0);
		if (steps < turn)
			break;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
}

/* ---- saves that are refused or killed, also while a reader has locked the image ---- */

static int status_of(pid_t child)
{
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void another_process_saves(const struct shim_call *call)
{
	(void)call;
	if (++steps != turn)
		return;
	pid_t child = new_process();
	if (child == 0)
		_exit(-replace());
	sealed_it = -status_of(child);
}

static int lock_as_a_reader(void)
{
	int fd = lock_it(O_RDONLY, F_RDLCK), at = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	assert_int_equal(flock(at, LOCK_SH | LOCK_NB), 0);
	close(at);
	return fd;
}

/* Neither saver can lock the image, and one of the two is refused. The refused save leaves no
 * temporary file. */
static void test_do_two_saves_replace_an_image_that_a_reader_has_locked(void **state)
{
	unsigned first = 0, second = 0;
	char name[256];
	(void)state;
	for (turn = 1;; turn++) {
		int fd = lock_as_a_reader();
		steps = 0;
		shim.look = another_process_saves;
		int answer = replace();
		shim.look = NULL;
		close(fd);
		if (steps < turn)
			break;
		assert_int_equal(answer + sealed_it, -EAGAIN);
		assert_int_equal(folder_entries(folder, "set.weir", name), 0);
		first += answer == 0;
		second += answer != 0;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(first > 3 && second > 3);
}

static void die_at_the_turn(const struct shim_call *call)
{
	(void)call;
	if (++steps == turn)
		_exit(1);
}

/* A save is killed at each step, also while its claim file ([TEMP-CLAIM] in temporary.c) is
 * locked. */
static void test_a_killed_save_does_not_block_the_next(void **state)
{
	char name[256];
	unsigned died = 1, taken = 0;
	(void)state;
	for (turn = 1; died; turn++) {
		int fd = lock_as_a_reader();
		pid_t child = new_process();
		if (child == 0) {
			steps = 0;
			shim.look = die_at_the_turn;
			_exit(-replace());
		}
		died = status_of(child) == 1;
		int answer = replace();
		close(fd);
		assert_true(answer == 0 || (answer == -EAGAIN && has(CHANGED)));
		assert_int_equal(folder_entries(folder, "set.weir", name), 0);
		taken += answer == 0;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(taken > 3);
}

static void count_writes(const struct shim_call *call)
{
	turn += strcmp(call->what, "pwrite64") == 0 || strcmp(call->what, "write") == 0;
}

static void test_a_refused_save_writes_nothing(void **state)
{
	(void)state;
	mapper = map_live();
	assert_int_equal(insert(mapper, MAPPED), 0);
	turn = 0;
	shim.look = count_writes;
	assert_refused(replace(), -EAGAIN, path, "is live");
	assert_int_equal(turn, 0);
	seal_it(mapper);
	assert_refused(replace(), -EAGAIN, path, "inserted into");
	assert_int_equal(turn, 0);
	options.replaces = 0;
	assert_ok(replace());
	assert_true(turn > 0);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, replace_setup, replace_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_a_save_replaces_only_the_image_that_was_read),
		fresh(test_a_save_does_not_replace_a_live_image),
		fresh(test_no_insert_is_lost_at_any_step_of_a_save),
		fresh(test_no_mapper_goes_live_in_a_replaced_file),
		fresh(test_one_of_two_saves_of_one_image_is_refused),
		fresh(test_a_mapper_is_noticed_without_a_lock),
		fresh(test_a_save_keeps_a_file_that_appears),
		fresh(test_a_save_keeps_a_file_put_over_an_empty_one),
		fresh(test_a_readers_lock_does_not_prevent_a_save),
		fresh(test_no_insert_is_lost_under_a_readers_lock),
		fresh(test_mapped_inserts_survive_a_save_under_a_readers_lock),
		fresh(test_do_two_saves_replace_an_image_that_a_reader_has_locked),
		fresh(test_a_killed_save_does_not_block_the_next),
		fresh(test_a_refused_save_writes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
