/* SPDX-License-Identifier: MIT
 * Deltas between images that may differ in kind, size and form. The tests apply single deltas and
 * chains of deltas.
 *
 * Usage: test_delta FOLDER. FOLDER has the golden images. */
#include <dirent.h>
#include <errno.h>
#include "delta.h"

static const char *kept;
static const char key[] = "sixteen secrets!";

static bool is_compressed(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.compressed;
}

/* Asserts that the delta turns @from into the uncompressed form of @to. */
static void assert_makes(const char *from, const char *to)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(from),
	                          weir_location_path(to), NULL));
	assert_ok(weir_delta_inspect(weir_location_path(delta), &info));
	assert_true(info.format == 1 && info.changed <= info.pieces);
	assert_true(info.old_id == id_of(from) && info.new_id == id_of(to));
	assert_ok(apply_one(made, from, delta));
	assert_ok(weir_image_verify(weir_location_path(made), NULL, NULL));
	assert_false(is_compressed(made));
	assert_true(id_of(made) == info.new_id);
	if (!is_compressed(to))
		assert_same_files(made, to);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_image(const struct dirent *entry)
{
	return strstr(entry->d_name, ".weir") != NULL;
}

/* For each golden image, make a delta to the next golden image, a delta from that next image back,
 * and a delta from the image to itself. Two images may differ in kind, size and form. */
static void a_delta_between_any_two_images(void **state)
{
	struct dirent **entries;
	char a[4200], b[4200];
	(void)state;
	const int n = scandir(kept, &entries, is_image, by_name);
	assert_true(n >= 40);
	for (int i = 0; i < n; i++) {
		snprintf(a, sizeof a, "%s/%s", kept, entries[i]->d_name);
		snprintf(b, sizeof b, "%s/%s", kept, entries[(i + 1) % n]->d_name);
		assert_makes(a, b);
		assert_makes(b, a);
		assert_makes(a, a);
	}
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

static void golden_deltas_yield_the_same_bytes(void **state)
{
	static const struct {
		const char *from, *delta, *to;
	} known[] = {
		{ "blocked_z2g3.weir", "blocked_to_counting.delta", "counting_4z2g3.weir" },
		{ "shards_zstd.weir", "zstd_to_window.delta", "window_columns_3.weir" },
	};
	char from[4200], to[4200], one[4200];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(known); i++) {
		snprintf(from, sizeof from, "%s/%s", kept, known[i].from);
		snprintf(one, sizeof one, "%s/%s", kept, known[i].delta);
		snprintf(to, sizeof to, "%s/%s", kept, known[i].to);
		assert_ok(apply_one(made, from, one));
		assert_same_files(made, to);
	}
}

static void a_delta_to_an_equal_image_is_empty(void **state)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	(void)state;
	save_keys(old_image, 1000, 0, 1000, 0);
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(old_image),
	                          weir_location_path(old_image), NULL));
	assert_ok(weir_delta_inspect(weir_location_path(delta), &info));
	assert_true(info.changed == 0 && info.old_id == info.new_id && info.file_bytes == 136);
	assert_ok(apply_one(old_image, old_image, delta)); /* the result replaces the old image */
	assert_ok(weir_image_verify(weir_location_path(old_image), NULL, NULL));
}

static void a_delta_stores_only_pieces_that_differ(void **state)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	struct weir_save_options writing = WEIR_SAVE_OPTIONS_INIT;
	struct stat st;
	(void)state;
	o.zstd_level = 1;
	save_keys(old_image, 2000000, 0, 1900000, 0);
	save_keys(new_image, 2000000, 0, 1900100, 0);
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(old_image),
	                          weir_location_path(new_image), &o));
	assert_ok(weir_delta_inspect(weir_location_path(delta), &info));
	const uint64_t at_level_1 = info.file_bytes;
	o.zstd_level = 19;
	o.mode = 0640;
	assert_ok(weir_delta_save(weir_location_path(made), weir_location_path(old_image),
	                          weir_location_path(new_image), &o));
	assert_ok(weir_delta_inspect(weir_location_path(made), &info));
	assert_true(info.file_bytes != at_level_1);
	assert_true(stat(made, &st) == 0 && info.file_bytes == (uint64_t)st.st_size);
	assert_true((st.st_mode & 0777) == 0640);
	writing.mode = 0600;
	const char *deltas[] = { delta };
	assert_ok(weir_image_copy(weir_location_path(made),
	                          weir_location_chain(old_image, deltas, 1), NULL, &writing));
	assert_true(stat(made, &st) == 0 && (st.st_mode & 0777) == 0600);
	assert_true(info.old_generation == 1 && info.new_generation == 1);
	assert_true(stat(new_image, &st) == 0 && info.new_bytes == (uint64_t)st.st_size);
	assert_true(info.old_bytes == info.new_bytes && info.pieces == 5);
	/* The bits begin at 2 MiB. Piece 0 has the head and the table of checksums, which change.
	 * Piece 1 has only padding. The other pieces have bits, which change. */
	assert_true(info.changed == info.pieces - 1);
	assert_in_range(info.file_bytes, 300, 8000);
}

