/* SPDX-License-Identifier: MIT
 * [RING-RELEASE]: a node returns after it missed generations, in most tests more than fit into a
 *    list of ids. Node 1 has inserted key 1 and relies on a generation that has this key. */
#include "pair.h"

static void round_of_0(void)
{
	(void)weir__node_round(&node[0], toy.clock += 20);
}

static void publish(unsigned generations)
{
	const uint64_t end = status(0).generations + generations;
	for (node[0].publish_asked = true; status(0).generations < end; round_of_0())
		node[0].publish_asked = true;
}

static void rely(bool may_publish)
{
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, may_publish);
	run(1000);
	assert_ok(insert(1, 1));
	run(100);
	publish(1);
	run(100);
	assert_int_equal(node[1].n_debts, 1);
	assert_int_equal(node[1].debts[0].id, toy_head(&toy.server[1])->id);
	assert_int_equal(status(1).ring_bytes, 0);
}

/* Replace node 0 by a new node with an empty set. */
static void replace_0(void)
{
	weir__node_free(&node[0]);
	assert_ok(weir_handle_destroy(handle[0]));
	sit(0, 1 << 20, true);
}

static void test_a_node_that_may_not_publish_owes_nothing_after_many_generations(void **state)
{
	(void)state;
	rely(false);
	publish(WEIR_HAS + 6);
	run(2000);
	assert_true(has(0, 1) && status(1).state == WEIR_NODE_FOLLOWING);
	assert_false(status(1).owes);
	assert_ok(insert(1, 2));
	const uint64_t number = weir__node_flush(&node[1]);
	run(1000);
	assert_true(weir__node_acknowledged(&node[1]) >= number);
	publish(WEIR_HAS + 6); /* again more generations than the list has slots */
	run(2000);
	assert_false(status(1).owes);
}

/* A generation of a higher era comes from another server. The list of ids of this generation lacks
 * the generation that node 1 relies on. */
static void test_a_node_owes_an_id_that_an_era_of_another_server_lacks(void **state)
{
	(void)state;
	rely(false);
	struct weir_manifest *m = (struct weir_manifest *)(uintptr_t)toy_head(&toy.server[1]);
	publish(1);
	m = (struct weir_manifest *)(uintptr_t)toy_head(&toy.server[1]);
	m->has.n = 0;
	m->version = toy.server[1].head.version = (struct weir_version){ 2, 100 };
	run_from(1, 1000);
	assert_int_equal(status(1).joined.era, 2);
	assert_true(status(1).owes);
}

/* One extra generation keeps the keys, whatever redis has lost. */
static void test_a_node_that_may_publish_does_so_after_many_generations(void **state)
{
	(void)state;
	rely(true);
	const uint64_t before = status(1).generations;
	publish(WEIR_HAS + 6);
	run(2000);
	assert_int_equal(status(1).generations, before + 1);
	assert_false(status(1).owes);
}

/* Redis loses the generation, and a new node without the key replaces node 0. */
static void test_a_node_owes_what_redis_lost_while_it_was_away(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	weir__node_free(&node[0]);
	assert_ok(weir_handle_destroy(handle[0]));
	rely(false);
	toy_fall_back(&toy, true);
	replace_0();
	publish(WEIR_HAS + 6);
	run(2000);
	assert_true(status(1).owes && !has(0, 1));
}

/* The epoch is unchanged, and the list of ids has a slot for each generation after the
 * dump. */
static void test_a_node_owes_keys_that_a_restored_dump_lacks(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	weir__node_free(&node[0]);
	assert_ok(weir_handle_destroy(handle[0]));
	rely(false);
	toy_fall_back(&toy, false);
	replace_0();
	for (uint64_t i = 0; i < 5; i++) {
		assert_ok(insert(0, 100 + i));
		publish(1);
	}
	run(2000);
	assert_true(status(1).owes && !has(0, 1));
}

/* The first generation of a new epoch may lack earlier keys, which were given up or lost. */
static void test_no_head_of_an_earlier_epoch_is_followed(void **state)
{
	(void)state;
	rely(true);
	assert_int_equal(node[1].followed, node[1].joined.id);
	toy_save(&toy);
	toy_fall_back(&toy, true);
	assert_ok(weir__node_touch(&node[1], false));
	assert_false(node[1].doubt);
	assert_int_equal(node[1].followed, 0);
	run(2000);
	publish(1);
	run(1000);
	assert_int_equal(node[1].followed, node[1].joined.id);
	assert_ok(weir__node_touch(&node[0], true)); /* node 0 gives up */
	run(2000);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
	assert_true(node[1].joined.id == toy_head(&toy.server[1])->id);
	assert_int_equal(node[1].followed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_node_that_may_not_publish_owes_nothing_after_many_generations),
		TEST(test_a_node_owes_an_id_that_an_era_of_another_server_lacks),
		TEST(test_a_node_that_may_publish_does_so_after_many_generations),
		TEST(test_a_node_owes_what_redis_lost_while_it_was_away),
		TEST(test_a_node_owes_keys_that_a_restored_dump_lacks),
		TEST(test_no_head_of_an_earlier_epoch_is_followed),
	};
	return cmocka_run_group_tests_name("replica_away", tests, NULL, NULL);
}
