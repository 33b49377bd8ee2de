/* SPDX-License-Identifier: MIT
 * L1, L3: what a node knows of one epoch means nothing in the next, and how a node starts. */
#include <errno.h>
#include "two.h"

/* Another server, whose clock is behind: its ids are below all that were. */
static void begin_anew(void)
{
	toy_flush(&toy);
	toy.clock = 1;
}

/* A's batch is covered by a manifest that is safe. */
static void make_covered(void)
{
	toy.clock = 5000;
	insert_and_send(A, 1);
	publish(A);
	publish(A);
	assert_true(node[A].covered.ms >= 5000);
}

static void test_covered_in_another_epoch(void **state)
{
	(void)state;
	make_covered();
	begin_anew();
	assert_ok(weir__node_look(&node[A]));
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	assert_non_null(node[A].retained.oldest);
}

static void test_covered_by_one_that_is_put_back(void **state)
{
	(void)state;
	make_covered();
	char *old = strdup(toy.now.manifest);
	begin_anew();
	assert_ok(weir__node_look(&node[A]));
	insert_and_send(A, 2);
	put_manifest(old);
	assert_ok(weir__node_look(&node[A]));
	assert_null(node[A].retained.next); /* nothing is to be sent again for it */
	assert_ok(weir__node_read(&node[A]));
	assert_int_equal(node[A].retained.oldest->sequence, 1);
}

/* Whoever publishes knows at once what that covers. */
static void test_covered_by_its_own(void **state)
{
	(void)state;
	make_covered();
	assert_ok(weir__node_read(&node[A]));
	assert_null(node[A].retained.oldest);
}

static void test_a_gap_ends_with_its_epoch(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	toy_trim(&toy, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_true(node[B].gap);
	begin_anew();
	assert_ok(weir__node_look(&node[B]));
	assert_true(weir__node_complete(&node[B]));
	publish(B);
}

/* Its own set may have joined what is there no more: what it replaces covers what that covers. */
static void test_covered_by_what_is_replaced(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	struct weir_mark mark;
	(void)state;
	publish(A);
	char *first = strdup(toy.now.manifest);
	make_covered();
	put_manifest(first);
	toy.now.generation = 1;
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[A]), -EAGAIN);
	assert_ok(weir__node_mark(&node[A], &mark));
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	assert_non_null(strstr(toy.now.manifest, "\ncovered 0-0\n"));
}

/* B starts again, with the newest image in its handle. */
static void start_again(void)
{
	struct weir_origins origins = { 0 };
	struct weir_filter *image;
	struct weir_manifest m;
	assert_ok(weir__manifest_read(&m, &origins, toy.now.manifest, toy.now.manifest_len));
	assert_ok(toy.server.image(toy.server.context, &m, &image));
	die(B);
	be_born_with(B, 0xc, image, WEIR_ENTRY_HASHES);
	weir__node_start(&node[B], node[A].epoch, &m, &origins);
	assert_int_equal(origins.n, 0);
}

static void test_start(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	start_again();
	assert_int_equal(node[B].seen.generation, 1);
	toy.no_image = true; /* it has that */
	assert_ok(weir__node_look(&node[B]));
	toy.no_image = false;
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1) && has(B, 2) && weir__node_complete(&node[B]));
	assert_int_equal(node[B].applied, 1);
}

/* A number is never given twice, though the server has lost it. */
static void test_numbers_that_are_lost(void **state)
{
	(void)state;
	publish(A);
	toy_wait(&toy);
	toy.lags = true;
	publish(A);
	assert_int_equal(toy.now.generation, 2);
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_int_equal(toy.now.generation, 3);
}

static void test_numbers_of_one_that_starts(void **state)
{
	(void)state;
	publish(A);
	start_again();
	begin_anew();
	assert_ok(weir__node_look(&node[B]));
	publish(B);
	assert_int_equal(toy.now.generation, 2);
	/* nor one that was published from a record, and joined by nobody */
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	struct weir_mark mark;
	toy_wait(&toy);
	toy.lags = true;
	assert_ok(weir__node_mark(&node[B], &mark));
	assert_ok(weir__node_publish_from(&node[B], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	assert_int_equal(toy.now.generation, 3);
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[B]));
	publish(B);
	assert_int_equal(toy.now.generation, 4);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_covered_in_another_epoch),
		OF(test_covered_by_one_that_is_put_back),
		OF(test_covered_by_its_own),
		OF(test_covered_by_what_is_replaced),
		OF(test_a_gap_ends_with_its_epoch),
		OF(test_start),
		OF(test_numbers_that_are_lost),
		OF(test_numbers_of_one_that_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
