/* SPDX-License-Identifier: MIT
 * A generation takes the place of the set (L11). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "node.h"

/* What follows the image in the stream, up to the node's own cursor. */
struct replay {
	const struct weir_node *node;
	struct weir_reload *next;
	struct weir_origins origins;
	struct weir_cursor cursor, counted; /* before the call under way */
	struct weir_stream_counts counts;
	bool kept;  /* beside it: the node's own set, which may have what no image has (L12) */
	bool alone; /* and nobody has published since it was */
	bool past;  /* the node's cursor: what follows goes to both by itself */
	bool gap;   /* entries that follow the image have gone */
};

static int replay_entry(void *arg, struct weir_stream_id id, const struct weir_entry *e)
{
	struct replay *p = arg;
	if (p->past || weir__stream_id_compare(id, p->node->cursor.at) > 0) {
		p->past = true;
		return 0;
	}
	bool foreign; /* it was counted when it was read */
	int err = weir__node_take(p->node, &p->origins, e, p->next, &foreign);
	if (!err && !weir__cursor_advance(&p->cursor, id))
		err = weir_fail(-EBADMSG, "set %s: entries of the stream are not in order",
		                p->node->set);
	return err;
}

static int replay_stream(struct replay *p)
{
	const struct weir_node *n = p->node;
	size_t some;
	unsigned calls = 0;
	do {
		if (calls++ == WEIR_NODE_CALLS)
			return weir_fail(-EAGAIN, "set %s: the stream has no end", n->set);
		p->counted = p->cursor;
		int err = n->server->read(n->server->context, n->epoch, p->cursor.at,
		                          WEIR_NODE_READ, &p->counts, replay_entry, p, &some);
		if (err)
			return err;
		p->gap = weir__cursor_gap(&p->counted, &p->counts, NULL) != WEIR_GAP_NONE;
	} while (some == WEIR_NODE_READ && !p->past && !p->gap);
	return 0;
}

struct own {
	struct weir_node *node;
	struct weir_reload *next;
};

static int apply_own(void *arg, const unsigned char *data, size_t bytes)
{
	const struct own *o = arg;
	const struct weir_entry e = { .kind = o->node->pending.kind,
		                      .hashing = o->node->hashing,
		                      .data = data,
		                      .bytes = bytes };
	return weir__node_apply(o->node, &e, o->next);
}

/* L2, L3: what this node inserted, whether or not it was sent. Of what the origin line names the
 * image has what is to stay: the record may lack the rest, and other nodes then lack it too. There
 * may be no room for more batches before a generation is published, and whoever publishes has
 * joined the one before: what is pending still is given from where it is, while who inserts waits.
 * @has: the line's number; 0: there is none. */
static int replay_own(struct weir_node *n, struct weir_reload *next, uint64_t has)
{
	struct own o = { n, next };
	if (has > n->retained.last) /* of what was sent in its name: not its own */
		has = 0;
	(void)weir__node_collect(n);
	for (const struct weir_batch *b = n->retained.oldest; b; b = b->later) {
		int err = b->sequence > has ? apply_own(&o, b->data, b->bytes) : 0;
		if (err)
			return err;
	}
	return weir__pending_show(&n->pending, WEIR_NODE_BATCH, apply_own, &o);
}

bool weir__image_refused(int err)
{
	return err == -EBADMSG || err == -EKEYREJECTED || err == -ENOTSUP || err == -EFBIG ||
	       err == -EINVAL;
}

/* So that it is not fetched again and again. What may succeed next time is not refused. */
static void refuse(struct weir_node *n, const struct weir_manifest *m, int err)
{
	struct weir_refused *r = &n->refused;
	if (!weir__image_refused(err))
		return;
	*r = (struct weir_refused){ m->generation, { m->checksum[0], m->checksum[1] }, err, "" };
	if (strncmp(weir_error_detail(), "set ", 4) != 0)
		(void)weir__node_fail(n, err);
	snprintf(r->why, sizeof r->why, "%s", weir_error_detail());
}

static int check_refused(const struct weir_node *n, const struct weir_manifest *m)
{
	const struct weir_refused *r = &n->refused;
	if (r->generation != m->generation || r->checksum[0] != m->checksum[0] ||
	    r->checksum[1] != m->checksum[1])
		return 0;
	return weir_fail(r->err, "%s; generation %" PRIu64 " was refused before: waiting for "
	                 "another", r->why, m->generation);
}

/* L13. Where seeds may differ, nothing else compares that of the image. */
static int check_image(const struct weir_node *n, const struct weir_manifest *m,
                       const struct weir_filter *image)
{
	struct weir_stats s = WEIR_STATS_INIT;
	int err = weir_measure(image, WEIR_SAMPLED, &s);
	if (err || s.seed_fingerprint == m->hashing)
		return err;
	return weir_fail(-EKEYREJECTED, "set %s: the image of generation %" PRIu64 " is hashed by "
	                 "another seed or key than its manifest says", n->set, m->generation);
}

static int begin(struct weir_reload **r, struct weir_node *n, const struct weir_manifest *m)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_filter *image;
	int err = check_refused(n, m);
	if (err)
		return err;
	err = n->server->image(n->server->context, m, &image);
	if (!err) {
		err = check_image(n, m, image);
		options.next = image;
		if (!err)
			err = weir_reload_begin(r, n->handle, &options);
		if (err)
			weir_destroy(image);
	}
	refuse(n, m, err);
	return err;
}

