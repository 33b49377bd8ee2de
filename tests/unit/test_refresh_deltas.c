/* SPDX-License-Identifier: MIT
 * A set that is an image with deltas beside it: which deltas apply, which are refused, and that a
 * follower notices them. Version n of the set has the keys 0 to 100 * n - 1. */
#include <fcntl.h>
#include <sys/resource.h>
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;
static struct weir_refresh_options how;
static char work[4200]; /* a folder for unpublished files */

static uint64_t file_bytes(const char *name)
{
	struct stat st;
	assert_int_equal(stat(name, &st), 0);
	return (uint64_t)st.st_size;
}

static int begin(void **state)
{
	(void)setup(state);
	snprintf(work, sizeof work, "%s/work", folder);
	h = open_handle(flavors, 10000);
	how = (struct weir_refresh_options)WEIR_REFRESH_OPTIONS_INIT;
	how.deltas = true;
	return mkdir(work, 0777);
}

static int end(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

static const char *version(unsigned n)
{
	static char names[4][4300];
	static unsigned turn;
	char *name = names[turn++ % 4];
	snprintf(name, sizeof names[0], "%s/%u.weir", work, n);
	if (access(name, F_OK) == 0)
		return name;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
	for (uint64_t i = 0; i < 100 * n; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(name), NULL));
	weir_destroy(f);
	return name;
}

/* Publish the delta from version @from to version @to under @number. */
static void publish(const char *number, unsigned from, unsigned to)
{
	char temporary[4300], name[4300];
	snprintf(temporary, sizeof temporary, "%s/new", work);
	snprintf(name, sizeof name, "%s.delta-%s", path, number);
	assert_ok(weir_delta_save(weir_location_path(temporary), weir_location_path(version(from)),
	                          weir_location_path(version(to)), NULL));
	assert_int_equal(rename(temporary, name), 0);
}

static void withdraw(const char *number)
{
	char name[4300];
	snprintf(name, sizeof name, "%s.delta-%s", path, number);
	assert_int_equal(unlink(name), 0);
}

static void publish_image(unsigned n)
{
	size_t bytes = 0;
	unsigned char *image = image_slurp(version(n), &bytes);
	assert_true(image && image_spit(other, image, bytes));
	assert_int_equal(rename(other, path), 0);
	free(image);
}

static unsigned keys_there(void)
{
	unsigned n = 0;
	while (weir_handle_contains_hash(h, test_key(n)))
		n++;
	return n;
}

/* Asserts that version @n is current. The range allows for false positives among the following
 * keys. */
static void assert_version(unsigned n)
{
	assert_in_range(keys_there(), 100 * n, 100 * n + 3);
}

static void assert_swaps_to(unsigned n)
{
	const int answer = weir_handle_refresh(h, path, &how);
	assert_ok(answer);
	assert_int_equal(answer, 1);
	assert_version(n);
	assert_int_equal(weir_handle_refresh(h, path, &how), 0);
}

static void assert_unchanged(unsigned n)
{
	assert_int_equal(weir_handle_refresh(h, path, &how), 0);
	assert_version(n);
}

static void deltas_apply_one_after_another(void **state)
{
	(void)state;
	publish_image(1);
	assert_swaps_to(1);
	publish("1", 1, 2);
	assert_swaps_to(2);
	publish("2", 2, 3);
	assert_swaps_to(3);
	publish("10", 4, 5); /* this name must sort after "9" */
	assert_swaps_to(3);
	publish("9", 3, 4);
	assert_swaps_to(5);
	/* a new handle gets the same set with its first refresh */
	struct weir_handle *first = h;
	h = open_handle(flavors, 10000);
	assert_swaps_to(5);
	close_handle(flavors, h);
	h = first;
	/* publish one image in place of all deltas, then remove the deltas */
	publish_image(5);
	assert_swaps_to(5);
	withdraw("1");
	withdraw("2");
	withdraw("9");
	assert_swaps_to(5);
	withdraw("10");
	assert_swaps_to(5);
	publish("11", 5, 6);
	assert_swaps_to(6);
}

