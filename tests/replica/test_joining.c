/* SPDX-License-Identifier: MIT
 * L11, step by step: what follows an image is read again, and what an image has that fails. */
#include <errno.h>
#include "two.h"

enum { MANY = 150 }; /* more than one reading takes */

typedef int read_fn(void *, const char *, struct weir_stream_id, size_t,
                    struct weir_stream_counts *, weir_entry_fn *, void *, size_t *);

static read_fn *read_some;
static unsigned calls;

static void insert_many(unsigned i)
{
	for (unsigned key = 1; key <= MANY; key++)
		insert_and_send(i, key);
}

/* What is behind the node's own cursor it reads later. */
static void test_the_stream_is_far_ahead(void **state)
{
	(void)state;
	publish(A);
	insert_many(A);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 1);
	assert_false(has(B, 1));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1) && has(B, MANY) && weir__node_complete(&node[B]));
}

/* A gap before the first of many. */
static void test_a_gap_before_many(void **state)
{
	(void)state;
	publish(A);
	insert_many(A);
	assert_ok(weir__node_read(&node[B]));
	toy_trim(&toy, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1) && has(B, MANY) && node[B].gap);
}

/* What was read goes while more is read. */
static int read_and_trim(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                         struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg,
                         size_t *n)
{
	if (++calls == 2)
		toy_trim(&toy, WEIR_NODE_READ);
	return read_some(context, epoch, after, most, counts, entry, arg, n);
}

static void test_a_trim_between_two_readings(void **state)
{
	(void)state;
	publish(A);
	insert_many(A);
	assert_ok(weir__node_read(&node[B]));
	read_some = toy.server.read;
	toy.server.read = read_and_trim;
	calls = 0;
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(calls, 3);
	assert_true(has(B, 1) && has(B, MANY) && weir__node_complete(&node[B]));
}

static int read_backwards(void *context, const char *epoch, struct weir_stream_id after,
                          size_t most, struct weir_stream_counts *counts, weir_entry_fn *entry,
                          void *arg, size_t *n)
{
	const struct weir_entry idle = { .kind = WEIR_ENTRY_IDLE, .node = 0xa };
	(void)context, (void)epoch, (void)after, (void)most;
	*counts = (struct weir_stream_counts){ 2, 2, { 5, 0 } };
	*n = 2;
	int err = entry(arg, (struct weir_stream_id){ 5, 0 }, &idle);
	return err ? err : entry(arg, (struct weir_stream_id){ 4, 0 }, &idle);
}

static void test_no_order(void **state)
{
	(void)state;
	publish(A);
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	toy.server.read = read_backwards;
	assert_refused(weir__node_look(&node[B]), -EBADMSG, "not in order", "set");
	assert_true(has(B, 1));
	assert_int_equal(node[B].joined.generation, 0);
}

/* L2: what is pending, and finds no room among what is retained, is no obstacle: it is in the next
 * filter too, in what is published then, and in a batch when there is room. */
static void test_no_room_for_what_is_pending(void **state)
{
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_insert_hash(&node[B], test_key(1), &kept));
	assert_int_equal(kept, 0);
	node[B].retained.limit = 0;
	assert_refused(weir__node_send(&node[B]), -ENOBUFS, "max_pending_bytes 0", "no room");
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 1);
	assert_true(has(B, 1));
	publish(B);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 1));
	assert_refused(weir__node_send(&node[B]), -ENOBUFS, "max_pending_bytes 0", "no room");
	node[B].retained.limit = 1 << 20;
	assert_ok(weir__node_send(&node[B]));
	assert_int_equal(toy.now.n, 1);
}

/* Who inserts meanwhile waits for a copy of it, not for the next filter, where there is room. */
static void test_room_for_what_is_pending(void **state)
{
	int kept;
	(void)state;
	publish(A);
	assert_ok(weir__node_insert_hash(&node[B], test_key(1), &kept));
	assert_int_equal(weir__pending_bytes(&node[B].pending), 8);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
	assert_int_equal(weir__pending_bytes(&node[B].pending), 0);
}

/* L8: an image beside which entries have gone is no sign of what they were. */
static void test_a_gap_outlives_a_join(void **state)
{
	const uint64_t alive[] = { 0xa, 0xb };
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	publish(A);
	insert_and_send(A, 2);
	insert_and_send(A, 3);
	toy_trim(&toy, 3);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 1);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_heal(&node[B], alive, 2)); /* A has not spoken since */
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_heal(&node[B], alive, 2)); /* and lacks 2 */
	assert_true(node[B].origins.waiting);
}

/* L6: the record has what the node lacks. */
static void test_a_record_covers_what_was_seen(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	struct weir_mark mark;
	(void)state;
	insert_and_send(B, 1);
	assert_ok(weir__node_read(&node[A]));
	insert_and_send(B, 2);
	insert_and_send(B, 3);
	toy_delete(&toy, 1);
	assert_ok(weir__node_mark(&node[A], &mark));
	assert_false(weir__node_complete(&node[A]));
	for (unsigned key = 1; key <= 3; key++)
		assert_ok(weir_insert_hash(f, test_key(key)));
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 2) && weir__node_complete(&node[A]));
	assert_int_equal(weir__origins_find(&node[A].origins, 0xb)->sequence, 3);
}

/* L12: an older one may have what a record has taken away since, and what came after it stays. */
static void test_an_older_one_has_more(void **state)
{
	(void)state;
	publish_more(A, 5);
	char *older = strdup(toy.now.manifest);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	struct weir_mark mark;
	assert_ok(weir_insert_hash(f, test_key(6)));
	assert_ok(weir__node_mark(&node[A], &mark));
	assert_ok(weir__node_publish_from(&node[A], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	assert_ok(weir__node_look(&node[B]));
	assert_true(!has(B, 5) && has(B, 6));
	put_manifest(older);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 5) && has(B, 6));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_the_stream_is_far_ahead),
		OF(test_a_gap_before_many),
		OF(test_a_trim_between_two_readings),
		OF(test_no_order),
		OF(test_no_room_for_what_is_pending),
		OF(test_room_for_what_is_pending),
		OF(test_a_gap_outlives_a_join),
		OF(test_a_record_covers_what_was_seen),
		OF(test_an_older_one_has_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
