/* SPDX-License-Identifier: MIT
 * A node reports a redis whose answers contradict each other. */
#include "pair.h"

/* A client changed the generation's id in the head. */
static void test_a_head_that_names_another_generation_is_reported(void **state)
{
	(void)state;
	sit_both_with_key_1();
	struct weir_head *head = &toy.server[1].head;
	const uint64_t generation = head->generation;
	head->generation = 0xff;
	run(4000);
	assert_int_equal(status(1).error, 0); /* the manifest may be about to change */
	run(3000);
	assert_int_equal(status(0).error, -EBADMSG);
	assert_non_null(strstr(status(1).why, "names generation 00000000000000ff"));
	assert_non_null(strstr(status(1).why, "redis-cli HSET '{weir:toy}:2:head' generation"));
	head->generation = generation;
	run(3000);
	assert_int_equal(status(0).error, 0);
	assert_int_equal(status(1).error, 0);
}

static int say_stale(void *context, const struct weir_publication *p)
{
	(void)context, (void)p;
	return weir_fail(-ESTALE, "redis is in another epoch");
}

/* Redis refuses each publication as superseded, but the head is unchanged. */
static void test_a_redis_that_refuses_every_generation_is_reported(void **state)
{
	(void)state;
	sit_both_with_key_1();
	struct weir_store *store = &toy.stores[0].store;
	int (*const publish)(void *, const struct weir_publication *) = store->publish;
	store->publish = say_stale;
	node[0].publish_asked = true;
	run(5000);
	assert_int_equal(node[0].publish_error, 0);
	run(12000);
	assert_int_equal(node[0].publish_error, -EAGAIN);
	assert_int_equal(status(0).error, -EAGAIN);
	assert_non_null(strstr(status(0).why, "above 1.1 as if another had come first"));
	store->publish = publish;
	run(10000);
	assert_int_equal(status(0).error, 0);
	assert_int_equal(status(1).joined.number, 2);
	assert_true(has(1, 1));
}

/* Node 1 really publishes 1.2. So the time limit starts again, with the first refusal of a
 * generation above 1.2. */
static void test_a_refusal_over_another_head_is_another_refusal(void **state)
{
	(void)state;
	sit_both_with_key_1();
	struct weir_store *store = &toy.stores[0].store;
	int (*const publish)(void *, const struct weir_publication *) = store->publish;
	store->publish = say_stale;
	node[0].publish_asked = true;
	run(6000);
	node[1].publish_asked = true;
	run_from(1, 1000);
	assert_int_equal(status(1).joined.number, 2);
	run(6000);
	assert_true(node[0].superseded && status(0).joined.number == 2);
	assert_int_equal(status(0).error, 0);
	run(6000);
	assert_int_equal(status(0).error, -EAGAIN);
	assert_non_null(strstr(status(0).why, "above 1.2 as if another had come first"));
	store->publish = publish;
	run(10000);
	assert_int_equal(status(0).joined.number, 3);
	assert_int_equal(node[0].superseded, 0); /* a success resets the count */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_head_that_names_another_generation_is_reported),
		TEST(test_a_redis_that_refuses_every_generation_is_reported),
		TEST(test_a_refusal_over_another_head_is_another_refusal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
