/* SPDX-License-Identifier: MIT
 * Requests of other threads ([REQUEST]): generations, and copies of the set. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <weir/filter.h>
#include <weir/image.h>
#include "service.h"

/* ---- request and thread ---- */

/* Run @run on the thread and wait for its result. Return: that result, with its sentence. */
static int ask(struct weir_replica *r, weir_request_fn *run, void *arg)
{
	struct weir_request q = { .run = run, .arg = arg };
	pthread_mutex_lock(&r->lock);
	const bool stopped = r->stopped;
	if (!stopped) {
		*r->requests_end = &q;
		r->requests_end = &q.next;
		weir__service_wake(r);
	}
	while (!q.done && !stopped)
		pthread_cond_wait(&r->done, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return stopped ? weir_fail(-ECANCELED, "set %s: the node is closed", r->o.set) :
	                 weir__failure_return(&q.result);
}

static struct weir_request *take_all(struct weir_replica *r)
{
	pthread_mutex_lock(&r->lock);
	struct weir_request *first = r->requests;
	r->requests = NULL;
	r->requests_end = &r->requests;
	pthread_mutex_unlock(&r->lock);
	return first;
}

struct weir_request *weir__service_requests(struct weir_replica *r)
{
	struct weir_request *all = take_all(r);
	for (struct weir_request *q = all; q; q = q->next)
		weir__failure_save(&q->result, r->stopped ?
		                   weir_fail(-ECANCELED, "set %s: the node is closed", r->o.set) :
		                   q->run(r, q->arg));
	return all;
}

void weir__service_answer(struct weir_replica *r, struct weir_request *all)
{
	pthread_mutex_lock(&r->lock);
	for (struct weir_request *q = all, *next; q; q = next) {
		next = q->next;
		q->next = NULL;
		q->done = q->result.err != -EINPROGRESS;
		if (!q->done) {
			*r->requests_end = q;
			r->requests_end = &q->next;
		}
	}
	if (all)
		pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
}

/* ---- a generation of the set ---- */

static int try_again(const struct weir_replica *r)
{
	return weir_fail(-EINPROGRESS, "set %s: not yet", r->o.set);
}

static int offline(const struct weir_replica *r)
{
	const struct weir_node *n = &r->node;
	return n->state != WEIR_NODE_OFFLINE ? 0 :
	       n->error                      ? weir_fail(n->error, "%s", n->why) :
	                                       weir_fail(-EAGAIN, "set %s: this node has not "
	                                                 "reached redis yet", r->o.set);
}

static int may_publish(const struct weir_replica *r)
{
	if (r->signer)
		return weir__failure_return(&r->clock);
	return !r->trust && !r->is_signed ? 0 :
	       weir_fail(-EKEYREJECTED, "set %s: its generations are signed, and this node cannot "
	                 "sign: give it a secret key", r->o.set);
}

struct publishing {
	const struct weir_filter *more; /* NULL: none, or already merged */
	bool asked;
	uint64_t published;             /* the value of node.generations at the request */
	uint64_t since;                 /* start of the wait, or time of the last progress */
	uint64_t image;                 /* bytes fetched of an image */
};

/* Redis has an older version than this machine accepted. The node first joins the older image, so
 * that the set that it then publishes has the image's keys too. Do not merge p->more before that
 * join: the image may replace the set, which would drop the keys of p->more.
 * Return: 0; -EINPROGRESS the image is not joined yet. */
static int reclaim(struct weir_replica *r, struct publishing *p)
{
	struct weir_node *n = &r->node;
	const struct weir_version its = n->newest.version, floor = n->floor;
	const bool newer = weir__version_compare(n->joined.version, its) >= 0;
	uint64_t here, all;
	n->reclaim_asked = weir__node_can_reclaim(n) && !newer;
	if (weir__node_head_is_old(n) && its.era < floor.era &&
	    weir__version_compare(n->joined.version, floor) < 0)
		return weir_fail(-EKEYREJECTED, "set %s: redis has version %" PRIu64 ".%" PRIu64
		                 ", of an earlier era than %" PRIu64 ".%" PRIu64 " here, so "
		                 "removed keys would come back: publish what you want (weir "
		                 "replicate publish --replace)",
		                 r->o.set, its.era, its.number, floor.era, floor.number);
	if (p->asked || !n->head.generation || newer || (n->joined.id && !n->reclaim_asked))
		return 0;
	weir__redis_progress(r->redis, &here, &all);
	if (here != p->image)
		p->since = weir__service_now();
	p->image = here;
	return try_again(r);
}

/* A publication in flight lacks recent inserts, so wait for the publication after it. */
static int request_publication(struct weir_replica *r, struct publishing *p)
{
	struct weir_node *n = &r->node;
	int err = p->more ? weir__node_merge(n, p->more) : 0;
	if (err)
		return err;
	p->more = NULL;
	if (n->publishing)
		return 0;
	p->asked = true;
	p->published = n->generations;
	n->publish_error = 0;
	return 0;
}

/* Return: 0 while the publication may succeed, or the reason for its failure. */
static int check_progress(const struct weir_replica *r, struct publishing *p)
{
	const struct weir_node *n = &r->node;
	const uint64_t now = weir__service_now();
	const bool behind = n->state == WEIR_NODE_CATCHING_UP;
	if (n->refused.era || (p->asked && n->publish_error))
		return weir_fail(n->refused.era ? n->error : n->publish_error, "%s", n->why);
	if (n->publishing && n->superseded < WEIR_NODE_SUPERSEDED)
		p->since = now;
	if (now - p->since < (behind ? WEIR_SERVICE_LACKS_MS : WEIR_SERVICE_LEASE_MS))
		return 0;
	return weir_fail(-EAGAIN, "set %s: not published: %s", r->o.set, n->error ? n->why :
	                 behind    ? "this node lacks inserts of others: see that they run" :
	                 n->superseded ? "other generations came first each time: call again" :
	                             "another node is about to publish: call again");
}

static int publish(struct weir_replica *r, void *arg)
{
	struct publishing *p = arg;
	struct weir_node *n = &r->node;
	int err = offline(r);
	if (!err && p->asked && n->generations > p->published)
		return 0;
	if (!p->since)
		p->since = weir__service_now();
	if (!err && !p->asked)
		err = may_publish(r);
	if (!err)
		err = reclaim(r, p);
	if (!err && !p->asked)
		err = request_publication(r, p);
	if (!err || err == -EINPROGRESS)
		err = check_progress(r, p);
	n->publish_asked = !err && p->asked;
	n->reclaim_asked = n->reclaim_asked && !err;
	return err ? err : try_again(r);
}

int weir_replica_publish(struct weir_replica *r)
{
	struct publishing p = { .more = NULL };
	return r ? ask(r, publish, &p) : weir_fail(-EINVAL, "the replica is NULL");
}

int weir_replica_publish_with(struct weir_replica *r, const struct weir_filter *more)
{
	struct publishing p = { .more = more };
	if (!r || !more)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "filter" : "replica");
	return ask(r, publish, &p);
}

