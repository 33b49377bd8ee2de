/* SPDX-License-Identifier: MIT
 * Join the head's generation: merge its image into the set, or replace the set by it ([DOUBT],
 * [HEAD-JOIN]). */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include <weir/text.h>
#include "node.h"

static const struct weir_log_id none = { 0, 0 };

static bool covers_hole(const struct weir_node *n, struct weir_log_id position)
{
	return weir__log_id_compare(n->hole, position) <= 0;
}

/* Move the cursor up to the position of @m ([LOG-READING]). The position covers an own entry only
 * if the node read the log from that entry to the position without a gap. Queue the other own
 * entries up to the position again. */
static void move_cursor(struct weir_node *n, const struct weir_manifest *m)
{
	if (weir__log_id_compare(n->cursor, m->position) < 0)
		weir__node_jump(n, m->position, m->tag);
	const bool all = weir__log_id_compare(n->gap, m->position) <= 0;
	weir__ring_requeue(&n->ring, none, all ? n->gap : m->position, false);
	if (all)
		n->gap = none;
}

static void advance(struct weir_node *n, const struct weir_manifest *m)
{
	move_cursor(n, m);
	if (covers_hole(n, m->position))
		weir__node_lack_nothing(n);
	else
		n->called = false;
	if (weir__log_id_compare(n->open_call, m->position) <= 0)
		n->open_call = none;
	if (weir__log_id_compare(n->joined.position, m->position) != 0) {
		n->joined_at = n->now;
		n->log_bytes = 0;
	}
	n->joined = *m;
	n->followed = 0;
	n->era = m->version.era;
	n->unusable_image = 0;
	n->no_retry = false;
}

/* The node follows a generation only if every later head includes the keys of that generation. A
 * generation of an earlier epoch may have been given up when the current epoch began, so later
 * heads need not include its keys. */
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m)
{
	const bool follows = n->followed || m->position.epoch == n->head.last.epoch;
	weir__debts_rename(n, m);
	advance(n, m);
	weir__debts_release(n, m);
	n->followed = follows ? m->id : 0;
}

/* Add the oldest id first, so that the newest ids stay. */
static void add_all(struct weir_has *has, const struct weir_manifest *m)
{
	for (uint32_t i = m->has.n; i > 0; i--)
		(void)weir__has_add(has, m->has.id[i - 1]);
	(void)weir__has_add(has, m->id);
}

/* After a rollback no ring has the whole log above the position of @m ([NEW-ERA]). So each node
 * that read that log owes its keys under the same id, ~m->id, until one of these nodes has
 * published them. */
static void owe_log(struct weir_node *n, const struct weir_manifest *m)
{
	pthread_mutex_lock(&n->lock);
	(void)weir__has_add(&n->has, ~m->id);
	weir__debt_add(n, ~m->id, 0);
	pthread_mutex_unlock(&n->lock);
}

/* The node has not read all of the log that a rollback needs, so the node lacks keys of @m. The
 * node keeps its set, and owes a publication of that set (debt id 0). A node that may not publish
 * owes the log instead (debt id ~m->id), until another node has published that log. */
static void join_partly(struct weir_node *n, const struct weir_manifest *m)
{
	advance(n, m);
	n->impure = true;
	pthread_mutex_lock(&n->lock);
	weir__debt_add(n, n->may_publish ? 0 : ~m->id, 0);
	pthread_mutex_unlock(&n->lock);
}

/* The set now has the whole image, so it also has the image's ids. */
static void add_has(struct weir_node *n, const struct weir_manifest *m)
{
	pthread_mutex_lock(&n->lock);
	add_all(&n->has, m);
	pthread_mutex_unlock(&n->lock);
}

static int check(const struct weir_node *n, const struct weir_manifest *m)
{
	if (strcmp(m->set, n->set) != 0)
		return weir_fail(-EBADMSG, "set %s: redis has the manifest of set %s there", n->set,
		                 m->set);
	if (m->hashing == n->hashing && !((m->steps ^ n->steps) & ~(uint32_t)WEIR_TEXT_CLOSED))
		return 0;
	if (m->hashing == n->hashing)
		return weir_fail(-EKEYREJECTED, "set %s: the keys of generation %" PRIu64 ".%"
		                 PRIu64 " are normalised otherwise (steps %" PRIu32 ") than those "
		                 "of this node's set (%" PRIu32 "): other steps need a new set "
		                 "name", n->set, m->version.era, m->version.number, m->steps,
		                 n->steps);
	return weir_fail(-EKEYREJECTED, "set %s: generation %" PRIu64 ".%" PRIu64 " is hashed by "
	                 "another seed or key (%016" PRIx64 ") than this node's set (%016" PRIx64
	                 "): a new seed needs a new set name", n->set, m->version.era,
	                 m->version.number, m->hashing, n->hashing);
}

