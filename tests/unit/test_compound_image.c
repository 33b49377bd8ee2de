/* SPDX-License-Identifier: MIT
 * Forged members in a compound image. Each forged member is valid by itself. A reader refuses a
 * member that contradicts the compound's head. */
#include <errno.h>
#include "compound.h"

struct edit {
	unsigned at, bytes;
	uint64_t value;
};

/* Return: a copy of the image, which the caller frees. The copy has edited fields in one member,
 * checksums that match these fields, and @extra zeros at the end. */
static unsigned char *forged(unsigned member, const struct edit *edit, size_t extra)
{
	unsigned char *copy = calloc(1, image_bytes + extra);
	size_t at = member_at(member);
	assert_non_null(copy);
	memcpy(copy, image, image_bytes);
	for (; edit->bytes; edit++)
		for (unsigned i = 0; i < edit->bytes; i++)
			copy[at + edit->at + i] = (unsigned char)(edit->value >> 8 * i);
	image_repair(copy + at, image_bytes - at);
	memcpy(copy + IMAGE_TABLE + ROW * member + 8, copy + at + IMAGE_COMMIT, 8);
	image_repair(copy, image_bytes);
	return copy;
}

/* Asserts that every way to read the image fails with @a and @b in the error message. */
static void all_refuse(const unsigned char *bytes, size_t n, const char *a, const char *b)
{
	struct weir_load_options trusting = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	trusting.no_verify = 1;
	assert_true(image_spit(path, bytes, n));
	assert_refused(weir_load(&f, weir_location_memory(bytes, n), NULL), -EBADMSG, a, b);
	assert_refused(weir_load(&f, weir_location_path(path), NULL), -EBADMSG, a, b);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, a, b);
	if (!image_get(bytes + IMAGE_COMPRESSION, 4)) {
		assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL),
		               -EBADMSG, a, b);
		assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), &trusting),
		               -EBADMSG, a, b);
	}
}

static void refuse(unsigned member, const struct edit *edit, const char *sentence)
{
	char name[16];
	unsigned char *copy = forged(member, edit, 0);
	snprintf(name, sizeof name, "er %u:", member); /* matches both "member" and "layer" */
	all_refuse(copy, image_bytes, name, sentence);
	free(copy);
}

#define EDITS(...) (const struct edit[]){ __VA_ARGS__, { 0, 0, 0 } }
#define FORMAT_2 { 8, 4, 2 }

static void each_member_must_match_the_head(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MEMBERS; i++) {
		uint64_t blocks, left = 0;
		for (unsigned j = i; j < MEMBERS; j++)
			left += bytes_of_member(j) / 64;
		unsigned char *same = forged(i, EDITS({ 8, 4, 1 }), 0);
		assert_memory_equal(same, image, image_bytes);
		free(same);
		refuse(i, EDITS({ IMAGE_COMPRESSION, 4, 1 }, { LENGTH, 8, 0 }),
		       "compression is 1 where the compound has 0");
		refuse(i, EDITS(FORMAT_2, { 48, 4, 3 }, { IMAGE_MARKS, 4, 1 }),
		       "hash is 3 where the compound has 1");
		refuse(i, EDITS({ 56, 8, 43 }),
		       "seed is 000000000000002b where the compound has 000000000000002a");
		refuse(i, EDITS(FORMAT_2, { IMAGE_MARKS, 4, 2 }),
		       "marks is 2 where the compound has 0");
		refuse(i, EDITS(FORMAT_2, { IMAGE_STEPS, 4, 1 }),
		       "what is done to keys is not what the compound has");
		refuse(i, EDITS({ IMAGE_GENERATION, 8, 9 }),
		       "generation is 9 where the compound has 0");
		/* declare one block more than all remaining members have; for the last member,
		 * declare one block less than it has */
		blocks = i + 1 == MEMBERS ? left - 1 : left + 1;
		refuse(i, EDITS({ IMAGE_BLOCKS, 8, blocks },
		                { LENGTH, 8, IMAGE_PAGE + 64 * blocks }), "blocks is ");
		refuse(i, EDITS({ 20, 4, 5 }), "is of another shape");
		refuse(i, EDITS({ 32, 8, 99 }), "capacity is 99 where ");
	}
}

