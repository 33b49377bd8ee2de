/* SPDX-License-Identifier: MIT
 * Hours and days of whose duty it is to publish: when it forgets nodes that have gone, and when it
 * tries again. What it asks of others answers here. */
#include <errno.h>
#include "../../test.h"
#include "service/service.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static struct weir_replica replica;
static int wire_fd;
static struct {
	int duty, look;
	int idle, report;
	int fd; /* of the connection, since it spoke */
	unsigned duties, looks, pruned, forgotten;
	uint64_t gone_ms;
} did;

/* ---- what the service calls ---- */

int weir__node_want(struct weir_node *n, uint64_t node, uint64_t sequence)
{
	(void)n, (void)node, (void)sequence;
	return 0;
}

int weir__node_idle(struct weir_node *n)
{
	(void)n;
	wire_fd = did.fd;
	return did.idle ? weir_fail(did.idle, "a word") : 0;
}

bool weir__node_complete(const struct weir_node *n)
{
	(void)n;
	return true;
}

bool weir__node_lacks_image(const struct weir_node *n)
{
	(void)n;
	return false;
}

int weir__node_look(struct weir_node *n)
{
	(void)n;
	did.looks++;
	return did.look ? weir_fail(did.look, "why") : 0;
}

bool weir__node_heal(struct weir_node *n, const uint64_t *alive, size_t count)
{
	(void)n, (void)alive, (void)count;
	return true;
}

void weir__node_forget(struct weir_node *n, const uint64_t *alive, size_t count)
{
	(void)n, (void)alive, (void)count;
	did.forgotten++;
}

void weir__service_reserve(struct weir_replica *r, uint64_t filter)
{
	(void)r, (void)filter;
}

void weir__service_tell_healed(struct weir_replica *r)
{
	(void)r;
}

int weir__service_duty(struct weir_replica *r)
{
	(void)r;
	did.duties++;
	return did.duty;
}

int weir_replica_measure(const struct weir_replica *r, struct weir_replica_stats *out)
{
	(void)r, (void)out;
	return 0;
}

int weir__redis_report(struct weir_redis *r, const char *text, size_t len)
{
	(void)r, (void)text, (void)len;
	return did.report ? weir_fail(did.report, "a report") : 0;
}

int weir__redis_prune(struct weir_redis *r, uint64_t milliseconds)
{
	(void)r;
	did.pruned++;
	did.gone_ms = milliseconds;
	return 0;
}

int weir__redis_alive(struct weir_redis *r, uint64_t milliseconds, uint64_t **nodes, size_t *n)
{
	(void)r;
	assert_int_equal(milliseconds, did.gone_ms);
	*nodes = NULL;
	*n = 0;
	return 0;
}

int weir__wire_fd(const struct weir_wire *w)
{
	(void)w;
	return wire_fd;
}

/* ---- */

static int setup(void **state)
{
	uint64_t now = weir__now_ms();
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	(void)state;
	memset(&did, 0, sizeof did);
	did.fd = wire_fd = 3;
	memset(&replica, 0, sizeof replica);
	strcpy(replica.node.epoch, "a");
	strcpy(replica.last_epoch, "a");
	replica.epoch_ms = now - 2 * HOUR;
	replica.idle_ms = replica.publish_ms = HOUR;
	weir__due_after(&replica.idle, now, HOUR);
	weir__due_after(&replica.status, now, HOUR);
	p.capacity = 1;
	p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_handle_create(&replica.node.handle, f, NULL)); /* reports say how full */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return weir_handle_destroy(replica.node.handle);
}

static void test_who_has_gone_is_forgotten(void **state)
{
	(void)state;
	assert_ok(weir__service_due(&replica));
	assert_int_equal(did.duties, 1);
	assert_true(did.pruned == 1 && did.forgotten == 1);
	assert_int_equal(did.gone_ms, UINT64_C(7) * 24 * HOUR);
	assert_ok(weir__service_due(&replica)); /* nothing is due */
	assert_int_equal(did.duties, 1);
}

