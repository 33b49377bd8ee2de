/* SPDX-License-Identifier: MIT
 * The heartbeat, the entries sent with it, and what its answer means for the log (U1, U2, U3). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <weir/error.h>
#include "node.h"

static const struct weir_log_id none = { 0, 0 }, most = { UINT64_MAX, UINT64_MAX };

/* splitmix64: jitter need not be hard to guess. */
uint64_t weir__node_random(struct weir_node *n, uint64_t below)
{
	uint64_t x = n->jitter += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return (x ^ (x >> 31)) % below;
}

int weir__node_says(struct weir_node *n, int err)
{
	n->error = err;
	snprintf(n->why, sizeof n->why, "%s", err ? weir_error_detail() : "");
	return err;
}

void weir__node_lack(struct weir_node *n, struct weir_log_id hole)
{
	if (!n->lacks)
		n->lacks_since = n->now;
	n->lacks = true;
	n->called = false;
	n->missing = 0;
	if (weir__log_id_compare(n->hole, hole) < 0)
		n->hole = hole;
}

void weir__node_whole(struct weir_node *n)
{
	n->lacks = n->called = false;
	n->hole = none;
	n->first_call = n->missing = 0;
}

void weir__node_gap(struct weir_node *n, struct weir_log_id after, struct weir_log_id upto)
{
	weir__ring_again(&n->ring, after, upto, false);
	if (weir__log_id_compare(n->gap, upto) < 0)
		n->gap = upto;
}

void weir__node_jump(struct weir_node *n, struct weir_log_id to, uint64_t tag)
{
	weir__node_gap(n, n->cursor, to);
	n->cursor = to;
	n->tag = tag;
}

/* U3. The manifest of the next head says where the cursor goes. */
void weir__node_doubt(struct weir_node *n)
{
	weir__ring_again(&n->ring, none, most, false);
	n->hole = n->answer = n->gap = none;
	n->followed = 0;
	weir__node_lack(n, none);
	n->doubt = n->extra = n->look = true;
	n->at_end = false;
}

void weir__node_suspect(struct weir_node *n, struct weir_log_id to, uint64_t tag)
{
	const bool again = n->suspect_mark == n->head.mark &&
	                   weir__log_id_compare(n->suspect, n->cursor) == 0;
	weir__node_doubt(n);
	n->suspect_mark = n->head.mark;
	n->suspect = n->cursor;
	if (!again)
		return;
	n->doubt = false; /* reading again has led here before: the head is not this log's */
	weir__node_lack(n, (struct weir_log_id){ n->head.last.epoch, n->head.last.n + 1 });
	weir__node_jump(n, to, tag);
}

/* U2: the log continues after base. A node whose cursor is above base does not know which entry
 * stands there: a dump may have been put back unseen. It reads again from the joined position and
 * compares the tags. */
static void go_on(struct weir_node *n, struct weir_log_id base)
{
	weir__ring_again(&n->ring, base, most, false);
	n->followed = 0;
	if (weir__log_id_compare(n->cursor, base) > 0) {
		n->cursor = n->joined.position;
		n->tag = n->joined.tag;
		n->log_bytes = 0;
		n->extra = true;
		n->at_end = false;
	}
	if (weir__log_id_compare(n->answer, base) > 0)
		n->answer = none;
	n->called = false;
}

static bool can_go_on(const struct weir_node *n, struct weir_log_id base)
{
	return weir__log_id_compare(n->cursor, base) <= 0 ||
	       (n->joined.id && weir__log_id_compare(n->joined.position, base) <= 0);
}

/* U4: is this another log, or an older head, than the node read? */
static bool is_other(const struct weir_node *n, const struct weir_head *head)
{
	const int beyond = weir__log_id_compare(n->cursor, head->last);
	const struct weir_batch *own = n->ring.acked.newest;
	return weir__version_compare(head->version, n->head.version) < 0 || beyond > 0 ||
	       (beyond == 0 && n->tag && n->tag != head->tag) ||
	       (own && weir__log_id_compare(own->id, head->last) > 0);
}

/* U3: redis lost the log that this node read, and no other node may have all of its entries. A log
 * of images alone has none.
 * @old: the last head of that log. */
static void lost(struct weir_node *n, const struct weir_head *old)
{
	const bool twice = n->had.mark || (n->began && n->began != n->head.mark);
	const struct weir_log_id id = n->left.epoch ? n->left : n->cursor;
	if (!id.epoch || n->images_only)
		return;
	n->had = (struct weir_seen){ old->mark, twice ? most : id }; /* no image covers both */
	if (!n->lacks && !twice && n->joined.id == old->generation)
		n->seen = n->had;
	n->era = n->era ? n->era : 1; /* so it merges a first generation and keeps its own keys */
}

