/* SPDX-License-Identifier: MIT
 * L7, L8: what a node reads in the stream, and what it does for others that is asked for there. */
#include <errno.h>
#include <weir/error.h>
#include "two.h"

/* Counts that cannot be: nothing is believed that comes with them. */
static void test_more_than_were_added(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	toy.now.added = 0;
	assert_refused(weir__node_read(&node[B]), -EBADMSG, "ever added", "set");
	assert_true(!has(B, 1) && !node[B].gap);
	toy.now.added = 1;
	assert_ok(weir__node_read(&node[B]));
	toy.now.added = 0; /* though nothing new comes */
	assert_refused(weir__node_read(&node[B]), -EBADMSG, "ever added", "set");
	assert_false(node[B].gap);
}

static unsigned calls;

static int no_read(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                   struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg, size_t *n)
{
	(void)context, (void)epoch, (void)after, (void)most, (void)counts, (void)entry, (void)arg;
	(void)n;
	calls++;
	return weir_fail(-EAGAIN, "another time");
}

/* A server that does not answer now is not asked again at once. */
static void test_another_time(void **state)
{
	const struct weir_server as_it_was = toy.server;
	(void)state;
	calls = 0;
	toy.server.read = no_read;
	assert_int_equal(weir__node_read(&node[B]), -EAGAIN);
	toy.server = as_it_was;
	assert_int_equal(calls, 1);
}

/* Somebody else says that B's last batch is one that B never sent: nobody may wait for it. */
static void test_in_its_name(void **state)
{
	const uint64_t name = node[B].id, other = node[A].id;
	struct weir_sending forged = { .epoch = node[A].epoch,
		                       .kind = WEIR_ENTRY_IDLE,
		                       .node = name,
		                       .sequence = 2,
		                       .hashing = node[A].hashing,
		                       .data = "" };
	struct weir_stream_id id;
	(void)state;
	insert_and_send(B, 1);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].id, name); /* its own are none such */
	assert_ok(toy.server.append(&toy, &forged, &id));
	assert_ok(weir__node_read(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(node[B].id != name && node[A].id == other);
	assert_false(weir__node_complete(&node[A]));
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(weir__node_heal(&node[A], &node[B].id, 1)); /* who lives, and it has gone */
	assert_true(has(A, 1));
}

/* Likewise with a batch, and whatever is read after it in the same reading. */
static void test_a_batch_in_its_name(void **state)
{
	const uint64_t name = node[B].id;
	uint64_t hash = test_key(7);
	struct weir_sending forged = { .epoch = node[A].epoch,
		                       .kind = WEIR_ENTRY_HASHES,
		                       .node = name,
		                       .sequence = 1,
		                       .hashing = node[A].hashing,
		                       .data = &hash,
		                       .bytes = sizeof hash };
	struct weir_stream_id id;
	(void)state;
	forged.hashing++; /* of another seed: all pass it by, and nobody waits */
	assert_ok(toy.server.append(&toy, &forged, &id));
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(node[B].id, name);
	forged.hashing--;
	assert_ok(toy.server.append(&toy, &forged, &id));
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_int_not_equal(node[B].id, name);
	assert_true(has(B, 1));
}

/* Somebody removes a batch that nobody has read, and adds another by its number. */
static void test_another_in_the_place_of_its_batch(void **state)
{
	uint64_t hash = test_key(7), stored;
	struct weir_sending forged = { .epoch = node[A].epoch,
		                       .kind = WEIR_ENTRY_HASHES,
		                       .node = node[B].id,
		                       .sequence = 2,
		                       .hashing = node[A].hashing,
		                       .data = &stored,
		                       .bytes = sizeof stored };
	struct weir_stream_id id;
	(void)state;
	weir__entry_put_hash((unsigned char *)&stored, 0, hash);
	insert_and_send(B, 1);
	insert_and_send(B, 2);
	insert_and_send(B, 3);
	toy_delete(&toy, 1);
	toy.now.added--; /* and puts the count back */
	assert_ok(toy.server.append(&toy, &forged, &id));
	const uint64_t name = node[B].id;
	assert_ok(weir__node_read(&node[B]));
	assert_int_not_equal(node[B].id, name);
	assert_ok(weir__node_send(&node[B]));
	assert_ok(weir__node_read(&node[A]));
	assert_true(has(A, 1) && has(A, 2) && has(A, 3));
}

/* What was in the stream comes again unasked, since others may not have read it. */
static void test_the_stream_is_deleted(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	const struct weir_stream_id id = toy.now.last;
	toy_delete_all(&toy);
	insert_and_send(B, 2);
	assert_true(weir__stream_id_compare(toy.now.last, id) >= 0); /* as if it were there */
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
}

/* So may its ids: by those of before nothing is covered. */
static void test_ids_come_again(void **state)
{
	(void)state;
	toy.clock = 5000;
	insert_and_send(A, 1);
	publish(A);
	publish(A);
	assert_true(node[A].covered.ms >= 5000);
	toy.now.position = (struct weir_stream_id){ 0, 0 };
	toy_delete_all(&toy);
	toy.clock = 1;
	insert_and_send(A, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(weir__node_read(&node[A]));
		assert_ok(weir__node_send(&node[A]));
	}
	assert_ok(weir__node_read(&node[A]));
	assert_non_null(node[A].retained.oldest);
}

/* Somebody gives the stream an id of a year to come, and later those of before again, with its
 * counts as they were. */
static void test_ids_are_set_back(void **state)
{
	const struct weir_stream_id before = toy.now.last;
	(void)state;
	toy.now.last.ms += 1000000;
	insert_and_send(B, 1);
	for (unsigned i = 0; i < 2; i++) {
		publish(A);
		assert_ok(weir__node_look(&node[B]));
		assert_ok(weir__node_read(&node[B]));
	}
	assert_true(node[A].covered.ms >= 1000000);
	insert_and_send(B, 3); /* which the newest generation alone has */
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	toy_trim(&toy, toy.now.n);
	toy.now.last = before;
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 2) && node[B].gap);
	const uint64_t alive[] = { 0xa, 0xb };
	for (unsigned i = 0; i < 2; i++)
		assert_ok(weir__node_idle(&node[i]));
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(weir__node_read(&node[i]));
		assert_true(weir__node_heal(&node[i], alive, 2));
		assert_ok(weir__node_look(&node[i]));
		assert_ok(weir__node_send(&node[i])); /* again: ids of before mean nothing */
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_ok(weir__node_read(&node[i / 2]));
		assert_non_null(node[i / 2].retained.oldest); /* nor is anything covered by them */
		assert_ok(weir__node_look(&node[i / 2]));
	}
	publish(A);
	struct weir_manifest m;
	struct weir_origins origins = { 0 };
	assert_ok(weir__manifest_read(&m, &origins, toy.now.manifest, toy.now.manifest_len));
	weir__origins_free(&origins);
	assert_true(m.covered.ms == 0 && m.cursor.at.ms < 1000000);
	assert_true(toy.now.n > 0); /* and so nothing is trimmed */
}

