/* SPDX-License-Identifier: MIT
 * Which set does a node open with, and what does it leave behind when it is closed? */
#include "service.h"

static void test_open_begins_a_set_and_another_node_joins_it(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_int_equal(stats(a).joined.era, 1);
	assert_int_equal(stats(a).joined.number, 1);
	eventually(has_heard(0, "it begins here, empty"));
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_NEW);
	struct weir_replica *b = open_one();
	assert_true(has(b, 1)); /* all that redis had */
	assert_int_equal(insert(b, 2, WEIR_REPLICA_SOON), WEIR_NEW);
	eventually(has(a, 2));
	assert_true(stats(b).complete && stats(b).state == WEIR_REPLICA_FOLLOWING);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:nodes"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_open_begins_a_set_and_another_node_joins_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
