/* SPDX-License-Identifier: MIT
 * Each kind's image in each form that a save can give it: plain, compressed with zstd, keyed,
 * normalised, and with marks. Version 0.2 saved the files. The library must load each file and save
 * it again byte for byte.
 *
 * test_golden_variants FOLDER: test.  FOLDER write: make the files of a new kind. The files of a
 * released version must not change. */
#include <errno.h>
#include <stdlib.h>
#include <weir/router.h>
#include <weir/window.h>
#include "../folder.h"
#include "../image_bytes.h"
#include "../kinds/kind.h"
#include "../texts.h"

enum { KEYS = 200, SAVED = 216, GENERATION = 1234567 };

static const char *fixtures;
static const unsigned char secret[16] = "sixteen bytes..";
static const struct weir_text trimmed = {
	.steps = WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE | WEIR_TEXT_SUFFIXES,
	.labels = { UINT64_C(1) << 3 },
};

static const struct variant {
	const char *name;
	bool keyed;
	const struct weir_text *normal; /* NULL: no normalisation */
	uint32_t marks;
	int level; /* zstd level */
} variants[] = {
	{ "plain", false, NULL, 0, 0 },
	{ "zstd", false, NULL, 0, 3 },
	{ "keyed", true, NULL, 0, 0 },
	{ "normalised", false, &trimmed, 0, 0 },
	{ "marks", false, NULL, WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED, 0 },
};

/* Windows and routers save neither normalisation nor marks, so only the first BARE_VARIANTS
 * variants apply to them. */
enum { BARE_VARIANTS = 3 };

/* The calls that make, load, save and destroy a filter, a window or a router. */
struct subject {
	const char *kind;
	int (*make)(void **out, uint32_t id, const struct variant *v);
	int (*load)(void **out, const char *from, const struct variant *v);
	int (*save)(const void *of, const char *to, const struct weir_save_options *options);
	void (*end)(void *of);
};

static size_t key_of(unsigned i, char key[32])
{
	return (size_t)snprintf(key, 32, "host%u.example.org", i);
}

static struct weir_load_options to_load(const struct variant *v)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.secret = v->keyed ? secret : NULL;
	return options;
}

static int filter_make(void **out, uint32_t id, const struct variant *v)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	uint64_t hashes[KEYS];
	char key[32];
	params.kind = id;
	params.capacity = KEYS;
	params.fp_rate = 0.01;
	params.secret = v->keyed ? secret : NULL;
	params.seed = v->keyed ? 0 : test_seed(id, 77);
	int err = weir_create(&f, &params);
	if (err)
		return err;
	for (unsigned i = 0; i < KEYS; i++)
		hashes[i] = weir_hash(f, key, key_of(i, key));
	assert_ok(test_fill(&f, hashes, KEYS));
	if (v->normal && !(weir_kind_can(id, WEIR_CAN_NORMALISE))) {
		weir_destroy(f);
		return -EINVAL;
	}
	if (v->normal)
		test_text_set(f, v->normal);
	*out = f;
	return 0;
}

static int filter_load(void **out, const char *from, const struct variant *v)
{
	const struct weir_load_options options = to_load(v);
	return weir_load((struct weir_filter **)out, weir_location_path(from), &options);
}

static int filter_save(const void *of, const char *to, const struct weir_save_options *options)
{
	return test_done(weir_save(of, weir_location_path(to), options));
}

static void filter_end(void *of)
{
	weir_destroy(of);
}

static uint64_t stopped_clock(void *unused)
{
	(void)unused;
	return UINT64_C(1000000000000);
}

static int window_make(void **out, uint32_t layout, const struct variant *v)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *w;
	char key[32];
	o.kind = WEIR_WINDOW;
	o.window.generations = 4;
	o.window.layout = layout;
	o.capacity = KEYS;
	o.fp_rate = 0.01;
	o.window.span_seconds = 60;
	o.seed = v->keyed ? 0 : 77;
	o.secret = v->keyed ? secret : NULL;
	o.window.run.clock = stopped_clock;
	assert_ok(weir_create(&w, &o));
	for (unsigned i = 0; i < KEYS; i++) {
		if (i == KEYS / 2)
			assert_ok(weir_window_advance(w));
		assert_true(weir_insert(w, key, key_of(i, key)) >= 0);
	}
	*out = w;
	return 0;
}

static int window_load(void **out, const char *from, const struct variant *v)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.secret = v->keyed ? secret : NULL;
	o.run.clock = stopped_clock;
	return weir_load((struct weir_filter **)out, weir_location_path(from), &o);
}

static int window_save(const void *of, const char *to, const struct weir_save_options *options)
{
	return test_done(weir_save(of, weir_location_path(to), options));
}

static void window_end(void *of)
{
	weir_destroy(of);
}

