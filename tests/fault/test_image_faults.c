/* SPDX-License-Identifier: MIT
 * The n-th system call of weir fails, for every n and several errors, in each call of the list
 * verbs: saves, loads, mappings, copies and checks of an image. The call reports the failure in an
 * error text, or does without the system call. The file is the whole old file or the whole new
 * file. Nothing leaks, and no temporary file stays. If every read and write is interrupted and
 * short, the call still succeeds. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include "cost.h"
#include "faults.h"

enum { MOST_CALLS = 2000 };

/* f has two shards, large has more than 2 MiB, and grown has three layers. */
static struct weir_filter *f, *large, *grown;

static int setup(void **state)
{
	(void)folder_setup(state);
	f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	large = test_filter(WEIR_BLOCKED, 1800000, 0.01);
	grown = test_filter(WEIR_GROWING, 100, 0.01);
	for (uint64_t i = 0; i < 1000; i++)
		if (weir_insert_hash(f, test_key(i)) < 0 ||
		    weir_insert_hash(large, test_key(i)) < 0 ||
		    weir_insert_hash(grown, test_key(i)) < 0)
			return -1;
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(f), weir_destroy(large), weir_destroy(grown);
	(void)folder_teardown(state);
	return 0;
}

/* ---- the calls under test: each works on path and cleans up ---- */

static int save_with(int level)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = level;
	o.generation = 2;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

static int do_save(void) { return save_with(0); }
static int do_info(void)
{
	return weir_image_inspect(weir_location_path(path),
	                          &(struct weir_image_info)WEIR_IMAGE_INFO_INIT);
}

static int do_stats(void)
{
	return weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL,
	                          &(struct weir_stats)WEIR_STATS_INIT);
}

static int do_save_new(void)
{
	unlink(path);
	return save_with(0);
}

/* If the shim hides the link (ENOENT), the save replaces the link by a file. */
static int do_save_through_a_link(void)
{
	char link[4200];
	struct stat st;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 2;
	snprintf(link, sizeof link, "%s-link", folder);
	assert_int_equal(symlink(path, link), 0);
	int err = test_done(weir_save(f, weir_location_path(link), &o));
	assert_int_equal(lstat(link, &st), 0);
	assert_int_equal(S_ISLNK(st.st_mode) ? unlink(link) : rename(link, path), 0);
	return err;
}

static int do_save_fd(void)
{
	int fd = memfd_create("image", 0);
	int err = test_done(weir_save(f, weir_location_fd(fd), NULL));
	close(fd);
	return err;
}

/* Copy the image over itself. */
static int copy_with(int level)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = level;
	return test_done(weir_image_copy(weir_location_path(path), weir_location_path(path), NULL,
	                                 &o));
}

static int do_copy_image(void) { return copy_with(0); }
static int do_copy_to_room(void)
{
	static _Alignas(64) unsigned char memory[1 << 20];
	return test_done(weir_image_copy(weir_location_room(memory, sizeof memory),
	                                 weir_location_path(path), NULL, NULL));
}

static int used(int err, struct weir_filter *g)
{
	if (err)
		return err;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(weir_contains_hash(g, test_key(i)));
	weir_destroy(g);
	return 0;
}

static int do_load(void)
{
	struct weir_filter *g = NULL;
	int err = weir_load(&g, weir_location_path(path), NULL);
	return used(err, g);
}

static int do_copy(void)
{
	struct weir_filter *g = NULL;
	int err = weir_clone(&g, grown);
	return used(err, g);
}

static int map_as(enum weir_map_mode mode)
{
	struct weir_filter *g = NULL;
	int err = weir_load(&g, weir_location_map(path, mode), NULL);
	if (!err && mode == WEIR_MAP_LIVE) {
		err = weir_seal(g);
		if (err)
			weir_destroy(g);
	}
	return used(err, g);
}

static int do_verify(void) { return weir_image_verify(weir_location_path(path), NULL, NULL); }
static int do_map_read(void) { return map_as(WEIR_MAP_READ); }
static int do_map_private(void) { return map_as(WEIR_MAP_PRIVATE); }
static int do_map_live(void) { return map_as(WEIR_MAP_LIVE); }
#if TEST_ZSTD
static int do_save_zstd(void) { return save_with(1); }
static int do_pack(void) { return copy_with(1); }
#endif

