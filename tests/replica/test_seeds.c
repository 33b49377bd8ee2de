/* SPDX-License-Identifier: MIT
 * L13: batches of keys, and generations by another seed. */
#include <errno.h>
#include "seeds.h"

static void test_another_seed(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	const uint64_t before = seed_of(B);
	insert_key(A, 7);
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has_key(B, 7));
	insert_key(B, 8);         /* pending */
	publish_of(A, 4711, 5);   /* 7 is before its position: the record decides */
	insert_key(A, 9);
	assert_ok(weir__node_send(&node[A])); /* follows the image */
	insert_key(A, 10);
	toy.failing = 1000;
	assert_int_equal(weir__node_send(&node[A]), -ECONNRESET);
	toy.failing = 0; /* that is retained, and nowhere else */
	for (unsigned i = 0; i < C; i++) {
		assert_ok(weir__node_look(&node[i]));
		assert_ok(weir__node_read(&node[i]));
		assert_true(seed_of(i) != before);
		assert_true(has_key(i, 5) && has_key(i, 9));
	}
	assert_int_equal(seed_of(A), seed_of(B));
	assert_true(has_key(B, 8) && !has_key(B, 6) && !has_key(B, 7));
	assert_true(has_key(A, 10));
	assert_false(has_key(A, 7)); /* though it retains it: the record has replaced it */
	assert_non_null(node[A].retained.oldest);
	assert_ok(weir__node_send(&node[B]));
	publish(A); /* of the new seed */
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 3);
	assert_true(has_key(A, 8));
	int kept;
	assert_refused(weir__node_insert_hash(&node[A], 1, &kept), -ENOTSUP, "of keys", "set");
	static char longer[WEIR_NODE_KEY + 1];
	assert_refused(weir__node_insert(&node[A], longer, sizeof longer, &kept), -E2BIG, "65533",
	               "65532");
	assert_ok(weir__node_insert(&node[A], longer, WEIR_NODE_KEY, &kept));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir_handle_contains(handle[B], longer, WEIR_NODE_KEY));
}

/* What its own set has must not go, and cannot be copied. */
static void test_another_seed_beside_a_gap(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_key(A, 7);
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	publish_of(A, 4711, 7);
	insert_key(A, 8);
	insert_key(A, 9);
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B])); /* it has 8, 9, which the image lacks */
	toy_trim(&toy, 9);
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "another seed", "gone");
	assert_true(has_key(B, 7) && has_key(B, 8) && has_key(B, 9));
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "refused before", "generation 2");
	publish_of(A, 4712, 9);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has_key(B, 7) && has_key(B, 9) && weir__node_complete(&node[B]));
}

/* Nor in a new epoch, though the one it has may have been lost with the old one. */
static void test_another_seed_beside_a_gap_of_another_epoch(void **state)
{
	(void)state;
	publish(A);
	toy_wait(&toy);
	assert_ok(weir__node_look(&node[B]));
	node[B].joined.generation = 9; /* the server lost that */
	toy_fail_over(&toy);
	publish_of(A, 4711, 7);
	insert_key(A, 8);
	assert_ok(weir__node_send(&node[A]));
	toy_trim(&toy, 9);
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "another seed", "gone");
}

/* One of a lower number is joined, if it was made since; and stands in for none. */
static void test_another_seed_of_another_epoch(void **state)
{
	(void)state;
	publish(A);
	toy_wait(&toy);
	assert_ok(weir__node_look(&node[B]));
	node[B].joined.generation = 9;
	toy_fail_over(&toy);
	publish_of(A, 4711, 7);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 7));
	/* not so one of this epoch that somebody puts back */
	char *older = strdup(toy.now.manifest);
	publish_of(A, 4712, 8);
	assert_ok(weir__node_look(&node[B]));
	put_manifest(older);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 8));
}

/* Nor is one of the same number replaced by it. */
static void test_another_seed_of_that_number(void **state)
{
	(void)state;
	publish_of(A, 4711, 7);
	assert_ok(weir__manifest_read(&node[B].joined, &node[B].origins, toy.now.manifest,
	                              toy.now.manifest_len));
	node[B].joined.checksum[1]++;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 7));
}

