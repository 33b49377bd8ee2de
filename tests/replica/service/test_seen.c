/* SPDX-License-Identifier: MIT
 * What other threads see of a node's thread: here it has done what a test says. */
#include <errno.h>
#include <time.h>
#include "../../test.h"
#include "service/service.h"

static struct weir_replica replica;
static struct {
	int answer, kept; /* of the node, to an insert */
	bool complete, lacks_image;
	unsigned woken;
	bool stops; /* when it is woken */
} node;

/* ---- what the service calls ---- */

int weir__node_insert(struct weir_node *n, const void *key, size_t len, int *kept)
{
	(void)n, (void)key, (void)len;
	*kept = node.kept;
	return node.answer;
}

int weir__node_insert_hash(struct weir_node *n, uint64_t hash, int *kept)
{
	return weir__node_insert(n, &hash, sizeof hash, kept);
}

int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap,
                               uint64_t *kept)
{
	(void)n, (void)bitmap;
	*kept = node.kept ? keys.n : 0;
	return node.answer;
}

bool weir__node_complete(const struct weir_node *n)
{
	(void)n;
	return node.complete;
}

bool weir__node_lacks_image(const struct weir_node *n)
{
	(void)n;
	return node.lacks_image;
}

void weir__service_wake(struct weir_replica *r)
{
	node.woken++;
	r->stopping |= node.stops;
}

int weir__wire_fd(const struct weir_wire *w)
{
	(void)w;
	return 3;
}

void weir__redis_image_bytes(const struct weir_redis *r, uint64_t *here, uint64_t *all)
{
	(void)r;
	*here = *all = 0;
}

const char *weir__reader_news(struct weir_reader *reader)
{
	(void)reader;
	return NULL;
}

/* ---- */

static int setup(void **state)
{
	(void)state;
	memset(&node, 0, sizeof node);
	memset(&replica, 0, sizeof replica);
	memcpy(replica.node.set, "seen", sizeof "seen");
	pthread_mutex_init(&replica.lock, NULL);
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&replica.done, &clock);
	pthread_condattr_destroy(&clock);
	return 0;
}

static struct weir_replica_stats stats(void)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	replica.stats = s;
	weir__service_note(&replica, 0);
	assert_ok(weir_replica_measure(&replica, &s));
	return s;
}

/* Only what is in this node's set: a filter that is full has refused the rest. */
static void test_what_is_not_replicated(void **state)
{
	static const struct { int answer, kept; unsigned counted; } rows[] = {
		{ 0, 0, 0 }, { 1, 0, 0 }, { -ENOSPC, 0, 0 },
		{ 0, -EAGAIN, 1 }, { 1, -ENOMEM, 1 }, { -ENOSPC, -EAGAIN, 0 },
	};
	const uint64_t three[] = { 1, 2, 3 };
	uint64_t expected = 0;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		node.answer = rows[i].answer;
		node.kept = rows[i].kept;
		assert_int_equal(weir_replica_insert(&replica, "key", 3, WEIR_REPLICA_SOON),
		                 rows[i].answer);
		assert_int_equal(weir_replica_insert_hash(&replica, 7, WEIR_REPLICA_SOON),
		                 rows[i].answer);
		assert_int_equal(weir_replica_insert_u64(&replica, 7, WEIR_REPLICA_SOON),
		                 rows[i].answer);
		assert_int_equal(weir_replica_insert_keys(&replica, weir_keys_u64(three, 3), NULL,
		                                          WEIR_REPLICA_SOON), rows[i].answer);
		expected += 6 * rows[i].counted;
		assert_int_equal(stats().not_replicated, expected);
	}
}

static void test_what_an_insert_waits_for(void **state)
{
	uint64_t key = 1;
	(void)state;
	node.answer = 1, node.kept = 0;
	assert_refused(weir_replica_insert(&replica, "key", 3, 2), -EINVAL, "wait 2",
	               "WEIR_REPLICA_CONFIRMED (1)");
	assert_refused(weir_replica_insert_hash(&replica, 7, 2), -EINVAL, "wait 2", "");
	assert_refused(weir_replica_insert_keys(&replica, weir_keys_u64(&key, 1), NULL, 2), -EINVAL,
	               "wait 2", "");
	node.kept = -EAGAIN; /* then nobody can confirm it */
	assert_refused(weir_replica_insert_u64(&replica, 7, WEIR_REPLICA_CONFIRMED), -EAGAIN,
	               "no room for another batch", "");
	node.kept = 0;
}

