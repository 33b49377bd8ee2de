/* SPDX-License-Identifier: MIT
 * No fault may leave nodes stuck in silence: each node reports the fault, then recovers or
 * gives up. */
#include "pair.h"

/* Node 0 sends keys 2 to 4, each as an entry that no node has read. */
static void send_keys(size_t *entry_of_2)
{
	for (uint64_t i = 2; i < 5; i++) {
		assert_ok(insert(0, i));
		assert_ok(weir__node_touch(&node[0], false));
		if (i == 2)
			*entry_of_2 = toy.server[1].n - 1;
	}
}

static void assert_well(void)
{
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).state, WEIR_NODE_FOLLOWING);
		assert_int_equal(status(i).error, 0);
		assert_true(has(i, 1) && has(i, 2) && has(i, 3) && has(i, 4));
	}
}

/* [LOG-READING], [GIVE-UP]: another client or a later version wrote the entry, so no node can
 * answer the call. */
static void test_an_invalid_entry_is_given_up_once(void **state)
{
	size_t entry;
	(void)state;
	sit_both_with_key_1();
	send_keys(&entry);
	toy_spoil(&toy.server[1], entry);
	run(500);
	assert_true(status(1).lacks && status(1).error == -EBADMSG);
	assert_true(has(1, 3) && has(1, 4));
	run(20000);
	assert_well();
	const uint64_t given_up = status(0).given_up + status(1).given_up;
	assert_true(given_up);
	assert_ok(insert(1, 5));
	run(20000);
	assert_true(has(0, 5));
	assert_int_equal(status(0).given_up + status(1).given_up, given_up);
}

/* [HEAD-JOIN], [NEW-ERA]: the rollback returns to a generation whose position is before the invalid
 * entry. */
static void roll_back_past_an_entry_that_does_not_read(bool given_up)
{
	struct weir_record r;
	size_t entry;
	sit_both_with_key_1();
	const struct weir_manifest kept = *toy_head(&toy.server[1]);
	send_keys(&entry);
	node[0].publish_asked = true;
	run(1000);
	assert_well();
	toy_spoil(&toy.server[1], entry);
	if (given_up)
		assert_ok(weir__node_touch(&node[0], true));
	run(1000);
	assert_ok(weir__node_record(&node[0], &r, &kept));
	assert_ok(weir__node_publish_record(&node[0], &r, NULL));
	run(1000);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).joined.era, 2);
		assert_true(has(i, 2) && has(i, 3) && has(i, 4));
	}
	run(20000);
	assert_well();
	assert_true(toy_head_image(&toy.server[1]));
	for (uint64_t i = 1; i < 5; i++)
		assert_true(weir_contains_u64(toy_head_image(&toy.server[1]), i));
}

static void test_a_rollback_past_an_invalid_entry_keeps_the_set(void **state)
{
	(void)state;
	roll_back_past_an_entry_that_does_not_read(false);
}

static void test_a_rollback_past_a_given_up_entry_keeps_the_set(void **state)
{
	(void)state;
	roll_back_past_an_entry_that_does_not_read(true);
}

/* Only the reads of node 1 fail, as if it had no permission to read. A replica uses synced_at to
 * tell if it is complete. */
static void test_a_heartbeat_alone_does_not_make_a_node_complete(void **state)
{
	(void)state;
	sit_both_with_key_1();
	assert_true(node[1].synced_at + 1000 >= toy.clock);
	toy.stores[1].no_read = true;
	const uint64_t from = toy.clock;
	run(5000);
	assert_true(node[1].answered_at + 1000 >= toy.clock && node[1].synced_at <= from);
	toy.stores[1].no_read = false;
	run(1000);
	assert_true(node[1].synced_at + 1000 >= toy.clock);
}