/* A failover loses the generation that was joined: what it replaced is there again. */
static void test_the_seed_of_before_comes_back(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	toy_wait(&toy);
	assert_ok(weir__node_look(&node[B]));
	toy.lags = true;
	publish_of(A, 4711, 5);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	const uint64_t after = seed_of(B);
	assert_true(has_key(B, 5));
	insert_key(B, 8);
	assert_ok(weir__node_send(&node[B]));
	toy_fail_over(&toy);
	toy.lags = false;
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(seed_of(B), after);
	assert_true(has_key(B, 5) && has_key(B, 8));
	assert_int_equal(node[B].joined.generation, 1);
	assert_ok(weir__node_send(&node[B]));
	publish(B);
	assert_int_equal(toy.now.generation, 3);
	assert_null(strstr(toy.now.manifest, "follows ")); /* it has more than the first */
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(seed_of(A) == after && has_key(A, 5) && has_key(A, 8));
}

/* The numbers that it names are of batches that the set has, whoever knows them. */
static void test_what_it_names_comes_back_too(void **state)
{
	const uint64_t alive[] = { 0xa };
	(void)state;
	insert_key(B, 8);
	assert_ok(weir__node_send(&node[B]));
	publish_of(A, 1, 8);
	toy_wait(&toy);
	toy.lags = true;
	assert_ok(weir__node_look(&node[A]));
	weir__node_forget(&node[A], alive, 1);
	publish_of(A, 4711, 8);
	assert_ok(weir__node_look(&node[A]));
	assert_null(weir__origins_find(&node[A].origins, 0xb));
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[A]));
	assert_int_equal(node[A].joined.generation, 1);
	assert_int_equal(weir__origins_find(&node[A].origins, 0xb)->sequence, 1);
}

/* An image by another seed is no image that the set has, whatever it says that it follows. */
static void test_another_seed_does_not_follow(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	publish(A);
	assert_non_null(strstr(toy.now.manifest, "follows "));
	edit("hashing ");
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
}

/* A key that no batch has is in this node's image alone. */
static void test_a_key_that_is_kept(void **state)
{
	const uint64_t key = 7;
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	node[A].pending.limit = 0;
	assert_ok(weir__node_insert(&node[A], &key, sizeof key, &kept));
	assert_int_equal(kept, -ENOBUFS);
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has_key(B, 7));
}

/* A set is of the one or the other, and an image of the seed that its manifest says. */
static void test_keys_or_hashes(void **state)
{
	int kept;
	(void)state;
	publish(B);
	die(A);
	be_born_with(A, 0xa, filter_of(1, 0), WEIR_ENTRY_HASHES);
	assert_refused(weir__node_look(&node[A]), -EINVAL, "of keys", "stream_keys");
	node[A].hashing = node[B].hashing; /* and even so: */
	(void)weir__node_insert_hash(&node[A], 1, &kept);
	assert_ok(weir__node_send(&node[A])); /* nothing that a node of keys can use */
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].foreign, 1);
	edit("hashing ");
	die(A);
	be_born_with(A, 0xc, filter_of(1, 0), WEIR_ENTRY_KEYS);
	assert_refused(weir__node_look(&node[A]), -EKEYREJECTED, "than its manifest says",
	               "generation 1");
	assert_refused(weir__node_look(&node[A]), -EKEYREJECTED, "refused before", "generation 1");
	assert_int_equal(node[A].joined.generation, 0);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_of_keys, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_another_seed),
		OF(test_another_seed_beside_a_gap),
		OF(test_another_seed_beside_a_gap_of_another_epoch),
		OF(test_another_seed_of_another_epoch),
		OF(test_another_seed_of_that_number),
		OF(test_the_seed_of_before_comes_back),
		OF(test_what_it_names_comes_back_too),
		OF(test_another_seed_does_not_follow),
		OF(test_a_key_that_is_kept),
		OF(test_keys_or_hashes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
