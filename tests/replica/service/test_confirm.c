/* SPDX-License-Identifier: MIT
 * When an insert is confirmed, and which error an unconfirmed insert returns. */
#include "service.h"

static struct server replica;
static char both[64]; /* the URL of both servers */

/* Make @s a replica of @master and wait until it is online. */
static void replicate(struct server *s, struct server *master, unsigned port)
{
	char info[4096];
	ask(master, NULL, "CONFIG SET repl-diskless-sync-delay 0");
	ask(s, NULL, "REPLICAOF 127.0.0.1 %u", port);
	do
		ask(master, info, "INFO replication");
	while (!strstr(info, "state=online"));
}

/* Return: the replica's port. */
static unsigned replica_begin(void)
{
	server_begin(&replica, NULL, NULL);
	const unsigned of[] = { give_port(&server), give_port(&replica) };
	replicate(&replica, &server, of[0]);
	snprintf(both, sizeof both, "redis://127.0.0.1:%u,127.0.0.1:%u", of[0], of[1]);
	return of[1];
}

static void test_confirmed_needs_no_replica_where_there_is_none(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_NEW);
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_SEEN);
	assert_true(ask(&server, NULL, "XLEN {weir:test}:2:log") >= 3);
	assert_refused(insert(a, 1, 7), -EINVAL, "wait", "7");
	assert_refused(weir_replica_insert_keys(a, (struct weir_keys){ .n = 1 }, NULL, 0), -EINVAL,
	               "", "");
	assert_ok(weir_replica_close(a));
}

/* A stopped replica is connected but receives nothing. */
static void test_confirmed_waits_for_the_replica(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	replica_begin();
	o.confirm_ms = 700;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	assert_true(ask(&replica, NULL, "XLEN {weir:test}:2:log") >= 3);
	assert_ok(weir_replica_close(a));
	o.confirm_replicas = 2;
	a = open_with(&o);
	assert_refused(insert(a, 4, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed within 700 ms",
	               "1 of 2 replicas");
	assert_ok(weir_replica_close(a));

	o.confirm_replicas = WEIR_REPLICAS_ALL;
	a = open_with(&o);
	kill(replica.pid, SIGSTOP);
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed within 700 ms",
	               "0 of 1 replicas");
	assert_true(has(a, 2));
	assert_ok(weir_replica_close(a)); /* the master has the key, so the close succeeds */

	o.confirm_replicas = WEIR_REPLICAS_NONE;
	a = open_with(&o);
	assert_ok(insert(a, 3, WEIR_REPLICA_CONFIRMED));
	kill(replica.pid, SIGCONT);
	assert_ok(weir_replica_close(a));
	server_end(&replica);
}

/* [CONFIRMED]. A WAIT on a new connection covers only writes of that connection. */
static void test_a_new_connection_confirms_nothing_of_the_old_one(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	replica_begin();
	o.confirm_ms = 700;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	kill(replica.pid, SIGSTOP);
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed", "0 of 1");
	ask(&server, NULL, "CLIENT KILL TYPE normal SKIPME yes");
	assert_refused(weir_replica_flush(a, 700), -EAGAIN, "not confirmed", "0 of 1");
	kill(replica.pid, SIGCONT);
	assert_ok(weir_replica_flush(a, 10000));
	assert_ok(weir_replica_close(a));
	server_end(&replica);
}

/* [CONFIRMED]. The server accepts the insert and is killed before the insert is confirmed. The
 * node sends the lost insert again to the restarted, empty server. Only then can the insert be
 * confirmed. */
static void test_an_epoch_that_ends_confirms_nothing(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	replica_begin();
	o.confirm_ms = 700;
	o.replica_grace_ms = 1000;
	struct weir_replica *a = open_with(&o);
	kill(replica.pid, SIGSTOP);
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed", "0 of 1");
	server_kill(&server);
	assert_refused(weir_replica_flush(a, 500), -ETIMEDOUT, "not confirmed within 500 ms",
	               "unix");
	server_start(&server, NULL, NULL); /* the server is empty now */
	assert_ok(weir_replica_flush(a, 20000));
	struct weir_replica *b = open_one();
	assert_true(has(b, 2));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
	kill(replica.pid, SIGCONT);
	server_end(&replica);
}

/* The head still has the old master's number of replicas, 1. The promoted server was this replica,
 * so the node needs no replica. */
