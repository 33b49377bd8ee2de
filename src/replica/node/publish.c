/* SPDX-License-Identifier: MIT
 * Generations of the set ([WHEN-TO-PUBLISH]), of a record or rollback ([NEW-ERA]), and their
 * publication ([PUBLISH-ATOMIC]). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <weir/error.h>
#include <weir/text.h>
#include "node.h"

enum due { NOT_DUE, DUE, URGENT };

static enum due is_due(struct weir_node *n)
{
	const struct weir_head *h = &n->head;
	/* A head newer than the version in the call answers that call ([CALL-FOR-KEYS]). */
	const bool called = n->open_call.epoch &&
	                    weir__version_compare(h->version, n->call_version) <= 0;
	if (!h->generation || h->version.era < n->era || called || n->publish_asked ||
	    n->abandoned == h->generation || weir__node_head_is_old(n) ||
	    weir__debts_lowest_stamp(n) != UINT64_MAX)
		return URGENT;
	const bool late = n->publish_ms && n->now - n->joined_at >= n->publish_ms;
	/* Publish for a full server too: it refuses entries, so log_bytes may stay 0, but it can
	 * trim the log after a new generation. */
	return ((n->log_bytes || h->full) && late) ||
	       (n->publish_bytes && n->log_bytes >= n->publish_bytes) ? DUE : NOT_DUE;
}

static bool may_publish(const struct weir_node *n)
{
	const struct weir_head *h = &n->head;
	if (!n->at_end || n->doubt || n->no_retry || n->record_id)
		return false;
	if (!h->generation) /* without a hole, the node lacks only keys that redis lost */
		return !n->hole.epoch;
	if (!weir__node_knows_head(n))
		return false;
	if (weir__node_head_is_old(n)) { /* its image may have keys that a higher era removed */
		const bool reclaims = n->publish_asked && weir__node_can_reclaim(n);
		const struct weir_version *least = reclaims ? &h->version : &n->floor;
		return !n->lacks && weir__version_compare(n->joined.version, *least) >= 0;
	}
	return !n->lacks && (h->version.era < n->era || n->joined.id == h->generation);
}

/* Set the manifest fields that are common to all sources. */
static int set_common_fields(const struct weir_node *n, struct weir_record *r)
{
	struct weir_manifest *m = &r->manifest;
	r->mark = n->head.mark;
	r->base = n->head.version;
	snprintf(m->set, sizeof m->set, "%s", n->set);
	m->hashing = n->hashing;
	m->kind = n->kind;
	m->steps = n->steps;
	m->publisher = n->id;
	if (n->joined.id) {
		m->parent = n->joined.version;
		m->parent_id = n->joined.id;
	}
	int err = weir__draw(&m->id);
	if (!err)
		(void)weir__has_add(&m->has, m->id);
	return err;
}

/* Copy the ids of the set to @has, the list of a manifest. Add the ids of debts, since the full
 * list of the set may have dropped them. Close the open token, since the keys of that token are in
 * the set. */
static void note_has(struct weir_node *n, struct weir_has *has)
{
	pthread_mutex_lock(&n->lock);
	n->token = 0;
	n->n_publishing = n->n_debts;
	*has = n->has;
	for (uint32_t i = 0; i < n->n_debts; i++)
		if (n->debts[i].id)
			(void)weir__has_add(has, n->debts[i].id);
	pthread_mutex_unlock(&n->lock);
}

/* Choose a version above all versions that this node knows. Another client can use up an era's
 * numbers; the set then continues unchanged in the next era. */
static int choose_version(const struct weir_node *n, struct weir_version *out)
{
	const struct weir_version mine = n->joined.version, its = n->head.version;
	struct weir_version v = { n->era ? n->era : 1,
		                  (weir__version_compare(mine, its) > 0 ? mine : its).number + 1 };
	if (weir__version_compare(v, n->floor) <= 0)
		v = (struct weir_version){ n->floor.era, n->floor.number + 1 };
	if (!weir__version_in_range(v))
		v = (struct weir_version){ v.era + 1, 1 };
	*out = v;
	return weir__version_in_range(v) ? 0 :
	       weir_fail(-EOVERFLOW, "set %s: its eras are used up, as another client can do: "
	                 "begin a set of another name", n->set);
}

/* Note position, tag and ids before the set is copied ([WHEN-TO-PUBLISH]). */
static int begin(struct weir_node *n)
{
	struct weir_record *r = &n->publication;
	struct weir_manifest *m = &r->manifest;
	const struct weir_head *h = &n->head;
	*r = (struct weir_record){ 0 };
	note_has(n, &m->has);
	bool new = false;
	for (uint32_t i = 0; i < m->has.n; i++)
		new |= !weir__manifest_has(&n->newest, m->has.id[i]);
	int err = set_common_fields(n, r);
	if (!err)
		err = choose_version(n, &m->version);
	if (err)
		return err;
	m->position = n->cursor;
	m->tag = n->tag;
	m->seen = n->seen;
	m->pure = !n->impure && !new && h->generation && n->joined.id == h->generation &&
	          h->version.era == m->version.era;
	n->publishing_impure = n->impure;
	n->impure = false;
	n->publishing = true;
	n->publish_error = 0;
	return 0;
}

