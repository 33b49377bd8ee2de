/* SPDX-License-Identifier: MIT
 * For tests in which redis loses the keys of a node that has ended. Node 2 ends, node 1 has node
 * 2's keys, and node 0 publishes first after the loss. */
#ifndef WEIR_TESTS_REPLICA_LOST_H
#define WEIR_TESTS_REPLICA_LOST_H

#define NODES 3
#include "pair.h"

static struct toy_server *const server = &toy.server[1];

static void leave(unsigned i)
{
	weir__node_free(&node[i]);
	assert_ok(weir_handle_destroy(handle[i]));
	handle[i] = NULL;
}

static void run_one(unsigned i, unsigned ms)
{
	for (const uint64_t to = toy.clock + ms; toy.clock < to; toy.clock += 20)
		(void)weir__node_round(&node[i], toy.clock);
}

/* Check that the newest version is 1.@n. */
#define assert_number(n) \
	do { \
		assert_int_equal(server->head.version.era, 1); \
		assert_int_equal(server->head.version.number, n); \
	} while (0)

#define assert_id(id, same) assert_int_equal(weir__log_id_compare(id, same), 0)

static void sit_all(void)
{
	for (unsigned i = 0; i < NODES; i++)
		sit(i, 1 << 20, true);
	run(1000);
	assert_number(1);
}

/* All nodes have joined 1.1. Node 2 inserts key 1 and ends. Nodes @from and 1 have read key 1. */
static void end_after_insert(unsigned from)
{
	sit_all();
	assert_ok(insert(2, 1));
	run_from(from, 200);
	leave(2);
	assert_true(has(1, 1));
	assert_int_equal(has(0, 1), from == 0);
}

/* Another client has the lease. A node then waits for 10 s before it publishes. */
static void hold_lease(void)
{
	server->holder = 99;
	server->held_until = UINT64_MAX;
}

/* Node 0 has published 1.2, which lacks key 1. Node 1 has joined 1.2 and owes key 1. */
static void lose_and_hold(void)
{
	end_after_insert(1);
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	hold_lease();
	run_one(1, 500);
	assert_true(status(1).owes && status(1).joined.number == 2 && !status(1).lacks);
}

/* A new node has published an empty set. Node 1 has joined that generation, 1.1. */
static void begin_anew_and_hold(void)
{
	end_after_insert(1);
	toy_flush(server);
	leave(0);
	sit(0, 1 << 20, true);
	run_one(0, 2000);
	assert_number(1);
	hold_lease();
	run_one(1, 500);
	assert_true(status(1).owes && node[1].joined.id == server->head.generation);
}

/* Node 1 publishes exactly one version, 1.@number. Node 0 gets key 1 from it. */
static void assert_publishes_once(uint64_t number)
{
	server->holder = 0;
	run_one(1, 2000);
	assert_number(number);
	run(5000);
	assert_number(number);
	assert_true(has(0, 1) && has(1, 1));
	assert_false(status(0).owes || status(1).owes);
}

#endif
