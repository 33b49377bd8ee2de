/* SPDX-License-Identifier: MIT
 * The head in redis is unusable or too old: calls do not hang, and return an error with a sentence.
 * A signer may publish above the version that its machine accepted. */
#include "signed.h"

static int open_wrong(const struct weir_replica_options *o)
{
	struct weir_replica *r = NULL;
	int err = weir_replica_open(&r, o);
	assert_null(r);
	return err;
}

/* A node publishes 1.2. Then the head from before 1.2 is put back, and another node publishes a
 * second 1.2. */
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

/* Without trusted_keys the node would sign an image that any client may have written. */
static void test_a_secret_key_needs_trusted_keys(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	o.trusted_keys = o.state_file = NULL;
	assert_refused(open_wrong(&o), -EINVAL, "secret_key without trusted_keys: this node would "
	               "sign whatever redis has", "give the public key as trusted_keys");
	o = signer();
	o.secret_key = "/no/such";
	assert_refused(open_wrong(&o), -ENOENT, "/no/such", "");
}

/* ---- an old dump is put back ---- */

/* Restore 1.2, which has key 1, over 1.3, which also has key 2. The state file has version 1.3. */
static void put_back(const struct weir_replica_options *o)
{
	struct weir_replica *a = open_with(o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_publish(a));
	ask(&server, NULL, "COPY {weir:test}:2:head old");
	assert_ok(insert(a, 2, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
	ask(&server, NULL, "COPY old {weir:test}:2:head REPLACE");
	ask(&server, NULL, "DEL {weir:test}:2:log");
}

static struct weir_filter *own(uint64_t key)
{
	struct weir_filter *f;
	assert_ok(weir_create(&f, &params));
	assert_ok(weir_insert_u64(f, key));
	return f;
}

static struct weir_replica *open_own(struct weir_replica_options *o)
{
	assert_ok(weir_handle_create(&o->handle, own(3), NULL));
	return open_with(o);
}

static void test_a_signer_publishes_above_the_version_that_it_took(void **state)
{
	(void)state;
	struct weir_replica_options o = signer(), f = follower();
	params.seed = 7;
	put_back(&o);
	assert_refused(open_wrong(&o), -EKEYREJECTED, "1.2 of set test is older than 1.3", "");
	struct weir_replica *a = open_own(&o);
	struct weir_filter *more = own(4);
	assert_ok(weir_replica_publish_with(a, more));
	weir_destroy(more);
	struct weir_replica *b = open_with(&f);
	assert_int_equal(stats(b).joined.number, 4);
	assert_true(has(b, 1) && has(b, 4)); /* key 1 came from redis, key 4 from `more` */
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
	o.handle = NULL;
	assert_ok(weir_replica_close(open_with(&o)));
}

static void test_a_signer_publishes_above_another_generation_of_that_version(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	params.seed = 7;
	make_twin();
	struct weir_replica *a = open_own(&o);
	struct weir_filter *more = own(4);
	assert_ok(weir_replica_publish_with(a, more));
	weir_destroy(more);
	assert_int_equal(stats(a).joined.number, 3);
	assert_true(has(a, 4));
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
	o.handle = NULL;
	assert_ok(weir_replica_close(open_with(&o)));
}

static int make(void *context, struct weir_filter **out)
{
	*out = own(*(const uint64_t *)context);
	return 0;
}

/* A signer that published an older era would bring back keys that the newer era removed. */
static void test_a_signer_puts_no_older_era_above_the_one_that_it_took(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	uint64_t key = 5;
	params.seed = 7;
	struct weir_replica *a = open_with(&o);
	assert_ok(weir_replica_publish_from(a, make, &key));
	assert_ok(weir_replica_close(a));
	struct weir_replica_options f = follower();
	f.secret_key = secret_file;
	ask(&server, NULL, "DEL {weir:test}:2:head {weir:test}:2:log");
	assert_ok(weir_replica_close(open_with(&f))); /* version 1.1, with another state file */
	a = open_own(&o);
	struct weir_filter *more = own(4);
	assert_refused(weir_replica_publish_with(a, more), -EKEYREJECTED,
	               "1.1, of an earlier era than 2.1 here", "publish --replace");
	weir_destroy(more);
	assert_ok(weir_replica_publish_from(a, make, &key));
	assert_int_equal(stats(a).joined.era, 3);
	assert_true(has(a, 5) && !has(a, 4));
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
}

/* ---- a client that writes to redis ---- */

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
	ask(&server, NULL, "DEL {weir:test}:2:head"); /* the remedy in the error sentence */
	struct weir_replica *b = open_with(&o);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_open_fails_at_another_generation_of_the_version_taken),
		OF(test_a_secret_key_needs_trusted_keys),
		OF(test_a_signer_publishes_above_the_version_that_it_took),
		OF(test_a_signer_publishes_above_another_generation_of_that_version),
		OF(test_a_signer_puts_no_older_era_above_the_one_that_it_took),
		OF(test_open_and_publish_end_at_a_head_that_names_another_generation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
