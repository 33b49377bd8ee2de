/* SPDX-License-Identifier: MIT
 * Refused deltas: the error messages, and that a refused delta changes no image. */
#include <zstd.h>
#include <weir/router.h>
#include "delta.h"

enum { HEAD = 128, OLD_END = 24, MAP_AT = 128, PIECE_AT = 136, SUM_AT = 120 };

static unsigned char *bytes;
static size_t n_bytes;

static struct weir_location named(const char *name)
{
	return weir_location_path(name);
}

/* Return: the location of the old image with the delta. */
static struct weir_location chained(void)
{
	static const char *const deltas[] = { delta };
	return weir_location_chain(old_image, deltas, 1);
}

static int64_t save_it(const char *to, const struct weir_delta_options *o)
{
	return weir_delta_save(named(to), named(old_image), named(new_image), o);
}

static int64_t copy_it(const struct weir_load_options *reading)
{
	return weir_image_copy(named(made), chained(), reading, NULL);
}

/* 5,000 keys at a capacity of 100,000 make a delta of one piece. */
static int setup_delta(void **state)
{
	delta_setup(state);
	save_keys(old_image, 100000, 0, 5000, 0);
	save_keys(new_image, 100000, 0, 5100, 0);
	assert_ok(save_it(delta, NULL));
	bytes = image_slurp(delta, &n_bytes);
	return bytes ? 0 : -1;
}

static int teardown_delta(void **state)
{
	free(bytes);
	return folder_teardown(state);
}

static void spit(size_t n)
{
	assert_true(image_spit(delta, bytes, n));
}

static void repair(void)
{
	image_put64(bytes + SUM_AT, XXH3_64bits(bytes, SUM_AT));
}

static int apply_it(void)
{
	return apply_one(made, old_image, delta);
}

/* Verify the delta by itself, without the images. */
static int verify_it(void)
{
	return weir_delta_verify(named(delta), NULL);
}

static void assert_nothing_made(void)
{
	assert_int_equal(access(made, F_OK), -1);
}

static void a_delta_for_another_image_is_refused(void **state)
{
	char wanted[20], found[20];
	(void)state;
	snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)id_of(old_image));
	snprintf(found, sizeof found, "%016llx", (unsigned long long)id_of(new_image));
	assert_refused(apply_one(made, new_image, delta), -EINVAL, wanted, found);
	assert_nothing_made();
	/* a refused delta leaves the image unchanged */
	assert_refused(apply_one(new_image, new_image, delta), -EINVAL, "is a delta from", "");
	assert_ok(weir_image_verify(named(new_image), NULL, NULL));
}

/* Asserts that the delta is refused if one field of its head is changed. Restores the field. */
static void assert_field(unsigned at, uint64_t value, int err, const char *a, const char *b)
{
	const uint64_t was = image_get(bytes + at, 8);
	image_put64(bytes + at, value);
	repair();
	spit(n_bytes);
	assert_refused(apply_it(), err, a, b);
	assert_refused(weir_load(&(struct weir_filter *){ NULL }, chained(), NULL), err, a, b);
	image_put64(bytes + at, was);
	repair();
}