/* End doubt ([DOUBT]): read on from the head's position. */
static void end_doubt(struct weir_node *n)
{
	const struct weir_manifest *m = &n->newest;
	n->doubt = false;
	n->cursor = none; /* so that the jump queues again all entries sent in doubt */
	n->tag = 0;
	if (n->head.generation)
		weir__node_jump(n, m->position, m->tag);
	n->hole = n->cursor;
}

/* Keep the set: another node may publish a better manifest. */
static int refuse(struct weir_node *n, int err)
{
	n->refused_id = n->head.generation;
	n->refused = n->head.version;
	n->refused_at = n->now + WEIR_NODE_BEAT_MS;
	(void)weir__node_note_error(n, err);
	return 0;
}

/* A publication writes head and manifest together. If head and manifest have different ids for
 * long, another client wrote the head. @there: the manifest's id; 0: redis has no manifest. */
static int wait_for_manifest(struct weir_node *n, uint64_t there)
{
	const uint64_t named = n->head.generation;
	if (n->mismatch != named)
		n->mismatch_at = n->now;
	n->mismatch = named;
	n->touch_now = true;
	if (n->now < n->mismatch_at + WEIR_NODE_CALL_MS)
		return 0;
	return refuse(n, !there ? weir_fail(-EBADMSG, "set %s: its head names generation %016"
	                                    PRIx64 " and has no manifest: redis-cli DEL "
	                                    "'{weir:%s}:2:head', and a node that runs publishes "
	                                    "the set again", n->set, named, n->set) :
	                 weir_fail(-EBADMSG, "set %s: its head names generation %016" PRIx64 ", "
	                           "and the manifest there is of %016" PRIx64 ": a client wrote "
	                           "to it: redis-cli HSET '{weir:%s}:2:head' generation "
	                           "%016" PRIx64, n->set, named, there, n->set, there));
}

int weir__node_manifest(struct weir_node *n)
{
	struct weir_manifest m;
	int err = 0;
	if (n->refused_id && n->refused_id == n->head.generation && n->now < n->refused_at)
		return 0;
	n->refused_id = 0;
	if (n->head.generation && !weir__node_knows_head(n)) {
		err = n->store->manifest(n->store->context, &m);
		if (!err)
			n->other_seed = (err = check(n, &m)) == -EKEYREJECTED;
		if (err == -EKEYREJECTED || err == -EKEYEXPIRED || err == -EBADMSG ||
		    err == -ENOTSUP)
			return refuse(n, err);
		if (err == -ENOENT || (!err && m.id != n->head.generation))
			return wait_for_manifest(n, err ? 0 : m.id);
		n->touch_now = false;
		if (err)
			return err;
		n->newest = m;
	}
	n->mismatch = 0;
	n->refused = (struct weir_version){ 0, 0 };
	n->other_seed = false;
	if (n->doubt && !n->touch_now)
		end_doubt(n);
	return 0;
}

/* The image cannot be used: retry after a while, and call the other nodes ([CALL-FOR-KEYS]).
 * @no_retry: neither a retry nor a call helps, for example if the keys of two growing filters do
 *   not fit into one. The node then lacks the image's keys until the next record. */
static int put_off_image(struct weir_node *n, int err, bool no_retry)
{
	n->unusable_image = n->head.generation;
	n->no_retry = no_retry;
	n->image_at = n->now + WEIR_NODE_CALL_MS;
	(void)weir__node_note_error(n, err);
	return 0;
}

/* Only the node's thread swaps the handle's filters, so this function needs no read section. */
static int merge_into_set(struct weir_node *n, const struct weir_filter *image)
{
	return weir_merge((struct weir_filter *)(uintptr_t)weir_handle_get(n->handle), image);
}

static int merge(struct weir_node *n, const struct weir_manifest *m, struct weir_filter *image)
{
	int err = merge_into_set(n, image);
	weir_destroy(image);
	if (err)
		return put_off_image(n, err, true);
	if (weir__needs_log(n, m)) {
		join_partly(n, m);
		return 0;
	}
	add_has(n, m);
	weir__debts_add_others(n, m);
	weir__node_joined(n, m);
	return 0;
}

