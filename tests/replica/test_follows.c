/* SPDX-License-Identifier: MIT
 * L11: which image need not be fetched, and what is in a set that no batch has. */
#include <errno.h>
#include <weir/error.h>
#include "two.h"

static bool newest_follows(void)
{
	return strstr(toy.now.manifest, "\nfollows ") != NULL;
}

/* A publishes a generation that B has all of but the image. */
static void make_one_that_follows(void)
{
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(A, 1);
	publish(A);
	assert_true(newest_follows());
	assert_ok(weir__node_read(&node[B]));
	toy.no_image = true;
}

/* A join that fails leaves the set as it was, with what no batch has. */
static void test_a_kept_key_outlives_a_join_that_fails(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B])); /* so that one that goes is not too many (L7) */
	insert_and_send(A, 3);
	insert_and_send(A, 4);
	publish(A);
	toy_delete(&toy, 1);
	assert_ok(weir__node_read(&node[B]));
	insert_kept(B, 1);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN); /* it lacks 3 */
	assert_ok(weir__node_want(&node[B], 0xa, 2));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_ok(weir__node_look(&node[B]));
	toy.no_image = false;
	assert_ok(weir__node_read(&node[A]));
	publish(B);
	assert_false(newest_follows());
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 1));
}

/* An image takes it away, and then the set is one that others can follow. */
static void test_a_kept_key_goes_with_a_join(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_kept(B, 1);
	publish_more(A, 2);
	assert_ok(weir__node_look(&node[B]));
	assert_true(!has(B, 1) && has(B, 2));
	publish(B);
	assert_true(newest_follows());
}

static int (*store)(void *, const struct weir_filter *, struct weir_manifest *, bool *);

static int store_and_insert(void *context, const struct weir_filter *f, struct weir_manifest *m,
                            bool *safe)
{
	int err = store(context, f, m, safe);
	insert_kept(A, 1);
	return err;
}

static void test_a_key_that_is_kept_after_the_copy(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	store = toy.server.store;
	toy.server.store = store_and_insert;
	publish(A);
	toy.server.store = store;
	assert_ok(weir__node_look(&node[B]));
	assert_false(has(B, 1));
	publish(A);
	assert_false(newest_follows());
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

static int (*append)(void *, const struct weir_sending *, struct weir_stream_id *);

static int append_nothing(void *context, const struct weir_sending *s, struct weir_stream_id *id)
{
	(void)context, (void)s, (void)id;
	return weir_fail(-ENOSPC, "it is full");
}

/* A full server takes no batches, and the image that has them: it is got by all. */
static void test_what_could_not_be_sent(void **state)
{
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	append = toy.server.append;
	toy.server.append = append_nothing;
	assert_ok(weir__node_insert_hash(&node[A], test_key(1), &kept));
	publish(A);
	assert_false(newest_follows());
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
	toy.server.append = append;
	publish(A);
	assert_true(newest_follows());
	assert_null(node[A].retained.next);
}

/* What was inserted before it is published is in the stream, whenever it was to be sent. */
static void test_what_was_not_sent_yet(void **state)
{
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_insert_hash(&node[A], test_key(1), &kept));
	publish(A);
	assert_true(newest_follows());
	assert_ok(weir__node_look(&node[B]));
	die(A);
	be_born(A, 0xc);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
}

static void test_which_one_it_follows(void **state)
{
	struct weir_manifest *joined = &node[B].joined;
	(void)state;
	make_one_that_follows();
	joined->generation++;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	joined->generation--;
	joined->lineage++; /* the two need not have had the same since then (L12) */
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	joined->lineage--;
	joined->checksum[0]++;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	joined->checksum[0]--;
	joined->checksum[1]++;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	joined->checksum[1]--;
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(joined->generation, 2);
}

/* One that says of none that it follows it, follows none: not even one without a checksum. */
static void test_it_follows_none(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_kept(A, 1);
	publish(A);
	assert_false(newest_follows());
	char *second = strdup(toy.now.manifest);
	put_manifest(NULL);
	toy.now.generation = 0;
	assert_ok(weir__node_look(&node[A]));
	publish(A); /* on top of nothing, though it has joined one */
	assert_false(newest_follows());
	put_manifest(second);
	memset(node[B].joined.checksum, 0, sizeof node[B].joined.checksum);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
}

static int no_read(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                   struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg, size_t *n)
{
	(void)context, (void)epoch, (void)after, (void)most, (void)counts, (void)entry, (void)arg;
	(void)n;
	return -ECONNRESET;
}

/* Of a node that is forgotten no line says what the image has of it: its batches are before the
 * position all the same. */
static void test_the_stream_was_not_read(void **state)
{
	const uint64_t alive[] = { 0xa };
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	die(B);
	be_born(B, 0xc);
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[A]));
	node[A].id = 0xd;
	weir__node_forget(&node[A], alive, 0);
	assert_null(weir__origins_find(&node[A].origins, 0xa));
	publish(A);
	assert_true(newest_follows());
	const struct weir_server as_it_was = toy.server;
	toy.server.read = no_read;
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	toy.server = as_it_was;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

/* Somebody puts the one of before back, while the newest, with more, was not joined yet. */
static void test_more_is_not_joined_yet(void **state)
{
	(void)state;
	publish(A);
	char *first = strdup(toy.now.manifest);
	assert_ok(weir__node_look(&node[B]));
	insert_kept(A, 1);
	struct weir_filter *more = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir__node_publish(&node[A], more));
	weir_destroy(more);
	put_manifest(first);
	toy.now.generation = 1;
	publish(A);
	assert_int_equal(toy.now.generation, 3); /* none is given twice */
	assert_false(newest_follows());
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

/* By its position nothing can be known in another epoch, though the one before was put back too. */
static void test_one_of_another_epoch_is_put_back(void **state)
{
	(void)state;
	publish(A);
	char *first = strdup(toy.now.manifest);
	insert_and_send(A, 1);
	publish(A);
	char *second = strdup(toy.now.manifest);
	toy_flush(&toy);
	toy.clock += 100;
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	put_manifest(first);
	assert_ok(weir__node_look(&node[B]));
	put_manifest(second);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_a_kept_key_outlives_a_join_that_fails),
		OF(test_a_kept_key_goes_with_a_join),
		OF(test_a_key_that_is_kept_after_the_copy),
		OF(test_what_could_not_be_sent),
		OF(test_what_was_not_sent_yet),
		OF(test_which_one_it_follows),
		OF(test_it_follows_none),
		OF(test_the_stream_was_not_read),
		OF(test_more_is_not_joined_yet),
		OF(test_one_of_another_epoch_is_put_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