/* Redis may have lost what nodes report: they have an hour's time to say that they live. */
static void test_who_said_nothing_in_a_new_epoch(void **state)
{
	(void)state;
	strcpy(replica.node.epoch, "b");
	assert_ok(weir__service_due(&replica));
	assert_int_equal(did.duties, 1);
	assert_true(did.pruned == 0 && did.forgotten == 0);
	replica.epoch_ms -= HOUR;
	weir__due_now(&replica.publish);
	assert_ok(weir__service_due(&replica));
	assert_true(did.pruned == 1 && did.forgotten == 1);
}

static void test_when_it_is_tried_again(void **state)
{
	static const struct {
		int duty, look;
		bool none; /* in this epoch */
		uint64_t publish_ms, again;
	} rows[] = {
		{ 0, 0, false, HOUR, HOUR },
		{ 0, 0, false, SECOND, SECOND },
		{ -EPERM, 0, false, HOUR, HOUR },
		{ -EPERM, 0, true, HOUR, 30 * SECOND },
		{ -EEXIST, 0, false, HOUR, HOUR },
		{ -EEXIST, -EINPROGRESS, false, HOUR, HOUR },
		{ -EEXIST, -EBADMSG, false, HOUR, 30 * SECOND },
		{ -EEXIST, 0, true, HOUR, 30 * SECOND },
		{ -ENOSPC, 0, false, HOUR, 30 * SECOND },
		{ -ENOSPC, 0, true, HOUR, 30 * SECOND },
		{ -ENOSPC, 0, true, SECOND, SECOND },
		{ -EPERM, 0, true, SECOND, SECOND },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t now = weir__now_ms();
		did.duty = rows[i].duty;
		did.look = rows[i].look;
		did.looks = 0;
		strcpy(replica.node.joined.epoch, rows[i].none ? "before" : "a");
		replica.publish_ms = (uint32_t)rows[i].publish_ms;
		weir__due_now(&replica.publish);
		(void)weir__service_due(&replica);
		assert_int_equal(did.looks, rows[i].duty == -EEXIST);
		assert_in_range(replica.publish.at - now, rows[i].again,
		                rows[i].again + rows[i].again / 4 + SECOND);
	}
}

/* What stands in the way of a generation stays said until it is made. */
static void test_why_it_is_not_made(void **state)
{
	(void)state;
	did.duty = -EEXIST;
	did.look = -EBADMSG;
	assert_int_equal(weir__service_due(&replica), -EBADMSG);
	assert_string_equal(replica.publish_error, "why");
	assert_ok(weir__service_due(&replica)); /* nothing is due */
	assert_string_equal(replica.publish_error, "why");
	did.look = 0;
	weir__due_now(&replica.publish);
	assert_ok(weir__service_due(&replica));
	assert_string_equal(replica.publish_error, "");
}

/* A node that owes a generation to a new epoch fails to publish it; then another node does. */
static void test_anothers_generation_ends_the_error_of_an_owed_one(void **state)
{
	(void)state;
	strcpy(replica.node.epoch, "b");
	did.duty = -ESTALE;
	assert_int_equal(weir__service_due(&replica), -ESTALE);
	assert_string_not_equal(replica.publish_error, "");
	strcpy(replica.node.joined.epoch, "b");
	weir__due_now(&replica.publish);
	assert_ok(weir__service_due(&replica));
	assert_int_equal(did.duties, 1);
	assert_string_equal(replica.publish_error, "");
}

