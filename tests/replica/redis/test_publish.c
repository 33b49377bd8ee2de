/* SPDX-License-Identifier: MIT
 * What the script that publishes is given: each of its arguments where it looks for it. */
#include "../../test.h"
#include "format/scripts.h"

static const struct weir_manifest manifest = {
	.epoch = "e", .generation = 6, .base = 5,
	.cursor = { .at = { 40, 4 }, .consumed = 44 }, .covered = { 30, 3 },
	.bytes = 2500, .chunks = 3, .chunk_bytes = 1000, .stored = 0xabc,
};

static void assert_given(const struct weir_manifest *m, const char *const *expected)
{
	struct weir_publish_texts room;
	struct iovec args[WEIR_PUBLISH_ARGUMENTS];
	struct weir_key_names keys;
	weir__keys_make(&keys, "x");
	const struct weir_publishing p = { &keys, { "owner", 5 }, "signature", "sum", 7, 120 };
	weir__publish_arguments(args, &room, &p, m, "text", 4);
	for (size_t i = 0; i < WEIR_PUBLISH_ARGUMENTS; i++) {
		assert_int_equal(args[i].iov_len, strlen(expected[i]));
		assert_memory_equal(args[i].iov_base, expected[i], args[i].iov_len);
	}
}

static void test_in_redis(void **state)
{
	static const char *const expected[WEIR_PUBLISH_ARGUMENTS] = {
		"e", "owner", "5", "6", "text", "signature", "40-4", "44", "30-3",
		"{weir:x}:c:0000000000000abc:", "3", "1000", "2500", "7", "120", "{weir:x}:hint",
		"sum",
	};
	(void)state;
	assert_given(&manifest, expected);
}

/* Then no chunks are looked for. */
static void test_got_by_http(void **state)
{
	static const char *const expected[WEIR_PUBLISH_ARGUMENTS] = {
		"e", "owner", "5", "6", "text", "signature", "40-4", "44", "30-3",
		"{weir:x}:c:0000000000000abc:", "0", "1000", "2500", "7", "120", "{weir:x}:hint",
		"sum",
	};
	struct weir_manifest m = manifest;
	(void)state;
	strcpy(m.path, "x-6.weir");
	assert_given(&m, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_redis),
		cmocka_unit_test(test_got_by_http),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
