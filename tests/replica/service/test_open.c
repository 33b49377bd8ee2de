/* SPDX-License-Identifier: MIT
 * Which set a node opens with, and what remains when the node is closed. */
#include "service.h"

static struct weir_filter *filter(uint64_t seed)
{
	struct weir_filter *f;
	params.seed = seed;
	assert_ok(weir_create(&f, &params));
	return f;
}

static struct weir_handle *handle_of(struct weir_filter *f)
{
	struct weir_handle *h;
	assert_ok(weir_handle_create(&h, f, NULL));
	return h;
}

static int open_wrong(const struct weir_replica_options *o)
{
	struct weir_replica *r = NULL;
	int err = weir_replica_open(&r, o);
	assert_null(r);
	return err;
}

static void test_open_begins_a_set_and_another_node_joins_it(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_int_equal(stats(a).joined.era, 1);
	assert_int_equal(stats(a).joined.number, 1);
	eventually(has_heard(0, "it begins here, empty"));
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_NEW);
	struct weir_replica *b = open_one();
	assert_true(has(b, 1)); /* open() waited until the node had all keys in redis */
	assert_int_equal(insert(b, 2, WEIR_REPLICA_SOON), WEIR_NEW);
	eventually(has(a, 2));
	eventually(stats(b).complete && stats(b).state == WEIR_REPLICA_FOLLOWING);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:nodes"), 0);
	assert_ok(weir_replica_close(NULL));
}

static void test_a_set_that_is_there_stays_as_it_is(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	eventually(has_heard(0, "it begins here, empty")); /* node b's report would replace this
	                                                      report */
	params.capacity *= 2;
	struct weir_replica *b = open_one();
	eventually(has_heard(0, "it is there and stays blocked"));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void test_open_without_params_needs_a_set(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.params = NULL;
	assert_refused(open_wrong(&o), -ENOENT, "test", "give params");
}

static void test_wrong_options_are_named(void **state)
{
	(void)state;
#define WRONG(field, value, err, a, b) \
	do { \
		struct weir_replica_options o = options(); \
		o.field = value; \
		assert_refused(open_wrong(&o), err, a, b); \
	} while (0)
	WRONG(struct_size, 1, -EINVAL, "struct_size", "1");
	WRONG(set, "a b", -EINVAL, "set", "a b");
	WRONG(set, NULL, -EINVAL, "set", "NULL");
	WRONG(url, NULL, -EINVAL, "url", "NULL");
	WRONG(url, "http://x", -EINVAL, "URL", "redis://");
	WRONG(keep, 65, -EINVAL, "keep", "65");
	WRONG(zstd_level, 20, -EINVAL, "zstd_level", "20");
	WRONG(trusted_keys, "k", -EINVAL, "trusted_keys", "state_file");
	WRONG(state_file, "s", -EINVAL, "trusted_keys", "state_file");
	WRONG(poll_ms, 1001, -EINVAL, "poll_ms", "1001");
	WRONG(confirm_ms, 86400001, -EINVAL, "confirm_ms", "86400001");
	WRONG(publish_seconds, 604801, -EINVAL, "publish_seconds", "604801");
	WRONG(ca_file, "/no/such", -EINVAL, "rediss", "");
	struct weir_params counting = params;
	counting.kind = WEIR_COUNTING;
	WRONG(params, &counting, -ENOTSUP, "counting", "");
	WRONG(url, "unix:///no/such", -ENOENT, "/no/such", "");
}

/* Each process opens the set with its own seed, but both must end with the same set. */
static void test_two_that_begin_at_once_have_one_set(void **state)
{
	(void)state;
	struct weir_params of[2] = { params, params };
	struct weir_replica *r[2] = { NULL, NULL };
	of[0].seed = 1;
	of[1].seed = 2;
	const pid_t child = fork();
	struct weir_replica_options o = options();
	o.params = &of[child == 0];
	r[0] = open_with(&o);
	assert_ok(insert(r[0], child == 0, WEIR_REPLICA_CONFIRMED));
	eventually(has(r[0], 0) && has(r[0], 1));
	eventually(stats(r[0]).complete);
	if (child == 0)
		_exit(weir_replica_close(r[0]) != 0);
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_ok(weir_replica_close(r[0]));
}

/* If the owner of the lease publishes nothing, open() begins the set when the lease expires after
 * 18 s. If open() ignored the lease, it would begin the set after 3 s, and its node would publish
 * despite the lease 10 s later. */
static void test_no_set_begins_while_another_node_has_the_lease(void **state)
{
	char lease[4096];
	(void)state;
	ask(&server, NULL, "SET {weir:test}:2:lease 0000000000000001 PX 18000");
	struct weir_replica *a = open_one();
	ask(&server, lease, "GET {weir:test}:2:lease");
	assert_string_not_equal(lease, "0000000000000001");
	assert_int_equal(stats(a).joined.number, 1);
	assert_ok(weir_replica_close(a));
}

/* Each key has its own entry. A page has at most 16 entries, and a node reads at most 64
 * pages in a round. */
static void test_open_reads_a_log_of_many_pages(void **state)
{
	(void)state;
	enum { KEYS = 3000 };
	struct weir_replica *a = open_one();
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(insert(a, i, WEIR_REPLICA_CONFIRMED));
	assert_true(ask(&server, NULL, "XLEN {weir:test}:2:log") > KEYS);
	struct weir_replica *b = open_one();
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(has(b, i));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void set_password(const char *path, const char *word)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", word);
	assert_int_equal(fclose(f), 0);
	ask(&server, NULL, "CONFIG SET requirepass %s", word);
}

/* The caller overwrites the text of the path before the node connects again. */
static void test_a_password_file_is_read_again_under_its_name_at_open(void **state)
{
	(void)state;
	char path[300], named[300];
	struct weir_replica_options o = options();
	snprintf(path, sizeof path, "%s/password", server.folder);
	memcpy(named, path, sizeof named);
	o.password_file = named;
	set_password(path, "first");
	struct weir_replica *a = open_with(&o);
	memset(named, 'x', sizeof named - 1);
	set_password(path, "second");
	ask(&server, NULL, "CLIENT KILL TYPE normal SKIPME yes");
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_close(a));
}

