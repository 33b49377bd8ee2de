/* SPDX-License-Identifier: MIT
 * Damaged compressed images: every byte changed, every length, and frames that are valid zstd but
 * not a shard: too long, too short, two frames, trailing bytes. An image that loads has exactly the
 * saved bits. */
#include <errno.h>
#include <zstd.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { PREFIX = 8, SHARD = 1 << 16 };

static char plain_path[4096];
static unsigned char *image, *plain;
static size_t image_bytes, plain_bytes;

static int setup(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f;
	(void)folder_setup(state);
	snprintf(plain_path, sizeof plain_path, "%s/plain", folder);
	params.max_bytes = 2 * SHARD;
	params.fp_rate = 0.01;
	params.seed = 42;
	if (weir_create(&f, &params))
		return -1;
	for (uint64_t i = 0; i < 40; i++)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return -1;
	o.zstd_level = 3;
	int err = test_done(weir_save(f, weir_location_path(path), &o));
	if (!err)
		err = test_done(weir_save(f, weir_location_path(plain_path), NULL));
	weir_destroy(f);
	image = image_slurp(path, &image_bytes);
	plain = image_slurp(plain_path, &plain_bytes);
	return err || !image || !plain || plain_bytes != IMAGE_PAGE + 2 * SHARD ||
	       image_get(image + IMAGE_SHARDS, 4) != 2;
}

static int teardown(void **state)
{
	free(image);
	free(plain);
	(void)folder_teardown(state);
	return 0;
}

static void assert_same_bits(const struct weir_filter *f)
{
	size_t n = 0;
	assert_ok(weir_save(f, weir_location_path(plain_path), NULL));
	unsigned char *bytes = image_slurp(plain_path, &n);
	assert_int_equal(n, plain_bytes);
	assert_memory_equal(bytes, plain, n);
	free(bytes);
}

static bool refused_or_same(const unsigned char *bytes, size_t n)
{
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_memory(bytes, n), NULL);
	if (err == 0) {
		assert_same_bits(f);
		weir_destroy(f);
		return true;
	}
	if (f || err != -EBADMSG || strncmp(weir_error_detail(), "the image in memory: ", 21))
		fail_msg("answered %d, \"%s\"", err, weir_error_detail());
	return false;
}

static void test_every_byte_of_the_frames(void **state)
{
	(void)state;
	for (size_t at = IMAGE_PAGE; at < image_bytes; at += test_is_short() ? 3 : 1) {
		unsigned char was = image[at];
		FOR_EACH_VALUE(x) {
			image[at] = was ^ (unsigned char)x;
			(void)refused_or_same(image, image_bytes);
		}
		image[at] = was;
	}
	assert_true(refused_or_same(image, image_bytes));
}

static void test_every_length(void **state)
{
	(void)state;
	for (size_t n = 0; n < image_bytes; n += test_is_short() ? 3 : 1) {
		unsigned char *bytes = malloc(n + 1);
		assert_non_null(bytes);
		memcpy(bytes, image, n);
		assert_false(refused_or_same(bytes, n));
		free(bytes);
	}
	unsigned char *more = calloc(1, image_bytes + 1);
	assert_non_null(more);
	memcpy(more, image, image_bytes);
	assert_false(refused_or_same(more, image_bytes + 1));
	free(more);
}

/* Load the image with @frame as the last shard's frame. @prefix: the length that is written before
 * the frame. Return: true if the image was loaded. */
static bool with_last_frame(const void *frame, size_t n, uint64_t prefix)
{
	size_t first = PREFIX + (size_t)image_get(image + IMAGE_PAGE, 8);
	size_t front = IMAGE_PAGE + first;
	unsigned char *bytes = malloc(front + PREFIX + n);
	assert_non_null(bytes);
	memcpy(bytes, image, front);
	image_put64(bytes + front, prefix);
	if (n)
		memcpy(bytes + front + PREFIX, frame, n);
	bool loaded = refused_or_same(bytes, front + PREFIX + n);
	free(bytes);
	return loaded;
}

