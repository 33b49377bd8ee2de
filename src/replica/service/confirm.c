/* SPDX-License-Identifier: MIT
 * Inserts of the application's threads, and their confirmation ([CONFIRMED]). */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "service.h"

enum {
	WAIT_MS = 100,   /* time for which a WAIT may block the thread */
	SLACK_MS = 3000, /* time until touch.lua has counted the replicas again */
};

/* ---- the thread ---- */

/* With WEIR_REPLICAS_ALL an insert is confirmed when weir_head.replicas replicas have it. That is
 * the largest number that was connected at the same time within the grace period. After a failover
 * this number counts the old master's replicas until the grace period ends. The promoted server was
 * one of those replicas, so wait for one replica fewer. */
static uint32_t replicas_needed(const struct weir_replica *r)
{
	const struct weir_head *h = &r->node.head;
	const uint32_t n = r->o.confirm_replicas, all = h->replicas;
	/* The master's address has changed, but redis still counts the old number of replicas. */
	const bool promoted = r->moved_ms && all >= r->moved_replicas && all > h->connected &&
	                      r->node.now - r->moved_ms <= r->o.replica_grace_ms + SLACK_MS;
	if (n != WEIR_REPLICAS_ALL)
		return n == WEIR_REPLICAS_NONE ? 0 : n;
	return all - promoted;
}

/* Check that @replicas replicas have every insert that redis has acknowledged. WAIT covers only
 * writes of the same connection, so send a report if nothing was written on this connection in this
 * round.
 * Return: 0; -EAGAIN too few replicas have them; -EINPROGRESS ask again; an error of the
 *   connection. */
static int wait_for_replicas(struct weir_replica *r, uint32_t replicas)
{
	struct weir_node *n = &r->node;
	const uint64_t mark = n->head.mark, number = weir__link_connections(r->link);
	int err = 0;
	if (!n->wrote) {
		n->report = r->text;
		err = weir__node_touch(n, false);
	}
	if (!err && n->head.mark == mark)
		err = weir__redis_wait(r->redis, replicas, WAIT_MS);
	if (!err)
		err = weir__node_touch(n, false);
	if (err)
		return err;
	return n->head.mark == mark && !n->doubt && weir__link_connections(r->link) == number ? 0 :
	       weir_fail(-EINPROGRESS, "set %s: redis lost the log before it confirmed", r->o.set);
}

/* Return: 0; or the reason why no flush can be confirmed, however long the caller waits. */
static int cannot_confirm(const struct weir_replica *r)
{
	const struct weir_node *n = &r->node;
	if (n->other_seed)
		return weir_fail(-EKEYREJECTED, "set %s: what redis has of it is by another "
		                 "seed, key or normalisation, so the other nodes do not find "
		                 "what this one inserts: use another set, or fetch that one",
		                 r->o.set);
	if (r->evicts.err)
		return weir__failure_return(&r->evicts);
	return n->head.full ? weir_fail(-EAGAIN, "set %s: redis is full: raise maxmemory",
	                                r->o.set) : 0;
}

void weir__service_confirm(struct weir_replica *r)
{
	struct weir_node *n = &r->node;
	struct weir_failure few;
	const uint64_t acknowledged = weir__node_acknowledged(n), seen = n->flushes_collected;
	const uint32_t replicas = replicas_needed(r);
	pthread_mutex_lock(&r->lock);
	const bool any = acknowledged > r->confirmed, waits = r->waiting && seen > r->confirmed;
	pthread_mutex_unlock(&r->lock);
	if (!waits)
		return;
	const int never = cannot_confirm(r);
	const bool other = never && !n->head.full; /* a full server keeps its data, so WAIT still
	                                              makes sense */
	struct weir_failure why;
	weir__failure_save(&why, never);
	const int err = !any || other ? -EINPROGRESS :
	                replicas      ? wait_for_replicas(r, replicas) :
	                                0;
	weir__failure_save(&few, err == -EAGAIN ? err : 0);
	pthread_mutex_lock(&r->lock);
	if (!err)
		r->confirmed = acknowledged;
	r->too_few = few;
	if (never) {
		r->refused = seen;
		r->refusal = why;
	}
	pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
}

/* ---- any thread ---- */

