/* SPDX-License-Identifier: MIT
 * Following a file: the changes that the follower detects by inotify and by polling, and its
 * reports. */
#include "../image_bytes.h"
#include "../followers.h"

static struct weir_follower *untouched;

static void damage(void)
{
	assert_true(image_spit(other, "nonsense", 8));
	assert_int_equal(rename(other, path), 0);
}

static void test_new_files_are_swapped_in(void **state)
{
	(void)state;
	for (unsigned polling = 0; polling < 2; polling++)
		FOR_EACH_FLAVOR(flavor) {
			struct weir_handle *h = open_handle(flavor, 10000);
			heard.swaps = 0;
			save(0, 100);
			struct weir_follower *f = follow(h, polling ? often : never, polling);
			expect(flavor, 1, 0); /* the follower polls at once */
			assert_int_equal(missing_in(h, 0, 100), 0);
			heard_last(1, path);
			for (unsigned turn = 1; turn < 4; turn++) {
				double begun = now();
				save(turn * 100, turn * 100 + 100);
				expect(flavor, turn + 1, 0);
				if (turn == 1)
					print_message("%s, %s: %.0f ms\n", flavor->name,
					              polling ? "polling" : "inotify",
					              (now() - begun) * 1e3);
				assert_int_equal(missing_in(h, turn * 100, turn * 100 + 100), 0);
				insert_into(h, 5000, 5010);
			}
			assert_refused(weir_handle_destroy(h), -EBUSY, "weir_handle_destroy",
			               "weir_follower_stop");
			assert_refused(weir_follower_start(&untouched, h, path, NULL), -EBUSY, path,
			               "a follower of this handle runs");
			assert_null(untouched);
			double begun = now();
			assert_ok(weir_follower_stop(f));
			assert_true(now() - begun < patience);
			assert_int_equal(stats_of(h).swaps, 4);
			close_handle(flavor, h);
		}
}

static void test_inotify_notices_renames_and_writes_in_place(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	size_t n = 0;
	(void)state;
	save(0, 100);
	unsigned char *image = image_slurp(path, &n);
	unlink(path);
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 0, 1); /* no file exists */
	heard_last(-ENOENT, "no such file");
	assert_true(image_spit(path, image, n / 2));
	/* the follower reports two failures or more, because a retry may read the file while
	 * image_spit() still writes it */
	WAIT_UNTIL(has_heard(0, 2));
	heard_last(-EBADMSG, path);
	assert_true(image_spit(other, image, n)); /* the follower ignores other file names */
	assert_int_equal(rename(other, path), 0);
	WAIT_UNTIL(stats_of(h).swaps == 1);
	assert_ok(weir_follower_stop(f)); /* waits for the follower's last report */
	assert_int_equal(heard.swaps, 1);
	assert_in_range(heard.failures, 2, 4);
	heard_last(1, path);
	free(image);
	close_handle(flavors, h);
}

static void test_damaged_is_reported_once(void **state)
{
	(void)state;
	for (unsigned polling = 0; polling < 2; polling++) {
		struct weir_handle *h = open_handle(flavors, 10000);
		heard.swaps = heard.failures = 0;
		save(0, 100);
		struct weir_follower *f = follow(h, polling ? often : never, polling);
		expect(flavors, 1, 0);
		damage();
		expect(flavors, 1, 1);
		heard_last(-EBADMSG, path);
		/* Polling reads the file many times. With inotify the follower retries once. */
		usleep(1000000);
		expect(flavors, 1, 1);
		assert_int_equal(missing_in(h, 0, 100), 0);
		damage(); /* a new file with the same damage is reported again */
		expect(flavors, 1, 2);
		save(100, 200);
		expect(flavors, 2, 2);
		assert_int_equal(missing_in(h, 100, 200), 0);
		assert_ok(weir_follower_stop(f));
		close_handle(flavors, h);
	}
}

