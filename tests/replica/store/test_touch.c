/* SPDX-License-Identifier: MIT
 * Touch on a real server: when epochs begin, ids and tags, and what a full server accepts. */
#include "group.h"

struct seen {
	size_t n;
	struct weir_entry e[64];
};

static int see(void *context, const struct weir_entry *e)
{
	struct seen *s = context;
	s->e[s->n++ % 64] = *e;
	return 0;
}

static struct seen log_of(struct node *n)
{
	struct seen s = { 0 };
	size_t given;
	struct weir_log_id after = { 0, 0 };
	do {
		assert_ok(n->store->read(n->store->context, after, 16, see, &s, &given));
		if (given)
			after = s.e[(s.n - 1) % 64].id;
	} while (given);
	return s;
}

static bool is_id(struct weir_log_id id, uint64_t epoch, uint64_t n)
{
	return id.epoch == epoch && id.n == n;
}

static void test_the_first_heartbeat_begins_the_first_epoch(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	const struct weir_head h = *beat(&n);
	assert_true(h.mark != 0 && h.prev == 0 && is_id(h.base, 0, 0) && is_id(h.lost, 0, 0));
	assert_true(is_id(h.last, 1, 1) && h.tag != 0 && h.version.era == 0 && h.generation == 0);
	assert_true(h.now_ms > UINT64_C(1600000000000) && h.replicas == 0 && !h.full);
	assert_true(beat(&n)->mark == h.mark && is_id(n.head.last, 1, 1));
	struct seen log = log_of(&n);
	assert_int_equal(log.n, 1);
	assert_true(log.e[0].kind == WEIR_ENTRY_EPOCH && log.e[0].tag == h.tag &&
	            log.e[0].before == 0 && is_id(log.e[0].last, 0, 0));
	node_close(&n);
}

static void test_entries_count_without_holes_and_name_the_tag_before(void **state)
{
	struct node a, b;
	uint64_t tag[40];
	(void)state;
	node_open(&a, &server);
	node_open(&b, &server);
	beat(&a);
	for (unsigned i = 0; i < 40; i++)
		tag[i] = append(i % 3 ? &a : &b, 1 + i);
	assert_true(is_id(beat(&a)->last, 1, 41) && a.head.tag == tag[39]);
	struct seen log = log_of(&b);
	assert_int_equal(log.n, 41);
	for (unsigned i = 0; i < 40; i++) {
		assert_true(is_id(log.e[i + 1].id, 1, i + 2) && log.e[i + 1].tag == tag[i]);
		assert_true(log.e[i + 1].before == (i ? tag[i - 1] : log.e[0].tag));
		assert_true(log.e[i + 1].node == (i % 3 ? a.id : b.id) && log.e[i + 1].n == 1 + i);
	}
	node_close(&a);
	node_close(&b);
}

static void test_entries_of_one_touch_are_adjacent_and_in_order(void **state)
{
	static const unsigned char hashes[8 * WEIR_ENTRY_HASHES];
	struct node n;
	struct weir_entry e[20] = { 0 };
	(void)state;
	node_open(&n, &server);
	for (unsigned i = 0; i < 20; i++)
		e[i] = (struct weir_entry){ .tag = 100 + i, .node = n.id, .hashes = hashes,
			                    .n = WEIR_ENTRY_HASHES };
	e[19].kind = WEIR_ENTRY_CALL;
	e[19].version = (struct weir_version){ 3, 4 };
	const struct weir_touch t = { .node = n.id, .entries = e, .n = 20 };
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(is_id(n.head.last, 1, 21) && n.head.tag == 119);
	struct seen log = log_of(&n);
	assert_int_equal(log.n, 21);
	for (unsigned i = 1; i < 20; i++)
		assert_true(log.e[i].tag == 99 + i && log.e[i].n == WEIR_ENTRY_HASHES);
	assert_true(log.e[20].kind == WEIR_ENTRY_CALL && log.e[20].version.number == 4);
	node_close(&n);
}

