/* SPDX-License-Identifier: MIT
 * Who publishes, and what nodes report. */
#include <errno.h>
#include <stdlib.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include "../clock.h"
#include "../format/number.h"
#include "../format/scripts.h"
#include "coming.h"

int weir__redis_lease(struct weir_redis *r, uint32_t milliseconds, bool take)
{
	char ms[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text(r->owner), weir__number(ms, milliseconds),
		                      weir__text(take ? "1" : "0") };
	int err = weir__redis_call(r, WEIR_SCRIPT_LEASE, args, 3, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    reply->element[1]->type != REDIS_REPLY_INTEGER)
		err = weir__redis_shape(r, "a request for the lease");
	else if (strcmp(reply->element[0]->str, r->owner) != 0)
		err = weir_fail(-EPERM, "set %s: %.64s has the lease to publish for another %lld "
		                "ms", r->keys.set, reply->element[0]->str,
		                reply->element[1]->integer);
	freeReplyObject(reply);
	return err;
}

static int plain(struct weir_redis *r, enum weir_script script, const struct iovec *args, size_t n)
{
	struct redisReply *reply;
	int err = weir__redis_call(r, script, args, n, &reply);
	if (!err)
		freeReplyObject(reply);
	return err;
}

int weir__redis_release(struct weir_redis *r)
{
	const struct iovec args[] = { weir__text(r->owner) };
	return plain(r, WEIR_SCRIPT_RELEASE, args, 1);
}

int weir__redis_report(struct weir_redis *r, const char *text, size_t len)
{
	const struct iovec args[] = { weir__text(r->owner), weir__bytes(text, len) };
	return plain(r, WEIR_SCRIPT_REPORT, args, 2);
}

int weir__redis_leave(struct weir_redis *r)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HDEL"), weir__text(r->keys.of[WEIR_KEY_NODES]),
		                      weir__text(r->owner) };
	int err = weir__redis_command(r, args, 3, &reply);
	if (err)
		return err;
	freeReplyObject(reply);
	return weir__redis_release(r);
}

int weir__redis_prune(struct weir_redis *r, uint64_t milliseconds)
{
	char ms[WEIR_NUMBER_TEXT];
	const struct iovec args[] = { weir__text(""), weir__number(ms, milliseconds) };
	return plain(r, WEIR_SCRIPT_REPORT, args, 2);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static int take_nodes(struct weir_redis *r, const struct redisReply *a, uint64_t **nodes, size_t *n)
{
	if (a->type != REDIS_REPLY_ARRAY)
		return weir__redis_shape(r, "a question for the nodes that live");
	*nodes = malloc((a->elements + 1) * sizeof **nodes);
	if (!*nodes)
		return weir_fail(-ENOMEM, "no memory for the names of %llu nodes",
		                 (unsigned long long)a->elements);
	for (size_t i = 0; i < a->elements; i++)
		if (a->element[i]->type == REDIS_REPLY_STRING &&
		    weir__hex_parse(*nodes + *n, a->element[i]->str, a->element[i]->len,
		                    WEIR_REPLICA_NODE))
			++*n;
	qsort(*nodes, *n, sizeof **nodes, ascending);
	return 0;
}

int weir__redis_alive(struct weir_redis *r, uint64_t milliseconds, uint64_t **nodes, size_t *n)
{
	char ms[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__number(ms, milliseconds) };
	int err = weir__redis_call(r, WEIR_SCRIPT_ALIVE, args, 1, &reply);
	*nodes = NULL;
	*n = 0;
	if (err)
		return err;
	err = take_nodes(r, reply, nodes, n);
	freeReplyObject(reply);
	return err;
}

/* How many replicas there are now. ROLE: { "master", offset, { replica, ... } } */
static int replicas(struct weir_redis *r, uint32_t *n)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("ROLE") };
	int err = weir__redis_command(r, args, 1, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 3 ||
	    reply->element[0]->type != REDIS_REPLY_STRING)
		err = weir__redis_shape(r, "ROLE");
	else if (strcmp(reply->element[0]->str, "master") != 0)
		err = weir_fail(-EAGAIN, "set %s: %s is not the master any more", r->keys.set,
		                weir__wire_peer(r->wire));
	else if (reply->element[2]->type != REDIS_REPLY_ARRAY)
		err = weir__redis_shape(r, "ROLE");
	else
		*n = (uint32_t)reply->element[2]->elements;
	freeReplyObject(reply);
	return err;
}

