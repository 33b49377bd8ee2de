/* SPDX-License-Identifier: MIT
 * Which node publishes the inserts of an ended node after redis lost them ([DOUBT],
 * [RING-RELEASE]). */
#include "lost.h"

/* Open node @i with the head's image as its set, before its first round. */
static void open_with_head(unsigned i)
{
	struct weir_filter *image;
	assert_ok(weir_clone(&image, toy_head_image(server)));
	sit_with(i, image, 1 << 20, true);
	weir__node_start(&node[i], toy_head(server));
}

static void test_node_that_read_more_than_the_first_publisher_publishes(void **state)
{
	(void)state;
	end_after_insert(1);
	const struct weir_log_id less = node[0].cursor, more = node[1].cursor;
	const uint64_t mark = node[0].head.mark;
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	assert_int_equal(toy_head(server)->seen.mark, mark);
	assert_id(toy_head(server)->seen.id, less);
	assert_publishes_once(3);
	assert_int_equal(toy_head(server)->seen.mark, mark);
	assert_id(toy_head(server)->seen.id, more);
}

static void test_node_that_read_as_much_as_the_first_publisher_does_not_publish(void **state)
{
	(void)state;
	end_after_insert(0);
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	run(5000);
	assert_number(2);
	assert_true(has(0, 1) && has(1, 1) && !status(1).owes);
}

/* Each node reads the first entry of its log, and sends no heartbeat between this read and the
 * loss. */
static void test_first_entry_of_the_log_that_a_node_knows_is_no_loss(void **state)
{
	(void)state;
	sit_all();
	toy_flush(server);
	run_one(0, 2000);
	run(5000);
	assert_number(2);
}

/* The log of a set of images alone has no inserts that redis could lose. */
static void test_set_of_images_alone_is_published_once_after_a_loss(void **state)
{
	(void)state;
	sit_all();
	for (unsigned i = 0; i < NODES; i++)
		node[i].images_only = true;
	toy_flush(server);
	run(5000);
	assert_number(2);
}

static void test_node_that_joined_a_generation_publishes_after_an_empty_set_began(void **state)
{
	(void)state;
	begin_anew_and_hold();
	assert_publishes_once(2);
}

/* Node 1 never read the lost log. It knows only the generation that it opened with. */
static void test_node_that_opened_with_a_lost_generation_publishes_it(void **state)
{
	(void)state;
	end_after_insert(1);
	node[1].publish_asked = true;
	run_one(1, 1000);
	leave(1);
	leave(0);
	open_with_head(1);
	toy_flush(server);
	sit(0, 1 << 20, true);
	run_one(0, 2000);
	assert_number(1);
	assert_publishes_once(2);
}

/* The entry of key 1 is missing, and node 0 continued after the gap. */
static void test_publisher_that_lacked_an_entry_does_not_claim_to_have_seen_it(void **state)
{
	(void)state;
	sit_all();
	for (uint64_t key = 1; key <= 2; key++) {
		assert_ok(insert(2, key));
		run_one(2, 20);
	}
	run_one(1, 100);
	toy_delete(server, server->n - 2);
	run_one(0, 100);
	leave(2);
	assert_true(status(0).lacks && has(0, 2) && !has(0, 1) && has(1, 1));
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	assert_int_equal(toy_head(server)->seen.mark, 0);
	assert_publishes_once(3);
}

/* Only the image of 1.2 has key 1, and node 0 has not fetched it. */
static void test_publisher_that_had_not_joined_the_head_does_not_claim_to_have_seen_it(void **state)
{
	(void)state;
	sit_all();
	struct weir_filter *more = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir_insert_u64(more, 1));
	assert_ok(weir__node_merge(&node[2], more));
	weir_destroy(more);
	run_one(2, 1000);
	run_one(1, 500);
	leave(2);
	toy.slow = 1000;
	run_one(0, 200);
	toy.slow = 0;
	toy.stores[0].image_left = 1000;
	assert_true(status(0).joined.number == 1 && status(1).joined.number == 2 && has(1, 1));
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	assert_int_equal(toy_head(server)->seen.mark, 0);
	assert_publishes_once(3);
}

