/* SPDX-License-Identifier: MIT
 * Damaged images: every byte changed to every other value (image_bytes.h), with stale and with
 * correct checksums; hostile sizes; every length. Each image is refused with an error text, or
 * loads as another filter that can be used. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

static unsigned char *image; /* a small image */
static size_t image_bytes;

static int setup(void **state)
{
	(void)folder_setup(state);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 40, 0.01);
	for (uint64_t i = 0; i < 40; i++)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return -1;
	int err = test_done(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	image = image_slurp(path, &image_bytes);
	return err || !image || image_bytes != IMAGE_PAGE + 64;
}

/* Turn the image into format 2, with the marks that weir_save_options.marks can set. */
static int mark(void **state)
{
	(void)state;
	image[8] = 2;
	image[IMAGE_MARKS] = WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED;
	image_repair(image, image_bytes);
	return 0;
}

static int unmark(void **state)
{
	(void)state;
	image[8] = 1;
	image[IMAGE_MARKS] = 0;
	image_repair(image, image_bytes);
	return 0;
}

static int teardown(void **state)
{
	free(image);
	(void)folder_teardown(state);
	return 0;
}

/* Insert a text that every step of normalisation accepts. An insert is refused only if the damaged
 * head says that the set is closed (WEIR_TEXT_CLOSED). */
static void use_text(struct weir_filter *f)
{
	int answer = weir_insert(f, "10.0.0.1", 8);
	assert_true(answer >= 0 ? weir_contains(f, "10.0.0.1", 8) : answer == -EINVAL);
}

/* Use a filter in every way, so that a sanitizer sees any defect of it. */
static void use(struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *copy;
	struct weir_text text;
	weir_text_of(f, &text);
	const bool hashes = !(text.steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES));
	use_text(f);
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	assert_true(stats.bytes == 64 && stats.shards == 1 && stats.fp_rate > 0 &&
	            stats.fp_rate < 1 && stats.capacity >= 1);
	for (uint64_t i = 0; hashes && i < 100; i++) {
		assert_ok(weir_insert_hash(f, test_key(i)));
		assert_true(weir_contains_hash(f, test_key(i)));
		assert_true(weir_contains(f, &i, sizeof i) ||
		            weir_insert(f, &i, sizeof i) == WEIR_NEW);
	}
	assert_ok(weir_clone(&copy, f));
	assert_ok(weir_merge(copy, f));
	weir_destroy(copy);
}

/* Check that the image is refused cleanly, or is usable. Return: true if it was loaded. */
static bool refused_or_usable(const unsigned char *bytes, size_t n, size_t at, unsigned value)
{
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_memory(bytes, n), NULL);
	if (err == 0) {
		use(f);
		weir_destroy(f);
		return true;
	}
	if (f || (err != -EBADMSG && err != -ENOTSUP && err != -EBUSY) ||
	    strncmp(weir_error_detail(), "the image in memory: ", 21))
		fail_msg("byte %zu = %u: answered %d, \"%s\"", at, value, err, weir_error_detail());
	return false;
}

static void test_every_byte_raw(void **state)
{
	(void)state;
	for (size_t at = 0; at < image_bytes; at += test_is_short() ? 3 : 1) {
		unsigned char was = image[at];
		FOR_EACH_VALUE(x) {
			image[at] = was ^ (unsigned char)x;
			if (refused_or_usable(image, image_bytes, at, image[at]))
				fail_msg("byte %zu = %u was not noticed", at, image[at]);
		}
		image[at] = was;
	}
	assert_true(refused_or_usable(image, image_bytes, 0, 0));
}

/* Return: true if a change of this byte, with correct checksums, makes another valid image or is
 * undone. Another valid image has other parameters or other bits. The repair of the checksums
 * undoes a change of a checksum. In format 2 the marks and the steps may change too. A change of
 * any other byte contradicts another field. */
static bool may_change(size_t at)
{
	if (at == IMAGE_MARKS)
		return image[at] != 0;
	if (at == IMAGE_STEPS)
		return image[8] == 2;
	static const struct { size_t from, to; } fields[] = {
		{ 12, 24 },                    /* kind, words_per_key, bits_per_word */
		{ 32, 48 },                    /* capacity, fp_rate */
		{ 56, 72 },                    /* seed, generation */
		{ IMAGE_HEADER_SUM, IMAGE_TABLE + 8 },
		{ IMAGE_PAGE, IMAGE_PAGE + 64 },
	};
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (at >= fields[i].from && at < fields[i].to)
			return true;
	return false;
}

