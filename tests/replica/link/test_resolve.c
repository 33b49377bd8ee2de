/* SPDX-License-Identifier: MIT
 * Resolve a name while a name server hangs, fails, or answers too late. This file replaces
 * getaddrinfo_a() and the functions that belong to it. */
#include <errno.h>
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../test.h"
#include "wire.h"

enum { QUESTIONS = 8 };

static struct {
	struct gaicb *of[QUESTIONS];
	unsigned n;
	int answer;          /* the result of gai_error() for every query */
	unsigned looks;      /* number of calls of gai_error() for the first query */
	const char *second;  /* port of a second address of the name, or NULL */
} names;
static struct weir_stream s;

static void give(struct gaicb *of, const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	assert_int_equal(getaddrinfo(address, of->ar_service, &hints, &of->ar_result), 0);
	if (!names.second)
		return;
	/* The nodes of two answers can form one list, since glibc frees each node separately. */
	assert_int_equal(getaddrinfo(address, names.second, &hints, &of->ar_result->ai_next), 0);
}

int getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *event)
{
	assert_int_equal(mode, GAI_NOWAIT);
	assert_int_equal(n, 1);
	assert_null(event);
	assert_string_equal(list[0]->ar_name, "name.test");
	names.of[names.n++] = list[0];
	if (names.answer == 0)
		give(list[0], "127.0.0.1");
	return 0;
}

int gai_error(struct gaicb *of)
{
	/* Compare with the last query too: it may have the address of the freed first query. */
	names.looks += of == names.of[0] && (names.n == 1 || of != names.of[names.n - 1]);
	return names.answer;
}

int gai_suspend(const struct gaicb *const list[], int n, const struct timespec *time)
{
	(void)list, (void)n;
	return nanosleep(time, NULL);
}

static int begin(void **state)
{
	(void)state;
	memset(&names, 0, sizeof names);
	s = (struct weir_stream){ .fd = -1, .interrupt = eventfd(0, EFD_NONBLOCK),
		                       .peer = "redis://name.test:1" };
	return s.interrupt < 0;
}

static int end(void **state)
{
	(void)state;
	close(s.interrupt);
	return 0;
}

static int resolve(const char *name, uint16_t port, uint32_t ms, struct addrinfo **out)
{
	const struct weir_host host = { name, port };
	return weir__resolve(&s, &host, weir__wire_now() + ms, out);
}

static void test_numeric_addresses_need_no_query(void **state)
{
	static const char *const numbers[] = { "127.0.0.1", "::1", "10.1" };
	struct addrinfo *found;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		assert_ok(resolve(numbers[i], 6379, 1000, &found));
		assert_int_equal(found->ai_socktype, SOCK_STREAM);
		freeaddrinfo(found);
	}
	assert_int_equal(names.n, 0);
}

static void test_found(void **state)
{
	struct addrinfo *found;
	(void)state;
	assert_ok(resolve("name.test", 6379, 1000, &found));
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)found->ai_addr;
	assert_int_equal(ntohs(in->sin_port), 6379);
	freeaddrinfo(found);
}

static void test_none(void **state)
{
	struct addrinfo *found;
	(void)state;
	names.answer = EAI_NONAME;
	assert_refused(resolve("name.test", 1, 1000, &found), -EHOSTUNREACH, "name.test",
	               gai_strerror(EAI_NONAME));
}

/* A query that hangs stays pending. The next try for the same host waits for the same query, since
 * an answer may take longer than a try. A try for another host starts a new query. */
static void test_hangs(void **state)
{
	struct addrinfo *found;
	(void)state;
	names.answer = EAI_INPROGRESS;
	const uint64_t begun = weir__wire_now();
	assert_refused(resolve("name.test", 1, 100, &found), -ETIMEDOUT, "name.test",
	               "server of names");
	assert_true(weir__wire_now() - begun >= 100);
	assert_refused(resolve("name.test", 1, 10, &found), -ETIMEDOUT, "", "");
	assert_int_equal(names.n, 1);
	assert_refused(resolve("name.test", 2, 10, &found), -ETIMEDOUT, "", "");
	assert_int_equal(names.n, 2);
	give(names.of[0], "127.0.0.1"); /* this answer comes between the first two tries */
	give(names.of[1], "127.0.0.1");
	names.answer = 0;
	assert_ok(resolve("name.test", 1, 100, &found)); /* this also frees the second query */
	assert_int_equal(names.n, 2);
	freeaddrinfo(found);
	const unsigned looks = names.looks;
	names.of[0] = NULL;
	assert_ok(resolve("name.test", 1, 100, &found));
	freeaddrinfo(found);
	assert_int_equal(names.n, 3);
	assert_int_equal(names.looks, looks);
}