static void test_a_lasting_failure_is_reported_once(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload *r;
	(void)state;
	struct weir_follower *f = follow(h, often, true);
	expect(flavors, 0, 1);
	usleep(200000);
	expect(flavors, 0, 1);
	heard_last(-ENOENT, "no such file");
	while (weir_reload_begin(&r, h, NULL)) /* the call succeeds between two polls */
		;
	save(0, 100);
	expect(flavors, 0, 2);
	heard_last(-EBUSY, "under way");
	usleep(200000);
	expect(flavors, 0, 2);
	assert_ok(weir_reload_commit(r));
	expect(flavors, 1, 2);
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

static void test_destroy_names_the_remedy_while_a_writer_is_busy(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload *r;
	(void)state;
	save(0, 100);
	struct weir_follower *f = follow(h, never, true);
	expect(flavors, 1, 0);
	while (weir_reload_begin(&r, h, NULL)) /* the call succeeds when the poll ends */
		;
	assert_refused(weir_handle_destroy(h), -EBUSY, "weir_handle_destroy", "weir_follower_stop");
	weir_reload_abort(r);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

/* The follower must always watch the folder that is now at the path. */
static void test_a_replaced_folder_is_watched(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	char *outer = folder, moved[4200];
	(void)state;
	assert_true(asprintf(&folder, "%s/in", outer) > 0);
	snprintf(path, sizeof path, "%s/set.weir", folder);
	snprintf(moved, sizeof moved, "%s/moved", outer);
	assert_int_equal(mkdir(folder, 0700), 0);
	save(0, 100);
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 1, 0);
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned failures = turn + 1, swaps = 1 + 2 * turn;
		if (turn == 0) {
			unlink(path);
			assert_int_equal(rmdir(folder), 0);
		} else {
			assert_int_equal(rename(folder, moved), 0);
		}
		expect(flavors, swaps, failures);
		heard_last(-ENOENT, "no such file");
		assert_int_equal(mkdir(folder, 0700), 0);
		/* save another set, because a file of the same set may have the inode, the times
		 * and the commit record of the old file, and the follower would skip that file */
		save(1000 * turn + 400, 1000 * turn + 500);
		expect(flavors, swaps + 1, failures); /* the follower retries soon */
		save(1000 * turn + 200, 1000 * turn + 300);
		expect(flavors, swaps + 2, failures); /* inotify watches the new folder */
		assert_int_equal(missing_in(h, 1000 * turn + 200, 1000 * turn + 300), 0);
	}
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
	free(folder);
	folder = outer;
}

/* inotify on the link's folder does not notice a changed target. */
static void test_polling_notices_a_changed_link_target(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	char link[4200], to[4300];
	(void)state;
	save(0, 100);
	snprintf(link, sizeof link, "%s/d", folder);
	assert_int_equal(mkdir(link, 0700), 0);
	snprintf(to, sizeof to, "%s/link", link);
	assert_int_equal(symlink(path, to), 0);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	o.poll_seconds = often;
	o.report = report;
	o.context = &heard;
	assert_ok(weir_follower_start(&f, h, to, &o));
	expect(flavors, 1, 0);
	save(100, 200);
	expect(flavors, 2, 0);
	assert_int_equal(missing_in(h, 100, 200), 0);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

static void test_a_path_without_folder_is_followed(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	char before[4096], absolute[4096];
	(void)state;
	memcpy(absolute, path, sizeof path);
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(folder), 0);
	snprintf(path, sizeof path, "set.weir");
	save(0, 100);
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 1, 0);
	save(100, 200);
	expect(flavors, 2, 0);
	assert_ok(weir_follower_stop(f));
	snprintf(path, sizeof path, "/weir-no-such-file");
	f = follow(h, never, false);
	expect(flavors, 2, 1);
	assert_ok(weir_follower_stop(f));
	assert_int_equal(chdir(before), 0);
	memcpy(path, absolute, sizeof path);
	close_handle(flavors, h);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_new_files_are_swapped_in),
		fresh(test_inotify_notices_renames_and_writes_in_place),
		fresh(test_damaged_is_reported_once),
		fresh(test_a_lasting_failure_is_reported_once),
		fresh(test_destroy_names_the_remedy_while_a_writer_is_busy),
		fresh(test_a_replaced_folder_is_watched),
		fresh(test_polling_notices_a_changed_link_target),
		fresh(test_a_path_without_folder_is_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
