/* SPDX-License-Identifier: MIT
 * Several processes map one image live, seal it, verify it and load it at the same time. The image
 * is always live, or sealed and valid. A call that conflicts with another call is refused, and its
 * error names the image. */
#include "live.h"

/* ---- one process seals the image, and another process maps it at every step ---- */

static unsigned steps, /* steps so far */
        turn;          /* the step at which the other process acts */
static struct weir_filter *other;
static int other_answer;

static void other_comes(const struct shim_call *call)
{
	(void)call;
	if (++steps != turn)
		return;
	other = NULL;
	other_answer = weir_load(&other, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	if (!other_answer)
		assert_int_equal(insert(other, 2 * FEW), 0);
}

static void test_sealing_against_a_new_live_mapper(void **state)
{
	unsigned came = 0, refused = 0;
	(void)state;
	for (turn = 1;; turn++) {
		struct weir_filter *f = map_live();
		assert_int_equal(insert(f, FEW), 0);
		steps = 0;
		shim.look = other_comes;
		int answer = weir_seal(f);
		shim.look = NULL;
		if (steps < turn) {
			assert_ok(answer);
			weir_destroy(f);
			break;
		}
		if (other_answer == 0 && answer == 0) { /* the other process came after the seal */
			assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
			came++;
		} else if (other_answer == 0) {
			assert_int_equal(answer, -EBUSY);
			assert_false(sealed());
			came++;
		} else {
			assert_ok(answer);
			assert_int_equal(other_answer, -EBUSY);
			assert_true(sealed());
			refused++;
		}
		weir_destroy(f);
		if (other) {
			assert_has(other, 2 * FEW);
			seal_it(other);
		}
	}
	assert_true(came > 0 && refused > 3);
	assert_true(sealed());
}

/* ---- the image's path and its lock file while a mapper maps the image ---- */

static unsigned unmarked;

static void other_marks_it_and_fails(const struct shim_call *call)
{
	struct weir_filter *f = NULL;
	(void)call;
	if (++steps != turn)
		return;
	shim.refused = "ftruncate64";
	shim.refused_error = EIO;
	unmarked += weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL) == -EIO;
	shim.refused = NULL;
	weir_destroy(f); /* this mapping succeeded after the last step */
}

/* Another process marks the image live, but fails before it marks the lock file. The mapper under
 * test must then mark the lock file. */
static void test_has_a_live_mapping_its_home(void **state)
{
	char lock[4400];
	struct stat st;
	(void)state;
	name_lock(lock);
	for (turn = 1;; turn++) {
		steps = 0;
		shim.look = other_marks_it_and_fails;
		other = map_live();
		shim.look = NULL;
		assert_int_equal(stat(lock, &st), 0);
		assert_int_equal(st.st_size, 1);
		seal_it(other);
		if (steps < turn)
			break;
	}
	assert_true(unmarked > 3);
}

static void other_replaces_it(const struct shim_call *call)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	if (strcmp(call->what, "fgetxattr") == 0 && !steps++)
		assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

/* An image is replaced while it is mapped. The mapper opens the new image and inserts into it. */
static void test_is_an_image_that_was_replaced_meanwhile_mapped(void **state)
{
	struct weir_filter *f;
	(void)state;
	steps = 0;
	shim.look = other_replaces_it;
	other = map_live();
	shim.look = NULL;
	assert_true(steps > 1);
	assert_int_equal(insert(other, FEW), 0);
	seal_it(other);
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_has(f, FEW);
	weir_destroy(f);
}

/* If the access list of the lock file cannot be removed, the group bits of the lock file's mode are
 * the mask of that list. So weir gives such a lock file no group bits. */
static void test_does_a_list_that_stays_open_the_lock_file(void **state)
{
	char lock[4400];
	struct stat st;
	(void)state;
	name_lock(lock);
	assert_int_equal(chmod(path, 0660), 0);
	for (int stays = 0; stays < 2; stays++) {
		shim.refused = stays ? "fremovexattr" : NULL;
		shim.refused_error = EIO;
		struct weir_filter *f = map_live();
		shim.refused = NULL;
		assert_int_equal(stat(lock, &st), 0);
		assert_int_equal(st.st_mode & 0777, stays ? 0600 : 0660);
		seal_it(f);
	}
}