static void every_field_of_the_head_is_checked(void **state)
{
	const uint64_t form = image_get(bytes + 8, 8);
	(void)state;
	assert_field(0, 1, -EBADMSG, "not a delta", "WEIRDLT1");
	assert_field(8, form + 1, -ENOTSUP, "format 2", "reads 1");
	assert_field(8, form - 1, -EBADMSG, "format is 0", "1048576");
	assert_field(8, form + (UINT64_C(1) << 32), -EBADMSG, "1048577", "");
	assert_field(16, 4095, -EBADMSG, "old image has 4095 bytes", "4096 to");
	assert_field(16, 4096, -EINVAL, "is a delta from", "4096 bytes");
	assert_field(24, 5, -EINVAL, "is a delta from image 0000000000000005", old_image);
	assert_field(40, 0, -EBADMSG, "new image has 0 bytes", "");
	assert_field(40, UINT64_MAX, -EBADMSG, "new image has 18446744073709551615", "");
	assert_field(40, 4096, -EBADMSG, delta, "more than 4096 bytes");
	assert_field(40, UINT64_C(1) << 47, -EBADMSG, "ends in the delta's map", "16777216");
	assert_field(48, 5, -EBADMSG, "makes image", "0000000000000005");
	assert_field(64, 0, -EBADMSG, "map has 1 pieces", "head has 0");
	assert_field(64, 2, -EBADMSG, "2 pieces changed", "has 1");
	assert_field(72, n_bytes + 1, -EBADMSG, "bytes where the delta's head has", "");
	assert_field(80, 1, -EBADMSG, "reserved byte 80", "");
	assert_field(112, UINT64_C(1) << 56, -EBADMSG, "reserved byte 119", "");
	assert_nothing_made();
	spit(n_bytes);
	assert_ok(apply_it());
}

/* The test flips a bit in each of the first 200 bytes and in some later bytes. zstd ignores some
 * bits of a frame, so the image may still be right. */
static void every_flipped_bit_is_detected_or_harmless(void **state)
{
	unsigned harmless = 0;
	(void)state;
	for (size_t at = 0; at < n_bytes; at += 1 + at / 200) {
		bytes[at] ^= 1u << at % 8;
		spit(n_bytes);
		const int err = apply_it();
		if (!err) {
			assert_same_files(made, new_image);
			assert_true(unlink(made) == 0 && at > PIECE_AT + 8);
			harmless++;
		} else {
			assert_true(err == -EBADMSG || err == -ENOTSUP);
			assert_non_null(strstr(weir_error_detail(), delta));
		}
		bytes[at] ^= 1u << at % 8;
	}
	assert_in_range(harmless, 0, 10);
}

static void every_truncation_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < n_bytes; n += 1 + n / 20) {
		spit(n);
		assert_refused(apply_it(), -EBADMSG, delta, "");
		assert_refused(verify_it(), -EBADMSG, delta, "");
		if (n > HEAD) { /* now the head declares the shorter length */
			image_put64(bytes + 72, n);
			repair();
			spit(n);
			assert_refused(apply_it(), -EBADMSG, delta, "ends");
			assert_refused(verify_it(), -EBADMSG, delta, "ends");
			image_put64(bytes + 72, n_bytes);
			repair();
		}
	}
	image_put64(bytes + 72, n_bytes + 1);
	repair();
	bytes[n_bytes] = 0; /* image_slurp() allocates one byte more */
	spit(n_bytes + 1);
	assert_refused(apply_it(), -EBADMSG, "goes on after", delta);
	assert_refused(verify_it(), -EBADMSG, "goes on after", delta);
	assert_nothing_made();
}

/* Regression: the messages called random bytes a truncated delta, and called a truncated
 * head an image. */
static void short_files_get_the_right_message(void **state)
{
	unsigned char noise[100] = { 1, 2, 3 };
	(void)state;
	assert_refused(weir_delta_verify(weir_location_memory(noise, 100), NULL), -EBADMSG,
	               "not a delta", "");
	assert_refused(weir_delta_verify(weir_location_memory(bytes, 60), NULL), -EBADMSG,
	               "ends at byte 60", "the delta's head");
}

/* Regression: the map of a sparse file took 16 MiB, regardless of max_bytes. */
static void map_counts_against_max_bytes(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_location at = weir_location_memory(bytes, n_bytes);
	(void)state;
	o.max_bytes = 7;
	assert_refused(weir_delta_verify(at, &o), -EFBIG, "the delta's map has 8 bytes", "7");
	o.max_bytes = 8;
	assert_ok(weir_delta_verify(at, &o));
}