/* A generation of before that is joined then: what this node has read since stays in its set. */
static void test_joined_when_ids_were_set_back(void **state)
{
	const struct weir_stream_id before = toy.now.last;
	(void)state;
	toy.now.last.ms += 1000000;
	insert_and_send(A, 1);
	publish(A);
	toy_trim(&toy, toy.now.n);
	toy.now.last = before;
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 2));
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1) && has(B, 2) && node[B].gap);
}

/* A batch that cannot be applied is lacking until its node sends it by the set's seed. */
static void test_a_batch_by_another_seed(void **state)
{
	(void)state;
	node[A].hashing++;
	insert_and_send(A, 1);
	node[A].hashing--;
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_complete(&node[B]));
	assert_ok(weir__node_want(&node[B], 0xa, 1));
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_complete(&node[B]) && has(B, 1));
}

/* Of an entry that is nobody's no node is known. */
static void test_nobodys(void **state)
{
	const struct weir_entry e = { .kind = WEIR_ENTRY_FOREIGN };
	bool foreign = false;
	(void)state;
	assert_ok(weir__node_take(&node[B], &node[B].origins, &e, NULL, &foreign));
	assert_true(foreign);
	assert_int_equal(node[B].origins.n, 0);
}

/* What comes when somebody has made up as many as there can be is applied all the same. */
static void test_too_many_nodes(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= WEIR_ORIGINS; i++)
		assert_ok(weir__origins_hear(&node[B].origins, i << 8, 0));
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 1));
}

static bool is_asked(uint64_t of, uint64_t sequence)
{
	assert_ok(weir__node_want(&node[B], of, sequence));
	assert_ok(weir__node_read(&node[A]));
	bool sends = node[A].retained.next != NULL;
	assert_ok(weir__node_send(&node[A]));
	return sends;
}

static void test_who_is_asked(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_true(is_asked(0xa, 1));
	assert_true(is_asked(0, 1)); /* everybody */
	assert_false(is_asked(0xc, 1));
	for (unsigned i = 0; i < 3; i++)
		publish(A);
	assert_ok(weir__node_read(&node[A]));
	assert_null(node[A].retained.oldest);
	assert_false(is_asked(0, 1)); /* it has nothing more: it is not it who is waited for */
	assert_int_equal(node[A].id, 0xa);
	assert_false(is_asked(0xa, 1));
	const uint64_t id = node[A].id;
	assert_int_not_equal(id, 0xa);
	assert_ok(weir__node_read(&node[A]));
	assert_int_equal(node[A].id, id); /* once */
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_more_than_were_added),
		OF(test_in_its_name),
		OF(test_a_batch_in_its_name),
		OF(test_another_in_the_place_of_its_batch),
		OF(test_another_time),
		OF(test_the_stream_is_deleted),
		OF(test_ids_come_again),
		OF(test_ids_are_set_back),
		OF(test_joined_when_ids_were_set_back),
		OF(test_a_batch_by_another_seed),
		OF(test_nobodys),
		OF(test_too_many_nodes),
		OF(test_who_is_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
