/* SPDX-License-Identifier: MIT
 * Tests of a kind that supports only lookups, of builds with missing arguments, and of filter sizes
 * that the planner never chooses. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include "toy.h"

static const char *const insert_refused = "kind toy cannot take inserts";

static bool never(const struct weir_filter *f, const void *key, size_t len)
{
	(void)f, (void)key, (void)len;
	return false;
}

static bool never_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return false;
}

static size_t never_batch(const struct weir_filter *f, const struct weir_batch *batch,
                          uint64_t *bitmap)
{
	(void)f;
	toy_none(batch, bitmap);
	return 0;
}

static const struct weir_kernel *poor_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel kernel = { .verbs = { .contains = never,
		                                              .contains_hash = never_hash },
		                                   .contains_batch = never_batch };
	(void)isa, (void)shape;
	return &kernel;
}

static const struct weir_kind poor = { .id = 4711,
	                               .name = "toy",
	                               .hash = &weir__xxh3,
	                               .kernel = poor_kernel };

static void no_whole(const struct weir_filter *f, struct weir_filter *other)
{
	struct weir_filter *out = other;
	struct weir_inline view;
	assert_says(weir_merge(other, f), -ENOTSUP, "kind toy cannot merge");
	assert_says(weir_clone(&out, f), -ENOTSUP, "kind toy cannot be copied");
	assert_says(weir_fold(&out, f, 2), -ENOTSUP, "kind toy cannot fold");
	assert_says(weir_fold(&out, f, 3), -ENOTSUP, "kind toy cannot fold");
	assert_ptr_equal(out, other); /* the failed calls leave out unchanged */
	assert_says(weir_inline_init(&view, f), -ENOTSUP, "kind toy cannot be inlined");
	assert_says(weir_inline_check_layout(f, 2, 3), -ENOTSUP, "kind toy cannot be inlined");
}

static void no_inserts(struct weir_filter *f)
{
	uint64_t hashes[9] = { 1, 2, 3 }, bitmap = 0xa5;
	struct iovec keys[1] = { { hashes, 8 } };
	assert_says(weir_insert(f, "a", 1), -ENOTSUP, insert_refused);
	assert_says(weir_insert_hash(f, 1), -ENOTSUP, insert_refused);
	assert_says(weir_insert_u64(f, 1), -ENOTSUP, insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_hashes(hashes, 3), &bitmap), -ENOTSUP,
	            insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_hashes(NULL, 0), NULL), -ENOTSUP, insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_iov(keys, 1), &bitmap), -ENOTSUP, insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_u64(hashes, 3), &bitmap), -ENOTSUP,
	            insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_fixed(hashes, 3, 3), NULL), -ENOTSUP,
	            insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_hashes(hashes, 9), &bitmap), -ENOTSUP,
	            insert_refused);
	assert_says(weir_insert_keys(f, weir_keys_u64(hashes, 9), &bitmap), -ENOTSUP,
	            insert_refused);
	assert_says(weir_fill_keys(f, weir_keys_hashes(hashes, 3)), -ENOTSUP, insert_refused);
	assert_int_equal(bitmap, 0xa5);
}

static void no_removals_and_counts(struct weir_filter *f)
{
	static const char *const remove = "kind toy cannot remove keys",
	                  *const count = "kind toy cannot count keys";
	uint64_t hashes[3] = { 1, 2, 3 }, bitmap = 0xa5;
	int64_t counts[3] = { 5, 5, 5 };
	struct iovec keys[1] = { { hashes, 8 } };
	assert_says(weir_remove(f, "a", 1), -ENOTSUP, remove);
	assert_says(weir_remove_hash(f, 1), -ENOTSUP, remove);
	assert_says(weir_remove_keys(f, weir_keys_hashes(hashes, 3), &bitmap), -ENOTSUP, remove);
	assert_says(weir_remove_keys(f, weir_keys_iov(keys, 1), &bitmap), -ENOTSUP, remove);
	assert_says(weir_remove_keys(f, weir_keys_u64(hashes, 3), NULL), -ENOTSUP, remove);
	assert_says(weir_count(f, "a", 1), -ENOTSUP, count);
	assert_says(weir_count_hash(f, 1), -ENOTSUP, count);
	assert_says(weir_count_keys(f, weir_keys_hashes(hashes, 3), counts), -ENOTSUP, count);
	assert_says(weir_count_keys(f, weir_keys_iov(keys, 1), counts), -ENOTSUP, count);
	assert_says(weir_count_keys(f, weir_keys_u64(hashes, 3), counts), -ENOTSUP, count);
	assert_true(bitmap == 0xa5 && counts[0] == 5 && counts[1] == 5 && counts[2] == 5);
}

