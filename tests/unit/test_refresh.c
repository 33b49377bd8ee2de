/* SPDX-License-Identifier: MIT
 * Refresh: which files a refresh accepts and refuses, how often a refusal is reported, and which
 * keys are in the handle afterwards. */
#include <fcntl.h>
#include <sys/resource.h>
#include "../folder.h"
#include "../handles.h"
#include "../image_bytes.h"

static struct weir_handle *h;

static int setup(void **state)
{
	(void)folder_setup(state);
	h = open_handle(flavors, 10000);
	return 0;
}

static int teardown(void **state)
{
	close_handle(flavors, h);
	(void)folder_teardown(state);
	return 0;
}

/* Save an image of the keys @from to @to - 1. @level: the zstd level. */
static void save_at(const char *where, uint32_t kind, uint64_t capacity, uint64_t seed,
                    uint64_t from, uint64_t to, int level)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f;
	p.kind = kind;
	p.capacity = capacity;
	p.fp_rate = 0.01;
	p.seed = seed;
	o.zstd_level = level;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(where), &o));
	weir_destroy(f);
}

static void save(uint64_t from, uint64_t to)
{
	save_at(path, WEIR_BLOCKED, 10000, 42, from, to, 0);
}

static void save_keyed(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 10000, p.fp_rate = 0.01, p.secret = "sixteen bytes of";
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

/* Replace the file by a copy with one flipped bit in the last page. */
static void damage(void)
{
	size_t n = 0;
	char other[4200];
	unsigned char *image = image_slurp(path, &n);
	image[n - 100] ^= 1;
	snprintf(other, sizeof other, "%s.new", path);
	assert_true(image_spit(other, image, n));
	assert_int_equal(rename(other, path), 0);
	free(image);
}

static void test_a_refresh_publishes_in_each_flavor(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *mine = open_handle(flavor, 10000);
		save(0, 1000);
		assert_int_equal(weir_handle_refresh(mine, path, NULL), 1);
		assert_int_equal(weir_handle_refresh(mine, path, NULL), 0);
		assert_int_equal(missing_in(mine, 0, 1000), 0);
		struct weir_handle_stats s = stats_of(mine);
		assert_int_equal(s.generation, 2);
		assert_int_equal(s.swaps, 1);
		assert_int_equal(s.bytes, figures_of(h).bytes);
		/* the loaded filter is a private copy and takes inserts */
		insert_into(mine, 5000, 5100);
		assert_int_equal(missing_in(mine, 5000, 5100), 0);
		save(1000, 2000);
		/* a new file alone changes nothing in the handle */
		assert_int_equal(missing_in(mine, 0, 1000), 0);
		assert_int_equal(weir_handle_refresh(mine, path, NULL), 1);
		assert_int_equal(missing_in(mine, 1000, 2000), 0);
		assert_true(missing_in(mine, 0, 1000) > 900);
		/* the inserted keys were in no image, and the refresh carried no keys over */
		assert_true(missing_in(mine, 5000, 5100) > 90);
		assert_int_equal(weir_handle_refresh(mine, path, NULL), 0);
		assert_int_equal(stats_of(mine).refused, 0);
		close_handle(flavor, mine);
	}
}

static void test_a_damaged_file_is_reported_once(void **state)
{
	(void)state;
	save(0, 1000);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	damage();
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "");
	/* only the first refresh reports a damaged file */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_int_equal(stats_of(h).refused, 1);
	assert_int_equal(missing_in(h, 0, 1000), 0);
	assert_int_equal(truncate(path, 100), 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "");
	save(1000, 2000);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 1000, 2000), 0);
	assert_int_equal(stats_of(h).refused, 2);
}

static void test_a_missing_file_is_reported_each_time(void **state)
{
	(void)state;
	unlink(path);
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOENT, path, "no such file");
	/* every refresh reports a missing file */
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOENT, path, "no such file");
	save(0, 10);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	unlink(path);
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOENT, path, "no such file");
	assert_int_equal(missing_in(h, 0, 10), 0);
	assert_refused(weir_handle_refresh(h, folder, NULL), -EISDIR, folder, "");
	assert_int_equal(weir_handle_refresh(h, folder, NULL), 0);
}

/* Only the first refresh reports a file of an unknown kind. Every refresh reports an image that is
 * mapped live. */
