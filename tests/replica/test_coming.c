/* SPDX-License-Identifier: MIT
 * A generation whose image is on its way: the node does all else meanwhile, and joins it when it is
 * here. */
#include <errno.h>
#include "two.h"

enum { ALWAYS = 1000 };

/* What the stream does not have, so that it comes by an image alone. */
static void publish_with(unsigned i, unsigned key)
{
	struct weir_filter *more = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir_insert_hash(more, test_key(key)));
	assert_ok(weir__node_publish(&node[i], more));
	weir_destroy(more);
}

static void test_it_is_joined_when_it_is_here(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish_with(A, 100);
	toy.slow = ALWAYS;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	assert_true(weir__node_lacks_image(&node[B]));
	assert_int_equal(node[B].joined.generation, 0);
	assert_int_equal(node[B].seen.generation, 1);
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B])); /* it was not refused */
	assert_false(weir__node_lacks_image(&node[B]));
	assert_int_equal(node[B].joined.generation, 1);
	assert_true(has(B, 100));
}

static void test_inserts_go_on(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish_with(A, 100);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	insert_and_send(A, 2);
	insert_and_send(B, 3);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1) && has(B, 2) && has(B, 3) && !has(B, 100));
	/* it is not what a generation is made on top of */
	assert_refused(weir__node_publish(&node[B], NULL), -EEXIST, "the base is another", "");
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1) && has(B, 2) && has(B, 3) && has(B, 100));
	publish(B);
	assert_int_equal(toy.now.generation, 2);
}

static void test_another_takes_its_place(void **state)
{
	(void)state;
	publish(A);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	insert_and_send(A, 1);
	publish(A);
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	assert_int_equal(node[B].seen.generation, 2);
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has(B, 1));
	/* and none does: it is not waited for */
	atomic_store(&node[A].has_more, true); /* so that it has to come */
	publish(A);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	toy_flush(&toy);
	assert_ok(weir__node_look(&node[B]));
	assert_false(weir__node_lacks_image(&node[B]));
}

/* The ids of before mean nothing, and the cursor is the manifest's, though its image is not here:
 * what the stream had before that comes with the image. */
static void test_another_epoch_meanwhile(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	toy_wait(&toy);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	insert_and_send(B, 2);
	toy_fail_over(&toy); /* to a replica that has no 2 */
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 2) && weir__node_lacks_image(&node[B]));
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1) && has(B, 2));
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(has(A, 2));
}

#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_it_is_joined_when_it_is_here),
		OF(test_inserts_go_on),
		OF(test_another_takes_its_place),
		OF(test_another_epoch_meanwhile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