/* The error names the capability that the kind lacks, even if the filters are read-only. */
static void a_missing_capability_is_named(void **state)
{
	static const int errors[] = { 0, -EROFS };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(errors); i++) {
		struct weir_filter *f = toy_make(&poor, LINES, 1, errors[i]),
		                   *other = toy_make(&poor, LINES, 1, errors[i]);
		no_whole(f, other);
		no_inserts(f);
		no_removals_and_counts(f);
		assert_false(weir_contains(f, "a", 1));
		weir_destroy(f), weir_destroy(other);
	}
}

static unsigned files_in(const char *name)
{
	unsigned n = 0;
	DIR *dir = opendir(name);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	return n;
}

/* A refused save creates no file, and keeps an existing file. */
static void a_refused_save_leaves_the_folder_unchanged(void **state)
{
	struct weir_filter *f = toy_make(&poor, LINES, 1, 0);
	struct stat st;
	(void)state;
	assert_says(weir_save(f, weir_location_path(path), NULL), -ENOTSUP,
	            "kind toy cannot be saved");
	assert_int_equal(files_in(folder), 0);
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(write(fd, "before", 6), 6);
	assert_says(weir_save(f, weir_location_path(path), NULL), -ENOTSUP,
	            "kind toy cannot be saved");
	assert_says(weir_save(f, weir_location_fd(fd), NULL), -ENOTSUP, "kind toy cannot be saved");
	assert_int_equal(files_in(folder), 1);
	assert_true(fstat(fd, &st) == 0 && st.st_size == 6);
	close(fd);
	weir_destroy(f);
}

static void kinds_that_cannot_be_built_are_refused(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *f = (void *)&params;
		uint64_t hash = 1;
		char sentence[200];
		params.kind = test_kinds[k];
		params.capacity = 10, params.fp_rate = 0.01;
		params.seed = test_seed(params.kind, SEED);
		int err = weir_build(&f, &params, weir_keys_hashes(&hash, 1), NULL);
		if (err == 0) {
			weir_destroy(f);
			continue;
		}
		snprintf(sentence, sizeof sentence,
		         "kind %s cannot be built: create it, then insert",
		         weir_kind_name(test_kinds[k]));
		assert_says(err, -ENOTSUP, sentence);
		assert_ptr_equal(f, &params);
	}
}

static void a_build_names_its_missing_arguments(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	uint64_t hash = 1;
	(void)state;
	params.fp_rate = 0.01;
	assert_refused(weir_build(NULL, &params, weir_keys_hashes(&hash, 1), NULL), -EINVAL,
	               "out is NULL", "weir_build");
	assert_refused(weir_build(&f, NULL, weir_keys_hashes(&hash, 1), NULL), -EINVAL,
	               "weir_params is NULL", "_INIT");
	params.fp_rate = 0;
	assert_refused(weir_build(&f, &params, weir_keys_hashes(&hash, 1), NULL), -EINVAL,
	               "fp_rate 0", "give one");
	params.fp_rate = 0.01;
	/* the number of hashes gives the capacity, so the missing seed is reported next */
	assert_refused(weir_build(&f, &params, weir_keys_hashes(&hash, 1), NULL), -EINVAL, "seed 0",
	               "made with");
	params.secret = "sixteen secrets!"; /* a secret makes the seed unnecessary */
	assert_refused(weir_build(&f, &params, weir_keys_hashes(NULL, 3), NULL), -EINVAL,
	               "keys.at is NULL", "3");
	params.secret = NULL;
	params.seed = SEED;
	assert_refused(weir_build(&f, &params, weir_keys_hashes(NULL, 3), NULL), -EINVAL,
	               "keys.at is NULL", "3");
	assert_null(f);
}

/* Return: a filter of the given size without bits. Some machines cannot allocate 4 GiB and more. */
static struct weir_filter *without_bits(uint64_t lines, uint32_t shards)
{
	const struct weir_layout layout = { .kind = weir__kind(WEIR_BLOCKED),
		                            .hashing = weir__hashing_seeded(&weir__xxh3, SEED),
		                            .shape = { WEIR_BLOCKED, .field = { 2, 3 } },
		                            .shards = shards,
		                            .lines = lines,
		                            .capacity = lines * 40,
		                            .fp_rate = 0.01 };
	const struct weir_memory none = { .bits = NULL };
	struct weir_filter *f = NULL;
	assert_ok(weir__filter_make(&f, &layout, &none, 0));
	return f;
}