/* A reader refuses surplus bytes even if the length in the compound's head includes these bytes. */
static void bytes_behind_the_last_member_are_refused(void **state)
{
	const struct edit none = { 0, 0, 0 };
	unsigned char *longer = forged(0, &none, IMAGE_PAGE);
	(void)state;
	all_refuse(longer, image_bytes + IMAGE_PAGE, "length", "");
	image_put64(longer + LENGTH, image_bytes + IMAGE_PAGE);
	image_repair(longer, image_bytes);
	char end[64];
	snprintf(end, sizeof end, "members end at byte %zu", image_bytes);
	struct weir_filter *f = NULL;
	assert_refused(weir_load(&f, weir_location_memory(longer, image_bytes + IMAGE_PAGE), NULL),
	               -EBADMSG, "length", end);
	all_refuse(longer, image_bytes + IMAGE_PAGE, "length", end);
	int fd = stream_of(longer, image_bytes + IMAGE_PAGE);
	assert_refused(weir_load(&f, weir_location_fd(fd), NULL), -EBADMSG, "length", end);
	close(fd);
	free(longer);
}

static void put_less(unsigned char *field, uint64_t less)
{
	image_put64(field, image_get(field, 8) - less);
}

/* In this image the last layer has one block less than the last layer of made(). A load accepts the
 * image. Merges of the two filters fail, because their last layers differ in size. */
static void layers_of_any_size_load(void **state)
{
	const struct edit none = { 0, 0, 0 };
	const size_t at = member_at(MEMBERS - 1), n = image_bytes - 64;
	unsigned char *smaller = forged(0, &none, 0);
	struct weir_filter *f = NULL, *whole = made(), *empty = NULL;
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	put_less(smaller + at + IMAGE_BLOCKS, 1);
	put_less(smaller + at + LENGTH, 64);
	image_repair_table(smaller + at, n - at);
	image_repair(smaller + at, n - at);
	memcpy(smaller + IMAGE_TABLE + ROW * (MEMBERS - 1) + 8, smaller + at + IMAGE_COMMIT, 8);
	put_less(smaller + IMAGE_BLOCKS, 1);
	put_less(smaller + LENGTH, 64);
	image_repair(smaller, n);
	assert_ok(weir_load(&f, weir_location_memory(smaller, n), NULL));
	assert_refused(weir_merge(whole, f), -EINVAL, "lines of layer 3 differs",
	               "in the destination");
	assert_refused(weir_merge(f, whole), -EINVAL, "lines of layer 3 differs", "");
	assert_ok(weir_params_of(whole, &params));
	assert_ok(weir_create(&empty, &params));
	assert_refused(weir_merge(empty, f), -EINVAL, "lines of layer 3 differs", "");
	weir_destroy(f), weir_destroy(whole), weir_destroy(empty);
	free(smaller);
}

#if TEST_ZSTD
static void forged_compressed_members_are_refused(void **state)
{
	const struct edit none = { 0, 0, 0 };
	struct weir_filter *f = NULL;
	(void)state;
	for (unsigned i = 0; i < 2; i++) /* enough bytes follow for uncompressed bits */
		refuse(i, EDITS({ IMAGE_COMPRESSION, 4, 0 },
		                { LENGTH, 8, IMAGE_PAGE + bytes_of_member(i) }),
		       "compression is 0 where the compound has 1");
	unsigned char *longer = forged(0, &none, 1);
	assert_memory_equal(longer, image, image_bytes);
	all_refuse(longer, image_bytes + 1, "", "");
	/* other data may follow the image in a stream */
	int fd = stream_of(longer, image_bytes + 1);
	assert_ok(weir_load(&f, weir_location_fd(fd), NULL));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), (off_t)image_bytes + 6);
	weir_destroy(f);
	close(fd);
	for (unsigned i = 1; i < MEMBERS; i++) {
		longer[member_at(i) - 1] = 1; /* padding of the preceding member */
		all_refuse(longer, image_bytes, "", "");
		longer[member_at(i) - 1] = 0;
	}
	free(longer);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_AN_IMAGE(each_member_must_match_the_head),
		OF_AN_IMAGE(bytes_behind_the_last_member_are_refused),
		OF_AN_IMAGE(layers_of_any_size_load),
#if TEST_ZSTD
		cmocka_unit_test_prestate_setup_teardown(forged_compressed_members_are_refused,
		                                         image_setup,
		                                         image_teardown, (void *)1),
#endif
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