/* ---- the caller's handle ---- */

static void test_open_with_a_handle_does_not_wait(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.handle = handle_of(filter(7));
	server_kill(&server);
	struct weir_replica *a = open_with(&o);
	assert_ptr_equal(weir_replica_handle(a), o.handle);
	assert_ok(insert(a, 1, WEIR_REPLICA_SOON));
	eventually(has_heard(-ECONNREFUSED, "unix"));
	assert_false(stats(a).complete);
	assert_true(stats(a).failures > 0);
	server_start(&server, NULL, NULL);
	assert_ok(weir_replica_flush(a, 10000));
	eventually(has_heard(0, "all is well again"));
	o.handle = NULL;
	struct weir_replica *b = open_with(&o);
	assert_true(has(b, 1));
	assert_ok(weir_replica_close(b));
	struct weir_handle *h = weir_replica_handle(a);
	assert_ok(weir_replica_close(a));
	assert_true(weir_handle_contains_u64(h, 1));
	assert_ok(weir_handle_destroy(h));
}

/* A caller's filter counts as older than every generation. */
static void test_a_generation_in_redis_replaces_the_callers_filter(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	struct weir_filter *old = filter(7);
	struct weir_replica *a = open_one();
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	weir_insert_u64(old, 99);
	o.handle = handle_of(old);
	struct weir_replica *b = open_with(&o);
	eventually(has_heard(1, "1.1 serves"));
	assert_true(!has(b, 99));
	eventually(has(b, 1));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
}

static void test_a_handle_without_a_filter_is_refused(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	struct weir_handle_options absent = WEIR_HANDLE_OPTIONS_INIT;
	absent.absent = WEIR_ABSENT_NO;
	absent.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&o.handle, NULL, &absent));
	assert_refused(open_wrong(&o), -EINVAL, "no filter", "test");
	assert_ok(weir_handle_destroy(o.handle));
}

static void test_another_seed_is_another_set(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	struct weir_replica *a = open_one();
	o.handle = handle_of(filter(8));
	struct weir_replica *b = open_with(&o);
	assert_refused(insert(b, 1, WEIR_REPLICA_CONFIRMED), -EKEYREJECTED, "another seed", "test");
	assert_true(has(b, 1));
	eventually(stats(b).refused.era == 1); /* stats change after the refusal */
	eventually(stats(a).foreign > 0);
	eventually(strstr(stats(a).error, "another seed"));
	assert_refused(weir_replica_publish(b), -EKEYREJECTED, "another seed", "test");
	assert_refused(weir_replica_close(b), -EKEYREJECTED, "another seed", "test");
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
}

/* ---- what redis has lost ---- */