/* ---- a record, or a rollback ---- */

struct replacing {
	struct weir_record record;
	const struct weir_filter *filter; /* NULL: the image of a kept generation */
	struct weir_version version;      /* the kept generation's version */
	bool in_redis;
	uint64_t since,                   /* start of the wait */
	         asked;                   /* start of the publication */
};

/* @kept: as for weir__node_record(). Retry after -EAGAIN: a new node has not read the head yet. */
static int note_record(struct weir_replica *r, struct replacing *p,
                       const struct weir_manifest *kept)
{
	const uint64_t now = weir__service_now();
	p->since = p->since ? p->since : now;
	int err = may_publish(r);
	if (!err)
		err = offline(r);
	if (!err)
		err = weir__node_record(&r->node, &p->record, kept);
	if (err == -EAGAIN && r->node.refused.era && r->node.error)
		return weir_fail(r->node.error, "%s", r->node.why);
	return err == -EAGAIN && r->node.state != WEIR_NODE_OFFLINE &&
	       now - p->since < WEIR_SERVICE_LACKS_MS ? try_again(r) : err;
}

static int note(struct weir_replica *r, void *arg)
{
	return note_record(r, arg, NULL);
}

/* The request succeeds if redis gets the generation. Then the request waits up to confirm_ms until
 * this node has joined the generation, too. */
