/* SPDX-License-Identifier: MIT
 * The life of a node: start, rounds, calls ([CALL-FOR-KEYS]), giving up ([GIVE-UP]). */
#include "node.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <weir/error.h>
#include <weir/text.h>

enum { TOUCHES = 64 }; /* largest number of touches in one round */

int weir__node_make(struct weir_node *n, const struct weir_node_options *options)
{
	struct weir_handle_stats handle = WEIR_HANDLE_STATS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	int err = weir_handle_measure(options->handle, &handle, &s);
	if (!err)
		err = weir__replicable_check(s.shape.kind);
	if (err)
		return err;
	*n = (struct weir_node){ .store = options->store,
		                 .handle = options->handle,
		                 .id = options->id,
		                 .jitter = options->id,
		                 .hashing = s.seed_fingerprint,
		                 .kind = s.shape.kind,
		                 .steps = s.steps,
		                 .may_publish = options->may_publish,
		                 .publish_ms = options->publish_ms,
		                 .publish_bytes = options->publish_bytes,
		                 .poll_ms = options->poll_ms,
		                 .beat_ms = WEIR_NODE_BEAT_MS };
	/* This needs no read section: no reload replaces the filter before the node runs. */
	n->inlined = weir_inline_init(&n->first, weir_handle_get(n->handle)) == 0;
	n->images_only = weir__replicable(n->kind) == WEIR_REPLICABLE_IMAGES;
	n->poll_ms = n->poll_ms ? n->poll_ms : WEIR_NODE_POLL_MS;
	snprintf(n->set, sizeof n->set, "%s", options->set);
	weir__ring_make(&n->ring, options->max_pending_bytes, options->wake, options->context);
	pthread_mutex_init(&n->lock, NULL);
	return 0;
}

void weir__node_free(struct weir_node *n)
{
	weir__ring_free(&n->ring);
	pthread_mutex_destroy(&n->lock);
}

void weir__node_start(struct weir_node *n, const struct weir_manifest *m)
{
	if (weir__needs_log(n, m))
		return; /* the node joins @m after it has read the log */
	n->joined = *m;
	n->era = m->version.era;
	n->has = m->has;
	n->seen = m->seen;
	(void)weir__has_add(&n->has, m->id);
}

/* Return: true if the node lacks an entry above the head's position, or needs the head's image
 * ([CALL-FOR-KEYS]). */
static bool needs_answer(const struct weir_node *n)
{
	const struct weir_head *h = &n->head;
	if (n->doubt || (h->generation && n->newest.id != h->generation))
		return false;
	if (!h->generation)
		return n->hole.epoch != 0;
	const bool joined = n->joined.id == h->generation || weir__node_head_is_old(n);
	if (n->lacks && (joined || h->version.era < n->era) &&
	    weir__log_id_compare(n->hole, n->newest.position) > 0)
		return true;
	return n->unusable_image == h->generation && !joined && !n->no_retry &&
	       (h->version.era >= n->era || n->lacks);
}

/* Give up the missing entries, or an image ([GIVE-UP]). Keys that are only in that image are
 * lost. */
static int give_up(struct weir_node *n)
{
	const uint64_t abandoned = n->unusable_image == n->head.generation ? n->unusable_image : 0;
	int err = weir__node_touch(n, true);
	if (err)
		return err;
	if (abandoned)
		n->abandoned = abandoned;
	n->given_up++;
	n->first_call = 0;
	n->impure = true;
	err = weir_fail(-ENODATA, "set %s: no node has what this one lacks, up to %llu-%llu: it "
	                "goes on without", n->set, (unsigned long long)n->head.lost.epoch,
	                (unsigned long long)n->head.lost.n);
	return weir__node_note_error(n, err), 0;
}

/* Return: true if a node, perhaps this one, is uploading a generation, which may answer the call.
 *   If another node is uploading, that node has the lease, and the store returns -EPERM. Any other
 *   error, such as a missing permission, does not delay giving up. The delay is limited, since any
 *   client can keep the lease for ever. */
static bool is_answer_coming(struct weir_node *n)
{
	if (n->now >= n->first_call + WEIR_NODE_LEASE_LONGEST_MS)
		return false;
	n->give_up_at = n->now + WEIR_NODE_LEASE_TRY_MS;
	return n->publishing || n->record_id ||
	       n->store->lease(n->store->context, n->id, 1) == -EPERM;
}

static bool is_touch_due(const struct weir_node *n)
{
	const uint64_t full = atomic_load_explicit(&n->ring.full, memory_order_relaxed);
	if (n->state == WEIR_NODE_OFFLINE || n->now >= n->beat_at || n->touch_now || n->call_due ||
	    n->report)
		return true;
	if (n->head.full)
		return false;
	return ((n->now >= n->send_at || full >= WEIR_RING_WAKE) &&
	        (n->ring.waiting.oldest || weir__ring_has_hashes(&n->ring))) ||
	       atomic_load_explicit(&n->flushes_asked, memory_order_relaxed) > n->flushes_collected;
}