/* Continue after the position of @m, although the node has not merged all keys of its image. */
static void skip_generation(struct weir_node *n, const struct weir_manifest *m)
{
	if (weir__log_id_compare(n->cursor, m->position) < 0)
		weir__node_jump(n, m->position, m->tag);
	weir__node_lack_nothing(n);
	n->impure = true;
}

/* Merge the image of a lower era, for keys that this set lacks. The set keeps its era. */
static int merge_lower(struct weir_node *n, const struct weir_manifest *m,
                       struct weir_filter *image)
{
	/* If the sizes differ, the merge fails, and the image's keys are lost. */
	(void)weir__node_note_error(n, merge_into_set(n, image));
	weir_destroy(image);
	skip_generation(n, m);
	return 0;
}

/* Add the ring's batches that the position of @m does not cover ([HEAD-JOIN]): all waiting batches,
 * and the acknowledged batches above the position. */
static int add_ring(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next)
{
	int err = weir__ring_collect(&n->ring, n->flushes_collected + 1);
	for (const struct weir_batch *b = n->ring.waiting.oldest; b && !err; b = b->newer)
		err = weir__node_apply(n, b->hashes, b->n, next);
	for (const struct weir_batch *b = n->ring.acked.newest; b && !err; b = b->older) {
		if (weir__log_id_compare(b->id, m->position) <= 0)
			break;
		err = weir__node_apply(n, b->hashes, b->n, next);
	}
	return err;
}

/* Return: true if the node has a debt that @m lacks. Debts for other nodes' keys do not count,
 *   since a higher era that lacks those keys has removed them. */
static bool owes(struct weir_node *n, const struct weir_manifest *m)
{
	bool owes = false;
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->n_debts; i++)
		owes |= n->debts[i].stamp != WEIR_NODE_STAMP_OTHERS &&
		        !weir__manifest_has(m, n->debts[i].id);
	pthread_mutex_unlock(&n->lock);
	return owes;
}

/* Replace the ids of the set by those of @m. A token that a thread opened during the swap stays,
 * since its keys are in both filters. */
static void replace_has(struct weir_node *n, const struct weir_manifest *m, bool own)
{
	struct weir_has has = { 0 };
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = n->has.n; i > 0; i--) {
		bool relied = own;
		for (uint32_t k = 0; k < n->n_debts; k++)
			relied |= n->debts[k].id == n->has.id[i - 1];
		if (relied)
			(void)weir__has_add(&has, n->has.id[i - 1]);
	}
	add_all(&has, m);
	n->has = has;
	pthread_mutex_unlock(&n->lock);
}

/* Complete @next for a swap. After weir_reload_begin() each insert goes to both filters.
 * weir_reload_begin() also waits for a grace period, so inserts into only the old filter have
 * ended. Each of those inserts put its key into the ring first, so the key is now in the log, in
 * the ring, or owed by a debt. That is why this function reads log, ring and debts only now.
 * @own: receives whether @next has the old set too; @part: whether a part of the log is missing. */
static int fill_next(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                     bool *own, bool *part)
{
	bool whole;
	const bool behind = weir__log_id_compare(n->cursor, m->position) < 0;
	move_cursor(n, m); /* before add_ring(), which adds the batches queued here */
	int err = weir__node_replay(n, m, next, &whole);
	if (!err)
		err = add_ring(n, m, next);
	*part = weir__needs_log(n, m) && (behind || !whole);
	*own = *part || owes(n, m);
	if (err || !*own)
		return err;
	if (weir_reload_copy(next, WEIR_ALL_SETS) < 0) /* the keys of the old set are lost */
		(void)weir__node_note_error(n, -EINVAL);
	return 0;
}

/* @next has replaced the set. */
static void after_swap(struct weir_node *n, const struct weir_manifest *m, bool own, bool part)
{
	n->impure = own;
	n->kind = m->kind;
	if (part) {
		join_partly(n, m);
		return;
	}
	weir__debts_drop_others(n);
	replace_has(n, m, own);
	n->seen = m->seen;
	weir__node_joined(n, m);
	if (weir__needs_log(n, m))
		owe_log(n, m);
}