static void test_every_byte_repaired(void **state)
{
	unsigned char *bytes = malloc(image_bytes);
	unsigned usable = 0;
	(void)state;
	assert_non_null(bytes);
	for (size_t at = 0; at < image_bytes; at++)
		FOR_EACH_VALUE(x) {
			memcpy(bytes, image, image_bytes);
			bytes[at] ^= (unsigned char)x;
			image_repair_table(bytes, image_bytes);
			image_repair(bytes, image_bytes);
			bool loaded = refused_or_usable(bytes, image_bytes, at, bytes[at]);
			if (loaded && !may_change(at))
				fail_msg("byte %zu = %u was not noticed", at, bytes[at]);
			usable += loaded;
		}
	/* every value of the fields without rules, and some values of the other fields */
	assert_in_range(usable, IMAGE_VALUES * (64 + 32 + 16),
	                IMAGE_VALUES * (64 + 32 + 16 + 12 + 16));
	free(bytes);
}

/* Check that a loaded image differs from the original only in bytes that may change. */
static void assert_only_may_change(const unsigned char *bytes)
{
	for (size_t at = 0; at < image_bytes; at++)
		if (bytes[at] != image[at] && !may_change(at))
			fail_msg("byte %zu = %u was not noticed", at, bytes[at]);
}

/* Set every header field of 4 and 8 bytes to sizes that overflow, with correct checksums. */
static void test_hostile_numbers(void **state)
{
	unsigned char *bytes = malloc(image_bytes);
	(void)state;
	assert_non_null(bytes);
	for (size_t at = 8; at < IMAGE_MARKS + 12; at += 4)
		for (unsigned width = 4; width <= 8; width += 4)
			for (unsigned shift = 0; shift <= 8 * width; shift++)
				for (int add = -1; add <= 1; add++) {
					uint64_t value = (shift < 64 ? UINT64_C(1) << shift : 0) +
					                 (uint64_t)add;
					memcpy(bytes, image, image_bytes);
					for (unsigned i = 0; i < width; i++)
						bytes[at + i] = (unsigned char)(value >> (8 * i));
					image_repair_table(bytes, image_bytes);
					image_repair(bytes, image_bytes);
					if (refused_or_usable(bytes, image_bytes, at,
					                      (unsigned)value))
						assert_only_may_change(bytes);
				}
	free(bytes);
}

/* An image of a newer version is refused as unsupported, not as damaged. */
static void test_newer_is_not_damaged(void **state)
{
	static const struct {
		unsigned at, value;
		int err;
		const char *field;
	} cases[] = {
		{ 8, 4, -ENOTSUP, "format" },
		{ 8, 3, -EBADMSG, "members" }, /* format 3 has members */
		{ 8, 2, -EBADMSG, "marks" }, /* format 2 has marks */
		{ 8, 0, -EBADMSG, "format" },
		{ 12, 250, -ENOTSUP, "kind" },
		{ 16, 3, -EBADMSG, "words_per_key" },
		{ 20, 99, -EBADMSG, "bits_per_word" },
		{ 48, 3, -EBADMSG, "hash" }, /* no hash has this number */
		{ 48, 2, -EBADMSG, "hash is 2 where kind blocked has 1" },
		{ IMAGE_COMPRESSION, 2, -EBADMSG, "compression" },
	};
	struct weir_filter *f = NULL;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		unsigned char *bytes = malloc(image_bytes);
		assert_non_null(bytes);
		memcpy(bytes, image, image_bytes);
		bytes[cases[i].at] = (unsigned char)cases[i].value;
		if (cases[i].at == IMAGE_COMPRESSION)
			image_put64(bytes + 96, 0); /* so only compression is wrong */
		image_repair(bytes, image_bytes);
		assert_refused(weir_load(&f, weir_location_memory(bytes, image_bytes), NULL),
		               cases[i].err, cases[i].field, "");
		free(bytes);
	}
	assert_null(f);
}

/* Sizes that break only the rules for shards. The file has the declared length (with holes) and
 * correct checksums. */
