/* SPDX-License-Identifier: MIT
 * What a record replaces, what goes on beside it, and what is none any more (L6, L13). */
#include <errno.h>
#include "seeds.h"

/* As in test_seeds_lineage.c, by @seed and @later milliseconds later. */
static void another_lineage(uint64_t seed, unsigned keys, unsigned later)
{
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	toy.clock += later;
	publish_of(A, seed, keys);
	edit("lineage ");
}

/* What was published when what is joined here was is no newer. */
static void test_of_the_same_millisecond(void **state)
{
	(void)state;
	another_lineage(4711, 5, 0);
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "does not descend", "set");
}

/* By the seed that the set has, the set stays beside the record: what came since that was read may
 * have gone from the stream. */
static void test_a_record_of_the_same_seed(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	insert_key(A, 9);
	toy.clock += 1000;
	publish_of(A, 1, 5); /* its position is before 9 */
	edit("lineage ");
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has_key(B, 9));
	toy_trim(&toy, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5) && has_key(B, 9));
}

/* The first of a set, after a flush, is of another lineage, and a record of now. */
static void test_a_record_begins_anew(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	toy_flush(&toy);
	toy.clock += 1000;
	publish_of(A, 4711, 5);
	assert_non_null(strstr(toy.now.manifest, "\nbase 0\n"));
	assert_non_null(strstr(toy.now.manifest, "\nsource record\n"));
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5));
}

/* What was published before, and is again, is no record of now.
 * @of_set: it was a node's set, and no record then either. */
static void again(bool of_set)
{
	publish_of(A, 4711, 3);
	if (of_set) {
		assert_ok(weir__node_look(&node[A]));
		publish(A);
	}
	char *text = strdup(toy.now.manifest);
	publish_of(A, 1, 8);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 8));
	toy.clock += 1000;
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_publish_again(&node[A], text, strlen(text)));
	free(text);
	assert_null(strstr(toy.now.manifest, "\nsource "));
	edit("lineage ");
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "does not descend", "set");
	assert_true(has_key(B, 8));
}

static void test_a_record_again(void **state)
{
	(void)state;
	again(false);
}

static void test_a_set_again(void **state)
{
	(void)state;
	again(true);
}

/* What came while the record was read is not before its position. */
static void test_what_came_meanwhile(void **state)
{
	struct weir_mark mark;
	struct weir_filter *f = filter_of(1, 3);
	(void)state;
	publish_of(A, 1, 2);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_mark(&node[A], &mark));
	insert_key(B, 9);
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has_key(A, 9));
}

/* What failed has no number. */
static void test_no_number_of_what_failed(void **state)
{
	struct weir_mark mark;
	struct weir_filter *f = filter_of(1, 3);
	(void)state;
	publish_of(A, 1, 2);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_mark(&node[B], &mark));
	toy.failing = 1000;
	assert_int_not_equal(weir__node_publish_from(&node[B], f, &mark), 0);
	toy.failing = 0;
	assert_ok(weir__node_publish_from(&node[B], f, &mark));
	assert_non_null(strstr(toy.now.manifest, "\ngeneration 2\n"));
	weir__mark_free(&mark);
	weir_destroy(f);
}

/* By another seed, at a server whose clock is behind that of which B has joined one. */
static void publish_behind(void)
{
	toy.clock += 3600000;
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[B]));
	toy_flush(&toy); /* another server, another epoch */
	toy.clock -= 3600000;
	publish_of(A, 4711, 5);
}

/* The clock of the server that is master now may be behind. */
static void test_a_clock_that_is_behind(void **state)
{
	(void)state;
	publish_behind();
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5));
}

/* Where manifests are signed only one whose publisher's clock was right takes its place: of those
 * that are older, one that somebody has kept cannot be told from what is new. */
static void test_a_signed_clock_that_is_behind(void **state)
{
	(void)state;
	node[B].is_signed = true;
	publish_behind();
	assert_int_not_equal(weir__node_look(&node[B]), 0);
	assert_true(has_key(B, 3) && !has_key(B, 5));
	toy_flush(&toy);
	toy.clock += 3600001;
	publish_of(A, 4711, 6);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 6));
}

static int now_fails(void *context, uint64_t *ms)
{
	(void)context, (void)ms;
	return weir_fail(-ECONNRESET, "the connection broke");
}

/* What may succeed the next time is not refused. */
static void test_a_clock_that_does_not_answer(void **state)
{
	const struct weir_server as_it_was = toy.server;
	(void)state;
	publish_behind();
	toy.server.now = now_fails;
	assert_int_equal(weir__node_look(&node[B]), -ECONNRESET);
	toy.server = as_it_was;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 5));
}

/* Somebody sends in B's name the number that B's next batch gets, and an image says it has that:
 * what B has not sent yet is in none. */
static void test_the_next_in_its_name(void **state)
{
	struct weir_sending forged = { .kind = WEIR_ENTRY_KEYS, .sequence = 1, .data = "" };
	struct weir_stream_id id;
	(void)state;
	publish_of(A, 1, 3);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_look(&node[B]));
	insert_key(B, 77);
	forged.epoch = node[A].epoch;
	forged.node = node[B].id;
	forged.hashing = node[A].hashing;
	assert_ok(toy.server.append(&toy, &forged, &id));
	insert_key(A, 5);
	assert_ok(weir__node_send(&node[A]));
	publish(A);
	assert_non_null(strstr(toy.now.manifest, "origin 000000000000000b 1\n"));
	node[B].is_signed = true;
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has_key(B, 5) && has_key(B, 77));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_of_keys, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_of_the_same_millisecond),
		OF(test_a_record_of_the_same_seed),
		OF(test_a_record_begins_anew),
		OF(test_a_record_again),
		OF(test_a_set_again),
		OF(test_what_came_meanwhile),
		OF(test_no_number_of_what_failed),
		OF(test_a_clock_that_is_behind),
		OF(test_a_signed_clock_that_is_behind),
		OF(test_a_clock_that_does_not_answer),
		OF(test_the_next_in_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