static void test_a_promoted_replica_is_not_waited_for(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	replica_begin();
	o.url = both;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	server_kill(&server);
	ask(&replica, NULL, "REPLICAOF NO ONE");
	/* The insert is confirmed long before the grace period ends. */
	assert_ok(insert(a, 2, WEIR_REPLICA_CONFIRMED));
	assert_true(ask(&replica, NULL, "HGET {weir:test}:2:head replicas") == 1);
	assert_ok(weir_replica_close(a));
	server_end(&replica);
	server_start(&server, NULL, NULL);
}

/* The replica is promoted, and the old master becomes its replica. An insert
 * @seconds later waits for the old master. */
static void wait_for_the_old_master(const struct weir_replica_options *given, unsigned seconds)
{
	struct weir_replica_options o = *given;
	const unsigned port = replica_begin();
	o.url = both;
	o.confirm_ms = 3000;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	server_kill(&server);
	ask(&replica, NULL, "REPLICAOF NO ONE");
	assert_ok(weir_replica_flush(a, 20000));
	server_start(&server, NULL, NULL);
	replicate(&server, &replica, port);
	sleep(seconds);
	assert_ok(weir_replica_flush(a, 20000));
	kill(server.pid, SIGSTOP);
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed",
	               "0 of 1 replicas");
	kill(server.pid, SIGCONT);
	assert_ok(weir_replica_flush(a, 20000));
	assert_ok(weir_replica_close(a));
	server_end(&replica);
}

/* After a planned failover the old master soon returns as a replica, perhaps without the key. */
static void test_a_confirmed_insert_waits_for_a_returned_master(void **state)
{
	const struct weir_replica_options o = options();
	(void)state;
	wait_for_the_old_master(&o, 0);
}

/* Another replica was connected recently, but is not yet connected to the new master. */
static void test_a_promoted_replica_does_not_stand_for_another(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	char text[4096];
	replica_begin();
	o.url = both;
	o.confirm_ms = 3000;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	ask(&server, NULL, "HSET {weir:test}:2:head replicas 2");
	do
		ask(&replica, text, "HGET {weir:test}:2:head replicas");
	while (text[0] != '2');
	const uint64_t failures = stats(a).failures;
	server_kill(&server);
	ask(&replica, NULL, "REPLICAOF NO ONE");
	eventually(stats(a).failures > failures && stats(a).state != WEIR_REPLICA_OFFLINE);
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "not confirmed",
	               "0 of 1 replicas");
	ask(&replica, NULL, "HSET {weir:test}:2:head seen 1"); /* the grace period has ended */
	assert_ok(weir_replica_flush(a, 20000));
	assert_ok(weir_replica_close(a));
	server_end(&replica);
	server_start(&server, NULL, NULL);
}

/* One replica fewer is enough until 3 s after the grace period, because redis has then counted its
 * replicas again. This insert comes 5 s after the failover, so it needs the old master. */
static void test_a_promoted_replica_is_one_fewer_for_the_grace_alone(void **state)
{
	struct weir_replica_options o = options();
	(void)state;
	o.replica_grace_ms = 1000;
	wait_for_the_old_master(&o, 5);
}

