/* SPDX-License-Identifier: MIT
 * Images of routers: images that load, and images that are refused. */
#include "../image_bytes.h"
#include "../folder.h"
#include "router.h"

static struct weir_filter *filled(void)
{
	static const char *const given[3] = { "one", "two", "three" };
	struct weir_params o = router_params(3, 2000);
	struct weir_filter *r = NULL;
	o.router.names = given;
	assert_ok(weir_create(&r, &o));
	for (uint64_t i = 0; i < 2000; i++)
		assert_ok(weir_insert_into_hash(r, (uint32_t)(i % 3), test_key(i)));
	return r;
}

static void assert_same(const struct weir_filter *a, const struct weir_filter *b)
{
	assert_int_equal(weir_router_sets(a), weir_router_sets(b));
	for (uint32_t set = 0; set < 3; set++)
		assert_string_equal(weir_router_name(a, set), weir_router_name(b, set));
	for (uint64_t i = 0; i < 4000; i++)
		assert_true(weir_route_hash(a, test_key(i)) ==
		            weir_route_hash(b, test_key(i)));
	assert_true(weir_hash(a, "x", 1) == weir_hash(b, "x", 1));
}

static void a_loaded_router_equals_the_saved_one(void **state)
{
	struct weir_filter *r = filled(), *back = NULL;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	for (int zstd = 0; zstd <= (TEST_ZSTD ? 3 : 0); zstd += 3) {
		o.zstd_level = zstd;
		assert_ok(weir_save(r, weir_location_path(path), &o));
		assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
		assert_ok(weir_load(&back, weir_location_path(path), NULL));
		assert_same(r, back);
		weir_destroy(back);
	}
	o.zstd_level = 0;
	FILE *file = tmpfile();
	assert_ok(weir_save(r, weir_location_fd(fileno(file)), NULL));
	rewind(file);
	assert_ok(weir_load(&back, weir_location_fd(fileno(file)), NULL));
	assert_same(r, back);
	weir_destroy(back);
	fclose(file);
	assert_ok(weir_save(r, weir_location_path(path), &o));
	for (int mode = WEIR_MAP_READ; mode <= WEIR_MAP_PRIVATE; mode++) {
		assert_ok(
			weir_load(&back, weir_location_map(path, (enum weir_map_mode)mode), NULL));
		assert_same(r, back);
		assert_int_equal(weir_insert_into_hash(back, 0, 1),
		                 mode == WEIR_MAP_READ ? -EROFS : WEIR_NEW);
		weir_destroy(back);
	}
	assert_refused(weir_load(&back, weir_location_map(path, WEIR_MAP_LIVE), NULL), -ENOTSUP,
	               "live", path);
	weir_destroy(r);
}

static void every_image_function_supports_routers(void **state)
{
	struct weir_filter *r = filled(), *back = NULL;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	char text[WEIR_SHAPE_TEXT];
	(void)state;
	assert_ok(weir_save(r, weir_location_path(path), NULL));
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.shape.kind, WEIR_ROUTER);
	assert_ok(weir_shape_text(&info.shape, text));
	assert_string_equal(text, "3 sets in 8 columns, 6 rows a key");
	/* the parameters of a loaded router create a router that can be merged with it */
	assert_ok(weir_load(&back, weir_location_path(path), NULL));
	assert_ok(weir_params_of(back, &p));
	weir_destroy(r);
	assert_ok(weir_create(&r, &p));
	assert_ok(weir_merge(r, back));
	assert_same(r, back);
	weir_destroy(r);
	assert_ok(weir_clone(&r, back));
	assert_same(r, back);
	weir_destroy(r);
	weir_destroy(back);
}

/* The router can still be measured. */
static void without_its_secret_a_router_answers_every_set(void **state)
{
	static const unsigned char key[16] = "a key of 16 byte";
	struct weir_params p = router_params(3, 1000);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *r = NULL, *back = NULL;
	uint64_t number = 7, mask = 0, bitmap;
	(void)state;
	p.seed = 0, p.secret = key;
	assert_ok(weir_create(&r, &p));
	assert_int_equal(weir_insert_into_u64(r, 1, 1), WEIR_NEW);
	assert_ok(weir_save(r, weir_location_path(path), NULL));
	assert_refused(weir_load(&back, weir_location_path(path), NULL), -EKEYREJECTED, "keyed",
	               "");
	o.keyless = true;
	assert_ok(weir_load(&back, weir_location_path(path), &o));
	assert_true(router_stats(back).keys[1] > 0.5 && router_stats(back).keys[0] < 0.5);
	assert_true(weir_route_u64(back, 7) == 7 && weir_route_hash(back, 7) == 7);
	assert_int_equal(weir_route_keys(back, weir_keys_u64(&number, 1), &mask), 1);
	assert_true(mask == 7 && weir_contains(back, "x", 1));
	assert_int_equal(weir_contains_keys(back, weir_keys_u64(&number, 1), &bitmap), 1);
	assert_refused(weir_insert_into_u64(back, 1, 2), -EROFS, "loaded without its key", "");
	weir_destroy(back);
	weir_destroy(r);
}

/* ---- hostile and damaged images ---- */

static unsigned char *slurped(size_t *n)
{
	struct weir_filter *r = filled();
	assert_ok(weir_save(r, weir_location_path(path), NULL));
	weir_destroy(r);
	unsigned char *image = image_slurp(path, n);
	assert_non_null(image);
	return image;
}

