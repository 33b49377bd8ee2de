/* SPDX-License-Identifier: MIT
 * For unit tests of a node: NODES nodes (2 by default) share one toy redis. */
#ifndef WEIR_TESTS_REPLICA_PAIR_H
#define WEIR_TESTS_REPLICA_PAIR_H

#include "../../test.h"
#include "node/node.h"
#include "toy.h"

#ifndef NODES
#define NODES 2
#endif
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static struct toy toy;
static struct weir_node node[NODES];
static struct weir_handle *handle[NODES];

static struct weir_filter *filter(uint32_t kind, uint64_t capacity, uint64_t seed)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = kind;
	params.capacity = capacity;
	params.fp_rate = 1e-6;
	params.seed = seed;
	assert_ok(weir_create(&f, &params));
	return f;
}

static void sit_with(unsigned i, struct weir_filter *f, uint64_t ring, bool may_publish)
{
	const struct weir_node_options options = {
		.store = &toy_store(&toy, i, 1)->store, .set = "toy", .id = i + 1,
		.max_pending_bytes = ring, .may_publish = may_publish,
	};
	struct weir_node_options all = options;
	assert_ok(weir_handle_create(&handle[i], f, NULL));
	all.handle = handle[i];
	assert_ok(weir__node_make(&node[i], &all));
}

static void sit(unsigned i, uint64_t ring, bool may_publish)
{
	sit_with(i, filter(WEIR_BLOCKED, 1000, 7), ring, may_publish);
}

static int begin(void **state)
{
	(void)state;
	toy_make(&toy, 1);
	memset(handle, 0, sizeof handle);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		if (!handle[i])
			continue;
		weir__node_free(&node[i]);
		assert_ok(weir_handle_destroy(handle[i]));
	}
	toy_free(&toy);
	return 0;
}

/* Run node @from and all nodes after it for @ms milliseconds. */
static void run_from(unsigned from, unsigned ms)
{
	for (const uint64_t to = toy.clock + ms; toy.clock < to; toy.clock += 20)
		for (unsigned i = from; i < NODES; i++)
			if (handle[i])
				(void)weir__node_round(&node[i], toy.clock);
}

static void run(unsigned ms)
{
	run_from(0, ms);
}

static struct weir_node_status status(unsigned i)
{
	struct weir_node_status s;
	weir__node_status(&node[i], &s);
	return s;
}

static bool has(unsigned i, uint64_t key)
{
	return weir_handle_contains_u64(handle[i], key);
}

static int insert(unsigned i, uint64_t key)
{
	return weir__node_insert(&node[i], &key, sizeof key);
}

/* Node 0 inserts key 1, and both nodes have it. */
static inline void sit_both_with_key_1(void)
{
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
}

#endif
