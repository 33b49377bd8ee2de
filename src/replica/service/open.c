/* SPDX-License-Identifier: MIT
 * A replica is opened: its parts, its start in the set, its thread; and closed again. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/error.h>
#include "service.h"

enum { ONE_TRY_MS = 1000 };

static int make_lock(struct weir_replica *r)
{
	pthread_condattr_t attr;
	if (pthread_condattr_init(&attr) != 0)
		return weir_fail(-ENOMEM, "no memory for a condition");
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	int err = pthread_cond_init(&r->done, &attr);
	pthread_condattr_destroy(&attr);
	if (err)
		return weir_fail(-err, "no condition for the thread of a replica");
	pthread_mutex_init(&r->lock, NULL);
	r->requests_end = &r->requests;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->wake < 0 ? weir_fail(-errno, "no descriptor to wake the thread of a replica") : 0;
}

static int start(struct weir_replica *r)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&r->thread, NULL, weir__service_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return weir_fail(-EAGAIN, "set %s: no thread: %s", r->node.set,
		                 weir_strerror(-err));
	(void)pthread_setname_np(r->thread, "weir-replica");
	return 0;
}

static void free_all(struct weir_replica *r)
{
	weir__redis_image_stop(&r->redis);
	weir__service_unmake(r);
	weir__signer_close(r->redis.signer);
	weir__trust_close(r->redis.trust);
	weir__wire_close(r->wire);
	weir__wire_close(r->ear);
	weir__wire_close(r->image_wire);
	weir__wire_close(r->read_wire);
	if (r->wake >= 0)
		close(r->wake);
	if (r->requests_end) {
		pthread_mutex_destroy(&r->lock);
		pthread_cond_destroy(&r->done);
	}
	free(r->folder);
	free(r->image_url);
	free(r->image_ca_file);
	free(r->secret);
	free(r);
}

static int make(struct weir_replica *r, const struct weir_replica_options *o)
{
	r->poll_ms = o->poll_ms ? o->poll_ms : 100;
	r->idle_ms = o->idle_ms ? o->idle_ms : WEIR_SERVICE_IDLE_MS;
	r->confirm_replicas = o->confirm_replicas;
	r->confirm_ms = o->confirm_ms ? o->confirm_ms : 10000;
	r->publish_ms = o->publish_seconds * 1000;
	r->passing = o->passing;
	r->report = o->report;
	r->context = o->context;
	int err = make_lock(r);
	if (!err)
		err = weir__service_wire(&r->wire, o);
	if (!err)
		err = weir__service_wire(&r->ear, o);
	if (!err)
		err = weir__service_image_wires(r, o);
	if (!err)
		err = weir__service_redis(r, o);
	if (err)
		return err;
	if (o->handle) {
		r->handle = o->handle;
		err = weir__service_node(r, o);
	} else {
		err = weir__service_begin(r, o);
	}
	uint64_t now = weir__now_ms();
	weir__due_after(&r->publish, now, r->publish_ms);
	weir__due_after(&r->idle, now, r->idle_ms);
	memcpy(r->last_epoch, r->node.epoch, sizeof r->last_epoch);
	r->epoch_ms = now;
	r->redis.there = (struct weir_redis_which){ r->node.seen.generation, r->node.seen.stored };
	if (!err)
		weir__service_note(r, 0);
	return err ? err : start(r);
}

int weir_replica_open(struct weir_replica **out, const struct weir_replica_options *options)
{
	if (!out || !options)
		return weir_fail(-EINVAL, "the %s is NULL", out ? "options" : "result");
	int err = weir__service_check(options);
	if (err)
		return err;
	struct weir_replica *r = calloc(1, sizeof *r);
	if (!r)
		return weir_fail(-ENOMEM, "no memory for a replica");
	r->wake = -1;
	err = make(r, options);
	if (err) {
		char why[WEIR_SERVICE_SENTENCE];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		free_all(r);
		return weir_fail(err, "%s", why);
	}
	*out = r;
	return 0;
}

struct weir_handle *weir_replica_handle(const struct weir_replica *r)
{
	return r->handle;
}

/* ---- the end ---- */

static uint64_t unsent(struct weir_replica *r)
{
	uint64_t bytes = weir__pending_bytes(&r->node.pending);
	for (const struct weir_batch *b = r->node.retained.next; b; b = b->later)
		bytes += b->bytes;
	return bytes;
}

static void end(struct weir_replica *r)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	bool there = weir_replica_measure(r, &s) == 0 && s.connected;
	uint32_t patience = there ? r->confirm_ms : ONE_TRY_MS;
	(void)!weir_replica_flush(r, patience);
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
	weir__wire_interrupt(r->ear);
	weir__service_wake(r);
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1 + patience / 1000;
	if (pthread_clockjoin_np(r->thread, NULL, CLOCK_MONOTONIC, &until) != 0) {
		weir__wire_interrupt(r->wire);
		pthread_join(r->thread, NULL);
	}
	r->ended = true;
}

int weir_replica_close(struct weir_replica *r)
{
	if (!r)
		return 0;
	if (!r->ended && pthread_equal(pthread_self(), r->thread))
		return weir_fail(-EDEADLK, "set %s: closed on its own thread", r->node.set);
	if (!r->ended)
		end(r);
	/* the thread has no reload open any more: another is the caller's */
	int err = r->own_handle ? weir_handle_destroy(r->handle) : 0;
	if (err)
		return err;
	r->own_handle = false;
	uint64_t bytes = unsent(r), kept = r->node.retained.bytes;
	bool foreign = weir__node_is_foreign(&r->node, &r->node.seen);
	char set[WEIR_MANIFEST_NAME + 1];
	memcpy(set, r->node.set, sizeof set);
	free_all(r);
	if (foreign && kept)
		return weir_fail(-EKEYREJECTED, "set %s: %" PRIu64 " bytes of inserts of this node "
		                 "are by another seed or key than the set has: the other nodes "
		                 "pass them by", set, kept);
	return bytes ? weir_fail(-EAGAIN, "set %s: %" PRIu64 " bytes of inserts have not reached "
	                         "redis", set, bytes) : 0;
}
