/* SPDX-License-Identifier: MIT
 * What other nodes insert: read, applied, counted (L5, L7, L8). */
#include "node.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <weir/error.h>
#include <weir/text.h>

/* What a set with cidr or suffixes cannot take was refused where it came from, too. */
static int passed_over(const struct weir_node *n, int answer)
{
	struct weir_text text;
	if (answer != -EINVAL)
		return answer;
	weir_text_of(weir_handle_get(n->handle), &text);
	return text.steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES) ? 0 : answer;
}

static int apply_hashes(const struct weir_node *n, const struct weir_entry *e,
                        struct weir_reload *next)
{
	if (weir__node_of_keys(n) || e->hashing != n->hashing)
		return weir_fail(-EKEYREJECTED, "set %s: a batch of node %016" PRIx64 " has hashes "
		                 "by another seed or key: %016" PRIx64 ", here it is %016" PRIx64
		                 "%s", n->set, e->node, e->hashing, n->hashing,
		                 weir__node_of_keys(n) ? ", and batches are of keys" : "");
	for (size_t i = 0; i < weir__entry_hashes(e); i++) {
		uint64_t hash = weir__entry_hash(e, i);
		int answer = next ? weir_reload_insert_hash(next, hash) :
		                    weir_handle_insert_hash(n->handle, hash);
		answer = passed_over(n, answer);
		if (answer < 0)
			return answer;
	}
	return 0;
}

static int apply_keys(const struct weir_node *n, const struct weir_entry *e,
                      struct weir_reload *next)
{
	struct iovec key;
	for (size_t at = 0; weir__entry_key(e, &at, &key);) {
		int answer = next ? weir_reload_insert(next, key.iov_base, key.iov_len) :
		                    weir_handle_insert(n->handle, key.iov_base, key.iov_len);
		answer = passed_over(n, answer);
		if (answer < 0)
			return answer;
	}
	return 0;
}

int weir__node_apply(const struct weir_node *n, const struct weir_entry *e,
                     struct weir_reload *next)
{
	return e->kind == WEIR_ENTRY_HASHES ? apply_hashes(n, e, next) :
	       e->kind == WEIR_ENTRY_KEYS   ? apply_keys(n, e, next) :
	                                      0;
}

/* L8: what an entry says of its node's numbers. */
static int note(struct weir_origins *o, const struct weir_entry *e)
{
	int answer = e->kind == WEIR_ENTRY_HASHES || e->kind == WEIR_ENTRY_KEYS ?
		weir__origins_see(o, e->node, e->sequence) :
		weir__origins_hear(o, e->node, e->sequence);
	/* somebody makes up more nodes than there can be: what they send is applied, and not
	 * followed, since to stop here would be for ever */
	return answer < 0 && answer != -ENOBUFS ? answer : 0;
}

int weir__node_take(const struct weir_node *n, struct weir_origins *origins,
                    const struct weir_entry *e, struct weir_reload *next, bool *foreign)
{
	int err = weir__node_apply(n, e, next);
	*foreign = err == -EKEYREJECTED || e->kind == WEIR_ENTRY_FOREIGN;
	return *foreign ? 0 : err ? err : note(origins, e);
}

/* Of what is read in one call: the counts come before the entries that they belong to. */
struct reading {
	struct weir_node *node;
	struct weir_stream_counts counts;
	bool counted;
};

static int check_counts(const struct reading *r)
{
	return r->counts.added >= r->counts.length ?
		0 : weir_fail(-EBADMSG, "set %s: more entries are in the stream than were ever "
		              "added", r->node->set);
}

/* L7. After a gap the stream is read from its beginning, where it is known how many went before:
 * so the cursor counts as the server does again, and one trim is one gap.
 * Return: whether the cursor still stands. */
static bool count(struct reading *r)
{
	struct weir_node *n = r->node;
	r->counted = true;
	if (weir__cursor_gap(&n->cursor, &r->counts, NULL) == WEIR_GAP_NONE) {
		(void)weir__retained_beyond(&n->retained, r->counts.last);
		return true;
	}
	n->gap = true;
	n->origins.gap++;
	n->cursor.consumed = r->counts.added - r->counts.length;
	n->cursor.at = n->covered = (struct weir_stream_id){ 0, 0 };
	weir__retained_anew(&n->retained); /* if the stream was deleted, ids may come again */
	return false;
}