/* L12. An older one may be what a failover left, or what somebody put back. Who has joined none has
 * what the stream gave it, which by another seed could not be kept. */
static bool descends(const struct weir_node *n, const struct weir_manifest *m)
{
	if (!n->joined.generation)
		return n->applied == 0 || m->hashing != n->hashing;
	return n->joined.lineage == m->lineage && n->joined.generation <= m->generation;
}

/* L12. What this node kept of its own set is in no image yet, and this one replaces nothing: it was
 * made from another node's, or is of an epoch that has gone. L13. Nor does what follows the one
 * that the set stands in for. */
static bool keeps_more(const struct weir_node *n, const struct weir_manifest *m)
{
	const bool now = strcmp(m->epoch, n->epoch) == 0;
	if (now && m->source == WEIR_SOURCE_AGAIN)
		return n->apart;
	if (m->hashing != n->hashing)
		return n->united && m->hashing == n->joined.hashing;
	return n->united && !(now && m->source == WEIR_SOURCE_RECORD);
}

/* Is it newer than what is joined here, or is that of a time to come? Clocks may be wrong. Where
 * manifests are signed nobody can put another in that one's place but one whose clock was right. */
static bool is_newer(const struct weir_node *n, const struct weir_manifest *m, uint64_t now)
{
	return m->published_ms > n->joined.published_ms ||
	       (!n->is_signed && n->joined.published_ms > now);
}

/* L13. An application writes its record before it inserts: one that was read in this epoch, since
 * what is joined here was published, has what this node's set has, but for what was to go. One that
 * somebody put back is of another epoch, or older. */
static bool is_of_record(const struct weir_node *n, const struct weir_manifest *m, uint64_t now)
{
	return m->source == WEIR_SOURCE_RECORD && strcmp(m->epoch, n->epoch) == 0 &&
	       is_newer(n, m, now);
}

/* L12. Is it of before, or another's that has begun, or still that which was? */
static bool is_nothing_new(const struct weir_node *n, const struct weir_manifest *m)
{
	if (weir__node_has_joined(n, m))
		return n->alone;
	return m->generation <= n->joined.generation ||
	       (m->source == WEIR_SOURCE_AGAIN && n->apart);
}

/* L13. What has gone from the stream will not be there the next time. */
static int unite(struct replay *p, struct weir_node *n, const struct weir_manifest *m)
{
	if (m->hashing == n->hashing)
		return weir_reload_copy(p->next, WEIR_ALL_SETS);
	uint64_t now;
	int err = n->server->now(n->server->context, &now);
	if (err)
		return err;
	if (!p->gap && is_of_record(n, m, now)) {
		p->kept = false;
		return 0;
	}
	err = weir_fail(-EKEYREJECTED, "set %s: generation %" PRIu64 " is hashed by another "
	                "seed, and %s: this node's own set cannot be added to it, and stays "
	                "until one made from the record comes (weir replicate publish "
	                "--replace), or the node is opened anew", n->set, m->generation,
	                p->gap ? "entries that follow it have gone from the stream" :
	                         "does not descend from what is joined here");
	refuse(n, m, err);
	return err;
}

/* Complete the next filter. */
static int replay(struct replay *p, struct weir_node *n, const struct weir_manifest *m,
                  const struct weir_origins *origins)
{
	int err = weir__origins_cover_all(&p->origins, origins);
	if (!err)
		err = replay_stream(p);
	p->kept = !descends(n, m) || keeps_more(n, m);
	p->alone = is_nothing_new(n, m);
	if (!err && (p->kept || p->gap))
		err = unite(p, n, m);
	if (!err && p->gap) /* they are of what was copied */
		err = weir__origins_cover_all(&p->origins, &n->origins);
	const struct weir_origin *own = weir__origins_find(origins, n->id);
	return err ? err : replay_own(n, p->next, own ? own->sequence : 0);
}

/* The image becomes the set. */
static int swap(struct replay *p, struct weir_node *n, const struct weir_manifest *m,
                const struct weir_origins *origins)
{
	int err = begin(&p->next, n, m);
	if (err)
		return err;
	err = replay(p, n, m, origins);
	if (err)
		weir_reload_abort(p->next);
	return err ? err : weir_reload_commit(p->next); /* no gate: the image was checked */
}

int weir__node_join(struct weir_node *n, const struct weir_manifest *m,
                    const struct weir_origins *origins)
{
	struct replay p = { .node = n, .cursor = m->cursor };
	bool had_more = atomic_exchange(&n->has_more, false); /* what comes now goes to both */
	int err = swap(&p, n, m, origins);
	if (p.kept || (err && had_more))
		n->has_more = true;
	if (err) {
		weir__origins_free(&p.origins);
		return err;
	}
	/* the set is what the image and the stream have, and nothing else is known of it; beside a
	 * gap also what it was, and reading finds the gap again */
	uint64_t gaps = n->origins.gap;
	weir__origins_free(&n->origins);
	n->origins = p.origins;
	n->origins.gap = gaps;
	if (!p.gap)
		n->cursor = p.cursor;
	n->gap = p.gap;
	weir__node_joined(n, m);
	n->united = p.kept;
	n->alone = p.kept && p.alone;
	n->apart |= n->alone;
	if (!p.kept && m->source == WEIR_SOURCE_RECORD)
		n->apart = false;
	n->hashing = m->hashing;
	n->kind = m->kind;
	return 0;
}