static struct timespec after(uint32_t ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* @why: the current error. Skip the set's name at the start of @why, since the result has the name
 * too. */
static int not_in_time(const struct weir_replica *r, int err, uint32_t ms, const char *why)
{
	const size_t n = strlen(r->o.set);
	if (strncmp(why, "set ", 4) == 0 && strncmp(why + 4, r->o.set, n) == 0)
		why += 4 + n + strspn(why + 4 + n, ": ");
	return weir_fail(err, "set %s: not confirmed within %u ms%s%s", r->o.set, ms,
	                 *why ? ": " : "", why);
}

int weir_replica_flush(struct weir_replica *r, uint32_t milliseconds)
{
	if (!r)
		return weir_fail(-EINVAL, "the replica is NULL");
	const uint32_t ms = milliseconds ? milliseconds : r->o.confirm_ms;
	const struct timespec end = after(ms);
	struct weir_failure refusal;
	char why[WEIR_SENTENCE_BYTES];
	int late = 0;
	pthread_mutex_lock(&r->lock);
	r->waiting++;
	const uint64_t number = weir__node_flush(&r->node);
	while (r->confirmed < number && r->refused < number && !late && !r->stopping)
		late = pthread_cond_timedwait(&r->done, &r->lock, &end);
	const bool confirmed = r->confirmed >= number, refused = r->refused >= number;
	const bool stopping = r->stopping;
	const bool few = r->too_few.err && r->stats.state != WEIR_REPLICA_OFFLINE;
	r->waiting--;
	refusal = r->refusal;
	snprintf(why, sizeof why, "%s", few ? r->too_few.why : r->stats.error);
	pthread_mutex_unlock(&r->lock);
	if (confirmed)
		return 0;
	if (refused)
		return weir_fail(refusal.err, "%s", refusal.why);
	if (stopping)
		return weir_fail(-ECANCELED, "set %s: not confirmed: the node is closed", r->o.set);
	return not_in_time(r, few ? -EAGAIN : -ETIMEDOUT, ms, why);
}

static int check(const struct weir_replica *r, uint32_t wait)
{
	if (!r)
		return weir_fail(-EINVAL, "the replica is NULL");
	return wait <= WEIR_REPLICA_CONFIRMED ? 0 :
	       weir_fail(-EINVAL, "set %s: wait is %u: give WEIR_REPLICA_SOON (%d) or "
	                 "WEIR_REPLICA_CONFIRMED (%d)", r->o.set, wait, WEIR_REPLICA_SOON,
	                 WEIR_REPLICA_CONFIRMED);
}

static int64_t finish_insert(struct weir_replica *r, int64_t answer, uint32_t wait)
{
	if (answer < 0 || wait == WEIR_REPLICA_SOON)
		return answer;
	int err = weir_replica_flush(r, 0);
	return err ? err : answer;
}

/* Most inserts do not wait: they end with a tail call into the node, which saves no registers. */
static inline bool is_soon(const struct weir_replica *r, uint32_t wait)
{
	return __builtin_expect(r && wait == WEIR_REPLICA_SOON, 1);
}

int weir_replica_insert(struct weir_replica *r, const void *key, size_t len, uint32_t wait)
{
	if (is_soon(r, wait))
		return weir__node_insert(&r->node, key, len);
	int err = check(r, wait);
	return err ? err : (int)finish_insert(r, weir__node_insert(&r->node, key, len), wait);
}

int weir_replica_insert_u64(struct weir_replica *r, uint64_t key, uint32_t wait)
{
	if (is_soon(r, wait))
		return weir__node_insert_u64(&r->node, key);
	int err = check(r, wait);
	return err ? err : (int)finish_insert(r, weir__node_insert_u64(&r->node, key), wait);
}

int weir_replica_insert_hash(struct weir_replica *r, uint64_t hash, uint32_t wait)
{
	if (is_soon(r, wait))
		return weir__node_insert_hash(&r->node, hash);
	int err = check(r, wait);
	return err ? err : (int)finish_insert(r, weir__node_insert_hash(&r->node, hash), wait);
}

int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys, uint64_t *bitmap,
                                 uint32_t wait)
{
	const bool form = keys.form != WEIR_KEYS_NONE && keys.form <= WEIR_KEYS_U64;
	int err = check(r, wait);
	if (err)
		return err;
	if (!form) /* the handle refuses keys without a known form */
		return weir_handle_insert_keys(r->handle, keys, bitmap);
	return finish_insert(r, weir__node_insert_keys(&r->node, keys, bitmap), wait);
}
