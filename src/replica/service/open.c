/* SPDX-License-Identifier: MIT
 * Open a replica, which joins the set in redis or begins a set; and close a replica. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/filter.h>
#include <weir/kinds.h>
#include "service.h"

enum {
	WAIT_MS = 3000,    /* time that a running node gets to publish the lost set again */
	CALL_MS = 10000,   /* time that a node with the lost set or image gets to publish it */
	LIVING_MS = 10000, /* a node without a report for this long may have ended */
	LEASE_MS = 60000,  /* longest wait for another node's upload */
	POLL_MS = 50,      /* interval of polls of redis */
	ONE_TRY_MS = 1000, /* longest wait for pending inserts if an offline node is closed */
	NO_PROGRESS_MS = 60000,  /* longest wait without progress */
};

/* ---- the node of a handle ---- */

static int make_node(struct weir_replica *r)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	const struct weir_node_options options = {
		.store = r->store,
		.handle = r->handle,
		.set = r->o.set,
		.id = r->id,
		.max_pending_bytes = r->o.max_pending_bytes,
		.poll_ms = r->o.poll_ms,
		.publish_ms = (uint64_t)r->o.publish_seconds * 1000,
		.wake = weir__service_wake,
		.context = r,
	};
	int err = weir_handle_measure(r->handle, &s, &filter);
	if (!err && s.absent)
		err = weir_fail(-EINVAL, "set %s: the handle has no filter yet: load one first",
		                r->o.set);
	if (!err)
		err = weir__node_make(&r->node, &options);
	if (err)
		return err;
	r->has_node = true;
	if (r->trust)
		r->node.floor = weir__trust_accepted(r->trust)->version;
	weir__service_size(r, filter.bytes);
	weir__service_may_publish(r);
	return 0;
}

static int make_handle(struct weir_replica *r, struct weir_filter *f)
{
	int err = weir_handle_create(&r->handle, f, NULL);
	if (err)
		weir_destroy(f);
	else
		r->own_handle = true;
	return err ? err : make_node(r);
}

/* Return: 0; or as weir_handle_destroy(), whose failure leaves the handle unchanged. */
static int unmake_node(struct weir_replica *r)
{
	int err = r->own_handle ? weir_handle_destroy(r->handle) : 0;
	if (err)
		return err;
	r->own_handle = false;
	if (r->has_node)
		weir__node_free(&r->node);
	r->has_node = false;
	return 0;
}

/* Run a round of the node. Return: 0; or the error that keeps the node offline. */
static int step(struct weir_replica *r)
{
	struct weir_node *n = &r->node;
	const uint64_t now = weir__service_now(), again = weir__node_round(n, now);
	if (n->state == WEIR_NODE_OFFLINE)
		return weir_fail(n->error, "%s", n->why);
	weir__service_sleep(r, again < now + WEIR_NODE_POLL_MS ? again : now + WEIR_NODE_POLL_MS);
	return 0;
}

/* ---- join ---- */

/* The first publisher chose kind and size of the set. If the params of this application differ from
 * them, tell the application. */
static void compare(struct weir_replica *r, const struct weir_params *params,
                    const struct weir_filter *image)
{
	struct weir_stats is = WEIR_STATS_INIT;
	struct weir_plan asked = WEIR_PLAN_INIT;
	if (!params || weir_measure(image, WEIR_SAMPLED, &is) != 0 ||
	    weir_plan_make(params, &asked) != 0)
		return;
	/* A growing filter that has grown has another size than its params. */
	const bool size = asked.capacity == is.capacity && asked.bytes == is.bytes;
	if (asked.shape.kind == is.shape.kind && (size || is.shape.kind == WEIR_GROWING))
		return;
	snprintf(r->notice, sizeof r->notice, "set %s: it is there and stays %s, for %" PRIu64
	         " keys in %" PRIu64 " bytes: params, which are for a set that is not there, ask "
	         "for %s, %" PRIu64 " keys in %" PRIu64 " bytes", r->o.set,
	         weir_kind_name(is.shape.kind), is.capacity, is.bytes,
	         weir_kind_name(asked.shape.kind), asked.capacity, asked.bytes);
}

/* The progress of a node: the generation that it joined last, the bytes that it has fetched of an
 * image, and its cursor. @since: the time of the last progress; 0: no check yet. */
struct progress {
	uint64_t since, joined, image;
	struct weir_log_id cursor;
};