/* Asserts that the parameters of a filter give a plan with the filter's size and shards. */
static void assert_exact(uint64_t lines, uint32_t shards)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = without_bits(lines, shards);
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_plan_make(&params, &plan));
	if (plan.bytes != 64 * lines || plan.shards != shards)
		fail_msg("%llu lines in %u shards: planned are %llu in %u",
		         (unsigned long long)lines, shards, (unsigned long long)plan.bytes / 64,
		         plan.shards);
	free(f);
}

/* Above 4 GiB, planned sizes are multiples of 65536 lines, because the number of shards no longer
 * grows. A fold can give a size that is not a multiple of 65536 lines. */
static void a_fold_above_4_gib_has_parameters(void **state)
{
	static const uint64_t sizes[] = { 2047, 2048, 2049, 4095, 4097, 4098, 6143, 10007, 65537 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		params.max_bytes = 64 * 65536 * sizes[i];
		params.capacity = params.max_bytes;
		assert_ok(weir_plan_make(&params, &plan));
		assert_true(plan.bytes == params.max_bytes && plan.shards == 65536);
		/* the factors that weir_fold() supports */
		for (uint32_t factor = 1; factor <= 65536; factor *= 2)
			assert_exact(65536 * sizes[i] / factor, 65536 / factor);
	}
}

/* An image from another writer may have any number of lines, and shards of 1024 lines or more. */
static void a_foreign_size_has_parameters(void **state)
{
	struct weir_layout layout = { .kind = weir__kind(WEIR_BLOCKED),
		                      .hashing = weir__hashing_seeded(&weir__xxh3, SEED),
		                      .shape = { WEIR_BLOCKED, .field = { 2, 3 } },
		                      .shards = 1,
		                      .lines = 3001,
		                      .capacity = 100000,
		                      .fp_rate = 0.01 };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_memory memory;
	struct weir_filter *f;
	(void)state;
	assert_ok(weir__memory_alloc(&memory, 64 * layout.lines, 0, NULL, 0));
	assert_ok(weir__filter_make(&f, &layout, &memory, 0));
	struct weir_params older = WEIR_PARAMS_INIT;
	struct weir_filter *like = NULL;
	older.struct_size = offsetof(struct weir_params, blocked);
	assert_refused(weir_params_of(f, &older), -EINVAL, "no room for blocked.", "which is 2");
	assert_int_equal(older.capacity, 0);
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_create(&like, &params));
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	assert_ok(weir_merge(like, f));
	assert_true(weir_contains(like, "key", 3));
	weir_destroy(like);
	/* the planner refuses this capacity, and weir_params_of() must not round it */
	f->capacity = UINT64_C(1) << 40;
	assert_refused(weir_params_of(f, &params), -EINVAL, "192064", "rate would be");
	weir_destroy(f);
	for (uint32_t shards = 1; shards <= 65536; shards *= 2) {
		assert_exact(UINT64_C(1024) * shards, shards);
		assert_exact(UINT64_C(1025) * shards, shards);
		assert_exact(UINT64_C(1024) * 65536 * 3, shards);
	}
}

/* The hashes are computed through function pointers and through weir__hash_by(). */
static void hashes_equal_xxhash(void **state)
{
	const struct weir_hashing xxh3 = weir__hashing_seeded(&weir__xxh3, SEED),
	                          xxh64 = weir__hashing_seeded(&weir__xxh64, SEED);
	char key[300];
	(void)state;
	for (size_t n = 0; n < sizeof key; n++) {
		key[n] = (char)(7 * n);
		assert_int_equal(weir__xxh3.of(&xxh3, key, n), XXH3_64bits_withSeed(key, n, SEED));
		assert_int_equal(weir__hash_by(&xxh64, key, n), XXH64(key, n, SEED));
		assert_int_equal(weir__hash_by(&xxh3, key, n), XXH3_64bits_withSeed(key, n, SEED));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_capability_is_named),
		cmocka_unit_test_setup_teardown(a_refused_save_leaves_the_folder_unchanged,
		                                folder_setup,
		                                folder_teardown),
		cmocka_unit_test(kinds_that_cannot_be_built_are_refused),
		cmocka_unit_test(a_build_names_its_missing_arguments),
		cmocka_unit_test(a_fold_above_4_gib_has_parameters),
		cmocka_unit_test(a_foreign_size_has_parameters),
		cmocka_unit_test(hashes_equal_xxhash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