static int swap(struct weir_node *n, const struct weir_manifest *m, struct weir_filter *image)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *next;
	bool own, part;
	options.next = image;
	int err = weir__node_touch(n, false); /* the head may be newer */
	const bool still = !err && !n->doubt && n->head.generation == m->id;
	if (still)
		err = weir_reload_begin(&next, n->handle, &options);
	if (err || !still) {
		weir_destroy(image);
		return still ? put_off_image(n, err, false) : err;
	}
	err = fill_next(n, m, next, &own, &part);
	if (err)
		weir_reload_abort(next);
	else
		err = weir_reload_commit(next);
	if (err)
		return err == -ENOSPC || err == -ECANCELED ? put_off_image(n, err, false) : err;
	after_swap(n, m, own, part);
	return 0;
}

/* Do not call for an image that was superseded while in flight ([CALL-FOR-KEYS]). */
static int image_missing(struct weir_node *n, const struct weir_manifest *m, int err)
{
	char why[WEIR_SENTENCE_BYTES];
	snprintf(why, sizeof why, "%s", weir_error_detail());
	int touched = weir__node_touch(n, false);
	if (touched || n->doubt || n->head.generation != m->id)
		return touched;
	return put_off_image(n, weir_fail(err, "%s", why), false);
}

static int fetch(struct weir_node *n, const struct weir_manifest *m)
{
	struct weir_filter *image;
	if (n->unusable_image == m->id && n->now < n->image_at)
		return 0;
	if (n->record_id) /* the store transfers the record now, which will replace this image */
		return 0;
	int err = n->store->image(n->store->context, m, &image);
	if (err == -EINPROGRESS)
		return 0;
	if (err == -ENOENT || err == -EBADMSG || err == -EKEYREJECTED)
		return image_missing(n, m, err);
	if (err == -EFBIG || err == -ENOTSUP) /* other nodes may be able to use the image,
	                                           so do not call them */
		return put_off_image(n, err, true);
	if (err)
		return err;
	return m->version.era > n->era || n->images_only ? swap(n, m, image) :
	       m->version.era < n->era                   ? merge_lower(n, m, image) :
	                                                   merge(n, m, image);
}

/* Join @m without its image, which no node can use ([GIVE-UP]). Keys that are only in the image are
 * lost. */
static void abandon(struct weir_node *n, const struct weir_manifest *m)
{
	const uint64_t era = n->era;
	advance(n, m);
	n->era = m->version.era > era ? m->version.era : era;
	n->impure = true;
}

static bool is_next(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->pure && m->parent_id == n->joined.id && !n->lacks;
}

/* Return: true if the node can join @m without its image ([HEAD-JOIN]). */
static bool follows(struct weir_node *n, const struct weir_manifest *m)
{
	pthread_mutex_lock(&n->lock);
	const bool there = weir__has(&n->has, m->id);
	pthread_mutex_unlock(&n->lock);
	return there || (n->images_only && weir__manifest_has(m, n->joined.id)) ||
	       (is_next(n, m) && weir__log_id_compare(n->cursor, m->position) >= 0);
}

int weir__node_join_head(struct weir_node *n)
{
	const struct weir_manifest *m = &n->newest;
	if (n->doubt || !n->head.generation || m->id != n->head.generation)
		return 0;
	if (weir__node_head_is_old(n)) {
		if (n->reclaim_asked && weir__node_can_reclaim(n) &&
		    weir__version_compare(n->joined.version, m->version) < 0)
			return fetch(n, m);
		if (n->lacks && covers_hole(n, m->position))
			skip_generation(n, m);
		return 0;
	}
	if (m->id == n->abandoned) {
		if (m->id != n->joined.id || (n->lacks && covers_hole(n, m->position)))
			abandon(n, m);
		return 0;
	}
	if (m->id == n->joined.id && m->version.era == n->era) {
		if (n->lacks && covers_hole(n, m->position)) {
			weir__debts_add_others(n, m);
			weir__node_joined(n, m);
		}
		return 0;
	}
	if (m->version.era < n->era)
		return n->lacks && covers_hole(n, m->position) ? fetch(n, m) : 0;
	const bool higher = m->version.era > n->era;
	const bool waits = higher ? weir__needs_log(n, m) : is_next(n, m);
	if (higher || !follows(n, m))
		return waits && !n->at_end ? 0 : fetch(n, m);
	add_has(n, m);
	weir__debts_add_others(n, m);
	weir__node_joined(n, m);
	return 0;
}