static void deltas_may_lead_back_and_on(void **state)
{
	(void)state;
	publish_image(3);
	publish("1", 3, 4);
	publish("2", 4, 3);
	assert_swaps_to(3);
	publish("3", 3, 6);
	assert_swaps_to(6);
	publish_image(4);
	assert_swaps_to(6);
}

static void without_the_option_deltas_are_ignored(void **state)
{
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_version(1);
	publish("2", 2, 3);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_swaps_to(3);
}

static void a_removed_delta_takes_its_keys_with_it(void **state)
{
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	publish("2", 2, 3);
	assert_swaps_to(3);
	withdraw("2");
	assert_swaps_to(2);
}

static void other_files_are_ignored(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	snprintf(name, sizeof name, "%s.delta", path); /* not a delta: no "-" */
	assert_true(image_spit(name, "nothing", 7));
	snprintf(name, sizeof name, "%s/other.weir.delta-1", folder);
	assert_true(image_spit(name, "nothing", 7));
	snprintf(name, sizeof name, "%s2.delta-1", path);
	assert_true(image_spit(name, "nothing", 7));
	assert_swaps_to(2);
}

static void a_path_without_folder_has_deltas(void **state)
{
	char before[4200];
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(weir_handle_refresh(h, "set.weir", &how), 1);
	assert_int_equal(chdir(before), 0);
	assert_version(2);
}

/* The current set stays until the delta is repaired. */
static void a_damaged_delta_is_refused_once(void **state)
{
	char name[4300];
	size_t n = 0;
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	assert_swaps_to(2);
	publish("2", 2, 3);
	snprintf(name, sizeof name, "%s.delta-2", path);
	unsigned char *bytes = image_slurp(name, &n);
	for (unsigned form = 0; form < 3; form++) {
		const size_t at = form == 0 ? 5 : form == 1 ? 30 : n - 3;
		bytes[at] ^= 1;
		assert_true(image_spit(other, bytes, n) && rename(other, name) == 0);
		bytes[at] ^= 1;
		assert_refused(weir_handle_refresh(h, path, &how), -EBADMSG, name,
		               "remove it");
		assert_unchanged(2);
		assert_non_null(strstr(stats_of(h).refused_sentence, "delta-2"));
	}
	assert_true(image_spit(other, bytes, n) && rename(other, name) == 0);
	free(bytes);
	assert_swaps_to(3);
	assert_true(stats_of(h).refused_since == 0);
}

/* The delta keeps its length, so that only its times reveal the change. */
static void a_delta_repaired_in_place_is_accepted(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	publish("2", 2, 3);
	snprintf(name, sizeof name, "%s.delta-2", path);
	assert_swaps_to(3);
	usleep(20000); /* ctime advances only with the kernel's tick */
	assert_true(image_flip(name, 30, 1));
	assert_refused(weir_handle_refresh(h, path, &how), -EBADMSG, name, "");
	usleep(20000);
	assert_true(image_flip(name, 30, 1));
	assert_swaps_to(3);
}

static bool within_a_second(const struct stat *before, const struct stat *after)
{
	return before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
	       before->st_ctim.tv_sec == after->st_ctim.tv_sec &&
	       before->st_ctim.tv_nsec != after->st_ctim.tv_nsec;
}

static void nanoseconds_of_the_times_count(void **state)
{
	struct stat before, after;
	char name[4300];
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	snprintf(name, sizeof name, "%s.delta-1", path);
	do {
		assert_ok(weir_handle_refresh(h, path, &how));
		assert_int_equal(stat(name, &before), 0);
		usleep(20000); /* ctime advances only with the kernel's tick */
		assert_true(image_flip(name, 30, 1) && image_flip(name, 30, 1));
		assert_int_equal(stat(name, &after), 0);
	} while (!within_a_second(&before, &after));
	assert_swaps_to(2);
}

/* A process that rewrites a delta in place can restore mtime. */
static void a_new_ctime_of_a_delta_counts(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	snprintf(name, sizeof name, "%s.delta-1", path);
	assert_swaps_to(2);
	usleep(20000); /* ctime advances only with the kernel's tick */
	assert_int_equal(chmod(name, 0600), 0);
	assert_swaps_to(2);
}