/* Repair the checksums of the image. Asserts that every call that reads the image refuses it. */
static void assert_hostile(unsigned char *image, size_t n, const char *a, const char *b)
{
	struct weir_filter *r = NULL;
	image_repair_table(image, n);
	image_repair(image, n);
	assert_true(image_spit(path, image, n));
	assert_refused(weir_load(&r, weir_location_path(path), NULL), -EBADMSG, a, b);
	assert_refused(weir_load(&r, weir_location_memory(image, n), NULL), -EBADMSG, a, b);
	assert_refused(weir_load(&r, weir_location_map(path, WEIR_MAP_READ), NULL), -EBADMSG, a, b);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, a, b);
	assert_null(r);
}

static void hostile_names_are_refused(void **state)
{
	enum { NAMES = 4096 };
	static const struct {
		unsigned at;
		const char *bytes;
		size_t n;
		const char *a, *b;
	} cases[] = {
		{ 0, "\0", 1, "set 0", "zeros" },       /* an empty name followed by "ne" */
		{ 0, "\0\0\0", 3, "set 0", "1 to 63" }, /* an empty name */
		{ 64, "\x1b[2J", 4, "set 1", "UTF-8" },
		{ 64, "one", 3, "sets 0 and 1", "one" },
		{ 64 + 63, "x", 1, "set 1", "zeros" },
		{ 3 * 64, "four", 4, "set 3", "zeros" }, /* the name of a set that does not exist */
		{ 128, "\xff", 1, "set 2", "UTF-8" },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		size_t n;
		unsigned char *image = slurped(&n);
		assert_memory_equal(image + NAMES + 64, "two", 4);
		memcpy(image + NAMES + cases[i].at, cases[i].bytes, cases[i].n);
		assert_hostile(image, n, cases[i].a, cases[i].b);
		free(image);
	}
	/* a name that fills its line has no terminator */
	size_t n;
	unsigned char *image = slurped(&n);
	memset(image + NAMES + 64, 'x', 64);
	assert_hostile(image, n, "set 1", "zeros");
	free(image);
}

static void hostile_shapes_are_refused(void **state)
{
	enum { NUMBERS = 104, LENGTH = 96 };
	static const unsigned char bad[][3] = {
		{ 9, 6, 3 }, { 0, 6, 3 }, { 128, 6, 3 }, { 8, 0, 3 }, { 8, 11, 3 }, { 8, 6, 0 },
		{ 8, 6, 9 }, { 64, 6, 65 },
	};
	size_t n;
	unsigned char *image = slurped(&n);
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		for (unsigned j = 0; j < 3; j++)
			image[NUMBERS + 4 * j] = bad[i][j];
		assert_hostile(image, n, "shape", "router");
	}
	free(image);
	image = slurped(&n); /* the last page lacks a line */
	image_put64(image + IMAGE_BLOCKS, image_get(image + IMAGE_BLOCKS, 8) - 1);
	image_put64(image + LENGTH, n - 64);
	assert_hostile(image, n - 64, "shape", "router");
	free(image);
	image = slurped(&n); /* the image has only the page of the names */
	n = image_get(image + IMAGE_BITS, 8) + IMAGE_PAGE;
	image_put64(image + IMAGE_BLOCKS, IMAGE_PAGE / 64);
	image_put64(image + LENGTH, n);
	assert_hostile(image, n, "shape", "router");
	free(image);
}

static void bits_outside_the_sets_are_ignored(void **state)
{
	size_t n;
	unsigned char *image = slurped(&n);
	struct weir_filter *r = NULL;
	(void)state;
	memset(image + 8192, 0xff, n - 8192);
	image_repair_table(image, n);
	image_repair(image, n);
	assert_ok(weir_load(&r, weir_location_memory(image, n), NULL));
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(weir_route_hash(r, test_key(i)), 7);
	assert_true(router_stats(r).saturated == 7);
	weir_destroy(r);
	free(image);
}

/* Bytes of the head and names change, but not the checksums. Images are also cut at many
 * lengths. */
static void damaged_images_are_refused(void **state)
{
	size_t n;
	unsigned char *image = slurped(&n);
	struct weir_filter *r = NULL;
	(void)state;
	for (size_t at = 0; at < 8192; at++) {
		image[at] ^= 0x40;
		assert_true(weir_load(&r, weir_location_memory(image, n), NULL) < 0);
		image[at] ^= 0x40;
	}
	for (size_t cut = 0; cut < n; cut += 97)
		assert_true(weir_load(&r, weir_location_memory(image, cut), NULL) < 0);
	assert_null(r);
	free(image);
}

static void forged_steps_are_refused(void **state)
{
	struct weir_filter *r = filled(), *back = NULL;
	size_t n = 0;
	(void)state;
	assert_ok(weir_save(r, weir_location_path(path), NULL));
	weir_destroy(r);
	unsigned char *image = image_slurp(path, &n);
	image[8] = 2; /* format 2, which stores normalisation steps */
	for (unsigned step = WEIR_TEXT_TRIM; step <= WEIR_TEXT_SUFFIXES; step <<= 1) {
		image[IMAGE_STEPS] = (unsigned char)step;
		image_repair(image, n);
		assert_true(image_spit(path, image, n));
		assert_refused(weir_load(&back, weir_location_path(path), NULL), -EBADMSG, path,
		               "router");
		assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG,
		               path, "router");
		assert_null(back);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged_steps_are_refused),
		cmocka_unit_test(a_loaded_router_equals_the_saved_one),
		cmocka_unit_test(every_image_function_supports_routers),
		cmocka_unit_test(without_its_secret_a_router_answers_every_set),
		cmocka_unit_test(hostile_names_are_refused),
		cmocka_unit_test(hostile_shapes_are_refused),
		cmocka_unit_test(bits_outside_the_sets_are_ignored),
		cmocka_unit_test(damaged_images_are_refused),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
