/* SPDX-License-Identifier: MIT
 * A node that owes keys that redis lost: which flushes wait, and what ends the debt. */
#include "lost.h"

static void assert_flushes(unsigned i)
{
	assert_ok(insert(i, 3));
	const uint64_t number = weir__node_flush(&node[i]);
	run_one(i, 500);
	assert_true(status(i).owes);
	assert_int_equal(weir__node_acknowledged(&node[i]), number);
}

static void test_flush_does_not_wait_for_keys_of_other_nodes(void **state)
{
	(void)state;
	lose_and_hold();
	assert_flushes(1);
	assert_publishes_once(3);
}

static void test_flush_does_not_wait_for_a_lost_generation_of_other_nodes(void **state)
{
	(void)state;
	begin_anew_and_hold();
	assert_flushes(1);
	assert_publishes_once(2);
}

/* A record without key 1 ends the debt. */
static void assert_record_ends_it(void)
{
	struct weir_record r;
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir_insert_u64(f, 2));
	assert_ok(weir__node_record(&node[0], &r, NULL));
	assert_ok(weir__node_publish_record(&node[0], &r, f));
	weir_destroy(f);
	server->holder = 0;
	run_one(1, 2000);
	run(3000);
	assert_int_equal(server->head.version.era, 2);
	assert_int_equal(server->head.version.number, 1);
	for (unsigned i = 0; i < 2; i++)
		assert_true(has(i, 2) && !has(i, 1) && !status(i).owes);
}

static void test_record_removes_what_a_node_owed_for_others(void **state)
{
	(void)state;
	lose_and_hold();
	assert_record_ends_it();
}

static void test_record_removes_what_a_node_owed_for_a_lost_generation(void **state)
{
	(void)state;
	begin_anew_and_hold();
	assert_record_ends_it();
}

/* ---- own inserts ---- */

/* A node that may not publish can only send the entry again. */
static void test_node_sends_again_what_redis_lost(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, false);
	run(1000);
	assert_ok(insert(1, 1));
	run_one(1, 200);
	assert_non_null(node[1].ring.acked.oldest);
	leave(0);
	toy_flush(server);
	sit(0, 1 << 20, true);
	run(3000);
	assert_true(has(0, 1));
}

static void test_flush_waits_for_own_keys_in_a_lost_generation(void **state)
{
	(void)state;
	sit(1, 0, true);
	assert_ok(insert(1, 1));
	run(1000);
	assert_false(status(1).owes || status(1).token);
	toy_flush(server);
	sit(0, 1 << 20, true);
	run_one(0, 2000);
	hold_lease();
	run_one(1, 500);
	const uint64_t number = weir__node_flush(&node[1]);
	run_one(1, 500);
	assert_true(weir__node_acknowledged(&node[1]) < number);
	server->holder = 0;
	run_one(1, 1000);
	assert_int_equal(weir__node_acknowledged(&node[1]), number);
	run(1000);
	assert_true(has(0, 1));
}

/* [LOG-READING], [RING-RELEASE]: a new log has replaced the log that had key 1's entry. Node 0
 * would notice this at key 3's entry, but that entry was deleted. So node 0 reads on after a
 * gap. */
static void test_position_does_not_cover_own_entries_before_a_gap(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	assert_ok(insert(0, 1));
	run_one(0, 40);
	assert_non_null(node[0].ring.acked.oldest);
	toy_fall_back(&toy, false);
	for (uint64_t key = 2; key <= 4; key++) {
		assert_ok(insert(1, key));
		assert_ok(weir__node_touch(&node[1], false));
	}
	run_one(1, 100);
	toy_delete(server, server->n - 2);
	run_one(0, 60);
	assert_true(status(0).lacks && has(0, 4) && node[0].gap.epoch);
	node[1].publish_asked = true;
	run(2000);
	assert_true(has(0, 3) && has(1, 1));
}

/* [LOG-READING]: a new log has replaced the log that had key 1's entry. In the new log, the id of
 * that entry belongs to key 2's entry, which was deleted. Node 0 cannot read key 3's entry, which
 * comes next. */
static void test_position_does_not_cover_own_entries_before_an_invalid_one(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	assert_ok(insert(0, 1));
	assert_ok(weir__node_touch(&node[0], false));
	const struct weir_log_id own = node[0].ring.acked.newest->id;
	toy_fall_back(&toy, false);
	for (uint64_t key = 2; key <= 3; key++) {
		assert_ok(insert(1, key));
		assert_ok(weir__node_touch(&node[1], false));
	}
	run_one(1, 20);
	assert_true(server->head.last.epoch == own.epoch && server->head.last.n == own.n + 1);
	toy_delete(server, server->n - 2);
	toy_spoil(server, server->n - 1);
	run_one(0, 20);
	assert_true(status(0).lacks && node[0].cursor.n == own.n + 1);
	node[1].publish_asked = true;
	run_one(1, 1000);
	run(1000);
	assert_true(has(0, 2) && has(0, 3) && has(1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_flush_does_not_wait_for_keys_of_other_nodes),
		TEST(test_flush_does_not_wait_for_a_lost_generation_of_other_nodes),
		TEST(test_record_removes_what_a_node_owed_for_others),
		TEST(test_record_removes_what_a_node_owed_for_a_lost_generation),
		TEST(test_node_sends_again_what_redis_lost),
		TEST(test_flush_waits_for_own_keys_in_a_lost_generation),
		TEST(test_position_does_not_cover_own_entries_before_a_gap),
		TEST(test_position_does_not_cover_own_entries_before_an_invalid_one),
	};
	return cmocka_run_group_tests_name("replica_owing", tests, NULL, NULL);
}