static void test_a_node_that_lives_publishes_what_redis_lost(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	ask(&server, NULL, "FLUSHALL");
	struct weir_replica *b = open_one();
	assert_true(has(b, 1));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void test_an_image_that_redis_lost_is_called_for(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	ask(&server, NULL, "EVAL %s 0", "for _, k in ipairs(redis.call('KEYS', '*img*')) do "
	                                "redis.call('DEL', k) end return 1");
	struct weir_replica *b = open_one();
	assert_true(has(b, 1));
	assert_int_equal(stats(b).joined.number, 2);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

/* ---- close ---- */

static void test_close_reports_unsent_inserts(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	server_kill(&server);
	eventually(stats(a).state == WEIR_REPLICA_OFFLINE);
	assert_ok(insert(a, 1, WEIR_REPLICA_SOON));
	assert_refused(weir_replica_close(a), -EAGAIN, "8 bytes", "test");
	server_start(&server, NULL, NULL);
}

static void test_close_reports_an_owed_generation(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.max_pending_bytes = 1024;
	struct weir_replica *a = open_with(&o);
	server_kill(&server);
	eventually(stats(a).state == WEIR_REPLICA_OFFLINE);
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(insert(a, i, WEIR_REPLICA_SOON));
	assert_refused(weir_replica_close(a), -EAGAIN, "bytes of inserts, and a generation",
	               "stands for more");
	server_start(&server, NULL, NULL);
}

/* Merged keys are not in the ring, so close() finds no pending insert. But it finds that the node
 * still owes a generation with these keys. */
static void test_close_reports_an_unpublished_merge(void **state)
{
	(void)state;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *more;
	struct weir_replica_options o = options();
	o.confirm_ms = 100;
	struct weir_replica *a = open_with(&o);
	assert_ok(weir_replica_params(a, &p));
	assert_ok(weir_create(&more, &p));
	ask(&server, NULL, "CONFIG SET maxmemory 1mb");
	assert_int_equal(weir_replica_publish_with(a, more), -ENOSPC);
	weir_destroy(more);
	assert_true(stats(a).owes);
	assert_refused(weir_replica_close(a), -EAGAIN, "test: 0 bytes of inserts, and a generation",
	               "stands for more");
}

/* Another client has the lease, so node b cannot publish the keys of node a, which has ended. */
static void test_close_does_not_fail_for_inserts_of_other_nodes(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.confirm_ms = 100;
	struct weir_replica *a = open_one(), *b = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	eventually(has(b, 1));
	assert_ok(weir_replica_close(a));
	ask(&server, NULL, "EVAL %s 0", "redis.call('FLUSHALL') return redis.call('SET', "
	                                "'{weir:test}:2:lease', '0000000000000063', 'PX', 60000)");
	eventually(stats(b).owes);
	assert_ok(weir_replica_close(b));
	assert_int_equal(ask(&server, NULL, "EXISTS {weir:test}:2:lease"), 1);
}

static void test_close_sends_what_is_pending(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.poll_ms = 1000;
	struct weir_replica *a = open_with(&o);
	assert_ok(insert(a, 1, WEIR_REPLICA_SOON));
	assert_ok(weir_replica_close(a));
	struct weir_replica *b = open_one();
	assert_true(has(b, 1));
	assert_ok(weir_replica_close(b));
}

static void test_close_waits_for_the_callers_reload(void **state)
{
	(void)state;
	struct weir_reload *reload;
	struct weir_replica *a = open_one();
	assert_ok(weir_reload_begin(&reload, weir_replica_handle(a), NULL));
	assert_int_equal(weir_replica_close(a), -EBUSY);
	assert_refused(weir_replica_flush(a, 0), -ECANCELED, "closed", "test");
	assert_refused(weir_replica_publish(a), -ECANCELED, "closed", "test");
	weir_reload_abort(reload);
	assert_ok(weir_replica_close(a));
}

static struct weir_replica *_Atomic closing;
static _Atomic int closed;

static void close_it(void *context, int result, const char *sentence)
{
	hear(context, result, sentence);
	while (!closing)
		usleep(1000);
	closed = weir_replica_close(closing);
}

static void test_close_on_its_own_thread_is_refused(void **state)
{
	(void)state;
	struct weir_replica_options o = options();
	o.report = close_it;
	closing = open_with(&o); /* this reports that the set begins */
	eventually(closed);
	assert_int_equal(closed, -EDEADLK);
	assert_ok(weir_replica_close(closing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_open_begins_a_set_and_another_node_joins_it),
		OF(test_a_set_that_is_there_stays_as_it_is),
		OF(test_open_without_params_needs_a_set),
		OF(test_wrong_options_are_named),
		OF(test_two_that_begin_at_once_have_one_set),
		OF(test_no_set_begins_while_another_node_has_the_lease),
		OF(test_open_reads_a_log_of_many_pages),
		OF(test_a_password_file_is_read_again_under_its_name_at_open),
		OF(test_open_with_a_handle_does_not_wait),
		OF(test_a_generation_in_redis_replaces_the_callers_filter),
		OF(test_a_handle_without_a_filter_is_refused),
		OF(test_another_seed_is_another_set),
		OF(test_a_node_that_lives_publishes_what_redis_lost),
		OF(test_an_image_that_redis_lost_is_called_for),
		OF(test_close_reports_unsent_inserts),
		OF(test_close_reports_an_owed_generation),
		OF(test_close_reports_an_unpublished_merge),
		OF(test_close_does_not_fail_for_inserts_of_other_nodes),
		OF(test_close_sends_what_is_pending),
		OF(test_close_waits_for_the_callers_reload),
		OF(test_close_on_its_own_thread_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