/* Limit the wait, since any client that writes to redis can delay a node for ever.
 * Return: 0; -EAGAIN no progress for too long. */
static int check_progress(struct weir_replica *r, struct progress *p)
{
	const struct weir_node *n = &r->node;
	const uint64_t now = weir__service_now();
	uint64_t here, all;
	weir__redis_progress(r->redis, &here, &all);
	const bool works = (all && (here == all || here != p->image)) ||
	                   (n->publishing && n->superseded < WEIR_NODE_SUPERSEDED);
	const bool further = weir__log_id_compare(n->cursor, p->cursor) > 0;
	if (!p->since || works || further || n->joined.id != p->joined)
		p->since = now;
	p->joined = n->joined.id;
	p->image = here;
	if (further)
		p->cursor = n->cursor;
	return now - p->since < NO_PROGRESS_MS ? 0 :
	       weir_fail(-EAGAIN, "set %s: no progress for %d s: %s", r->o.set,
	                 NO_PROGRESS_MS / 1000, n->error ? n->why :
	                 "its log and its head do not fit together: see weir replicate status, and "
	                 "try again");
}

/* Run rounds until the node has everything up to @last, the log's end when open() started. Fail if
 * a node in doubt refuses the head's manifest, since doubt then cannot end. */
static int catch_up(struct weir_replica *r, struct weir_log_id last)
{
	const struct weir_node *n = &r->node;
	struct progress p = { .since = 0 };
	int err;
	do {
		err = step(r);
		if (!err && n->doubt && n->refused.era && n->error)
			err = weir_fail(n->error, "%s", n->why);
		if (!err)
			err = check_progress(r, &p);
	} while (!err && n->state == WEIR_NODE_CATCHING_UP &&
	         (n->doubt || weir__log_id_compare(n->cursor, last) < 0 ||
	          (n->joined.id != n->head.generation && !n->refused.era)));
	return err;
}

/* Replace the store's error by the error of the trust files, if there is one. -EEXIST becomes
 * -EKEYREJECTED, since -EEXIST would mean that another node began the set first. */
static int distrusted(const struct weir_replica *r, int err)
{
	const struct weir_failure *f = &r->distrust;
	return !f->err           ? err :
	       f->err == -EEXIST ? weir_fail(-EKEYREJECTED, "%s", f->why) :
	                           weir__failure_return(f);
}

/* @image_lost: receives true if a chunk is missing or damaged in redis. */
static int join(struct weir_replica *r, const struct weir_params *params, struct weir_log_id last,
                bool *image_lost)
{
	struct weir_manifest m;
	struct weir_filter *image;
	*image_lost = false;
	r->distrust.err = 0;
	int err = r->store->manifest(r->store->context, &m);
	if (err)
		return distrusted(r, err);
	while ((err = r->store->image(r->store->context, &m, &image)) == -EINPROGRESS)
		weir__service_sleep(r, weir__service_now() + POLL_MS);
	*image_lost = err == -ENOENT || err == -EBADMSG;
	if (err)
		return err;
	compare(r, params, image);
	err = make_handle(r, image);
	if (err)
		return err;
	weir__node_start(&r->node, &m);
	return catch_up(r, last);
}

/* ---- begin a set, or join one ---- */

/* Begin a set that has no generation. The first node to publish a generation decides the seed.
 * Return: 0; -EEXIST another node was first. */
static int begin(struct weir_replica *r, const struct weir_params *params)
{
	struct weir_filter *f;
	const struct weir_node *n = &r->node;
	int err = weir_create(&f, params);
	if (!err)
		err = make_handle(r, f);
	if (!err && !n->may_publish)
		err = weir_fail(-ENOENT, "set %s: there is no generation of it at %s, and this "
		                "node cannot sign the first one: give it a secret key",
		                r->o.set, weir__link_peer(r->link));
	struct progress p = { .since = 0 };
	while (!err && !(n->joined.id && n->joined.id == n->head.generation)) {
		err = step(r);
		if (!err)
			err = check_progress(r, &p);
		if (!err && (n->refused.era || n->publish_error))
			err = weir_fail(n->refused.era ? -EEXIST : n->publish_error, "%s", n->why);
	}
	if (!err && n->generations) /* the application may have mistyped the set's name */
		snprintf(r->notice, sizeof r->notice, "set %s: redis had no generation of it: it "
		         "begins here, empty", r->o.set);
	return err;
}

struct living {
	uint64_t now_ms;
	char version[WEIR_ID_TEXT]; /* version in a live node's report; "": none */
};

