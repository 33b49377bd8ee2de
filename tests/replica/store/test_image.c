/* SPDX-License-Identifier: MIT
 * Images on a real server: a thread transfers them in chunks and checks them before loading. */
#include <pthread.h>
#include <stdatomic.h>
#include "generations.h"
#include "store/parts.h"

static void assert_has(const struct weir_filter *f, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

static char *chunk(char key[2 * WEIR_KEY_TEXT], const struct weir_manifest *m, unsigned i)
{
	struct weir_key_names keys;
	char text[WEIR_KEY_TEXT];
	weir__keys_make(&keys, "test");
	sprintf(key, "%s%u", weir__key_of_image(text, &keys, m->image), i);
	return key;
}

static void test_what_is_uploaded_is_fetched(void **state)
{
	struct node n;
	struct weir_filter *f;
	(void)state;
	node_open(&n, &server);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	assert_true(m.chunks >= 3);
	assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
	assert_ok(fetch(&n, &m, &f));
	assert_has(f, 0, 5000);
	weir_destroy(f);
	node_close(&n);
}

static void test_a_packed_image_is_smaller_and_the_same_set(void **state)
{
	struct node n = { .id = 0 };
	struct weir_redis_options o = node_options(&server, &n);
	struct weir_filter *f;
	(void)state;
	node_open_with(&n, &o);
	struct weir_manifest plain = generation(&n, 0, 5000, 1500000);
	node_close(&n);
	n = (struct node){ .id = 0 };
	o = node_options(&server, &n);
	o.zstd_level = 3;
	node_open_with(&n, &o);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	assert_true(m.bytes < plain.bytes / 2);
	assert_ok(fetch(&n, &m, &f));
	assert_has(f, 0, 5000);
	weir_destroy(f);
	/* The limit also applies to the unpacked size. */
	node_close(&n);
	n = (struct node){ .id = 0 };
	o = node_options(&server, &n);
	o.max_image_bytes = plain.bytes / 2;
	node_open_with(&n, &o);
	assert_true(m.bytes < o.max_image_bytes);
	assert_refused(fetch(&n, &m, &f), -EFBIG, "set test", "");
	assert_refused(fetch(&n, &plain, &f), -EFBIG, "max_image_bytes", "set test");
	f = filter_of(0, 5000, 1500000);
	assert_refused(upload(&n, f, &m), -EFBIG, "max_image_bytes", "set test");
	weir_destroy(f);
	node_close(&n);
}

static void test_a_missing_or_damaged_chunk_is_said_and_loads_nothing(void **state)
{
	struct node n;
	struct weir_filter *f = NULL;
	char key[2 * WEIR_KEY_TEXT];
	(void)state;
	node_open(&n, &server);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	ask(&server, NULL, "SETRANGE %s 70000 x", chunk(key, &m, 1));
	assert_refused(fetch(&n, &m, &f), -EBADMSG, "BLAKE2b", "publish another");
	ask(&server, NULL, "APPEND %s x", chunk(key, &m, 1));
	assert_refused(fetch(&n, &m, &f), -EBADMSG, "1048513 bytes", "1048512");
	ask(&server, NULL, "DEL %s", chunk(key, &m, 1));
	assert_refused(fetch(&n, &m, &f), -ENOENT, "chunk 1", "publish another");
	ask(&server, NULL, "LPUSH %s x", chunk(key, &m, 1));
	assert_refused(fetch(&n, &m, &f), -EBADMSG, "WRONGTYPE", "");
	assert_null(f);
	node_close(&n);
}

/* Equal sets have equal images, so a new upload repairs a damaged image of the head. */
static void test_an_upload_repairs_a_damaged_chunk_and_leaves_its_time(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 5000, 1500000), *again;
	char key[2 * WEIR_KEY_TEXT];
	(void)state;
	node_open(&n, &server);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	struct weir_manifest next = manifest_of(&n, f, (struct weir_version){ 1, 2 });
	ask(&server, NULL, "SETRANGE %s 70000 x", chunk(key, &m, 0));
	ask(&server, NULL, "DEL %s", chunk(key, &m, 1));
	assert_ok(upload(&n, f, &next));
	assert_memory_equal(next.image, m.image, WEIR_IMAGE_HASH);
	assert_int_equal(left_of(&server, &m, 0), -1);
	assert_in_range(left_of(&server, &m, 1), 1, 120);
	assert_ok(fetch(&n, &m, &again));
	assert_has(again, 0, 5000);
	weir_destroy(again);
	weir_destroy(f);
	node_close(&n);
}