static void test_a_restart_begins_an_epoch_that_goes_on(void **state)
{
	struct node n;
	(void)state;
	/* With the usual setting, redis may answer before the entry is on the disk. */
	ask(&server, NULL, "CONFIG SET appendfsync always");
	node_open(&n, &server);
	uint64_t tag = append(&n, 5);
	const struct weir_head before = n.head;
	server_kill(&server);
	server_start(&server, "--appendonly", "yes");
	const struct weir_touch t = { .node = n.id };
	assert_int_equal(n.store->touch(n.store->context, &t, &n.head), -ECONNRESET);
	beat(&n);
	assert_true(n.head.prev == before.mark && n.head.mark != before.mark);
	assert_true(is_id(n.head.base, 1, 2) && is_id(n.head.last, 2, 1));
	struct seen log = log_of(&n);
	assert_true(log.n == 3 && log.e[2].kind == WEIR_ENTRY_EPOCH && log.e[2].before == tag);
	assert_true(is_id(log.e[2].last, 1, 2));
	node_close(&n);
}

static void test_a_deleted_log_begins_an_epoch_after_nothing(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	const uint64_t mark = n.head.mark;
	ask(&server, NULL, "DEL {weir:test}:2:log");
	append(&n, 6);
	assert_true(n.head.prev == mark && n.head.mark != mark && is_id(n.head.base, 0, 0));
	assert_true(is_id(n.head.last, 2, 2));
	assert_int_equal(log_of(&n).n, 2);
	node_close(&n);
}

static void test_a_lost_or_damaged_head_begins_an_epoch_without_prev(void **state)
{
	static const char *const damage[] = { "DEL {weir:test}:2:head",
		"HDEL {weir:test}:2:head tag", "HSET {weir:test}:2:head last 1-x",
		"HSET {weir:test}:2:head mark ABCDABCDABCDABCD",
		"HSET {weir:test}:2:head last 99999999999999999999-1" };
	struct node n;
	(void)state;
	node_open(&n, &server);
	for (unsigned i = 0; i < COUNT_OF(damage); i++) {
		uint64_t tag = append(&n, 5);
		const struct weir_head before = n.head;
		ask(&server, NULL, damage[i]);
		beat(&n);
		assert_true(n.head.prev == 0 && n.head.mark != before.mark);
		assert_true(weir__log_id_compare(n.head.base, before.last) == 0);
		assert_true(is_id(n.head.last, 2 + i, 1));
		struct seen log = log_of(&n);
		assert_true(log.e[log.n - 1].before == tag);
	}
	node_close(&n);
}

static void test_the_tag_of_a_deleted_last_entry_is_not_made_up(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	ask(&server, NULL, "DEL {weir:test}:2:head");
	ask(&server, NULL, "XDEL {weir:test}:2:log 1-2");
	beat(&n);
	struct seen log = log_of(&n);
	assert_true(log.n == 2 && log.e[1].before == 0 && is_id(log.e[1].last, 1, 2));
	node_close(&n);
}

static void test_an_old_head_put_back_begins_an_epoch_behind_the_log(void **state)
{
	struct node n;
	redisReply *dump;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	dump = redisCommand(server.redis, "DUMP {weir:test}:2:head");
	uint64_t last = append(&n, 2);
	const uint64_t mark = n.head.mark;
	redisReply *done = redisCommand(server.redis, "RESTORE {weir:test}:2:head 0 %b REPLACE",
	                                dump->str, (size_t)dump->len);
	assert_int_equal(done->type, REDIS_REPLY_STATUS);
	freeReplyObject(done);
	freeReplyObject(dump);
	assert_true(is_id(beat(&n)->last, 1, 2)); /* heartbeats append nothing */
	append(&n, 3);
	assert_true(n.head.mark != mark && n.head.prev == mark && is_id(n.head.base, 1, 3));
	assert_true(is_id(n.head.last, 2, 2));
	struct seen log = log_of(&n);
	assert_true(log.n == 5 && log.e[3].kind == WEIR_ENTRY_EPOCH && log.e[3].before == last);
	assert_int_equal(log.e[4].n, 3);
	node_close(&n);
}