static void open_30_s_after(uint64_t signed_ms)
{
	sit(0, 1 << 20, true);
	run(1000);
	const uint64_t published = toy_head(&toy.server[1])->signed_ms;
	assert_in_range(published, 1000, 2000);
	assert_ok(insert(0, 1));
	run((unsigned)(published + 30000 - toy.clock));
	struct weir_manifest m = *toy_head(&toy.server[1]);
	m.signed_ms = signed_ms ? signed_ms : published;
	sit(1, 1 << 20, true);
	weir__node_start(&node[1], &m);
	node[1].publish_ms = 60000;
}

static void test_a_node_that_opens_publishes_when_the_last_generation_is_old_enough(void **state)
{
	(void)state;
	open_30_s_after(0);
	run(29000);
	assert_int_equal(status(1).joined.number, 1);
	assert_int_equal(status(1).state, WEIR_NODE_FOLLOWING);
	run(2000);
	assert_int_equal(status(1).joined.number, 2);
}

static void test_a_generation_of_the_future_counts_from_the_opening(void **state)
{
	(void)state;
	open_30_s_after(UINT64_MAX);
	run(59000);
	assert_int_equal(status(1).joined.number, 1);
	run(2000);
	assert_int_equal(status(1).joined.number, 2);
}

/* Node 0 has key 2, and node 1 lacks it. */
static void make_lack(void)
{
	sit_both_with_key_1();
	for (uint64_t i = 2; i < 4; i++) {
		assert_ok(insert(0, i));
		(void)weir__node_round(&node[0], toy.clock += 20);
		if (i == 2)
			toy_delete(&toy.server[1], toy.server[1].n - 1);
	}
	run_from(1, 1000);
	assert_true(status(1).lacks && node[1].first_call);
}

/* [GIVE-UP]: the upload of an image may take more than 10 s. */
static void test_an_answer_that_is_being_uploaded_is_waited_for(void **state)
{
	(void)state;
	make_lack();
	for (toy.slow = 1000; status(0).state != WEIR_NODE_PUBLISHING;)
		run(20);
	toy.slow = 0;
	toy.stores[0].remaining = 30 * 50; /* 1,500 calls, which take 30 s */
	run(25000);
	assert_true(status(1).lacks && status(0).state == WEIR_NODE_PUBLISHING);
	run(8000);
	assert_true(!status(1).lacks && has(1, 2));
	assert_int_equal(status(0).given_up + status(1).given_up, 0);
}

/* [GIVE-UP]: a client can write a lease that never ends. */
static void test_a_node_that_lacks_waits_10_minutes_for_a_lease(void **state)
{
	(void)state;
	make_lack();
	toy.server[1].holder = 99;
	toy.server[1].held_until = UINT64_MAX;
	run_from(1, 590000); /* node 0 is not running */
	assert_int_equal(status(1).given_up, 0);
	run_from(1, 12000);
	assert_int_equal(status(1).given_up, 1);
}

static int image_too_large(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	(void)context, (void)m, (void)out;
	return weir_fail(-EFBIG, "it is too large for this node");
}

/* No node can use the image of the head. Then FLUSHALL deletes the head. */
static void test_an_unusable_image_stops_publications_until_its_head_is_gone(void **state)
{
	struct weir_record r;
	(void)state;
	sit_both_with_key_1();
	int (*const real)(void *, const struct weir_manifest *, struct weir_filter **) =
		toy.stores[0].store.image;
	toy.stores[0].store.image = toy.stores[1].store.image = image_too_large;
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir__node_record(&node[0], &r, NULL));
	assert_ok(weir__node_publish_record(&node[0], &r, f));
	weir_destroy(f);
	run(20000);
	const uint64_t generations = status(0).generations + status(1).generations;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).error, -EFBIG);
		assert_int_equal(status(i).given_up, 0);
		toy.stores[i].store.image = real;
	}
	toy_flush(&toy.server[1]);
	run(3000);
	assert_true(status(0).generations + status(1).generations > generations);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).state, WEIR_NODE_FOLLOWING);
		assert_true(has(i, 1) && toy_head(&toy.server[1])->version.era == 1);
	}
}

