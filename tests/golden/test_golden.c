/* SPDX-License-Identifier: MIT
 * The bits and the image format are the same on every machine, instruction set and version, for
 * ever: filters made here equal the files checked in beside this test byte for byte, and those
 * files answer as they did when they were made.
 *
 * test_golden FOLDER: test.   test_golden FOLDER write: make the files of a new format version, and
 * show what to pin of them; a version that was released keeps its files. The zstd image is only
 * read: another zstd may pack the same bits otherwise. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

struct golden {
	const char *name;
	struct weir_shape shape;
	uint64_t capacity, keys;
	uint64_t false_positives; /* among OTHERS keys that are not in it */
	uint64_t sum;             /* XXH3-64 of the plain image */
};

enum { OTHERS = 20000 };

static const struct golden table[] = {
	{ "blocked_z1g5", { WEIR_BLOCKED, { 1, 5 } }, 500, 500, 160, UINT64_C(0x0bbc0b3a5f9daa35) },
	{ "blocked_z2g3", { WEIR_BLOCKED, { 2, 3 } }, 500, 500, 131, UINT64_C(0x6a329c09f99aa46c) },
	/* all twenty fields */
	{ "blocked_z2g10", { WEIR_BLOCKED, { 2, 10 } }, 300, 300, 104, UINT64_C(0x61eab3bfb761cc08) },
	{ "blocked_z4g2", { WEIR_BLOCKED, { 4, 2 } }, 500, 500, 167, UINT64_C(0x637b8dd0a61d4ec7) },
	{ "blocked_z4g5", { WEIR_BLOCKED, { 4, 5 } }, 300, 300, 56, UINT64_C(0xca550d3f779e414f) },
	{ "blocked_z8g1", { WEIR_BLOCKED, { 8, 1 } }, 500, 500, 165, UINT64_C(0x9120dcd16b7ce38b) },
	{ "blocked_z8g2", { WEIR_BLOCKED, { 8, 2 } }, 500, 500, 76, UINT64_C(0x449e558ad6588cfe) },
	{ "classic_k7", { WEIR_CLASSIC, { 7, 1 } }, 500, 500, 128, UINT64_C(0x27df134f0c01054e) },
	{ "classic_k13", { WEIR_CLASSIC, { 13, 1 } }, 300, 300, 91, UINT64_C(0xd993953015c094cd) },
	/* several shards, nearly empty so that the file is small */
	{ "shards_zstd", { WEIR_BLOCKED, { 2, 3 } }, 120000, 300, 0, UINT64_C(0x9c899d1ecdbc97f5) },
};

static const char *fixtures;
static bool packed(const struct golden *golden)
{
	return strstr(golden->name, "zstd") != NULL;
}

/* Keys of 4 to some 280 bytes: every way through the hash function. */
static size_t key_of(uint64_t i, char key[512])
{
	int n = snprintf(key, 512, "key%llu", (unsigned long long)i);
	memset(key + n, 'x', i % 280);
	return (size_t)n + i % 280;
}

static struct weir_filter *make(const struct golden *golden)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	char key[512];
	params.capacity = golden->capacity;
	params.fp_rate = 0.01;
	assert_ok(weir_params_ask(&params, &golden->shape));
	params.seed = UINT64_C(0x0123456789abcdef);
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < golden->keys; i++)
		assert_ok(weir_insert(f, key, key_of(i, key)));
	return f;
}

static void fixture(const struct golden *golden, char name[4200])
{
	snprintf(name, 4200, "%s/%s.weir", fixtures, golden->name);
}

static uint64_t false_positives(const struct weir_filter *f, const struct golden *golden)
{
	char key[512];
	uint64_t n = 0;
	for (uint64_t i = golden->keys; i < golden->keys + OTHERS; i++)
		n += weir_contains(f, key, key_of(i, key));
	return n;
}

/* Every key is there, and just as many others as ever. */
static void assert_answers(const struct weir_filter *f, const struct golden *golden)
{
	char key[512];
	for (uint64_t i = 0; i < golden->keys; i++)
		assert_true(weir_contains(f, key, key_of(i, key)));
	assert_int_equal(false_positives(f, golden), golden->false_positives);
}

static void save(const struct weir_filter *f, const char *to, int level)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.generation = 1234567890123;
	options.zstd_level = level;
	assert_ok(weir_save(f, to, &options));
}

/* What f saves as a plain image is what was pinned, and where the fixture is plain the fixture
 * itself. */
static void assert_saves_as(const struct weir_filter *f, const struct golden *golden)
{
	char name[4200];
	size_t n = 0, m = 0;
	fixture(golden, name);
	save(f, path, 0);
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

static void test_made_here(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(table); i++) {
		struct weir_filter *f = make(&table[i]);
		assert_answers(f, &table[i]);
		assert_saves_as(f, &table[i]);
		weir_destroy(f);
	}
}

static void test_loaded(void **state)
{
	char name[4200];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(table); i++) {
		struct weir_filter *f;
		if (packed(&table[i]) && !TEST_ZSTD)
			continue;
		fixture(&table[i], name);
		assert_ok(weir_load(&f, name, NULL));
		assert_answers(f, &table[i]);
		assert_saves_as(f, &table[i]);
		weir_destroy(f);
	}
}

static void test_mapped(void **state)
{
	char name[4200];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(table); i++)
		for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++) {
			struct weir_filter *f;
			size_t n = 0;
			if (packed(&table[i]))
				continue;
			fixture(&table[i], name);
			/* a copy: live mapping writes to its file */
			unsigned char *bytes = image_slurp(name, &n);
			assert_true(image_spit(path, bytes, n));
			free(bytes);
			assert_ok(weir_map(&f, path, (enum weir_map_mode)mode, NULL));
			assert_answers(f, &table[i]);
			assert_saves_as(f, &table[i]);
			weir_destroy(f);
		}
}

static int write_fixtures(void)
{
	for (unsigned i = 0; i < COUNT_OF(table); i++) {
		char name[4200];
		size_t n = 0;
		struct weir_filter *f = make(&table[i]);
		fixture(&table[i], name);
		save(f, name, 0);
		unsigned char *bytes = image_slurp(name, &n);
		printf("%s, %llu, UINT64_C(0x%016llx)\n", table[i].name,
		       (unsigned long long)false_positives(f, &table[i]),
		       (unsigned long long)XXH3_64bits(bytes, n));
		if (packed(&table[i]))
			save(f, name, 19);
		free(bytes);
		weir_destroy(f);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_here),
		cmocka_unit_test(test_loaded),
		cmocka_unit_test(test_mapped),
	};
	fixtures = argc > 1 ? argv[1] : ".";
	if (argc > 2 && strcmp(argv[2], "write") == 0)
		return write_fixtures();
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