/* Overwrites the image while a refresh reads it. The image must not count as refused. */
static int overwrite(void *arg, uint64_t done, uint64_t total)
{
	size_t bytes = 0;
	unsigned char *image = image_slurp(arg, &bytes);
	(void)done, (void)total;
	how.progress = NULL;
	assert_true(image && image_spit(path, image, bytes));
	free(image);
	return 0;
}

static void an_image_overwritten_during_a_read_is_not_refused(void **state)
{
	char large[2][4300];
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_filter *f = test_filter(WEIR_BLOCKED, 5000000, 0.01);
		for (uint64_t k = 0; k < 100000; k++)
			assert_ok(weir_insert_hash(f, test_key(200000 * i + k)));
		snprintf(large[i], sizeof large[i], "%s/large%u", work, i);
		assert_ok(weir_save(f, weir_location_path(large[i]), NULL));
		weir_destroy(f);
	}
	publish("1", 1, 2);
	(void)overwrite(large[0], 0, 0);
	how.progress = overwrite;
	how.progress_arg = large[1];
	assert_refused(weir_handle_refresh(h, path, &how), -EBUSY, path, "while it was read");
	how.progress = NULL;
	assert_int_equal(weir_handle_refresh(h, path, &how), 1);
}

static void deltas_of_a_keyed_set_are_keyed(void **state)
{
	static const char key[] = "sixteen secrets!";
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *keyed;
	struct weir_filter *f;
	char from[4300], name[4300];
	uint64_t i = 0;
	(void)state;
	p.capacity = 10000;
	p.fp_rate = 0.01;
	p.secret = key;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_insert_u64(f, i));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	snprintf(from, sizeof from, "%s/from", work);
	assert_ok(weir_save(f, weir_location_path(from), NULL));
	for (; i < 100; i++)
		assert_true(weir_insert_u64(f, i) >= 0);
	snprintf(name, sizeof name, "%s/to", work);
	assert_ok(weir_save(f, weir_location_path(name), NULL));
	weir_destroy(f);
	snprintf(other, sizeof other, "%s.delta-1", path);
	assert_ok(weir_delta_save(weir_location_path(other), weir_location_path(from),
	                          weir_location_path(name), NULL));
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_handle_create(&keyed, f, NULL));
	assert_int_equal(weir_handle_refresh(keyed, path, &how), 1);
	while (i--)
		assert_true(weir_handle_contains(keyed, &i, sizeof i));
	assert_ok(weir_handle_destroy(keyed));
	assert_refused(weir_handle_refresh(h, path, &how), -EKEYREJECTED, path, "is keyed");
}

static void a_damaged_image_is_refused(void **state)
{
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	assert_true(image_flip(path, 5000, 1)); /* flips a bit of the filter */
	assert_refused(weir_handle_refresh(h, path, &how), -EBADMSG, path, "weir build");
	assert_int_equal(keys_there(), 0);
	publish_image(1);
	assert_int_equal(truncate(path, 4), 0);
	assert_refused(weir_handle_refresh(h, path, &how), -EBADMSG, path, "weir build");
	publish_image(1);
	assert_swaps_to(2);
}

static void deltas_of_another_image_are_ignored(void **state)
{
	(void)state;
	publish_image(1);
	publish("1", 5, 6);
	assert_swaps_to(1);
}

/* Unfinished copies, dangling links and other file types may have a delta's name. */
static void files_that_are_not_deltas_block_no_refresh(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	publish("2", 1, 2);
	for (unsigned sort = 0; sort < 5; sort++) {
		snprintf(name, sizeof name, "%s.delta-1%u", path, sort);
		assert_int_equal(sort == 0 ? mkdir(name, 0777) :
		                 sort == 1 ? symlink("nowhere", name) :
		                 sort == 2 ? symlink(name, name) :
		                 sort == 3 ? mkfifo(name, 0777) :
		                             !image_spit(name, "", 0), 0);
		assert_swaps_to(2);
	}
	publish("3", 2, 3);
	publish("20", 3, 4);
	assert_swaps_to(4);
}

