/* SPDX-License-Identifier: MIT
 * Publish on a real server: what the script compares, keeps and drops. */
#include "generations.h"

/* The refused publication may change only the expiry of chunks. */
static void assert_refused_publication(struct node *n, struct weir_manifest *m, int err,
                                       const char *why)
{
	long long entries = ask(&server, NULL, "XLEN {weir:test}:2:log");
	long long kept = ask(&server, NULL, "HLEN {weir:test}:2:kept");
	char before[4096], after[4096];
	ask(&server, before, "HGET {weir:test}:2:head version");
	int is = publish(n, m);
	assert_refused(is, err, why, "set test");
	ask(&server, after, "HGET {weir:test}:2:head version");
	assert_string_equal(before, after);
	assert_int_equal(entries, ask(&server, NULL, "XLEN {weir:test}:2:log"));
	assert_int_equal(kept, ask(&server, NULL, "HLEN {weir:test}:2:kept"));
}

static void assert_same(const struct weir_manifest *a, const struct weir_manifest *b)
{
	char one[WEIR_MANIFEST_TEXT], two[WEIR_MANIFEST_TEXT];
	size_t n = weir__manifest_write(one, a);
	assert_int_equal(weir__manifest_write(two, b), n);
	assert_memory_equal(one, two, n);
}

static void test_a_generation_becomes_the_head_and_is_announced(void **state)
{
	struct node n, other;
	struct weir_manifest m, read;
	(void)state;
	node_open(&n, &server);
	node_open(&other, &server);
	append(&n, 3);
	assert_refused(n.store->manifest(n.store->context, &read), -ENOENT, "test", "no gen");
	const uint64_t tag = n.head.tag;
	m = generation(&n, 0, 1000, 20000);
	assert_true(m.signed_ms != 0 && m.expires_ms == 0);
	assert_true(n.head.version.era == 1 && n.head.version.number == 1 &&
	            n.head.generation == m.id);
	assert_true(n.head.last.epoch == 1 && n.head.last.n == 3 && n.head.tag != tag);
	assert_ok(other.store->manifest(other.store->context, &read));
	assert_same(&read, &m);
	assert_int_equal(left_of(&server, &m, 0), -1);
	char text[4096];
	redisReply *a = redisCommand(server.redis, "XREVRANGE {weir:test}:2:log + - COUNT 1");
	const redisReply *fields = a->element[0]->element[1];
	assert_string_equal(fields->element[3]->str, weir__hex_write(text, tag));
	assert_string_equal(fields->element[4]->str, "g");
	assert_string_equal(fields->element[5]->str, "1.1");
	freeReplyObject(a);
	append(&n, 1); /* the chain of tags continues */
	assert_true(n.head.last.n == 4);
	node_close(&n);
	node_close(&other);
}

/* Return: the tag of the last entry but one, as the last entry names it. */
static uint64_t tag_before_the_last(void)
{
	uint64_t tag;
	redisReply *a = redisCommand(server.redis, "XREVRANGE {weir:test}:2:log + - COUNT 1");
	const redisReply *text = a->element[0]->element[1]->element[3];
	assert_true(weir__hex_read(&tag, text->str, text->len));
	freeReplyObject(a);
	return tag;
}

static uint64_t ask_number(const char *question)
{
	char text[4096];
	ask(&server, text, question);
	return strtoull(text, NULL, 10);
}

static void test_publish_is_refused_after_a_change(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_refused_publication(&n, &m, -EBADMSG, "so many chunks");
	assert_ok(upload(&n, f, &m));
	const struct weir_head right = n.head;
	n.head.mark++;
	assert_refused_publication(&n, &m, -ESTALE, "another epoch");
	n.head = right;
	n.head.version = (struct weir_version){ 1, 1 };
	m.version.number = 2;
	assert_refused_publication(&n, &m, -EEXIST, "another node published");
	assert_int_equal(chunks_of(&server, &m), 0); /* no generation needs these chunks */
	n.head = right;
	assert_refused_publication(&n, &m, -ENOENT, "upload it again");
	assert_ok(upload(&n, f, &m));
	m.tag++;
	assert_refused_publication(&n, &m, -ESTALE, "another entry");
	m.tag--;
	m.position.n++;
	assert_refused_publication(&n, &m, -ESTALE, "another entry");
	m.position.n--;
	ask(&server, NULL, "HSET {weir:test}:2:head run 00");
	assert_refused_publication(&n, &m, -ESTALE, "another epoch");
	beat(&n);
	append(&n, 1);
	const uint64_t tag = n.head.tag;
	assert_ok(publish(&n, &m)); /* a position may be before the end of the log */
	assert_true(tag_before_the_last() == tag);
	assert_int_equal(ask_number("HGET {weir:test}:2:head bytes"), m.bytes);
	m.version = (struct weir_version){ 1, 1 };
	n.head.version = (struct weir_version){ 1, 2 };
	assert_refused_publication(&n, &m, -EINVAL, "above the head");
	weir_destroy(f);
	node_close(&n);
}

