/* SPDX-License-Identifier: MIT
 * Reading the log ([LOG-READING]). A walk follows the tags from one entry to the next. The node's
 * own walk applies entries to the live set, and a swap's walk applies them to the next set. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <weir/error.h>
#include "node.h"

static const struct weir_log_id none = { 0, 0 };

enum {
	READS = 64, /* limit of the reads in one round, so that other work is not delayed */
	TRIES = 8,     /* number of derived tags that replaces() compares with an entry's tag */
};

struct walk {
	struct weir_node *node;
	struct weir_reload *next; /* NULL: the live set */
	struct weir_log_id at, upto, hole;
	uint64_t tag,        /* tag of the entry `at`; 0: unknown */
	         named;      /* `before` of the last entry read: the tag of the entry before it */
	uint64_t missing;    /* the tag of the missing entry at hole; 0: unknown, or several are
	                        missing */
	bool lacks, other_log;
	bool beyond;         /* an entry above upto was read */
	bool from_start;     /* the log's first entry was read */
	bool invalid;         /* an invalid entry was read */
};

int weir__node_apply(struct weir_node *n, const unsigned char *hashes, size_t count,
                     struct weir_reload *next)
{
	const struct weir_entry e = { .hashes = hashes };
	uint64_t some[512];
	for (size_t at = 0; at < count;) {
		size_t k = 0;
		for (; k < 512 && at < count; at++)
			some[k++] = weir__entry_hash(&e, at);
		const struct weir_keys keys = weir_keys_hashes(some, k);
		const int64_t answer = next ? weir_reload_insert_keys(next, keys, NULL) :
		                              weir_handle_insert_keys(n->handle, keys, NULL);
		if (answer < 0)
			return (int)answer;
	}
	return 0;
}

static void lack(struct walk *w, struct weir_log_id hole, uint64_t missing)
{
	w->missing = w->lacks ? 0 : missing;
	w->lacks = true;
	w->hole = hole;
}

/* If the filter refuses keys, count the entry as missing, since an image of this node would lack
 * those keys. */
static void apply(struct walk *w, struct weir_log_id id, const unsigned char *hashes, size_t count)
{
	if (weir__node_apply(w->node, hashes, count, w->next)) {
		(void)weir__node_note_error(w->node, -ENOSPC);
		lack(w, id, 0);
	}
}

/* Apply missing own entries from the ring, newest first. Their tags prove that the log had them.
 * @last, @tag: id and tag of the newest missing entry; receive id and tag of the newest missing
 *   entry that is not own.
 * Return: true if all missing entries were own. */
static bool fill_own(struct walk *w, struct weir_log_id *last, uint64_t *tag)
{
	for (; weir__log_id_compare(*last, w->at) > 0; last->n--) {
		const struct weir_batch *own = weir__ring_find(&w->node->ring, *last);
		if (!own || own->tag != *tag)
			return false;
		apply(w, *last, own->hashes, own->n);
		*tag = own->before;
	}
	return true;
}

static bool is_next(struct weir_log_id id, struct weir_log_id after)
{
	return id.epoch == after.epoch && id.n == after.n + 1;
}

static struct weir_log_id before(const struct weir_entry *e)
{
	const struct weir_log_id id = { e->id.epoch, e->id.n ? e->id.n - 1 : 0 };
	return e->kind == WEIR_ENTRY_EPOCH ? e->last : id;
}

/* Check that @e continues the log ([LOG-READING]), and note missing entries. Return: false if @e
 * belongs to another log. */
static bool check_next(struct walk *w, const struct weir_entry *e)
{
	struct weir_node *n = w->node;
	struct weir_log_id last = before(e);
	uint64_t tag = e->before;
	struct weir_batch *own = w->next ? NULL : weir__ring_find(&n->ring, e->id);
	const bool adjacent = weir__log_id_compare(last, w->at) <= 0;
	const bool first = !e->before && !last.epoch;
	w->from_start |= first;
	if (first && !w->next && e->tag != n->head.mark)
		n->new_log_mark = n->new_log_mark ? UINT64_MAX : e->tag;
	if (own && own->tag != e->tag)
		return false;
	if (own)
		own->before = e->before; /* fill_own() needs this tag if redis deletes the entry */
	if (first || (w->tag ? e->before == w->tag : adjacent))
		return true;
	if (adjacent)
		return false;
	if (weir__log_id_compare(last, n->head.lost) <= 0 || fill_own(w, &last, &tag))
		return true;
	lack(w, last, is_next(last, w->at) ? tag : 0);
	if (!w->next)
		weir__node_gap(n, w->at, last);
	return true;
}

/* If each of several nodes lacks an entry of another node, none of these nodes can publish. So each
 * node sends its own entries again ([CALL-FOR-KEYS]). */
static void send_again(struct weir_node *n, const struct weir_entry *call)
{
	const bool joined = n->head.generation && n->head.generation == n->joined.id;
	if (!n->lacks || n->now < n->lacks_since + WEIR_NODE_CALL_MS || n->now < n->again_at)
		return;
	n->again_at = n->now + WEIR_NODE_CALL_MS;
	weir__ring_requeue(&n->ring, joined ? n->joined.position : none, call->id, true);
}

/* Return: true if @e replaces the entry with tag @missing. A node that sends an entry again derives
 *   the new tag from the last tag. */
static bool replaces(const struct weir_entry *e, uint64_t missing)
{
	for (unsigned i = 0; i < TRIES && missing; i++) {
		missing = weir__tag_next(missing);
		if (missing == e->tag)
			return true;
	}
	return false;
}