/* After FLUSHALL a node with a cursor in the old log must read the new log's first entry. */
static void test_without_log_and_head_the_epoch_is_above_the_callers(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	ask(&server, NULL, "DEL {weir:test}:2:log {weir:test}:2:head");
	const struct weir_touch t = { .node = n.id, .epoch = 7 };
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(n.head.prev == 0 && is_id(n.head.base, 0, 0) && is_id(n.head.last, 8, 1));
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(is_id(n.head.last, 8, 1));
	node_close(&n);
}

static void test_giving_up_ends_only_the_callers_epoch(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	const struct weir_head before = n.head;
	struct weir_touch t = { .node = n.id, .give_up = true, .mark = before.mark + 1 };
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(n.head.mark == before.mark && is_id(n.head.lost, 0, 0));
	t.mark = before.mark;
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(n.head.mark != before.mark && n.head.prev == 0 && is_id(n.head.lost, 1, 2) &&
	            is_id(n.head.base, 1, 2) && is_id(n.head.last, 2, 1));
	const uint64_t mark = n.head.mark;
	assert_ok(n.store->touch(n.store->context, &t, &n.head)); /* like a node that gives
	                                                             up the same epoch */
	assert_true(n.head.mark == mark && is_id(n.head.lost, 1, 2));
	node_close(&n);
}

/* Batches must leave memory for an image. */
static void test_a_full_server_takes_heartbeats_calls_and_epochs_and_no_batch(void **state)
{
	static unsigned char hashes[8 * WEIR_ENTRY_HASHES];
	struct node n;
	char used[4096];
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	struct weir_entry e = { .tag = 5, .node = n.id, .hashes = hashes, .n = 100 };
	struct weir_touch t = { .node = n.id, .report = "full", .entries = &e, .n = 1 };
	ask(&server, used, "INFO memory");
	unsigned long long now = strtoull(strstr(used, "used_memory:") + 12, NULL, 10);
	ask(&server, NULL, "CONFIG SET maxmemory %llu", now + (1 << 19)); /* less than the
	                                                                     reserve */
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(n.head.full && is_id(n.head.last, 1, 2));
	char name[WEIR_HEX_TEXT];
	weir__hex_write(name, n.id);
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:nodes"), 1);
	/* Now the server has no free memory at all. */
	ask(&server, NULL, "HDEL {weir:test}:2:nodes %s", name);
	ask(&server, NULL, "CONFIG SET maxmemory 100000");
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(n.head.full && is_id(n.head.last, 1, 2));
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:nodes"), 0);
	ask(&server, NULL, "HDEL {weir:test}:2:head run");
	beat(&n);
	assert_true(is_id(n.head.last, 2, 1) && !n.head.full);
	e.kind = WEIR_ENTRY_CALL;
	assert_ok(n.store->touch(n.store->context, &t, &n.head));
	assert_true(is_id(n.head.last, 2, 2) && !n.head.full);
	node_close(&n);
}

static void test_the_newest_images_size_is_kept_free(void **state)
{
	struct node n;
	char used[4096];
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	ask(&server, used, "INFO memory");
	unsigned long long now = strtoull(strstr(used, "used_memory:") + 12, NULL, 10);
	ask(&server, NULL, "CONFIG SET maxmemory %llu", now + (64 << 20));
	append(&n, 5);
	assert_false(n.head.full);
	ask(&server, NULL, "HSET {weir:test}:2:head bytes %u", 65 << 20);
	append(&n, 5);
	assert_true(n.head.full && is_id(n.head.last, 1, 3));
	node_close(&n);
}

static void test_heartbeats_go_on_where_redis_takes_no_writes(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	ask(&server, NULL, "HSET {weir:test}:2:head seen 1"); /* beat() tries to update it */
	ask(&server, NULL, "CONFIG SET min-replicas-to-write 1");
	beat(&n);
	assert_true(is_id(n.head.last, 1, 2));
	const struct weir_entry e = { .kind = WEIR_ENTRY_CALL, .tag = 5, .node = n.id };
	const struct weir_touch t = { .node = n.id, .entries = &e, .n = 1 };
	assert_refused(n.store->touch(n.store->context, &t, &n.head), -EAGAIN, "too few replicas",
	               "NOREPLICAS");
	ask(&server, NULL, "CONFIG SET min-replicas-to-write 0");
	node_close(&n);
}