/* It may have been spoiled for a moment alone. */
static void test_a_refused_image(void **state)
{
	const struct weir_manifest m = { .generation = 7, .stored = 7 };
	(void)state;
	assert_ok(weir__service_due(&replica));
	replica.node.refused.generation = 7;
	replica.redis.there = (struct weir_redis_which){ 7, 7 };
	replica.refused.at -= HOUR - MINUTE;
	assert_ok(weir__service_due(&replica));
	assert_int_equal(replica.node.refused.generation, 7);
	replica.refused.at -= MINUTE + HOUR / 4;
	assert_ok(weir__service_due(&replica));
	assert_int_equal(replica.node.refused.generation, 0);
	assert_false(weir__redis_is_there(&replica.redis, &m)); /* it is looked at again */
	replica.node.refused.generation = 7; /* once in an hour */
	assert_ok(weir__service_due(&replica));
	assert_int_equal(replica.node.refused.generation, 7);
}

/* What failed when it was tried stays so until it is tried again. Of two that fail one is said. */
static void test_what_fails_now_and_then(void **state)
{
	static const struct {
		bool speaks, reports; /* it is due */
		int idle, report, fd, said;
		const char *failing;
	} rows[] = {
		{ false, true, 0, -EACCES, 3, -EACCES, "a report" },
		{ false, false, 0, 0, 3, 0, "a report" }, /* nothing is due */
		{ true, false, 0, 0, 3, 0, "a report" },
		{ true, false, -ESTALE, 0, 3, -ESTALE, "a report" },
		{ true, false, -EAGAIN, 0, 3, -EAGAIN, "a word" },
		{ false, true, 0, -EACCES, 3, -EAGAIN, "a word" },
		{ true, false, 0, 0, -1, 0, "a word" }, /* it is cut off */
		{ true, false, 0, 0, 3, 0, "a report" },
		{ true, false, -EIO, 0, -1, -EIO, "a report" },
		{ false, true, 0, 0, 3, 0, NULL },
	};
	(void)state;
	replica.publish_ms = 0;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		wire_fd = 3;
		did.fd = rows[i].fd;
		did.idle = rows[i].idle;
		did.report = rows[i].report;
		weir__due_after(&replica.idle, rows[i].speaks ? 0 : weir__now_ms(), 1000);
		weir__due_after(&replica.status, rows[i].reports ? 0 : weir__now_ms(), 1000);
		assert_int_equal(weir__service_due(&replica), rows[i].said);
		const struct weir_failure *failing = weir__service_failing(&replica);
		assert_string_equal(failing ? failing->why : "", rows[i].failing ?
		                    rows[i].failing : "");
		if (rows[i].said && rows[i].said == (failing ? failing->err : 0))
			assert_string_equal(weir_error_detail(), failing->why);
	}
}

/* Whoever reads reports hears at once that it is over. */
static void test_it_is_over(void **state)
{
	(void)state;
	did.idle = -EAGAIN;
	weir__due_now(&replica.idle);
	assert_int_equal(weir__service_due(&replica), -EAGAIN);
	assert_false(weir__is_due(&replica.status, weir__now_ms()));
	did.idle = 0;
	weir__due_now(&replica.idle);
	did.report = -EIO; /* it is not sent before it is known that all is well */
	assert_ok(weir__service_due(&replica));
	assert_int_equal(weir__service_due(&replica), -EIO);
}

/* What is due waits for a connection that was cut off meanwhile. */
static void test_it_is_cut_off(void **state)
{
	(void)state;
	did.fd = -1;
	weir__due_now(&replica.idle);
	assert_ok(weir__service_due(&replica));
	assert_int_equal(did.duties, 0);
	did.fd = wire_fd = 3;
	assert_ok(weir__service_due(&replica));
	assert_int_equal(did.duties, 1);
}

#define OF(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_who_has_gone_is_forgotten),
		OF(test_who_said_nothing_in_a_new_epoch),
		OF(test_when_it_is_tried_again),
		OF(test_why_it_is_not_made),
		OF(test_anothers_generation_ends_the_error_of_an_owed_one),
		OF(test_a_refused_image),
		OF(test_what_fails_now_and_then),
		OF(test_it_is_over),
		OF(test_it_is_cut_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