/* If a node lacks only one entry, it lacks nothing after it has read the replacement of that
 * entry. */
static void check_replacement(struct walk *w, const struct weir_entry *e)
{
	struct weir_node *n = w->node;
	if (replaces(e, w->missing)) {
		w->lacks = false;
		w->missing = 0;
	}
	if (replaces(e, n->missing))
		weir__node_lack_nothing(n);
}

static void apply_entry(struct walk *w, const struct weir_entry *e)
{
	struct weir_node *n = w->node;
	const bool ours = e->kind == WEIR_ENTRY_BATCH && e->hashing == n->hashing;
	if (ours)
		apply(w, e->id, e->hashes, e->n);
	if (w->next)
		return;
	if (ours)
		check_replacement(w, e);
	n->log_bytes += ours ? WEIR_NODE_ENTRY + 8 * e->n : 0;
	n->batches += ours;
	n->foreign += e->kind == WEIR_ENTRY_BATCH && !ours;
	if (e->kind == WEIR_ENTRY_CALL &&
	    (!n->open_call.epoch || weir__version_compare(e->version, n->call_version) >= 0)) {
		n->open_call = e->id;
		n->call_version = e->version;
	}
	if (e->kind == WEIR_ENTRY_CALL)
		send_again(n, e);
	if (e->kind == WEIR_ENTRY_GENERATION)
		n->touch_now |= weir__version_compare(e->version, n->head.version) > 0;
	n->touch_now |= e->id.epoch > n->head.last.epoch;
}

/* Skip an invalid entry. Another client or a later version wrote it, so no call can bring the keys
 * of the entry. If the nodes have given up the entry ([GIVE-UP]), do not count it as missing. */
static int skip_invalid(struct walk *w, struct weir_log_id id)
{
	struct weir_node *n = w->node;
	(void)weir__node_note_error(n, -EBADMSG);
	w->invalid = true;
	if (weir__log_id_compare(id, n->head.lost) > 0)
		lack(w, id, 0);
	if (!w->next)
		weir__node_gap(n, w->at, id);
	n->touch_now |= id.epoch > n->head.last.epoch;
	w->at = id;
	w->tag = 0;
	return 0;
}

/* Note the cursor where the walk enters an epoch that no heartbeat has reported ([DOUBT]). */
static void note_crossing(const struct walk *w, struct weir_log_id to)
{
	struct weir_node *n = w->node;
	const uint64_t known = n->head.last.epoch;
	if (!w->next && !n->crossing.epoch && w->at.epoch <= known && to.epoch > known)
		n->crossing = w->at;
}

static int step(void *arg, const struct weir_entry *e)
{
	struct walk *w = arg;
	w->beyond = weir__log_id_compare(e->id, w->upto) > 0;
	if (w->beyond)
		return 0;
	note_crossing(w, e->id);
	if (e->kind == WEIR_ENTRY_UNREAD)
		return skip_invalid(w, e->id);
	w->named = e->before;
	w->other_log = !check_next(w, e);
	if (w->other_log)
		return -ESTALE;
	apply_entry(w, e);
	w->at = e->id;
	w->tag = e->tag;
	return 0;
}

static int walk(struct walk *w, size_t *some)
{
	const struct weir_store *s = w->node->store;
	int err = s->read(s->context, w->at, WEIR_NODE_BATCHES, step, w, some);
	return w->other_log ? 0 : err;
}

static int read_some(struct weir_node *n, size_t *some)
{
	struct walk w = { .node = n, .at = n->cursor, .tag = n->tag,
		          .upto = { UINT64_MAX, UINT64_MAX } };
	int err = walk(&w, some);
	n->cursor = w.at;
	n->tag = w.tag;
	if (w.lacks) {
		const uint64_t missing = n->lacks ? 0 : w.missing;
		weir__node_lack(n, w.hole);
		n->missing = missing;
	}
	if (w.other_log)
		weir__node_suspect(n, n->cursor, w.named);
	return err;
}

int weir__node_read(struct weir_node *n)
{
	size_t some = WEIR_NODE_BATCHES;
	int err = 0;
	for (unsigned i = 0; i < READS && !err && !n->doubt && some == WEIR_NODE_BATCHES; i++)
		err = read_some(n, &some);
	if (err || n->doubt)
		return err;
	n->at_end = some < WEIR_NODE_BATCHES;
	n->suspect_mark = n->at_end ? 0 : n->suspect_mark;
	if (!n->at_end || weir__log_id_compare(n->cursor, n->head.last) >= 0)
		return 0;
	weir__node_lack(n, n->head.last); /* redis has lost all entries after the cursor */
	weir__node_jump(n, n->head.last, n->head.tag);
	return 0;
}

int weir__node_replay(struct weir_node *n, const struct weir_manifest *m, struct weir_reload *next,
                      bool *whole)
{
	struct walk w = { .node = n, .next = next, .at = m->position, .tag = m->tag,
		          .upto = n->cursor };
	size_t some = WEIR_NODE_BATCHES;
	int err = 0;
	while (!err && !w.other_log && !w.beyond && some == WEIR_NODE_BATCHES)
		err = walk(&w, &some);
	if (w.other_log || (!w.beyond && weir__log_id_compare(w.at, w.upto) < 0))
		lack(&w, n->cursor, 0);
	if (w.lacks)
		weir__node_lack(n, w.hole);
	*whole = !w.lacks && !w.from_start && !w.invalid;
	return err;
}
