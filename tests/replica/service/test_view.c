/* SPDX-License-Identifier: MIT
 * A view shows the set and its nodes, even if redis has forged data. */
#include <math.h>
#include "service.h"

static struct weir_replica_view *view_with(const struct weir_replica_options *o)
{
	struct weir_replica_view *v = NULL;
	assert_ok(weir_replica_view(&v, o));
	return v;
}

static struct weir_replica_view *view(void)
{
	const struct weir_replica_options o = options();
	return view_with(&o);
}

static void test_a_view_writes_nothing(void **state)
{
	(void)state;
	struct weir_replica_view *v = view();
	assert_int_equal(v->current.version.era, 0);
	assert_true(!v->current.damaged && !v->node_count && !v->kept_count && !v->log_length);
	assert_string_equal(v->policy, "noeviction");
	assert_true(v->now_ms > UINT64_C(1700000000000));
	weir_replica_view_free(v);
	weir_replica_view_free(NULL);
	assert_int_equal(ask(&server, NULL, "DBSIZE"), 0);
}

static void test_a_view_of_a_set_and_its_node(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.publish_seconds = 3600;
	struct weir_replica *a = open_with(&o);
	for (uint64_t i = 0; i < 100; i++)
		assert_ok(insert(a, i, WEIR_REPLICA_SOON));
	assert_ok(weir_replica_publish(a));
	struct weir_replica_view *v;
	for (bool well = false; !well; usleep(20000)) { /* a node reports every 5 s */
		v = view();
		const struct weir_replica_node *n = v->nodes;
		well = v->node_count == 1 && n->state == WEIR_REPLICA_FOLLOWING && n->complete &&
		       n->joined.number == 2 && n->keys >= 99;
		if (!well)
			weir_replica_view_free(v);
	}
	char host[65] = "";
	gethostname(host, sizeof host - 1);
	const struct weir_replica_node *n = v->nodes;
	assert_int_equal(n->node, stats(a).node);
	assert_string_equal(n->host, host);
	assert_int_equal(n->pid, getpid());
	assert_true(n->age < 10 && n->publisher && !n->owes && !n->error[0]);
	assert_int_equal(n->capacity, 10000);
	assert_string_equal(v->current.kind, "blocked");
	assert_string_equal(v->current.source, "set");
	assert_true(v->current.version.era == 1 && v->current.version.number == 2);
	assert_true(v->current.parent.number == 1 && v->current.publisher == n->node);
	assert_int_equal(strlen(v->current.image), 64);
	assert_true(!v->current.is_signed && !v->current.trusted && !v->current.chunks_absent);
	assert_true(v->kept_count == 2 && v->kept[0].version.number == 2 &&
	            v->kept[1].version.number == 1);
	assert_true(v->kept[1].id != v->kept[0].id && v->log_length > 0);
	weir_replica_view_free(v);
	assert_ok(weir_replica_close(a));
}

static void test_a_view_shows_what_is_lost(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_ok(weir_replica_close(a));
	ask(&server, NULL, "EVAL %s 0", "for _, k in ipairs(redis.call('KEYS', '*img*')) do "
	                                "redis.call('DEL', k) end return 1");
	struct weir_replica_view *v = view();
	assert_int_equal(v->current.chunks_absent, 1);
	assert_int_equal(v->kept[0].chunks_absent, 1);
	weir_replica_view_free(v);
	ask(&server, NULL, "HSET {weir:test}:2:head manifest nothing");
	v = view();
	assert_true(v->current.damaged && !v->current.image_bytes);
	weir_replica_view_free(v);
}

static void test_a_view_shows_signatures(void **state)
{
	(void)state;
	char secret[300], public[300], state_file[300], other[300], others[300];
	struct weir_replica_options o = options();
	snprintf(secret, sizeof secret, "%s/secret", server.folder);
	snprintf(public, sizeof public, "%s/public", server.folder);
	snprintf(other, sizeof other, "%s/other", server.folder);
	snprintf(others, sizeof others, "%s/others", server.folder);
	snprintf(state_file, sizeof state_file, "%s/state", server.folder);
	assert_ok(weir_replica_key_make(secret, public));
	assert_ok(weir_replica_key_make(other, others));
	o.secret_key = secret;
	o.trusted_keys = public;
	o.state_file = state_file;
	o.expires_seconds = 1;
	assert_ok(weir_replica_close(open_with(&o)));
	assert_int_equal(unlink(state_file), 0);
	o.secret_key = "/no/such"; /* a view does not use it */
	struct weir_replica_view *v = view_with(&o);
	assert_true(v->current.is_signed);
	weir_replica_view_free(v);
	do {
		v = view_with(&o);
		const int trusted = v->current.trusted;
		weir_replica_view_free(v);
		assert_true(!trusted || trusted == -EKEYEXPIRED);
		state = trusted ? NULL : state;
	} while (state);
	o.trusted_keys = others;
	v = view_with(&o);
	assert_int_equal(v->current.trusted, -EKEYREJECTED);
	assert_int_equal(v->kept[0].trusted, -EKEYREJECTED);
	weir_replica_view_free(v);
	assert_int_equal(access(state_file, F_OK), -1);
}