static void test_reports_are_kept_with_the_servers_time(void **state)
{
	struct node n;
	char name[WEIR_HEX_TEXT], text[4096], wanted[64];
	(void)state;
	node_open(&n, &server);
	beat(&n);
	ask(&server, text, "HGET {weir:test}:2:nodes %s", weir__hex_write(name, n.id));
	snprintf(wanted, sizeof wanted, "%llu well", (unsigned long long)n.head.now_ms);
	assert_string_equal(text, wanted);
	node_close(&n);
}

static void test_a_key_that_is_not_the_sets_is_named_and_nothing_is_written(void **state)
{
	static const char *const keys[] = { "head", "log", "nodes" };
	struct node n;
	(void)state;
	node_open(&n, &server);
	for (unsigned i = 0; i < COUNT_OF(keys); i++) {
		const struct weir_touch t = { .node = n.id };
		ask(&server, NULL, "FLUSHALL");
		ask(&server, NULL, "SET {weir:test}:2:%s x", keys[i]);
		assert_refused(n.store->touch(n.store->context, &t, &n.head), -EBADMSG,
		               "WRONGTYPE", "UNLINK");
		assert_int_equal(ask(&server, NULL, "DBSIZE"), 1);
	}
	node_close(&n);
}

static void test_a_script_that_redis_forgot_is_sent_again_once(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 1);
	ask(&server, NULL, "SCRIPT FLUSH");
	append(&n, 2);
	assert_true(is_id(n.head.last, 1, 3));
	assert_int_equal(log_of(&n).n, 3);
	node_close(&n);
}

static void assert_used_up(struct node *n, bool entry)
{
	const struct weir_entry e = { .kind = WEIR_ENTRY_CALL, .tag = 5, .node = n->id };
	const struct weir_touch t = { .node = n->id, .entries = &e, .n = entry };
	const int err = n->store->touch(n->store->context, &t, &n->head);
	assert_refused(err, -EOVERFLOW, "used up", "UNLINK {weir:test}:2:log");
	assert_non_null(strstr(weir_error_detail(), "{weir:test}:2:head too"));
}

/* Scripts count in doubles, which are exact up to 2^53, but another client can write any id. */
static void test_ids_beyond_those_of_nodes_are_an_error_with_its_remedy(void **state)
{
	static const char *const ids[] = { "9007199254740993-5", "9007199254740000-1",
		"18446744073709551615-18446744073709551615", "3-9007199254740993" };
	struct node n;
	size_t some;
	(void)state;
	node_open(&n, &server);
	for (unsigned i = 0; i < COUNT_OF(ids); i++) {
		ask(&server, NULL, "FLUSHALL");
		ask(&server, NULL, "XADD {weir:test}:2:log %s t 1", ids[i]);
		assert_used_up(&n, false); /* here redis has no head */
		ask(&server, NULL, "UNLINK {weir:test}:2:log");
		append(&n, 5);
		const struct weir_head before = n.head;
		ask(&server, NULL, "XADD {weir:test}:2:log %s t 1", ids[i]);
		struct seen s = { 0 };
		assert_refused(n.store->read(n.store->context, before.last, 16, see, &s, &some),
		               -EOVERFLOW, "used up", "UNLINK {weir:test}:2:log");
		assert_int_equal(some, 0);
		assert_used_up(&n, true);
		ask(&server, NULL, "XDEL {weir:test}:2:log %s", ids[i]); /* redis keeps the log's
		                                                            last id */
		assert_used_up(&n, true);
		ask(&server, NULL, "UNLINK {weir:test}:2:log");
		append(&n, 5);
		assert_true(n.head.prev == before.mark && is_id(n.head.last, 2, 2));
	}
	node_close(&n);
}

