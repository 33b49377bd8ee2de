/* SPDX-License-Identifier: MIT
 * One round of the thread. Something may fail in it without ending it: an image that will not do
 * keeps no batch from being sent. A connection that breaks ends it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include "service.h"

/* The first of a round stays. */
static void note(struct weir_failure *first, int err)
{
	if (!err || first->err)
		return;
	weir__failure_take(first, err);
}

/* An image that is on its way is no failure (S3). */
static int look_now(struct weir_replica *r)
{
	struct weir_node *n = &r->node;
	const struct weir_manifest before = n->joined;
	int err = weir__node_look(n);
	r->look_err = err == -EINPROGRESS ? 0 : err;
	if (err == -EINPROGRESS)
		return 0;
	if (err)
		snprintf(r->look_error, sizeof r->look_error, "%s", weir_error_detail());
	if (!err && (n->joined.generation != before.generation ||
	             n->joined.checksum[0] != before.checksum[0])) {
		weir__service_tell(r, 1);
		if (n->united) /* L12 */
			weir__due_now(&r->publish);
	}
	return err;
}

/* Look where there is something to see. */
static int look(struct weir_replica *r)
{
	struct weir_node *n = &r->node;
	weir__redis_image_only(&r->redis, weir__node_wants_image(n) ? &n->seen : NULL);
	bool settled = n->seen.generation == n->joined.generation && !weir__node_wants_image(n);
	if (n->epoch[0] && weir__redis_is_seen(&r->redis, &n->seen) &&
	    (settled || weir__redis_image_comes(&r->redis, &n->seen))) {
		r->look_err = 0; /* an image that failed before comes all the same, say */
		return 0;
	}
	int err = look_now(r);
	if (!err)
		weir__redis_looked(&r->redis);
	return err;
}

static int send_all(struct weir_replica *r, struct weir_failure *first)
{
	int err = weir__node_send(&r->node);
	for (unsigned tries = 0; err == -ESTALE && tries < 3; tries++) {
		err = look_now(r); /* L1: all that is retained is sent again */
		note(first, err);
		/* a manifest that will not do is no reason not to send */
		if (r->node.epoch[0] && weir__wire_fd(r->wire) >= 0)
			err = weir__node_send(&r->node);
	}
	note(first, err);
	return err;
}

/* What was sent so far is confirmed, or cannot be for now. */
static void settle(struct weir_replica *r, uint64_t ticket, int err)
{
	pthread_mutex_lock(&r->lock);
	if (!err) {
		r->confirmed = ticket;
	} else {
		r->failed = ticket;
		r->failure = err;
	}
	pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
}

static uint64_t ticket_of(struct weir_replica *r, bool *wanted)
{
	pthread_mutex_lock(&r->lock);
	uint64_t ticket = r->asked;
	*wanted = ticket > r->confirmed;
	pthread_mutex_unlock(&r->lock);
	return ticket;
}

/* S1 */
static int confirm(struct weir_replica *r, uint64_t ticket, int sent)
{
	if (weir__node_is_foreign(&r->node, &r->node.seen)) { /* all others pass by what is sent */
		settle(r, ticket, -EKEYREJECTED);
		return 0;
	}
	if (sent == -ENOSPC || sent == -ENOBUFS || sent == -ENOMEM)
		settle(r, ticket, -EAGAIN);
	if (sent || !r->confirm_replicas) {
		if (!sent)
			settle(r, ticket, 0);
		return 0;
	}
	char epoch[WEIR_REPLICA_EPOCH + 1];
	memcpy(epoch, r->node.epoch, sizeof epoch);
	int err = weir__redis_wait(&r->redis, r->confirm_replicas);
	if (!err)
		err = weir__node_read(&r->node); /* compares the epoch there */
	if (!err && strcmp(epoch, r->node.epoch) == 0 && !r->node.retained.next)
		settle(r, ticket, 0);
	return err;
}

static bool broken(const struct weir_replica *r)
{
	return weir__wire_fd(r->wire) < 0;
}

/* Has this node no room, whatever the server has? A generation of another's makes some. */
static bool is_own(int err)
{
	return err == -ENOBUFS || err == -ENOMEM;
}

int weir__service_round(struct weir_replica *r)
{
	struct weir_failure first = { .err = 0 };
	bool wanted;
	uint64_t ticket = ticket_of(r, &wanted);
	note(&first, look(r));
	if ((first.err && broken(r)) || !r->node.epoch[0])
		return weir__failure_answer(&first);
	int err = send_all(r, &first);
	if (wanted && !broken(r))
		note(&first, confirm(r, ticket, err));
	if (first.err && broken(r) && !is_own(first.err))
		return weir__failure_answer(&first);
	err = weir__node_read(&r->node); /* connects again, where nothing was to be sent */
	if (err == -ESTALE)
		err = look_now(r);
	if (err && is_own(first.err))
		return err;
	note(&first, err);
	return weir__failure_answer(&first);
}
