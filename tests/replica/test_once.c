/* SPDX-License-Identifier: MIT
 * What was said once, and is so no more: a lie of a server that is honest since, or an entry that
 * somebody has deleted again. It passes. */
#include <errno.h>
#include <weir/error.h>
#include "two.h"

/* An id of a time to come: no manifest would ever cover it. */
static void test_an_id_of_a_batch(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	struct weir_retained *r = &node[A].retained;
	const struct weir_stream_id id = r->oldest->id, to_come = { UINT64_MAX, 0 };
	r->under_way = true;
	r->next = r->oldest;
	assert_true(weir__retained_confirm(r, to_come));
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	assert_ptr_equal(r->next, r->oldest); /* all are sent again */
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(r->oldest->confirmed && !r->next); /* and once */
	assert_true(weir__stream_id_compare(r->oldest->id, to_come) < 0);
	assert_true(weir__stream_id_compare(r->oldest->id, id) > 0);
}

/* Those of another epoch were higher. */
static void test_ids_of_another_epoch(void **state)
{
	(void)state;
	for (unsigned key = 1; key < 5; key++)
		insert_and_send(A, key);
	assert_ok(weir__node_read(&node[A]));
	toy_flush(&toy);
	assert_ok(weir__node_look(&node[A]));
	insert_and_send(A, 5);
	assert_ok(weir__node_read(&node[A]));
	assert_null(node[A].retained.next);
}

/* That a node has sent more than it has, by an entry that it has not read: who waits asks it. */
static void test_more_than_it_has_sent(void **state)
{
	const uint64_t name = node[B].id;
	(void)state;
	insert_and_send(B, 1);
	insert_and_send(B, 2);
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__origins_hear(&node[A].origins, name, 9));
	assert_false(weir__node_complete(&node[A]));
	assert_ok(weir__node_want(&node[A], name, 2)); /* its last */
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].id, name);
	assert_ok(weir__node_want(&node[A], name, 3));
	assert_ok(weir__node_read(&node[B]));
	assert_int_not_equal(node[B].id, name);
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(weir__node_heal(&node[A], &node[B].id, 1)); /* who lives, and it has gone */
	assert_true(has(A, 1) && has(A, 2));
}

/* That there is a generation of a number far beyond: the next one is not after that. */
static void test_a_number_of_a_generation(void **state)
{
	(void)state;
	publish(A);
	node[A].newest = INT64_MAX - 1;
	publish(A);
	assert_int_equal(toy.now.generation, 2);
	node[A].newest = 2 + (uint64_t)UINT32_MAX; /* which might have been, and was lost */
	publish(A);
	assert_int_equal(toy.now.generation, 3 + (uint64_t)UINT32_MAX);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_an_id_of_a_batch),
		OF(test_ids_of_another_epoch),
		OF(test_more_than_it_has_sent),
		OF(test_a_number_of_a_generation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
