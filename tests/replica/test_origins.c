/* SPDX-License-Identifier: MIT
 * L8: a node's batches come in order, again, or with a hole; and who waits for whom. */
#include <errno.h>
#include "../test.h"
#include "format/origins.h"

static struct weir_origins o;

static int release(void **state)
{
	(void)state;
	weir__origins_free(&o);
	return 0;
}

static void sees(uint64_t node, uint64_t sequence, enum weir_origin_news news, size_t waiting)
{
	assert_int_equal(weir__origins_see(&o, node, sequence), news);
	assert_int_equal(o.waiting, waiting);
}

static void test_in_order(void **state)
{
	(void)state;
	sees(7, 1, WEIR_ORIGIN_NEXT, 0);
	sees(7, 2, WEIR_ORIGIN_NEXT, 0);
	sees(3, 1, WEIR_ORIGIN_NEXT, 0);
	sees(7, 2, WEIR_ORIGIN_AGAIN, 0);
	sees(7, 1, WEIR_ORIGIN_AGAIN, 0);
	sees(7, 3, WEIR_ORIGIN_NEXT, 0);
	assert_int_equal(weir__origins_find(&o, 7)->sequence, 3);
	assert_int_equal(weir__origins_find(&o, 3)->sequence, 1);
	assert_null(weir__origins_find(&o, 5));
}

static void test_a_hole_is_filled(void **state)
{
	(void)state;
	sees(7, 1, WEIR_ORIGIN_NEXT, 0);
	sees(7, 3, WEIR_ORIGIN_HOLE, 1);
	sees(7, 5, WEIR_ORIGIN_HOLE, 1);
	sees(9, 2, WEIR_ORIGIN_HOLE, 2); /* whose first was never seen */
	sees(7, 2, WEIR_ORIGIN_NEXT, 2);
	sees(7, 3, WEIR_ORIGIN_NEXT, 2);
	sees(7, 4, WEIR_ORIGIN_NEXT, 2);
	sees(7, 5, WEIR_ORIGIN_NEXT, 1);
	sees(9, 1, WEIR_ORIGIN_NEXT, 1);
	sees(9, 2, WEIR_ORIGIN_NEXT, 0);
}

static void test_a_hole_is_covered(void **state)
{
	(void)state;
	sees(7, 4, WEIR_ORIGIN_HOLE, 1);
	assert_ok(weir__origins_cover(&o, 7, 3));
	assert_int_equal(o.waiting, 1); /* 4 was seen, but nobody knows of 4 that it is the last */
	assert_ok(weir__origins_cover(&o, 7, 4));
	assert_int_equal(o.waiting, 0);
	assert_ok(weir__origins_cover(&o, 7, 2)); /* an older manifest takes nothing back */
	sees(7, 5, WEIR_ORIGIN_NEXT, 0);
	assert_ok(weir__origins_cover(&o, 8, 6));
	sees(8, 7, WEIR_ORIGIN_NEXT, 0);
	sees(8, 9, WEIR_ORIGIN_HOLE, 1);
	weir__origins_forget(&o, 8);
	assert_int_equal(o.waiting, 0);
	assert_null(weir__origins_find(&o, 8));
	weir__origins_forget(&o, 8);
	assert_int_equal(weir__origins_find(&o, 7)->sequence, 5);
	assert_int_equal(o.n, 1);
}

/* That a node has sent so many is no sign that they were applied. */
static void test_heard_of(void **state)
{
	(void)state;
	assert_ok(weir__origins_hear(&o, 7, 0));
	assert_int_equal(weir__origins_find(&o, 7)->sequence, 0);
	assert_int_equal(o.waiting, 0);
	sees(7, 1, WEIR_ORIGIN_NEXT, 0);
	assert_ok(weir__origins_hear(&o, 7, 1));
	assert_int_equal(o.waiting, 0);
	assert_ok(weir__origins_hear(&o, 7, 2));
	assert_int_equal(o.waiting, 1);
	assert_int_equal(weir__origins_find(&o, 7)->sequence, 1);
	assert_ok(weir__origins_hear(&o, 7, 1));
	assert_int_equal(o.waiting, 1);
	sees(7, 2, WEIR_ORIGIN_NEXT, 0);
	assert_ok(weir__origins_hear(&o, 8, 1));
	assert_int_equal(o.waiting, 1);
}

/* After a gap a node is whole when it has spoken since, and nothing of what it says is lacking. */
static void test_whole_again(void **state)
{
	(void)state;
	assert_false(weir__origins_whole(&o, 7));
	assert_ok(weir__origins_hear(&o, 7, 0));
	sees(8, 1, WEIR_ORIGIN_NEXT, 0);
	assert_true(weir__origins_whole(&o, 7) && weir__origins_whole(&o, 8));
	o.gap++;
	assert_false(weir__origins_whole(&o, 7) || weir__origins_whole(&o, 8));
	sees(8, 1, WEIR_ORIGIN_AGAIN, 0);
	assert_false(weir__origins_whole(&o, 8)); /* sent before, perhaps */
	assert_ok(weir__origins_hear(&o, 8, 3));
	assert_false(weir__origins_whole(&o, 8));
	sees(8, 2, WEIR_ORIGIN_NEXT, 1);
	assert_false(weir__origins_whole(&o, 8));
	sees(8, 3, WEIR_ORIGIN_NEXT, 0);
	assert_true(weir__origins_whole(&o, 8));
	assert_ok(weir__origins_hear(&o, 7, 2));
	weir__origins_abandon(&o, 7);
	assert_int_equal(o.waiting, 0);
	assert_int_equal(weir__origins_find(&o, 7)->sequence, 0); /* what it lacks it lacks */
	sees(7, 3, WEIR_ORIGIN_HOLE, 1); /* it has not gone */
}

/* Some in no order, below all others, which come in theirs: each is put into its place by moving
 * those that follow. */
static uint64_t one_of_many(uint64_t i)
{
	return i < 2000 ? test_key(i) >> 1 : (UINT64_C(1) << 63) + i;
}

static void test_many(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < WEIR_ORIGINS; i++)
		assert_int_equal(weir__origins_see(&o, one_of_many(i), 1), WEIR_ORIGIN_NEXT);
	assert_int_equal(o.n, WEIR_ORIGINS);
	for (size_t i = 1; i < o.n; i++)
		assert_true(o.of[i - 1].node < o.of[i].node);
	assert_refused(weir__origins_see(&o, 1, 1), -ENOBUFS, "65536", "");
	assert_refused(weir__origins_cover(&o, 1, 1), -ENOBUFS, "65536", "");
	for (uint64_t i = 0; i < WEIR_ORIGINS; i++)
		assert_int_equal(weir__origins_see(&o, one_of_many(i), 2), WEIR_ORIGIN_NEXT);
	for (uint64_t i = 0; i < WEIR_ORIGINS; i += i < 4000 ? 2 : 100)
		weir__origins_forget(&o, one_of_many(i));
	assert_int_equal(o.n, WEIR_ORIGINS - 2000 - (WEIR_ORIGINS - 4000 + 99) / 100);
	for (uint64_t i = 1; i <= 4001; i += 2000) {
		assert_non_null(weir__origins_find(&o, one_of_many(i)));
		assert_null(weir__origins_find(&o, one_of_many(i - 1)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_in_order, release),
		cmocka_unit_test_teardown(test_a_hole_is_filled, release),
		cmocka_unit_test_teardown(test_a_hole_is_covered, release),
		cmocka_unit_test_teardown(test_heard_of, release),
		cmocka_unit_test_teardown(test_whole_again, release),
		cmocka_unit_test_teardown(test_many, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