static void plain_and_compressed_forms_share_deltas(void **state)
{
	char packed[4200];
	(void)state;
	snprintf(packed, sizeof packed, "%s/packed.weir", folder);
	save_keys(old_image, 60000, 0, 50000, 0);
	save_keys(packed, 60000, 0, 50000, 3);
	save_keys(new_image, 60000, 0, 60000, 0);
	assert_true(id_of(old_image) == id_of(packed) && id_of(old_image) != id_of(new_image));
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(packed),
	                          weir_location_path(new_image), NULL));
	assert_ok(apply_one(made, old_image, delta));
	assert_same_files(made, new_image);
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(new_image),
	                          weir_location_path(packed), NULL));
	assert_ok(apply_one(made, new_image, delta));
	assert_same_files(made, old_image);
}

/* Bytes beyond the end of a short image must not reach a later image. */
static void a_chain_of_growing_and_shrinking_images(void **state)
{
	static const uint64_t capacity[] = { 100000, 5000000, 3000, 1000000, 1700000, 100000 };
	enum { N = COUNT_OF(capacity) };
	char image[N][4200], names[N][4200];
	const char *deltas[N];
	struct weir_filter *f;
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		snprintf(image[i], sizeof image[i], "%s/%u.weir", folder, i);
		snprintf(names[i], sizeof names[i], "%s/%u.delta", folder, i);
		deltas[i] = names[i];
		save_keys(image[i], capacity[i], i, 2000, i % 2 ? 3 : 0);
		if (!i)
			continue;
		struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
		assert_ok(weir_delta_save(weir_location_path(names[i]),
		                          weir_location_path(image[i - 1]),
		                          weir_location_path(image[i]), NULL));
		assert_ok(weir_delta_inspect(weir_location_path(names[i]), &info));
		assert_true(info.old_generation == i && info.new_generation == i + 1);
	}
	for (unsigned i = 1; i < N; i++) {
		assert_ok(weir_image_copy(weir_location_path(made),
		                          weir_location_chain(image[0], deltas + 1, i), NULL,
		                          NULL));
		assert_true(id_of(made) == id_of(image[i]));
		assert_ok(weir_load(&f, weir_location_chain(image[0], deltas + 1, i), NULL));
		for (uint64_t k = i; k < i + 2000; k++)
			assert_true(weir_contains_hash(f, test_key(k)));
		weir_destroy(f);
	}
	deltas[2] = names[3];
	assert_refused(weir_image_copy(weir_location_path(made),
	                               weir_location_chain(image[0], deltas + 1, 2), NULL, NULL),
	               -EINVAL, names[3], names[1]);
	assert_non_null(strstr(weir_error_detail(), "(generation 3, "));
	assert_non_null(strstr(weir_error_detail(), "(generation 2, "));
}

static void a_filter_loaded_through_a_delta_equals_the_image(void **state)
{
	static const char *const names[] = { "blocked_z2g3", "growing_z2g3", "growing_zstd_z2g3",
		                             "fuse_8", "layered_excluded", "cuckoo_12",
		                             "counting_4z2g3", "split_22" };
	struct weir_filter *f, *plain;
	char image[4200];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		snprintf(image, sizeof image, "%s/%s.weir", kept, names[i]);
		save_keys(old_image, 1000, 0, 100, 0);
		const char *deltas[] = { delta };
		assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(old_image),
		                          weir_location_path(image), NULL));
		assert_ok(weir_load(&f, weir_location_chain(old_image, deltas, 1), NULL));
		assert_ok(weir_load(&plain, weir_location_path(image), NULL));
		assert_ok(weir_save(f, weir_location_path(made), NULL));
		assert_ok(weir_save(plain, weir_location_path(new_image), NULL));
		assert_same_files(made, new_image);
		assert_int_equal(weir_insert_hash(f, 77), weir_insert_hash(plain, 77));
		weir_destroy(plain);
		weir_destroy(f);
		/* a chain without deltas */
		assert_ok(weir_load(&f, weir_location_chain(image, NULL, 0), NULL));
		assert_ok(weir_save(f, weir_location_path(made), NULL));
		assert_same_files(made, new_image);
		weir_destroy(f);
	}
}