static void a_delta_verifies_without_its_images(void **state)
{
	struct weir_location at = weir_location_memory(bytes, n_bytes);
	(void)state;
	spit(n_bytes);
	assert_ok(verify_it());
	assert_ok(weir_delta_verify(at, NULL));
	assert_refused(weir_delta_verify(named(old_image), NULL), -EBADMSG, "not a delta",
	               "it is an image: weir delta makes one");
	assert_refused(weir_delta_verify(chained(), NULL), -EINVAL, "weir_delta_verify", "chain");
	bytes[OLD_END] ^= 1;
	assert_refused(weir_delta_verify(at, NULL), -EBADMSG, "head sums to", "");
	bytes[OLD_END] ^= 1;
	bytes[MAP_AT] ^= 2;
	assert_refused(weir_delta_verify(at, NULL), -EBADMSG, "piece 1 changed", "has 1");
	bytes[MAP_AT] ^= 2;
	bytes[PIECE_AT + 8] ^= 1;
	assert_refused(weir_delta_verify(at, NULL), -EBADMSG, "piece 0", "magic");
	bytes[PIECE_AT + 8] ^= 1;
}

static void the_map_must_match_the_pieces(void **state)
{
	(void)state;
	bytes[PIECE_AT] ^= 0xff; /* the length of the zstd frame */
	spit(n_bytes);
	assert_refused(apply_it(), -EBADMSG, "piece 0: its zstd frame", delta);
	bytes[PIECE_AT] ^= 0xff;
	bytes[MAP_AT] = 2;
	spit(n_bytes);
	assert_refused(apply_it(), -EBADMSG, "piece 1 changed", "has 1");
	bytes[MAP_AT] = 0;
	image_put64(bytes + 64, 0);
	repair();
	spit(n_bytes);
	assert_refused(apply_it(), -EBADMSG, "goes on after", "");
	/* without pieces, the result is the old image with the new id */
	image_put64(bytes + 72, PIECE_AT);
	repair();
	spit(PIECE_AT);
	assert_refused(apply_it(), -EBADMSG, "makes image", "where its head has");
}

/* Forge a delta of one piece from the old image to @to. Its zstd frame leaves out the last @less
 * bytes of the piece. */
static void forge(const unsigned char *to, size_t n, size_t less)
{
	size_t old_n = 0;
	unsigned char *xored = image_slurp(old_image, &old_n);
	unsigned char *forged = calloc(1, PIECE_AT + 8 + ZSTD_compressBound(n));
	assert_true(xored && forged && n <= WEIR_DELTA_PIECE);
	xored = realloc(xored, n > old_n ? n : old_n);
	assert_non_null(xored);
	for (size_t i = 0; i < n; i++)
		xored[i] = to[i] ^ (i < old_n ? xored[i] : 0);
	memcpy(forged, bytes, HEAD);
	const size_t packed = ZSTD_compress(forged + PIECE_AT + 8, ZSTD_compressBound(n), xored,
	                                    n - less, 1);
	assert_false(ZSTD_isError(packed));
	image_put64(forged + 40, n);
	image_put64(forged + 48, image_get(to + IMAGE_COMMIT, 8));
	image_put64(forged + 56, image_get(to + IMAGE_GENERATION, 8));
	image_put64(forged + 64, 1);
	image_put64(forged + 72, PIECE_AT + 8 + packed);
	image_put64(forged + SUM_AT, XXH3_64bits(forged, SUM_AT));
	forged[MAP_AT] = 1;
	image_put64(forged + PIECE_AT, packed);
	assert_true(image_spit(delta, forged, PIECE_AT + 8 + packed));
	free(forged);
	free(xored);
}

