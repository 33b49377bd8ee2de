/* SPDX-License-Identifier: MIT
 * Hours and days of whose duty it is to publish: when it forgets nodes that have gone, and when it
 * tries again. What it asks of others answers here. */
#include <errno.h>
#include "../../test.h"
#include "service/service.h"

enum { SECOND = 1000, HOUR = 3600 * SECOND };

static struct weir_replica replica;
static struct {
	int duty;
	unsigned duties, pruned, forgotten;
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
	return 0;
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

int weir_replica_stats(const struct weir_replica *r, struct weir_replica_stats *out)
{
	(void)r, (void)out;
	return 0;
}

int weir__redis_report(struct weir_redis *r, const char *text, size_t len)
{
	(void)r, (void)text, (void)len;
	return 0;
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
	return 3;
}

/* ---- */

static int setup(void **state)
{
	uint64_t now = weir__now_ms();
	(void)state;
	memset(&did, 0, sizeof did);
	memset(&replica, 0, sizeof replica);
	strcpy(replica.node.epoch, "a");
	strcpy(replica.last_epoch, "a");
	replica.epoch_ms = now - 2 * HOUR;
	replica.idle_ms = replica.publish_ms = HOUR;
	weir__due_after(&replica.idle, now, HOUR);
	weir__due_after(&replica.status, now, HOUR);
	return 0;
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
		int duty;
		bool none; /* in this epoch */
		uint64_t publish_ms, again;
	} rows[] = {
		{ 0, false, HOUR, HOUR },
		{ 0, false, SECOND, SECOND },
		{ -EPERM, false, HOUR, HOUR },
		{ -EPERM, true, HOUR, 30 * SECOND },
		{ -EEXIST, false, HOUR, HOUR },
		{ -EEXIST, true, HOUR, 30 * SECOND },
		{ -ENOSPC, false, HOUR, 30 * SECOND },
		{ -ENOSPC, true, HOUR, 30 * SECOND },
		{ -ENOSPC, true, SECOND, SECOND },
		{ -EPERM, true, SECOND, SECOND },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t now = weir__now_ms();
		did.duty = rows[i].duty;
		strcpy(replica.node.joined.epoch, rows[i].none ? "before" : "a");
		replica.publish_ms = (uint32_t)rows[i].publish_ms;
		weir__due_now(&replica.publish);
		(void)weir__service_due(&replica);
		assert_in_range(replica.publish.at - now, rows[i].again,
		                rows[i].again + rows[i].again / 4 + SECOND);
	}
}

#define OF(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_who_has_gone_is_forgotten),
		OF(test_who_said_nothing_in_a_new_epoch),
		OF(test_when_it_is_tried_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
