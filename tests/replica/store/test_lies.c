/* SPDX-License-Identifier: MIT
 * A redis whose answers are forged: a call returns an error, or skips the invalid values.
 * No call allocates memory for sizes that an answer only declares. The tests need no server. */
#include <hiredis/hiredis.h>
#include "../../test.h"
#include "store/parts.h"

#define SHA "$40\r\n0123456789012345678901234567890123456789\r\n"
#define HEX "$16\r\n00000000000000ff\r\n"
#define ID "$3\r\n1-2\r\n"
#define EMPTY "$0\r\n\r\n"
#define NUMBER "$1\r\n7\r\n"

enum { ANSWERS = 12 };

struct liar {
	const char *answers[ANSWERS];
	unsigned asked;
	char said[ANSWERS][32]; /* the command of each call */
	int err;                /* if not 0, each call fails with this error */
};

static redisReply *parse(const char *text)
{
	void *reply = NULL;
	redisReader *reader = redisReaderCreate();
	assert_int_equal(redisReaderFeed(reader, text, strlen(text)), REDIS_OK);
	assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
	assert_non_null(reply);
	redisReaderFree(reader);
	return reply;
}

static int call(void *link, const struct iovec *args, size_t n, redisReply **reply)
{
	struct liar *l = link;
	assert_true(n > 0 && l->asked < ANSWERS);
	if (l->err)
		return weir_fail(l->err, "no connection");
	snprintf(l->said[l->asked], 32, "%.*s", (int)args[0].iov_len,
	         (const char *)args[0].iov_base);
	const char *text = l->answers[l->asked++];
	assert_non_null(text);
	*reply = parse(text);
	return 0;
}

static struct weir_redis *open_liar(struct liar *l)
{
	struct weir_redis *r;
	const struct weir_redis_options o = { .set = "test", .call = call, .link = l,
		.image_link = l, .max_image_bytes = 1 << 24, .keep = 2, .grace_ms = 1000 };
	assert_ok(weir__redis_open(&r, &o));
	return r;
}

/* ---- touch ---- */

static void touch_refused(const char *answer, int err, const char *why)
{
	struct liar l = { .answers = { SHA, answer } };
	struct weir_redis *r = open_liar(&l);
	struct weir_head head = { .mark = 4711 };
	const struct weir_touch t = { .node = 1 };
	assert_refused(r->store.touch(r, &t, &head), err, "set test", why);
	assert_int_equal(head.mark, 4711);
	weir__redis_close(r);
}

static void test_a_touch_of_another_form_is_refused(void **state)
{
	static const char *const answers[] = { "+OK\r\n", "$-1\r\n", ":1\r\n", "*0\r\n", "*-1\r\n",
		"*1\r\n" HEX,
		"*12\r\n" HEX HEX ID ID ID HEX EMPTY EMPTY ":0\r\n" NUMBER "+x\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID ID HEX EMPTY HEX ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID ID HEX "$3\r\n0.1\r\n" HEX ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID ID HEX "$3\r\n1.1\r\n" EMPTY ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID ID EMPTY EMPTY EMPTY ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID EMPTY HEX EMPTY EMPTY ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX "*0\r\n" ID ID HEX EMPTY EMPTY ":0\r\n" NUMBER ":0\r\n:0\r\n",
		"*12\r\n" "$16\r\n0000000000000000\r\n" HEX ID ID ID HEX EMPTY EMPTY ":0\r\n"
			NUMBER ":0\r\n:0\r\n",
		"*12\r\n" HEX HEX ID ID ID HEX EMPTY EMPTY ":-1\r\n" NUMBER ":0\r\n:0\r\n",
		"*13\r\n" HEX HEX ID ID ID HEX EMPTY EMPTY ":0\r\n" NUMBER ":0\r\n:0\r\n:0\r\n" };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(answers); i++)
		touch_refused(answers[i], -EPROTO, "touch");
	struct liar l = { .answers = { SHA,
		"*12\r\n" HEX HEX ID ID ID HEX EMPTY EMPTY ":9999999\r\n" NUMBER ":1\r\n:1\r\n" } };
	struct weir_redis *r = open_liar(&l);
	struct weir_head head;
	const struct weir_touch t = { .node = 1 };
	assert_ok(r->store.touch(r, &t, &head));
	assert_true(head.mark == 255 && head.last.n == 2 && head.full && head.replicas == 1000);
	weir__redis_close(r);
}

