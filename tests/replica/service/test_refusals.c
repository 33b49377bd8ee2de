/* SPDX-License-Identifier: MIT
 * A redis whose head is of no use: each call ends with a sentence, and none waits for ever. */
#include "signed.h"

static int open_wrong(const struct weir_replica_options *o)
{
	struct weir_replica *r = NULL;
	int err = weir_replica_open(&r, o);
	assert_null(r);
	return err;
}

/* A dump of before 1.2 came back, and another node published 1.2 again. */
static void make_twin(void)
{
	struct weir_replica_options o = signer(), f = follower();
	struct weir_replica *a = open_with(&o);
	ask(&server, NULL, "COPY {weir:test}:2:head old");
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
	ask(&server, NULL, "COPY old {weir:test}:2:head REPLACE");
	f.secret_key = secret_file;
	a = open_with(&f);
	assert_ok(weir_replica_publish(a));
	assert_int_equal(stats(a).joined.number, 2);
	assert_ok(weir_replica_close(a));
}

static void test_open_fails_at_another_generation_of_the_version_taken(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	make_twin();
	assert_refused(open_wrong(&o), -EKEYREJECTED, "version 1.2 of set test exists twice",
	               "publish a newer one with the secret key, or give another state file");
}

static void test_open_and_publish_end_at_a_head_that_names_another_generation(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	struct weir_replica *a = open_with(&o);
	ask(&server, NULL, "HSET {weir:test}:2:head generation 00000000000000ff");
	assert_refused(open_wrong(&o), -EBADMSG, "names generation 00000000000000ff",
	               "redis-cli HSET '{weir:test}:2:head' generation");
	eventually(has_heard(-EBADMSG, "names generation 00000000000000ff"));
	assert_refused(weir_replica_publish(a), -EBADMSG, "names generation", "HSET");
	ask(&server, NULL, "HDEL {weir:test}:2:head manifest");
	eventually(has_heard(-EBADMSG, "has no manifest"));
	ask(&server, NULL, "DEL {weir:test}:2:head"); /* as it says */
	struct weir_replica *b = open_with(&o);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_open_fails_at_another_generation_of_the_version_taken),
		OF(test_open_and_publish_end_at_a_head_that_names_another_generation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
