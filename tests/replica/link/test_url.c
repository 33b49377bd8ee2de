/* SPDX-License-Identifier: MIT
 * URLs: the meaning of each form, and refused URLs. No error sentence shows a password. */
#include <errno.h>
#include "../../test.h"
#include "wire.h"

static struct weir_url a;

static int release(void **state)
{
	(void)state;
	weir__url_free(&a);
	return 0;
}

static void test_plain(void **state)
{
	char text[WEIR_PEER_TEXT];
	(void)state;
	assert_ok(weir__url_read(&a, "redis://example.org"));
	assert_true(!a.tls && !a.sentinel && !a.path && !a.user && !a.password && !a.master);
	assert_int_equal(a.n, 1);
	assert_string_equal(a.hosts[0].name, "example.org");
	assert_int_equal(a.hosts[0].port, 6379);
	assert_int_equal(a.database, 0);
	weir__url_print(text, &a, a.hosts[0].name, a.hosts[0].port);
	assert_string_equal(text, "redis://example.org:6379");
}

static void test_all_of_it(void **state)
{
	char text[WEIR_PEER_TEXT];
	(void)state;
	assert_ok(weir__url_read(&a, "rediss://us%40er:p%3aw%2F@[::1]:7000,b:7001,10.1/15"));
	assert_true(a.tls);
	assert_string_equal(a.user, "us@er");
	assert_string_equal(a.password, "p:w/");
	assert_int_equal(a.n, 3);
	assert_string_equal(a.hosts[0].name, "::1");
	assert_true(a.hosts[0].port == 7000 && a.hosts[1].port == 7001 && a.hosts[2].port == 6379);
	assert_int_equal(a.database, 15);
	weir__url_print(text, &a, a.hosts[0].name, a.hosts[0].port);
	assert_string_equal(text, "rediss://[::1]:7000");
}

static void test_password_alone(void **state)
{
	(void)state;
	assert_ok(weir__url_read(&a, "redis://:pw@h"));
	assert_null(a.user);
	assert_string_equal(a.password, "pw");
}

static void test_unix(void **state)
{
	char text[WEIR_PEER_TEXT];
	(void)state;
	assert_ok(weir__url_read(&a, "unix://u:p@/run/redis%2fs.sock?db=3"));
	assert_string_equal(a.path, "/run/redis/s.sock");
	assert_string_equal(a.user, "u");
	assert_int_equal(a.database, 3);
	weir__url_print(text, &a, a.hosts[0].name, a.hosts[0].port);
	assert_string_equal(text, "unix:///run/redis/s.sock");
}

