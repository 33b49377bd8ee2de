/* SPDX-License-Identifier: MIT
 * Names of sets and keys, and the kinds that can be replicated. */
#include <errno.h>
#include "../../test.h"
#include "format/keys.h"

static void test_which_names_a_set_can_have(void **state)
{
	char longest[WEIR_SET_NAME + 1];
	(void)state;
	memset(longest, 'z', sizeof longest);
	assert_true(weir__set_name_is("aZ09-_.", 7));
	assert_true(weir__set_name_is(longest, WEIR_SET_NAME));
	assert_false(weir__set_name_is(longest, WEIR_SET_NAME + 1));
	assert_false(weir__set_name_is("", 0));
	for (unsigned c = 0; c < 256; c++) {
		char name = (char)c;
		bool is = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		          (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
		assert_int_equal(weir__set_name_is(&name, 1), is);
	}
}

static void test_keys_have_one_hash_tag_and_room_for_the_longest_name(void **state)
{
	static const unsigned char hash[WEIR_IMAGE_HASH] = { 0xab, [31] = 0x01 };
	char set[WEIR_SET_NAME + 1] = "", text[WEIR_KEY_TEXT], wanted[2 * WEIR_KEY_TEXT];
	struct weir_key_names k;
	(void)state;
	weir__keys_make(&k, "s");
	assert_string_equal(k.head, "{weir:s}:2:head");
	assert_string_equal(k.log, "{weir:s}:2:log");
	assert_string_equal(k.kept, "{weir:s}:2:kept");
	assert_string_equal(k.nodes, "{weir:s}:2:nodes");
	assert_string_equal(k.lease, "{weir:s}:2:lease");
	memset(set, 'z', WEIR_SET_NAME);
	weir__keys_make(&k, set);
	snprintf(wanted, sizeof wanted, "{weir:%s}:2:img:ab%060d01:", set, 0);
	assert_string_equal(weir__key_of_image(text, &k, hash), wanted);
	assert_true(strlen(text) + strlen("1048575") < WEIR_KEY_TEXT);
}

static void test_which_kinds_can_be_replicated(void **state)
{
	(void)state;
	assert_int_equal(weir__replicable(WEIR_BLOCKED), WEIR_REPLICABLE_INSERTS);
	assert_int_equal(weir__replicable(WEIR_GROWING), WEIR_REPLICABLE_INSERTS);
	assert_int_equal(weir__replicable(WEIR_FUSE), WEIR_REPLICABLE_IMAGES);
	assert_int_equal(weir__replicable(WEIR_COUNTING), WEIR_REPLICABLE_NOT);
	assert_ok(weir__replicable_check(WEIR_FUSE));
	assert_refused(weir__replicable_check(WEIR_COUNTING), -ENOTSUP, "counting", "twice");
	assert_refused(weir__replicable_check(99), -ENOTSUP, "99", "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_names_a_set_can_have),
		cmocka_unit_test(test_keys_have_one_hash_tag_and_room_for_the_longest_name),
		cmocka_unit_test(test_which_kinds_can_be_replicated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
