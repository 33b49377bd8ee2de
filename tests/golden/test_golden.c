/* SPDX-License-Identifier: MIT
 * The bits and the image format stay the same on every machine, instruction set and version.
 * Filters made by this test (tests/kinds defines them) equal the checked-in files byte for byte,
 * and the checked-in files still answer as they did when they were made.
 *
 * test_golden FOLDER: test.   test_golden FOLDER write: make the files of a new kind or format
 * version, and print the values to pin. The files of a released version must not change. The zstd
 * image is only read, because another zstd may compress the same bits differently. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"
#include "../kinds/kind.h"
#include "../texts.h"

enum { OTHERS = 20000 };

static const char *fixtures;
static const unsigned char key_of_keyed[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	                                        15 };

static bool packed(const struct test_golden *golden)
{
	return strstr(golden->name, "zstd") != NULL;
}

static bool keyed(const struct test_golden *golden)
{
	return strstr(golden->name, "keyed") != NULL;
}

static bool normal(const struct test_golden *golden)
{
	return strstr(golden->name, "normal") != NULL;
}

/* Return: the number of excluded keys. These keys follow the inserted keys. */
static uint64_t excluded(const struct test_golden *golden)
{
	return strstr(golden->name, "excluded") ? 8 * golden->keys : 0;
}

/* IPv4 prefixes of 8, 16, 24 and 32 bits, and IPv6 prefixes of 32, 48, 64 and 128 bits. */
static const struct weir_text cidr = {
	.steps = WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE | WEIR_TEXT_CIDR,
	.ipv4 = UINT64_C(0x101010100),
	.ipv6 = { UINT64_C(0x1000100000000), 1, 1 },
};

/* Keys of 4 to about 280 bytes, which take every path through the hash function. */
static size_t key_of(uint64_t i, char key[512])
{
	int n = snprintf(key, 512, "key%llu", (unsigned long long)i);
	memset(key + n, 'x', i % 280);
	return (size_t)n + i % 280;
}

/* Insert the keys into the empty filter @f. With an exclude list, replace @f by a filter built from
 * both lists. */
static void build(struct weir_filter **f, const struct test_golden *golden, const uint64_t *hashes)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_builder *b;
	if (!excluded(golden)) {
		assert_ok(test_fill(f, hashes, golden->keys));
		return;
	}
	assert_ok(weir_params_of(*f, &params));
	assert_ok(weir_builder_create(&b, &params, NULL));
	assert_ok(weir_builder_add_keys(b, weir_keys_hashes(hashes, golden->keys)));
	assert_ok(weir_builder_seal(b));
	assert_ok(weir_builder_exclude_keys(b, weir_keys_hashes(hashes + golden->keys,
	                                                        excluded(golden))));
	weir_destroy(*f);
	assert_ok(weir_builder_finish(f, b, NULL));
	weir_builder_destroy(b);
}

static struct weir_filter *make(const struct test_golden *golden)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	char key[512];
	params.capacity = golden->capacity;
	params.fp_rate = 0.01;
	assert_ok(weir_params_shape(&params, &golden->shape));
	if (keyed(golden))
		params.secret = key_of_keyed;
	else
		params.seed = test_seed(params.kind, UINT64_C(0x0123456789abcdef));
	assert_ok(weir_create(&f, &params));
	if (test_takes_inserts(f)) {
		for (uint64_t i = 0; i < golden->keys; i++)
			assert_ok(weir_insert(f, key, key_of(i, key)));
		if (normal(golden))
			test_text_set(f, &cidr);
		return f;
	}
	const uint64_t listed = golden->keys + excluded(golden);
	uint64_t *hashes = malloc(listed * sizeof *hashes);
	for (uint64_t i = 0; i < listed; i++)
		hashes[i] = weir_hash(f, key, key_of(i, key));
	build(&f, golden, hashes);
	free(hashes);
	return f;
}

static void fixture(const struct test_golden *golden, char name[4200])
{
	snprintf(name, 4200, "%s/%s.weir", fixtures, golden->name);
}

/* The files contain raw keys, so a lookup skips the normalisation steps of @f. */
static bool contains(const struct weir_filter *f, const char *key, size_t len)
{
	return f->raw.contains_hash(f, weir__hash_by(&f->hashing, key, len));
}

static uint64_t false_positives(const struct weir_filter *f, const struct test_golden *golden)
{
	char key[512];
	uint64_t n = 0;
	const uint64_t listed = golden->keys + excluded(golden);
	for (uint64_t i = listed; i < listed + OTHERS; i++)
		n += contains(f, key, key_of(i, key));
	return n;
}

