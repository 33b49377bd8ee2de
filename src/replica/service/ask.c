/* SPDX-License-Identifier: MIT
 * Requests of other threads (S2), and what they ask for most. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/image.h>
#include "service.h"

static int ask(struct weir_replica *r, int (*run)(struct weir_replica *r, void *arg), void *arg,
               bool local)
{
	struct weir_request q = { .run = run, .arg = arg, .local = local };
	pthread_mutex_lock(&r->lock);
	*r->requests_end = &q;
	r->requests_end = &q.next;
	weir__service_wake(r);
	while (!q.done)
		pthread_cond_wait(&r->done, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return q.result ? weir_fail(q.result, "%s", q.sentence) : 0;
}

int weir__service_ask(struct weir_replica *r, int (*run)(struct weir_replica *r, void *arg),
                      void *arg)
{
	return ask(r, run, arg, false);
}

int weir__service_ask_local(struct weir_replica *r, int (*run)(struct weir_replica *r, void *arg),
                            void *arg)
{
	return ask(r, run, arg, true);
}

static struct weir_request *next(struct weir_replica *r)
{
	pthread_mutex_lock(&r->lock);
	struct weir_request *q = r->requests;
	if (q) {
		r->requests = q->next;
		if (!r->requests)
			r->requests_end = &r->requests;
	}
	pthread_mutex_unlock(&r->lock);
	return q;
}

/* In front of those that came since. */
static void put_back(struct weir_replica *r, struct weir_request *first, struct weir_request **end)
{
	if (!first)
		return;
	pthread_mutex_lock(&r->lock);
	*end = r->requests;
	if (!r->requests)
		r->requests_end = end;
	r->requests = first;
	pthread_mutex_unlock(&r->lock);
}

void weir__service_answer(struct weir_replica *r, int err)
{
	struct weir_request *later = NULL, **end = &later;
	char why[WEIR_SERVICE_SENTENCE];
	snprintf(why, sizeof why, "%s", err ? weir_error_detail() : "");
	for (struct weir_request *q; (q = next(r));) {
		bool runs = !err || (q->local && err != -ECANCELED);
		int result = runs ? q->run(r, q->arg) : err;
		if (result == -EINPROGRESS && r->look_err)
			result = weir_fail(r->look_err, "%s", r->look_error);
		if (result == -EINPROGRESS) { /* S2 */
			*end = q;
			end = &q->next;
			continue;
		}
		if (runs && !result) /* who asked may ask for that too */
			weir__service_note(r, err ? weir_fail(err, "%s", why) : 0);
		pthread_mutex_lock(&r->lock);
		snprintf(q->sentence, sizeof q->sentence, "%s",
		         !runs ? why : result ? weir_error_detail() : "");
		q->result = result;
		q->done = true;
		pthread_cond_broadcast(&r->done);
		pthread_mutex_unlock(&r->lock);
	}
	put_back(r, later, end);
}

/* Long enough for an image at 10 MB a second. */
static uint32_t lease_ms(const struct weir_replica *r)
{
	uint64_t ms = 60000 + r->redis.reserve / 10000;
	return ms < UINT32_MAX / 2 ? (uint32_t)ms : UINT32_MAX / 2;
}

/* @take: the lease from whoever has it. @keep: it for so many milliseconds, when it has published;
 * who has not leaves it to others, who might. */
static int under_lease(struct weir_replica *r, bool take, uint32_t keep,
                       int (*publish)(struct weir_replica *r, void *arg), void *arg)
{
	int err = weir__redis_lease(&r->redis, lease_ms(r), take);
	if (err)
		return err;
	err = publish(r, arg);
	if (!err && keep)
		return weir__redis_lease(&r->redis, keep, false);
	char why[WEIR_SERVICE_SENTENCE];
	snprintf(why, sizeof why, "%s", weir_error_detail());
	(void)weir__redis_release(&r->redis); /* it ends by itself */
	return err ? weir_fail(err, "%s", why) : 0;
}

/* What somebody asks for takes the lease from the node whose duty it is to publish now and then:
 * that one would have it all the time. Whoever is second finds another generation (L10). */
static int with_lease(struct weir_replica *r, int (*publish)(struct weir_replica *r, void *arg),
                      void *arg)
{
	return under_lease(r, true, 0, publish, arg);
}

/* What this node kept to itself is in the image. */
static int publish_live(struct weir_replica *r, const struct weir_filter *more)
{
	uint64_t kept = atomic_load_explicit(&r->not_replicated, memory_order_acquire);
	int err = weir__node_publish(&r->node, more);
	if (!err)
		atomic_fetch_sub_explicit(&r->not_replicated, kept, memory_order_relaxed);
	return err;
}

/* On top of what is there by now. */
static int publish_set(struct weir_replica *r, void *more)
{
	int err = -EEXIST;
	for (unsigned tries = 0; err == -EEXIST && tries < 3; tries++) {
		err = weir__node_look(&r->node);
		if (err && !weir__node_lacks_image(&r->node))
			err = 0; /* it has what is there, and so it may do without another copy */
		if (!err)
			err = weir__node_read(&r->node);
		if (!err)
			err = publish_live(r, more);
	}
	return err;
}

