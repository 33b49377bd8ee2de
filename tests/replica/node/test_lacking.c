/* SPDX-License-Identifier: MIT
 * A node that lacks entries or an image: when it calls the other nodes for them, and what ends the
 * lack. */
#include "pair.h"

/* [CALL-FOR-KEYS]: node 1 calls while node 0 uploads a requested generation. */
static void test_a_generation_that_is_newer_than_the_call_names_answers_it(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	toy.slow = 5;
	node[0].publish_asked = true;
	while (status(0).state != WEIR_NODE_PUBLISHING)
		run(20);
	node[1].call_due = true;
	assert_ok(weir__node_touch(&node[1], false));
	run(3000);
	assert_int_equal(status(0).generations + status(1).generations, 2);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
}

/* [CALL-FOR-KEYS]: while node 1 fetches an image, two newer generations are published. */
static void test_a_superseded_image_calls_no_node(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
	toy.slow = 1000;
	sit(1, 1 << 20, true);
	run(20);
	assert_true(toy.stores[1].image_left);
	toy.slow = toy.stores[1].image_left = 0;
	while (status(0).generations < 3) {
		node[0].publish_asked = true;
		for (unsigned i = 0; i < 20; i++)
			(void)weir__node_round(&node[0], toy.clock += 20);
	}
	node[1].beat_at = UINT64_MAX; /* no heartbeat shows node 1 the new head in time */
	run(1000);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
	assert_true(has(1, 1));
	assert_int_equal(node[1].called_at, 0);
}

/* [CALL-FOR-KEYS]: node 1 calls because an image is lost. Then the answer's image is lost too. */
static void test_a_call_is_repeated_at_once_for_another_head(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
	toy_lose_image(&toy.server[1]);
	sit(1, 1 << 20, true);
	while (status(0).generations < 2)
		run(20);
	toy_lose_image(&toy.server[1]);
	run(2000);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
	assert_true(has(1, 1));
}

/* [NEW-ERA]: the entry of key 2 is deleted. Only node 0 and the generation before the rollback have
 *    key 2. Both nodes give up the entry. Then the generation that node 1 publishes lacks key 2. */
static void test_a_rollback_without_its_log_is_incomplete(void **state)
{
	struct weir_record r;
	(void)state;
	sit_both_with_key_1();
	const struct weir_manifest kept = *toy_head(&toy.server[1]);
	toy.stores[1].no_read = true;
	assert_ok(insert(0, 2));
	run(100);
	const size_t entry = toy.server[1].n - 1;
	node[0].publish_asked = true;
	run(400);
	assert_int_equal(status(0).generations + status(1).generations, 2);
	assert_ok(weir__node_record(&node[0], &r, &kept));
	assert_ok(weir__node_publish_record(&node[0], &r, NULL));
	toy_delete(&toy.server[1], entry);
	toy.stores[1].no_read = false;
	run(1000);
	assert_int_equal(status(0).joined.era, 2);
	node[0].may_publish = false;
	run(15000);
	assert_true(!has(1, 2) && status(1).generations);
	node[0].may_publish = true;
	run(2000);
	assert_true(has(1, 2));
}

/* [CALL-FOR-KEYS]: the generation that answers the call frees memory for the batches. */
static void test_a_full_server_takes_a_call_while_inserts_wait(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	assert_ok(insert(0, 1));
	run(1000);
	toy_lose_image(&toy.server[1]);
	toy.server[1].full = true;
	sit(1, 1 << 20, true);
	assert_ok(insert(1, 2));
	run(5000);
	assert_true(node[1].ring.waiting.oldest && node[1].head.full);
	assert_true(has(1, 1) && !status(1).lacks);
	toy.server[1].full = false;
	run(2000);
	assert_true(has(0, 2));
}

static void lose_last_entry(void)
{
	const size_t n = toy.server[1].n;
	toy_delete(&toy.server[1], n - 1);
	assert_int_equal(toy.server[1].n, n - 1);
}

/* [CALL-FOR-KEYS]: each of two nodes lacks the other's entry, so neither can publish. */
static void test_nodes_that_lack_each_others_entries_heal_before_they_give_up(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(insert(i % 2, i));
		(void)weir__node_round(&node[i % 2], toy.clock += 20);
		if (i < 2)
			lose_last_entry();
	}
	run(500);
	assert_true(status(0).lacks && status(1).lacks);
	assert_true(node[0].missing && node[1].missing);
	run(8000);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).state, WEIR_NODE_FOLLOWING);
		assert_int_equal(status(i).given_up, 0);
		assert_true(has(i, 0) && has(i, 1) && has(i, 2));
	}
}

/* Node 1 lacks an entry of node 0 and knows the entry's tag, so node 0 must send a replacement. */
static void make_replace(void)
{
	const struct weir_log_id none = { 0, 0 }, most = { UINT64_MAX, UINT64_MAX };
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	node[1].may_publish = false; /* node 1 must not answer its own call */
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(insert(0, i));
		(void)weir__node_round(&node[0], toy.clock += 20);
		if (i == 0)
			lose_last_entry();
	}
	run_from(1, 100);
	assert_true(status(1).lacks && node[1].missing);
	weir__ring_requeue(&node[0].ring, none, most, true);
}