/* The lease is a hint that avoids double uploads. Copying a very large set can take longer than a
 * lease lasts, and another node may then upload too. No key is lost: publish compares the head's
 * version, so the first upload becomes the next generation, and the other image is dropped
 * ([PUBLISH-ATOMIC]). */
static int lease(struct weir_node *n)
{
	if (n->now < n->lease_at)
		return 0;
	n->lease_at = n->now + WEIR_NODE_LEASE_MS / 3;
	return n->store->lease(n->store->context, n->id, WEIR_NODE_LEASE_MS);
}

/* Let the next publisher start at once. If this call fails, the lease expires. */
static void release_lease(struct weir_node *n)
{
	(void)n->store->lease(n->store->context, n->id, 1);
}

static int end(struct weir_node *n, int err)
{
	release_lease(n);
	n->publishing = false;
	n->n_publishing = 0;
	n->impure |= n->publishing_impure;
	n->touch_now = true;
	n->due_since = n->now;
	n->publish_at = n->now + (err == -ENOSPC ? WEIR_NODE_BEAT_MS : n->poll_ms);
	const bool outrun = err == -ESTALE || err == -EEXIST;
	n->superseded += outrun && n->superseded < WEIR_NODE_SUPERSEDED;
	if (outrun)
		return 0;
	n->publish_error = weir__node_note_error(n, err);
	return err == -ENOENT || err == -ENOSPC ? 0 : err;
}

static void published(struct weir_node *n)
{
	const struct weir_manifest *m = &n->publication.manifest;
	n->publishing = n->publish_asked = false;
	n->due_since = n->abandoned = n->lost_cursor.mark = n->stale_at = n->superseded = 0;
	n->generations++;
	release_lease(n);
	n->head.version = m->version;
	n->head.generation = m->id;
	n->newest = *m;
	weir__debts_paid(n, m->id);
	pthread_mutex_lock(&n->lock);
	(void)weir__has_add(&n->has, m->id);
	pthread_mutex_unlock(&n->lock);
	weir__node_joined(n, m);
}

/* Redis says that another generation came first. If the head nevertheless stays at this
 * publication's base for WEIR_NODE_GIVE_UP_MS, the node reports the error. */
static int end_stale(struct weir_node *n, int err)
{
	const struct weir_record *r = &n->publication;
	char why[WEIR_SENTENCE_BYTES];
	if (!n->stale_at || n->stale_mark != r->mark ||
	    weir__version_compare(n->stale_base, r->base) != 0) {
		n->stale_mark = r->mark;
		n->stale_base = r->base;
		n->stale_at = n->now;
	}
	snprintf(why, sizeof why, "%s", weir_error_detail());
	err = end(n, err);
	if (n->now - n->stale_at < WEIR_NODE_GIVE_UP_MS)
		return err;
	n->publish_at = n->now + WEIR_NODE_CALL_MS;
	n->publish_error =
		weir_fail(-EAGAIN, "set %s: redis refuses each generation above %" PRIu64 ".%"
		          PRIu64 " as if another had come first, and has none (%s): see which "
		          "server or proxy answers", n->set, r->base.era, r->base.number, why);
	(void)weir__node_note_error(n, n->publish_error);
	return err;
}

static int continue_publication(struct weir_node *n)
{
	const struct weir_record *r = &n->publication;
	if (r->mark != n->head.mark || n->doubt ||
	    weir__version_compare(r->base, n->head.version) != 0)
		return end(n, -ESTALE);
	(void)lease(n);
	int err = n->store->upload(n->store->context, weir_handle_get(n->handle),
	                           &n->publication.manifest);
	if (err == -EINPROGRESS)
		return 0;
	const struct weir_publication p = { r->mark, r->base, &n->publication.manifest };
	if (!err)
		err = n->store->publish(n->store->context, &p);
	if (err == -ESTALE || err == -EEXIST)
		return end_stale(n, err);
	if (err)
		return end(n, err);
	published(n);
	return 0;
}

int weir__node_publish(struct weir_node *n)
{
	if (n->publishing)
		return continue_publication(n);
	const enum due due = n->may_publish ? is_due(n) : NOT_DUE;
	if (!due) {
		n->due_since = 0;
		return 0;
	}
	if (!n->due_since) {
		n->due_since = n->now;
		n->publish_at = n->now + weir__node_random(n, WEIR_NODE_JITTER_MS);
	}
	if (n->now < n->publish_at || !may_publish(n))
		return 0;
	n->lease_at = 0;
	int err = lease(n);
	const uint64_t patience = due == DUE ? WEIR_NODE_LEASE_LONGEST_MS : WEIR_NODE_GIVE_UP_MS;
	if (err == -EPERM && n->now - n->due_since < patience) {
		n->publish_at = n->now + WEIR_NODE_LEASE_TRY_MS;
		return 0;
	}
	if (err && err != -EPERM && err != -ENOSPC) /* a full server refuses leases too */
		return err;
	err = begin(n);
	if (err == -EOVERFLOW) { /* not a failure of redis: continue to read */
		n->publish_at = n->now + WEIR_NODE_CALL_MS;
		(void)weir__node_note_error(n, err);
		return 0;
	}
	return err ? err : continue_publication(n);
}

