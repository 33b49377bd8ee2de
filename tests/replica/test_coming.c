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

/* In a new epoch the cursor is at the position of an image that is not here: who takes it for one
 * that is had lacks what the stream had before that. */
static void test_ahead_of_an_image(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	toy_wait(&toy);
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[A]));
	insert_and_send(A, 9);
	publish(A);
	assert_non_null(strstr(toy.now.manifest, "follows "));
	toy.slow = ALWAYS;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 9));
}

/* The stream's end has gone with the old epoch, and what a node has of it is in its set alone: it
 * says so, or joins what is there. */
static void test_more_than_there_is(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	toy_wait(&toy);
	insert_and_send(B, 7);
	assert_ok(weir__node_read(&node[A]));
	die(B);
	toy_fail_over(&toy);
	be_born(B, 0xc);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[A]), -EINPROGRESS);
	assert_int_equal(weir__node_look(&node[A]), -EINPROGRESS);
	assert_true(has(A, 7) && !has(B, 7));
	publish(A);
	assert_null(strstr(toy.now.manifest, "follows "));
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7));
}

/* The first look in a new epoch sees a manifest that is damaged, or none, and the next one the old
 * one again: the set is joined anew all the same, since it has what no image has. */
static void look_in_vain(bool damaged)
{
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	toy_wait(&toy);
	insert_and_send(B, 7);
	assert_ok(weir__node_read(&node[A]));
	die(B);
	toy_fail_over(&toy);
	be_born(B, 0xc);
	char *text = toy.now.manifest, first = *text;
	if (damaged)
		*text = 'X';
	else
		toy.now.manifest = NULL;
	assert_int_equal(weir__node_look(&node[A]), damaged ? -EBADMSG : 0);
	toy.now.manifest = text;
	*text = first;
	insert_and_send(B, 8);
	publish(B);
	assert_non_null(strstr(toy.now.manifest, "follows "));
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[A]), -EINPROGRESS);
	toy.slow = 0;
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(has(A, 8));
	insert_and_send(A, 9);
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 9));
	assert_int_equal(has(A, 7), has(B, 7)); /* nobody has promised it: none has it, or all */
}

static void test_a_first_look_in_vain(void **state)
{
	(void)state;
	look_in_vain(true);
}

static void test_a_first_look_that_sees_nothing(void **state)
{
	(void)state;
	look_in_vain(false);
}

/* Who trusts signatures alone takes what is signed, whatever the stream says. */
static void test_signed_images_come(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	publish(A);
	toy.slow = ALWAYS;
	assert_ok(weir__node_look(&node[B]));
	publish(A);
	node[B].is_signed = true;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
	/* nor does it believe the counts of one who is not what the image says of it */
	toy.slow = 0;
	assert_ok(weir__node_look(&node[B]));
	node[B].is_signed = false;
	insert_and_send(A, 1);
	publish(A);
	assert_ok(weir__node_read(&node[B]));
	weir__origins_forget(&node[B].origins, 0xa);
	toy.slow = ALWAYS;
	assert_int_equal(weir__node_look(&node[B]), -EINPROGRESS);
}

/* Who publishes with more joins it too. */
static void test_more_is_joined(void **state)
{
	(void)state;
	publish(A);
	struct weir_filter *more = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir_insert_hash(more, test_key(2)));
	assert_ok(weir__node_publish(&node[A], more));
	weir_destroy(more);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 2));
}

/* A swap forgets nothing, however much follows the image. */
static void test_much_follows(void **state)
{
	struct weir_mark mark;
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_mark(&node[A], &mark));
	for (unsigned i = 1; i <= 200; i++)
		insert_and_send(A, i);
	assert_ok(weir__node_read(&node[B]));
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir_destroy(f);
	weir__mark_free(&mark);
	assert_ok(weir__node_look(&node[B]));
	for (unsigned i = 1; i <= 200; i++)
		assert_true(has(B, i));
}

/* An image that cannot be had yet is not stood in for at the second look. */
static void test_another_epoch_twice(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(A, 5);
	publish(A);
	toy_wait(&toy);
	toy_fail_over(&toy);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 5));
}

#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_it_is_joined_when_it_is_here),
		OF(test_inserts_go_on),
		OF(test_another_takes_its_place),
		OF(test_another_epoch_meanwhile),
		OF(test_ahead_of_an_image),
		OF(test_more_than_there_is),
		OF(test_a_first_look_in_vain),
		OF(test_a_first_look_that_sees_nothing),
		OF(test_signed_images_come),
		OF(test_more_is_joined),
		OF(test_much_follows),
		OF(test_another_epoch_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
