/* SPDX-License-Identifier: MIT
 * The images of routers stay the same on every machine and version. Routers made by this test equal
 * the checked-in files, and the checked-in files still answer as they did when they were made.
 *
 * test_golden_router FOLDER: test.  FOLDER write: make new files and print the values to pin. The
 * files of a released version must not change. */
#include "../image_bytes.h"
#include "../folder.h"

enum { EACH = 60, OTHERS = 20000 };

static const char *fixtures;

static const struct golden {
	const char *name;
	uint32_t sets, rows;
	uint64_t false_sets;
} goldens[] = {
	{ "router_8", 5, 6, 0 },
	{ "router_16", 12, 10, 1 },
	{ "router_32", 32, 3, 2766 },
	{ "router_64", 64, 6, 993 },
};

static void number_key(char key[32], uint32_t set, unsigned i)
{
	snprintf(key, 32, "key %u of set %u", i, set);
}

static struct weir_filter *made(const struct golden *golden)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	char name[WEIR_ROUTER_SETS][WEIR_ROUTER_NAME];
	const char *names[WEIR_ROUTER_SETS];
	struct weir_filter *r = NULL;
	char key[32];
	for (uint32_t set = 0; set < golden->sets; set++) {
		snprintf(name[set], sizeof name[set], "shard-%u", set);
		names[set] = name[set];
	}
	o.kind = WEIR_ROUTER;
	o.router.sets = golden->sets;
	o.router.names = names;
	o.router.rows_per_key = golden->rows;
	o.capacity = EACH;
	o.fp_rate = 0.01;
	o.seed = UINT64_C(0x0123456789abcdef);
	assert_ok(weir_create(&r, &o));
	for (uint32_t set = 0; set < golden->sets; set++)
		for (unsigned i = 0; i < EACH; i++) {
			number_key(key, set, i);
			assert_ok(weir_insert_into(r, set, key, strlen(key)));
		}
	return r;
}

static uint64_t false_sets(const struct weir_filter *r)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < OTHERS; i++) {
		char key[32];
		int len = snprintf(key, sizeof key, "other %u", i);
		n += (uint64_t)__builtin_popcountll(weir_route(r, key, (size_t)len));
	}
	return n;
}

static void assert_answers(const struct weir_filter *r, const struct golden *golden)
{
	char key[32], name[WEIR_ROUTER_NAME];
	for (uint32_t set = 0; set < golden->sets; set++) {
		snprintf(name, sizeof name, "shard-%u", set);
		assert_string_equal(weir_router_name(r, set), name);
		for (unsigned i = 0; i < EACH; i++) {
			number_key(key, set, i);
			assert_true(weir_route(r, key, strlen(key)) >> set & 1);
		}
	}
	assert_int_equal(false_sets(r), golden->false_sets);
}

static void fixture(const struct golden *golden, char name[4200])
{
	snprintf(name, 4200, "%s/%s.weir", fixtures, golden->name);
}

static void save(const struct weir_filter *r, const char *to)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.generation = 1234567890123;
	assert_ok(weir_save(r, weir_location_path(to), &options));
}

static void assert_is(const struct golden *golden)
{
	char name[4200];
	size_t n = 0, m = 0;
	fixture(golden, name);
	unsigned char *bytes = image_slurp(path, &n), *pinned = image_slurp(name, &m);
	assert_non_null(bytes);
	assert_non_null(pinned);
	assert_int_equal(n, m);
	assert_memory_equal(bytes, pinned, n);
	free(bytes);
	free(pinned);
}

static void made_here(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		struct weir_filter *r = made(&goldens[i]);
		assert_answers(r, &goldens[i]);
		save(r, path);
		assert_is(&goldens[i]);
		weir_destroy(r);
	}
}

static void loaded_and_mapped(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		char name[4200];
		struct weir_filter *r = NULL;
		fixture(&goldens[i], name);
		assert_ok(weir_image_verify(weir_location_path(name), NULL, NULL));
		assert_ok(weir_load(&r, weir_location_map(name, WEIR_MAP_READ), NULL));
		assert_answers(r, &goldens[i]);
		weir_destroy(r);
		assert_ok(weir_load(&r, weir_location_path(name), NULL));
		assert_answers(r, &goldens[i]);
		save(r, path);
		assert_is(&goldens[i]);
		weir_destroy(r);
	}
}

static void write_fixtures(void)
{
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		char name[4200];
		struct weir_filter *r = made(&goldens[i]);
		fixture(&goldens[i], name);
		save(r, name);
		printf("%s, %llu\n", goldens[i].name, (unsigned long long)false_sets(r));
		weir_destroy(r);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_here),
		cmocka_unit_test(loaded_and_mapped),
	};
	fixtures = argc > 1 ? argv[1] : ".";
	if (argc > 2 && strcmp(argv[2], "write") == 0) {
		write_fixtures();
		return 0;
	}
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