/* They are said for an hour since the last of them. */
static void test_entries_that_are_nobodys(void **state)
{
	static const struct { unsigned more, minutes; bool said; } rows[] = {
		{ 0, 0, false }, { 1, 0, true }, { 0, 59, true }, { 0, 1, false },
		{ 1, 0, true }, { 2, 59, true }, { 0, 59, true }, { 0, 1, false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		replica.node.foreign += rows[i].more;
		replica.passed_ms -= rows[i].minutes * UINT64_C(60000);
		bool said = strstr(stats().error, "entries of the stream are by another seed");
		assert_int_equal(said, rows[i].said);
	}
}

/* Of who publishes it is over at once: it is said when that has had time. */
static void test_what_nobody_else_has(void **state)
{
	(void)state;
	replica.idle_ms = 300;
	assert_string_equal(stats().error, "");
	replica.node.alone = true;
	assert_string_equal(stats().error, "");
	replica.alone_ms -= 3 * UINT64_C(300);
	assert_string_equal(stats().error, "");
	replica.alone_ms -= UINT64_C(300);
	assert_non_null(strstr(stats().error, "redis has a generation of before, or another's"));
	replica.node.alone = false;
	assert_string_equal(stats().error, "");
	replica.node.alone = true;
	assert_string_equal(stats().error, "");
}

/* What failed first and was then confirmed is confirmed. */
static void test_confirmed_in_the_end(void **state)
{
	(void)state;
	replica.confirmed = replica.failed = 10;
	replica.failure = -EAGAIN;
	assert_ok(weir_replica_flush(&replica, 1000));
	assert_int_equal(node.woken, 1);
	replica.confirmed = 0;
	assert_int_equal(weir_replica_flush(&replica, 1000), -EAGAIN);
	replica.failure = -EKEYREJECTED;
	assert_int_equal(weir_replica_flush(&replica, 1000), -EKEYREJECTED);
	replica.failed = 0;
	assert_int_equal(weir_replica_flush(&replica, 1), -ETIMEDOUT);
}

/* Whoever waited hears what failed meanwhile, if anything did. */
static void test_why_not_in_time(void **state)
{
	static const char *const rows[][2] = {
		{ "", "set seen: not confirmed within 1 ms" },
		{ "set seen at r: no", "set seen: not confirmed within 1 ms: at r: no" },
		{ "set seen: no", "set seen: not confirmed within 1 ms: no" },
		{ "r: away", "set seen: not confirmed within 1 ms: r: away" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		strcpy(replica.stats.error, rows[i][0]);
		assert_int_equal(weir_replica_flush(&replica, 1), -ETIMEDOUT);
		assert_string_equal(weir_error_detail(), rows[i][1]);
	}
}

/* Nobody will confirm it: that is no reason to wait. */
static void test_closed_by_half(void **state)
{
	const struct timespec begun = { .tv_sec = time(NULL) };
	(void)state;
	node.stops = true;
	assert_int_equal(weir_replica_flush(&replica, 20000), -ECANCELED);
	assert_non_null(strstr(weir_error_detail(), "set seen: not confirmed: the node is closed"));
	assert_true(time(NULL) - begun.tv_sec < 10);
}

/* What was known before is not lost by that. */
static void test_answered_and_closed(void **state)
{
	(void)state;
	replica.stopping = true;
	replica.confirmed = 1;
	assert_ok(weir_replica_flush(&replica, 20000));
	replica.failed = 2;
	replica.failure = -EAGAIN;
	assert_int_equal(weir_replica_flush(&replica, 20000), -EAGAIN);
	assert_int_equal(weir_replica_flush(&replica, 20000), -ECANCELED);
}

/* Each has a sentence of its own, and of several one is seen. */
static void test_what_failed(void **state)
{
	(void)state;
	strcpy(replica.save_error, "an image");
	assert_string_equal(stats().error, "an image");
	strcpy(replica.publish_error, "a generation");
	assert_string_equal(stats().error, "a generation");
	replica.tried[1].err = -EIO;
	strcpy(replica.tried[1].why, "a report");
	assert_string_equal(stats().error, "a report");
	replica.tried[1].err = 0;
	weir__service_note(&replica, weir_fail(-EIO, "a round"));
	assert_string_equal(replica.stats.error, "a round");
	weir__service_note(&replica, 0);
	assert_string_equal(replica.stats.error, "a generation");
	replica.publish_error[0] = '\0';
	assert_string_equal(stats().error, "an image");
}

static struct {
	int result;
	char sentence[WEIR_SENTENCE_BYTES];
} told;

static void hear(void *context, int result, const char *sentence)
{
	(void)context;
	told.result = result;
	snprintf(told.sentence, sizeof told.sentence, "%s", sentence);
}

/* What is tried now and then is not over because all else goes well meanwhile, nor is anything else
 * said in turn with it. */
static void test_what_is_over(void **state)
{
	static const struct {
		int err, tried;
		const char *generation; /* what stands in the way of one */
		bool lacks;             /* redis has none */
		const char *told;
	} rows[] = {
		{ 0, 0, "", false, "" },
		{ -EAGAIN, -EAGAIN, "", false, "no writes" },
		{ 0, -EAGAIN, "", false, "" },
		{ -EAGAIN, -EAGAIN, "", false, "" },
		{ 0, -EAGAIN, "", true, "" },
		{ 0, 0, "no", true, "" },
		{ 0, 0, "no", false, "" },
		{ 0, 0, "", true, "redis has no generation" },
		{ 0, 0, "", false, "all is well again" },
		{ 0, 0, "", false, "" },
	};
	(void)state;
	replica.report = hear;
	strcpy(replica.node.epoch, "a");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		told.sentence[0] = '\0';
		replica.tried[0].err = rows[i].tried;
		strcpy(replica.publish_error, rows[i].generation);
		replica.node.seen.generation = !rows[i].lacks;
		weir__service_tell(&replica, rows[i].err ? weir_fail(rows[i].err, "no writes") : 0);
		assert_non_null(strstr(told.sentence, rows[i].told));
		assert_int_equal(!told.sentence[0], !rows[i].told[0]);
	}
}

/* One that was refused, and is joined now: redis had another of that number since. */
static void test_refused(void **state)
{
	(void)state;
	replica.node.joined.generation = 5;
	replica.node.refused.generation = 4;
	assert_int_equal(stats().refused, 0);
	replica.node.refused.generation = 5;
	assert_int_equal(stats().refused, 0);
	replica.node.refused.generation = 6;
	assert_int_equal(stats().refused, 6);
}

/* From when it lacked something first, until it lacks nothing. */
static void test_for_how_long_it_lacks_something(void **state)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	(void)state;
	node.complete = true;
	assert_int_equal(stats().lacking_ms, 0);
	for (int image = 0; image < 2; image++) {
		node.complete = image;
		node.lacks_image = image;
		uint64_t first = stats().lacking_ms;
		nanosleep(&nap, NULL);
		struct weir_replica_stats s = stats();
		assert_true(s.lacking_ms >= first + 20);
		assert_false(s.complete);
		node.complete = true;
		node.lacks_image = false;
		assert_int_equal(stats().lacking_ms, 0);
		assert_true(stats().complete);
	}
}