static void assert_replaced(void)
{
	assert_ok(weir__node_touch(&node[0], false));
	assert_null(node[0].ring.waiting.oldest);
	assert_false(node[0].ring.acked.oldest->replaces || node[0].ring.acked.newest->replaces);
	run_from(1, 100);
	assert_true(!status(1).lacks && has(1, 0));
	assert_int_equal(status(0).generations + status(1).generations, 1);
}

static void test_a_full_server_does_not_end_a_replacement(void **state)
{
	(void)state;
	make_replace();
	toy.server[1].full = true;
	for (unsigned i = 0; i < 20; i++)
		assert_ok(weir__node_touch(&node[0], false));
	assert_true(node[0].head.full);
	toy.server[1].full = false;
	assert_replaced();
}

static int (*real_touch)(void *, const struct weir_touch *, struct weir_head *);
static bool taken;

static int touch_without_an_answer(void *context, const struct weir_touch *t, struct weir_head *h)
{
	struct weir_head unseen;
	(void)h;
	if (taken)
		assert_ok(real_touch(context, t, &unseen));
	return weir_fail(-EIO, "the answer is lost");
}

static void lose_answer(bool after)
{
	struct weir_store *s = &toy.stores[0].store;
	taken = after;
	real_touch = s->touch;
	s->touch = touch_without_an_answer;
	assert_int_equal(weir__node_touch(&node[0], false), -EIO);
	s->touch = real_touch;
}

static void test_a_replacement_that_was_not_sent_is_sent_again(void **state)
{
	(void)state;
	make_replace();
	lose_answer(false);
	lose_answer(false);
	assert_replaced();
}

static void test_a_replacement_whose_answer_is_lost_has_another_tag_the_next_time(void **state)
{
	(void)state;
	make_replace();
	lose_answer(true);
	const uint64_t first = toy.server[1].head.tag;
	const struct weir_log_id last = toy.server[1].head.last;
	assert_replaced();
	assert_int_equal(toy.server[1].head.last.n, last.n + 2);
	assert_true(toy.server[1].head.tag != first);
}

/* [GIVE-UP]: the new epoch says which entries are given up, and makes all nodes send their rings
 * again. */
static void test_giving_up_begins_an_epoch(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(insert(0, i));
		(void)weir__node_round(&node[0], toy.clock += 20);
		if (i == 0)
			lose_last_entry();
	}
	const uint64_t mark = node[0].head.mark;
	run_from(1, 1000); /* node 0 is not running */
	assert_true(status(1).lacks);
	run_from(1, 14000);
	assert_int_equal(status(1).given_up, 1);
	assert_true(has(1, 1) && !has(1, 0));
	assert_true(node[1].head.mark != mark && !node[1].head.prev && node[1].head.lost.epoch);
	run(1000); /* node 0 runs again */
	assert_true(has(1, 0));
}

/* [LOG-READING]: an old dump was restored. Its log ends at the id that the node expects. */
static void test_a_head_that_is_older_is_doubt(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	run(1000);
	assert_ok(weir__node_touch(&node[0], false));
	assert_false(node[0].doubt);
	node[0].head.version.number++;
	assert_ok(weir__node_touch(&node[0], false));
	assert_true(node[0].doubt);
}

/* [DOUBT]: a node sends an entry while in doubt, and then a log without that entry is restored. */
static void test_a_log_that_goes_back_during_doubt_requeues_the_ring(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	toy_save(&toy);
	weir__node_doubt(&node[0]);
	assert_ok(insert(0, 1));
	assert_ok(weir__node_touch(&node[0], false));
	assert_true(node[0].doubt && node[0].ring.acked.oldest && !node[0].ring.waiting.oldest);
	toy_fall_back(&toy, false);
	assert_ok(weir__node_touch(&node[0], false));
	assert_true(node[0].doubt && !node[0].ring.acked.oldest && node[0].ring.waiting.oldest);
	run(1000);
	assert_true(has(1, 1));
}

static void round_of(unsigned i)
{
	(void)weir__node_round(&node[i], toy.clock += 20);
}

/* [HEAD-JOIN]: a dump is restored while node 1 fetches the image of a higher era. */
static void test_an_image_is_not_swapped_in_after_the_head_has_changed(void **state)
{
	struct weir_record r;
	(void)state;
	sit_both_with_key_1();
	toy_save(&toy);
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir__node_record(&node[0], &r, NULL));
	assert_ok(weir__node_publish_record(&node[0], &r, f));
	weir_destroy(f);
	toy.slow = 1000;
	while (!toy.stores[1].image_left)
		round_of(1);
	toy_fall_back(&toy, false);
	node[1].beat_at = UINT64_MAX; /* no heartbeat shows node 1 the older head in time */
	toy.slow = toy.stores[1].image_left = 0;
	round_of(1);
	assert_int_equal(toy.stores[1].image, 0);
	assert_int_equal(node[1].era, 1);
	assert_true(has(1, 1));
}

/* [WHEN-TO-PUBLISH]: nodes that join a generation skip the log before its position, so its image
 * must be whole. */
