/* SPDX-License-Identifier: MIT
 * A set on a real server: its status, kept generations and replicas, and the removal of a set. */
#include "generations.h"

static void test_status_is_of_one_moment_and_has_everything(void **state)
{
	struct node n;
	static struct weir_redis_status s;
	struct weir_manifest m;
	(void)state;
	node_open(&n, &server);
	assert_ok(weir__redis_status(n.redis, &s));
	assert_true(s.head.mark == 0 && s.len == 0 && s.entries == 0 && s.kept == 0);
	append(&n, 5);
	m = generation(&n, 0, 1000, 20000);
	assert_ok(n.store->lease(n.store->context, n.id, 60000));
	ask(&server, NULL, "CONFIG SET maxmemory 1000000000");
	assert_ok(weir__redis_status(n.redis, &s));
	assert_true(s.head.mark == n.head.mark && s.head.tag == n.head.tag &&
	            weir__log_id_compare(s.head.last, n.head.last) == 0);
	assert_true(s.head.version.number == 1 && s.head.generation == m.id);
	assert_true(s.entries == 2 && s.kept == 1 && s.nodes == 1 && s.lease == n.id);
	assert_true(s.used > 100000 && s.max_memory == 1000000000);
	assert_true(s.head.now_ms >= n.head.now_ms / 1000 * 1000);
	assert_string_equal(s.policy, "noeviction");
	struct weir_manifest read;
	assert_ok(weir__manifest_read(&read, s.text, s.len));
	assert_true(read.id == m.id);
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	node_close(&n);
}

/* Operators check the status of a full server, but redis refuses MULTI above maxmemory. */
static void test_a_server_above_maxmemory_tells_its_status(void **state)
{
	struct node n;
	static struct weir_redis_status s;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	ask(&server, NULL, "CONFIG SET maxmemory 100000");
	assert_ok(weir__redis_status(n.redis, &s));
	assert_int_equal(s.entries, 2);
	assert_int_equal(s.max_memory, 100000);
	assert_true(s.used > 100000 && s.head.now_ms % 1000000 > 0);
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	node_close(&n);
}

static void test_a_refused_status(void **state)
{
	struct node n;
	static struct weir_redis_status s;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	ask(&server, NULL, "ACL SETUSER default -xlen");
	assert_refused(weir__redis_status(n.redis, &s), -EACCES, "ACL rules", "NOPERM");
	append(&n, 2);
	assert_int_equal(n.head.last.n, 3);
	ask(&server, NULL, "ACL SETUSER default +@all");
	ask(&server, NULL, "SET {weir:test}:2:kept x");
	assert_refused(weir__redis_status(n.redis, &s), -EBADMSG, "is not weir's: UNLINK it",
	               "WRONGTYPE");
	node_close(&n);
}

/* src/replica/README.md recommends these rules. Weir needs no other permission. */
static void test_these_acl_rules_are_enough(void **state)
{
	struct node n;
	struct weir_manifest m;
	struct weir_filter *f;
	static struct weir_redis_status s;
	uint64_t removed;
	(void)state;
	node_open(&n, &server);
	ask(&server, NULL, "ACL SETUSER default resetkeys ~{weir:test}:2:* -@all +acl +evalsha "
	    "+eval +script|load +info +time +exists +get +set +strlen +expire +persist +unlink "
	    "+hmget +hset +hdel +hlen +hexists +hgetall +xadd +xrange +xtrim +xlen "
	    "+xinfo|stream +wait +scan");
	append(&n, 3);
	m = generation(&n, 0, 1000, 20000);
	generation(&n, 1000, 1000, 20000);
	generation(&n, 2000, 1000, 20000);
	assert_ok(n.store->manifest(n.store->context, &m));
	assert_ok(fetch(&n, &m, &f));
	weir_destroy(f);
	assert_ok(n.store->lease(n.store->context, n.id, 1000));
	assert_ok(n.store->lease(n.store->context, n.id, 1000));
	assert_ok(weir__redis_status(n.redis, &s));
	assert_int_equal(weir__redis_wait(n.redis, 1, 1), -EAGAIN);
	assert_ok(weir__redis_unlink(n.redis, &removed));
	ask(&server, NULL, "ACL SETUSER default allkeys +@all");
	node_close(&n);
}