static int note_living(void *context, uint64_t node, uint64_t ms, const char *report, size_t len)
{
	static const char word[] = " joined ";
	struct living *l = context;
	const char *at = memmem(report, len, word, sizeof word - 1);
	(void)node;
	if (!at || ms + LIVING_MS < l->now_ms)
		return 0;
	at += sizeof word - 1;
	size_t n = 0;
	const size_t room = (size_t)(report + len - at), most = sizeof l->version - 1;
	for (; n < room && n < most && strchr("0123456789.", at[n]) && at[n]; n++)
		l->version[n] = at[n];
	l->version[n] = '\0';
	return 0;
}

/* Fail if running nodes have the set, since this node would begin a second set. */
static int check_living(struct weir_replica *r, uint64_t now_ms, uint64_t begun)
{
	struct living l = { .now_ms = now_ms };
	int err = weir__redis_reports(r->redis, note_living, &l);
	if (err || !l.version[0])
		return err;
	return weir_fail(weir__service_now() - begun < CALL_MS ? -EINPROGRESS : -EAGAIN,
	                 "set %s: redis has lost it, and a node that runs holds generation %s and "
	                 "does not publish it: save its set there, and open with the handle of "
	                 "that file", r->o.set, l.version);
}

/* Check that this node may begin a set. An empty set never replaces a version that this machine
 * accepted.
 * Return: 0; -EINPROGRESS another node may still publish the set again; -EKEYREJECTED this machine
 *   accepted a version, and the caller gave params or cannot sign; -ENOENT the caller gave no
 *   params. After -ENOENT a signer may open with the handle of a file instead. */
static int may_begin(struct weir_replica *r, const struct weir_params *params, uint64_t begun)
{
	struct weir_redis_status s = { .lease = 0 };
	const struct weir_accepted *held = r->trust ? weir__trust_accepted(r->trust) : NULL;
	int err = 0;
	if (weir__service_now() - begun >= WAIT_MS)
		err = weir__redis_status(r->redis, &s);
	if (err)
		return err;
	const uint64_t waited = weir__service_now() - begun;
	if (waited < WAIT_MS || (s.lease && waited < LEASE_MS))
		return weir_fail(-EINPROGRESS, "set %s: not yet", r->o.set);
	if (held && held->version.era && (params || !r->signer))
		return weir_fail(-EKEYREJECTED, "set %s: redis has no generation of it, and here "
		                 "%" PRIu64 ".%" PRIu64 " was taken: let a node that has it "
		                 "publish, or publish a file of it with the secret key", r->o.set,
		                 held->version.era, held->version.number);
	return params ? check_living(r, s.head.now_ms, begun) :
	                weir_fail(-ENOENT, "set %s: there is no generation of it at %s: publish an "
	                          "image first, or give params", r->o.set,
	                          weir__link_peer(r->link));
}

/* Send a heartbeat. @call: also call for a generation, since the image cannot be read
 * ([CALL-FOR-KEYS]). */
static int send_heartbeat(struct weir_replica *r, bool call, struct weir_head *head)
{
	struct weir_entry e = { .kind = WEIR_ENTRY_CALL, .node = r->id, .version = head->version };
	const struct weir_touch touch = { .node = r->id, .entries = &e, .n = call };
	int err = weir__draw(&e.tag);
	return err ? err : r->store->touch(r->store->context, &touch, head);
}

/* Retry while another node may be about to publish. */
static int join_or_begin(struct weir_replica *r, const struct weir_params *params)
{
	const uint64_t begun = weir__service_now();
	uint64_t called = 0, /* time of the call; 0: no call yet */
	         lost = 0;   /* the generation whose image is lost */
	unsigned tries = 0;
	struct weir_head head = { .mark = 0 };
	for (;;) {
		bool image_lost = false;
		int err = send_heartbeat(r, lost && !called, &head);
		if (lost && !called)
			called = weir__service_now();
		if (err)
			return err;
		if (!head.generation)
			err = may_begin(r, params, begun);
		else if (head.generation != lost || weir__service_now() - called > CALL_MS)
			err = join(r, params, head.last, &image_lost);
		else
			err = -EINPROGRESS;
		if (!err && !head.generation)
			err = begin(r, params);
		if (image_lost && !(called && weir__service_now() - called > CALL_MS))
			lost = head.generation;
		else if (err != -EINPROGRESS && err != -EEXIST)
			return err;
		tries += err != -EINPROGRESS;
		if (tries > WEIR_NODE_SUPERSEDED && weir__service_now() - begun >= NO_PROGRESS_MS)
			return weir_fail(-EAGAIN, "set %s: for %d s another generation came each "
			                 "time before this node had one: see weir replicate "
			                 "status, and try again", r->o.set, NO_PROGRESS_MS / 1000);
		(void)unmake_node(r);
		weir__service_sleep(r, weir__service_now() + POLL_MS);
	}
}