/* Whoever has not seen the newest generation is refused when it publishes (L10): why it has not. */
static int unseen(int err, const struct weir_failure *looked)
{
	return looked->err && err == -EEXIST ? weir__failure_answer(looked) : err;
}

/* The image of a generation that another has published is waited for without the lease. */
int weir__service_publish(struct weir_replica *r, void *arg)
{
	struct weir_failure looked;
	weir__failure_take(&looked, weir__node_look(&r->node));
	if (looked.err == -EINPROGRESS)
		return looked.err;
	return unseen(with_lease(r, publish_set, arg), &looked);
}

static int publish_own(struct weir_replica *r, void *none)
{
	(void)none;
	return publish_live(r, NULL);
}

/* L12: what others lack they do not get while one of them has the lease all the time. */
int weir__service_duty(struct weir_replica *r)
{
	return r->node.united ? with_lease(r, publish_own, NULL) :
	                        under_lease(r, false, 2 * r->publish_ms, publish_own, NULL);
}

struct from {
	const struct weir_filter *filter;
	struct weir_mark mark;
};

static int mark(struct weir_replica *r, void *arg)
{
	struct from *f = arg;
	return weir__node_mark(&r->node, &f->mark);
}

/* What is there may be an image that cannot be joined, or that is on its way: one more reason to
 * replace it. */
static int on_top(struct weir_replica *r, int (*publish)(struct weir_replica *r, void *arg),
                  void *arg)
{
	struct weir_failure looked;
	weir__failure_take(&looked, weir__node_look(&r->node));
	return unseen(publish(r, arg), &looked);
}

static int publish_filter(struct weir_replica *r, void *arg)
{
	struct from *f = arg;
	return weir__node_publish_from(&r->node, f->filter, &f->mark);
}

static int replace(struct weir_replica *r, void *arg)
{
	return on_top(r, publish_filter, arg);
}

static int publish_from(struct weir_replica *r, void *arg)
{
	return with_lease(r, replace, arg);
}

static int publish_kept(struct weir_replica *r, void *arg)
{
	const uint64_t *generation = arg;
	char *text;
	size_t len;
	int err = weir__redis_kept(&r->redis, *generation, &text, &len);
	if (err)
		return err;
	err = weir__node_publish_again(&r->node, text, len);
	free(text);
	return err;
}

static int restore(struct weir_replica *r, void *arg)
{
	return on_top(r, publish_kept, arg);
}

static int roll_back(struct weir_replica *r, void *arg)
{
	return with_lease(r, restore, arg);
}

static int params(struct weir_replica *r, void *out)
{
	return weir_params_of(weir_handle_get(r->handle), out);
}

int weir_replica_params(struct weir_replica *r, struct weir_params *out)
{
	if (!r || !out)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "result" : "replica");
	return weir__service_ask_local(r, params, out);
}

struct saving {
	const char *path;
	const struct weir_save_options *options;
};

/* This thread alone swaps the filters of the handle, so it needs no section. */
static int save(struct weir_replica *r, void *arg)
{
	const struct saving *s = arg;
	const int64_t saved = weir_save(weir_handle_get(r->handle), weir_location_path(s->path),
	                                s->options);
	const int err = saved < 0 ? (int)saved : 0;
	snprintf(r->save_error, sizeof r->save_error, "%s", err ? weir_error_detail() : "");
	return err;
}

int weir_replica_save(struct weir_replica *r, const char *path,
                      const struct weir_save_options *options)
{
	struct saving s = { path, options };
	if (!r || !path)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "path" : "replica");
	return weir__service_ask_local(r, save, &s);
}

int weir_replica_publish(struct weir_replica *r)
{
	return r ? weir__service_ask(r, weir__service_publish, NULL) :
	           weir_fail(-EINVAL, "the replica is NULL");
}

int weir_replica_publish_with(struct weir_replica *r, const struct weir_filter *more)
{
	if (!r || !more)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "filter" : "replica");
	return weir__service_ask(r, weir__service_publish, (void *)(uintptr_t)more);
}

int weir_replica_publish_from(struct weir_replica *r,
                              int (*make)(void *context, struct weir_filter **out), void *context)
{
	struct from f = { .filter = NULL };
	struct weir_filter *made = NULL;
	if (!r || !make)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "function" : "replica");
	int err = weir__service_ask(r, mark, &f);
	if (err)
		return err;
	err = make(context, &made);
	if (!err && !made)
		err = weir_fail(-EINVAL, "make() returned 0 and no filter");
	if (!err) {
		f.filter = made;
		err = weir__service_ask(r, publish_from, &f);
	}
	weir_destroy(made);
	weir__mark_free(&f.mark);
	return err;
}

int weir_replica_rollback(struct weir_replica *r, uint64_t generation)
{
	return r ? weir__service_ask(r, roll_back, &generation) :
	           weir_fail(-EINVAL, "the replica is NULL");
}