/* ---- an image that goes live while it is verified or read ---- */

static void other_inserts(const struct shim_call *call)
{
	if (strcmp(call->what, "preface_check") == 0 && ++steps == turn) {
		other = map_live();
		assert_int_equal(insert(other, (20 + turn) * FEW), 0);
		if (turn == 2)
			return;
		assert_ok(weir_seal(other)); /* the bits and the checksums change */
	}
}

/* A live mapping changes the bits while weir_verify() reads them. In the first round it does not
 * seal the image. In the second round it seals the image, which changes the checksums too. */
static void test_verified_while_it_goes_live(void **state)
{
	(void)state;
	for (turn = 2; turn; turn--) {
		struct weir_filter *f;
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		steps = 0;
		shim.look = other_inserts;
		int answer = weir_verify(f);
		shim.look = NULL;
		assert_refused(answer, -EBUSY, path, "live");
		weir_destroy(f);
		if (turn == 2)
			seal_it(other);
		else
			weir_destroy(other);
	}
	assert_true(sealed());
}

static void seals_before_the_head_is_read(const struct shim_call *call)
{
	if (strcmp(call->what, "read") == 0 && steps++ == 0)
		seal_it(map_live());
}

static int goes_live_again(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *keys = arg;
	(void)total;
	if (other)
		return 0;
	other = map_live();
	assert_int_equal(insert(other, *keys), 0);
	*keys += FEW; /* the next call inserts new keys, because old keys change no bit */
	return (int)(done == 0);
}

/* An image that is live, then sealed, then live again during a load is not reported as damaged. */
static void test_sealed_and_live_while_it_is_loaded(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	uint64_t keys = 70 * FEW;
	struct weir_filter *f;
	(void)state;
	o.progress = goes_live_again;
	o.progress_arg = &keys;
	for (unsigned verb = 0; verb < 3; verb++) {
		weir_destroy(map_live());
		assert_false(sealed());
		other = NULL;
		steps = 0;
		shim.look = seals_before_the_head_is_read;
		int answer = verb == 0 ? weir_load(&f, weir_location_path(path), &o) :
		             verb == 1 ? weir_image_verify(weir_location_path(path), &o, NULL) :
		                         weir_image_measure(weir_location_path(path), WEIR_SAMPLED,
		                                            &o, &s);
		shim.look = NULL;
		assert_refused(answer, -EBUSY, path, "while it was read");
		seal_it(other);
	}
}

/* ---- a mapping's lock, and its seal ---- */

static void test_the_lock_was_closed(void **state)
{
	struct weir_filter *f = map_live();
	(void)state;
	closefrom(3); /* a daemon closes all descriptors */
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	char beside[4200];
	snprintf(beside, sizeof beside, "%s/beside", folder);
	/* The number of the closed descriptor is used again: first for a file on another device,
	 * then for a file on the same device. */
	int fd = open("/proc/self/stat", O_RDONLY);
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	close(fd);
	fd = open(beside, O_CREAT | O_RDWR, 0600);
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	weir_destroy(f);
	assert_int_equal(close(fd), 0); /* weir_destroy() has not closed fd */
	seal_it(map_live());
}

/* A forked child keeps the lock and the mapping. */
static void test_a_forked_mapping(void **state)
{
	struct weir_filter *f = map_live();
	int go[2], status;
	char byte;
	(void)state;
	assert_int_equal(pipe(go), 0);
	pid_t child = new_process();
	if (child == 0)
		_exit(read(go[0], &byte, 1) != 1 || insert(f, 9 * FEW) || insert(f, 10 * FEW));
	weir_destroy(f);
	f = map_live();
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_has(f, 9 * FEW);
	seal_it(f);
	close(go[0]), close(go[1]);
}

