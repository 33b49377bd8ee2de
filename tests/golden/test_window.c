/* SPDX-License-Identifier: MIT
 * The images of windows stay the same on every machine, instruction set and version, except for the
 * time of the save. Windows made by this test equal the checked-in files, and the checked-in files
 * still answer as they did when they were made.
 *
 * test_golden_window FOLDER: test.  FOLDER write: make new files and print the values to pin. The
 * files of a released version must not change. */
#include <weir/window.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { EACH = 300, OTHERS = 20000, SAVED = 216 };

static const char *fixtures;
static uint64_t now_ns;

static const struct golden {
	const char *name;
	uint32_t generations, layout, words_per_key, advances;
	uint64_t false_positives;
} goldens[] = {
	{ "window_columns_7", 7, WEIR_WINDOW_COLUMNS, 1, 10, 159 },
	{ "window_columns_3", 3, WEIR_WINDOW_COLUMNS, 1, 1, 73 }, /* one generation is unused */
	{ "window_columns_9", 9, WEIR_WINDOW_COLUMNS, 1, 9, 169 },
	{ "window_ring_z1", 3, WEIR_WINDOW_RING, 1, 4, 128 },
	{ "window_ring_z2", 5, WEIR_WINDOW_RING, 2, 5, 125 },
};

static uint64_t test_clock(void *unused)
{
	(void)unused;
	return now_ns;
}

/* Advance about once a second. Key i is inserted after i / EACH advances. */
static struct weir_filter *made(const struct golden *golden)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *w = NULL;
	o.kind = WEIR_WINDOW;
	o.window.generations = golden->generations;
	o.window.layout = golden->layout;
	o.window.words_per_key = golden->words_per_key;
	o.capacity = (uint64_t)EACH * golden->generations;
	o.fp_rate = 0.01;
	o.window.span_seconds = golden->generations - 1;
	o.window.generation_keys = EACH;
	o.seed = UINT64_C(0x0123456789abcdef);
	o.window.run.clock = test_clock;
	now_ns = UINT64_C(1000000000000);
	assert_ok(weir_create(&w, &o));
	for (uint64_t i = 0; i < (uint64_t)EACH * golden->advances + EACH / 2; i++) {
		if (i && i % EACH == 0) {
			now_ns += 1000000000 + 10000000 * (i / EACH);
			assert_ok(weir_window_advance(w));
		}
		uint64_t key = htole64(i); /* the same bytes on every machine */
		assert_true(weir_insert(w, &key, 8) >= 0);
	}
	now_ns += 250000000;
	return w;
}

static uint64_t false_positives(const struct weir_filter *w)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < OTHERS; i++) {
		char key[32];
		int len = snprintf(key, sizeof key, "other %llu", (unsigned long long)i);
		n += weir_contains(w, key, (size_t)len);
	}
	return n;
}

/* Check the answers. weir_age() reports the newest match, so false positives can only lower an
 * age. */
static void assert_answers(const struct weir_filter *w, const struct golden *golden)
{
	for (uint64_t i = 0; i < (uint64_t)EACH * golden->advances + EACH / 2; i++) {
		uint64_t back = golden->advances - i / EACH, key = htole64(i);
		int age = weir_age(w, &key, 8);
		if (back < golden->generations)
			assert_in_range(age, 0, back);
	}
	assert_int_equal(false_positives(w), golden->false_positives);
}

static void fixture(const struct golden *golden, char name[4200])
{
	snprintf(name, 4200, "%s/%s.weir", fixtures, golden->name);
}

static void save(const struct weir_filter *w, const char *to)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.generation = 1234567890123;
	assert_ok(weir_save(w, weir_location_path(to), &options));
}

/* Check that the image at path equals the file, except for the time of the save. */
static void assert_is(const struct golden *golden)
{
	char name[4200];
	size_t n = 0, m = 0;
	fixture(golden, name);
	unsigned char *bytes = image_slurp(path, &n), *pinned = image_slurp(name, &m);
	assert_non_null(bytes);
	assert_non_null(pinned);
	memcpy(bytes + SAVED, pinned + SAVED, 8);
	image_repair(bytes, n);
	assert_int_equal(n, m);
	assert_memory_equal(bytes, pinned, n);
	free(bytes);
	free(pinned);
}

static void made_here(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		struct weir_filter *w = made(&goldens[i]);
		assert_answers(w, &goldens[i]);
		save(w, path);
		assert_is(&goldens[i]);
		weir_destroy(w);
	}
}

static void loaded(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	o.run.clock = test_clock;
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		char name[4200];
		struct weir_filter *w = NULL;
		fixture(&goldens[i], name);
		assert_ok(weir_image_verify(weir_location_path(name), NULL, NULL));
		assert_ok(weir_load(&w, weir_location_path(name), &o));
		assert_answers(w, &goldens[i]);
		save(w, path);
		assert_is(&goldens[i]);
		weir_destroy(w);
	}
}

static void write_fixtures(void)
{
	for (unsigned i = 0; i < COUNT_OF(goldens); i++) {
		char name[4200];
		struct weir_filter *w = made(&goldens[i]);
		fixture(&goldens[i], name);
		save(w, name);
		printf("%s, %llu\n", goldens[i].name, (unsigned long long)false_positives(w));
		weir_destroy(w);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_here),
		cmocka_unit_test(loaded),
	};
	fixtures = argc > 1 ? argv[1] : ".";
	if (argc > 2 && strcmp(argv[2], "write") == 0) {
		write_fixtures();
		return 0;
	}
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