static int bytes_read(void *sum, uint64_t done, uint64_t total)
{
	if (done == total)
		*(uint64_t *)sum += total;
	return 0;
}

/* A delta that leads back to an earlier version cancels the deltas since that version. The refresh
 * reads only the heads of all these deltas, and verifies the image only once. */
static void unconnected_deltas_cost_only_their_heads(void **state)
{
	char number[16];
	uint64_t read = 0;
	(void)state;
	publish_image(1);
	publish("0", 1, 2);
	for (unsigned i = 1; i < 40; i++) {
		snprintf(number, sizeof number, "%u", i);
		publish(number, 2, i % 2 ? 3 : 2);
		snprintf(number, sizeof number, "%u-back", i);
		publish(number, i % 2 ? 3 : 2, 2);
	}
	publish("99", 2, 4);
	how.progress = bytes_read;
	how.progress_arg = &read;
	assert_int_equal(weir_handle_refresh(h, path, &how), 1);
	assert_version(4);
	assert_true(read < 20 * file_bytes(path));
}

static void carry_keeps_keys_inserted_before_a_delta(void **state)
{
	(void)state;
	publish_image(1);
	assert_swaps_to(1);
	how.carry = true;
	assert_true(weir_handle_insert_hash(h, 77) >= 0);
	publish("1", 1, 2);
	assert_swaps_to(2);
	assert_true(weir_handle_contains_hash(h, 77));
}

static void a_set_with_deltas_is_read_instead_of_mapped(void **state)
{
	(void)state;
	how.map = true;
	publish_image(1);
	assert_swaps_to(1);
	publish("1", 1, 2);
	assert_swaps_to(2); /* publishes a private copy instead of a map */
	assert_true(weir_handle_insert_hash(h, 77) >= 0);
	how.map = false;
	publish("2", 2, 3);
	how.max_bytes = 1000;
	assert_refused(weir_handle_refresh(h, path, &how), -EFBIG, "max_bytes", "");
	how.max_bytes = 1 << 20;
	assert_swaps_to(3);
}

static int count_and_stop(void *arg, uint64_t done, uint64_t total)
{
	unsigned *left = arg;
	(void)done, (void)total;
	return *left == 0 || --*left == 0;
}

static void progress_can_stop_a_refresh_at_every_call(void **state)
{
	unsigned left, calls = 1;
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	how.progress = count_and_stop;
	how.progress_arg = &left;
	for (;; calls++) {
		left = calls;
		const int answer = weir_handle_refresh(h, path, &how);
		if (answer == 1)
			break;
		assert_int_equal(answer, -ECANCELED);
		assert_int_equal(keys_there(), 0);
	}
	assert_true(calls > 3);
	assert_version(2);
}

/* As with an image, the publisher can allow a shrunk set. */
static void a_set_shrunk_by_a_delta_is_refused(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	char name[4300], small[4300];
	(void)state;
	snprintf(name, sizeof name, "%s.delta-1", path);
	snprintf(small, sizeof small, "%s/small", work);
	publish_image(90);
	assert_swaps_to(90);
	for (unsigned meant = 0; meant < 2; meant++) {
		struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
		for (uint64_t i = 0; i < 100; i++)
			assert_ok(weir_insert_hash(f, test_key(i)));
		o.marks = meant ? WEIR_MARK_SHRINK_ALLOWED : 0;
		assert_ok(weir_save(f, weir_location_path(small), &o));
		weir_destroy(f);
		assert_ok(weir_delta_save(weir_location_path(name), weir_location_path(version(90)),
		                          weir_location_path(small), NULL));
		if (meant)
			assert_swaps_to(1);
		else
			assert_refused(weir_handle_refresh(h, path, &how), -ECANCELED,
			               "keys", path);
	}
}

static void without_a_descriptor_for_the_folder_a_refresh_fails(void **state)
{
	struct rlimit limit, none;
	(void)state;
	publish_image(1);
	assert_swaps_to(1);
	publish("1", 1, 2);
	const int next = open("/dev/null", O_RDONLY);
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)next + 1; /* one descriptor, for the image */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	const int answer = weir_handle_refresh(h, path, &how);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_refused(answer, -EMFILE, path, "cannot look for its deltas");
	assert_version(1);
	assert_swaps_to(2);
}