struct verb {
	const char *name;
	int (*run)(void);
	bool no_tmpfile, replaces, creates, lives, large, grown;
	int level; /* zstd level of the image that run() works on */
};

static const struct verb verbs[] = {
	{ .name = "save", .run = do_save, .replaces = true },
	{ .name = "save to a new name", .run = do_save_new, .creates = true },
	{ .name = "save without O_TMPFILE", .run = do_save, .replaces = true, .no_tmpfile = true },
	{ .name = "save through a link", .run = do_save_through_a_link, .replaces = true },
	{ .name = "save_fd", .run = do_save_fd },
	{ .name = "copy an image", .run = do_copy_image },
	{ .name = "copy to room", .run = do_copy_to_room },
	{ .name = "load", .run = do_load },
	{ .name = "info", .run = do_info },
	{ .name = "stats", .run = do_stats },
	{ .name = "verify", .run = do_verify },
	{ .name = "map read-only", .run = do_map_read },
	{ .name = "map private", .run = do_map_private },
	{ .name = "map live and seal", .run = do_map_live, .lives = true },
	{ .name = "load layers", .run = do_load, .grown = true },
	{ .name = "map layers", .run = do_map_private, .grown = true },
	{ .name = "copy layers", .run = do_copy },
#if TEST_ZSTD
	{ .name = "save compressed", .run = do_save_zstd, .replaces = true },
	{ .name = "pack", .run = do_pack },
	{ .name = "pack layers", .run = do_pack, .grown = true },
	{ .name = "unpack", .run = do_copy_image, .level = 1 },
	{ .name = "load compressed", .run = do_load, .level = 1 },
	{ .name = "stats compressed", .run = do_stats, .level = 1 },
	{ .name = "verify compressed", .run = do_verify, .level = 1 },
#endif
};

static void fresh(const struct verb *verb)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 1;
	o.zstd_level = verb->level;
	unlink(path);
	assert_ok(weir_save(verb->grown ? grown : verb->large ? large : f,
	                    weir_location_path(path), &o));
}

/* After a failure the image may be live and have a lock file. The next seal must clear both. */
static void take_over(int answer)
{
	struct weir_filter *g = NULL;
	int err = weir_load(&g, weir_location_path(path), NULL);
	assert_ok(err == -EBUSY && answer < 0 ? 0 : err);
	weir_destroy(g);
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_seal(g));
	weir_destroy(g);
}

/* Check that the folder has a whole image and nothing else. After a failed first save the folder
 * may be empty. */
static void assert_whole(const struct verb *verb, int answer)
{
	char name[256];
	if (verb->lives)
		take_over(answer);
	if (folder_entries(folder, "set.weir", name))
		fail_msg("%s: %s stays", verb->name, name);
	if (verb->creates && access(path, F_OK)) {
		assert_true(answer < 0);
		return;
	}
	uint64_t generation = generation_of(path);
	assert_true(generation == (answer == 0 && (verb->replaces || verb->creates) ? 2 : 1) ||
	            (answer < 0 && strstr(weir_error_detail(), "in place")));
	assert_ok(do_load());
}

static int run(const struct verb *verb)
{
	shim.calls = 0;
	shim.allocated = 0;
	shim.what = NULL;
	shim.no_tmpfile = verb->no_tmpfile;
	shim.armed = true;
	int answer = verb->run();
	shim.armed = false;
	return answer;
}

/* Run the verb while its n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(const struct verb *verb, unsigned n, int error)
{
	char sentence[600], what[64];
	fresh(verb);
	unsigned descriptors = open_descriptors();
	shim.at = n;
	shim.error = error;
	/* set another error text first, so that the check below notices a missing one */
	assert_int_equal(weir_load(&(struct weir_filter *){ NULL }, weir_location_path(""), NULL),
	                 -ENOENT);
	int answer = run(verb);
	snprintf(sentence, sizeof sentence, "%s", weir_error_detail());
	snprintf(what, sizeof what, "%s", shim.what ? shim.what : "none");
	shim.at = 0;
	if (answer < 0 &&
	    (strncmp(sentence, ": cannot open", 13) == 0 || !*sentence || answer < -133))
		fail_msg("%s: call %u (%s, %s): answered %d, \"%s\"", verb->name, n, what,
		         strerror(error), answer, sentence);
	if (open_descriptors() != descriptors || shim.allocated || mappings_of(folder))
		fail_msg("%s: call %u (%s): %u descriptors more, %ld allocations, %u mappings",
		         verb->name, n, what, open_descriptors() - descriptors, shim.allocated,
		         mappings_of(folder));
	assert_whole(verb, answer);
	return strcmp(what, "none") != 0;
}