/* ---- open and close ---- */

static int make_lock(struct weir_replica *r)
{
	pthread_condattr_t attr;
	r->requests_end = &r->requests;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake < 0)
		return weir_fail(-errno, "no descriptor to wake the thread of a replica");
	if (pthread_condattr_init(&attr) != 0)
		return weir_fail(-ENOMEM, "no memory for a condition");
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->done, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&r->lock, NULL);
	r->has_lock = true;
	return 0;
}

static void free_all(struct weir_replica *r)
{
	(void)unmake_node(r);
	weir__service_free(r);
	if (r->wake >= 0)
		close(r->wake);
	if (r->has_lock) {
		pthread_mutex_destroy(&r->lock);
		pthread_cond_destroy(&r->done);
	}
	free(r);
}

static int make(struct weir_replica *r, const struct weir_replica_options *o)
{
	int err = make_lock(r);
	if (!err)
		err = weir__service_make(r, o);
	if (err)
		return err;
	r->handle = o->handle;
	err = o->handle ? make_node(r) : join_or_begin(r, o->params);
	if (err)
		return err;
	r->stats = (struct weir_replica_stats)WEIR_REPLICA_STATS_INIT;
	r->complete_ms = weir__service_now();
	weir__service_note(r, false);
	return weir__service_start(r);
}

int weir_replica_open(struct weir_replica **out, const struct weir_replica_options *options)
{
	struct weir_failure f;
	if (!out || !options)
		return weir_fail(-EINVAL, "the %s is NULL", out ? "options" : "result");
	int err = weir__service_check(options);
	if (err)
		return err;
	struct weir_replica *r = calloc(1, sizeof *r);
	if (!r)
		return weir_fail(-ENOMEM, "no memory for a replica");
	r->wake = -1;
	if (weir__failure_save(&f, make(r, options))) {
		free_all(r);
		return weir__failure_return(&f);
	}
	*out = r;
	return 0;
}

struct weir_handle *weir_replica_handle(const struct weir_replica *r)
{
	return r->handle;
}

/* Return: bytes of hashes that are not sent. */
static uint64_t unsent(struct weir_replica *r)
{
	uint64_t bytes = 0;
	weir__ring_collect(&r->node.ring, 0);
	for (const struct weir_batch *b = r->node.ring.waiting.oldest; b; b = b->newer)
		bytes += 8 * b->n;
	return bytes;
}

static void stop(struct weir_replica *r)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	const bool there = weir_replica_measure(r, &s) == 0 && s.state != WEIR_REPLICA_OFFLINE;
	const uint32_t patience_ms = there ? r->o.confirm_ms : ONE_TRY_MS;
	(void)!weir_replica_flush(r, patience_ms);
	weir__service_stop(r, patience_ms);
}

int weir_replica_close(struct weir_replica *r)
{
	if (!r)
		return 0;
	if (r->has_thread && pthread_equal(pthread_self(), r->thread))
		return weir_fail(-EDEADLK, "set %s: closed on its own thread", r->o.set);
	if (r->has_thread)
		stop(r);
	int err = r->own_handle ? weir_handle_destroy(r->handle) : 0;
	if (err)
		return err;
	r->own_handle = false;
	const uint64_t bytes = unsent(r);
	const bool other = r->node.other_seed && r->node.ring.used;
	const bool owes = weir__debts_lowest_stamp(&r->node) < WEIR_NODE_STAMP_OTHERS;
	char set[WEIR_SET_NAME + 1];
	snprintf(set, sizeof set, "%s", r->o.set);
	free_all(r);
	if (other)
		return weir_fail(-EKEYREJECTED, "set %s: redis has it by another seed, key or "
		                 "normalisation, and the other nodes do not find what this one "
		                 "inserted", set);
	return bytes || owes ? weir_fail(-EAGAIN, "set %s: %" PRIu64 " bytes of inserts%s have not "
	                                 "reached redis", set, bytes, owes ? ", and a generation "
	                                 "that stands for more," : "") : 0;
}
