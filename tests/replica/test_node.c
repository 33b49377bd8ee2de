/* SPDX-License-Identifier: MIT
 * Each rule where it alone decides: two nodes and a toy of a server, step by step. */
#include <errno.h>
#include "two.h"

static void test_inserts_come_to_others(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_true(has(A, 1) && !has(B, 1));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1) && weir__node_complete(&node[B]));
	publish(B);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 1));
	assert_int_equal(node[A].joined.generation, 1);
	/* who comes later has the image alone to go by */
	toy_trim(&toy, 1);
	die(B);
	be_born(B, 0xc);
	assert_true(has(B, 1));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_complete(&node[B]));
}

/* L1, L3 */
static void test_another_epoch_sends_all_again(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_null(node[A].retained.next);
	toy_fail_over(&toy); /* to a replica that has nothing */
	assert_int_equal(weir__node_send(&node[A]), 0); /* there is nothing to send, as it thinks */
	assert_int_equal(weir__node_read(&node[A]), -ESTALE);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_int_equal(toy.now.n, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
}

/* L3 */
static void test_what_may_be_forgotten(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(B); /* the first generation has it */
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_non_null(node[A].retained.oldest);
	toy.lags = true;
	publish(B); /* no replica has the first one */
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_non_null(node[A].retained.oldest);
	toy.lags = false;
	publish(B); /* now one has the second */
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_null(node[A].retained.oldest);
	/* in another epoch the ids of before cover nothing */
	toy_wait(&toy);
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[B]));
	publish(B);
	assert_true(node[B].seen.covered.ms == 0 && node[B].seen.covered.number == 0);
	publish(B);
	assert_int_equal(weir__stream_id_compare(node[B].seen.covered, node[B].seen.cursor.at), 0);
}

/* L7, L9 */
static void test_who_missed_entries_publishes_nothing(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	toy_trim(&toy, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_complete(&node[B]));
	assert_refused(weir__node_publish(&node[B], NULL), -EAGAIN, "lacks inserts", "gone");
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(weir__node_complete(&node[B]) && has(B, 1) && has(B, 2));
	assert_ok(weir__node_publish(&node[B], NULL));
}

/* L8, L9 */
static void test_who_lacks_a_batch_gets_it(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B])); /* so that one that goes is not too many (L7) */
	insert_and_send(A, 2);
	insert_and_send(A, 3);
	assert_ok(weir__node_read(&node[A]));
	toy_delete(&toy, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1) && !has(B, 2) && has(B, 3));
	assert_refused(weir__node_publish(&node[B], NULL), -EAGAIN, "lacks inserts", "a batch");
	assert_ok(weir__node_want(&node[B], 0xa, 2));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 2) && weir__node_complete(&node[B]));
}

/* L10: who knows of a generation but has not joined it does not replace it. */
static void test_the_base_is_what_was_joined(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	toy.no_image = true;
	assert_refused(weir__node_look(&node[B]), -EAGAIN, "no such image", "");
	assert_int_equal(node[B].seen.generation, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_refused(weir__node_publish(&node[B], NULL), -EEXIST, "the base is another", "");
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	publish(B);
	assert_int_equal(toy.now.generation, 2);
}

/* L12: what only the server and the living sets had. */
static void test_a_new_lineage_takes_nothing_away(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	for (unsigned i = 0; i < 3; i++) {
		publish(A);
		assert_ok(weir__node_look(&node[A]));
		assert_ok(weir__node_read(&node[A]));
	}
	assert_null(node[A].retained.oldest);
	toy_flush(&toy);
	die(B);
	be_born(B, 0xc);
	for (unsigned i = 0; i < 5; i++)
		publish(B);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 1));
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