static void test_illegal_shards(void **state)
{
	static const struct {
		uint64_t blocks, shards;
		bool legal;
	} cases[] = {
		{ 2048, 2, true },
		{ 2049, 2, false },
		{ 2047, 1, true },
		{ 3072, 3, false },
		{ 2048, 0, false },
		{ 2048, 4, false },
		{ UINT64_C(1) << 27, 65536, true },
		{ UINT64_C(1) << 27, 131072, false },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
		uint64_t table_end = IMAGE_TABLE + 8 * cases[i].shards;
		uint64_t align = cases[i].blocks >= 32768 ? 2 << 20 : IMAGE_PAGE;
		uint64_t bits = (table_end + align - 1) / align * align;
		uint64_t length = bits + 64 * cases[i].blocks;
		unsigned char *front = calloc(1, table_end);
		assert_non_null(front);
		memcpy(front, image, IMAGE_TABLE);
		image_put64(front + IMAGE_BLOCKS, cases[i].blocks);
		for (unsigned b = 0; b < 4; b++)
			front[IMAGE_SHARDS + b] = (unsigned char)(cases[i].shards >> (8 * b));
		image_put64(front + IMAGE_BITS, bits);
		image_put64(front + 96, length);
		image_repair(front, table_end);
		assert_true(image_spit(path, front, table_end));
		assert_int_equal(truncate(path, (off_t)length), 0);
		free(front);
		if (cases[i].legal)
			assert_ok(weir_image_inspect(weir_location_path(path), &info));
		else
			assert_refused(weir_image_inspect(weir_location_path(path), &info),
			               -EBADMSG, path, "shards");
	}
	unlink(path);
}

static void test_every_length(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	assert_true(image_spit(path, image, image_bytes));
	for (size_t n = image_bytes; n-- > 0;) {
		if (test_is_short() && n % 4 > 1) /* each field has a multiple of four bytes */
			continue;
		/* a heap block for this length, so that a sanitizer finds reads past the end */
		unsigned char *bytes = malloc(n + 1);
		assert_non_null(bytes);
		memcpy(bytes, image, n);
		assert_false(refused_or_usable(bytes, n, n, 0));
		image_repair(bytes, n);
		assert_false(refused_or_usable(bytes, n, n, 0));
		free(bytes);
		assert_int_equal(truncate(path, (off_t)n), 0);
		assert_refused(weir_load(&f, weir_location_path(path), NULL), -EBADMSG, path, "");
		assert_refused(weir_image_inspect(weir_location_path(path), &info), -EBADMSG, path,
		               "");
		for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++)
			assert_refused(weir_load(&f,
			                         weir_location_map(path, (enum weir_map_mode)mode),
			                         NULL),
			               -EBADMSG, path, "");
		int fd = open(path, O_RDONLY);
		/* With a whole header, a short file is noticed before memory is allocated. */
		assert_refused(weir_load(&f, weir_location_fd(fd), NULL), -EBADMSG,
		               "file descriptor", n < IMAGE_TABLE ? "ends at byte" : "length");
		close(fd);
	}
	assert_null(f);
}

static void test_bytes_after_the_end(void **state)
{
	struct weir_filter *f = NULL;
	unsigned char *bytes = calloc(1, image_bytes + 5000);
	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, image, image_bytes);
	for (size_t more = 1; more <= 5000; more += test_is_short() ? 21 : 7) {
		assert_false(refused_or_usable(bytes, image_bytes + more, more, 0));
		assert_true(image_spit(path, bytes, image_bytes + more));
		assert_refused(weir_load(&f, weir_location_path(path), NULL), -EBADMSG, path, "");
		assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL),
		               -EBADMSG, path, "");
	}
	assert_null(f);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_raw),
		cmocka_unit_test(test_every_byte_repaired),
		cmocka_unit_test(test_hostile_numbers),
		cmocka_unit_test_setup_teardown(test_every_byte_raw, mark, unmark),
		cmocka_unit_test_setup_teardown(test_every_byte_repaired, mark, unmark),
		cmocka_unit_test_setup_teardown(test_hostile_numbers, mark, unmark),
		cmocka_unit_test(test_newer_is_not_damaged),
		cmocka_unit_test(test_illegal_shards),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_bytes_after_the_end),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