static void forged_pieces_are_refused(void **state)
{
	struct weir_save_options packed = WEIR_SAVE_OPTIONS_INIT;
	static unsigned char text[8192] = "no image at all";
	struct weir_filter *f;
	size_t n = 0;
	(void)state;
	unsigned char *image = image_slurp(new_image, &n);
	forge(image, n, 0);
	assert_ok(apply_it());
	assert_same_files(made, new_image);
	assert_int_equal(unlink(made), 0);
	forge(image, n, 64);
	assert_refused(apply_it(), -EBADMSG, "piece 0: its zstd frame holds fewer", delta);
	forge(text, sizeof text, 0);
	assert_refused(apply_it(), -EBADMSG, "what it makes: not a weir image", delta);
	free(image);
	/* weir_delta_save() makes no delta to an image of a future format or to a live image */
	image = image_slurp(new_image, &n);
	image[8] = 99;
	image_repair(image, n);
	forge(image, n, 0);
	assert_refused(apply_it(), -ENOTSUP, "what it makes: format is 99", delta);
	image[8] = 1;
	memcpy(image + IMAGE_COMMIT, "WEIRLIVE", 8);
	image_repair(image, n);
	forge(image, n, 0);
	assert_refused(apply_it(), -EBADMSG, "live", delta);
	free(image);
	/* forge a delta to a compressed image; weir_delta_save() makes none */
	assert_ok(weir_load(&f, named(new_image), NULL));
	packed.zstd_level = 1;
	assert_ok(weir_save(f, named(new_image), &packed));
	weir_destroy(f);
	image = image_slurp(new_image, &n);
	assert_ok(weir_image_verify(named(new_image), NULL, NULL));
	forge(image, n, 0);
	assert_refused(apply_it(), -EBADMSG, "is compressed, not a plain image", delta);
	free(image);
	assert_nothing_made();
}

static void invalid_bits_with_right_checksums_are_refused(void **state)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *r;
	size_t n = 0, at;
	(void)state;
	o.kind = WEIR_ROUTER;
	o.router.sets = 3;
	o.capacity = 100;
	o.fp_rate = 0.01;
	o.seed = 42;
	assert_ok(weir_create(&r, &o));
	assert_ok(weir_save(r, named(new_image), NULL));
	weir_destroy(r);
	unsigned char *image = image_slurp(new_image, &n);
	forge(image, n, 0);
	assert_ok(apply_it());
	assert_int_equal(unlink(made), 0);
	for (at = image_get(image + IMAGE_BITS, 8); at < n; at++) {
		image[at] ^= 0x80;
		image_repair_table(image, n);
		image_repair(image, n);
		assert_true(image_spit(new_image, image, n));
		if (weir_image_verify(named(new_image), NULL, NULL) == -EBADMSG)
			break;
		image[at] ^= 0x80;
	}
	assert_true(at < n);
	forge(image, n, 0);
	assert_refused(apply_it(), -EBADMSG, "what it makes", delta);
	assert_nothing_made();
	free(image);
}

static void generations_must_match_the_images(void **state)
{
	static const size_t of_old_and_new[] = { 32, 56 };
	unsigned char changed[HEAD];
	size_t n = 0;
	(void)state;
	unsigned char *right = image_slurp(delta, &n);
	for (size_t i = 0; i < COUNT_OF(of_old_and_new); i++) {
		memcpy(changed, right, HEAD);
		image_put64(right + of_old_and_new[i], UINT64_C(1) << 63);
		image_put64(right + SUM_AT, XXH3_64bits(right, SUM_AT));
		assert_true(image_spit(delta, right, n));
		assert_refused(apply_it(), -EBADMSG, "its head has generation 9223372036854775808",
		               delta);
		assert_nothing_made();
		memcpy(right, changed, HEAD);
	}
	assert_true(image_spit(delta, right, n));
	assert_ok(apply_it());
	free(right);
}