/* What the server lets through has to fit this node. */
static void test_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_mark mark;
	(void)state;
	publish(A);
	node[B].hashing++;
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "another seed", "generation 1");
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B])); /* one bad entry must not stop a set for ever */
	assert_int_equal(node[B].foreign, 1);
	assert_false(has(B, 1));
	node[B].hashing--;
	snprintf(node[B].set, sizeof node[B].set, "other");
	assert_refused(weir__node_look(&node[B]), -EBADMSG, "other", "set");
	assert_ok(weir__node_mark(&node[A], &mark));
	p.capacity = 100;
	p.fp_rate = 0.01;
	p.seed = 4711;
	assert_ok(weir_create(&f, &p));
	assert_refused(weir__node_publish_from(&node[A], f, &mark), -EKEYREJECTED, "another seed",
	               "set");
	weir_destroy(f);
	toy_fail_over(&toy);
	assert_ok(weir__node_look(&node[A]));
	f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_refused(weir__node_publish_from(&node[A], f, &mark), -ESTALE, "began anew", "set");
	weir_destroy(f);
	weir__mark_free(&mark);
}

/* L4: nobody knows whether it arrived. */
static void test_sent_until_it_is_confirmed(void **state)
{
	int kept;
	(void)state;
	toy.failing = 1000;
	assert_ok(weir__node_insert_hash(&node[A], test_key(1), &kept));
	assert_int_equal(weir__node_send(&node[A]), -ECONNRESET);
	toy.failing = 0;
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
}

/* L7, L8: what went between is known when everybody who lives has spoken. */
static void test_a_gap_ends_when_all_have_spoken(void **state)
{
	const uint64_t alive[] = { 0xa, 0xb };
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	toy_trim(&toy, 2);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(node[B].gap);
	assert_false(weir__node_heal(&node[B], alive, 2)); /* A has not spoken since */
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_heal(&node[B], alive, 2)); /* now it is known what is lacking */
	assert_ok(weir__node_want(&node[B], 0xa, 2));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_heal(&node[B], alive, 2));
	assert_true(has(B, 2) && weir__node_complete(&node[B]));
}

/* L8: whoever was taken for gone finds out by the manifest. */
static void test_taken_for_gone(void **state)
{
	const uint64_t alive[] = { 0xb };
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[A]));
	toy_trim(&toy, 1);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_heal(&node[B], alive, 1));
	publish(B);
	publish(B); /* its position is behind the batch, and it covers the generation before */
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(A, 1) && has(B, 1));
}

/* L11: the image does not have it, and the stream no more. */
static void test_a_join_beside_a_gap_unites(void **state)
{
	(void)state;
	publish(A);
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	toy_trim(&toy, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 1);
	assert_true(has(B, 1) && node[B].gap);
	toy.no_image = true; /* nor does that image help if it comes again */
	assert_ok(weir__node_look(&node[B]));
	toy.no_image = false;
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B])); /* what it copied it knows of */
	assert_int_equal(node[B].origins.waiting, 0);
	assert_int_equal(node[B].origins.gap, 0); /* and nothing has gone that it did not read */
}

/* An image that was there as a whole and will not do is not fetched again. */
static void test_an_image_is_refused_once(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	toy.bad_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EBADMSG);
	toy.bad_image = false;
	assert_refused(weir__node_look(&node[B]), -EBADMSG, "generation 1", "refused before");
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
}

/* A generation of before, with all that came since. */
static void test_back_to_a_generation_of_before(void **state)
{
	char *kept;
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	kept = strdup(toy.now.manifest);
	insert_and_send(A, 2);
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_publish_again(&node[B], kept, strlen(kept)));
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 3);
	assert_true(has(B, 1) && has(B, 2));
	toy_trim(&toy, 2);
	assert_refused(weir__node_publish_again(&node[B], kept, strlen(kept)), -ENOENT,
	               "generation 1", "have gone");
	free(kept);
}

/* It has forgotten what others lack: the server lost a generation that it had told to be safe. Then
 * nobody waits for ever, since that node is no more. */