static int router_make(void **out, uint32_t unused, const struct variant *v)
{
	static const char *const names[] = { "eu", "us", "asia" };
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *r;
	char key[32];
	(void)unused;
	o.kind = WEIR_ROUTER;
	o.router.sets = COUNT_OF(names);
	o.router.names = names;
	o.capacity = KEYS;
	o.fp_rate = 0.01;
	o.seed = v->keyed ? 0 : 77;
	o.secret = v->keyed ? secret : NULL;
	assert_ok(weir_create(&r, &o));
	for (unsigned i = 0; i < KEYS; i++)
		assert_ok(weir_insert_into(r, i % COUNT_OF(names), key, key_of(i, key)));
	*out = r;
	return 0;
}

static int router_load(void **out, const char *from, const struct variant *v)
{
	const struct weir_load_options options = to_load(v);
	return weir_load((struct weir_filter **)out, weir_location_path(from), &options);
}

static int router_save(const void *of, const char *to, const struct weir_save_options *options)
{
	return test_done(weir_save(of, weir_location_path(to), options));
}

static void router_end(void *of)
{
	weir_destroy(of);
}

static void fixture(char name[4200], const char *kind, const struct variant *v)
{
	snprintf(name, 4200, "%s/variants/%s_%s.weir", fixtures, kind, v->name);
}

static struct weir_save_options to_save(const struct variant *v, int level)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.generation = GENERATION;
	options.marks = v->marks;
	options.zstd_level = level;
	return options;
}

static void write_fixture(const struct subject *s, uint32_t id, const struct variant *v)
{
	const struct weir_save_options options = to_save(v, v->level);
	char name[4200];
	void *made;
	if (s->make(&made, id, v))
		return; /* the kind lacks this variant; split does not normalise keys */
	fixture(name, s->kind, v);
	assert_ok(s->save(made, name, &options));
	s->end(made);
}

/* Copy the time of the save, which a window's image contains, from the pinned file. */
static void with_time_of(unsigned char *bytes, size_t n, const unsigned char *pinned)
{
	memcpy(bytes + SAVED, pinned + SAVED, 8);
	image_repair(bytes, n);
}

/* Another version of zstd compresses the same bits differently, so a compressed image is saved
 * again as plain and compared with the plain file. */
static void assert_resaved(const struct subject *s, uint32_t id, const struct variant *v)
{
	const struct weir_save_options options = to_save(v, 0);
	const struct variant *same_bits = v->level ? &variants[0] : v;
	char name[4200];
	size_t n = 0, m = 0;
	void *loaded;
	if (v->level && !TEST_ZSTD)
		return;
	fixture(name, s->kind, v);
	if (access(name, F_OK) != 0 && s->make(&loaded, id, v))
		return; /* the kind lacks this variant */
	assert_ok(s->load(&loaded, name, v));
	assert_ok(s->save(loaded, path, &options));
	s->end(loaded);
	fixture(name, s->kind, same_bits);
	unsigned char *bytes = image_slurp(path, &n), *pinned = image_slurp(name, &m);
	assert_int_equal(n, m);
	if (s->load == window_load)
		with_time_of(bytes, n, pinned);
	assert_memory_equal(bytes, pinned, n);
	free(bytes);
	free(pinned);
}

static void for_each(void (*body)(const struct subject *s, uint32_t id, const struct variant *v))
{
	static const struct subject compounds[] = {
		{ "window_columns", window_make, window_load, window_save, window_end },
		{ "window_ring", window_make, window_load, window_save, window_end },
		{ "router", router_make, router_load, router_save, router_end },
	};
	static const uint32_t layouts[] = { WEIR_WINDOW_COLUMNS, WEIR_WINDOW_RING, 0 };
	struct subject filter = { NULL, filter_make, filter_load, filter_save, filter_end };
	FOR_EACH_KIND(kind) {
		if (weir_kind_can(kind->id, WEIR_CAN_ROUTE | WEIR_CAN_FORGET))
			continue; /* the last loop runs windows and routers */
		filter.kind = weir_kind_name(kind->id);
		for (size_t i = 0; i < COUNT_OF(variants); i++)
			body(&filter, kind->id, &variants[i]);
	}
	for (size_t c = 0; c < COUNT_OF(compounds); c++)
		for (size_t i = 0; i < BARE_VARIANTS; i++)
			body(&compounds[c], layouts[c], &variants[i]);
}

static void test_each_variant_is_saved_again_byte_for_byte(void **state)
{
	(void)state;
	for_each(assert_resaved);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_variant_is_saved_again_byte_for_byte),
	};
	fixtures = argc > 1 ? argv[1] : ".";
	if (argc > 2 && strcmp(argv[2], "write") == 0) {
		for_each(write_fixture);
		return 0;
	}
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