static void set_version(uint64_t era, uint64_t number)
{
	struct weir_manifest *m = (struct weir_manifest *)(uintptr_t)toy_head(&toy.server[1]);
	m->version = toy.server[1].head.version = (struct weir_version){ era, number };
}

/* Another client may publish any version that a manifest can have. */
static void test_a_set_whose_numbers_are_used_up_goes_on_in_the_next_era(void **state)
{
	const uint64_t last = (UINT64_C(1) << 53) - 1;
	(void)state;
	sit_both_with_key_1();
	set_version(1, last);
	assert_ok(insert(1, 2));
	node[0].publish_asked = true;
	run(2000);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(status(i).state, WEIR_NODE_FOLLOWING);
		assert_true(status(i).joined.era == 2 && status(i).joined.number == 1);
		assert_true(has(i, 1) && has(i, 2));
	}
	set_version(last, last);
	run(2000);
	node[0].publish_asked = true;
	assert_ok(insert(1, 3));
	run(2000);
	assert_int_equal(status(0).error, -EOVERFLOW);
	assert_non_null(strstr(status(0).why, "another name"));
	assert_true(has(0, 3) && status(0).joined.number == last);
}

static int refuse_lease(void *context, uint64_t id, uint32_t milliseconds)
{
	(void)context, (void)id, (void)milliseconds;
	return weir_fail(-EACCES, "no permission");
}

/* [GIVE-UP]: an error says nothing about another node's upload. */
static void test_a_failing_lease_request_does_not_delay_giving_up(void **state)
{
	(void)state;
	make_lack();
	toy.stores[1].store.lease = refuse_lease;
	run_from(1, 8000); /* node 0 is not running */
	assert_int_equal(status(1).given_up, 0);
	run_from(1, 3000);
	assert_int_equal(status(1).given_up, 1);
}

/* [GIVE-UP]: giving up would begin an epoch, in which redis refuses the record. */
static void test_a_node_does_not_give_up_while_it_uploads_a_record(void **state)
{
	struct weir_record r;
	(void)state;
	make_lack();
	struct weir_filter *f = filter(WEIR_BLOCKED, 1000, 7);
	assert_ok(weir_insert_u64(f, 5));
	assert_ok(weir__node_record(&node[1], &r, NULL));
	toy.slow = 1000;
	do
		assert_int_equal(weir__node_publish_record(&node[1], &r, f), -EINPROGRESS);
	while (!toy.stores[1].remaining);
	toy.stores[1].remaining = 2000;
	for (unsigned i = 0; i < 20 * 50; i++) { /* 20 s; node 0 is not running */
		run_from(1, 20);
		assert_int_equal(weir__node_publish_record(&node[1], &r, f), -EINPROGRESS);
	}
	assert_int_equal(status(1).given_up, 0);
	toy.slow = toy.stores[1].remaining = 0;
	assert_ok(weir__node_publish_record(&node[1], &r, f));
	weir_destroy(f);
	run_from(1, 1000);
	assert_true(has(1, 5) && !status(1).lacks && status(1).joined.era == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_invalid_entry_is_given_up_once),
		TEST(test_a_rollback_past_an_invalid_entry_keeps_the_set),
		TEST(test_a_rollback_past_a_given_up_entry_keeps_the_set),
		TEST(test_a_heartbeat_alone_does_not_make_a_node_complete),
		TEST(test_a_node_that_opens_publishes_when_the_last_generation_is_old_enough),
		TEST(test_a_generation_of_the_future_counts_from_the_opening),
		TEST(test_an_answer_that_is_being_uploaded_is_waited_for),
		TEST(test_a_node_that_lacks_waits_10_minutes_for_a_lease),
		TEST(test_an_unusable_image_stops_publications_until_its_head_is_gone),
		TEST(test_a_set_whose_numbers_are_used_up_goes_on_in_the_next_era),
		TEST(test_a_failing_lease_request_does_not_delay_giving_up),
		TEST(test_a_node_does_not_give_up_while_it_uploads_a_record),
	};
	return cmocka_run_group_tests_name("replica_stuck", tests, NULL, NULL);
}