/* @appended: how many of the log's last entries this touch appended. */
static void meet(struct weir_node *n, const struct weir_head *head, uint64_t appended)
{
	const struct weir_head old = n->head;
	const uint64_t mark = old.mark;
	const struct weir_log_id before = { head->last.epoch, head->last.n - appended };
	const bool back = mark == head->mark && weir__log_id_compare(before, n->head.last) < 0;
	const bool other = mark == head->mark && !n->doubt && is_other(n, head);
	if (head->generation != n->head.generation)
		n->called = n->hopeless = false; /* both are valid for one head */
	n->head = *head;
	if (back) /* in doubt too: this log lacks what was sent since */
		weir__node_doubt(n);
	else if (other)
		weir__node_suspect(n, head->last, head->tag);
	else if (mark && head->prev == mark && !n->lacks && can_go_on(n, head->base))
		go_on(n, head->base);
	else if (head->mark != mark) {
		if (mark && (!head->base.epoch || (head->prev && head->prev != mark)))
			lost(n, &old);
		weir__node_doubt(n);
	}
	n->left = none;
	n->began = 0;
	n->look = false; /* this head is the current one */
}

/* Return: how many batches are among the entries; -EIO, -ENOMEM. */
static int fill(struct weir_node *n, struct weir_touch *touch, struct weir_entry *entries)
{
	int batches = 0;
	if (weir__ring_collect(&n->ring, n->collected + 1))
		return -ENOMEM;
	/* a full server takes a call, but only alone */
	struct weir_batch *b = n->head.full && n->call_due ? NULL : n->ring.waiting.oldest;
	for (; b && batches < WEIR_NODE_SENT; b = b->newer) {
		uint64_t tag = weir__tag_again(b->tag);
		if (!b->replaces && weir__draw(&tag))
			return -EIO;
		entries[batches++] = (struct weir_entry){ .kind = WEIR_ENTRY_BATCH,
			                                  .tag = tag,
			                                  .node = n->id,
			                                  .hashing = n->hashing,
			                                  .hashes = b->hashes,
			                                  .n = b->n };
	}
	touch->n = (size_t)batches;
	if (!n->call_due)
		return batches;
	struct weir_entry *call = &entries[touch->n++];
	*call = (struct weir_entry){ .kind = WEIR_ENTRY_CALL, .node = n->id };
	call->version = n->head.version;
	return weir__draw(&call->tag) ? -EIO : batches;
}

/* No two entries share a tag. After an error redis may have these entries, so a batch that replaces
 * one derives its next tag from this one. A full server took none. */
static void tagged(struct weir_node *n, const struct weir_entry *entries, size_t batches,
                   bool accepted)
{
	struct weir_batch *b = n->ring.waiting.oldest;
	for (size_t i = 0; i < batches; i++, b = b->newer) {
		b->tag = entries[i].tag;
		b->replaces = b->replaces && !accepted;
	}
}

/* @named: the generation of the head that the call named. If the head has another by now, that
 *   answers the call (U8). */
static void sent(struct weir_node *n, size_t batches, bool called, uint64_t named)
{
	struct weir_log_id last = n->head.last;
	if (called) {
		last.n--;
		n->first_call = n->first_call ? n->first_call : n->now;
		n->called = n->head.generation == named;
		n->called_at = n->now;
	}
	weir__ring_acked(&n->ring, batches, last);
}

/* The node opened with this generation. Its age follows from its date and redis's clock; a date in
 * the future counts as no age. */
static uint64_t joined_at(const struct weir_node *n, const struct weir_head *head)
{
	const uint64_t date = n->joined.signed_ms;
	const uint64_t age = date && date < head->now_ms ? head->now_ms - date : 0;
	return age < n->now ? n->now - age : 1;
}

int weir__node_touch(struct weir_node *n, bool give_up)
{
	struct weir_entry entries[WEIR_NODE_SENT + 1];
	struct weir_touch touch = { .node = n->id, .report = n->report, .entries = entries,
		                    .give_up = give_up };
	struct weir_head head;
	/* acquire: what was inserted before the flush is in the ring, or has a token */
	const uint64_t asked = atomic_load_explicit(&n->asked, memory_order_acquire);
	const int batches = fill(n, &touch, entries);
	if (batches < 0)
		return batches;
	const uint64_t named = n->head.generation;
	touch.mark = n->head.mark;
	touch.epoch = n->head.last.epoch;
	n->collected = asked;
	int err = n->store->touch(n->store->context, &touch, &head);
	if (err || !head.full)
		tagged(n, entries, (size_t)batches, !err);
	if (err)
		return err;
	const bool called = touch.n > (size_t)batches;
	n->wrote |= touch.report || (touch.n && !head.full);
	n->report = NULL;
	n->met_at = n->now;
	n->beat_at = n->now + n->beat_ms;
	n->send_at = n->now + n->poll_ms;
	if (n->joined.id && !n->joined_at)
		n->joined_at = joined_at(n, &head);
	meet(n, &head, head.full ? 0 : touch.n);
	if (!head.full)
		sent(n, (size_t)batches, called, named);
	return 0;
}