static void test_interrupted(void **state)
{
	struct addrinfo *found;
	const uint64_t one = 1, begun = weir__wire_now();
	(void)state;
	names.answer = EAI_INPROGRESS;
	assert_int_equal(write(s.interrupt, &one, sizeof one), sizeof one);
	assert_refused(resolve("name.test", 1, 60000, &found), -ECANCELED, "", "");
	assert_true(weir__wire_now() - begun < 10000);
}

static int listener(uint16_t *port, int backlog)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
		                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_true(fd >= 0);
	(void)connect(fd, (const struct sockaddr *)&at, sizeof at);
	return fd;
}

/* The name has two addresses. The first address hangs, since its socket's queue is full. */
static void test_the_first_address_hangs(void **state)
{
	static struct weir_wire w;
	const struct weir_link_config m = { .o = { .connect_ms = 1000, .max_bytes = 1000 } };
	const struct weir_login nobody = { NULL, NULL, false };
	uint16_t port[2];
	char second[6];
	int full[3];
	(void)state;
	const int deaf = listener(&port[0], 0), good = listener(&port[1], 8);
	struct weir_server place = { .name = "name.test", .port = port[0] };
	for (size_t i = 0; i < COUNT_OF(full); i++)
		full[i] = connect_to(port[0]);
	w.stream = s;
	assert_int_equal(weir__wire_open(&w, &m, &place, nobody, weir__wire_now() + 200),
	                 -ETIMEDOUT);
	assert_int_equal(place.len, 0);
	snprintf(second, sizeof second, "%u", (unsigned)port[1]);
	names.second = second;
	const uint64_t begun = weir__wire_now();
	assert_ok(weir__wire_open(&w, &m, &place, nobody, begun + 8000));
	const uint64_t took = weir__wire_now() - begun;
	assert_true(took >= 3950 && took < 8000); /* the first address got half of the time */
	assert_int_equal(((struct sockaddr_in *)&place.at)->sin_port, htons(port[1]));
	weir__wire_close(&w);
	for (size_t i = 0; i < COUNT_OF(full); i++)
		close(full[i]);
	close(deaf);
	close(good);
}

/* A name may have several addresses, and they may change. So a second link uses the address of the
 * first link. A link whose name was not resolved in time can be closed. */
static void test_a_second_link_makes_no_query(void **state)
{
	const struct iovec ping[] = { weir__wire_text("PING") };
	struct weir_link *first, *beside;
	uint16_t port;
	char url[64];
	(void)state;
	const int good = listener(&port, 8);
	snprintf(url, sizeof url, "redis://name.test:%u", (unsigned)port);
	const struct weir_link_options o = { .url = url, .connect_ms = 50 },
	                               p = { .url = url, .connect_ms = 60000 };
	names.answer = EAI_INPROGRESS;
	assert_ok(weir__link_open(&first, &o));
	assert_refused(weir__link_send(first, ping, 1), -ETIMEDOUT, "server of names", "");
	weir__link_close(first);
	give(names.of[0], "127.0.0.1");
	names.answer = 0;
	assert_ok(weir__link_open(&first, &p));
	assert_ok(weir__link_open_second(&beside, first));
	assert_ok(weir__link_send(first, ping, 1));
	assert_int_equal(names.n, 1);
	assert_ok(weir__link_send(beside, ping, 1));
	assert_int_equal(names.n, 1);
	assert_string_equal(weir__link_peer(beside), url);
	weir__link_close(beside);
	weir__link_close(first);
	close(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numeric_addresses_need_no_query, begin, end),
		cmocka_unit_test_setup_teardown(test_found, begin, end),
		cmocka_unit_test_setup_teardown(test_none, begin, end),
		cmocka_unit_test_setup_teardown(test_hangs, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted, begin, end),
		cmocka_unit_test_setup_teardown(test_the_first_address_hangs, begin, end),
		cmocka_unit_test_setup_teardown(test_a_second_link_makes_no_query, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
