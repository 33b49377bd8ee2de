/* SPDX-License-Identifier: MIT
 * The thread of a replica: it runs rounds of the node, checks redis at intervals, and sleeps. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "service.h"

/* ---- checks at intervals ---- */

static uint32_t between(uint64_t least, uint64_t ms, uint64_t most)
{
	return (uint32_t)(ms < least ? least : ms > most ? most : ms);
}

/* Limit all nodes together to 5,000 reads and 1,000 heartbeats a second, but let no interval exceed
 * WEIR_NODE_BEAT_MS: from its heartbeat a node learns that redis has lost the set. */
static void set_intervals(struct weir_replica *r, uint64_t nodes)
{
	if (!r->o.poll_ms)
		r->node.poll_ms = between(WEIR_NODE_POLL_MS, nodes / 5, WEIR_NODE_BEAT_MS);
	r->node.beat_ms = between(WEIR_NODE_BEAT_LEAST_MS, nodes, WEIR_NODE_BEAT_MS);
}

static int check_memory(struct weir_replica *r)
{
	struct weir_redis_status s;
	int err = weir__redis_status(r->redis, &s);
	if (err)
		return err;
	set_intervals(r, s.nodes);
	if (s.max_memory && strcmp(s.policy, "noeviction") != 0)
		err = weir_fail(-EAGAIN, "set %s: redis may evict its keys, so nothing is "
		                "confirmed: set maxmemory-policy, which is %s, to noeviction",
		                r->o.set, s.policy);
	weir__failure_save(&r->evicts, err);
	return 0;
}

/* If the clock is good enough to sign, sign the joined generation again before it expires. */
static int check_signature(struct weir_replica *r, struct weir_now now)
{
	struct weir_node *n = &r->node;
	weir__failure_save(&r->clock, weir__signer_clock(now.wall_ms, n->head.now_ms));
	weir__service_may_publish(r);
	const uint64_t life_ms = (uint64_t)r->o.expires_seconds * 1000;
	if (r->clock.err || !n->head.generation || n->joined.id != n->head.generation ||
	    n->publishing || !weir__signer_must_sign(&n->joined, now.wall_ms, life_ms))
		return 0;
	int err = weir__node_republish(n);
	r->published += !err;
	return err == -EEXIST || err == -ESTALE || err == -EAGAIN ? 0 : err;
}

/* Check a generation with a short life at intervals of 1/8 of its life. */
static uint64_t watch_interval(const struct weir_replica *r)
{
	const struct weir_manifest *m = &r->node.joined;
	const uint64_t eighth = (m->expires_ms - m->signed_ms) / 8;
	if (r->evicts.err) /* check again soon whether redis may evict keys */
		return WEIR_NODE_BEAT_MS;
	return m->expires_ms && eighth < WEIR_SERVICE_WATCH_MS ? eighth : WEIR_SERVICE_WATCH_MS;
}

static void note_peer(struct weir_replica *r, uint64_t now)
{
	const char *peer = weir__link_peer(r->link);
	if (r->peer[0] && strncmp(r->peer, peer, sizeof r->peer - 1) != 0) {
		r->moved_ms = now;
		r->moved_replicas = r->node.head.replicas;
	}
	snprintf(r->peer, sizeof r->peer, "%s", peer);
}

/* Run the checks after each reconnection and at intervals. */
static void watch(struct weir_replica *r, uint64_t now)
{
	const struct weir_now clocks = weir__service_clocks();
	if (now < r->watch_at && weir__link_connections(r->link) == r->link_number)
		return;
	r->watch_at = now + watch_interval(r);
	r->link_number = weir__link_connections(r->link);
	note_peer(r, now);
	int err = check_memory(r);
	if (!err && r->signer)
		err = check_signature(r, clocks);
	weir__failure_save(&r->watched, err);
	if (r->trust && (err = weir__trust_recheck(r->trust, clocks)))
		weir__failure_save(&r->watched, err);
}

/* Ask whether the master was replaced, since the connection to the old master may stay open. */
static void ask_sentinel(struct weir_replica *r, uint64_t now)
{
	if (now < r->master_at)
		return;
	r->master_at = now + WEIR_SERVICE_MASTER_MS;
	if (weir__link_master_moved(r->link) == 1)
		weir__link_reset(r->link);
}

/* ---- rounds ---- */

/* Write the version of this node's own generations to the state file too, so that the next start
 * refuses older generations. */
static void record_own(struct weir_replica *r, uint64_t now)
{
	struct weir_manifest m;
	const struct weir_node *n = &r->node;
	if (!r->trust || n->newest.publisher != r->id || now < r->take_at ||
	    weir__trust_accepted(r->trust)->id == n->newest.id)
		return;
	int err = r->store->manifest(r->store->context, &m);
	if (err)
		r->take_at = now + WEIR_NODE_BEAT_MS;
	if (err && r->distrust.err)
		weir__failure_save(&r->watched, err);
}

/* Return: the time of the next round. */
static uint64_t run_round(struct weir_replica *r)
{
	const uint64_t now = weir__service_now();
	const struct weir_filter *was = weir_handle_get(r->handle);
	r->node.wrote = false;
	const uint64_t newest = r->node.newest.id, joined = r->node.joined.id;
	uint64_t again = weir__node_round(&r->node, now);
	if (r->node.newest.id != newest)
		r->node.wrote = false; /* [CONFIRMED]: the new head, which another node may have
		                         written, may acknowledge flushes. So write again
		                         before the WAIT */
	if (r->watched.err && r->node.joined.id != joined)
		r->watch_at = 0; /* joining may have ended the failure */
	if (r->node.state != WEIR_NODE_OFFLINE) {
		record_own(r, now);
		watch(r, now);
		weir__service_confirm(r);
		ask_sentinel(r, now);
	}
	struct weir_request *all = weir__service_requests(r);
	weir__service_note(r, weir_handle_get(r->handle) != was);
	weir__service_answer(r, all);
	return again;
}

static bool is_stopping(struct weir_replica *r)
{
	pthread_mutex_lock(&r->lock);
	const bool stopping = r->stopping;
	pthread_mutex_unlock(&r->lock);
	return stopping;
}

static void *run(void *arg)
{
	struct weir_replica *r = arg;
	r->runs = true;
	if (r->notice[0])
		weir__service_tell(r, 0, r->notice);
	while (!is_stopping(r))
		weir__service_sleep(r, run_round(r));
	if (r->node.state != WEIR_NODE_OFFLINE)
		(void)weir__redis_remove_report(r->redis, r->id); /* best effort */
	pthread_mutex_lock(&r->lock);
	r->stopped = true; /* no request comes after this */
	pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
	weir__service_answer(r, weir__service_requests(r));
	return NULL;
}

int weir__service_start(struct weir_replica *r)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return weir_fail(-EAGAIN, "set %s: no thread: %s", r->o.set, weir_strerror(-err));
	(void)pthread_setname_np(r->thread, "weir-replica");
	r->has_thread = true;
	return 0;
}

void weir__service_stop(struct weir_replica *r, uint32_t patience_ms)
{
	struct timespec until;
	int err = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1 + patience_ms / 1000;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->done);
	weir__service_wake(r);
	while (!r->stopped && !err)
		err = pthread_cond_timedwait(&r->done, &r->lock, &until);
	pthread_mutex_unlock(&r->lock);
	if (err)
		weir__link_interrupt(r->link);
	pthread_join(r->thread, NULL);
	r->has_thread = false;
}