static void other_files_are_refused(void **state)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct weir_filter *f;
	(void)state;
	assert_refused(apply_one(made, old_image, new_image), -EBADMSG, "it is an image", "");
	assert_refused(weir_delta_inspect(named(new_image), &info), -EBADMSG, "not a delta",
	               new_image);
	assert_refused(weir_load(&f, named(delta), NULL), -EBADMSG, "a delta, not an image",
	               delta);
	assert_refused(apply_one(made, delta, delta), -EBADMSG, "a delta, not an image", "");
	assert_refused(apply_one(made, old_image, folder), -EISDIR, folder, "");
	assert_refused(apply_one(made, old_image, "/nowhere"), -ENOENT, "/nowhere", "");
	assert_refused(apply_one(folder, old_image, delta), -EISDIR, folder, "");
	assert_refused(save_it("/nowhere/d", NULL), -ENOENT, "/nowhere", "");
	assert_refused(weir_delta_save(named(delta), named(old_image), named("/nowhere"), NULL),
	               -ENOENT, "/nowhere", "");
	assert_ok(apply_it()); /* the old delta still exists */
}

static void live_images_are_refused(void **state)
{
	struct weir_filter *f;
	(void)state;
	assert_ok(weir_load(&f, weir_location_map(old_image, WEIR_MAP_LIVE), NULL));
	assert_refused(apply_it(), -EBUSY, old_image, "live");
	assert_refused(weir_delta_save(named(delta), named(new_image), named(old_image), NULL),
	               -EBUSY, "live", "");
	assert_ok(weir_seal(f));
	weir_destroy(f);
	assert_ok(apply_it());
}

static void max_bytes_and_max_delta_are_limits(void **state)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f;
	(void)state;
	assert_ok(weir_image_inspect(named(old_image), &info));
	o.max_bytes = load.max_bytes = info.bytes - 1;
	assert_refused(copy_it(&load), -EFBIG, old_image, "");
	assert_refused(save_it(made, &o), -EFBIG, old_image, "");
	assert_refused(weir_load(&f, chained(), &load), -EFBIG, old_image, "");
	assert_refused(weir_image_verify(named(old_image), &load, &(uint64_t){ 0 }), -EFBIG,
	               old_image, "");
	o.max_bytes = load.max_bytes = info.bytes;
	assert_ok(copy_it(&load));
	assert_ok(weir_load(&f, chained(), &load));
	weir_destroy(f);
	o.max_delta = n_bytes - 1;
	assert_refused(save_it(delta, &o), -EFBIG, "max_delta", "");
	o.max_delta = n_bytes;
	assert_ok(save_it(delta, &o));
	/* a small delta to a large image of zeros */
	save_keys(new_image, 100000000, 0, 0, 0);
	o.max_delta = 0;
	o.max_bytes = 0;
	assert_ok(save_it(delta, &o));
	/* refused before memory for the image is allocated */
	assert_refused(copy_it(&load), -EFBIG, delta, "makes an image of");
}

static int stop_at(void *arg, uint64_t done, uint64_t total)
{
	unsigned *calls = arg;
	assert_true(done <= total);
	return (*calls)-- == 0;
}

static int note_both(void *last, uint64_t done, uint64_t total)
{
	((uint64_t *)last)[0] = done;
	((uint64_t *)last)[1] = total;
	return 0;
}

static void progress_reaches_its_total(void **state)
{
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	uint64_t last[2] = { 0 };
	(void)state;
	load.progress = note_both;
	load.progress_arg = last;
	assert_ok(weir_delta_verify(named(delta), &load));
	assert_true(last[1] > 0);
	assert_int_equal(last[0], last[1]);
}

/* Progress stops each function at its first call, then at its second call, and so on. */
static void progress_can_stop_every_call(void **state)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	unsigned saves = 0, applies = 0, loads = 0, calls;
	int err = -ECANCELED;
	(void)state;
	o.progress = load.progress = stop_at;
	o.progress_arg = load.progress_arg = &calls;
	for (; err == -ECANCELED; applies++) {
		calls = applies;
		err = test_done(copy_it(&load));
		assert_true(err == 0 || access(made, F_OK) == -1);
	}
	assert_ok(err);
	err = -ECANCELED;
	for (; err == -ECANCELED; saves++) {
		calls = saves;
		err = test_done(save_it(delta, &o));
	}
	assert_ok(err);
	err = -ECANCELED;
	for (; err == -ECANCELED; loads++) {
		calls = loads;
		err = weir_load(&f, chained(), &load);
		assert_int_equal(err == 0, f != NULL);
	}
	assert_ok(err);
	weir_destroy(f);
	assert_true(applies > 3 && saves > 3 && loads > 3);
	assert_ok(apply_it());
}