static void test_asked_for_what_is_forgotten(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	publish(A);
	publish(A);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_read(&node[A]));
	assert_null(node[A].retained.oldest);
	insert_and_send(A, 3);
	assert_ok(weir__node_want(&node[B], 0xa, 2)); /* the next one: that is no reason */
	assert_ok(weir__node_read(&node[A]));
	assert_int_equal(node[A].id, 0xa);
	assert_ok(weir__node_want(&node[B], 0xa, 1));
	assert_ok(weir__node_read(&node[A]));
	assert_int_not_equal(node[A].id, 0xa);
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(weir__origins_find(&node[B].origins, node[A].id)->sequence, 2);
}

/* An entry that no node can apply stops neither reading nor joining. */
static void test_a_foreign_entry(void **state)
{
	(void)state;
	publish(A);
	node[A].hashing++;
	insert_and_send(A, 1);
	node[A].hashing--;
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].foreign, 1);
	assert_ok(weir__node_look(&node[B])); /* it follows the image, so it is replayed */
	assert_int_equal(node[B].joined.generation, 1);
	assert_true(!has(B, 1) && has(B, 2));
}

/* An older generation, put back by somebody, takes nothing away. */
static void test_an_older_generation(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	char *older = strdup(toy.now.manifest);
	insert_and_send(A, 1);
	publish(A);
	publish(A);
	publish(A); /* nobody retains it any more */
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
	toy_trim(&toy, 9);
	char *entries = strstr(older, "entries 0\n"); /* as if nothing had gone since */
	assert_non_null(entries);
	entries[strlen("entries ")] = '1';
	put_manifest(older);
	(void)weir__node_look(&node[B]);
	assert_true(has(B, 1));
}

/* L11: who has what an image has does not fetch it. */
static void test_an_image_that_need_not_come(void **state)
{
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(A, 1);
	publish(A);
	toy.no_image = true;
	assert_ok(weir__node_look(&node[B])); /* it has not read that yet: it does now */
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has(B, 1));
	insert_and_send(B, 2);
	publish(B); /* and is one on which others follow */
	assert_ok(weir__node_look(&node[A]));
	assert_int_equal(node[A].joined.generation, 3);
	assert_true(has(A, 2));
	/* who has joined another of that number needs it */
	publish(A);
	node[B].joined.checksum[1]++;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	node[B].joined.checksum[1]--;
	assert_ok(weir__node_look(&node[B]));
	/* and from whom the last batch was taken away before it was read; by the counts others may
	 * have gone */
	for (unsigned key = 6; key < 9; key++)
		insert_and_send(A, key);
	assert_ok(weir__node_read(&node[B]));
	insert_and_send(A, 5);
	publish(A);
	toy_delete(&toy, toy.now.n - 1);
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	toy.no_image = true;
	assert_true(has(B, 5));
	/* and who lacks one */
	insert_and_send(A, 3);
	insert_and_send(A, 4);
	toy_delete(&toy, toy.now.n - 2);
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_complete(&node[B]));
	assert_ok(weir__node_publish(&node[A], NULL)); /* before it has read that itself */
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	/* and in another epoch all do, since the stream may be another */
	toy.no_image = true;
	toy_wait(&toy);
	toy_fail_over(&toy);
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
}

/* The stream between the two is another's: who comes to it with the second has read none of it. */
static void test_an_image_of_another_epoch(void **state)
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
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
	assert_true(has(B, 9));
}

/* What came to a node otherwise is in its image alone. */
static void test_an_image_that_has_more(void **state)
{
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	node[A].pending.limit = 0;
	assert_ok(weir__node_insert_hash(&node[A], test_key(1), &kept));
	assert_int_equal(kept, -ENOBUFS);
	toy.failing = 1000;
	assert_int_equal(weir__node_publish(&node[A], NULL), -ECONNRESET);
	toy.failing = 0;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
	publish(A);
	toy.no_image = true;
	assert_ok(weir__node_look(&node[B]));
	toy.no_image = false;
	struct weir_filter *more = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir_insert_hash(more, test_key(2)));
	assert_ok(weir__node_publish(&node[A], more));
	weir_destroy(more);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 2) && !has(A, 2));
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	char *again = strdup(toy.now.manifest);
	assert_non_null(strstr(again, "follows "));
	assert_ok(weir__node_publish_again(&node[A], again, strlen(again)));
	assert_null(strstr(toy.now.manifest, "follows "));
	free(again);
}

