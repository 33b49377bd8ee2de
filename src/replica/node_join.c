/* SPDX-License-Identifier: MIT
 * Another manifest, or another epoch (L1, L11). */
#include <errno.h>
#include <inttypes.h>
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
	bool past; /* the node's cursor: what follows goes to both by itself */
	bool gap;  /* entries that follow the image have gone */
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

/* L2, L3: what this node inserted, whether or not it was sent. */
static int replay_retained(struct weir_node *n, struct weir_reload *next)
{
	int full = weir__node_collect(n);
	for (const struct weir_batch *b = n->retained.oldest; b; b = b->later) {
		struct weir_entry e = { .kind = WEIR_ENTRY_HASHES,
		                        .hashing = n->hashing,
		                        .data = b->data,
		                        .bytes = b->bytes };
		int err = weir__node_apply(n, &e, next);
		if (err)
			return err;
	}
	return full;
}

/* So that it is not fetched again and again. What may succeed next time is not refused. */
static void refuse(struct weir_node *n, const struct weir_manifest *m, int err)
{
	static const int lasting[] = { -EBADMSG, -EKEYREJECTED, -ENOTSUP, -EFBIG, -EINVAL,
		                       -EMSGSIZE, -ECANCELED };
	for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
		if (err == lasting[i])
			n->refused = (struct weir_refused){ m->generation,
			                                    { m->checksum[0], m->checksum[1] },
			                                    err };
}

static int check_refused(const struct weir_node *n, const struct weir_manifest *m)
{
	const struct weir_refused *r = &n->refused;
	if (r->generation != m->generation || r->checksum[0] != m->checksum[0] ||
	    r->checksum[1] != m->checksum[1])
		return 0;
	return weir_fail(r->err, "set %s: generation %" PRIu64 " was refused before (%s): waiting "
	                 "for another", n->set, m->generation, weir_strerror(r->err));
}

static int begin(struct weir_reload **r, struct weir_node *n, const struct weir_manifest *m)
{
	struct weir_filter *image;
	int err = check_refused(n, m);
	if (err)
		return err;
	err = n->server->image(n->server->context, m, &image);
	if (err == -ECANCELED) /* the node is stopping */
		return err;
	if (!err) {
		err = weir_reload_begin_with(r, n->handle, image, NULL);
		if (err)
			weir_destroy(image);
	}
	refuse(n, m, err);
	return err;
}

static int cover(struct weir_origins *o, const struct weir_origins *by)
{
	int err = 0;
	for (size_t i = 0; i < by->n && !err; i++)
		err = weir__origins_cover(o, by->of[i].node, by->of[i].sequence);
	return err;
}

/* L12. An older one may be what a failover left, or what somebody put back. */
static bool descends(const struct weir_node *n, const struct weir_manifest *m)
{
	return !n->joined.generation ||
	       (n->joined.lineage == m->lineage && n->joined.generation <= m->generation);
}

/* Complete the next filter. */
static int replay(struct replay *p, struct weir_node *n, const struct weir_manifest *m,
                  const struct weir_origins *origins)
{
	int err = cover(&p->origins, origins);
	if (!err)
		err = replay_stream(p);
	if (!err && (p->gap || !descends(n, m)))
		err = weir_reload_copy(p->next);
	if (!err && p->gap)
		err = cover(&p->origins, &n->origins); /* they are of what was copied */
	return err ? err : replay_retained(n, p->next);
}

int weir__node_join(struct weir_node *n, const struct weir_manifest *m,
                    const struct weir_origins *origins)
{
	struct replay p = { .node = n, .cursor = m->cursor };
	int err = begin(&p.next, n, m);
	if (err)
		return err;
	err = replay(&p, n, m, origins);
	if (err)
		weir_reload_abort(p.next);
	else
		refuse(n, m, err = weir_reload_commit(p.next));
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
	n->joined = *m;
	return 0;
}

/* Is its image, or one like it, in the handle? */
static bool is_joined(const struct weir_node *n, const struct weir_manifest *m)
{
	return n->joined.generation == m->generation && n->joined.checksum[0] == m->checksum[0] &&
	       n->joined.checksum[1] == m->checksum[1] && strcmp(n->joined.epoch, m->epoch) == 0;
}

/* L1, L3: ids and counts of before mean nothing here. */
static void meet(struct weir_node *n, const char *epoch)
{
	memcpy(n->epoch, epoch, sizeof n->epoch);
	weir__retained_anew(&n->retained);
	n->cursor = (struct weir_cursor){ .consumed = 0 };
	n->covered = n->cursor.at;
	n->gap = false;
}

int weir__node_check(const struct weir_node *n, const struct weir_manifest *m)
{
	if (strcmp(m->set, n->set) != 0)
		return weir_fail(-EBADMSG, "the manifest of set %s says that it is that of %s",
		                 n->set, m->set);
	if (m->hashing != n->hashing)
		return weir_fail(-EKEYREJECTED, "set %s: generation %" PRIu64 " is hashed by "
		                 "another seed or key: %016" PRIx64 ", here it is %016" PRIx64,
		                 n->set, m->generation, m->hashing, n->hashing);
	return 0;
}

/* A node that was away, or taken for gone, may find that a generation was made without batches of
 * its own that are in the stream no more. */
void weir__node_covered(struct weir_node *n, const struct weir_manifest *m,
                        const struct weir_origins *origins)
{
	const struct weir_origin *own = weir__origins_find(origins, n->id);
	if (strcmp(m->epoch, n->epoch) != 0)
		return;
	(void)weir__retained_uncovered(&n->retained, m->cursor.at, own ? own->sequence : 0);
	n->covered = m->covered;
}

/* Take over a manifest that is not joined yet, or follow one that is. */
static int take(struct weir_node *n, const struct weir_manifest *m,
                const struct weir_origins *origins, bool anew)
{
	int err = weir__node_check(n, m);
	if (err)
		return err;
	n->seen = *m;
	if (n->newest < m->generation)
		n->newest = m->generation;
	bool heals = n->gap && n->gone <= m->cursor.consumed;
	if (anew)
		n->cursor = m->cursor;
	if (anew || heals || !is_joined(n, m))
		err = weir__node_join(n, m, origins);
	if (!err)
		weir__node_covered(n, m, origins);
	return err;
}

int weir__node_look(struct weir_node *n)
{
	char epoch[WEIR_REPLICA_EPOCH + 1], *text;
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	size_t len;
	int err = n->server->manifest(n->server->context, epoch, &text, &len);
	bool anew = epoch[0] && strcmp(epoch, n->epoch) != 0;
	if (anew)
		meet(n, epoch);
	if (err)
		return err;
	if (!text)
		n->seen = (struct weir_manifest){ .generation = 0 };
	if (text)
		err = weir__manifest_read(&m, &origins, text, len);
	if (text && !err)
		err = take(n, &m, &origins, anew);
	weir__origins_free(&origins);
	free(text);
	return err;
}

void weir__node_start(struct weir_node *n, const char *epoch, const struct weir_manifest *m,
                      struct weir_origins *origins)
{
	meet(n, epoch);
	weir__node_covered(n, m, origins);
	weir__origins_free(&n->origins);
	n->origins = *origins;
	*origins = (struct weir_origins){ 0 };
	n->joined = n->seen = *m;
	n->newest = m->generation;
	n->cursor = m->cursor;
}