static void test_a_head_whose_ids_are_used_up_is_named_too(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 5);
	ask(&server, NULL, "UNLINK {weir:test}:2:log");
	ask(&server, NULL, "HSET {weir:test}:2:head last 9007199254739999-1");
	assert_used_up(&n, false);
	ask(&server, NULL, "HSET {weir:test}:2:head last 9007199254739999-9007199254740993");
	beat(&n); /* the head counts as damaged */
	assert_true(n.head.prev == 0 && is_id(n.head.last, 1, 1));
	node_close(&n);
}

/* Epochs start again at 1, so that a node that saw the highest epoch can begin the set again. */
static void test_above_the_highest_epoch_comes_the_first(void **state)
{
	static const uint64_t most = UINT64_C(9007199254739999);
	const struct { uint64_t seen, begun; } epochs[] = {
		{ most - 1, most }, { most, 1 }, { most + 1, 1 }, { UINT64_MAX, 1 } };
	struct node n;
	(void)state;
	node_open(&n, &server);
	for (unsigned i = 0; i < COUNT_OF(epochs); i++) {
		const struct weir_touch t = { .node = n.id, .epoch = epochs[i].seen };
		ask(&server, NULL, "FLUSHALL");
		assert_ok(n.store->touch(n.store->context, &t, &n.head));
		assert_true(is_id(n.head.last, epochs[i].begun, 1));
		const uint64_t mark = n.head.mark;
		append(&n, 5);
		assert_true(n.head.mark == mark && is_id(n.head.last, epochs[i].begun, 2));
	}
	node_close(&n);
}

/* Lua parses "inf" and "nan" as numbers: one HSET could keep all nodes offline, or all
 * inserts unconfirmed. */
static void test_invalid_numbers_in_the_head_count_as_0(void **state)
{
	static const char *const numbers[] = { "inf", "nan", "-1", "1e18", "0x7f", "" };
	struct node n;
	(void)state;
	node_open(&n, &server);
	ask(&server, NULL, "CONFIG SET maxmemory 1000000000");
	append(&n, 1);
	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		ask(&server, NULL, "HSET {weir:test}:2:head replicas %s seen %s bytes %s",
		    numbers[i], numbers[i], i < 3 ? numbers[i] : "x");
		append(&n, 1);
		assert_int_equal(beat(&n)->replicas, 0);
		assert_false(n.head.full);
		ask(&server, NULL, "HSET {weir:test}:2:head replicas %s", numbers[i]);
		assert_int_equal(beat(&n)->replicas, 0);
	}
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	node_close(&n);
}

int main(void)
{
	append_only = "yes";
	const struct CMUnitTest tests[] = {
		TEST(test_the_first_heartbeat_begins_the_first_epoch),
		TEST(test_entries_count_without_holes_and_name_the_tag_before),
		TEST(test_entries_of_one_touch_are_adjacent_and_in_order),
		TEST(test_a_restart_begins_an_epoch_that_goes_on),
		TEST(test_a_deleted_log_begins_an_epoch_after_nothing),
		TEST(test_a_lost_or_damaged_head_begins_an_epoch_without_prev),
		TEST(test_the_tag_of_a_deleted_last_entry_is_not_made_up),
		TEST(test_an_old_head_put_back_begins_an_epoch_behind_the_log),
		TEST(test_without_log_and_head_the_epoch_is_above_the_callers),
		TEST(test_giving_up_ends_only_the_callers_epoch),
		TEST(test_a_full_server_takes_heartbeats_calls_and_epochs_and_no_batch),
		TEST(test_the_newest_images_size_is_kept_free),
		TEST(test_heartbeats_go_on_where_redis_takes_no_writes),
		TEST(test_reports_are_kept_with_the_servers_time),
		TEST(test_a_key_that_is_not_the_sets_is_named_and_nothing_is_written),
		TEST(test_a_script_that_redis_forgot_is_sent_again_once),
		TEST(test_ids_beyond_those_of_nodes_are_an_error_with_its_remedy),
		TEST(test_a_head_whose_ids_are_used_up_is_named_too),
		TEST(test_above_the_highest_epoch_comes_the_first),
		TEST(test_invalid_numbers_in_the_head_count_as_0),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