static void test_a_server_that_may_evict_confirms_nothing(void **state)
{
	(void)state;
	ask(&server, NULL, "CONFIG SET maxmemory 100mb");
	ask(&server, NULL, "CONFIG SET maxmemory-policy allkeys-lru");
	struct weir_replica *a = open_one();
	assert_refused(insert(a, 1, WEIR_REPLICA_CONFIRMED), -EAGAIN, "noeviction", "allkeys-lru");
	eventually(has_heard(-EAGAIN, "allkeys-lru"));
	assert_non_null(strstr(stats(a).error, "noeviction"));
	ask(&server, NULL, "CONFIG SET maxmemory-policy noeviction");
	/* a new connection checks the policy again */
	ask(&server, NULL, "CLIENT KILL TYPE normal SKIPME yes");
	eventually(has_heard(0, "all is well again"));
	assert_ok(insert(a, 2, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_close(a));
}

static void test_a_full_server_confirms_nothing_and_is_told_once(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.poll_ms = 5;
	struct weir_replica *a = open_with(&o);
	eventually(has_heard(0, "begins here"));
	ask(&server, NULL, "CONFIG SET maxmemory 3mb"); /* less than the reserve for an image */
	assert_refused(insert(a, 1, WEIR_REPLICA_CONFIRMED), -EAGAIN, "full", "maxmemory");
	eventually(has_heard(-ENOSPC, "full"));
	assert_refused(insert(a, 2, WEIR_REPLICA_CONFIRMED), -EAGAIN, "full", "maxmemory");
	assert_int_equal(heard.failures, 1);
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	assert_ok(weir_replica_flush(a, 10000));
	eventually(has_heard(0, "all is well again"));
	assert_ok(weir_replica_close(a));
}

/* The ring has capacity for a few keys. The node inserts the other keys under a token, and a flush
 * waits for a generation that includes the token. */
static void test_a_flush_waits_for_a_token(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.max_pending_bytes = 4096;
	struct weir_replica *a = open_with(&o);
	server_kill(&server);
	for (uint64_t i = 0; i < 5000; i++)
		assert_ok(insert(a, i, WEIR_REPLICA_SOON));
	assert_refused(weir_replica_flush(a, 100), -ETIMEDOUT, "100 ms", "unix");
	assert_true(stats(a).owes || stats(a).overflowed);
	server_start(&server, NULL, NULL);
	assert_ok(weir_replica_flush(a, 20000));
	struct weir_replica *b = open_one();
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(has(b, i));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

/* Return: the number of scripts that redis has run. */
static unsigned scripts(void)
{
	char text[4096];
	unsigned calls = 0;
	ask(&server, text, "INFO commandstats");
	const char *at = strstr(text, "cmdstat_evalsha:calls=");
	assert_true(at && sscanf(at, "cmdstat_evalsha:calls=%u", &calls) == 1);
	return calls;
}

/* A node sends only one heartbeat a second if there are a thousand nodes. With few nodes it sends
 * more. */
static void test_few_nodes_have_heartbeats_more_often(void **state)
{
	(void)state;
	struct timespec begun, now;
	struct weir_replica *a = open_one();
	eventually(stats(a).complete);
	const unsigned before = scripts();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	eventually(scripts() - before >= 20);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_in_range(now.tv_sec - begun.tv_sec, 3, 15);
	assert_ok(weir_replica_close(a));
}

/* Redis answers all heartbeats but no reads. */
static void test_a_node_that_cannot_read_is_not_complete(void **state)
{
	(void)state;
	struct weir_replica *a = open_one(), *b = open_one();
	eventually(stats(a).complete && stats(b).complete);
	ask(&server, NULL, "ACL SETUSER default -xrange");
	assert_ok(insert(b, 1, WEIR_REPLICA_SOON));
	sleep(3);
	for (unsigned i = 0; i < 300; i++, usleep(10000)) {
		const struct weir_replica_stats s = stats(a);
		assert_true(!s.complete && s.lacking_ms >= 2000);
		assert_true(!has(a, 1) && strstr(s.error, "ACL"));
	}
	ask(&server, NULL, "ACL SETUSER default +xrange");
	eventually(stats(a).complete && has(a, 1));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void *insert_some(void *arg)
{
	static _Atomic uint64_t next;
	for (unsigned i = 0; i < 50; i++)
		assert_ok(insert(arg, next++, WEIR_REPLICA_CONFIRMED));
	return NULL;
}

static void test_confirmed_inserts_of_many_threads_are_sent_together(void **state)
{
	(void)state;
	pthread_t thread[32];
	struct weir_replica *a = open_one(), *b = open_one();
	const unsigned before = scripts();
	for (unsigned i = 0; i < COUNT_OF(thread); i++)
		pthread_create(&thread[i], NULL, insert_some, a);
	for (unsigned i = 0; i < COUNT_OF(thread); i++)
		pthread_join(thread[i], NULL);
	assert_in_range(scripts() - before, 1, 50 * COUNT_OF(thread) / 2);
	for (uint64_t i = 0; i < 50 * COUNT_OF(thread); i++)
		eventually(has(b, i));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_confirmed_needs_no_replica_where_there_is_none),
		OF(test_confirmed_waits_for_the_replica),
		OF(test_a_new_connection_confirms_nothing_of_the_old_one),
		OF(test_an_epoch_that_ends_confirms_nothing),
		OF(test_a_promoted_replica_is_not_waited_for),
		OF(test_a_confirmed_insert_waits_for_a_returned_master),
		OF(test_a_promoted_replica_does_not_stand_for_another),
		OF(test_a_promoted_replica_is_one_fewer_for_the_grace_alone),
		OF(test_a_server_that_may_evict_confirms_nothing),
		OF(test_a_full_server_confirms_nothing_and_is_told_once),
		OF(test_a_flush_waits_for_a_token),
		OF(test_confirmed_inserts_of_many_threads_are_sent_together),
		OF(test_a_node_that_cannot_read_is_not_complete),
		OF(test_few_nodes_have_heartbeats_more_often),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
