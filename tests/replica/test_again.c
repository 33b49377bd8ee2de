/* SPDX-License-Identifier: MIT
 * A generation of before is published again: what of it is as it was, and what is new. */
#include <errno.h>
#include <inttypes.h>
#include "two.h"

static char *newest(void)
{
	char *text = strdup(toy.now.manifest);
	assert_non_null(text);
	return text;
}

static void publish_again(unsigned i, char *text)
{
	assert_ok(weir__node_publish_again(&node[i], text, strlen(text)));
	free(text);
}

/* Neither its position nor what it covered means anything to another server, whose ids are below
 * all of those. */
static void test_in_another_epoch(void **state)
{
	(void)state;
	toy.clock = 5000;
	insert_and_send(A, 1);
	publish(A);
	publish(A);
	assert_non_null(strstr(toy.now.manifest, "covered 5"));
	char *kept = newest();
	toy_flush(&toy);
	toy.clock = 1;
	die(B);
	be_born(B, 0xc);
	insert_and_send(B, 5);
	publish_again(B, kept);
	assert_non_null(strstr(toy.now.manifest, "covered 0-0\n"));
	assert_int_equal(toy.now.n, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1) && has(B, 5) && weir__node_complete(&node[B]));
	die(A);
	be_born(A, 0xd);
	assert_ok(weir__node_read(&node[A]));
	assert_true(has(A, 1) && has(A, 5) && weir__node_complete(&node[A]));
}

/* It covers all that has gone. */
static void test_beside_a_trim(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	insert_and_send(A, 2);
	publish(A);
	char *kept = newest();
	insert_and_send(A, 3);
	publish(A); /* trims what the first one has */
	assert_int_equal(toy.now.n, 1);
	assert_ok(weir__node_look(&node[B]));
	toy.clock += 86400000;
	publish_again(B, kept);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 3);
	assert_true(node[B].joined.published_ms == toy.clock); /* it is as old as that */
	assert_true(has(B, 1) && has(B, 3) && weir__node_complete(&node[B]));
}

/* It takes the place of the newest, and what that alone had goes. */
static void test_it_descends_from_the_newest(void **state)
{
	(void)state;
	publish(A);
	char *kept = newest();
	toy_flush(&toy);
	assert_ok(weir__node_look(&node[B]));
	publish_more(B, 7);
	const uint64_t lineage = node[B].seen.lineage;
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 7));
	publish_again(A, kept);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.lineage, lineage);
	assert_false(has(B, 7));
}

/* Also by one that could not join the newest. */
static void test_by_one_that_has_joined_none(void **state)
{
	(void)state;
	publish(A);
	char *kept = newest();
	assert_non_null(strstr(kept, "\npublisher 000000000000000a\n"));
	publish_more(A, 7);
	assert_ok(weir__node_look(&node[B]));
	die(A);
	toy.no_image = true;
	be_born_with(A, 0xc, test_filter(WEIR_BLOCKED, 1000, 1e-6), WEIR_ENTRY_HASHES);
	assert_int_equal(weir__node_look(&node[A]), -EAGAIN);
	publish_again(A, kept);
	assert_non_null(strstr(toy.now.manifest, "\npublisher 000000000000000c\n"));
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	assert_false(has(B, 7));
}

/* Where there is none, it begins a line of its own: two such have nothing in common (L12). */
static void test_it_begins_a_lineage(void **state)
{
	(void)state;
	publish(A);
	char *kept = newest();
	toy_flush(&toy);
	assert_ok(weir__node_look(&node[A]));
	publish_again(A, strdup(kept));
	assert_ok(weir__node_look(&node[A]));
	publish_more(A, 7);
	toy_flush(&toy);
	node[B].newest = node[A].newest;
	assert_ok(weir__node_look(&node[B]));
	publish_again(B, kept);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 7));
}

static void test_it_fits_the_set(void **state)
{
	(void)state;
	publish(A);
	char *kept = newest();
	char *hashing = strstr(kept, "hashing ");
	assert_non_null(hashing);
	hashing += strlen("hashing ");
	*hashing = *hashing == 'f' ? '0' : 'f';
	assert_refused(weir__node_publish_again(&node[A], kept, strlen(kept)), -EKEYREJECTED,
	               "another seed", "set");
	free(kept);
	assert_int_equal(toy.now.generation, 1);
}

/* Its number is not given again, though the server has lost it before anybody joined it. */
static void test_its_number(void **state)
{
	(void)state;
	publish(A);
	toy_wait(&toy);
	publish_again(A, newest());
	assert_int_equal(toy.now.generation, 2);
	toy_fail_over(&toy);
	assert_int_equal(toy.now.generation, 1);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_int_equal(toy.now.generation, 3);
}

/* What no node could read is published by none. When what has it has gone, it is no number. */
static void test_the_last_number(void **state)
{
	(void)state;
	publish(A);
	char *kept = newest();
	node[A].newest = node[A].seen.generation = INT64_MAX;
	assert_refused(weir__node_publish(&node[A], NULL), -EBADMSG, "none could", "line 4");
	assert_refused(weir__node_publish_again(&node[A], kept, strlen(kept)), -EBADMSG,
	               "none could", "line 4");
	free(kept);
	assert_int_equal(toy.now.generation, 1);
	node[A].seen.generation = 1;
	assert_ok(weir__node_publish(&node[A], NULL));
	assert_int_equal(toy.now.generation, 2);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_in_another_epoch),
		OF(test_beside_a_trim),
		OF(test_it_descends_from_the_newest),
		OF(test_by_one_that_has_joined_none),
		OF(test_it_begins_a_lineage),
		OF(test_it_fits_the_set),
		OF(test_its_number),
		OF(test_the_last_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
