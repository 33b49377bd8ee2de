/* SPDX-License-Identifier: MIT
 * The text form of ids, their order, and lists of ids. */
#include "../../test.h"
#include "format/manifest.h"

static void test_an_id_has_one_form(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "-", "1-", "-1", "01-1", "1-01", "1-1-1", "+1-1",
		                           "1 -1", "1.1", "18446744073709551616-0", "a-1" };
	struct weir_log_id id = { 7, 7 };
	char text[WEIR_ID_TEXT];
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(weir__log_id_read(&id, bad[i], strlen(bad[i])));
	assert_int_equal(id.epoch, 7);
	const struct weir_log_id most = { UINT64_MAX, UINT64_MAX };
	assert_string_equal(weir__log_id_write(text, most),
	                    "18446744073709551615-18446744073709551615");
	assert_true(weir__log_id_read(&id, text, strlen(text)));
	assert_int_equal(weir__log_id_compare(id, most), 0);
	assert_true(weir__log_id_compare((struct weir_log_id){ 1, 9 },
	                                 (struct weir_log_id){ 2, 1 }) < 0);
}

static void test_a_version_has_one_form(void **state)
{
	(void)state;
	struct weir_version v = { 7, 7 };
	char text[WEIR_ID_TEXT];
	assert_false(weir__version_read(&v, "1-1", 3));
	assert_false(weir__version_read(&v, "1.", 2));
	assert_int_equal(v.number, 7);
	assert_true(weir__version_read(&v, "3.12", 4));
	assert_string_equal(weir__version_write(text, v), "3.12");
	assert_true(weir__version_compare(v, (struct weir_version){ 3, 9 }) > 0);
	assert_true(weir__version_compare(v, (struct weir_version){ 4, 1 }) < 0);
}

static void test_a_mark_has_16_digits_in_lower_case(void **state)
{
	(void)state;
	uint64_t value = 7;
	char text[WEIR_HEX_TEXT];
	assert_false(weir__hex_read(&value, "0123456789abcde", 15));
	assert_false(weir__hex_read(&value, "0123456789abcdef0", 17));
	assert_false(weir__hex_read(&value, "0123456789abcdeF", 16));
	assert_int_equal(value, 7);
	assert_true(weir__hex_read(&value, weir__hex_write(text, UINT64_C(0xF)), 16));
	assert_string_equal(text, "000000000000000f");
	assert_int_equal(value, 0xF);
}

static void test_drawn_ids_differ_and_are_never_0(void **state)
{
	(void)state;
	uint64_t a = 0, b = 0;
	assert_ok(weir__draw(&a));
	assert_ok(weir__draw(&b));
	assert_true(a && b && a != b);
}

static void test_the_oldest_falls_out_of_a_full_list(void **state)
{
	(void)state;
	struct weir_has has = { 0 };
	for (uint64_t id = 1; id <= WEIR_HAS; id++)
		assert_true(weir__has_add(&has, id));
	assert_true(weir__has_add(&has, 1));
	assert_int_equal(has.n, WEIR_HAS);
	assert_false(weir__has_add(&has, 1000));
	assert_int_equal(has.n, WEIR_HAS);
	assert_true(weir__has(&has, 1000) && weir__has(&has, 2));
	assert_false(weir__has(&has, 1));
	assert_int_equal(has.id[0], 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_id_has_one_form),
		cmocka_unit_test(test_a_version_has_one_form),
		cmocka_unit_test(test_a_mark_has_16_digits_in_lower_case),
		cmocka_unit_test(test_drawn_ids_differ_and_are_never_0),
		cmocka_unit_test(test_the_oldest_falls_out_of_a_full_list),
	};
	return cmocka_run_group_tests_name("replica_ids", tests, NULL, NULL);
}