int weir__node_merge(struct weir_node *n, const struct weir_filter *more)
{
	uint64_t id;
	if (!n->may_publish)
		return weir_fail(-ENOBUFS, "set %s: this node has no secret key, so it cannot "
		                 "publish what is merged: start it with one", n->set);
	int err = weir__draw(&id);
	if (err)
		return err;
	pthread_mutex_lock(&n->lock);
	err = weir_merge((struct weir_filter *)(uintptr_t)weir_handle_get(n->handle), more);
	if (!err) {
		(void)weir__has_add(&n->has, id);
		weir__debt_add(n, id, 0);
	}
	pthread_mutex_unlock(&n->lock);
	return err;
}

int weir__node_record(struct weir_node *n, struct weir_record *r, const struct weir_manifest *kept)
{
	*r = (struct weir_record){ 0 };
	int err = n->state == WEIR_NODE_OFFLINE ? 0 : weir__node_touch(n, false);
	const struct weir_head *h = &n->head;
	if (!err)
		err = weir__node_manifest(n);
	if (err)
		return err;
	if (n->state == WEIR_NODE_OFFLINE || (h->generation && !weir__node_knows_head(n)))
		return weir_fail(-EAGAIN, "set %s: this node has not seen the newest generation: "
		                 "call again soon", n->set);
	struct weir_manifest *m = &r->manifest;
	if (h->generation)
		m->has = n->newest.has;
	err = set_common_fields(n, r);
	m->position = kept ? kept->position : h->last;
	m->tag = kept ? kept->tag : h->tag;
	m->source = kept ? WEIR_SOURCE_ROLLBACK : WEIR_SOURCE_RECORD;
	m->version.era = h->version.era > n->era ? h->version.era : n->era;
	m->version.era = (m->version.era > n->floor.era ? m->version.era : n->floor.era) + 1;
	m->version.number = 1;
	for (size_t i = 0; kept && i < sizeof m->image; i++)
		m->image[i] = kept->image[i];
	m->bytes = kept ? kept->bytes : 0;
	m->chunks = kept ? kept->chunks : 0;
	m->kind = kept ? kept->kind : m->kind;
	return err;
}

static int check_record(struct weir_node *n, struct weir_manifest *m, const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_text text;
	int err = weir_measure(f, WEIR_SAMPLED, &s);
	if (!err)
		err = weir__replicable_check(s.shape.kind);
	if (err)
		return err;
	weir_text_of(f, &text);
	m->kind = s.shape.kind;
	if (s.seed_fingerprint == n->hashing && text.steps == n->steps)
		return 0;
	return weir_fail(-EKEYREJECTED, "set %s: the new filter has another seed, key or "
	                 "normalisation: build it like the set's (weir build --like), or publish "
	                 "it under another name", n->set);
}

static int may_replace(const struct weir_node *n, const struct weir_record *r)
{
	if (r->mark != n->head.mark)
		return weir_fail(-ESTALE, "set %s: redis lost the log during the call: call again",
		                 n->set);
	return weir__version_compare(r->base, n->head.version) == 0 ? 0 :
	       weir_fail(-EEXIST, "set %s: another node published a generation during the call: "
	                 "call again",
	                 n->set);
}

int weir__node_publish_record(struct weir_node *n, struct weir_record *r,
                              const struct weir_filter *f)
{
	if (n->record_id && n->record_id != r->manifest.id)
		return weir_fail(-EINPROGRESS, "set %s: another record is on its way", n->set);
	int err = may_replace(n, r);
	if (!err && f)
		err = check_record(n, &r->manifest, f);
	if (!err && n->publishing)
		(void)end(n, -ESTALE); /* the record replaces this publication */
	if (!err)
		(void)lease(n);
	if (!err && f)
		err = n->store->upload(n->store->context, f, &r->manifest);
	/* While record_id is set, no other transfer begins. */
	n->record_id = err == -EINPROGRESS ? r->manifest.id : 0;
	if (n->record_id)
		return err;
	const struct weir_publication p = { r->mark, r->base, &r->manifest };
	if (!err)
		err = n->store->publish(n->store->context, &p);
	n->touch_now = true;
	release_lease(n);
	return err;
}

int weir__node_republish(struct weir_node *n)
{
	struct weir_manifest m = n->newest;
	const struct weir_publication p = { n->head.mark, n->head.version, &m };
	if (n->publishing || n->record_id || n->doubt || n->joined.id != n->head.generation ||
	    !weir__node_knows_head(n))
		return weir_fail(-EAGAIN, "set %s: this node has not joined the newest generation",
		                 n->set);
	int err = weir__draw(&m.id);
	if (err)
		return err;
	(void)weir__has_add(&m.has, m.id);
	m.version.number++;
	m.parent = n->newest.version;
	m.parent_id = n->newest.id;
	m.publisher = n->id;
	m.pure = true;
	err = n->store->publish(n->store->context, &p);
	n->touch_now = true;
	return err;
}
