/* SPDX-License-Identifier: MIT
 * What those hear who ask something of a node's thread (S2), and what it does when it publishes. */
#include "ask_server.h"

static struct weir_request request(int (*run)(struct weir_replica *r, void *arg), int *answer,
                                   bool local)
{
	return (struct weir_request){ .run = run, .arg = answer, .local = local };
}

static void put(struct weir_request *q)
{
	*replica.requests_end = q;
	replica.requests_end = &q->next;
}

static int answers(struct weir_replica *r, void *answer)
{
	(void)r;
	return ask_did('q', *(const int *)answer);
}

static int answers_other(struct weir_replica *r, void *answer)
{
	(void)r;
	return ask_did('o', *(const int *)answer);
}

/* S2. Whoever waits for an image hears why it will not come; whatever else fails says so itself. */
static void test_answers(void **state)
{
	static const struct {
		int run, round, look;
		bool local, waits;
		const char *did;
		int answer;
		const char *why;
	} rows[] = {
		{ 0, 0, 0, false, false, "q", 0, "" },
		{ 0, 0, -EBADMSG, false, false, "q", 0, "" },
		{ -ENOSPC, 0, 0, false, false, "q", -ENOSPC, "why q" },
		{ -ENOSPC, 0, -EBADMSG, false, false, "q", -ENOSPC, "why q" },
		{ -EINPROGRESS, 0, 0, false, true, "q", 0, "" },
		{ -EINPROGRESS, 0, -EBADMSG, false, false, "q", -EBADMSG, "no image" },
		{ 0, -ECONNRESET, 0, false, false, "", -ECONNRESET, "why round" },
		{ 0, -ECONNRESET, 0, true, false, "q", 0, "" },
		{ -EIO, -ECONNRESET, 0, true, false, "q", -EIO, "why q" },
		{ 0, -ECANCELED, 0, false, false, "", -ECANCELED, "why round" },
		{ 0, -ECANCELED, 0, true, false, "", -ECANCELED, "why round" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int run = rows[i].run, err = rows[i].round;
		struct weir_request q = request(answers, &run, rows[i].local);
		(void)ask_setup(state);
		replica.look_err = rows[i].look;
		strcpy(replica.look_error, "no image");
		put(&q);
		weir__service_answer(&replica, err ? weir_fail(err, "why round") : 0);
		assert_string_equal(server.did, rows[i].did);
		assert_int_equal(!q.done, rows[i].waits);
		assert_int_equal(replica.requests == &q, rows[i].waits);
		assert_int_equal(q.result, rows[i].answer);
		assert_string_equal(q.sentence, rows[i].why);
		assert_int_equal(server.notes, q.done && !q.result);
	}
}

/* They keep their order, and those who come later are behind them. */
static void test_who_waits(void **state)
{
	int first = -EINPROGRESS, other = -EINPROGRESS, ready = 0;
	struct weir_request a = request(answers, &first, false);
	struct weir_request b = request(answers, &ready, false);
	struct weir_request c = request(answers_other, &other, false);
	struct weir_request d = request(answers, &ready, false);
	(void)state;
	put(&a), put(&b), put(&c);
	weir__service_answer(&replica, 0);
	assert_true(!a.done && b.done && !c.done);
	put(&d);
	assert_true(replica.requests == &a && a.next == &c && c.next == &d);
	memset(server.did, 0, sizeof server.did);
	first = 0;
	other = -EIO;
	weir__service_answer(&replica, 0);
	assert_true(a.done && c.done && d.done && !replica.requests);
	assert_string_equal(server.did, "qoq");
	assert_int_equal(c.result, -EIO);
}

/* How the round ended, not how the request before it did. */
static void test_what_is_noted(void **state)
{
	int fails = -EIO, succeeds = 0;
	struct weir_request a = request(answers, &fails, true);
	struct weir_request b = request(answers, &succeeds, true);
	(void)state;
	put(&a), put(&b);
	weir__service_answer(&replica, weir_fail(-ECONNRESET, "why round"));
	assert_ok(b.result);
	assert_string_equal(server.noted, "why round");
}

/* What is inserted while it publishes may come too late for the image. */
static void test_kept_while_it_publishes(void **state)
{
	(void)state;
	server.kept_meanwhile = 2;
	replica.not_replicated = 5;
	assert_ok(weir__service_duty(&replica));
	assert_int_equal(replica.not_replicated, 2);
	assert_ok(weir__service_publish(&replica, NULL));
	assert_int_equal(replica.not_replicated, 2);
	server.publish[server.publishes] = -ENOSPC;
	assert_int_equal(weir__service_publish(&replica, NULL), -ENOSPC);
	assert_int_equal(replica.not_replicated, 4);
}

/* Who has published because it is its duty keeps it for the next time; who could not leaves it to
 * others. Who is asked to takes it from that one, and so does who has what is in no image (L12). */
static void test_the_lease(void **state)
{
	static const struct {
		bool asks, united;
		int lease, publish, keep, release;
		bool takes;
		const char *did;
		int answer;
		const char *why;
	} rows[] = {
		{ 0, 0, 0, 0, 0, 0, false, "(PK", 0, "" },
		{ 0, 0, 0, 0, -EPERM, 0, false, "(PK", -EPERM, "why K" },
		{ 0, 0, -EPERM, 0, 0, 0, false, "(", -EPERM, "why (" },
		{ 0, 0, 0, -ENOSPC, 0, 0, false, "(P)", -ENOSPC, "why P" },
		{ 0, 0, 0, -ENOSPC, 0, -EIO, false, "(P)", -ENOSPC, "why P" },
		{ 0, 0, 0, -EEXIST, 0, 0, false, "(P)", -EEXIST, "why P" },
		{ 0, 1, 0, 0, 0, 0, true, "(P)", 0, "" },
		{ 0, 1, 0, -ENOSPC, 0, -EIO, true, "(P)", -ENOSPC, "why P" },
		{ 1, 0, 0, 0, 0, 0, true, "l(lrP)", 0, "" },
		{ 1, 0, 0, 0, 0, -EIO, true, "l(lrP)", 0, "" },
		{ 1, 0, -EIO, 0, 0, 0, true, "l(", -EIO, "why (" },
		{ 1, 0, 0, -ENOSPC, 0, -EIO, true, "l(lrP)", -ENOSPC, "why P" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)ask_setup(state);
		replica.node.united = rows[i].united;
		server.lease = rows[i].lease;
		server.publish[0] = rows[i].publish;
		server.keep = rows[i].keep;
		server.release = rows[i].release;
		int err = rows[i].asks ? weir__service_publish(&replica, NULL) :
		                         weir__service_duty(&replica);
		assert_string_equal(server.did, rows[i].did);
		assert_int_equal(server.takes, rows[i].takes);
		assert_int_equal(server.lease_ms,
		                 server.held ? 2 * replica.publish_ms : 60000);
		assert_int_equal(err, rows[i].answer);
		if (err)
			assert_string_equal(weir_error_detail(), rows[i].why);
	}
}

/* L10. Why the newest generation was not seen is why it cannot be followed, and of no other
 * failure. An image that is on its way is waited for without the lease. */
static void test_on_top_of_what_is_there(void **state)
{
	static const struct {
		int look[ANSWERS];
		bool lacks;
		int read, publish[ANSWERS];
		const char *did;
		int answer;
		const char *why;
	} rows[] = {
		{ { -EINPROGRESS }, true, 0, { 0 }, "l", -EINPROGRESS, "why l" },
		{ { 0, -EINPROGRESS }, true, 0, { 0 }, "l(l)", -EINPROGRESS, "why l" },
		{ { 0, -EINPROGRESS }, false, 0, { 0 }, "l(lrP)", 0, "" },
		{ { 0 }, false, 0, { -EEXIST }, "l(lrPlrP)", 0, "" },
		{ { 0 }, false, 0, { -EEXIST, -EEXIST, -EEXIST }, "l(lrPlrPlrP)", -EEXIST,
		  "why P" },
		{ { 0 }, false, 0, { -EEXIST, -ENOSPC }, "l(lrPlrP)", -ENOSPC, "why P" },
		{ { 0 }, false, -EIO, { 0 }, "l(lr)", -EIO, "why r" },
		{ { -EBADMSG, -EBADMSG }, false, 0, { 0 }, "l(lrP)", 0, "" },
		{ { -EBADMSG, -EBADMSG }, false, 0, { -ENOSPC }, "l(lrP)", -ENOSPC, "why P" },
		{ { -EBADMSG, -EIO }, true, 0, { 0 }, "l(l)", -EIO, "why l" },
		{ { -EBADMSG, -EBADMSG, -EBADMSG, -EBADMSG }, false, 0,
		  { -EEXIST, -EEXIST, -EEXIST }, "l(lrPlrPlrP)", -EBADMSG, "why l" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)ask_setup(state);
		memcpy(server.look, rows[i].look, sizeof server.look);
		memcpy(server.publish, rows[i].publish, sizeof server.publish);
		server.lacks = rows[i].lacks;
		server.read = rows[i].read;
		assert_int_equal(weir__service_publish(&replica, NULL), rows[i].answer);
		assert_string_equal(server.did, rows[i].did);
		if (rows[i].answer)
			assert_string_equal(weir_error_detail(), rows[i].why);
	}
}

static int make(void *answer, struct weir_filter **out)
{
	if (*(const int *)answer == 0)
		*out = test_filter(WEIR_CLASSIC, 100, 0.01);
	return ask_did('M', *(const int *)answer);
}

/* What is there may be an image that will not do: a record replaces it, and so does one of
 * before. */
static void test_in_place_of_what_is_there(void **state)
{
	static const struct {
		int make, look, publish;
		const char *from, *again;
		int answer;
		const char *why;
	} rows[] = {
		{ 0, 0, 0, "mM(lF)", "(lkA)", 0, "" },
		{ 0, -EBADMSG, 0, "mM(lF)", "(lkA)", 0, "" },
		{ 0, -EINPROGRESS, 0, "mM(lF)", "(lkA)", 0, "" },
		{ 0, -EINPROGRESS, -EEXIST, "mM(lF)(lF)", "(lkA)(lkA)", -EEXIST, "why" },
		{ 0, 0, -EEXIST, "mM(lF)", "(lkA)", -EEXIST, "why" },
		{ 0, -EBADMSG, -EEXIST, "mM(lF)", "(lkA)", -EBADMSG, "why l" },
		{ 0, -EBADMSG, -ENOSPC, "mM(lF)", "(lkA)", -ENOSPC, "why" },
		{ -EIO, 0, 0, "mM", NULL, -EIO, "why M" },
	};
	for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
		const bool again = i % 2;
		int answer = rows[i / 2].make;
		if (again && !rows[i / 2].again)
			continue;
		(void)ask_setup(state);
		server.look[0] = rows[i / 2].look;
		server.publish[0] = rows[i / 2].publish;
		int err = again ? weir_replica_rollback(&replica, 7) :
		                  weir_replica_publish_from(&replica, make, &answer);
		assert_string_equal(server.did, again ? rows[i / 2].again : rows[i / 2].from);
		assert_int_equal(err, rows[i / 2].answer);
		if (err)
			assert_non_null(strstr(weir_error_detail(), rows[i / 2].why));
	}
}

#define OF(test) cmocka_unit_test_setup(test, ask_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_answers),
		OF(test_who_waits),
		OF(test_what_is_noted),
		OF(test_kept_while_it_publishes),
		OF(test_the_lease),
		OF(test_on_top_of_what_is_there),
		OF(test_in_place_of_what_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