static void test_the_metrics_of_a_node(void **state)
{
	static char text[8192];
	const struct weir_metrics of = weir_metrics_replica(&replica, "set=\"seen\"");
	static const char *const lines[] = {
		"complete{set=\"seen\"} 1", "lacking_seconds{set=\"seen\"} 0.25",
		"generation{set=\"seen\"} 6", "newest_generation{set=\"seen\"} 7",
		"refused{set=\"seen\"} 5", "batches_total{set=\"seen\"} 11",
		"retained_bytes{set=\"seen\"} 80", "not_replicated{set=\"seen\"} 0",
		"failures_total{set=\"seen\"} 3", "failing{set=\"seen\"} 1",
		"image_here_bytes{set=\"seen\"} 17", "image_bytes{set=\"seen\"} 170",
		"connected{set=\"seen\"} 1",
	};
	(void)state;
	replica.stats = (struct weir_replica_stats){ sizeof replica.stats, true, true, 250, 6, 7, 5,
		                                     11, 80, 0, 3, 1, 17, 170, "no" };
	assert_ok(weir_metrics_write(&of, 1, text, sizeof text));
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		char line[100];
		snprintf(line, sizeof line, "\nweir_replica_node_%s\n", lines[i]);
		if (!strstr(text, line))
			fail_msg("no %s", lines[i]);
	}
	struct weir_metric one;
	assert_int_equal(weir_replica_metric(&replica, COUNT_OF(lines) - 1, &one), 1);
	assert_int_equal(weir_replica_metric(&replica, COUNT_OF(lines), &one), 0);
	assert_int_equal(weir_metrics_write(&(struct weir_metrics){
		.next = weir_replica_metric, .form = WEIR_METRICS_OTHER }, 1, text, 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_metrics_of_a_node, setup),
		cmocka_unit_test_setup(test_entries_that_are_nobodys, setup),
		cmocka_unit_test_setup(test_what_is_not_replicated, setup),
		cmocka_unit_test_setup(test_what_an_insert_waits_for, setup),
		cmocka_unit_test_setup(test_what_nobody_else_has, setup),
		cmocka_unit_test_setup(test_confirmed_in_the_end, setup),
		cmocka_unit_test_setup(test_why_not_in_time, setup),
		cmocka_unit_test_setup(test_closed_by_half, setup),
		cmocka_unit_test_setup(test_answered_and_closed, setup),
		cmocka_unit_test_setup(test_what_failed, setup),
		cmocka_unit_test_setup(test_what_is_over, setup),
		cmocka_unit_test_setup(test_refused, setup),
		cmocka_unit_test_setup(test_for_how_long_it_lacks_something, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