static void only_loading_needs_the_secret(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	const char *deltas[] = { delta };
	struct weir_filter *f;
	(void)state;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.secret = key;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_insert(f, "one", 3));
	assert_ok(weir_save(f, weir_location_path(old_image), NULL));
	assert_ok(weir_insert(f, "two", 3));
	assert_ok(weir_save(f, weir_location_path(new_image), NULL));
	weir_destroy(f);
	assert_makes(old_image, new_image);
	assert_refused(weir_load(&f, weir_location_chain(old_image, deltas, 1), NULL),
	               -EKEYREJECTED, "keyed", "");
	o.secret = key;
	assert_ok(weir_load(&f, weir_location_chain(old_image, deltas, 1), &o));
	assert_true(weir_contains(f, "two", 3));
	weir_destroy(f);
}

static void deltas_to_a_window_and_a_router(void **state)
{
	const struct weir_load_options needs = { sizeof needs, .can = WEIR_CAN_REMOVE };
	const char *deltas[] = { delta };
	struct weir_filter *f, *same;
	char image[4200];
	(void)state;
	snprintf(image, sizeof image, "%s/window_columns_3.weir", kept);
	save_keys(old_image, 1000, 0, 100, 0);
	assert_makes(old_image, image);
	assert_ok(weir_load(&f, weir_location_chain(old_image, deltas, 1), NULL));
	assert_true(weir_can(f, WEIR_CAN_FORGET));
	assert_ok(weir_window_advance(f));
	weir_destroy(f);
	snprintf(image, sizeof image, "%s/router_64.weir", kept);
	save_keys(old_image, 1000, 0, 100, 0);
	assert_makes(old_image, image);
	assert_refused(weir_load(&f, weir_location_chain(old_image, deltas, 1), &needs), -ENOTSUP,
	               delta, "WEIR_CAN_REMOVE");
	assert_ok(weir_load(&f, weir_location_chain(old_image, deltas, 1), NULL));
	assert_ok(weir_load(&same, weir_location_path(image), NULL));
	assert_int_equal(weir_router_sets(f), 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_string_equal(weir_router_name(f, i), weir_router_name(same, i));
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(weir_route_hash(f, test_key(i)) == weir_route_hash(same, test_key(i)));
	weir_destroy(f);
	weir_destroy(same);
}

/* Each image has valid checksums but invalid bits. */
static void invalid_bits_are_refused_in_both_images(void **state)
{
	char image[4200];
	size_t n = 0, at;
	(void)state;
	snprintf(image, sizeof image, "%s/router_8.weir", kept);
	unsigned char *bytes = image_slurp(image, &n);
	assert_non_null(bytes);
	for (at = image_get(bytes + IMAGE_BITS, 8); at < n; at++) {
		bytes[at] ^= 0x80;
		image_repair_table(bytes, n);
		image_repair(bytes, n);
		assert_true(image_spit(old_image, bytes, n));
		if (weir_image_verify(weir_location_path(old_image), NULL, NULL) == -EBADMSG)
			break;
		bytes[at] ^= 0x80;
	}
	assert_true(at < n);
	assert_refused(weir_delta_save(weir_location_path(delta), weir_location_path(old_image),
	                               weir_location_path(image), NULL),
	               -EBADMSG, old_image, "");
	assert_refused(weir_delta_save(weir_location_path(delta), weir_location_path(image),
	                               weir_location_path(old_image), NULL),
	               -EBADMSG, old_image, "");
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_delta_between_any_two_images,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(golden_deltas_yield_the_same_bytes,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_delta_to_an_equal_image_is_empty,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_delta_stores_only_pieces_that_differ, delta_setup,
		                                folder_teardown),
		cmocka_unit_test_setup_teardown(plain_and_compressed_forms_share_deltas,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_chain_of_growing_and_shrinking_images,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_filter_loaded_through_a_delta_equals_the_image,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(only_loading_needs_the_secret,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(invalid_bits_are_refused_in_both_images,
		                                delta_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(deltas_to_a_window_and_a_router,
		                                delta_setup, folder_teardown),
	};
	kept = argc > 1 ? argv[1] : "tests/golden";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