static void test_sentinel(void **state)
{
	(void)state;
	assert_ok(weir__url_read(&a, "redis+sentinel://a,b:5000/the%20master/2"));
	assert_true(a.sentinel && !a.tls);
	assert_true(a.hosts[0].port == 26379 && a.hosts[1].port == 5000);
	assert_string_equal(a.master, "the master");
	assert_int_equal(a.database, 2);
	weir__url_free(&a);
	assert_ok(weir__url_read(&a, "rediss+sentinel://a/m"));
	assert_true(a.sentinel && a.tls && a.database == 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *url, *why;
	} cases[] = {
		{ "", "begins with" },
		{ "http://h", "begins with" },
		{ "redis:/h", "begins with" },
		{ "redis://", "not a host" },
		{ "redis://a,,b", "not a host" },
		{ "redis://a:0", "1 to 65535" },
		{ "redis://a:65536", "1 to 65535" },
		{ "redis://a:6379x", "1 to 65535" },
		{ "redis://a:", "1 to 65535" },
		{ "redis://a/x", "number of a database" },
		{ "redis://a/99999999", "number of a database" },
		{ "redis://a/1/2", "number of a database" },
		{ "redis://[::1", "bracket" },
		{ "redis://[::1]x", "bracket" },
		{ "redis://u%4:SECRET@a", "encoded" },
		{ "redis://u:SECRET%00@a", "encoded" },
		{ "redis://u:SECRET%zz@a", "encoded" },
		{ "redis://u:SECRET@a b", "not a host" },
		{ "redis://u:6379/SECRET@a", "%2F" },
		{ "unix://:pa/SECRET@/x", "%2F" },
		{ "redis://u:SECRET@a:99999", "1 to 65535" },
		{ "redis+sentinel://u:SECRET@a", "name of the master" },
		{ "redis+sentinel://a/", "name of the master" },
		{ "redis+sentinel://a/m/x", "number of a database" },
		{ "unix://u:SECRET@", "not the path" },
		/* a password without its @ */
		{ "redis://u:SECRET:x", "1 to 65535" },
		{ "redis://:SECRET", "1 to 65535" },
		{ "redis://u:SECRET:6379", "two colons" },
		{ "redis://::1", "two colons" },
		/* an unencoded password must not be taken for a part that may be shown */
		{ "redis://u:SECRET/@h", "%2F" },
		{ "redis://u:1/SECRET@h", "%2F" },
		{ "redis://[u:1/SECRET@h/0", "%2F" },
		{ "redis+sentinel://u:1/SECRET@h/m", "%2F" },
		{ "unix://u:SECRET?x@/s", "%2F" },
		{ "unix:///s?x=1", "unknown" },
		{ "unix:///s?db=x", "number of a database" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_refused(weir__url_read(&a, cases[i].url), -EINVAL, "URL of redis",
		               cases[i].why);
		assert_null(strstr(weir_error_detail(), "SECRET"));
	}
	assert_refused(weir__url_read(&a, NULL), -EINVAL, "URL of redis", "0 characters");
}

static void test_rotate(void **state)
{
	(void)state;
	assert_ok(weir__url_read(&a, "redis://a,b,c:1"));
	weir__url_rotate(&a);
	assert_string_equal(a.hosts[0].name, "b");
	assert_string_equal(a.hosts[1].name, "c");
	assert_int_equal(a.hosts[1].port, 1);
	assert_string_equal(a.hosts[2].name, "a");
	weir__url_free(&a);
	weir__url_rotate(&a);
	assert_int_equal(a.n, 0);
}

static void test_limits(void **state)
{
	char url[9000] = "redis://h";
	(void)state;
	for (unsigned i = 1; i < WEIR_URL_HOSTS; i++)
		strcat(url, ",h");
	assert_ok(weir__url_read(&a, url));
	assert_int_equal(a.n, WEIR_URL_HOSTS);
	strcat(url, ",h");
	weir__url_free(&a);
	assert_refused(weir__url_read(&a, url), -EINVAL, "more than 32 hosts", "");
	memset(url + 8, 'h', sizeof url - 9);
	assert_refused(weir__url_read(&a, url), -EINVAL, "characters", "");
	url[8 + 300] = '\0';
	assert_refused(weir__url_read(&a, url), -EINVAL, "not a host", "");
	snprintf(url, sizeof url, "unix:///%0200d", 0);
	assert_refused(weir__url_read(&a, url), -EINVAL, "at most", "");
}

static void test_options(void **state)
{
	struct weir_link *l;
	(void)state;
	/* the text may be a password without a colon */
	struct weir_link_options o = { .url = "redis://SECRET@h" };
	assert_refused(weir__link_open(&l, &o), -EINVAL, "no password", "");
	assert_null(strstr(weir_error_detail(), "SECRET"));
	o = (struct weir_link_options){ .url = "redis://h", .user = "u" };
	assert_refused(weir__link_open(&l, &o), -EINVAL, "no password", "");
	o = (struct weir_link_options){ .url = "redis://h", .insecure = true };
	assert_refused(weir__link_open(&l, &o), -EINVAL, "rediss", "");
	o = (struct weir_link_options){ .url = "redis://h" };
	assert_ok(weir__link_open(&l, &o));
	assert_int_equal(weir__link_fd(l), -1);
	assert_string_equal(weir__link_peer(l), "redis://h:6379");
	assert_int_equal(weir__link_connections(l), 0);
	assert_int_equal(weir__link_master_moved(l), 0);
	weir__link_close(l);
	weir__link_close(NULL);
}

static void test_an_interruption_lasts_until_a_reset(void **state)
{
	const struct weir_link_options o = { .url = "unix:///weir-test-without-a-server" };
	const struct iovec ping = { (char[]){ "PING" }, 4 };
	struct redisReply *reply;
	struct weir_link *l;
	(void)state;
	assert_ok(weir__link_open(&l, &o));
	weir__link_interrupt(l);
	for (unsigned i = 0; i < 2; i++)
		assert_refused(weir__link_call(l, &ping, 1, &reply), -ECANCELED, "interrupted", "");
	weir__link_reset(l);
	assert_refused(weir__link_call(l, &ping, 1, &reply), -ENOENT, "weir-test", "");
	weir__link_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_plain, release),
		cmocka_unit_test_teardown(test_all_of_it, release),
		cmocka_unit_test_teardown(test_password_alone, release),
		cmocka_unit_test_teardown(test_unix, release),
		cmocka_unit_test_teardown(test_sentinel, release),
		cmocka_unit_test_teardown(test_refused, release),
		cmocka_unit_test_teardown(test_rotate, release),
		cmocka_unit_test_teardown(test_limits, release),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_an_interruption_lasts_until_a_reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