static void test_frames_that_are_not_a_shard(void **state)
{
	static unsigned char frame[2 * SHARD], longer[SHARD + 64];
	const unsigned char *shard = plain + IMAGE_PAGE + SHARD;
	const unsigned char skippable[12] = { 0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'w', 'e', 'i',
	                                      'r' };
	(void)state;
	for (int level = 1; level <= 19; level += 6) { /* another program may use any level */
		size_t n = ZSTD_compress(frame, sizeof frame, shard, SHARD, level);
		assert_true(with_last_frame(frame, n, n));
		assert_false(with_last_frame(frame, n, n - 1));
		assert_false(with_last_frame(frame, n, n + 1));
		memcpy(frame + n, skippable, sizeof skippable);
		assert_false(with_last_frame(frame, n + sizeof skippable, n + sizeof skippable));
		assert_false(with_last_frame(frame, n + sizeof skippable, n));
	}
	memcpy(longer, shard, SHARD);
	size_t n = ZSTD_compress(frame, sizeof frame, longer, SHARD + 1, 1);
	assert_false(with_last_frame(frame, n, n));
	n = ZSTD_compress(frame, sizeof frame, longer, SHARD - 1, 1);
	assert_false(with_last_frame(frame, n, n));
	n = ZSTD_compress(frame, sizeof frame, longer, 0, 1);
	assert_false(with_last_frame(frame, n, n));
	n = ZSTD_compress(frame, sizeof frame, shard, SHARD / 2, 1);
	n += ZSTD_compress(frame + n, sizeof frame - n, shard + SHARD / 2, SHARD / 2, 1);
	assert_false(with_last_frame(frame, n, n)); /* two frames that together make a shard */
	assert_false(with_last_frame(frame, 0, 0));
	assert_non_null(strstr(weir_error_detail(), "0 bytes long"));
	assert_false(with_last_frame(frame, n, UINT64_MAX));
	assert_false(with_last_frame(frame, n, ZSTD_compressBound(SHARD) + 1));
	assert_false(with_last_frame(skippable, sizeof skippable, sizeof skippable));
}

/* A frame that decodes to a shard, but is longer than any frame that zstd writes for a shard. */
static void test_a_frame_longer_than_any(void **state)
{
	static unsigned char frame[2 * SHARD];
	static const unsigned char head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0x30 };
	(void)state;
	for (unsigned empty = 10; empty <= 200; empty += 190) {
		size_t n = sizeof head + 3 * (size_t)empty;
		memset(frame, 0, n);
		memcpy(frame, head, sizeof head);
		frame[n++] = 1; /* the last block, with raw bytes */
		frame[n++] = (unsigned char)(SHARD << 3 >> 8 & 0xff);
		frame[n++] = (unsigned char)(SHARD << 3 >> 16);
		memcpy(frame + n, plain + IMAGE_PAGE + SHARD, SHARD);
		n += SHARD;
		assert_int_equal(n > ZSTD_compressBound(SHARD), empty == 200);
		assert_int_equal(with_last_frame(frame, n, n), empty == 10);
	}
	assert_non_null(strstr(weir_error_detail(), "allowed: 9 to"));
}

/* A shard as a frame of zstd 0.7, with raw bytes in one block. A libzstd with decoders of old
 * formats, such as Debian's, would unpack it. */
static size_t old_frame(unsigned char *to, uint32_t magic)
{
	static const unsigned char head[] = { 0, 0x38, 0x41, 0, 0 }, end[] = { 0xc0, 0, 0 };
	for (unsigned i = 0; i < 4; i++)
		to[i] = (unsigned char)(magic >> (8 * i));
	memcpy(to + 4, head, sizeof head);
	memcpy(to + 9, plain + IMAGE_PAGE + SHARD, SHARD);
	memcpy(to + 9 + SHARD, end, sizeof end);
	return 12 + SHARD;
}

/* Frames of the formats of zstd 0.1 to 0.7 and skippable frames must not reach zstd's decoders. */
static void test_frames_of_other_magics(void **state)
{
	static unsigned char frame[2 * SHARD];
	static const uint32_t magics[] = { 0xFD2FB51E, 0xFD2FB522, 0xFD2FB523, 0xFD2FB524,
	                                   0xFD2FB525, 0xFD2FB526, 0xFD2FB527, 0xFD2FB529, 0 };
	char found[32];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(magics) + 16; i++) {
		bool skips = i >= COUNT_OF(magics);
		uint32_t magic = skips ? 0x184D2A50 + i - COUNT_OF(magics) : magics[i];
		size_t n = old_frame(frame, magic);
		if (skips)
			image_put64(frame + 4, n - 8);
		assert_false(with_last_frame(frame, n, n));
		snprintf(found, sizeof found, "magic %08x", magic);
		if (!strstr(weir_error_detail(), found))
			fail_msg("%08x: \"%s\"", magic, weir_error_detail());
	}
}

/* A compressed image cannot be mapped, so it cannot be live. */
static void test_live_and_compressed(void **state)
{
	struct weir_filter *f = NULL;
	(void)state;
	memcpy(image + IMAGE_COMMIT, "WEIRLIVE", 8);
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               "compression", "live");
	image_put64(image + IMAGE_COMMIT, XXH3_64bits(image + IMAGE_HEADER_SUM, 16));
	assert_true(refused_or_same(image, image_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_of_the_frames),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_frames_that_are_not_a_shard),
		cmocka_unit_test(test_a_frame_longer_than_any),
		cmocka_unit_test(test_frames_of_other_magics),
		cmocka_unit_test(test_live_and_compressed),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
