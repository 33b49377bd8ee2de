/* SPDX-License-Identifier: MIT
 * A round: in which order it asks, what it goes on after, and what it answers. */
#include "round_server.h"

static void test_where_there_is_something_to_see(void **state)
{
	static const struct {
		bool wants, comes;
		uint64_t there, seen;
		const char *epoch, *did;
	} rows[] = {
		{ false, false, 7, 7, "a", "sr" },
		{ false, false, 8, 7, "a", "lsr" },
		{ false, false, 8, 8, "a", "lsr" },
		{ false, false, 7, 7, "", "l" },
		{ true, false, 8, 8, "a", "lsr" },
		{ true, true, 8, 8, "a", "sr" },
		{ true, true, 9, 8, "a", "lsr" },
		{ true, false, 7, 7, "a", "lsr" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)round_setup(state);
		server.wants = rows[i].wants;
		server.comes = rows[i].comes;
		replica.redis.there.generation = rows[i].there;
		replica.node.seen.generation = rows[i].seen;
		strcpy(replica.node.epoch, rows[i].epoch);
		assert_ok(weir__service_round(&replica));
		assert_string_equal(server.did, rows[i].did);
		assert_ptr_equal(server.only, rows[i].wants ? &replica.node.seen : NULL);
	}
}

/* Whoever waits for an image hears of it (S2): until it comes all the same, or is not needed. */
static void test_why_it_is_not_joined(void **state)
{
	static const struct {
		int look;
		bool wants, comes;
		int after, answer;
	} rows[] = {
		{ -EBADMSG, true, false, -EBADMSG, -EBADMSG },
		{ -EINPROGRESS, true, false, 0, 0 },
		{ 0, true, false, 0, 0 },
		{ -EBADMSG, true, true, 0, 0 },
		{ -EBADMSG, false, false, 0, 0 },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)round_setup(state);
		replica.look_err = -EIO;
		server.look[0].err = rows[i].look;
		server.wants = rows[i].wants;
		server.comes = rows[i].comes;
		assert_int_equal(weir__service_round(&replica), rows[i].answer);
		assert_int_equal(replica.look_err, rows[i].after);
		if (rows[i].after)
			assert_string_equal(replica.look_error, "why l");
	}
}

/* Nobody hears of an image by itself, nor of one that came just when redis began anew. */
static void test_what_is_joined(void **state)
{
	static const struct {
		struct answer look, send, read;
		uint64_t there;
		bool united;
		const char *did;
	} rows[] = {
		{ { .generation = 8 }, { 0 }, { 0 }, 8, false, "ltsr" },
		{ { .generation = 8 }, { 0 }, { 0 }, 8, true, "ltsr" },
		{ { .generation = 3 }, { 0 }, { 0 }, 3, true, "ltsr" },
		{ { 0 }, { 0 }, { 0 }, 8, true, "lsr" },
		{ FAILS(-EBADMSG), { 0 }, { 0 }, 8, true, "lsr" },
		{ { .generation = 8 }, FAILS(-ESTALE), { 0 }, 7, true, "sltsr" },
		{ { .generation = 8 }, { 0 }, FAILS(-ESTALE), 7, true, "srlt" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)round_setup(state);
		server.look[0] = rows[i].look;
		server.send[0] = rows[i].send;
		server.read = rows[i].read;
		replica.redis.there.generation = rows[i].there;
		replica.node.united = rows[i].united;
		replica.publish.at = 1;
		assert_int_equal(weir__service_round(&replica), rows[i].look.err);
		assert_string_equal(server.did, rows[i].did);
		bool due = rows[i].united && strchr(server.did, 't');
		assert_int_equal(replica.publish.at, due ? 0 : 1);
	}
}

