/* SPDX-License-Identifier: MIT
 * L13: a generation by another seed that does not descend from what a node has. Its set cannot be
 * copied beside it: only the record of now has all that it has. */
#include <errno.h>
#include "seeds.h"

/* B has joined one that begins with the keys 1 to 3, by the seed 1. What is there now is of another
 * lineage, and of keys that a record has: 1 to @keys. */
static void another_lineage(unsigned keys)
{
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 3));
	toy.clock += 1000;
	publish_of(A, 4711, keys);
	edit("lineage ");
}

static void assert_it_stays(const char *why)
{
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, why, "set");
	assert_int_equal(node[B].joined.generation, 1);
	assert_true(has_key(B, 3));
}

static void test_the_record_of_now(void **state)
{
	(void)state;
	another_lineage(5);
	insert_key(B, 8); /* pending */
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has_key(B, 5) && has_key(B, 8) && weir__node_complete(&node[B]));
	assert_false(node[B].united || node[B].has_more); /* it has nothing that the others lack */
}

/* Somebody put back what was there before, as it was. */
static void test_an_older_record(void **state)
{
	(void)state;
	another_lineage(3);
	char *older = strdup(toy.now.manifest);
	toy.clock += 1000;
	publish_of(A, 1, 5);
	edit("lineage "); /* of the first one, again */
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5));
	put_manifest(older);
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "does not descend", "record");
	assert_true(has_key(B, 5));
}

/* It was not replaced by what this node has, though its number is lower. */
static void test_one_of_a_lower_number(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	char *first = strdup(toy.now.manifest);
	publish_of(A, 4711, 5);
	assert_ok(weir__node_look(&node[B]));
	put_manifest(first);
	edit("lineage ");
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "does not descend", "set");
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has_key(B, 5));
}

/* What B has was published when the server's clock was ahead: that is no reason to wait. */
static void test_a_clock_that_was_ahead(void **state)
{
	(void)state;
	toy.clock += 1000000;
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	toy.clock -= 900000;
	publish_of(A, 4711, 5);
	edit("lineage ");
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5));
}

/* Nobody knows what that server lost when it ended. */
static void test_a_record_of_another_epoch(void **state)
{
	(void)state;
	another_lineage(5);
	toy_wait(&toy);
	toy_fail_over(&toy);
	assert_it_stays("does not descend");
	toy.clock += 2000;
	publish_of(A, 4712, 6); /* the next one can be joined */
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 6));
}

static void test_a_record_beside_a_gap(void **state)
{
	(void)state;
	another_lineage(5);
	insert_key(A, 9);
	assert_ok(weir__node_send(&node[A]));
	toy_trim(&toy, 1);
	assert_it_stays("have gone");
}

static void remove_line(const char *line)
{
	char *at = strstr(toy.now.manifest, line);
	assert_non_null(at);
	memmove(at, at + strlen(line), strlen(at + strlen(line)) + 1);
	toy.now.manifest_len -= strlen(line);
}

/* As weir__node_publish_again() says it. */
static void test_one_of_before(void **state)
{
	(void)state;
	another_lineage(5);
	remove_line("source record\n");
	assert_it_stays("does not descend");
}

/* Another node's set is no record. */
static void test_a_set(void **state)
{
	(void)state;
	another_lineage(5);
	assert_ok(weir__node_look(&node[A]));
	toy.clock += 1000;
	publish(A);
	assert_non_null(strstr(toy.now.manifest, "source set\n"));
	assert_it_stays("does not descend");
}

/* It was made since what B has was lost: B keeps nothing beside it. */
static void test_nothing_is_kept_beside_it(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	toy_wait(&toy);
	assert_ok(weir__node_look(&node[B]));
	node[B].joined.generation = 9;
	toy_fail_over(&toy);
	publish_of(A, 4711, 7);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 7));
	assert_false(node[B].united || node[B].has_more || node[B].alone);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_of_keys, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_the_record_of_now),
		OF(test_an_older_record),
		OF(test_one_of_a_lower_number),
		OF(test_a_clock_that_was_ahead),
		OF(test_a_record_of_another_epoch),
		OF(test_a_record_beside_a_gap),
		OF(test_one_of_before),
		OF(test_a_set),
		OF(test_nothing_is_kept_beside_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
