/* SPDX-License-Identifier: MIT
 * Ids of a stream have one form; what has gone from a stream is counted. */
#include "../test.h"
#include "format/cursor.h"

static void test_one_form(void **state)
{
	static const char *const refused[] = {
		"", "-", "1", "1-", "-1", "1-2-3", "01-2", "1-02", "+1-2", " 1-2", "1-2 ", "1 -2",
		"a-1", "1-a", "18446744073709551616-0", "0-18446744073709551616", "1-2\n", "1--2",
	};
	static const struct weir_stream_id taken[] = {
		{ 0, 0 }, { 0, 1 }, { 1526919030474, 55 }, { UINT64_MAX, UINT64_MAX }, { 10, 0 },
	};
	char text[WEIR_STREAM_ID_TEXT];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		struct weir_stream_id id = { 7, 8 };
		assert_false(weir__stream_id_parse(&id, refused[i], strlen(refused[i])));
		assert_true(id.ms == 7 && id.number == 8);
	}
	for (size_t i = 0; i < COUNT_OF(taken); i++) {
		struct weir_stream_id id;
		weir__stream_id_print(text, taken[i]);
		assert_true(weir__stream_id_parse(&id, text, strlen(text)));
		assert_int_equal(weir__stream_id_compare(id, taken[i]), 0);
	}
	assert_string_equal(weir__stream_id_print(text, taken[2]), "1526919030474-55");
}

static void test_order(void **state)
{
	static const struct weir_stream_id order[] = {
		{ 0, 0 }, { 0, 9 }, { 1, 0 }, { 1, 1 }, { 2, 0 }, { UINT64_MAX, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(order); i++)
		for (size_t j = 0; j < COUNT_OF(order); j++) {
			int c = weir__stream_id_compare(order[i], order[j]);
			assert_true(i < j ? c < 0 : i > j ? c > 0 : c == 0);
		}
}

static void test_gaps(void **state)
{
	static const struct {
		uint64_t consumed, added, length;
		enum weir_gap gap;
		uint64_t missed;
	} cases[] = {
		{ 0, 0, 0, WEIR_GAP_NONE, 0 },
		{ 0, 5, 5, WEIR_GAP_NONE, 0 },
		{ 0, 5, 4, WEIR_GAP_TRIMMED, 1 },
		{ 3, 5, 2, WEIR_GAP_NONE, 0 },   /* just what was consumed has gone */
		{ 3, 5, 1, WEIR_GAP_TRIMMED, 1 },
		{ 3, 5, 0, WEIR_GAP_TRIMMED, 2 },
		{ 5, 5, 0, WEIR_GAP_NONE, 0 },
		{ 6, 5, 5, WEIR_GAP_ANEW, 0 },   /* deleted and begun again */
		{ 6, 0, 0, WEIR_GAP_ANEW, 0 },
		{ 3, 4, 5, WEIR_GAP_TRIMMED, UINT64_MAX - 3 }, /* more than were ever added */
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_cursor c = { { 9, 9 }, cases[i].consumed };
		struct weir_stream_counts s = { cases[i].added, cases[i].length, { 9, 9 } };
		uint64_t missed = 4711;
		assert_int_equal(weir__cursor_gap(&c, &s, &missed), cases[i].gap);
		assert_int_equal(missed, cases[i].missed);
		assert_int_equal(weir__cursor_gap(&c, &s, NULL), cases[i].gap);
	}
}

/* Nothing that comes would follow the cursor. */
static void test_ids_were_set_back(void **state)
{
	const struct weir_cursor c = { { 9, 9 }, 5 };
	struct weir_stream_counts s = { 5, 5, { 9, 8 } };
	uint64_t missed = 4711;
	(void)state;
	assert_int_equal(weir__cursor_gap(&c, &s, &missed), WEIR_GAP_ANEW);
	assert_int_equal(missed, 0);
	s.last.number = 9;
	assert_int_equal(weir__cursor_gap(&c, &s, NULL), WEIR_GAP_NONE);
}

static void test_advance(void **state)
{
	struct weir_cursor c = { { 5, 1 }, 10 };
	(void)state;
	assert_false(weir__cursor_advance(&c, (struct weir_stream_id){ 5, 1 }));
	assert_false(weir__cursor_advance(&c, (struct weir_stream_id){ 4, 9 }));
	assert_int_equal(c.consumed, 10);
	assert_true(weir__cursor_advance(&c, (struct weir_stream_id){ 5, 2 }));
	assert_true(weir__cursor_advance(&c, (struct weir_stream_id){ 6, 0 }));
	assert_int_equal(c.consumed, 12);
	assert_true(c.at.ms == 6 && c.at.number == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_form),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_ids_were_set_back),
		cmocka_unit_test(test_advance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