static void test_live_images_and_unknown_kinds_are_refused(void **state)
{
	struct weir_filter *live;
	size_t n = 0;
	(void)state;
	save(0, 10);
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_handle_refresh(h, path, NULL), -EBUSY, path, "live");
	assert_refused(weir_handle_refresh(h, path, NULL), -EBUSY, path, "live");
	weir_destroy(live);
	unsigned char *image = image_slurp(path, &n);
	image[12] = 77, memset(image + IMAGE_COMMIT, 0, 8); /* kind 77, and not live */
	image_repair(image, n);
	assert_true(image_spit(path, image, n));
	free(image);
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOTSUP, path, "kind is 77");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
}

static void test_another_seed_is_refused(void **state)
{
	(void)state;
	save_at(path, WEIR_BLOCKED, 10000, 43, 0, 10, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, path, "seed");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
}

static void test_carry_needs_an_equal_layout(void **state)
{
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	carry.carry = true;
	insert_into(h, 0, 1000);
	save(1000, 2000);
	assert_int_equal(weir_handle_refresh(h, path, &carry), 1);
	assert_int_equal(missing_in(h, 0, 2000), 0);
	save_at(path, WEIR_BLOCKED, 20000, 42, 0, 10, 0);
	assert_refused(weir_handle_refresh(h, path, &carry), -EINVAL, "bytes", "");
	assert_int_equal(weir_handle_refresh(h, path, &carry), 0);
	/* the handle remembers the file, but not the options */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_int_equal(missing_in(h, 0, 2000), 0);
	save_at(path, WEIR_CLASSIC, 20000, 42, 3000, 4000, 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 3000, 4000), 0);
	assert_int_equal(figures_of(h).shape.kind, WEIR_CLASSIC);
}

static void test_a_mapped_file_is_read_only(void **state)
{
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_filter *mapped;
	struct weir_handle *mine;
	(void)state;
	save(0, 100);
	assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_handle_create(&mine, mapped, NULL));
	save(100, 200);
	carry.map = true;
	assert_int_equal(weir_handle_refresh(mine, path, &carry), 1);
	assert_int_equal(missing_in(mine, 100, 200), 0);
	/* the next filter is mapped, too, so inserts fail */
	assert_refused(weir_handle_insert_hash(mine, 1), -EROFS, "read-only", "");
	save(200, 300);
	carry.carry = true;
	assert_refused(weir_handle_refresh(mine, path, &carry), -EROFS, "read-only", "");
	save(300, 400);
	/* this refresh publishes a private copy, which takes inserts */
	assert_int_equal(weir_handle_refresh(mine, path, NULL), 1);
	insert_into(mine, 0, 10);
	assert_int_equal(missing_in(mine, 300, 400), 0);
	assert_ok(weir_handle_destroy(mine));
}

#if TEST_ZSTD
static void test_compressed_files_are_accepted(void **state)
{
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	carry.carry = true;
	insert_into(h, 0, 100);
	save_at(path, WEIR_BLOCKED, 10000, 42, 100, 200, 3);
	assert_int_equal(weir_handle_refresh(h, path, &carry), 1);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	insert_into(h, 200, 300);
	assert_int_equal(missing_in(h, 0, 300), 0);
	damage();
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "");
	assert_int_equal(missing_in(h, 0, 300), 0);
}
#endif

static void test_max_bytes_limits_all_filters_together(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	uint64_t each = stats_of(h).bytes;
	(void)state;
	o.keep_previous = true;
	o.max_bytes = 2 * each;
	save(0, 100);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	assert_int_equal(stats_of(h).bytes, 2 * each);
	save(100, 200);
	assert_refused(weir_handle_refresh(h, path, &o), -EFBIG, "max_bytes", "held");
	o.max_bytes = 3 * each - 1;
	assert_refused(weir_handle_refresh(h, path, &o), -EFBIG, path, "");
	assert_int_equal(stats_of(h).refused, 0);
	assert_ok(weir_handle_drop_previous(h));
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	assert_int_equal(missing_in(h, 100, 200), 0);
	assert_ok(weir_handle_rollback(h));
	assert_int_equal(missing_in(h, 0, 100), 0);
}

