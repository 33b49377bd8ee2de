/* SPDX-License-Identifier: MIT
 * The keys of benchmarks and examples are distinct, the same in every run, and of the form that
 * their comments promise. */
#include <endian.h>
#include "../test.h"
#include "../../bench/keys.h"

enum { N = 200000, ROOM = KEY_URL_ROOM };

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, ROOM);
}

typedef void make_fn(char to[ROOM], uint64_t seed, uint64_t i);

static void address(char to[ROOM], uint64_t seed, uint64_t i)
{
	uint32_t key = htole32(key_address(seed, i));
	memcpy(to, &key, sizeof key);
}

static void url(char to[ROOM], uint64_t seed, uint64_t i)
{
	size_t len = key_url(to, seed, i, NULL);
	assert_int_equal(len, strlen(to));
}

static void telephone(char to[ROOM], uint64_t seed, uint64_t i)
{
	size_t len = key_telephone(to, seed, i);
	assert_int_equal(len, strlen(to));
	assert_in_range(len, 12, 15); /* E.164: a plus and at most 15 digits */
}

static void sequential(char to[ROOM], uint64_t seed, uint64_t i)
{
	uint64_t key = htole64(key_user_sequential(seed, i));
	memcpy(to, &key, sizeof key);
}

static void snowflake(char to[ROOM], uint64_t seed, uint64_t i)
{
	uint64_t key = htole64(key_user_snowflake(seed, i));
	memcpy(to, &key, sizeof key);
}

static void uuid(char to[ROOM], uint64_t seed, uint64_t i)
{
	key_user_uuid((uint8_t *)to, seed, i);
	assert_int_equal(to[6] & 0xF0, 0x40);
	assert_int_equal(to[8] & 0xC0, 0x80);
}

static make_fn *const makes[] = { address, url, telephone, sequential, snowflake, uuid };

static void distinct(void **unused)
{
	char *keys = malloc((size_t)N * ROOM);
	assert_non_null(keys);
	for (size_t make = 0; make < COUNT_OF(makes); make++) {
		memset(keys, 0, (size_t)N * ROOM);
		for (size_t i = 0; i < N; i++)
			makes[make](keys + i * ROOM, 7, i);
		qsort(keys, N, ROOM, compare);
		for (size_t i = 1; i < N; i++)
			assert_true(compare(keys + (i - 1) * ROOM, keys + i * ROOM) < 0);
	}
	free(keys);
	(void)unused;
}

/* The values are pinned, so that results of different machines and years are for the same keys. */
static void the_same_for_ever(void **unused)
{
	static const uint64_t wanted[] = {
		UINT64_C(0x128FCD61BF8E2DDC), UINT64_C(0xA410376AEC7166BD),
		UINT64_C(0x371F1E71AE27181E),
		UINT64_C(0x8F4620C9BD437DE1), UINT64_C(0xF84079C71E17FA02),
		UINT64_C(0x367DEE244CC58A32),
	};
	for (size_t make = 0; make < COUNT_OF(makes); make++) {
		uint64_t sum = 0;
		for (uint64_t i = 0; i < 1000; i++) {
			char key[ROOM] = { 0 };
			makes[make](key, 7, i * 97);
			for (size_t byte = 0; byte < ROOM; byte++)
				sum = key_scramble(sum + (uint8_t)key[byte]);
		}
		assert_int_equal(sum, wanted[make]);
	}
	(void)unused;
}

static void another_seed_gives_others(void **unused)
{
	for (size_t make = 0; make < COUNT_OF(makes); make++) {
		char a[ROOM] = { 0 }, b[ROOM] = { 0 };
		makes[make](a, 7, 12345);
		makes[make](b, 8, 12345);
		assert_memory_not_equal(a, b, ROOM);
	}
	(void)unused;
}

static void permutations_of_any_size(void **unused)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 256, 4096, 56576, 100003 };
	static unsigned char seen[100003];
	for (size_t k = 0; k < COUNT_OF(sizes); k++) {
		memset(seen, 0, sizeof seen);
		for (uint64_t i = 0; i < sizes[k]; i++) {
			uint64_t to = key_permute(k, i, sizes[k]);
			assert_true(to < sizes[k]);
			assert_int_equal(seen[to]++, 0);
		}
	}
	(void)unused;
}

/* The keys of a network lie in 16 runs of 256. No network is in 10/8 or 127/8. */
static void addresses_are_clustered(void **unused)
{
	static bool runs[1 << 24], networks[1 << 16];
	size_t run = 0, network = 0;
	for (uint64_t i = 0; i < N; i++) {
		uint32_t key = key_address(7, i);
		run += !runs[key >> 8];
		network += !networks[key >> 16];
		runs[key >> 8] = networks[key >> 16] = 1;
		assert_in_range(key >> 24, 1, 223);
		assert_true(key >> 24 != 10 && key >> 24 != 127);
	}
	assert_int_equal(network, (N + KEY_NETWORK - 1) / KEY_NETWORK);
	assert_int_equal(run, network * 16);
	(void)unused;
}

static void snowflakes_grow(void **unused)
{
	for (uint64_t i = 0; i + 4 < N; i++)
		assert_true(key_user_snowflake(7, i) < key_user_snowflake(7, i + 4));
	(void)unused;
}

static void lines_of_files(void **unused)
{
	struct key_lines lines;
	char folder[] = "/tmp/weir-keys-XXXXXX", name[64], key[ROOM];
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof name, "%s/%d.list", folder, i);
		FILE *file = fopen(name, "w");
		assert_non_null(file);
		assert_true(fputs(i ? "/usr/bin\n/usr\n" : "/usr\n\n/bin/sh", file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	snprintf(name, sizeof name, "%s/*.list", folder);
	assert_int_equal(key_lines(&lines, name, 1000), 0);
	assert_int_equal(lines.n, 3);
	assert_string_equal(lines.line[0], "/bin/sh");
	assert_string_equal(lines.line[1], "/usr");
	assert_string_equal(lines.line[2], "/usr/bin");
	for (uint64_t i = 0; i < 10; i++) {
		key_url(key, 7, i, &lines);
		assert_true(strstr(key, "/usr") || strstr(key, "/bin/sh"));
	}
	key_lines_free(&lines);
	assert_int_equal(key_lines(&lines, "/nowhere/*.list", 1000), 0);
	assert_int_equal(lines.n, 0);
	key_lines_free(&lines);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof name, "%s/%d.list", folder, i);
		assert_int_equal(unlink(name), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	(void)unused;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distinct),
		cmocka_unit_test(the_same_for_ever),
		cmocka_unit_test(another_seed_gives_others),
		cmocka_unit_test(permutations_of_any_size),
		cmocka_unit_test(addresses_are_clustered),
		cmocka_unit_test(snowflakes_grow),
		cmocka_unit_test(lines_of_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