/* ---- forged data ---- */

static const struct weir_replica_node *node_of(const struct weir_replica_view *v, uint64_t id)
{
	for (size_t i = 0; i < v->node_count; i++)
		if (v->nodes[i].node == id)
			return &v->nodes[i];
	return NULL;
}

static void report_as(const char *node, const char *report)
{
	ask(&server, NULL, "HSET {weir:test}:2:nodes %s %s", node, report);
}

static void test_forged_reports(void **state)
{
	(void)state;
	static char longest[3000];
	memset(longest, 'h', sizeof longest - 1);
	memcpy(longest, "1 host ", 7);
	memcpy(longest + 2000, " error ", 7);
	report_as("0000000000000001", longest);
	report_as("0000000000000002", "18446744073709551615 state 99 pid 18446744073709551615 keys "
	          "99999999999999999999999 joined 1.2.3 position  error a error b state 2");
	report_as("0000000000000003", "1 host a error \033[2J state 2");
	report_as("0000000000000004", "1 host");
	report_as("0000000000000005", "1 ");
	report_as("0000000000000006", "1");        /* ignored: it has no blank */
	report_as("7", "1 host a");                /* ignored: not the id of a node */
	report_as("0000000000000008", "x host a"); /* ignored: it has no time */
	struct weir_replica_view *v = view();
	assert_int_equal(v->node_count, 5);
	assert_int_equal(strlen(node_of(v, 1)->host), 64);
	const struct weir_replica_node *n = node_of(v, 2);
	assert_true(n->state == WEIR_REPLICA_OFFLINE && !n->keys && !n->joined.era);
	assert_true(n->age >= 0 && isfinite(n->age));
	assert_string_equal(n->error, "a error b state 2");
	assert_string_equal(node_of(v, 3)->error, "\033[2J state 2");
	assert_int_equal(node_of(v, 3)->state, WEIR_REPLICA_OFFLINE);
	assert_string_equal(node_of(v, 4)->host, "");
	weir_replica_view_free(v);
	ask(&server, NULL, "EVAL %s 0", "for i = 1, 5000 do redis.call('HSET', "
	    "'{weir:test}:2:nodes', string.format('%016x', i), '1 host h') end return 1");
	v = view();
	assert_int_equal(v->node_count, 5000);
	weir_replica_view_free(v);
	ask(&server, NULL, "DEL {weir:test}:2:nodes");
	ask(&server, NULL, "SET {weir:test}:2:nodes x");
	struct weir_replica_options o = options();
	assert_refused(weir_replica_view(&v, &o), -EBADMSG, "not weir's", "test");
}

/* A client can forge reports. A view shows only the newest reports. Above 131,072 reports, redis's
 * answer exceeds WEIR_REPLY_ELEMENTS, and the view shows the set without reports. */
static void test_a_view_holds_the_newest_reports_and_counts_the_others(void **state)
{
	(void)state;
	static const char many[] = "for i = ARGV[1], ARGV[2] do redis.call('HSET', "
	                           "'{weir:test}:2:nodes', string.format('%016x', i), "
	                           "string.format('%.0f host h', ARGV[3] + i)) end return 1";
	struct weir_replica *a = open_one();
	struct weir_replica_view *v = view();
	const unsigned long long now = v->now_ms, old = now - 3600000;
	weir_replica_view_free(v);
	ask(&server, NULL, "EVAL %s 0 1 50000 %llu", many, old);
	report_as("00000000000f0000", "1 host oldest");
	do {
		v = view();
		state = node_of(v, stats(a).node) ? NULL : state;
		assert_int_equal(v->node_count, WEIR_REPLICA_NODES_MOST);
		assert_in_range(v->nodes_left_out, 40001, 40002);
		assert_null(node_of(v, 0xf0000));
		assert_non_null(node_of(v, 50000));
		weir_replica_view_free(v);
	} while (state); /* until node a has reported */
	ask(&server, NULL, "EVAL %s 0 50001 140000 %llu", many, old);
	v = view();
	assert_true(v->current.version.era == 1 && !v->node_count);
	assert_in_range(v->nodes_left_out, 140000, 140002);
	weir_replica_view_free(v);
	assert_ok(weir_replica_close(a));
}