static unsigned descriptors(void)
{
	unsigned n = 0;
	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A child seals the image, and another mapping makes the image live. The parent cannot seal
 * then. */
static void test_may_a_process_seal_what_its_child_has_sealed(void **state)
{
	struct weir_filter *f = map_live();
	int status;
	(void)state;
	pid_t child = new_process();
	if (child == 0)
		_exit(weir_seal(f) != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(sealed());
	other = map_live();
	const unsigned open = descriptors();
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_int_equal(descriptors(), open);
	assert_false(sealed());
	assert_int_equal(insert(other, FEW), 0);
	weir_destroy(other);
	assert_has(f, FEW);
	seal_it(f);
}

static char its_lock[4400];

/* One mapper removes the lock file, and another mapper creates a new one. */
static void others_go_and_come(const struct shim_call *call)
{
	if (strcmp(call->what, "fcntl") != 0 || ++steps != turn)
		return;
	assert_int_equal(unlink(its_lock), 0);
	other = map_live();
}

/* A seal removes the lock file only if it is still the file that the seal has locked. */
static void test_is_the_lock_file_of_a_new_mapper_removed(void **state)
{
	(void)state;
	name_lock(its_lock);
	turn = 0;
	for (int round = 0; round < 2; round++) {
		struct weir_filter *f = map_live();
		other = NULL;
		steps = 0;
		shim.look = others_go_and_come;
		assert_ok(weir_seal(f));
		shim.look = NULL;
		turn = steps;
		weir_destroy(f);
	}
	assert_non_null(other);
	assert_int_equal(access(its_lock, F_OK), 0);
	seal_it(other);
	assert_int_equal(access(its_lock, F_OK), -1);
}

/* A mapping releases its lock and closes its descriptors only once, at its seal. A second close or
 * unlock would hit a file that is opened later, because the kernel reuses descriptor numbers. */
static void test_a_sealed_mapping_closes_nothing_more(void **state)
{
	struct weir_filter *f = map_live();
	(void)state;
	assert_ok(weir_seal(f));
	seal_it(map_live());
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	weir_destroy(f);
	assert_int_equal(close(fd), 0); /* weir_destroy() has not closed fd */
}

/* A seal that fails leaves the image live, and another mapper can map it. In a folder that other
 * users may write to, the seal locks the lock file and the image. */
static void test_a_seal_that_fails_locks_nobody_out(void **state)
{
	(void)state;
	for (mode_t mode = 0700; mode <= 0777; mode += 0077) {
		struct weir_filter *f = map_live();
		assert_int_equal(chmod(folder, mode), 0);
		assert_int_equal(insert(f, FEW), 0);
		shim.refused = "msync";
		shim.refused_error = EIO;
		assert_refused(weir_seal(f), -EIO, path, "cannot sync");
		shim.refused = NULL;
		other = map_live();
		assert_int_equal(insert(other, 2 * FEW), 0);
		assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
		weir_destroy(other);
		assert_has(f, 2 * FEW);
		seal_it(f);
	}
}

/* The commit record is stored but cannot be synced, so the mapping accepts no further insert. */
static void test_the_last_sync_fails(void **state)
{
	unsigned n = 0;
	bool last = false;
	(void)state;
	while (!last) {
		struct weir_filter *f = map_live();
		assert_int_equal(insert(f, 11 * FEW), 0);
		shim.armed = true;
		shim.calls = 0;
		shim.at = ++n;
		shim.error = EIO;
		int answer = weir_seal(f);
		shim.armed = false;
		last = answer == -EIO && strstr(weir_error_detail(), "is sealed");
		assert_true(last || n < MOST_STEPS);
		assert_true(sealed() == (answer == 0 || last));
		if (last)
			assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
		weir_destroy(f);
	}
	assert_true(sealed());
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, live_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_sealing_against_a_new_live_mapper),
		fresh(test_has_a_live_mapping_its_home),
		fresh(test_is_an_image_that_was_replaced_meanwhile_mapped),
		fresh(test_does_a_list_that_stays_open_the_lock_file),
		fresh(test_verified_while_it_goes_live),
		fresh(test_sealed_and_live_while_it_is_loaded),
		fresh(test_the_lock_was_closed),
		fresh(test_a_forked_mapping),
		fresh(test_may_a_process_seal_what_its_child_has_sealed),
		fresh(test_is_the_lock_file_of_a_new_mapper_removed),
		fresh(test_a_sealed_mapping_closes_nothing_more),
		fresh(test_a_seal_that_fails_locks_nobody_out),
		fresh(test_the_last_sync_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
