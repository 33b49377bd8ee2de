/* SPDX-License-Identifier: MIT
 * Which image a node has, which it lacks, and which it has seen. */
#include <errno.h>
#include <weir/error.h>
#include "two.h"

static void test_which_it_lacks(void **state)
{
	struct weir_manifest *joined = &node[A].joined;
	(void)state;
	assert_false(weir__node_lacks_image(&node[A])); /* there is none */
	publish(A);
	assert_false(weir__node_lacks_image(&node[A]));
	joined->generation++;
	assert_true(weir__node_lacks_image(&node[A]));
	joined->generation--;
	joined->checksum[0]++;
	assert_true(weir__node_lacks_image(&node[A]));
	joined->checksum[0]--;
	joined->checksum[1]++;
	assert_true(weir__node_lacks_image(&node[A]));
	joined->checksum[1]--;
	joined->epoch[0]++; /* made again for another epoch, from another position */
	assert_true(weir__node_lacks_image(&node[A]));
	joined->epoch[0]--;
	assert_false(weir__node_lacks_image(&node[A]));
}

/* Without a server it has all of nothing. */
static void test_before_it_meets_the_server(void **state)
{
	(void)state;
	die(B);
	be_born_with(B, 0xc, test_filter(WEIR_BLOCKED, 1000, 1e-6), WEIR_ENTRY_HASHES);
	assert_refused(weir__node_publish(&node[B], NULL), -EAGAIN, "not met the server", "set");
}

/* In a new epoch it wants the one that it has, too: but there must be one. */
static void test_which_it_wants(void **state)
{
	(void)state;
	publish(A);
	assert_false(weir__node_wants_image(&node[A]));
	toy_wait(&toy);
	toy_fail_over(&toy);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[A]), -EAGAIN);
	assert_true(!weir__node_lacks_image(&node[A]) && weir__node_wants_image(&node[A]));
	toy_flush(&toy);
	assert_ok(weir__node_look(&node[A]));
	assert_false(weir__node_wants_image(&node[A]));
}

/* That the image is not there yet is no reason to find that entries have gone. */
static void test_the_stream_is_read_from_its_position(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	insert_and_send(A, 2);
	publish(A); /* trims the first batch */
	assert_int_equal(toy.now.n, 1);
	toy_wait(&toy);
	toy_fail_over(&toy);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	assert_ok(weir__node_read(&node[B]));
	assert_false(node[B].gap);
}

static int (*manifest)(void *, char *, char **, size_t *);

/* By somebody whose signature does not do. */
static int distrust(void *context, char epoch[WEIR_REPLICA_EPOCH + 1], char **text, size_t *len)
{
	assert_ok(manifest(context, epoch, text, len));
	free(*text);
	return weir_fail(-EKEYREJECTED, "nobody knows who has signed it");
}

static void test_an_epoch_without_a_manifest(void **state)
{
	(void)state;
	publish(A);
	toy_flush(&toy);
	manifest = toy.server.manifest;
	toy.server.manifest = distrust;
	assert_int_equal(weir__node_look(&node[A]), -EKEYREJECTED);
	toy.server.manifest = manifest;
	insert_and_send(A, 1); /* it goes to whoever lives there */
}

/* What is no manifest of this set changes nothing: who serves the set can publish it again. */
static void test_of_another_set(void **state)
{
	(void)state;
	publish(A);
	char *rest = strstr(toy.now.manifest, "epoch "), *other;
	assert_non_null(rest);
	assert_true(asprintf(&other, "weir-manifest 1\nset other\n%s", rest) > 0);
	put_manifest(other);
	node[A].newest = 0;
	node[A].seen.generation = 7;
	assert_int_equal(weir__node_look(&node[A]), -EBADMSG);
	assert_int_equal(node[A].seen.generation, 7);
	assert_refused(weir__node_publish_again(&node[A], other, strlen(other)), -EBADMSG,
	               "that of other", "set");
}

/* A batch is forgotten when an image that the node has joined says so. */
static void test_what_it_has_not_joined_covers_nothing(void **state)
{
	(void)state;
	insert_and_send(B, 1);
	assert_ok(weir__node_read(&node[B]));
	publish_more(A, 2);
	publish_more(A, 3);
	assert_true(node[A].covered.ms > 0);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	assert_ok(weir__node_read(&node[B]));
	assert_non_null(node[B].retained.oldest);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_null(node[B].retained.oldest);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_which_it_lacks),
		OF(test_before_it_meets_the_server),
		OF(test_which_it_wants),
		OF(test_the_stream_is_read_from_its_position),
		OF(test_an_epoch_without_a_manifest),
		OF(test_of_another_set),
		OF(test_what_it_has_not_joined_covers_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