static void test_an_image_of_another_kind_seed_or_steps_is_refused(void **state)
{
	struct node n;
	struct weir_filter *f = NULL;
	(void)state;
	node_open(&n, &server);
	const struct weir_manifest m = generation(&n, 0, 100, 2000);
	for (unsigned i = 0; i < 3; i++) {
		struct weir_manifest other = m;
		other.kind += i == 0;
		other.hashing += i == 1;
		other.steps += i == 2;
		assert_refused(fetch(&n, &other, &f), -EBADMSG, "another kind, seed or steps", "");
	}
	assert_null(f);
	node_close(&n);
}

/* ---- a slow connection ---- */

struct gate {
	struct test_link link;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned gets,          /* number of GET and SET calls so far */
	         allowed;       /* number of GET and SET calls that may pass; others wait */
	unsigned expires;
	bool cut, interrupted;  /* cut: the next GET or SET call fails; interrupted: each fails */
	unsigned wakes;
};

static int gate_call(void *context, const struct iovec *args, size_t n, redisReply **reply)
{
	struct gate *g = context;
	const char *name = args[0].iov_base;
	int err = 0;
	pthread_mutex_lock(&g->lock);
	g->expires += strcmp(name, "EXPIRE") == 0;
	if (strcmp(name, "GET") == 0 || strcmp(name, "SET") == 0) {
		while (g->gets >= g->allowed && !g->cut && !g->interrupted)
			pthread_cond_wait(&g->changed, &g->lock);
		err = g->interrupted ? -ECANCELED : g->cut ? -ECONNRESET : 0;
		g->gets += !err;
		g->cut = false;
	}
	pthread_mutex_unlock(&g->lock);
	return err ? weir_fail(err, "the gate is shut") : test_call(&g->link, args, n, reply);
}