/* ---- metrics, and nodes that lack something ---- */

static void test_metrics_equal_the_stats(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	struct weir_metric m;
	uint32_t i = 0;
	bool complete = false, generation = false;
	eventually(stats(a).complete);
	for (; weir_replica_metric(a, i, &m) == 1; i++) {
		assert_int_equal(strncmp(m.name, "weir_replica_node_", 18), 0);
		assert_true(m.help[0] && isfinite(m.value));
		complete |= strcmp(m.name + 18, "complete") == 0 && m.value == 1;
		generation |= strcmp(m.name + 18, "generation") == 0 && m.value == 1;
	}
	assert_true(i > 10 && complete && generation);
	struct weir_replica_stats s = { .struct_size = 1 };
	assert_refused(weir_replica_measure(a, &s), -EINVAL, "struct_size", "1");
	assert_string_equal(weir_replica_state_name(2), "following");
	assert_string_equal(weir_replica_state_name(4), "?");
	assert_ok(weir_replica_close(a));
}

/* The node's thread may block in a call, so its last state is valid only for a short time. */
static void test_a_node_whose_redis_hangs_is_not_complete(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.confirm_ms = 100;
	o.answer_ms = 60000;
	struct weir_replica *a = open_with(&o);
	eventually(stats(a).complete);
	const uint64_t failures = stats(a).failures;
	kill(server.pid, SIGSTOP);
	assert_refused(insert(a, 1, WEIR_REPLICA_CONFIRMED), -ETIMEDOUT, "100 ms", "test");
	eventually(!stats(a).complete);
	const uint64_t lacking = stats(a).lacking_ms;
	assert_in_range(lacking, 2000, 60000);
	eventually(stats(a).lacking_ms > lacking + 500);
	assert_int_equal(stats(a).failures, failures); /* the thread has reported no failure */
	kill(server.pid, SIGCONT);
	eventually(stats(a).complete);
	assert_int_equal(stats(a).lacking_ms, 0);
	assert_ok(weir_replica_close(a));
}

/* Wait for a report with this @complete. If @complete is false, wait until the report says that the
 * node has lacked something for more than 3 s. Return: this time, in seconds. */
static double reported_lacking(bool complete)
{
	for (;; usleep(20000)) {
		struct weir_replica_view *v = view();
		const bool is = v->node_count == 1 && v->nodes[0].complete;
		const double lacking = v->node_count == 1 ? v->nodes[0].lacking : 0;
		weir_replica_view_free(v);
		if (is == complete && (is || lacking > 3))
			return lacking;
	}
}

/* Redis answers all heartbeats. */
static void test_a_node_says_for_how_long_it_lacks_a_generation(void **state)
{
	(void)state;
	char manifest[4096], generation[4096];
	struct weir_replica *a = open_one();
	ask(&server, manifest, "HGET {weir:test}:2:head manifest");
	ask(&server, generation, "HGET {weir:test}:2:head generation");
	eventually(stats(a).complete);
	ask(&server, NULL, "HSET {weir:test}:2:head manifest nothing generation 00000000000000ff");
	eventually(!stats(a).complete);
	sleep(4);
	assert_true(!stats(a).complete && stats(a).state == WEIR_REPLICA_CATCHING_UP);
	assert_in_range(stats(a).lacking_ms, 4000, 100000);
	assert_true(reported_lacking(false) > 3);
	ask(&server, NULL, "HSET {weir:test}:2:head manifest %s generation %s", manifest,
	    generation);
	eventually(stats(a).complete);
	assert_int_equal(stats(a).lacking_ms, 0);
	assert_true(reported_lacking(true) == 0);
	assert_ok(weir_replica_close(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_a_view_writes_nothing),
		OF(test_a_view_of_a_set_and_its_node),
		OF(test_a_view_shows_what_is_lost),
		OF(test_a_view_shows_signatures),
		OF(test_forged_reports),
		OF(test_a_view_holds_the_newest_reports_and_counts_the_others),
		OF(test_metrics_equal_the_stats),
		OF(test_a_node_whose_redis_hangs_is_not_complete),
		OF(test_a_node_says_for_how_long_it_lacks_a_generation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
