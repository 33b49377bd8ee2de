/* SPDX-License-Identifier: MIT
 * Images at a path. A load restores what a save wrote: for every kind that can be saved, in several
 * layouts and sizes, and for every pair of instruction sets that this machine has. The tests also
 * cover file modes, links and other file system effects of a save. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"
#include "../kinds/kind.h"

static char other[4096];

static int setup(void **state)
{
	(void)folder_setup(state);
	snprintf(other, sizeof other, "%s/other.weir", folder);
	return 0;
}

/* @ask: the layout of the filter, or NULL for the default. */
static struct weir_filter *filled(uint32_t kind, const struct weir_params *ask, uint64_t capacity)
{
	static const struct weir_params any;
	struct weir_params params = test_params(test_kind_of(kind), ask ? ask : &any);
	struct weir_filter *f;
	uint64_t *hashes = malloc(capacity * sizeof *hashes);
	params.capacity = capacity;
	params.fp_rate = 0.01;
	params.seed = test_seed(kind, 42);
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < capacity; i++) {
		uint64_t key = test_key(i);
		hashes[i] = weir_hash(f, &key, sizeof key);
	}
	assert_ok(test_fill(&f, hashes, capacity));
	free(hashes);
	return f;
}

/* Asserts that @f and @g answer equally for the first @keys keys, which @g has, and for as many
 * absent keys. */
static void assert_same_answers(const struct weir_filter *f, const struct weir_filter *g,
                                uint64_t keys)
{
	for (uint64_t i = 0; i < 2 * keys; i++) {
		uint64_t key = test_key(i);
		bool there = weir_contains(g, &key, sizeof key);
		assert_int_equal(weir_contains(f, &key, sizeof key), there);
		assert_true(there || i >= keys);
	}
}

static void assert_same_files(const char *a, const char *b)
{
	size_t na = 0, nb = 0;
	unsigned char *bytes_a = image_slurp(a, &na), *bytes_b = image_slurp(b, &nb);
	assert_non_null(bytes_a);
	assert_non_null(bytes_b);
	assert_int_equal(na, nb);
	assert_memory_equal(bytes_a, bytes_b, na);
	free(bytes_a);
	free(bytes_b);
}

static void round_trip(const struct test_kind *kind, const struct test_layout *layout,
                       uint64_t capacity, int level)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	struct weir_stats before = WEIR_STATS_INIT, after = WEIR_STATS_INIT;
	struct weir_filter *f = filled(kind->id, &layout->ask, capacity), *g;
	options.zstd_level = level;
	options.generation = 7;
	int err = test_done(weir_save(f, weir_location_path(path), &options));
	if (err == -ENOTSUP) {
		weir_destroy(f);
		return;
	}
	assert_ok(err);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_same_answers(f, g, capacity);
	assert_ok(weir_measure(f, WEIR_EXACT, &before));
	assert_ok(weir_measure(g, WEIR_EXACT, &after));
	assert_true(before.fill == after.fill && before.fp_rate == after.fp_rate &&
	            before.seed_fingerprint == after.seed_fingerprint);
	assert_true(before.bytes == after.bytes && before.shards == after.shards &&
	            before.capacity == after.capacity);
	assert_ok(weir_save(g, weir_location_path(other), &options));
	if (!test_forgets(kind->id)) /* a window's keys have aged since the first save */
		assert_same_files(path, other);
	err = weir_merge(f, g); /* fails unless seed and layout are equal */
	assert_ok(err == -ENOTSUP || (kind->copies && err == -ENOSPC) ? 0 : err);
	weir_destroy(f);
	weir_destroy(g);
}

static void test_every_kind_can_be_saved_and_loaded(void **state)
{
	static const uint64_t capacities[] = { 1, 50, 3000, 200000 };
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->layouts.n; i++)
			for (unsigned c = 0; c < COUNT_OF(capacities); c++)
				for (int level = 0; level <= 3 * TEST_ZSTD; level += 3)
					round_trip(kind, &kind->layouts.rows[i], capacities[c],
					           level);
}