/* Node 1 read less of the lost log than node 0. Node 1's generation keeps the `seen` of its parent,
 * which node 0 published, so node 2 owes nothing. */
static void test_next_generation_carries_on_what_its_parent_had_seen(void **state)
{
	(void)state;
	sit_all();
	assert_ok(insert(2, 1));
	run_one(2, 100);
	run_one(0, 100);
	const struct weir_log_id seen = node[0].cursor;
	assert_true(has(0, 1) && !has(1, 1));
	toy_flush(server);
	run_one(0, 2000);
	run_one(1, 1000);
	node[1].publish_asked = true;
	run_one(1, 1000);
	assert_number(3);
	assert_id(toy_head(server)->seen.id, seen);
	run(5000);
	assert_number(3);
}

static void test_newcomer_carries_on_what_the_generation_that_it_took_had_seen(void **state)
{
	(void)state;
	end_after_insert(0);
	toy_flush(server);
	run_one(0, 2000);
	sit(2, 1 << 20, true);
	run_one(2, 1000);
	node[2].publish_asked = true;
	run_one(2, 1000);
	assert_number(3);
	assert_int_equal(toy_head(server)->seen.mark, toy_kept(server, 1)->seen.mark);
	run(5000);
	assert_number(3);
}

/* Redis loses the second log before node 2 has read it. Node 1 has read only the first log. */
static void test_node_carries_on_what_the_generation_that_it_opened_with_had_seen(void **state)
{
	(void)state;
	end_after_insert(0);
	toy_flush(server);
	run_one(0, 2000);
	open_with_head(2);
	leave(0);
	const struct weir_seen seen = toy_head(server)->seen;
	toy_flush(server);
	run_one(2, 2000);
	assert_number(3);
	assert_int_equal(toy_head(server)->seen.mark, seen.mark);
	run(5000);
	assert_number(3);
}

/* Node 0 reads the first entry of the new log before its own heartbeat. */
static void test_publisher_that_read_on_in_the_new_log_says_where_it_left_the_lost_one(void **state)
{
	(void)state;
	end_after_insert(1);
	const struct weir_log_id less = node[0].cursor;
	toy_flush(server);
	assert_ok(weir__node_touch(&node[1], false));
	node[0].beat_at = UINT64_MAX;
	run_one(0, 2000);
	assert_number(2);
	assert_id(toy_head(server)->seen.id, less);
	assert_publishes_once(3);
}

/* No generation was ever published. */
static void test_node_of_a_set_without_a_generation_keeps_its_keys_after_a_loss(void **state)
{
	(void)state;
	sit(1, 1 << 20, false);
	sit(2, 1 << 20, false);
	run(500);
	assert_ok(insert(2, 1));
	run(200);
	leave(2);
	assert_true(has(1, 1) && !node[1].era);
	toy_flush(server);
	sit(0, 1 << 20, true);
	run_one(0, 2000);
	assert_number(1);
	run_one(1, 1000);
	assert_true(status(1).joined.number == 1 && has(1, 1));
	node[1].may_publish = true;
	assert_publishes_once(2);
}

/* Node 0 has read all of the second log, but not all of the first log. */
static void test_two_losses_before_it_publishes_make_a_node_publish_anyway(void **state)
{
	(void)state;
	lose_and_hold();
	run_one(0, 500);
	assert_id(node[0].cursor, node[1].cursor);
	toy_flush(server);
	run_one(0, 2000);
	assert_number(3);
	assert_id(toy_head(server)->seen.id, node[1].cursor);
	assert_publishes_once(4);
}