/* Is it another batch than that which this node has sent by this number, and still has? */
static bool is_altered(const struct weir_node *n, const struct weir_entry *e)
{
	const struct weir_batch *b = n->retained.oldest;
	if (e->kind != n->pending.kind)
		return false;
	while (b && b->sequence < e->sequence)
		b = b->later;
	return b && b->sequence == e->sequence &&
	       (b->bytes != e->bytes || memcmp(b->data, e->data, e->bytes) != 0);
}

/* L8. Somebody sends in this node's name: a number that it has not come to, and all others would
 * wait for what it never sends; or another batch, in the place of one that they have not read. An
 * image may say that it has that. */
static bool is_forged(const struct weir_node *n, const struct weir_entry *e)
{
	return e->node == n->id && (e->sequence > n->retained.last || is_altered(n, e));
}

/* L8: does this entry ask for batches of this node's? */
static void send_again(struct weir_node *n, const struct weir_entry *e)
{
	const struct weir_retained *r = &n->retained;
	if (e->kind != WEIR_ENTRY_WANTED || (e->wanted_node != n->id && e->wanted_node != 0))
		return;
	(void)weir__retained_again(&n->retained, e->wanted_sequence);
	/* what it has forgotten is in a generation that was known to be safe; if the server lost
	 * that all the same, somebody would wait for ever; as for one that it never sent, since
	 * somebody spoke in its name */
	uint64_t oldest = r->oldest ? r->oldest->sequence : r->last + 1;
	if (e->wanted_node == n->id &&
	    (e->wanted_sequence < oldest || e->wanted_sequence > r->last))
		n->outdated = true;
}

static int entry(void *arg, struct weir_stream_id id, const struct weir_entry *e)
{
	struct reading *r = arg;
	struct weir_node *n = r->node;
	bool foreign;
	int err = check_counts(r);
	if (err)
		return err;
	if (!r->counted && !count(r))
		return -EAGAIN;
	err = weir__node_take(n, &n->origins, e, NULL, &foreign);
	if (err)
		return err;
	n->foreign += foreign;
	n->outdated |= !foreign && is_forged(n, e);
	send_again(n, e);
	n->applied++;
	/* L5: last */
	return weir__cursor_advance(&n->cursor, id) ?
		0 : weir_fail(-EBADMSG, "set %s: entries of the stream are not in order", n->set);
}

int weir__node_read(struct weir_node *n)
{
	size_t some = 0;
	bool again;
	unsigned calls = 0;
	do {
		struct reading r = { .node = n };
		if (calls++ == WEIR_NODE_CALLS)
			return weir_fail(-EAGAIN, "set %s: the stream has no end", n->set);
		int err = n->server->read(n->server->context, n->epoch, n->cursor.at,
		                          WEIR_NODE_READ, &r.counts, entry, &r, &some);
		if (!err)
			err = check_counts(&r);
		again = r.counted && err == -EAGAIN;
		if (!again && err)
			return err;
		if (!r.counted)
			again = !count(&r);
	} while (again || some == WEIR_NODE_READ);
	if (n->outdated) {
		n->outdated = false;
		(void)weir__node_rename(n); /* nobody waits for one that has gone (L8) */
	}
	/* L3. Here, since it is known that the stream is the one that the manifest means. */
	(void)weir__retained_forget(&n->retained, n->covered);
	return 0;
}

static bool among(const uint64_t *nodes, size_t count, uint64_t node)
{
	while (count) {
		size_t half = count / 2;
		if (nodes[half] == node)
			return true;
		if (nodes[half] < node) {
			nodes += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return false;
}

bool weir__node_heal(struct weir_node *n, const uint64_t *alive, size_t count)
{
	bool lacked = !weir__node_complete(n);
	for (size_t i = 0; i < n->origins.n; i++)
		if (!among(alive, count, n->origins.of[i].node))
			weir__origins_abandon(&n->origins, n->origins.of[i].node);
	bool whole = true;
	for (size_t i = 0; i < count; i++)
		whole = whole && weir__origins_whole(&n->origins, alive[i]);
	/* and it has the newest image, if there is one: for what no batch has */
	if (whole && (!n->seen.generation || n->seen.generation == n->joined.generation))
		n->gap = false;
	bool complete = weir__node_complete(n);
	n->healed |= lacked && complete;
	return complete;
}

void weir__node_forget(struct weir_node *n, const uint64_t *alive, size_t count)
{
	for (size_t i = n->origins.n; i-- > 0;) {
		uint64_t node = n->origins.of[i].node;
		if (node != n->id && !among(alive, count, node))
			weir__origins_forget(&n->origins, node);
	}
}

bool weir__node_complete(const struct weir_node *n)
{
	return n->epoch[0] && !n->gap && !n->origins.waiting;
}