struct reports {
	unsigned n;
	uint64_t node, ms;
	char text[64];
};

static int note(void *context, uint64_t node, uint64_t ms, const char *report, size_t len)
{
	struct reports *r = context;
	r->n++;
	r->node = node;
	r->ms = ms;
	snprintf(r->text, sizeof r->text, "%.*s", (int)len, report);
	return r->n == 2 ? -ECANCELED : 0;
}

static void test_reports_are_passed_and_invalid_ones_skipped(void **state)
{
	struct node n;
	struct reports r = { 0 };
	(void)state;
	node_open(&n, &server);
	beat(&n);
	ask(&server, NULL, "HSET {weir:test}:2:nodes x 1 00000000000000ff x");
	assert_ok(weir__redis_reports(n.redis, note, &r));
	assert_true(r.n == 1 && r.node == n.id && r.ms == n.head.now_ms);
	assert_string_equal(r.text, "well");
	ask(&server, NULL, "HSET {weir:test}:2:nodes 00000000000000fe %b", "7 a b", (size_t)5);
	r.n = 0;
	assert_int_equal(weir__redis_reports(n.redis, note, &r), -ECANCELED);
	node_close(&n);
}

/* The publication must not trim the log to the invalid position: redis would refuse the trim after
 * the head has changed. */
static void test_a_kept_position_that_is_no_id_stops_no_publication(void **state)
{
	static const char *const positions[] = {
		"0-99999999999999999999999999", "0-18446744073709551616", "18446744073709551616-1",
	};
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	generation(&n, 0, 1000, 20000);
	for (unsigned i = 0; i < COUNT_OF(positions); i++) {
		char text[128];
		snprintf(text, sizeof text, "\nposition %s 00\nimage ab 1 1\n", positions[i]);
		ask(&server, NULL, "HSET {weir:test}:2:kept 1.%u %s", 1 + i, text);
		generation(&n, 1000 * (i + 1), 1000, 20000);
		assert_int_equal(ask(&server, NULL, "HEXISTS {weir:test}:2:kept 1.%u", 1 + i), 0);
	}
	node_close(&n);
}

static void test_everything_of_a_set_is_removed_and_nothing_else(void **state)
{
	struct node n;
	uint64_t removed;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	struct weir_manifest m = generation(&n, 0, 1000, 1500000);
	ask(&server, NULL, "SET {weir:test2}:2:head x");
	ask(&server, NULL, "SET {weir:test}:3:head x");
	for (unsigned i = 0; i < 2000; i++)
		ask(&server, NULL, "SET {weir:test}:2:img:%u x", i);
	assert_ok(weir__redis_unlink(n.redis, &removed));
	assert_int_equal(removed, 3 + m.chunks + 2000); /* the count excludes the log */
	assert_int_equal(ask(&server, NULL, "DBSIZE"), 2);
	node_close(&n);
}

static void test_wait_says_how_many_replicas_have_it(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	assert_ok(weir__redis_wait(n.redis, 0, 0));
	assert_refused(weir__redis_wait(n.redis, 1, 10), -EAGAIN, "0 of 1 replicas", "10 ms");
	node_close(&n);
}

/* ---- a replica, wrong options, and a generation signed again ---- */

static void wait_replicas(struct node *n, uint32_t wanted)
{
	while (beat(n)->replicas != wanted)
		usleep(10000);
}