/* Node 0 has read all of the first log, but nothing of the second log. */
static void test_two_losses_between_two_heartbeats_make_a_node_publish_anyway(void **state)
{
	(void)state;
	sit_all();
	toy_flush(server);
	node[2].may_publish = false;
	node[2].beat_at = 0;
	assert_ok(insert(2, 1));
	run_one(2, 100);
	assert_ok(weir__node_read(&node[1]));
	leave(2);
	assert_true(has(1, 1));
	assert_id(node[0].cursor, node[1].crossing);
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	assert_publishes_once(3);
}

/* Generation 1.2 and its log have key 1. The promoted replica lacks the generation
 * and the log. */
static void test_generation_that_a_promoted_replica_lacks_is_published_again(void **state)
{
	(void)state;
	sit_all();
	toy_save(&toy);
	assert_ok(insert(2, 1));
	run_one(2, 100);
	node[2].publish_asked = true;
	run_one(2, 1000);
	run_one(1, 500);
	leave(2);
	assert_true(has(1, 1) && !has(0, 1) && status(1).joined.number == 2);
	toy_fall_back(&toy, true);
	run_one(0, 2000);
	assert_number(1);
	hold_lease();
	run_one(1, 500);
	assert_true(status(1).owes && !node[1].lost_cursor.mark);
	assert_publishes_once(2);
}

/* The id of the generation that node 1 joined was dropped from the full list of ids. */
static void test_generation_of_long_ago_is_not_lost(void **state)
{
	(void)state;
	sit_all();
	leave(2);
	for (unsigned i = 0; i < WEIR_HAS + 2; i++) {
		node[0].publish_asked = true;
		run_one(0, 400);
	}
	assert_number(WEIR_HAS + 3);
	assert_false(weir__manifest_has(toy_head(server), node[1].joined.id));
	run(3000);
	assert_number(WEIR_HAS + 3);
	assert_int_equal(status(1).joined.number, WEIR_HAS + 3);
}

static void test_node_publishes_what_a_deleted_log_had_while_the_head_stays(void **state)
{
	(void)state;
	end_after_insert(1);
	toy_drop_log(server);
	run_one(0, 2000);
	assert_number(2);
	assert_publishes_once(3);
}

/* Redis restarts, and node 0 begins the second epoch. Node 1 reads the first entry of that epoch
 * before its own heartbeat. @touches: node 1 then sends a heartbeat at once. */
static void read_after_a_restart(bool touches)
{
	sit_all();
	toy_save(&toy);
	toy_fall_back(&toy, true);
	assert_ok(weir__node_touch(&node[0], false));
	assert_ok(weir__node_read(&node[1]));
	assert_true(node[1].crossing.epoch == 1 && node[1].cursor.epoch == 2);
	if (touches)
		assert_ok(weir__node_touch(&node[1], false));
	run(touches ? 100 : 2500);
	const struct weir_log_id less = node[0].cursor;
	assert_int_equal(less.epoch, 2);
	assert_ok(insert(2, 1));
	run_from(1, 200);
	leave(2);
	assert_true(has(1, 1) && !has(0, 1));
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	assert_id(toy_head(server)->seen.id, less);
	assert_publishes_once(3);
}

static void test_entries_read_after_a_restart_count_as_read_of_the_second_epoch(void **state)
{
	(void)state;
	read_after_a_restart(false);
}

/* Node 1 knows the second epoch, and enters it again when it reads again from the joined
 * position. */
static void test_crossing_into_an_epoch_that_is_known_is_no_loss(void **state)
{
	(void)state;
	read_after_a_restart(true);
}

/* Redis restarts after the loss, so the base of the head that node 1 then reads is not 0-0. */
static void test_node_that_was_cut_off_during_a_loss_and_a_restart_publishes(void **state)
{
	(void)state;
	end_after_insert(1);
	toy_flush(server);
	run_one(0, 2000);
	assert_number(2);
	toy_save(&toy);
	toy_fall_back(&toy, true);
	run_one(0, 2000);
	assert_number(2);
	assert_true(server->head.base.epoch && server->head.prev);
	assert_int_not_equal(server->head.prev, node[1].head.mark);
	assert_publishes_once(3);
}