static void test_deferred_free_counts_old_filters(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct sitter sitter;
	uint64_t each = stats_of(h).bytes;
	(void)state;
	o.defer_free = true;
	save(0, 100);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	expect_bytes(flavors, h, each);
	sitter_start(&sitter, flavors->rcu);
	/* a refresh that replaces no filter does not wait for readers */
	assert_int_equal(weir_handle_refresh(h, path, &o), 0);
	sitter_end(&sitter);
}

/* The gate's check starts a reader of the current filter. The refresh must not wait for the
 * reader. */
static int sits_down(const struct weir_filter *next, void *sitter)
{
	(void)next;
	sitter_start(sitter, flavors->rcu);
	return 0;
}

static void test_deferred_free_does_not_wait(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct sitter sitter;
	uint64_t each = stats_of(h).bytes;
	(void)state;
	gate.check = sits_down;
	gate.context = &sitter;
	o.gate = &gate;
	o.defer_free = true;
	save(0, 100);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	assert_int_equal(stats_of(h).bytes, 2 * each);
	sitter_end(&sitter);
	expect_bytes(flavors, h, each);
	assert_int_equal(missing_in(h, 0, 100), 0);
}

/* A later refresh of the same file succeeds. */
static void test_without_descriptors_a_refresh_fails_for_now(void **state)
{
	struct rlimit before, none;
	int highest = dup(0);
	(void)state;
	save(0, 100);
	close(highest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ (rlim_t)highest, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int answer = weir_handle_refresh(h, path, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_refused(answer, -EMFILE, path, "too many open files");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 0, 100), 0);
}

static void test_wrong_options_are_refused(void **state)
{
	struct weir_refresh_options older = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	assert_refused(weir_handle_refresh(NULL, path, NULL), -EINVAL, "the handle is NULL",
	               "weir_handle_refresh");
	assert_refused(weir_handle_refresh(h, NULL, NULL), -EINVAL, "path is NULL",
	               "weir_handle_refresh");
	older.struct_size = 4;
	assert_refused(weir_handle_refresh(h, path, &older), -EINVAL,
	               "weir_refresh_options.struct_size 4", "_INIT");
	older.struct_size = sizeof older + 1;
	assert_refused(weir_handle_refresh(h, path, &older), -EINVAL,
	               "weir_refresh_options.struct_size", "_INIT");
	older.struct_size = offsetof(struct weir_refresh_options, carry);
	older.keep_previous = true;
	save(0, 100);
	assert_int_equal(weir_handle_refresh(h, path, &older), 1);
	assert_false(stats_of(h).previous_kept);
}

static void test_a_refusal_names_its_remedy(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_filter *live;
	(void)state;
	save_at(path, WEIR_BLOCKED, 10000, 43, 0, 10, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, "--like=",
	               "WEIR_HANDLE_ANY_SEED");
	save(0, 10);
	damage();
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, "shard 0",
	               "build it anew with weir build --force");
	save(0, 10);
	assert_int_equal(truncate(path, 4), 0); /* the file has fewer than 8 bytes */
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path,
	               "build it anew with weir build --force");
	save(0, 10);
	o.max_bytes = stats_of(h).bytes + 1;
	assert_refused(weir_handle_refresh(h, path, &o), -EFBIG, path, "raise max_bytes");
	o.max_bytes = 1;
	assert_refused(weir_handle_refresh(h, path, &o), -EFBIG, "max_bytes 1", "raise it");
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_handle_refresh(h, path, NULL), -EBUSY, "marked live", "weir seal");
	weir_destroy(live);
	save_keyed();
	assert_refused(weir_handle_refresh(h, path, NULL), -EKEYREJECTED, path,
	               "without --keyed-by");
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_a_refresh_publishes_in_each_flavor),
		fresh(test_a_damaged_file_is_reported_once),
		fresh(test_a_missing_file_is_reported_each_time),
		fresh(test_live_images_and_unknown_kinds_are_refused),
		fresh(test_another_seed_is_refused),
		fresh(test_a_refusal_names_its_remedy),
		fresh(test_carry_needs_an_equal_layout),
		fresh(test_a_mapped_file_is_read_only),
#if TEST_ZSTD
		fresh(test_compressed_files_are_accepted),
#endif
		fresh(test_max_bytes_limits_all_filters_together),
		fresh(test_deferred_free_counts_old_filters),
		fresh(test_deferred_free_does_not_wait),
		fresh(test_without_descriptors_a_refresh_fails_for_now),
		fresh(test_wrong_options_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
