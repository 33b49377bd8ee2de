/* SPDX-License-Identifier: MIT
 * The heartbeat, the entries sent with it, and what its answer says about the log ([NEW-EPOCH],
 * [OTHER-MARK], [DOUBT]). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <weir/error.h>
#include "node.h"

static const struct weir_log_id none = { 0, 0 }, most = { UINT64_MAX, UINT64_MAX };

/* splitmix64; its numbers are predictable, which does no harm for jitter. */
uint64_t weir__node_random(struct weir_node *n, uint64_t below)
{
	uint64_t x = n->jitter += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return (x ^ (x >> 31)) % below;
}

int weir__node_note_error(struct weir_node *n, int err)
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

void weir__node_lack_nothing(struct weir_node *n)
{
	n->lacks = n->called = false;
	n->hole = none;
	n->first_call = n->missing = 0;
}

void weir__node_gap(struct weir_node *n, struct weir_log_id after, struct weir_log_id upto)
{
	weir__ring_requeue(&n->ring, after, upto, false);
	if (weir__log_id_compare(n->gap, upto) < 0)
		n->gap = upto;
}

void weir__node_jump(struct weir_node *n, struct weir_log_id to, uint64_t tag)
{
	weir__node_gap(n, n->cursor, to);
	n->cursor = to;
	n->tag = tag;
}

/* Enter doubt ([DOUBT]): the manifest of the next head sets the cursor. */
void weir__node_doubt(struct weir_node *n)
{
	weir__ring_requeue(&n->ring, none, most, false);
	n->hole = n->open_call = n->gap = none;
	n->followed = 0;
	weir__node_lack(n, none);
	n->doubt = n->impure = n->touch_now = true;
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
	n->doubt = false; /* doubt did not help: the head does not belong to this log */
	weir__node_lack(n, (struct weir_log_id){ n->head.last.epoch, n->head.last.n + 1 });
	weir__node_jump(n, to, tag);
}

/* The log continues after base ([OTHER-MARK]). If the cursor is above base, the entry at the cursor
 * may have been replaced, since a dump may have been restored unseen. So the node reads again from
 * the joined position and compares the tags. */
static void continue_log(struct weir_node *n, struct weir_log_id base)
{
	weir__ring_requeue(&n->ring, base, most, false);
	n->followed = 0;
	if (weir__log_id_compare(n->cursor, base) > 0) {
		n->cursor = n->joined.position;
		n->tag = n->joined.tag;
		n->log_bytes = 0;
		n->impure = true;
		n->at_end = false;
	}
	if (weir__log_id_compare(n->open_call, base) > 0)
		n->open_call = none;
	n->called = false;
}

static bool can_continue_log(const struct weir_node *n, struct weir_log_id base)
{
	return weir__log_id_compare(n->cursor, base) <= 0 ||
	       (n->joined.id && weir__log_id_compare(n->joined.position, base) <= 0);
}

/* Return: true if @head is older than the head that the node knew, or belongs to another log than
 *   the node's cursor ([LOG-READING]). */
static bool is_other_log(const struct weir_node *n, const struct weir_head *head)
{
	const int beyond = weir__log_id_compare(n->cursor, head->last);
	const struct weir_batch *own = n->ring.acked.newest;
	return weir__version_compare(head->version, n->head.version) < 0 || beyond > 0 ||
	       (beyond == 0 && n->tag && n->tag != head->tag) ||
	       (own && weir__log_id_compare(own->id, head->last) > 0);
}

/* Redis lost the log that this node read, and perhaps no other node has all of its entries
 * ([DOUBT]). Do nothing for a set that is published as images only, since its log has no keys.
 * @old: the last head of the lost log. */
static void note_lost_log(struct weir_node *n, const struct weir_head *old)
{
	const bool twice = n->lost_cursor.mark ||
	                   (n->new_log_mark && n->new_log_mark != n->head.mark);
	const struct weir_log_id id = n->crossing.epoch ? n->crossing : n->cursor;
	if (!id.epoch || n->images_only)
		return;
	/* If two logs are lost, no image covers both logs. So use an id that no image reaches. */
	n->lost_cursor = (struct weir_seen){ old->mark, twice ? most : id };
	if (!n->lacks && !twice && n->joined.id == old->generation)
		n->seen = n->lost_cursor;
	n->era = n->era ? n->era : 1; /* so that the node merges, not swaps, the next generation */
}