static int send(struct weir_node *n)
{
	int err = 0;
	n->call_due = needs_answer(n) &&
	              (!n->called || n->now >= n->called_at + WEIR_NODE_CALL_MS);
	if (!needs_answer(n))
		n->first_call = 0;
	else if (n->first_call && n->now >= n->first_call + WEIR_NODE_GIVE_UP_MS &&
	         n->now >= n->give_up_at && !is_answer_coming(n))
		return give_up(n);
	if (!is_touch_due(n))
		return 0;
	for (unsigned i = 0; i < TOUCHES && !err; i++) {
		err = weir__node_touch(n, false);
		n->call_due = false;
		if (!n->ring.waiting.oldest || n->head.full)
			break;
	}
	return err;
}

/* Acknowledge flushes, even while an image is still missing. */
static void acknowledge(struct weir_node *n)
{
	const uint64_t waits = weir__ring_lowest_stamp(&n->ring);
	const uint64_t owed = weir__debts_lowest_stamp(n);
	const uint64_t stamp = waits < owed ? waits : owed, all = n->flushes_collected;
	if (!n->doubt)
		atomic_store_explicit(&n->flushes_acked, stamp > all ? all : stamp ? stamp - 1 : 0,
		                      memory_order_release);
}

static bool is_behind(const struct weir_node *n)
{
	const struct weir_head *h = &n->head;
	return n->lacks || n->doubt || !n->at_end ||
	       (h->generation && h->generation != n->joined.id && h->version.era >= n->era &&
	        !weir__node_head_is_old(n));
}

static enum weir_node_state state(const struct weir_node *n)
{
	return n->publishing  ? WEIR_NODE_PUBLISHING :
	       is_behind(n) ? WEIR_NODE_CATCHING_UP :
	                      WEIR_NODE_FOLLOWING;
}

/* Return: true if the failure of an earlier round is over. */
static bool is_over(const struct weir_node *n)
{
	return n->state == WEIR_NODE_OFFLINE ||
	       (n->state == WEIR_NODE_FOLLOWING && !n->due_since && !n->refused.era);
}

static int steps(struct weir_node *n)
{
	int err = send(n);
	if (!err)
		err = weir__node_manifest(n);
	if (!err && !n->doubt)
		err = weir__node_read(n);
	if (!err)
		err = weir__node_join_head(n);
	if (!err)
		n->synced_at = n->answered_at;
	if (!err)
		err = weir__node_publish(n);
	return err;
}

static uint64_t offline(struct weir_node *n, int err)
{
	(void)weir__node_note_error(n, err);
	n->failures++;
	n->state = WEIR_NODE_OFFLINE;
	n->at_end = false;
	n->retry_ms = !n->retry_ms                                ? WEIR_NODE_RETRY_MS :
	              n->retry_ms * 2 < WEIR_NODE_RETRY_MOST_MS ? n->retry_ms * 2 :
	                                                          WEIR_NODE_RETRY_MOST_MS;
	n->retry_at = n->now + n->retry_ms / 2 + weir__node_random(n, n->retry_ms / 2 + 1);
	return n->retry_at;
}

uint64_t weir__node_round(struct weir_node *n, uint64_t now_ms)
{
	n->now = now_ms;
	if (n->state == WEIR_NODE_OFFLINE && now_ms < n->retry_at)
		return n->retry_at;
	if (is_over(n))
		(void)weir__node_note_error(n, 0);
	int err = steps(n);
	if (err)
		return offline(n, err);
	n->retry_ms = 0;
	n->state = state(n);
	acknowledge(n);
	return n->at_end || n->doubt ? now_ms + n->poll_ms : now_ms;
}

void weir__node_status(struct weir_node *n, struct weir_node_status *out)
{
	*out = (struct weir_node_status){ .state = n->state,
		                          .behind = is_behind(n),
		                          .lacks = n->lacks,
		                          .owes = weir__debts_lowest_stamp(n) != UINT64_MAX,
		                          .lacks_ms = n->lacks ? n->now - n->lacks_since : 0,
		                          .cursor = n->cursor,
		                          .last = n->head.last,
		                          .hole = n->hole,
		                          .joined = n->joined.version,
		                          .newest = n->head.version,
		                          .foreign = n->foreign,
		                          .given_up = n->given_up,
		                          .generations = n->generations,
		                          .error = n->error,
		                          .why = n->why };
	out->ring_bytes = weir__ring_bytes(&n->ring);
	pthread_mutex_lock(&n->lock);
	out->token = n->token != 0;
	pthread_mutex_unlock(&n->lock);
}