static void wrong_options_are_refused(void **state)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	(void)state;
	o.zstd_level = -1;
	assert_refused(save_it(delta, &o), -EINVAL, "zstd_level -1", "19");
	o.zstd_level = 20;
	assert_refused(save_it(delta, &o), -EINVAL, "zstd_level 20", "19");
	o.zstd_level = 0;
	o.mode = 01777;
	assert_refused(save_it(delta, &o), -EINVAL, "mode 01777", "");
	o.mode = 0;
	o.struct_size = 1;
	assert_refused(save_it(delta, &o), -EINVAL, "weir_delta_options", "1");
	info.struct_size = 1;
	assert_refused(weir_delta_inspect(named(delta), &info), -EINVAL, "weir_delta_info", "1");
	assert_refused(weir_delta_inspect(named(delta), NULL), -EINVAL, "weir_delta_info", "NULL");
	assert_refused(save_it(NULL, NULL), -EINVAL, "path is NULL", "");
	assert_refused(weir_delta_save(named(delta), named(NULL), named(new_image), NULL), -EINVAL,
	               "NULL", "");
	assert_refused(weir_image_copy(named(NULL), chained(), NULL, NULL), -EINVAL, "path is NULL",
	               "");
	assert_refused(weir_image_copy(named(made), weir_location_chain(old_image, NULL, 2), NULL,
	                               NULL), -EINVAL, "deltas is NULL", "2");
	assert_refused(weir_load(NULL, chained(), NULL), -EINVAL, "out is NULL", "");
	load.no_verify = true;
	assert_refused(weir_load(&f, chained(), &load), -EINVAL, "no_verify 1", "");
	load.no_verify = false;
	load.memory = old_image;
	load.memory_bytes = sizeof old_image;
	assert_refused(weir_load(&f, chained(), &load), -EINVAL, "memory_bytes", "4200");
	load.memory = NULL;
	load.memory_bytes = 0;
	load.flags = WEIR_PREFAULT;
	assert_refused(weir_load(&f, chained(), &load), -EINVAL, "flags", "");
	assert_nothing_made();
}

int main(void)
{
#define OF_A_DELTA(test) cmocka_unit_test_setup_teardown(test, setup_delta, teardown_delta)
	const struct CMUnitTest tests[] = {
		OF_A_DELTA(a_delta_for_another_image_is_refused),
		OF_A_DELTA(every_field_of_the_head_is_checked),
		OF_A_DELTA(every_flipped_bit_is_detected_or_harmless),
		OF_A_DELTA(every_truncation_is_refused), OF_A_DELTA(the_map_must_match_the_pieces),
		OF_A_DELTA(other_files_are_refused),
		OF_A_DELTA(live_images_are_refused), OF_A_DELTA(max_bytes_and_max_delta_are_limits),
		OF_A_DELTA(progress_can_stop_every_call),
		OF_A_DELTA(progress_reaches_its_total),
		OF_A_DELTA(wrong_options_are_refused), OF_A_DELTA(forged_pieces_are_refused),
		OF_A_DELTA(invalid_bits_with_right_checksums_are_refused),
		OF_A_DELTA(wrong_options_are_refused), OF_A_DELTA(forged_pieces_are_refused),
		OF_A_DELTA(generations_must_match_the_images),
		OF_A_DELTA(a_delta_verifies_without_its_images),
		OF_A_DELTA(short_files_get_the_right_message),
		OF_A_DELTA(map_counts_against_max_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