static void an_empty_delta_changes_nothing(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	snprintf(name, sizeof name, "%s.delta-1", path);
	assert_true(image_spit(name, "", 0));
	assert_swaps_to(1);
}

static void deltas_of_a_newer_format_are_refused(void **state)
{
	char name[4300];
	size_t n = 0;
	(void)state;
	publish_image(1);
	publish("1", 1, 2);
	publish("2", 2, 3);
	snprintf(name, sizeof name, "%s.delta-1", path);
	unsigned char *bytes = image_slurp(name, &n);
	bytes[8]++;
	assert_true(image_spit(name, bytes, n));
	free(bytes);
	assert_refused(weir_handle_refresh(h, path, &how), -ENOTSUP, name, "remove it");
	assert_true(unlink(name) == 0);
	assert_swaps_to(1);
}

static void too_many_deltas_are_refused(void **state)
{
	char name[4300];
	(void)state;
	publish_image(1);
	for (unsigned i = 0; i < 4097; i++) {
		snprintf(name, sizeof name, "%s.delta-%u", path, i);
		assert_true(image_spit(name, "", 0));
	}
	assert_refused(weir_handle_refresh(h, path, &how), -E2BIG, "4096", "weir apply");
	assert_true(stats_of(h).refused_since > 0);
}

static void a_follower_notices_deltas(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f = NULL;
	(void)state;
	publish_image(1);
	o.refresh = &how;
	o.poll_seconds = never;
	o.report = report;
	o.context = &heard;
	assert_ok(weir_follower_start(&f, h, path, &o));
	expect(flavors, 1, 0);
	publish("1", 1, 2);
	expect(flavors, 2, 0);
	assert_version(2);
	publish("2", 2, 3);
	expect(flavors, 3, 0);
	assert_version(3);
	withdraw("2");
	expect(flavors, 4, 0);
	assert_version(2);
	assert_ok(weir_follower_stop(f));
}

int main(void)
{
#define IN_ITS_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		IN_ITS_FOLDER(deltas_apply_one_after_another),
		IN_ITS_FOLDER(deltas_may_lead_back_and_on),
		IN_ITS_FOLDER(without_the_option_deltas_are_ignored),
		IN_ITS_FOLDER(a_removed_delta_takes_its_keys_with_it),
		IN_ITS_FOLDER(other_files_are_ignored),
		IN_ITS_FOLDER(a_path_without_folder_has_deltas),
		IN_ITS_FOLDER(a_damaged_delta_is_refused_once),
		IN_ITS_FOLDER(a_delta_repaired_in_place_is_accepted),
		IN_ITS_FOLDER(nanoseconds_of_the_times_count),
		IN_ITS_FOLDER(a_new_ctime_of_a_delta_counts),
		IN_ITS_FOLDER(an_image_overwritten_during_a_read_is_not_refused),
		IN_ITS_FOLDER(deltas_of_a_keyed_set_are_keyed),
		IN_ITS_FOLDER(a_damaged_image_is_refused),
		IN_ITS_FOLDER(deltas_of_another_image_are_ignored),
		IN_ITS_FOLDER(files_that_are_not_deltas_block_no_refresh),
		IN_ITS_FOLDER(unconnected_deltas_cost_only_their_heads),
		IN_ITS_FOLDER(carry_keeps_keys_inserted_before_a_delta),
		IN_ITS_FOLDER(a_set_with_deltas_is_read_instead_of_mapped),
		IN_ITS_FOLDER(progress_can_stop_a_refresh_at_every_call),
		IN_ITS_FOLDER(a_set_shrunk_by_a_delta_is_refused),
		IN_ITS_FOLDER(without_a_descriptor_for_the_folder_a_refresh_fails),
		IN_ITS_FOLDER(an_empty_delta_changes_nothing),
		IN_ITS_FOLDER(deltas_of_a_newer_format_are_refused),
		IN_ITS_FOLDER(too_many_deltas_are_refused),
		IN_ITS_FOLDER(a_follower_notices_deltas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
