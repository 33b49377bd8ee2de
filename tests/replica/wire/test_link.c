/* SPDX-License-Identifier: MIT
 * One connection over a pair of sockets: what has arrived, in any pieces, and interruption. */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../test.h"
#include "link.h"

enum { LIMIT = 1 << 20 };

struct pair {
	struct weir_link link;
	struct weir_manner manner;
	int other;
};

static struct pair p;

static int begin(void **state)
{
	int fds[2], room = LIMIT;
	(void)state;
	memset(&p, 0, sizeof p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
	p.other = fds[1];
	snprintf(p.link.peer, sizeof p.link.peer, "the other end");
	p.manner = (struct weir_manner){ .answer_ms = 50, .interrupt = eventfd(0, EFD_NONBLOCK) };
	assert_true(p.manner.interrupt >= 0);
	p.link.stream = (struct weir_byte_stream){ .fd = fds[0], .interrupt = p.manner.interrupt,
		                                   .peer = p.link.peer };
	assert_ok(weir__reply_begin(&p.link.reader, LIMIT, p.link.peer));
	return 0;
}

static int end(void **state)
{
	(void)state;
	weir__link_close(&p.link);
	close(p.other);
	close(p.manner.interrupt);
	return 0;
}

static void say(const void *text, size_t len)
{
	assert_int_equal(write(p.other, text, len), len);
}

static void interrupt_it(void)
{
	const uint64_t one = 1;
	assert_int_equal(write(p.manner.interrupt, &one, sizeof one), sizeof one);
}

/* Each piece of an answer that arrives alone, and each cut of it in two, give the same. */
static void test_pieces(void **state)
{
	static const char text[] = "*4\r\n$5\r\nhello\r\n:-7\r\n*2\r\n$-1\r\n$0\r\n\r\n+x\r\n";
	redisReply *r;
	(void)state;
	for (size_t cut = 1; cut < sizeof text - 1; cut++) {
		say(text, cut);
		assert_int_equal(weir__link_answer(&p.link, 0, &r), -EAGAIN);
		say(text + cut, sizeof text - 1 - cut);
		assert_ok(weir__link_answer(&p.link, 1000, &r));
		assert_int_equal(r->elements, 4);
		assert_string_equal(r->element[0]->str, "hello");
		assert_int_equal(r->element[1]->integer, -7);
		assert_int_equal(r->element[2]->element[0]->type, REDIS_REPLY_NIL);
		assert_int_equal(r->element[2]->element[1]->len, 0);
		assert_string_equal(r->element[3]->str, "x");
		freeReplyObject(r);
		assert_false(weir__reply_left(&p.link.reader));
	}
}

/* What arrives without a pause never lets anybody wait, so it must not be the waiting alone that
 * is interrupted. */
static void test_interrupted_while_it_arrives(void **state)
{
	static char text[150000] = "$200000\r\n";
	redisReply *r;
	(void)state;
	interrupt_it();
	say(text, sizeof text);
	assert_refused(weir__link_answer(&p.link, 1000, &r), -ECANCELED, "interrupted", "");
	assert_null(r);
	/* it was not read to its end */
	assert_int_equal(recv(p.link.stream.fd, text, 1, MSG_PEEK), 1);
}

static void test_interrupted_while_nothing_arrives(void **state)
{
	redisReply *r;
	(void)state;
	say("$2\r\n", 4);
	interrupt_it();
	assert_refused(weir__link_answer(&p.link, 60000, &r), -ECANCELED, "interrupted", "");
}

static void test_command(void **state)
{
	struct iovec args[129] = { { (void *)(uintptr_t)"GET", 3 }, { (void *)(uintptr_t)"", 0 } };
	char got[100];
	redisReply *r;
	(void)state;
	assert_refused(weir__link_call(&p.link, &p.manner, args, 2, &r), -ETIMEDOUT, "50 ms", "");
	ssize_t n = read(p.other, got, sizeof got);
	assert_int_equal(n, 19);
	assert_memory_equal(got, "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", 19);
	assert_refused(weir__link_call(&p.link, &p.manner, args, 0, &r), -E2BIG, "0 arguments", "");
	assert_refused(weir__link_call(&p.link, &p.manner, args, 129, &r), -E2BIG, "129", "");
	/* nothing of them is read */
	args[1].iov_len = SIZE_MAX / 2;
	args[2] = args[1];
	assert_refused(weir__link_call(&p.link, &p.manner, args, 3, &r), -E2BIG, "more than", "");
}

/* An answer that nobody asked for would be taken for that to the next command. */
static void test_out_of_step(void **state)
{
	static const char two[] = "+one\r\n+two\r\n";
	const struct iovec args[] = { { (void *)(uintptr_t)"PING", 4 } };
	redisReply *r;
	(void)state;
	assert_int_equal(write(p.other, two, sizeof two - 1), sizeof two - 1);
	assert_ok(weir__link_call(&p.link, &p.manner, args, 1, &r));
	assert_string_equal(r->str, "one");
	freeReplyObject(r);
	assert_refused(weir__link_call(&p.link, &p.manner, args, 1, &r), -EPROTO,
	               "answers to what nobody asked", "");
}

/* The other end takes nothing: whoever writes waits no longer than it may. */
static void test_nobody_reads(void **state)
{
	static char much[4 << 20];
	const struct iovec args[] = { { (void *)(uintptr_t)"SET", 3 }, { much, sizeof much } };
	redisReply *r;
	(void)state;
	assert_refused(weir__link_call(&p.link, &p.manner, args, 2, &r), -ETIMEDOUT, "50 ms", "");
	interrupt_it();
	assert_int_equal(weir__link_call(&p.link, &p.manner, args, 2, &r), -ECANCELED);
}

/* No SIGPIPE: the test would end by it. */
static void test_closed(void **state)
{
	const struct iovec args[] = { { (void *)(uintptr_t)"PING", 4 } };
	redisReply *r;
	(void)state;
	assert_int_equal(shutdown(p.other, SHUT_RDWR), 0);
	assert_refused(weir__link_call(&p.link, &p.manner, args, 1, &r), -ECONNRESET, "closed", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pieces, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted_while_it_arrives, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted_while_nothing_arrives, begin, end),
		cmocka_unit_test_setup_teardown(test_command, begin, end),
		cmocka_unit_test_setup_teardown(test_out_of_step, begin, end),
		cmocka_unit_test_setup_teardown(test_nobody_reads, begin, end),
		cmocka_unit_test_setup_teardown(test_closed, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