static int replace(struct weir_replica *r, void *arg)
{
	struct replacing *p = arg;
	struct weir_node *n = &r->node;
	const uint64_t now = weir__service_now();
	int err = p->in_redis ? 0 : offline(r);
	p->asked = p->asked ? p->asked : now;
	if (err && now - p->asked < WEIR_SERVICE_LACKS_MS) /* redis may have failed while the record
	                                                      was made: retry */
		return try_again(r);
	if (!err && !p->in_redis)
		err = weir__node_publish_record(n, &p->record, p->filter);
	if (err != -EINPROGRESS && n->record_id == p->record.manifest.id)
		n->record_id = 0;
	if (err)
		return err;
	if (!p->in_redis)
		p->since = now;
	r->published += !p->in_redis;
	p->in_redis = true;
	const struct weir_version version = p->record.manifest.version;
	const bool joined = weir__version_compare(n->joined.version, version) >= 0;
	return joined || now - p->since > r->o.confirm_ms ? 0 : try_again(r);
}

int weir_replica_publish_from(struct weir_replica *r,
                              int (*make)(void *context, struct weir_filter **out), void *context)
{
	struct replacing p = { .filter = NULL };
	struct weir_filter *made = NULL;
	if (!r || !make)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "function" : "replica");
	int err = ask(r, note, &p);
	if (err)
		return err;
	err = make(context, &made);
	if (!err && !made)
		err = weir_fail(-EINVAL, "make() returned 0 and no filter");
	p.filter = made;
	if (!err)
		err = ask(r, replace, &p);
	weir_destroy(made);
	return err;
}

struct finding {
	struct weir_replica *r;
	struct weir_version version;
	struct weir_manifest found;
};

static int match(void *context, const struct weir_manifest *m, const char *text, size_t len,
                 const char *signature, size_t signature_len)
{
	struct finding *f = context;
	const struct weir_replica *r = f->r;
	if (weir__version_compare(m->version, f->version) != 0)
		return 0;
	f->found = *m;
	return r->trust ? weir__trust_signed(r->trust, m, text, len, signature, signature_len) : 0;
}

static int find(struct weir_replica *r, void *arg)
{
	struct replacing *p = arg;
	struct finding f = { .r = r, .version = p->version };
	int err = offline(r);
	if (!err)
		err = weir__redis_kept(r->redis, match, &f);
	if (!err && !f.found.id)
		err = weir_fail(-ENOENT, "set %s: generation %" PRIu64 ".%" PRIu64 " is not kept: "
		                "see weir replicate status", r->o.set, p->version.era,
		                p->version.number);
	if (!err && f.found.hashing != r->node.hashing)
		err = weir_fail(-EKEYREJECTED, "set %s: that generation is by another seed or key",
		                r->o.set);
	return err ? err : note_record(r, p, &f.found);
}

int weir_replica_rollback(struct weir_replica *r, struct weir_replica_version version)
{
	struct replacing p = { .version = { version.era, version.number } };
	if (!r)
		return weir_fail(-EINVAL, "the replica is NULL");
	int err = ask(r, find, &p);
	return err ? err : ask(r, replace, &p);
}

/* ---- copies ---- */

/* Only the node's thread swaps the handle's filters, so this function needs no read section. */
static int params(struct weir_replica *r, void *out)
{
	return weir_params_of(weir_handle_get(r->handle), out);
}

int weir_replica_params(struct weir_replica *r, struct weir_params *out)
{
	if (!r || !out)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "result" : "replica");
	return ask(r, params, out);
}

struct saving {
	const char *path;
	const struct weir_save_options *options;
};

static int save(struct weir_replica *r, void *arg)
{
	const struct saving *s = arg;
	const int64_t saved = weir_save(weir_handle_get(r->handle), weir_location_path(s->path),
	                                s->options);
	return weir__failure_save(&r->saving, saved < 0 ? (int)saved : 0);
}

int weir_replica_save(struct weir_replica *r, const char *path,
                      const struct weir_save_options *options)
{
	struct saving s = { path, options };
	if (!r || !path)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "path" : "replica");
	return ask(r, save, &s);
}
