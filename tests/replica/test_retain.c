/* SPDX-License-Identifier: MIT
 * L3 and L4: what is sent when, what is sent again, and what may be forgotten. */
#include <errno.h>
#include "../test.h"
#include "retain.h"

static struct weir_retained r;

static int make(void **state)
{
	(void)state;
	weir__retained_make(&r, 1 << 20);
	return 0;
}

static int release(void **state)
{
	(void)state;
	weir__retained_free(&r);
	assert_null(r.oldest);
	assert_int_equal(r.bytes, 0);
	return 0;
}

static void add(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_ok(weir__retained_add(&r, &i, sizeof i));
}

/* The next to be sent is this one. */
static void sends(uint64_t sequence)
{
	const struct weir_batch *b = weir__retained_send(&r);
	assert_non_null(b);
	assert_int_equal(b->sequence, sequence);
}

static void confirmed(uint64_t sequence, uint64_t ms)
{
	sends(sequence);
	assert_true(weir__retained_confirm(&r, (struct weir_stream_id){ ms, 0 }));
}

static struct weir_stream_id at(uint64_t ms)
{
	return (struct weir_stream_id){ ms, 0 };
}

static void test_one_under_way(void **state)
{
	(void)state;
	assert_null(weir__retained_send(&r));
	assert_false(weir__retained_confirm(&r, at(1)));
	add(3);
	sends(1);
	assert_null(weir__retained_send(&r));
	add(1);
	assert_null(weir__retained_send(&r));
	assert_true(weir__retained_confirm(&r, at(1)));
	assert_false(weir__retained_confirm(&r, at(1)));
	confirmed(2, 2);
	confirmed(3, 3);
	confirmed(4, 4);
	assert_null(weir__retained_send(&r));
	add(1);
	confirmed(5, 5);
}

static void test_sent_again_if_nobody_knows(void **state)
{
	(void)state;
	add(2);
	confirmed(1, 1);
	sends(2);
	weir__retained_unsure(&r);
	confirmed(2, 7);
	assert_null(weir__retained_send(&r));
	assert_int_equal(weir__retained_forget(&r, at(6)), 1);
	assert_int_equal(r.oldest->sequence, 2);
}

static void test_another_epoch_sends_all(void **state)
{
	(void)state;
	add(4);
	confirmed(1, 1);
	confirmed(2, 2);
	confirmed(3, 3);
	assert_int_equal(weir__retained_forget(&r, at(1)), 1);
	sends(4);
	weir__retained_anew(&r);
	/* ids of the epoch before say nothing any more */
	assert_int_equal(weir__retained_forget(&r, at(99)), 0);
	confirmed(2, 1);
	confirmed(3, 2);
	confirmed(4, 3);
	assert_null(weir__retained_send(&r));
	assert_int_equal(weir__retained_forget(&r, at(2)), 2);
	weir__retained_anew(&r);
	confirmed(4, 5);
}

static void test_again_from_a_hole(void **state)
{
	(void)state;
	add(5);
	for (unsigned i = 1; i <= 4; i++)
		confirmed(i, i);
	assert_int_equal(weir__retained_again(&r, 3), 3);
	assert_int_equal(weir__retained_forget(&r, at(9)), 2);
	confirmed(3, 11);
	confirmed(4, 12);
	confirmed(5, 13);
	assert_int_equal(weir__retained_again(&r, 6), 0);
	assert_null(weir__retained_send(&r));
	/* one that is not sent yet is no reason to begin before it */
	add(2);
	confirmed(6, 14);
	assert_int_equal(weir__retained_again(&r, 7), 1);
	confirmed(7, 15);
	/* nor are those that have gone */
	assert_int_equal(weir__retained_forget(&r, at(13)), 3);
	assert_int_equal(weir__retained_again(&r, 1), 2);
	confirmed(6, 16);
	confirmed(7, 17);
}

static void test_only_what_is_covered_goes(void **state)
{
	(void)state;
	add(3);
	assert_int_equal(weir__retained_forget(&r, at(UINT64_MAX)), 0);
	confirmed(1, 10);
	confirmed(2, 20);
	assert_int_equal(weir__retained_forget(&r, at(9)), 0);
	assert_int_equal(weir__retained_forget(&r, at(10)), 1);
	assert_int_equal(weir__retained_forget(&r, at(UINT64_MAX)), 1);
	assert_int_equal(r.oldest->sequence, 3);
	confirmed(3, 30);
	assert_int_equal(weir__retained_forget(&r, at(30)), 1);
	assert_null(r.oldest);
	assert_int_equal(r.bytes, 0);
	add(1);
	confirmed(4, 40); /* numbers go on */
}

static void test_limit(void **state)
{
	char data[1000] = "";
	(void)state;
	weir__retained_make(&r, 10 * sizeof data);
	unsigned n = 0;
	while (weir__retained_add(&r, data, sizeof data) == 0)
		n++;
	assert_int_equal(n, 9); /* each takes something more than its data */
	assert_true(r.bytes <= r.limit);
	assert_refused(weir__retained_add(&r, data, sizeof data), -ENOBUFS,
	               "max_pending_bytes 10000", "no room");
	assert_refused(weir__retained_add(&r, data, SIZE_MAX - 8), -ENOBUFS, "no room", "");
	assert_int_equal(r.last, 9);
	confirmed(1, 1);
	assert_int_equal(weir__retained_forget(&r, at(1)), 1);
	assert_ok(weir__retained_add(&r, data, sizeof data));
	assert_int_equal(r.newest->sequence, 10);
	/* batches without data are not for nothing either */
	for (n = 0; weir__retained_add(&r, NULL, 0) == 0; n++)
		assert_true(n < 1000);
}

/* A manifest may lack a batch that was in the stream before its position. */
static void test_what_a_manifest_lacks(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 4; i++) {
		assert_ok(weir__retained_add(&r, "12345678", 8));
		assert_non_null(weir__retained_send(&r));
		assert_true(weir__retained_confirm(&r, at(i)));
	}
	assert_int_equal(weir__retained_uncovered(&r, at(3), 3), 0);
	assert_int_equal(weir__retained_forget(&r, at(1)), 1);
	assert_int_equal(weir__retained_uncovered(&r, at(3), 2), 2); /* and what follows */
	assert_int_equal(weir__retained_send(&r)->sequence, 3);
	assert_true(weir__retained_confirm(&r, at(5)));
	assert_int_equal(weir__retained_uncovered(&r, at(4), 3), 0); /* is to be sent */
	assert_int_equal(weir__retained_forget(&r, at(4)), 1);
	weir__retained_renumber(&r);
	assert_int_equal(weir__retained_send(&r)->sequence, 1);
	assert_int_equal(r.last, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_a_manifest_lacks, make, release),
		cmocka_unit_test_setup_teardown(test_one_under_way, make, release),
		cmocka_unit_test_setup_teardown(test_sent_again_if_nobody_knows, make, release),
		cmocka_unit_test_setup_teardown(test_another_epoch_sends_all, make, release),
		cmocka_unit_test_setup_teardown(test_again_from_a_hole, make, release),
		cmocka_unit_test_setup_teardown(test_only_what_is_covered_goes, make, release),
		cmocka_unit_test_setup_teardown(test_limit, make, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
