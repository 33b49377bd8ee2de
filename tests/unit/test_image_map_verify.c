/* SPDX-License-Identifier: MIT
 * Verification of a mapped image: which damage it finds, and how the error names the damage. */
#include "mapped.h"

/* Flip one bit of @shard in the file. */
static void damage(uint32_t shard)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	uint64_t first = info.file_bytes - info.bytes, each = info.bytes / info.shards;
	assert_true(image_flip(path, first + shard * each + 77, 4));
}

static void test_verify_names_the_shard(void **state)
{
	struct weir_load_options unverified = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	char name[32];
	(void)state;
	unverified.no_verify = true;
	for (uint32_t shard = 0; shard < 4; shard++) {
		snprintf(name, sizeof name, "shard %u ", shard);
		save_fresh(WEIR_BLOCKED, KEYS);
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		damage(shard);
		assert_refused(weir_verify(f), -EBADMSG, path, name);
		weir_destroy(f);
		assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), NULL),
		               -EBADMSG, path, name);
		assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_LIVE), NULL),
		               -EBADMSG, path, name);
		assert_refused(weir_load(&untouched, weir_location_path(path), NULL), -EBADMSG,
		               path, name);
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), &unverified));
		assert_refused(weir_verify(f), -EBADMSG, path, name);
		weir_destroy(f);
	}
}

/* The damaged byte is between the table of checksums and the bits. */
static void test_verify_names_a_reserved_byte(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_true(image_flip(path, 4000, 7));
	assert_refused(weir_verify(f), -EBADMSG, path, "reserved byte 4000 holds 7");
	weir_destroy(f);
	assert_refused(weir_load(&untouched, weir_location_path(path), NULL), -EBADMSG, path,
	               "reserved byte 4000 holds 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_names_the_shard),
		cmocka_unit_test(test_verify_names_a_reserved_byte),
	};
	return cmocka_run_group_tests(tests, folder_setup, teardown);
}
