/* SPDX-License-Identifier: MIT
 * A connection to a socket of this test: answers in pieces, limits, and interruption. */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../test.h"
#include "wire.h"

enum { LIMIT = 1 << 20 };

static struct weir_wire w;
static int other;
static const struct weir_link_config manner = { .o = { .max_bytes = LIMIT } };
static const struct weir_limit at_once = { 50, 0 }, patient = { 60000, 0 };

static int begin(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = sizeof at;
	int room = LIMIT, listener = socket(AF_UNIX, SOCK_STREAM, 0);
	(void)state;
	/* Linux chooses an abstract name, so the socket has no file */
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at.sun_family), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	memset(&w, 0, sizeof w);
	w.stream = (struct weir_stream){ .fd = -1, .interrupt = eventfd(0, EFD_NONBLOCK) };
	assert_true(w.stream.interrupt >= 0);
	struct weir_server place = { .name = "other.end", .port = 1, .len = len };
	memcpy(&place.at, &at, len);
	assert_ok(weir__wire_open(&w, &manner, &place, (struct weir_login){ NULL, NULL, false },
	                          weir__wire_now() + 60000));
	other = accept(listener, NULL, NULL);
	close(listener);
	assert_int_equal(setsockopt(other, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
	weir__wire_await(&w);
	return 0;
}

static int end(void **state)
{
	(void)state;
	weir__wire_close(&w);
	close(other);
	close(w.stream.interrupt);
	return 0;
}

static void say(const void *text, size_t len)
{
	assert_int_equal(write(other, text, len), len);
}

static int receive(redisReply **r)
{
	weir__wire_await(&w);
	return weir__wire_receive(&w, patient, true, r);
}

static void interrupt_it(void)
{
	assert_int_equal(eventfd_write(w.stream.interrupt, 1), 0);
}

/* An answer that arrives in two pieces is read correctly, wherever it is cut. */
static void test_pieces(void **state)
{
	static const char text[] = "*4\r\n$5\r\nhello\r\n:-7\r\n*2\r\n$-1\r\n$0\r\n\r\n+x\r\n";
	redisReply *r;
	(void)state;
	for (size_t cut = 1; cut < sizeof text - 1; cut++) {
		say(text, cut);
		assert_ok(weir__wire_receive(&w, patient, false, &r));
		assert_null(r);
		say(text + cut, sizeof text - 1 - cut);
		assert_ok(receive(&r));
		assert_int_equal(r->elements, 4);
		assert_string_equal(r->element[0]->str, "hello");
		assert_int_equal(r->element[1]->integer, -7);
		assert_int_equal(r->element[2]->element[0]->type, REDIS_REPLY_NIL);
		assert_int_equal(r->element[2]->element[1]->len, 0);
		assert_string_equal(r->element[3]->str, "x");
		freeReplyObject(r);
		assert_false(weir__reader_has_unread(&w.reader));
	}
}

/* The reader never waits while an answer arrives, so an interruption must end reads too. */
static void test_interrupted_while_it_arrives(void **state)
{
	static char text[150000] = "$200000\r\n";
	redisReply *r;
	(void)state;
	interrupt_it();
	say(text, sizeof text);
	assert_refused(receive(&r), -ECANCELED, "interrupted", "");
	assert_null(r);
	/* the remaining bytes were not read */
	assert_int_equal(recv(w.stream.fd, text, 1, MSG_PEEK), 1);
}

static void test_interrupted_while_nothing_arrives(void **state)
{
	redisReply *r;
	(void)state;
	say("$2\r\n", 4);
	interrupt_it();
	assert_refused(receive(&r), -ECANCELED, "interrupted", "");
}

static void test_command(void **state)
{
	struct iovec args[3] = { weir__wire_text("GET"), weir__wire_text("") };
	static struct iovec many[(1 << 20) + 1];
	char got[100];
	redisReply *r;
	(void)state;
	assert_refused(weir__wire_call(&w, args, 2, at_once, &r), -ETIMEDOUT, "50 ms", "0 bytes");
	ssize_t n = read(other, got, sizeof got);
	assert_int_equal(n, 19);
	assert_memory_equal(got, "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", 19);
	assert_refused(weir__wire_send(&w, args, 0, patient), -E2BIG, "0 arguments", "");
	assert_refused(weir__wire_send(&w, many, COUNT_OF(many), patient), -E2BIG, "1048577", "");
	/* the refused call must not read these bytes, which do not exist */
	args[1].iov_len = SIZE_MAX / 2;
	args[2] = args[1];
	assert_refused(weir__wire_send(&w, args, 3, patient), -E2BIG, "less than", "");
}

/* The other end reads nothing, so the write must time out. */
static void test_a_write_to_a_stalled_reader_times_out(void **state)
{
	static char much[4 << 20];
	const struct iovec args[] = { weir__wire_text("SET"), { much, sizeof much } };
	(void)state;
	assert_refused(weir__wire_send(&w, args, 2, at_once), -ETIMEDOUT, "nothing within", "");
	interrupt_it();
	assert_int_equal(weir__wire_send(&w, args, 2, patient), -ECANCELED);
}

/* A write to a closed connection must not raise SIGPIPE, which would kill the test. */
static void test_closed(void **state)
{
	const struct iovec args[] = { weir__wire_text("PING") };
	redisReply *r;
	(void)state;
	assert_int_equal(shutdown(other, SHUT_RDWR), 0);
	assert_refused(weir__wire_call(&w, args, 1, patient, &r), -ECONNRESET, "closed", "");
}

/* Each piece of an answer must come within limit.ms after the piece before. The whole answer must
 * end by limit.end. If limit.end is 0, the answer must end within limit.ms, plus 1 s for each
 * 10 KB. */
static void test_the_end_of_all_pieces(void **state)
{
	const struct weir_limit limit = { 1000, 0 }, fixed = { 1000, 7010 };
	(void)state;
	assert_int_equal(weir__limit_end(limit, 7000, 7000, 0), 8000);
	assert_int_equal(weir__limit_end(limit, 7000, 2000, 0), 3000);
	assert_int_equal(weir__limit_end(limit, 7000, 2000, 20000), 5000);
	assert_int_equal(weir__limit_end(limit, 7000, 2000, 10 << 20), 8000);
	assert_int_equal(weir__limit_end(fixed, 7000, 2000, 10 << 20), 7010);
}

/* Bytes of the next answer may arrive with this answer. They count towards the limit of the next
 * answer. */
static void test_limit_of_each_answer(void **state)
{
	static char half[LIMIT - 100];
	redisReply *r;
	(void)state;
	int n = sprintf(half, "+x\r\n$%d\r\n", LIMIT / 2);
	say(half, (size_t)n + LIMIT / 2 - 1);
	assert_ok(receive(&r));
	assert_string_equal(r->str, "x");
	freeReplyObject(r);
	assert_true(w.reader.bytes > 0);
	say("x\r\n", 3);
	assert_ok(receive(&r));
	assert_int_equal(r->len, LIMIT / 2);
	freeReplyObject(r);
	assert_int_equal(w.reader.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pieces, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted_while_it_arrives, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted_while_nothing_arrives, begin, end),
		cmocka_unit_test_setup_teardown(test_command, begin, end),
		cmocka_unit_test_setup_teardown(test_a_write_to_a_stalled_reader_times_out, begin,
		                                end),
		cmocka_unit_test_setup_teardown(test_closed, begin, end),
		cmocka_unit_test(test_the_end_of_all_pieces),
		cmocka_unit_test_setup_teardown(test_limit_of_each_answer, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
