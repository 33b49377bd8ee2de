/* SPDX-License-Identifier: MIT
 * Another client writes log ids above those that nodes accept. Each node reports the remedy, loses
 * no key, and continues after the remedy. */
#include "service.h"

static bool says_what_to_do(const struct weir_replica *r)
{
	const struct weir_replica_stats s = stats(r);
	return s.state == WEIR_REPLICA_OFFLINE && strstr(s.error, "UNLINK {weir:test}:2:log");
}

static void test_a_log_with_the_highest_id_is_refused_until_it_is_deleted(void **state)
{
	static const char *const ids[] = { "9007199254740993-5",
		"18446744073709551615-18446744073709551615" };
	struct weir_replica_options o = options();
	(void)state;
	o.confirm_ms = 700;
	for (unsigned i = 0; i < COUNT_OF(ids); i++) {
		ask(&server, NULL, "FLUSHALL");
		struct weir_replica *a = open_with(&o), *b = open_with(&o);
		assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
		ask(&server, NULL, "XADD {weir:test}:2:log %s t 00000000000000ff", ids[i]);
		eventually(says_what_to_do(a) && says_what_to_do(b));
		assert_int_equal(insert(a, 2, WEIR_REPLICA_CONFIRMED), -ETIMEDOUT);
		assert_true(has(a, 2) && says_what_to_do(a));
		ask(&server, NULL, "UNLINK {weir:test}:2:log");
		assert_ok(weir_replica_flush(a, 20000));
		eventually(has(b, 1) && has(b, 2) && stats(a).complete && stats(b).complete);
		assert_ok(weir_replica_close(b));
		b = open_with(&o);
		assert_true(has(b, 1) && has(b, 2));
		assert_ok(weir_replica_close(b));
		assert_ok(weir_replica_close(a));
	}
}

static bool is_in_epoch(const char *epoch)
{
	char last[4096];
	ask(&server, last, "HGET {weir:test}:2:head last");
	return strncmp(last, epoch, strlen(epoch)) == 0 && last[strlen(epoch)] == '-';
}

/* Another client moves the set to the highest epochs. The epoch after the highest epoch is 1. */
static void test_a_node_that_saw_the_last_epoch_begins_with_the_first(void **state)
{
	static const char *const epochs[] = { "9007199254739998", "9007199254739999", "1" };
	(void)state;
	struct weir_replica *a = open_one(), *b = open_one();
	assert_ok(insert(a, 0, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_publish(a));
	ask(&server, NULL, "HSET {weir:test}:2:head last 9007199254739997-1");
	for (uint64_t i = 0; i < COUNT_OF(epochs); i++) {
		ask(&server, NULL, i ? "UNLINK {weir:test}:2:log {weir:test}:2:head" :
		                       "UNLINK {weir:test}:2:log");
		assert_ok(insert(a, 1 + i, WEIR_REPLICA_CONFIRMED));
		assert_true(is_in_epoch(epochs[i]));
		eventually(has(b, 1 + i) && stats(a).newest.era && stats(a).complete &&
		           stats(b).complete);
	}
	assert_ok(insert(b, 4, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_close(b));
	b = open_one();
	for (uint64_t i = 0; i < 5; i++)
		assert_true(has(b, i));
	eventually(has(a, 4));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_log_with_the_highest_id_is_refused_until_it_is_deleted, begin, end),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_saw_the_last_epoch_begins_with_the_first, begin, end),
	};
	return cmocka_run_group_tests_name("replica_ids", tests, NULL, NULL);
}