/* In an image of 2 MiB or more, the bits begin at a multiple of 2 MiB. */
static void test_bits_of_large_images_are_aligned(void **state)
{
	static const uint64_t sizes[] = { (UINT64_C(2) << 20) - 128 * 1024, UINT64_C(2) << 20 },
	                      offsets[] = { 4096, UINT64_C(2) << 20 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *f, *g;
		struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
		params.max_bytes = sizes[i];
		params.fp_rate = 0.01;
		assert_ok(weir_create(&f, &params));
		assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_ok(weir_image_inspect(weir_location_path(path), &info));
		assert_int_equal(info.bytes, sizes[i]);
		assert_int_equal(info.file_bytes, offsets[i] + sizes[i]);
		assert_ok(weir_load(&g, weir_location_path(path), NULL));
		assert_true(weir_contains(g, "key", 3));
		assert_false(weir_contains(g, "other", 5));
		weir_destroy(f);
		weir_destroy(g);
	}
}

static bool have(const char *isa)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.capacity = 2000;
	params.fp_rate = 0.01;
	setenv("WEIR_ISA", isa, 1);
	int err = weir_create(&f, &params);
	weir_destroy(f);
	return err != -ENOTSUP;
}

static void read_by(const char *reader, const char *writer, const struct test_kind *kind,
                    const struct test_layout *layout)
{
	struct weir_filter *f, *g;
	setenv("WEIR_ISA", writer, 1);
	f = filled(kind->id, &layout->ask, 2000);
	int err = test_done(weir_save(f, weir_location_path(path), NULL));
	if (err != -ENOTSUP) {
		assert_ok(err);
		setenv("WEIR_ISA", reader, 1);
		assert_ok(weir_load(&g, weir_location_path(path), NULL));
		assert_same_answers(f, g, 2000);
		weir_destroy(g);
	}
	weir_destroy(f);
}

static void test_every_isa_reads_every_isa(void **state)
{
	static const char *const isas[] = { "scalar", "neon", "avx2", "avx512" };
	const char *before = getenv("WEIR_ISA");
	char *kept = before ? strdup(before) : NULL;
	unsigned pairs = 0;
	(void)state;
	for (unsigned w = 0; w < COUNT_OF(isas); w++)
		for (unsigned r = 0; r < COUNT_OF(isas); r++) {
			if (!have(isas[w]) || !have(isas[r]))
				continue;
			FOR_EACH_KIND(kind)
				for (size_t i = 0; i < kind->layouts.n; i++, pairs++)
					read_by(isas[r], isas[w], kind, &kind->layouts.rows[i]);
		}
	assert_true(pairs >= 4);
	kept ? setenv("WEIR_ISA", kept, 1) : unsetenv("WEIR_ISA");
	free(kept);
}

static void test_inspect_reports_the_head(void **state)
{
	struct weir_filter *f = filled(WEIR_CLASSIC, NULL, 1000);
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	(void)state;
	options.generation = UINT64_MAX;
	options.zstd_level = 3 * TEST_ZSTD;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	assert_ok(weir_save(f, weir_location_path(path), &options));
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.format, 1);
	assert_int_equal(info.shape.kind, WEIR_CLASSIC);
	test_assert_same_shape(&info.shape, &stats.shape);
	assert_int_equal(info.shards, stats.shards);
	assert_int_equal(info.capacity, 1000);
	assert_true(info.fp_rate == 0.01);
	assert_int_equal(info.bytes, stats.bytes);
	assert_true(info.generation == UINT64_MAX);
	assert_true(info.seed_fingerprint == stats.seed_fingerprint);
	assert_int_equal(info.compressed, TEST_ZSTD);
	assert_false(info.live);
	/* an older caller's struct ends at struct_size, and nothing is written beyond */
	info.struct_size = offsetof(struct weir_image_info, bytes);
	info.bytes = info.capacity = 5;
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.capacity, 1000);
	assert_int_equal(info.bytes, 5);
	info.struct_size = 0;
	assert_refused(weir_image_inspect(weir_location_path(path), &info), -EINVAL, "struct_size",
	               " 0");
	info.struct_size = sizeof info + 1;
	assert_refused(weir_image_inspect(weir_location_path(path), &info), -EINVAL, "struct_size",
	               "");
	assert_refused(weir_image_inspect(weir_location_path(path), NULL), -EINVAL,
	               "weir_image_info is NULL", "_INIT");
	weir_destroy(f);
}