static void test_a_deleted_log_is_not_revived(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&n, f, &m));
	ask(&server, NULL, "DEL {weir:test}:2:log");
	assert_refused_publication(&n, &m, -ESTALE, "the log is gone");
	assert_int_equal(ask(&server, NULL, "EXISTS {weir:test}:2:log"), 0);
	weir_destroy(f);
	node_close(&n);
}

static void test_a_position_whose_entry_was_deleted_is_known_by_the_next(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	append(&n, 3);
	assert_ok(upload(&n, f, &m));
	ask(&server, NULL, "XDEL {weir:test}:2:log 1-2");
	m.tag++;
	assert_refused_publication(&n, &m, -ESTALE, "another entry");
	m.tag--;
	assert_ok(publish(&n, &m));
	weir_destroy(f);
	node_close(&n);
}

static void test_a_head_that_is_not_the_logs_is_stale(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&n, f, &m));
	ask(&server, NULL, "XADD {weir:test}:2:log 1-9 t 00000000000000ff");
	assert_refused_publication(&n, &m, -ESTALE, "not the one of this log");
	const uint64_t mark = n.head.mark;
	beat(&n); /* the heartbeat begins the epoch; otherwise publications fail until an insert */
	assert_true(n.head.prev == mark && n.head.mark != mark);
	assert_true(n.head.last.epoch == 2 && n.head.base.n == 9);
	m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&n, f, &m));
	assert_ok(publish(&n, &m));
	weir_destroy(f);
	node_close(&n);
}

static void test_chunks_are_all_there_and_of_their_sizes(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 1500000);
	struct weir_key_names keys;
	char image[WEIR_KEY_TEXT], last[WEIR_KEY_TEXT + 16];
	(void)state;
	weir__keys_make(&keys, "test");
	node_open(&n, &server);
	append(&n, 3);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&n, f, &m));
	assert_true(m.chunks >= 3 && chunks_of(&server, &m) == (long long)m.chunks);
	weir__key_of_image(image, &keys, m.image);
	snprintf(last, sizeof last, "%s%u", image, (unsigned)m.chunks - 1);
	ask(&server, NULL, "APPEND %s x", last);
	assert_refused_publication(&n, &m, -ENOENT, "upload it again");
	ask(&server, NULL, "SETRANGE %s1 %d x", image, WEIR_CHUNK);
	assert_refused_publication(&n, &m, -ENOENT, "WEIRCHUNK 1");
	assert_ok(upload(&n, f, &m)); /* the upload repairs the chunks */
	assert_ok(publish(&n, &m));
	for (unsigned i = 0; i < m.chunks; i++)
		assert_int_equal(left_of(&server, &m, i), -1);
	weir_destroy(f);
	node_close(&n);
}

struct kept {
	size_t n;
	struct weir_manifest m[8];
	int (*trusted)(void *trust, const struct weir_manifest *m, const char *text, size_t len,
	               const char *line, size_t line_len);
};

static int see_kept(void *context, const struct weir_manifest *m, const char *text, size_t len,
                    const char *line, size_t line_len)
{
	struct kept *k = context;
	assert_true(k->n < 8);
	k->m[k->n++] = *m;
	return k->trusted ? k->trusted("me", m, text, len, line, line_len) :
	                    line_len == 0 ? 0 : -EBADMSG;
}

/* Return: true if exactly the versions with these two numbers are kept, in any era. */
static bool is_kept(struct node *n, uint64_t one, uint64_t two)
{
	struct kept k = { .n = 0 };
	assert_ok(weir__redis_kept(n->redis, see_kept, &k));
	return k.n == 2 && k.m[0].version.number + k.m[1].version.number == one + two &&
	       (k.m[0].version.number == one || k.m[1].version.number == one);
}

static void test_generations_beyond_keep_are_dropped_with_their_chunks(void **state)
{
	struct node n;
	struct weir_manifest m[4];
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	for (unsigned i = 0; i < 4; i++) {
		m[i] = generation(&n, 1000 * i, 1000, 20000);
		append(&n, 1);
	}
	assert_true(is_kept(&n, 3, 4));
	assert_int_equal(left_of(&server, &m[3], 0), -1);
	assert_int_equal(left_of(&server, &m[2], 0), -1);
	for (unsigned i = 0; i < 2; i++) /* dropped images stay for nodes that fetch them */
		assert_in_range(left_of(&server, &m[i], 0), 1, 120);
	/* The log starts at the oldest kept position. */
	redisReply *a = redisCommand(server.redis, "XRANGE {weir:test}:2:log - + COUNT 1");
	char id[WEIR_ID_TEXT];
	assert_string_equal(a->element[0]->element[0]->str,
	                    weir__log_id_write(id, m[2].position));
	freeReplyObject(a);
	node_close(&n);
}