static void test_errors_of_redis_are_errnos_with_their_remedies(void **state)
{
	static const struct { const char *answer; int err; const char *why; } known[] = {
		{ "-LOADING Redis is loading\r\n", -EAGAIN, "wait" },
		{ "-MASTERDOWN Link with MASTER is down\r\n", -EAGAIN, "another server" },
		{ "-READONLY You can't write\r\n", -EAGAIN, "name the master" },
		{ "-NOREPLICAS Not enough\r\n", -EAGAIN, "min-replicas-to-write" },
		{ "-MISCONF Redis is configured\r\n", -EAGAIN, "see its log" },
		{ "-OOM command not allowed\r\n", -ENOSPC, "maxmemory" },
		{ "-NOPERM this user\r\n", -EACCES, "ACL rules" },
		{ "-ERR The user executing the script can't run this\r\n", -EACCES, "ACL rules" },
		{ "-WRONGPASS invalid\r\n", -EACCES, "password" },
		{ "-NOAUTH Authentication required.\r\n", -EACCES, "password" },
		{ "-WRONGTYPE Operation\r\n", -EBADMSG, "UNLINK" },
		{ "-WEIRSTALE x\r\n", -ESTALE, "epoch" },
		{ "-WEIRBASE 1.2\r\n", -EEXIST, "1.2" },
		{ "-WEIRCHUNK 3\r\n", -ENOENT, "upload" },
		{ "-WEIRIDS x\r\n", -EOVERFLOW, "UNLINK" },
		{ "-ERR unknown command\r\n", -EPROTO, "7.0" },
		{ "-ERR Unsupported option GT\r\n", -EPROTO, "7.0" },
		{ "-ERR syntax error\r\n", -EPROTO, "7.0" },
		{ "-SOMETHING else\r\n", -EPROTO, "SOMETHING else" },
		{ "-\r\n", -EPROTO, "not expected" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(known); i++)
		touch_refused(known[i].answer, known[i].err, known[i].why);
}

static void test_an_unknown_script_is_sent_once_and_no_more(void **state)
{
	struct liar l = { .answers = { SHA, "-NOSCRIPT No matching script.\r\n",
	                               "-NOSCRIPT No matching script.\r\n" } };
	struct weir_redis *r = open_liar(&l);
	struct weir_head head;
	const struct weir_touch t = { .node = 1 };
	(void)state;
	assert_refused(r->store.touch(r, &t, &head), -EPROTO, "NOSCRIPT", "not expected");
	assert_int_equal(l.asked, 3);
	assert_string_equal(l.said[1], "EVALSHA");
	assert_string_equal(l.said[2], "EVAL");
	weir__redis_close(r);
	touch_refused("-NOSCRIP\r\n", -EPROTO, "not expected");
	l = (struct liar){ .answers = { "$3\r\nabc\r\n" } };
	r = open_liar(&l);
	assert_refused(r->store.touch(r, &t, &head), -EPROTO, "SCRIPT LOAD", "form");
	weir__redis_close(r);
}

static void test_an_error_of_the_connection_is_passed_on(void **state)
{
	struct liar l = { .err = -ETIMEDOUT };
	struct weir_redis *r = open_liar(&l);
	struct weir_head head;
	struct weir_manifest m;
	static struct weir_redis_status s;
	const struct weir_touch t = { .node = 1 };
	uint64_t n;
	(void)state;
	assert_int_equal(r->store.touch(r, &t, &head), -ETIMEDOUT);
	assert_int_equal(r->store.manifest(r, &m), -ETIMEDOUT);
	assert_int_equal(r->store.lease(r, 1, 1000), -ETIMEDOUT);
	assert_int_equal(weir__redis_status(r, &s), -ETIMEDOUT);
	assert_int_equal(weir__redis_wait(r, 1, 1), -ETIMEDOUT);
	assert_int_equal(weir__redis_unlink(r, &n), -ETIMEDOUT);
	weir__redis_close(r);
}

/* ---- the log ---- */

static unsigned unread;

static int count(void *context, const struct weir_entry *e)
{
	unsigned *n = context;
	assert_true(e->id.epoch == 1 && e->id.n == 3 + *n);
	unread += e->kind == WEIR_ENTRY_UNREAD;
	return ++*n == 100 ? -ECANCELED : 0;
}

#define ENTRY(id) "*2\r\n$3\r\n" id "\r\n*6\r\n$1\r\nt\r\n" HEX "$1\r\na\r\n" HEX \
	"$1\r\ng\r\n$3\r\n1.1\r\n"

/* Return: the result of read(). @given: receives the number of entries. */
static int read_of(const char *answer, size_t *given)
{
	struct liar l = { .answers = { answer } };
	struct weir_redis *r = open_liar(&l);
	unsigned n = 0;
	const struct weir_log_id after = { 1, 2 };
	int err = r->store.read(r, after, 2, count, &n, given);
	assert_int_equal(n, *given);
	weir__redis_close(r);
	return err;
}

static void test_a_log_of_another_form_is_refused(void **state)
{
	static const struct { const char *answer; int err; unsigned given; } lies[] = {
		{ "+OK\r\n", -EPROTO, 0 },
		/* more entries than requested, or an id that is not above the last id */
		{ "*3\r\n" ENTRY("1-3") ENTRY("1-4") ENTRY("1-5"), -EPROTO, 0 },
		{ "*1\r\n" ENTRY("1-2"), -EPROTO, 0 },
		{ "*2\r\n" ENTRY("1-3") ENTRY("1-3"), -EPROTO, 1 },
		{ "*2\r\n" ENTRY("1-3") "+x\r\n", -EPROTO, 1 },
		{ "*1\r\n*1\r\n$3\r\n1-3\r\n", -EPROTO, 0 },
		{ "*1\r\n*2\r\n$3\r\n1-3\r\n$-1\r\n", -EPROTO, 0 },
		{ "*1\r\n*2\r\n$3\r\n1x3\r\n*0\r\n", -EPROTO, 0 },
		{ "*1\r\n*2\r\n$3\r\n1-3\r\n*1\r\n:1\r\n", -EPROTO, 0 },
		{ "*-1\r\n", -EPROTO, 0 },
		{ "*2\r\n" ENTRY("1-3") ENTRY("1-4"), 0, 2 },
		{ "*0\r\n", 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(lies); i++) {
		size_t given;
		int err = read_of(lies[i].answer, &given);
		if (err != lies[i].err || given != lies[i].given)
			fail_msg("%zu: %s: %s, %zu", i, weir_error_name(err), weir_error_detail(),
			         given);
	}
	assert_int_equal(unread, 0);
}

static void test_an_invalid_entry_is_passed_with_its_id(void **state)
{
	static const char *const answers[] = {
		"*2\r\n*2\r\n$3\r\n1-3\r\n*0\r\n" ENTRY("1-4"),
		"*2\r\n" ENTRY("1-3") "*2\r\n$3\r\n1-4\r\n*2\r\n$1\r\nt\r\n" HEX,
		"*2\r\n*2\r\n$3\r\n1-3\r\n*10\r\n$1\r\nt\r\n" HEX "$1\r\na\r\n" HEX
		"$1\r\ng\r\n" EMPTY EMPTY EMPTY EMPTY EMPTY ENTRY("1-4"), /* an entry of a later
		                                                             version */
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		size_t given;
		unread = 0;
		assert_ok(read_of(answers[i], &given));
		assert_int_equal(given, 2);
		assert_int_equal(unread, 1);
	}
}

/* ---- manifests, kept generations, images ---- */

static void manifest_refused(const char *answer, int err, const char *why)
{
	struct liar l = { .answers = { answer } };
	struct weir_redis *r = open_liar(&l);
	struct weir_manifest m = { .id = 4711 };
	assert_refused(r->store.manifest(r, &m), err, "set test", why);
	assert_int_equal(m.id, 4711);
	weir__redis_close(r);
}

static void test_a_manifest_of_another_form_is_refused(void **state)
{
	static char large[WEIR_MANIFEST_TEXT + 200];
	(void)state;
	manifest_refused("*2\r\n" EMPTY EMPTY, -EPROTO, "HMGET");
	manifest_refused("+OK\r\n", -EPROTO, "HMGET");
	manifest_refused("*3\r\n:1\r\n" EMPTY EMPTY, -EPROTO, "HMGET");
	manifest_refused("*3\r\n$-1\r\n" EMPTY EMPTY, -ENOENT, "no generation");
	manifest_refused("*3\r\n" EMPTY EMPTY EMPTY, -EBADMSG, "line 1");
	manifest_refused("*3\r\n$18\r\nweir-generation 2\n\r\n" EMPTY EMPTY, -EBADMSG, "line 2");
	manifest_refused("*3\r\n$18\r\nweir-generation 3\n\r\n" EMPTY EMPTY, -ENOTSUP, "upgrade");
	sprintf(large, "*3\r\n$%d\r\n%0*d\r\n" EMPTY EMPTY, WEIR_MANIFEST_TEXT + 1,
	        WEIR_MANIFEST_TEXT + 1, 0);
	manifest_refused(large, -EBADMSG, "4097");
	manifest_refused("*3\r\n" EMPTY EMPTY "$18\r\n1.9007199254740992\r\n", -EBADMSG,
	                 "UNLINK {weir:test}:2:head");
}

static int see_kept(void *context, const struct weir_manifest *m, const char *text, size_t len,
                    const char *line, size_t line_len)
{
	(void)m, (void)text, (void)len, (void)line, (void)line_len;
	++*(unsigned *)context;
	return 0;
}

static void test_kept_values_of_another_form_are_skipped(void **state)
{
	struct liar l = { .answers = { "*9\r\n$3\r\n1.1\r\n:1\r\n" "$3\r\n1.1\r\n" EMPTY
	                               "$3\r\n1.1\r\n$1\r\n\n\r\n" ":1\r\n$1\r\n\n\r\n" EMPTY,
		"+OK\r\n" } };
	struct weir_redis *r = open_liar(&l);
	unsigned n = 0;
	(void)state;
	assert_ok(weir__redis_kept(r, see_kept, &n));
	assert_refused(weir__redis_kept(r, see_kept, &n), -EPROTO, "HGETALL", "form");
	assert_int_equal(n, 0);
	weir__redis_close(r);
}

static int wait_image(struct weir_redis *r, const struct weir_manifest *m)
{
	struct weir_filter *f;
	int err;
	while ((err = r->store.image(r, m, &f)) == -EINPROGRESS)
		usleep(1000);
	return err;
}

static void image_refused(const char *answer, uint64_t bytes, int err, const char *why)
{
	struct liar l = { .answers = { ":0\r\n", answer } }; /* ":0" answers a renewal */
	struct weir_redis *r = open_liar(&l);
	const struct weir_manifest m = { .id = 1, .bytes = bytes,
		                         .chunks = (bytes - 1) / WEIR_CHUNK + 1 };
	assert_refused(wait_image(r, &m), err, "set test", why);
	weir__redis_close(r);
}

static void test_a_chunk_of_another_form_is_refused(void **state)
{
	(void)state;
	image_refused("$-1\r\n", 3, -ENOENT, "missing");
	image_refused(":1\r\n", 3, -EPROTO, "GET");
	image_refused("*0\r\n", 3, -EPROTO, "GET");
	image_refused("$4\r\nabcd\r\n", 3, -EBADMSG, "4 bytes");
	image_refused("$2\r\nab\r\n", 3, -EBADMSG, "2 bytes");
	image_refused("$3\r\nabc\r\n", 3, -EBADMSG, "BLAKE2b");
	image_refused("+OK\r\n", UINT64_C(1) << 40, -EFBIG, "raise max_image_bytes");
}

/* ---- status, reports, WAIT and SCAN ---- */

static int ignore(void *context, uint64_t node, uint64_t ms, const char *report, size_t len)
{
	unsigned *n = context;
	(void)node, (void)ms, (void)report, (void)len;
	++*n;
	return 0;
}

static void test_reports_waits_and_scans_of_another_form_are_refused(void **state)
{
	struct liar l = { .answers = { "+OK\r\n", "*3\r\n" HEX "$3\r\n1 a\r\n" HEX, "+OK\r\n",
		":1\r\n", "+OK\r\n", ":1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n:1\r\n" } };
	struct weir_redis *r = open_liar(&l);
	unsigned reports = 0;
	uint64_t n;
	(void)state;
	assert_refused(weir__redis_reports(r, ignore, &reports), -EPROTO, "HGETALL", "");
	assert_ok(weir__redis_reports(r, ignore, &reports));
	assert_int_equal(reports, 1);
	assert_refused(weir__redis_wait(r, 1, 1), -EPROTO, "WAIT", "");
	assert_refused(weir__redis_unlink(r, &n), -EPROTO, "SCAN", "");
	assert_refused(weir__redis_unlink(r, &n), -EPROTO, "SCAN", "");
	assert_string_equal(l.said[6], "SCAN");
	assert_int_equal(l.asked, 7);
	weir__redis_close(r);
}

static int sign(void *signer, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM])
{
	(void)text, (void)len, (void)line;
	++*(unsigned *)signer;
	return 0;
}

/* A signature would make permanent a position that another client wrote to the log. */
static void test_no_position_beyond_the_ids_of_nodes_is_signed(void **state)
{
	struct liar l = { .err = -EIO };
	struct weir_redis *r = open_liar(&l);
	unsigned signatures = 0;
	(void)state;
	r->o.sign = sign;
	r->o.signer = &signatures;
	struct weir_manifest m = { .set = "test", .version = { 1, 1 }, .id = 1, .tag = 5,
		.kind = WEIR_BLOCKED, .publisher = 1, .bytes = 64, .chunks = 1,
		.position = { UINT64_C(9007199254740000), 5 } };
	const struct weir_publication p = { .mark = 1, .manifest = &m };
	assert_refused(r->store.publish(r, &p), -EBADMSG, "line 5", "set test");
	assert_int_equal(signatures, 0);
	m.position.epoch--;
	assert_int_equal(r->store.publish(r, &p), -EIO);
	assert_int_equal(signatures, 1);
	weir__redis_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_touch_of_another_form_is_refused),
		cmocka_unit_test(test_errors_of_redis_are_errnos_with_their_remedies),
		cmocka_unit_test(test_an_unknown_script_is_sent_once_and_no_more),
		cmocka_unit_test(test_an_error_of_the_connection_is_passed_on),
		cmocka_unit_test(test_a_log_of_another_form_is_refused),
		cmocka_unit_test(test_an_invalid_entry_is_passed_with_its_id),
		cmocka_unit_test(test_a_manifest_of_another_form_is_refused),
		cmocka_unit_test(test_kept_values_of_another_form_are_skipped),
		cmocka_unit_test(test_a_chunk_of_another_form_is_refused),
		cmocka_unit_test(test_no_position_beyond_the_ids_of_nodes_is_signed),
		cmocka_unit_test(test_reports_waits_and_scans_of_another_form_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
