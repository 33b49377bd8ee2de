/* SPDX-License-Identifier: MIT
 * Inserts of the application's threads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <weir/error.h>
#include "service.h"

/* Of this node's, and of no other's. Whoever sees the number (publish_live()) sees the insert. */
static int64_t counted(struct weir_replica *r, int64_t answer, uint64_t kept)
{
	if (kept && answer >= 0)
		atomic_fetch_add_explicit(&r->not_replicated, kept, memory_order_release);
	return answer;
}

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

/* What fails meanwhile, without the set's name, with which most begins. */
static int not_in_time(const struct weir_replica *r, uint32_t ms, const char *why)
{
	char own[sizeof r->node.set + 4];
	size_t n = (size_t)snprintf(own, sizeof own, "set %s", r->node.set);
	if (strncmp(why, own, n) == 0)
		why += n + strspn(why + n, ": ");
	return weir_fail(-ETIMEDOUT, "set %s: not confirmed within %u ms%s%s", r->node.set, ms,
	                 *why ? ": " : "", why);
}

int weir_replica_flush(struct weir_replica *r, uint32_t milliseconds)
{
	if (!r)
		return weir_fail(-EINVAL, "the replica is NULL");
	const struct timespec end = after(milliseconds ? milliseconds : r->confirm_ms);
	char why[WEIR_SERVICE_SENTENCE];
	int timed_out = 0;
	pthread_mutex_lock(&r->lock);
	uint64_t ticket = ++r->asked; /* S1 */
	weir__service_wake(r);
	while (r->confirmed < ticket && r->failed < ticket && !timed_out && !r->stopping)
		timed_out = pthread_cond_timedwait(&r->done, &r->lock, &end);
	int err = r->confirmed >= ticket ? 0 :
	          r->failed >= ticket    ? r->failure :
	          r->stopping            ? -ECANCELED :
	                                   -ETIMEDOUT;
	snprintf(why, sizeof why, "%s", r->stats.error);
	pthread_mutex_unlock(&r->lock);
	if (err == -ETIMEDOUT)
		return not_in_time(r, milliseconds ? milliseconds : r->confirm_ms, why);
	if (err == -ECANCELED)
		return weir_fail(err, "set %s: not confirmed: the node is closed", r->node.set);
	if (err == -EKEYREJECTED)
		return weir_fail(err, "set %s: not confirmed: what redis has of it is by another "
		                 "seed or key, so the other nodes pass by what this one inserts",
		                 r->node.set);
	return err ? weir_fail(err, "set %s: not confirmed: redis, or this node's room for "
	                       "batches, is full", r->node.set) : 0;
}

static int64_t confirmed(struct weir_replica *r, int64_t answer, uint64_t kept)
{
	if (answer < 0)
		return answer;
	if (kept)
		return weir_fail(-EAGAIN, "set %s: this node has no room for another batch",
		                 r->node.set);
	int err = weir_replica_flush(r, 0);
	return err ? err : answer;
}

/* The end of an insert. @kept: of its keys, those that are this node's alone. */
static int64_t ended(struct weir_replica *r, int64_t answer, uint64_t kept, uint32_t wait)
{
	return wait == WEIR_REPLICA_CONFIRMED ? confirmed(r, answer, kept) :
	                                        counted(r, answer, kept);
}

static int check_wait(const struct weir_replica *r, uint32_t wait)
{
	return wait <= WEIR_REPLICA_CONFIRMED ? 0 :
	       weir_fail(-EINVAL, "set %s: wait %u: WEIR_REPLICA_SOON (%d) or "
	                 "WEIR_REPLICA_CONFIRMED (%d)", r->node.set, wait, WEIR_REPLICA_SOON,
	                 WEIR_REPLICA_CONFIRMED);
}

int weir_replica_insert(struct weir_replica *r, const void *key, size_t len, uint32_t wait)
{
	int kept, err = check_wait(r, wait);
	if (err)
		return err;
	const int answer = weir__node_insert(&r->node, key, len, &kept);
	return (int)ended(r, answer, !!kept, wait);
}

int weir_replica_insert_u64(struct weir_replica *r, uint64_t key, uint32_t wait)
{
	return (int)weir_replica_insert_keys(r, weir_keys_u64(&key, 1), NULL, wait);
}

int weir_replica_insert_hash(struct weir_replica *r, uint64_t hash, uint32_t wait)
{
	int kept, err = check_wait(r, wait);
	if (err)
		return err;
	const int answer = weir__node_insert_hash(&r->node, hash, &kept);
	return (int)ended(r, answer, !!kept, wait);
}

int64_t weir_replica_insert_keys(struct weir_replica *r, struct weir_keys keys, uint64_t *bitmap,
                                 uint32_t wait)
{
	uint64_t kept;
	int err = check_wait(r, wait);
	if (err)
		return err;
	const int64_t answer = weir__node_insert_keys(&r->node, keys, bitmap, &kept);
	return ended(r, answer, kept, wait);
}