static void test_without_a_head_a_node_that_lacks_an_entry_does_not_publish(void **state)
{
	(void)state;
	sit(0, 1 << 20, false);
	sit(1, 1 << 20, false);
	run(100);
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(insert(0, i));
		round_of(0);
		if (i == 0)
			lose_last_entry();
	}
	run_from(1, 100);
	assert_true(status(1).lacks && !node[1].head.generation);
	node[1].may_publish = true;
	run_from(1, 2000);
	assert_int_equal(status(1).generations, 0);
	run(1000);
	assert_true(status(1).lacks);
}

/* [WHEN-TO-PUBLISH]: an entry after the position goes missing while the image is being uploaded. */
static void test_a_publication_fills_only_holes_below_its_position(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	node[0].publish_asked = true;
	for (toy.slow = 1000; status(0).state != WEIR_NODE_PUBLISHING; toy.stores[0].remaining += 9)
		round_of(0);
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(insert(1, i));
		round_of(1);
		if (i == 0)
			lose_last_entry();
	}
	round_of(0);
	assert_true(status(0).lacks && status(0).state == WEIR_NODE_PUBLISHING);
	const uint64_t generations = status(0).generations;
	toy.slow = toy.stores[0].remaining = 0;
	round_of(0);
	assert_int_equal(status(0).generations, generations + 1);
	assert_true(status(0).lacks && status(0).hole.epoch);
	run(2000);
	assert_true(has(0, 0) && has(0, 1) && !status(0).lacks);
}

/* Two adjacent own entries are deleted. The node has read both entries, so it knows the
 * tag of the entry before each of them. */
static void test_adjacent_own_entries_are_filled_if_they_were_read(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, true);
	run(1000);
	const struct weir_log_id from = node[0].cursor;
	const uint64_t tag = node[0].tag;
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(insert(0, i));
		(void)weir__node_round(&node[0], toy.clock += 20);
	}
	toy_delete(&toy.server[1], toy.server[1].n - 2);
	toy_delete(&toy.server[1], toy.server[1].n - 2);
	node[0].cursor = from; /* the node reads both entries again */
	node[0].tag = tag;
	(void)weir__node_round(&node[0], toy.clock += 20);
	assert_false(status(0).lacks);
}

/* Two nodes that were cut off from each other may have growing sets that do not fit into one. */
static void test_a_set_that_cannot_be_united_waits_for_a_record(void **state)
{
	(void)state;
	sit_with(0, filter(WEIR_GROWING, 600, 7), 1 << 20, true);
	sit_with(1, filter(WEIR_GROWING, 600, 7), 0, true);
	toy.stores[1].server = 0; /* node 1 is cut off from node 0 */
	for (uint64_t i = 0; i < 500; i++) {
		assert_ok(insert(0, i));
		assert_ok(insert(1, 10000 + i));
	}
	run(1000);
	toy_flush(&toy.server[0]);
	toy.stores[1].server = 1;
	run(20000);
	assert_int_equal(status(1).error, -ENOSPC);
	assert_int_equal(status(1).state, WEIR_NODE_CATCHING_UP);
	assert_int_equal(status(1).given_up, 0);
	assert_true(has(1, 10000));
	assert_false(has(0, 10000));
	struct weir_record r;
	assert_ok(weir__node_record(&node[0], &r, NULL));
	struct weir_filter *f = filter(WEIR_GROWING, 2000, 7);
	for (uint64_t i = 0; i < 500; i++) {
		assert_ok(weir_insert_u64(f, i));
		assert_ok(weir_insert_u64(f, 10000 + i));
	}
	assert_ok(weir__node_publish_record(&node[0], &r, f));
	weir_destroy(f);
	run(2000);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
	assert_true(has(0, 10000) && has(1, 10000) && has(1, 499));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_generation_that_is_newer_than_the_call_names_answers_it),
		TEST(test_a_superseded_image_calls_no_node),
		TEST(test_a_call_is_repeated_at_once_for_another_head),
		TEST(test_a_rollback_without_its_log_is_incomplete),
		TEST(test_a_full_server_takes_a_call_while_inserts_wait),
		TEST(test_nodes_that_lack_each_others_entries_heal_before_they_give_up),
		TEST(test_a_full_server_does_not_end_a_replacement),
		TEST(test_a_replacement_that_was_not_sent_is_sent_again),
		TEST(test_a_replacement_whose_answer_is_lost_has_another_tag_the_next_time),
		TEST(test_giving_up_begins_an_epoch),
		TEST(test_a_head_that_is_older_is_doubt),
		TEST(test_a_log_that_goes_back_during_doubt_requeues_the_ring),
		TEST(test_an_image_is_not_swapped_in_after_the_head_has_changed),
		TEST(test_without_a_head_a_node_that_lacks_an_entry_does_not_publish),
		TEST(test_a_publication_fills_only_holes_below_its_position),
		TEST(test_adjacent_own_entries_are_filled_if_they_were_read),
		TEST(test_a_set_that_cannot_be_united_waits_for_a_record),
	};
	return cmocka_run_group_tests_name("replica_lacking", tests, NULL, NULL);
}