/* The first that failed, with its own sentence; what need not end it does not. */
static void test_what_it_answers(void **state)
{
	static const struct {
		bool news;
		struct answer look, send[ANSWERS], read;
		const char *did;
		int answer;
		const char *why;
	} rows[] = {
#define NEWS .news = true
#define STALE FAILS(-ESTALE)
#define THEN(...) .did = __VA_ARGS__
		{ NEWS, THEN("lsr") },
		{ NEWS, .look = CUT(-EIO), THEN("l", -EIO, "why l") },
		{ NEWS, .look = FAILS(-EBADMSG), THEN("lsr", -EBADMSG, "why l") },
		{ NEWS, .look = FAILS(-EBADMSG), .send = { FAILS(-ENOSPC) },
		  THEN("lsr", -EBADMSG, "why l") },
		{ NEWS, .look = FAILS(-EBADMSG), .send = { CUT(-EIO) },
		  THEN("ls", -EBADMSG, "why l") },
		/* the epoch is another */
		{ .send = { STALE }, THEN("slsr") },
		{ .send = { STALE, STALE, STALE }, THEN("slslslsr") },
		{ .send = { STALE, STALE, STALE, STALE }, THEN("slslslsr", -ESTALE, "why s") },
		{ .send = { STALE }, .look = FAILS(-EINPROGRESS), THEN("slsr") },
		{ .send = { STALE }, .look = FAILS(-EBADMSG), THEN("slsr", -EBADMSG, "why l") },
		{ .send = { STALE, FAILS(-ENOSPC) }, .look = FAILS(-EBADMSG),
		  THEN("slsr", -EBADMSG, "why l") },
		{ .send = { STALE }, .look = CUT(-EIO), THEN("sl", -EIO, "why l") },
		{ .read = STALE, THEN("srl") },
		{ .read = STALE, .look = FAILS(-EBADMSG), THEN("srl", -EBADMSG, "why l") },
		/* the server is full, and says so first */
		{ .send = { FAILS(-ENOSPC) }, THEN("sr", -ENOSPC, "why s") },
		{ .send = { FAILS(-ENOSPC) }, .read = CUT(-EIO), THEN("sr", -ENOSPC, "why s") },
		{ .send = { CUT(-ENOSPC) }, THEN("s", -ENOSPC, "why s") },
		/* this node is: others make room, and whether they can be heard matters more */
		{ .send = { FAILS(-ENOBUFS) }, THEN("sr", -ENOBUFS, "why s") },
		{ .send = { FAILS(-ENOMEM) }, THEN("sr", -ENOMEM, "why s") },
		{ .send = { FAILS(-ENOBUFS) }, .read = CUT(-EIO), THEN("sr", -EIO, "why r") },
		{ .send = { FAILS(-ENOMEM) }, .read = CUT(-EIO), THEN("sr", -EIO, "why r") },
		{ .send = { CUT(-ENOBUFS) }, THEN("sr", -ENOBUFS, "why s") },
		{ .send = { CUT(-EIO) }, THEN("s", -EIO, "why s") },
		{ .read = CUT(-EIO), THEN("sr", -EIO, "why r") },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)round_setup(state);
		for (size_t j = 0; j < ANSWERS; j++)
			server.look[j] = rows[i].look;
		memcpy(server.send, rows[i].send, sizeof server.send);
		server.read = rows[i].read;
		replica.redis.there.generation = rows[i].news ? 8 : 7;
		assert_int_equal(weir__service_round(&replica), rows[i].answer);
		assert_string_equal(server.did, rows[i].did);
		if (rows[i].answer)
			assert_string_equal(weir_error_detail(), rows[i].why);
	}
}

/* S1 */
static void test_what_is_confirmed(void **state)
{
	static const struct {
		bool nobody, foreign, left, asks;
		unsigned replicas;
		int send;
		struct answer wait, read;
		const char *did;
		bool confirmed;
		int failure;
	} rows[] = {
		{ .did = "sr", .confirmed = true },
		{ .nobody = true, .replicas = 2, .did = "sr" },
		{ .replicas = 2, .did = "swrr", .confirmed = true },
		{ .replicas = 2, .asks = true, .did = "swrr", .confirmed = true },
		{ .replicas = 2, .wait = FAILS(-EAGAIN), .did = "swr" },
		{ .replicas = 2, .wait = { .epoch = "b" }, .did = "swrr" },
		{ .replicas = 2, .read = { .epoch = "b" }, .did = "swrr" },
		{ .replicas = 2, .read = FAILS(-ESTALE), .did = "swrrl" },
		{ .replicas = 2, .left = true, .did = "swrr" },
		{ .foreign = true, .replicas = 2, .did = "sr", .failure = -EKEYREJECTED },
		{ .send = -ENOSPC, .replicas = 2, .did = "sr", .failure = -EAGAIN },
		{ .send = -ENOBUFS, .did = "sr", .failure = -EAGAIN },
		{ .send = -ENOMEM, .did = "sr", .failure = -EAGAIN },
		{ .send = -EIO, .replicas = 2, .did = "sr" },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		(void)round_setup(state);
		replica.asked = replica.confirmed = 4;
		replica.asked += !rows[i].nobody;
		replica.confirm_replicas = rows[i].replicas;
		replica.node.seen.hashing = rows[i].foreign;
		server.left = rows[i].left;
		server.asks = rows[i].asks;
		server.send[0].err = rows[i].send;
		server.wait = rows[i].wait;
		server.read = rows[i].read;
		(void)weir__service_round(&replica);
		assert_string_equal(server.did, rows[i].did);
		assert_int_equal(replica.confirmed, rows[i].confirmed ? 5 : 4);
		assert_int_equal(replica.failed, rows[i].failure ? 5 : 0);
		assert_int_equal(replica.failure, rows[i].failure);
	}
}

#define OF(test) cmocka_unit_test_setup(test, round_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_where_there_is_something_to_see),
		OF(test_why_it_is_not_joined),
		OF(test_what_is_joined),
		OF(test_what_it_answers),
		OF(test_what_is_confirmed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