/* Check that every key is found, and that the number of false positives is the pinned number. */
static void assert_answers(const struct weir_filter *f, const struct test_golden *golden)
{
	char key[512];
	struct weir_text done, none = { 0 };
	weir_text_of(f, &done);
	assert_memory_equal(&done, normal(golden) ? &cidr : &none, sizeof done);
	for (uint64_t i = 0; i < golden->keys; i++)
		assert_true(contains(f, key, key_of(i, key)));
	for (uint64_t i = golden->keys; i < golden->keys + excluded(golden); i++)
		assert_false(contains(f, key, key_of(i, key)));
	assert_int_equal(false_positives(f, golden), golden->false_positives);
}

static struct weir_load_options load_options(const struct test_golden *golden)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.secret = keyed(golden) ? key_of_keyed : NULL;
	return options;
}

static void save(const struct weir_filter *f, const struct test_golden *golden, const char *to,
                 int level)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.generation = 1234567890123;
	options.zstd_level = level;
	options.marks = keyed(golden) ? WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED : 0;
	assert_ok(weir_save(f, weir_location_path(to), &options));
}

static void for_each(void (*body)(const struct test_golden *golden))
{
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->goldens.n; i++)
			body(&kind->goldens.rows[i]);
}

/* Check that the plain image of @f has the pinned hash. Check that it equals the checked-in file,
 * unless that file is compressed. */
static void assert_saves_as(const struct weir_filter *f, const struct test_golden *golden)
{
	char name[4200];
	size_t n = 0, m = 0;
	fixture(golden, name);
	save(f, golden, path, 0);
	unsigned char *bytes = image_slurp(path, &n), *pinned = image_slurp(name, &m);
	assert_non_null(bytes);
	assert_non_null(pinned);
	assert_true(XXH3_64bits(bytes, n) == golden->sum);
	if (!packed(golden)) {
		assert_int_equal(n, m);
		assert_memory_equal(bytes, pinned, n);
	}
	free(bytes);
	free(pinned);
}

static void made_here(const struct test_golden *golden)
{
	struct weir_filter *f = make(golden);
	assert_answers(f, golden);
	assert_saves_as(f, golden);
	weir_destroy(f);
}

static void loaded(const struct test_golden *golden)
{
	char name[4200];
	struct weir_filter *f;
	if (packed(golden) && !TEST_ZSTD)
		return;
	struct weir_load_options options = load_options(golden);
	fixture(golden, name);
	assert_ok(weir_load(&f, weir_location_path(name), &options));
	assert_answers(f, golden);
	assert_saves_as(f, golden);
	weir_destroy(f);
}

static void mapped(const struct test_golden *golden)
{
	char name[4200];
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++) {
		struct weir_filter *f;
		size_t n = 0;
		if (packed(golden) || (mode == WEIR_MAP_LIVE && test_grows(golden->shape.kind)))
			continue;
		fixture(golden, name);
		/* map a copy, because a live mapping writes to its file */
		unsigned char *bytes = image_slurp(name, &n);
		assert_true(image_spit(path, bytes, n));
		free(bytes);
		struct weir_load_options options = load_options(golden);
		int err = weir_load(&f, weir_location_map(path, (enum weir_map_mode)mode),
		                    &options);
		if (mode == WEIR_MAP_LIVE && err == -ENOTSUP) /* the kind has no live mapping */
			continue;
		assert_ok(err);
		assert_answers(f, golden);
		assert_saves_as(f, golden);
		weir_destroy(f);
	}
}

static void write_fixture(const struct test_golden *golden)
{
	char name[4200];
	size_t n = 0;
	struct weir_filter *f = make(golden);
	fixture(golden, name);
	save(f, golden, name, 0);
	unsigned char *bytes = image_slurp(name, &n);
	printf("%s, %llu, UINT64_C(0x%016llx)\n", golden->name,
	       (unsigned long long)false_positives(f, golden),
	       (unsigned long long)XXH3_64bits(bytes, n));
	if (packed(golden))
		save(f, golden, name, 19);
	free(bytes);
	weir_destroy(f);
}

static void test_made_here(void **state) { (void)state; for_each(made_here); }
static void test_loaded(void **state) { (void)state; for_each(loaded); }
static void test_mapped(void **state) { (void)state; for_each(mapped); }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_here),
		cmocka_unit_test(test_loaded),
		cmocka_unit_test(test_mapped),
	};
	fixtures = argc > 1 ? argv[1] : ".";
	if (argc > 2 && strcmp(argv[2], "write") == 0) {
		for_each(write_fixture);
		return 0;
	}
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