static void test_the_most_replicas_are_remembered_also_over_a_restart_of_the_master(void **state)
{
	struct node n = { .id = 0 };
	struct server replica;
	struct weir_redis_options o = node_options(&server, &n);
	(void)state;
	o.grace_ms = 3600000;
	node_open_with(&n, &o);
	beat(&n);
	assert_int_equal(n.head.replicas, 0);
	char of[4096];
	server_begin(&replica, "--repl-diskless-sync-delay", "0");
	ask(&server, NULL, "CONFIG SET repl-diskless-sync-delay 0");
	ask(&replica, NULL, "REPLICAOF 127.0.0.1 %u", give_port(&server));
	wait_replicas(&n, 1);
	append(&n, 1);
	while (weir__redis_wait(n.redis, 1, 1000) != 0)
		; /* until the replica has the existing data */
	/* A replica refuses a heartbeat. */
	struct node at_replica;
	node_open(&at_replica, &replica);
	const struct weir_touch t = { .node = 1 };
	while (ask(&replica, NULL, "EXISTS {weir:test}:2:head") != 1)
		usleep(10000);
	assert_refused(at_replica.store->touch(at_replica.store->context, &t, &at_replica.head),
	               -EAGAIN, "name the master", "READONLY");
	node_close(&at_replica);
	server_end(&replica);
	while (ask(&server, of, "INFO replication"), !strstr(of, "connected_slaves:0"))
		usleep(10000);
	assert_int_equal(beat(&n)->replicas, 1);
	char wanted[32]; /* a touch that counts fewer replicas keeps `seen` */
	snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)n.head.now_ms - 5000);
	ask(&server, NULL, "HSET {weir:test}:2:head seen %s", wanted);
	assert_int_equal(beat(&n)->replicas, 1);
	ask(&server, of, "HGET {weir:test}:2:head seen");
	assert_string_equal(of, wanted);
	/* After a restart the server has another run id, and the last heartbeat is long ago. */
	ask(&server, NULL, "HSET {weir:test}:2:head run 0 seen 1");
	assert_int_equal(beat(&n)->replicas, 1);
	ask(&server, NULL, "HSET {weir:test}:2:head seen 1"); /* the last count is long ago */
	assert_int_equal(beat(&n)->replicas, 0);
	node_close(&n);
}

static void test_options_that_cannot_be_are_refused(void **state)
{
	struct node n;
	struct weir_redis *r;
	struct weir_redis_options o = node_options(&server, &n);
	(void)state;
	o.set = "a b";
	assert_refused(weir__redis_open(&r, &o), -EINVAL, "\"a b\"", "letters");
	o = node_options(&server, &n);
	o.keep = 0;
	assert_refused(weir__redis_open(&r, &o), -EINVAL, "keep", "above 0");
	o = node_options(&server, &n);
	o.max_image_bytes = 0;
	assert_refused(weir__redis_open(&r, &o), -EINVAL, "max_image_bytes", "above 0");
	weir__redis_close(NULL);
}

/* A generation that is signed again must not take a second slot, which would push the previous
 * generation out of the kept generations. */
static void test_a_generation_signed_again_uses_no_slot(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	generation(&n, 0, 1000, 20000);
	append(&n, 1);
	struct weir_manifest m = generation(&n, 5000, 1000, 20000);
	for (unsigned i = 0; i < 2; i++) {
		m.version.number++;
		assert_ok(weir__draw(&m.id));
		assert_ok(publish(&n, &m));
		beat(&n);
	}
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:kept"), 2);
	assert_int_equal(ask(&server, NULL, "HEXISTS {weir:test}:2:kept 1.1"), 1);
	assert_int_equal(ask(&server, NULL, "HEXISTS {weir:test}:2:kept 1.4"), 1);
	node_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_status_is_of_one_moment_and_has_everything),
		TEST(test_a_server_above_maxmemory_tells_its_status),
		TEST(test_a_refused_status),
		TEST(test_these_acl_rules_are_enough),
		TEST(test_reports_are_passed_and_invalid_ones_skipped),
		TEST(test_a_generation_signed_again_uses_no_slot),
		TEST(test_a_kept_position_that_is_no_id_stops_no_publication),
		TEST(test_everything_of_a_set_is_removed_and_nothing_else),
		TEST(test_wait_says_how_many_replicas_have_it),
		TEST(test_the_most_replicas_are_remembered_also_over_a_restart_of_the_master),
		TEST(test_options_that_cannot_be_are_refused),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
