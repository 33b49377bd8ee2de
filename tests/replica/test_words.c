/* SPDX-License-Identifier: MIT
 * The words of a node that has nothing to send, and what has to be there before them. */
#include <errno.h>
#include "two.h"

/* L8: of the last one nobody would know. */
static void test_who_is_idle_tells_of_its_last(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	assert_ok(weir__node_read(&node[B]));
	insert_and_send(A, 2);
	assert_ok(weir__node_read(&node[A]));
	toy_delete(&toy, 1);
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_complete(&node[B]));
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_false(weir__node_complete(&node[B]));
}

static int no_room_for_batches(void *context, const struct weir_sending *s,
                               struct weir_stream_id *id)
{
	return s->bytes > 40 ? weir_fail(-ENOSPC, "the toy is full") :
	                       toy.server.append(context, s, id);
}

/* L8: its number is that of a batch which may never come. */
static void test_no_word_before_the_batch(void **state)
{
	struct weir_server full = toy.server;
	int kept;
	(void)state;
	full.append = no_room_for_batches;
	node[A].server = &full;
	for (unsigned i = 0; i < 10; i++)
		assert_ok(weir__node_insert_hash(&node[A], test_key(i), &kept));
	assert_int_equal(weir__node_send(&node[A]), -ENOSPC);
	assert_int_equal(weir__node_idle(&node[A]), -ENOSPC);
	assert_int_equal(weir__node_want(&node[A], 0xb, 1), -ENOSPC);
	assert_int_equal(toy.now.n, 0);
	full.append = toy.server.append;
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 9) && weir__node_complete(&node[B]));
}

/* A node without room for more sends what it has all the same. */
static void test_full_and_it_sends(void **state)
{
	struct weir_server full = toy.server;
	int kept, err = 0;
	(void)state;
	full.append = no_room_for_batches;
	node[A].server = &full;
	node[A].retained.limit = 400;
	for (unsigned i = 0; !err; i++) {
		for (unsigned j = 0; j < 8; j++)
			(void)weir__node_insert_hash(&node[A], test_key(8 * i + j), &kept);
		err = weir__node_collect(&node[A]);
	}
	assert_int_equal(err, -ENOBUFS);
	full.append = toy.server.append;
	assert_int_equal(weir__node_send(&node[A]), -ENOBUFS);
	assert_ok(weir__node_read(&node[B]));
	assert_true(has(B, 0) && has(B, 7));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_who_is_idle_tells_of_its_last),
		OF(test_no_word_before_the_batch),
		OF(test_full_and_it_sends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
