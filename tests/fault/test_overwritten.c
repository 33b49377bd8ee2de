/* SPDX-License-Identifier: MIT
 * An image is overwritten in place (cp, truncate) after a server has loaded it, or while a server
 * reads it. No process is killed, no answer changes, and a half-written file is read again. */
#include <errno.h>
#include "faults.h"
#include "../followers.h"

enum { KEYS = 300 };

static struct weir_handle *h;
static unsigned char *first, /* an image whose keys begin at 0 */
        *second;             /* an image of equal size whose keys begin at KEYS */
static size_t length;

static int open_it(void **state)
{
	size_t n = 0;
	(void)setup(state);
	shim = (struct shim){ .armed = false };
	h = open_handle(flavors, 10000);
	save(KEYS, 3 * KEYS);
	second = image_slurp(path, &length);
	save(0, 2 * KEYS);
	first = image_slurp(path, &n);
	assert_int_equal(n, length);
	return 0;
}

static int close_it(void **state)
{
	shim = (struct shim){ .armed = false };
	free(first);
	free(second);
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* Write in place, and truncate the file to the end of the written bytes, as cp and dd do. */
static void overwrite(const unsigned char *bytes, size_t from, size_t to)
{
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, bytes + from, to - from, (off_t)from), to - from);
	assert_int_equal(ftruncate(fd, (off_t)to), 0);
	close(fd);
}

static void test_a_file_overwritten_after_it_was_taken_over(void **state)
{
	(void)state;
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(missing_in(h, 0, 2 * KEYS), 0); /* lookups must not raise SIGBUS */
	insert_into(h, 5000, 5100);
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "empty");
	overwrite(second, 0, length);
	assert_int_equal(missing_in(h, 0, 2 * KEYS), 0);
	assert_true(missing_in(h, 2 * KEYS, 3 * KEYS) > KEYS / 2); /* no new key is found */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, KEYS, 3 * KEYS), 0);
}

/* The one change that change_it() makes while a refresh reads the file. */
static enum { SHORTEN, CUT, REPLACE, CHANGES } change;

static unsigned reads;

/* Change the file between the read of its head and the second read. */
static void change_it(const struct shim_call *call)
{
	if (strcmp(call->what, "read") || ++reads != 2)
		return;
	if (change == REPLACE)
		overwrite(second, 0, length);
	else
		assert_int_equal(truncate(path, change == CUT ? 0 : (off_t)length - 100), 0);
}

static void test_a_file_overwritten_while_it_is_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CHANGES; i++) {
		overwrite(first, 0, length);
		change = i, reads = 0;
		shim.look = change_it;
		assert_refused(weir_handle_refresh(h, path, NULL), -EBUSY, path,
		               "while it was read");
		shim.look = NULL;
		assert_true(reads >= 2);
		assert_int_equal(stats_of(h).refused, 0);
		overwrite(second, 0, length);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
		assert_int_equal(missing_in(h, KEYS, 3 * KEYS), 0);
	}
}

static void change_its_rights(const struct shim_call *call)
{
	if (strcmp(call->what, "read") == 0 && ++reads == 2)
		assert_int_equal(chmod(path, 0640), 0);
}

/* New access rights change no byte, so the handle remembers the file as damaged. */
static void test_a_damaged_file_whose_rights_change_while_it_is_read(void **state)
{
	(void)state;
	first[length - 1] ^= 1;
	overwrite(first, 0, length);
	usleep(20000); /* ctime has the resolution of the kernel's tick */
	reads = 0;
	shim.look = change_its_rights;
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "shard");
	shim.look = NULL;
	assert_true(reads >= 2);
	assert_int_equal(stats_of(h).refused, 1);
}

/* At first the file has the new head and the old bits, so a refresh fails. The new bits follow
 * within a tick of the clock, so the file's times, size and commit record stay the same. A later
 * refresh must still notice the new bits. */
static void test_a_file_that_was_half_overwritten_within_a_tick(void **state)
{
	struct weir_handle_stats before;
	(void)state;
	shim.same_times = true;
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	memcpy(first, second, IMAGE_PAGE);
	overwrite(first, 0, length);
	before = stats_of(h);
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "shard");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0); /* the file has not changed */
	assert_one_refused_since(h, &before);
	assert_int_equal(missing_in(h, 0, 2 * KEYS), 0);
	overwrite(second, 0, length);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, KEYS, 3 * KEYS), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
}

/* A job copies a new file in pieces over the file that a server follows. */
static void test_a_followed_file_that_is_copied_over(void **state)
{
	(void)state;
	struct weir_follower *f = follow(h, often, false);
	expect(flavors, 1, 0);
	for (unsigned turn = 0; turn < 40; turn++) {
		const unsigned char *image = turn % 2 ? first : second;
		assert_int_equal(truncate(path, 0), 0);
		for (size_t at = 0; at < length; at += 1 + length / 7) {
			size_t to = at + 1 + length / 7;
			overwrite(image, at, to < length ? to : length);
			/* both images have these keys */
			assert_int_equal(missing_in(h, KEYS, 2 * KEYS), 0);
		}
	}
	for (unsigned i = 0; missing_in(h, 0, 2 * KEYS) && i < 10000; i++)
		usleep(2000);
	assert_int_equal(missing_in(h, 0, 2 * KEYS), 0);
	assert_ok(weir_follower_stop(f));
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_a_file_overwritten_after_it_was_taken_over),
		fresh(test_a_file_overwritten_while_it_is_read),
		fresh(test_a_damaged_file_whose_rights_change_while_it_is_read),
		fresh(test_a_file_that_was_half_overwritten_within_a_tick),
		fresh(test_a_followed_file_that_is_copied_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