/* Node 1 reads a second log, which has key 1, and the start of a third log. */
static void test_entries_of_a_log_that_came_and_went_between_two_heartbeats_are_kept(void **state)
{
	(void)state;
	sit_all();
	toy_flush(server);
	node[2].may_publish = false;
	node[2].beat_at = 0;
	assert_ok(insert(2, 1));
	run_one(2, 100);
	assert_ok(weir__node_read(&node[1]));
	assert_true(has(1, 1));
	toy_flush(server);
	assert_ok(weir__node_touch(&node[2], false));
	leave(2);
	assert_ok(weir__node_read(&node[1]));
	assert_int_equal(node[1].cursor.epoch, 3);
	run_one(0, 2000);
	assert_number(2);
	assert_int_equal(toy_head(server)->seen.mark, node[1].head.mark);
	assert_id(toy_head(server)->seen.id, node[1].crossing);
	assert_publishes_once(3);
}

/* Node 1 could not read the image of 1.2. Node 2 has neither that image nor its id. */
static void test_generation_that_was_given_up_is_not_lost(void **state)
{
	(void)state;
	sit(0, 1 << 20, true);
	sit(1, 1 << 20, false);
	run(1000);
	node[0].publish_asked = node[0].impure = true;
	run_one(0, 1000);
	assert_number(2);
	const uint64_t id = server->head.generation;
	toy_lose_image(server);
	leave(0);
	run_one(1, 12000);
	assert_int_equal(status(1).given_up, 1);
	assert_true(node[1].abandoned == id && node[1].joined.id == id);
	sit(2, 1 << 20, true);
	run_one(2, 13000);
	assert_number(3);
	assert_false(weir__manifest_has(toy_head(server), id));
	run(2000);
	assert_int_equal(status(1).joined.number, 3);
	assert_false(status(1).owes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_node_that_read_more_than_the_first_publisher_publishes),
		TEST(test_node_that_read_as_much_as_the_first_publisher_does_not_publish),
		TEST(test_first_entry_of_the_log_that_a_node_knows_is_no_loss),
		TEST(test_set_of_images_alone_is_published_once_after_a_loss),
		TEST(test_node_that_joined_a_generation_publishes_after_an_empty_set_began),
		TEST(test_node_that_opened_with_a_lost_generation_publishes_it),
		TEST(test_publisher_that_lacked_an_entry_does_not_claim_to_have_seen_it),
		TEST(test_publisher_that_had_not_joined_the_head_does_not_claim_to_have_seen_it),
		TEST(test_next_generation_carries_on_what_its_parent_had_seen),
		TEST(test_newcomer_carries_on_what_the_generation_that_it_took_had_seen),
		TEST(test_node_carries_on_what_the_generation_that_it_opened_with_had_seen),
		TEST(test_publisher_that_read_on_in_the_new_log_says_where_it_left_the_lost_one),
		TEST(test_node_of_a_set_without_a_generation_keeps_its_keys_after_a_loss),
		TEST(test_two_losses_before_it_publishes_make_a_node_publish_anyway),
		TEST(test_two_losses_between_two_heartbeats_make_a_node_publish_anyway),
		TEST(test_generation_that_a_promoted_replica_lacks_is_published_again),
		TEST(test_generation_of_long_ago_is_not_lost),
		TEST(test_node_publishes_what_a_deleted_log_had_while_the_head_stays),
		TEST(test_entries_read_after_a_restart_count_as_read_of_the_second_epoch),
		TEST(test_crossing_into_an_epoch_that_is_known_is_no_loss),
		TEST(test_node_that_was_cut_off_during_a_loss_and_a_restart_publishes),
		TEST(test_entries_of_a_log_that_came_and_went_between_two_heartbeats_are_kept),
		TEST(test_generation_that_was_given_up_is_not_lost),
	};
	return cmocka_run_group_tests_name("replica_lost", tests, NULL, NULL);
}