/* Equal images share their chunks, so a refused or dropped generation must not delete chunks. */
static void test_an_image_that_a_kept_generation_names_stays(void **state)
{
	struct node n, late;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	node_open(&late, &server);
	append(&n, 3);
	beat(&late);
	struct weir_manifest first = generation(&n, 0, 1000, 20000);
	struct weir_manifest losing = manifest_of(&late, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&late, f, &losing));
	assert_memory_equal(losing.image, first.image, WEIR_IMAGE_HASH);
	assert_int_equal(left_of(&server, &first, 0), -1); /* no expiry */
	assert_int_equal(publish(&late, &losing), -EEXIST);
	assert_int_equal(left_of(&server, &first, 0), -1);
	struct weir_manifest other = generation(&n, 5000, 1000, 20000);
	struct weir_manifest again = generation(&n, 0, 1000, 20000);
	generation(&n, 7000, 1000, 20000);
	assert_int_equal(left_of(&server, &again, 0), -1);
	assert_in_range(left_of(&server, &other, 0), 1, 120);
	generation(&n, 0, 1000, 20000);
	generation(&n, 5000, 1000, 20000); /* this image's chunks are those of `other` */
	assert_int_equal(left_of(&server, &other, 0), -1);
	weir_destroy(f);
	node_close(&n);
	node_close(&late);
}

static void test_versions_and_positions_are_compared_as_numbers(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	static const uint64_t numbers[] = { 9, 10, 9007199254740990, 9007199254740991 };
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, numbers[i] });
		assert_ok(upload(&n, f, &m));
		assert_ok(publish(&n, &m));
		beat(&n);
		assert_true(i == 0 || is_kept(&n, numbers[i], numbers[i - 1]));
	}
	weir_destroy(f);
	node_close(&n);
}

static void test_a_full_server_takes_a_generation_and_trims_its_log(void **state)
{
	struct node n;
	struct weir_filter *f = filter_of(0, 1000, 20000);
	(void)state;
	node_open(&n, &server);
	beat(&n);
	for (unsigned i = 0; i < 50; i++)
		append(&n, WEIR_ENTRY_HASHES);
	struct weir_manifest m = manifest_of(&n, f, (struct weir_version){ 1, 1 });
	assert_ok(upload(&n, f, &m));
	ask(&server, NULL, "CONFIG SET maxmemory 1000000");
	struct weir_manifest no_room = m;
	no_room.id++;
	struct weir_filter *g = filter_of(5, 1000, 20000);
	assert_refused(upload(&n, g, &no_room), -ENOSPC, "raise maxmemory", "OOM");
	assert_ok(publish(&n, &m));
	assert_int_equal(ask(&server, NULL, "XLEN {weir:test}:2:log"), 2);
	weir_destroy(f);
	weir_destroy(g);
	node_close(&n);
}

static void test_invalid_kept_values_are_dropped(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	ask(&server, NULL, "HSET {weir:test}:2:kept x y 9.9 nothing 7.7 %s 8.8 %s",
	    "\nposition 1-1 0\nimage 00 1 99999999\n", "\nposition 1-1 0\nimage 01 1 1\n");
	generation(&n, 0, 1000, 20000);
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:kept"), 1);
	struct weir_manifest m = generation(&n, 1000, 1000, 20000);
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:kept"), 2);
	assert_int_equal(left_of(&server, &m, 0), -1);
	assert_true(is_kept(&n, 1, 2));
	char text[4096];
	ask(&server, text, "HGET {weir:test}:2:kept 1.1");
	ask(&server, NULL, "HSET {weir:test}:2:kept 1.3 %s", text);
	assert_true(is_kept(&n, 1, 2)); /* a manifest under a wrong version is ignored */
	node_close(&n);
}

static void test_reports_of_nodes_that_ended_go(void **state)
{
	struct node n;
	(void)state;
	node_open(&n, &server);
	beat(&n);
	ask(&server, NULL, "HSET {weir:test}:2:nodes 00000000000000ff %b", "1000 old", (size_t)8);
	ask(&server, NULL, "HSET {weir:test}:2:nodes x y");
	generation(&n, 0, 1000, 20000);
	assert_int_equal(ask(&server, NULL, "HLEN {weir:test}:2:nodes"), 1);
	node_close(&n);
}