/* A number that none could follow, of an image that nobody has. */
static void test_the_last_number(void **state)
{
	char *good, *last;
	(void)state;
	publish(A);
	good = strdup(toy.now.manifest);
	char *rest = strstr(good, "base 0\n");
	assert_non_null(rest);
	assert_true(asprintf(&last, "%.*sgeneration 9223372036854775807\n%s",
	                     (int)(strstr(good, "generation") - good), good, rest) > 0);
	put_manifest(last);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[A]), -EAGAIN);
	put_manifest(good);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_int_equal(toy.now.generation, 2);
}

/* A filter that others could not join is published by nobody. */
static void test_a_kind_that_cannot_follow(void **state)
{
	const uint64_t hashes[] = { 1, 2, 3 };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_mark mark;
	(void)state;
	assert_ok(weir__node_mark(&node[A], &mark));
	p.kind = WEIR_FUSE;
	p.seed = 42;
	p.fp_rate = 0.01;
	p.capacity = 3;
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, 3), NULL));
	assert_refused(weir__node_publish_from(&node[A], f, &mark), -ENOTSUP, "fuse", "blocked");
	weir_destroy(f);
	f = test_filter(WEIR_CLASSIC, 1000, 1e-6);
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir_destroy(f);
	assert_non_null(strstr(toy.now.manifest, "kind classic\n"));
	assert_ok(weir__node_look(&node[A]));
	assert_int_equal(node[A].kind, WEIR_CLASSIC);
	weir__mark_free(&mark);
}

/* Whoever is forgotten and lives all the same costs others nothing but a while. */
static void test_forgotten(void **state)
{
	const uint64_t alive[] = { 0xa };
	(void)state;
	insert_and_send(B, 1);
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	weir__node_forget(&node[A], alive, 1);
	assert_null(weir__origins_find(&node[A].origins, 0xb));
	assert_non_null(weir__origins_find(&node[A].origins, 0xa));
	publish(A);
	assert_ok(weir__node_look(&node[B])); /* its batch is not in the manifest: it comes again */
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_int_equal(weir__origins_find(&node[A].origins, 0xb)->sequence, 1);
	assert_true(weir__node_complete(&node[A]) && has(A, 1));
}

static void test_another_name(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_rename(&node[A]));
	assert_int_not_equal(node[A].id, 0xa);
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(weir__origins_find(&node[B].origins, node[A].id)->sequence, 1);
	assert_true(weir__node_complete(&node[B]));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_inserts_come_to_others),
		OF(test_another_epoch_sends_all_again),
		OF(test_what_may_be_forgotten),
		OF(test_who_missed_entries_publishes_nothing),
		OF(test_who_lacks_a_batch_gets_it),
		OF(test_the_base_is_what_was_joined),
		OF(test_a_new_lineage_takes_nothing_away),
		OF(test_refused),
		OF(test_sent_until_it_is_confirmed),
		OF(test_a_gap_ends_when_all_have_spoken),
		OF(test_taken_for_gone),
		OF(test_a_join_beside_a_gap_unites),
		OF(test_an_image_is_refused_once),
		OF(test_back_to_a_generation_of_before),
		OF(test_another_name),
		OF(test_forgotten),
		OF(test_a_foreign_entry),
		OF(test_an_older_generation),
		OF(test_asked_for_what_is_forgotten),
		OF(test_a_kind_that_cannot_follow),
		OF(test_an_image_that_need_not_come),
		OF(test_an_image_that_has_more),
		OF(test_an_image_of_another_epoch),
		OF(test_the_last_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