/* Those too that are still given what the master had when they came, which ROLE leaves out: they
 * have nothing yet, and may be promoted. */
static int connected(struct weir_redis *r, uint32_t *n)
{
	static const char line[] = "\nconnected_slaves:";
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("INFO"), weir__text("replication") };
	int err = weir__redis_command(r, args, 2, &reply);
	if (err)
		return err;
	const char *at = reply->type == REDIS_REPLY_STRING ? strstr(reply->str, line) : NULL;
	if (at)
		*n = (uint32_t)strtoul(at + sizeof line - 1, NULL, 10);
	else
		err = weir__redis_shape(r, "INFO replication");
	freeReplyObject(reply);
	return err;
}

/* One that is cut off for the moment counts: it may be promoted, and have nothing of what the
 * others have. */
static uint32_t lately(struct weir_redis *r, uint32_t there)
{
	uint64_t now = weir__now_ms();
	if (there >= r->most_replicas || now - r->most_ms > WEIR_REDIS_LATELY_MS) {
		r->most_replicas = there;
		r->most_ms = now;
	}
	return r->most_replicas;
}

static int all_replicas(struct weir_redis *r, uint32_t there, uint32_t *wanted)
{
	uint32_t come = 0;
	int err = connected(r, &come);
	*wanted = lately(r, there);
	if (*wanted < come)
		*wanted = come;
	return err;
}

/* ROLE and WAIT have no key, so in a Cluster they do not lead to the server that has the set: a
 * command before them does. @number: receives that of the connection to it. */
static int find_master(struct weir_redis *r, uint64_t *number)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("EXISTS"),
		                      weir__text(r->keys.of[WEIR_KEY_MANIFEST]) };
	int err = weir__redis_command(r, args, 2, &reply);
	if (err)
		return err;
	freeReplyObject(reply);
	*number = weir__wire_number(r->wire);
	return 0;
}

/* WAIT means what this connection has seen written: after ROLE on it, all that was before. */
int weir__redis_wait(struct weir_redis *r, uint32_t wanted)
{
	uint32_t there = 0;
	char n[WEIR_NUMBER_TEXT], ms[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	uint64_t number;
	int err = find_master(r, &number);
	if (!err)
		err = replicas(r, &there);
	if (!err && wanted == WEIR_REDIS_ALL)
		err = all_replicas(r, there, &wanted);
	if (err || wanted == 0)
		return err;
	const struct iovec args[] = { weir__text("WAIT"), weir__number(n, wanted),
		                      weir__number(ms, r->wait_ms) };
	err = weir__redis_command(r, args, 3, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_INTEGER)
		err = weir__redis_shape(r, "WAIT");
	else if (number != weir__wire_number(r->wire))
		err = weir_fail(-EAGAIN, "set %s: the connection broke while replicas were waited "
		                "for", r->keys.set);
	else if (reply->integer < (long long)wanted)
		err = weir_fail(-EAGAIN, "set %s: %lld of %u replicas had everything after %u ms",
		                r->keys.set, reply->integer, wanted, r->wait_ms);
	freeReplyObject(reply);
	return err;
}

void weir__redis_make(struct weir_redis *r, struct weir_wire *wire, const char *set, uint64_t node)
{
	*r = (struct weir_redis){
		.server = { r, weir__redis_append, weir__redis_read, weir__redis_manifest,
		            weir__redis_image, weir__redis_store, weir__redis_now,
		            weir__redis_publish },
		.wire = wire,
		.chunk_bytes = WEIR_SET_CHUNK,
		.keep = WEIR_SET_KEEP,
		.stored_s = WEIR_SET_STORED_S,
		.superseded_s = WEIR_SET_SUPERSEDED_S,
		.replicas = WEIR_REDIS_ALL,
		.wait_ms = 5000,
		.max_image_bytes = UINT64_C(16) << 30,
		.reserve = 1 << 20,
	};
	weir__keys_make(&r->keys, set);
	snprintf(r->owner, sizeof r->owner, "%016" PRIx64, node);
}