static void test_every_call_fails(void **state)
{
	static const int errors[] = { EIO,    ENOSPC, ENOMEM, EACCES, EINTR,
	                              EEXIST, ENOENT, EINVAL, ENOSYS };
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++) {
			unsigned n = 1;
			if (test_is_short() && (v + e) % 3 != 0)
				continue;
			while (n < MOST_CALLS && fail_at(&verbs[v], n, errors[e]))
				n++;
			assert_in_range(n, 4, MOST_CALLS - 1);
			if (e == 0)
				print_message("%s: %u calls\n", verbs[v].name, n - 1);
		}
}

/* Fail only the last ten calls, which make the mapping. The calls before them read the image's
 * reserved bytes. */
static void test_a_large_mapping_fails(void **state)
{
	static const struct verb map = { .name = "map a large one", .run = do_map_read,
	                                 .large = true };
	(void)state;
	fresh(&map);
	assert_ok(run(&map));
	uint64_t before = address_space();
	for (unsigned calls = shim.calls, n = calls - 9; n <= calls; n++)
		assert_true(fail_at(&map, n, ENOMEM));
	assert_true(address_space() < before + 2 * MIB);
}

static void test_interrupted_and_short(void **state)
{
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		fresh(&verbs[v]);
		shim.trickle = true;
		int answer = run(&verbs[v]);
		shim.trickle = false;
		assert_ok(answer);
		assert_whole(&verbs[v], 0);
	}
}

/* Some network and user-space file systems interrupt an open. */
static void test_an_interrupted_open_is_tried_again(void **state)
{
	unsigned opened = 0;
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		if (verbs[v].replaces || verbs[v].creates || verbs[v].run == do_save_fd)
			continue;
		bool interrupted = false;
		for (unsigned n = 1; n < MOST_CALLS && !interrupted; n++) {
			fresh(&verbs[v]);
			shim.at = n;
			shim.error = EINTR;
			int answer = run(&verbs[v]);
			shim.at = 0;
			interrupted = shim.what && strcmp(shim.what, "open") == 0;
			if (interrupted)
				assert_ok(answer);
			assert_whole(&verbs[v], answer);
		}
		opened += interrupted;
	}
	assert_true(opened >= 5);
}

/* A program that another thread starts must not inherit a descriptor of weir. */
static bool open_before[64];

static void all_closed_on_exec(const struct shim_call *call)
{
	for (int fd = 0; fd < (int)COUNT_OF(open_before); fd++) {
		int flags = fcntl(fd, F_GETFD);
		if (flags >= 0 && !(flags & FD_CLOEXEC) && !open_before[fd])
			fail_msg("%s: descriptor %d would go to another program", call->what, fd);
	}
}

static void test_no_descriptor_goes_to_another_program(void **state)
{
	(void)state;
	for (int fd = 0; fd < (int)COUNT_OF(open_before); fd++)
		open_before[fd] = fcntl(fd, F_GETFD) >= 0;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		if (verbs[v].run == do_save_fd) /* the descriptor belongs to the caller */
			continue;
		fresh(&verbs[v]);
		shim.look = all_closed_on_exec;
		int answer = run(&verbs[v]);
		shim.look = NULL;
		assert_ok(answer);
	}
}

static void test_no_reserve(void **state)
{
	(void)state;
	fresh(&verbs[0]);
	shim.no_reserve = true;
	assert_ok(run(&verbs[0]));
	shim.no_reserve = false;
	assert_whole(&verbs[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call_fails),
		cmocka_unit_test(test_a_large_mapping_fails),
		cmocka_unit_test(test_interrupted_and_short),
		cmocka_unit_test(test_an_interrupted_open_is_tried_again),
		cmocka_unit_test(test_no_descriptor_goes_to_another_program),
		cmocka_unit_test(test_no_reserve),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