/* @appended: the number of entries that this touch appended to the log. */
static void apply_head(struct weir_node *n, const struct weir_head *head, uint64_t appended)
{
	const struct weir_head old = n->head;
	const uint64_t mark = old.mark;
	const struct weir_log_id before = { head->last.epoch, head->last.n - appended };
	const bool back = mark == head->mark && weir__log_id_compare(before, n->head.last) < 0;
	const bool other = mark == head->mark && !n->doubt && is_other_log(n, head);
	if (head->generation != n->head.generation)
		n->called = n->no_retry = false; /* both flags concern only the old head */
	n->head = *head;
	if (back) /* the log lost entries, perhaps some that were sent in doubt: send all again */
		weir__node_doubt(n);
	else if (other)
		weir__node_suspect(n, head->last, head->tag);
	else if (mark && head->prev == mark && !n->lacks && can_continue_log(n, head->base))
		continue_log(n, head->base);
	else if (head->mark != mark) {
		if (mark && (!head->base.epoch || (head->prev && head->prev != mark)))
			note_lost_log(n, &old);
		weir__node_doubt(n);
	}
	n->crossing = none;
	n->new_log_mark = 0;
	n->touch_now = false; /* this answer has the current head */
}

/* Return: the number of batches among the entries; -EIO, -ENOMEM. */
static int fill(struct weir_node *n, struct weir_touch *touch, struct weir_entry *entries)
{
	int batches = 0;
	if (weir__ring_collect(&n->ring, n->flushes_collected + 1))
		return -ENOMEM;
	/* A full server accepts a call only without batches. */
	struct weir_batch *b = n->head.full && n->call_due ? NULL : n->ring.waiting.oldest;
	for (; b && batches < WEIR_NODE_BATCHES; b = b->newer) {
		uint64_t tag = weir__tag_next(b->tag);
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

/* Note the tags that were sent, because no two entries may share a tag. After an error redis may or
 * may not have the entries. Therefore a batch that replaces an older entry stays a replacement: its
 * next tag will derive from the tag that was sent now. The caller skips this function if a full
 * server appended no entry. */
static void store_tags(struct weir_node *n, const struct weir_entry *entries, size_t batches,
                       bool accepted)
{
	struct weir_batch *b = n->ring.waiting.oldest;
	for (size_t i = 0; i < batches; i++, b = b->newer) {
		b->tag = entries[i].tag;
		b->replaces = b->replaces && !accepted;
	}
}

/* @named: the generation of the head that the call named. If the head now has another generation,
 *   that generation answers the call ([CALL-FOR-KEYS]). */
static void note_sent(struct weir_node *n, size_t batches, bool called, uint64_t named)
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

/* Compute when the generation that the node opened with was published, as a time of the node's
 * clock. The generation's age follows from its date and redis's clock. If the date is in the
 * future, the age is 0. */
static uint64_t joined_at(const struct weir_node *n, const struct weir_head *head)
{
	const uint64_t date = n->joined.signed_ms;
	const uint64_t age = date && date < head->now_ms ? head->now_ms - date : 0;
	return age < n->now ? n->now - age : 1;
}

int weir__node_touch(struct weir_node *n, bool give_up)
{
	struct weir_entry entries[WEIR_NODE_BATCHES + 1];
	struct weir_touch touch = { .node = n->id, .report = n->report, .entries = entries,
		                    .give_up = give_up };
	struct weir_head head;
	/* acquire: inserts before the flush are in the ring, or have a token */
	const uint64_t asked = atomic_load_explicit(&n->flushes_asked, memory_order_acquire);
	const int batches = fill(n, &touch, entries);
	if (batches < 0)
		return batches;
	const uint64_t named = n->head.generation;
	touch.mark = n->head.mark;
	touch.epoch = n->head.last.epoch;
	n->flushes_collected = asked;
	int err = n->store->touch(n->store->context, &touch, &head);
	if (err || !head.full)
		store_tags(n, entries, (size_t)batches, !err);
	if (err)
		return err;
	const bool called = touch.n > (size_t)batches;
	n->wrote |= touch.report || (touch.n && !head.full);
	n->report = NULL;
	n->answered_at = n->now;
	n->beat_at = n->now + n->beat_ms;
	n->send_at = n->now + n->poll_ms;
	if (n->joined.id && !n->joined_at)
		n->joined_at = joined_at(n, &head);
	apply_head(n, &head, head.full ? 0 : touch.n);
	if (!head.full)
		note_sent(n, (size_t)batches, called, named);
	return 0;
}