static void gate_set(struct gate *g, unsigned allowed, bool cut, bool interrupted)
{
	pthread_mutex_lock(&g->lock);
	g->allowed = allowed;
	g->cut = cut;
	g->interrupted = interrupted;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void interrupt(void *context)
{
	gate_set(context, 0, false, true);
}

static void rest(void *context)
{
	gate_set(context, 0, false, false);
}

static void wake(void *context)
{
	struct gate *g = context;
	pthread_mutex_lock(&g->lock);
	g->wakes++;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void wait_for(struct gate *g, const unsigned *number, unsigned value)
{
	pthread_mutex_lock(&g->lock);
	while (*number < value)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void wait_gets(struct gate *g, unsigned value)
{
	for (bool there = false; !there; usleep(1000)) {
		pthread_mutex_lock(&g->lock);
		there = g->gets >= value;
		pthread_mutex_unlock(&g->lock);
	}
}

static void open_gate(struct node *n, struct gate *g)
{
	*g = (struct gate){ .lock = PTHREAD_MUTEX_INITIALIZER, .link = { &server, NULL },
		            .changed = PTHREAD_COND_INITIALIZER };
	*n = (struct node){ .id = 0 };
	struct weir_redis_options o = node_options(&server, n);
	/* Both links use gate_call(), but only the image link has a closed gate. */
	static struct gate open;
	open = (struct gate){ .lock = PTHREAD_MUTEX_INITIALIZER, .link = { &server, NULL },
		              .allowed = UINT32_MAX };
	o.call = gate_call;
	o.link = &open;
	o.image_link = g;
	o.interrupt = interrupt;
	o.rest = rest;
	o.wake = wake;
	o.wake_context = g;
	node_open_with(n, &o);
}

static void close_gate(struct node *n, struct gate *g)
{
	struct gate *open = n->redis->o.link;
	weir__redis_close(n->redis);
	redisFree(open->link.redis);
	if (g->link.redis)
		redisFree(g->link.redis);
}

static void test_the_node_goes_on_while_an_image_comes(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f;
	(void)state;
	open_gate(&n, &g);
	gate_set(&g, UINT32_MAX, false, false);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	gate_set(&g, g.gets + 1, false, false);
	unsigned before = g.wakes, gets = g.gets;
	assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
	append(&n, 1);
	wait_gets(&g, gets + 1);
	assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
	append(&n, 1);
	gate_set(&g, UINT32_MAX, false, false);
	wait_for(&g, &g.wakes, before + 1);
	assert_ok(n.store->image(n.store->context, &m, &f));
	weir_destroy(f);
	close_gate(&n, &g);
}

static void test_a_fetch_resumes_after_a_connection_error(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f;
	(void)state;
	open_gate(&n, &g);
	gate_set(&g, UINT32_MAX, false, false);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	g.gets = 0;
	gate_set(&g, 2, false, false);
	assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
	wait_gets(&g, 2);
	unsigned before = g.wakes;
	gate_set(&g, 2, true, false);
	wait_for(&g, &g.wakes, before + 1);
	assert_refused(n.store->image(n.store->context, &m, &f), -ECONNRESET, "gate", "shut");
	gate_set(&g, UINT32_MAX, false, false);
	assert_ok(fetch(&n, &m, &f));
	assert_int_equal(g.gets, m.chunks);
	weir_destroy(f);
	close_gate(&n, &g);
}

static void test_a_fetch_of_another_image_cancels_the_first(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f;
	(void)state;
	open_gate(&n, &g);
	gate_set(&g, UINT32_MAX, false, false);
	struct weir_manifest m = generation(&n, 0, 5000, 1500000);
	struct weir_manifest next = generation(&n, 5000, 5000, 20000);
	gate_set(&g, 0, false, false);
	assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
	for (int err = -EINPROGRESS; err == -EINPROGRESS;) {
		err = n.store->image(n.store->context, &next, &f);
		if (!g.interrupted)
			gate_set(&g, UINT32_MAX, false, false);
		assert_true(err == 0 || err == -EINPROGRESS);
	}
	assert_has(f, 5000, 5000);
	weir_destroy(f);
	close_gate(&n, &g);
}

static void test_another_upload_cancels_the_first(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f = filter_of(0, 1000, 20000), *other = filter_of(7000, 1000, 20000);
	struct weir_filter *again;
	(void)state;
	open_gate(&n, &g);
	beat(&n);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_int_equal(n.store->upload(n.store->context, f, &m), -EINPROGRESS);
	m = manifest_of(&n, other, (struct weir_version){ 1, 1 });
	for (int err = -EINPROGRESS; err == -EINPROGRESS;) {
		err = n.store->upload(n.store->context, other, &m);
		if (!g.interrupted)
			gate_set(&g, UINT32_MAX, false, false);
		assert_true(err == 0 || err == -EINPROGRESS);
	}
	assert_ok(fetch(&n, &m, &again));
	assert_has(again, 7000, 1000);
	weir_destroy(again);
	weir_destroy(other);
	weir_destroy(f);
	close_gate(&n, &g);
}

static void test_close_stops_a_transfer(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		open_gate(&n, &g);
		gate_set(&g, UINT32_MAX, false, false);
		struct weir_manifest m = generation(&n, 5000 * i, 5000, 1500000);
		g.gets = 0;
		gate_set(&g, i, false, false);
		assert_int_equal(n.store->image(n.store->context, &m, &f), -EINPROGRESS);
		wait_gets(&g, i);
		close_gate(&n, &g); /* joins the thread */
	}
}

/* The first call copies the filter, so the image lacks later inserts. */
static void test_an_upload_is_of_its_first_call(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f = filter_of(0, 1000, 20000), *again;
	(void)state;
	open_gate(&n, &g);
	beat(&n);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_int_equal(n.store->upload(n.store->context, f, &m), -EINPROGRESS);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(weir_insert_u64(f, test_key(7000 + i)) >= 0);
	gate_set(&g, UINT32_MAX, false, false);
	assert_ok(upload(&n, f, &m));
	assert_ok(publish(&n, &m));
	assert_ok(fetch(&n, &m, &again));
	struct weir_filter *first = filter_of(0, 1000, 20000);
	struct weir_stats a = WEIR_STATS_INIT, b = WEIR_STATS_INIT;
	assert_ok(weir_measure(first, WEIR_EXACT, &a));
	assert_ok(weir_measure(again, WEIR_EXACT, &b));
	assert_true(a.fill >= b.fill && b.fill >= a.fill);
	weir_destroy(first);
	weir_destroy(again);
	weir_destroy(f);
	close_gate(&n, &g);
}

static void test_only_chunks_that_would_expire_are_renewed(void **state)
{
	struct node n;
	struct gate g;
	struct weir_filter *f = filter_of(0, 5000, 1500000), *again;
	char key[2 * WEIR_KEY_TEXT];
	(void)state;
	open_gate(&n, &g);
	n.redis->renew_ms = 0;
	beat(&n);
	gate_set(&g, 1, false, false);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_int_equal(n.store->upload(n.store->context, f, &m), -EINPROGRESS);
	wait_gets(&g, 1);
	while (ask(&server, NULL, "DBSIZE") < 4) /* keys: head, log, nodes, one chunk */
		usleep(1000);
	redisReply *keys = redisCommand(server.redis, "KEYS *:0");
	ask(&server, NULL, "EXPIRE %s 60", keys->element[0]->str);
	freeReplyObject(keys);
	gate_set(&g, UINT32_MAX, false, false);
	assert_ok(upload(&n, f, &m));
	assert_in_range(left_of(&server, &m, 0), 100, 120);
	/* A fetch renews the chunks that it has not read yet. */
	for (unsigned i = 0; i < m.chunks; i++)
		ask(&server, NULL, "EXPIRE %s 60", chunk(key, &m, i));
	assert_ok(fetch(&n, &m, &again));
	for (unsigned i = 0; i < m.chunks; i++)
		assert_in_range(left_of(&server, &m, i), 100, 120);
	weir_destroy(again);
	assert_ok(publish(&n, &m));
	g.expires = 0;
	assert_ok(fetch(&n, &m, &again));
	assert_int_equal(g.expires, m.chunks); /* only one EXPIRE for each chunk */
	for (unsigned i = 0; i < m.chunks; i++)
		assert_int_equal(left_of(&server, &m, i), -1);
	weir_destroy(again);
	weir_destroy(f);
	close_gate(&n, &g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_uploaded_is_fetched),
		TEST(test_a_packed_image_is_smaller_and_the_same_set),
		TEST(test_a_missing_or_damaged_chunk_is_said_and_loads_nothing),
		TEST(test_an_upload_repairs_a_damaged_chunk_and_leaves_its_time),
		TEST(test_an_image_of_another_kind_seed_or_steps_is_refused),
		TEST(test_the_node_goes_on_while_an_image_comes),
		TEST(test_a_fetch_resumes_after_a_connection_error),
		TEST(test_a_fetch_of_another_image_cancels_the_first),
		TEST(test_another_upload_cancels_the_first),
		TEST(test_close_stops_a_transfer),
		TEST(test_an_upload_is_of_its_first_call),
		TEST(test_only_chunks_that_would_expire_are_renewed),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