static void test_folded_and_merged_filters_can_be_saved(void **state)
{
	struct weir_filter *f = filled(WEIR_BLOCKED, NULL, 200000), *half, *back;
	struct weir_stats stats = WEIR_STATS_INIT;
	(void)state;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	assert_true(stats.shards >= 2);
	for (uint32_t factor = 2; factor <= stats.shards; factor *= 2) {
		assert_ok(weir_fold(&half, f, factor));
		assert_ok(weir_save(half, weir_location_path(path), NULL));
		assert_ok(weir_load(&back, weir_location_path(path), NULL));
		assert_same_answers(half, back, 2000);
		weir_destroy(half);
		weir_destroy(back);
	}
	weir_destroy(f);
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode;
}

static void test_files_get_the_right_mode(void **state)
{
	struct weir_filter *f = filled(WEIR_BLOCKED, NULL, 50);
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	mode_t mask = umask(027);
	(void)state;
	unlink(path);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(mode_of(path) & 07777, 0640);
	assert_int_equal(chmod(path, 0604), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	/* a save keeps the mode of the replaced file */
	assert_int_equal(mode_of(path) & 07777, 0604);
	options.mode = 0755;
	assert_ok(weir_save(f, weir_location_path(path), &options));
	assert_int_equal(mode_of(path) & 07777, 0755);
	unlink(path);
	assert_ok(weir_save(f, weir_location_path(path), &options));
	assert_int_equal(mode_of(path) & 07777, 0755);
	options.mode = 0777; /* the highest mode */
	assert_ok(weir_save(f, weir_location_path(path), &options));
	assert_int_equal(mode_of(path) & 07777, 0777);
	umask(mask);
	unlink(path);
	weir_destroy(f);
}

static void test_links_are_followed(void **state)
{
	struct weir_filter *f = filled(WEIR_BLOCKED, NULL, 50), *g;
	char link[4200];
	(void)state;
	snprintf(link, sizeof link, "%s/link", folder);
	unlink(path);
	assert_int_equal(symlink("set.weir", link), 0);
	assert_refused(weir_save(f, weir_location_path(link), NULL), -ENOENT, link,
	               "does not exist");
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_save(f, weir_location_path(link), NULL));
	assert_true(S_ISLNK(mode_of(link)));
	assert_true(S_ISREG(mode_of(path)));
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	weir_destroy(g);
	unlink(link);
	assert_int_equal(symlink("link", link), 0);
	assert_refused(weir_save(f, weir_location_path(link), NULL), -ELOOP, link, "link");
	assert_refused(weir_load(&g, weir_location_path(link), NULL), -ELOOP, link, "link");
	unlink(link);
	assert_int_equal(symlink(path, link), 0); /* a link to an absolute path */
	assert_ok(weir_save(f, weir_location_path(link), NULL));
	assert_same_files(link, path);
	unlink(link);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink("other.weir", "link"), 0); /* neither name includes a folder */
	assert_ok(weir_save(f, weir_location_path("other.weir"), NULL));
	assert_ok(weir_save(f, weir_location_path("link"), NULL));
	assert_same_files("other.weir", path);
	unlink("link"), unlink("other.weir");
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_refused(weir_save(f, weir_location_path("link"), NULL), -EINVAL, "link", "regular");
	unlink("link");
	assert_int_equal(symlink("/", "link"), 0);
	assert_refused(weir_save(f, weir_location_path("link"), NULL), -EISDIR, "link",
	               "directory");
	unlink("link");
	assert_int_equal(chdir("/"), 0);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_can_be_saved_and_loaded),
		cmocka_unit_test(test_bits_of_large_images_are_aligned),
		cmocka_unit_test(test_every_isa_reads_every_isa),
		cmocka_unit_test(test_inspect_reports_the_head),
		cmocka_unit_test(test_folded_and_merged_filters_can_be_saved),
		cmocka_unit_test(test_files_get_the_right_mode),
		cmocka_unit_test(test_links_are_followed),
	};
	return cmocka_run_group_tests(tests, setup, folder_teardown);
}