static void test_a_manifest_beside_another_version_or_set_is_refused(void **state)
{
	struct node n;
	struct weir_manifest m;
	(void)state;
	node_open(&n, &server);
	append(&n, 3);
	generation(&n, 0, 1000, 20000);
	ask(&server, NULL, "HSET {weir:test}:2:head version 1.2");
	assert_refused(n.store->manifest(n.store->context, &m), -EBADMSG, "version", "head");
	ask(&server, NULL, "HSET {weir:test}:2:head version 1.1 manifest x");
	assert_refused(n.store->manifest(n.store->context, &m), -EBADMSG, "line 1", "set test");
	char text[4096];
	generation(&n, 9, 1000, 20000);
	ask(&server, text, "HGET {weir:test}:2:head manifest");
	memcpy(strstr(text, "set test"), "set teSt", 8);
	ask(&server, NULL, "HSET {weir:test}:2:head manifest %s", text);
	assert_refused(n.store->manifest(n.store->context, &m), -EBADMSG, "teSt", "set test");
	node_close(&n);
}

/* ---- trust, signatures and the lease ---- */

static int sign(void *signer, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM])
{
	snprintf(line, WEIR_SIGNATURE_ROOM, "%s %zu %.1s", (const char *)signer, len, text);
	return 0;
}

static int trusted(void *trust, const struct weir_manifest *m, const char *text, size_t len,
                   const char *line, size_t line_len)
{
	char wanted[WEIR_SIGNATURE_ROOM];
	sign(trust, text, len, wanted);
	return line_len == strlen(wanted) && memcmp(line, wanted, line_len) == 0 && m->id ?
		0 : weir_fail(-EKEYREJECTED, "nobody has signed it");
}

static void test_signatures_are_made_kept_and_asked_for(void **state)
{
	struct node n = { .id = 0 };
	struct weir_redis_options o = node_options(&server, &n);
	struct weir_manifest m, read;
	struct kept kept = { .trusted = trusted };
	(void)state;
	o.sign = sign;
	o.signer = "me";
	o.trusted = trusted;
	o.trust = "me";
	o.expires_ms = 86400000;
	node_open_with(&n, &o);
	m = generation(&n, 0, 1000, 20000);
	assert_true(m.expires_ms == m.signed_ms + 86400000);
	assert_ok(n.store->manifest(n.store->context, &read));
	assert_ok(weir__redis_kept(n.redis, see_kept, &kept));
	assert_true(kept.n == 1 && kept.m[0].id == m.id);
	ask(&server, NULL, "HSET {weir:test}:2:head signature you");
	assert_int_equal(n.store->manifest(n.store->context, &read), -EKEYREJECTED);
	ask(&server, NULL, "HDEL {weir:test}:2:head signature");
	assert_int_equal(n.store->manifest(n.store->context, &read), -EKEYREJECTED);
	node_close(&n);
}

static void test_the_lease_is_one_nodes_and_renewed_by_it(void **state)
{
	struct node a, b;
	(void)state;
	node_open(&a, &server);
	node_open(&b, &server);
	assert_ok(a.store->lease(a.store->context, a.id, 3000));
	assert_refused(b.store->lease(b.store->context, b.id, 3000), -EPERM, "another node", "");
	ask(&server, NULL, "PEXPIRE {weir:test}:2:lease 60000");
	assert_ok(a.store->lease(a.store->context, a.id, 3000));
	assert_in_range(ask(&server, NULL, "PTTL {weir:test}:2:lease"), 1, 3000);
	ask(&server, NULL, "DEL {weir:test}:2:lease");
	assert_ok(b.store->lease(b.store->context, b.id, 3000));
	node_close(&a);
	node_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_generation_becomes_the_head_and_is_announced),
		TEST(test_publish_is_refused_after_a_change),
		TEST(test_a_deleted_log_is_not_revived),
		TEST(test_a_position_whose_entry_was_deleted_is_known_by_the_next),
		TEST(test_a_head_that_is_not_the_logs_is_stale),
		TEST(test_chunks_are_all_there_and_of_their_sizes),
		TEST(test_generations_beyond_keep_are_dropped_with_their_chunks),
		TEST(test_an_image_that_a_kept_generation_names_stays),
		TEST(test_versions_and_positions_are_compared_as_numbers),
		TEST(test_a_full_server_takes_a_generation_and_trims_its_log),
		TEST(test_invalid_kept_values_are_dropped),
		TEST(test_reports_of_nodes_that_ended_go),
		TEST(test_a_manifest_beside_another_version_or_set_is_refused),
		TEST(test_signatures_are_made_kept_and_asked_for),
		TEST(test_the_lease_is_one_nodes_and_renewed_by_it),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
