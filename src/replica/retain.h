/* SPDX-License-Identifier: MIT
 * The batches of a node that the set could still lose: what is to be sent, what is under way, and
 * what is confirmed but not yet in an image that is safe (L3, L4 in rules.h).
 *
 * By the thread that owns the connection alone. */
#ifndef WEIR_REPLICA_RETAIN_H
#define WEIR_REPLICA_RETAIN_H

#include "format/cursor.h"

struct weir_batch {
	struct weir_batch *later;
	uint64_t sequence; /* of this node's batches, from 1 on */
	bool confirmed;
	struct weir_stream_id id; /* if confirmed */
	size_t bytes;
	unsigned char data[];
};

struct weir_retained {
	struct weir_batch *oldest, *newest;
	struct weir_batch *next; /* the oldest that is not confirmed; NULL: all are */
	bool under_way;          /* next was sent */
	struct weir_stream_id highest; /* of those that were confirmed since all were sent anew */
	uint64_t last;           /* sequence of the newest, also after it was forgotten */
	uint64_t bytes;          /* of memory, of all together */
	uint64_t limit;          /* of those */
};

void weir__retained_make(struct weir_retained *r, uint64_t limit);
void weir__retained_free(struct weir_retained *r);

/* Keep a batch, to be sent after those before it. @data: is copied.
 * Return: 0; -ENOBUFS the limit would be passed, -ENOMEM; then nothing is kept, and no sequence
 *   number is used up. */
int weir__retained_add(struct weir_retained *r, const void *data, size_t bytes);

/* L4. Return: the batch to send now; NULL: one is under way, or all are confirmed. It is under way
 * then. */
const struct weir_batch *weir__retained_send(struct weir_retained *r);
/* The batch under way has this id. Return: false: none is. */
bool weir__retained_confirm(struct weir_retained *r, struct weir_stream_id id);
/* Nobody knows whether the one under way arrived: it is sent again. */
void weir__retained_unsure(struct weir_retained *r);
/* L3. Another epoch: whatever was confirmed is not any more. All are sent again, in their order. */
void weir__retained_anew(struct weir_retained *r);
/* The stream has given no id beyond @last: if a batch has one, the server said what is not so, or
 * it has gone, and nothing would ever cover that id. Return: whether all are sent again. */
bool weir__retained_beyond(struct weir_retained *r, struct weir_stream_id last);
/* The node has taken another name: the oldest is its first, and all are sent again. */
void weir__retained_renumber(struct weir_retained *r);
/* Somebody lacks them from @sequence on (L8): they are sent again. What was forgotten is covered by
 * a manifest that is safe, so who lacks it can join that. Return: how many will be. */
size_t weir__retained_again(struct weir_retained *r, uint64_t sequence);
/* L3. A manifest covers the stream up to @position, and of this node's batches those up to
 * @sequence: whatever is in the stream up to there and not among those is sent again. Return: how
 * many. */
size_t weir__retained_uncovered(struct weir_retained *r, struct weir_stream_id position,
                                uint64_t sequence);
/* L3. Forget those that are confirmed with an id up to @covered, which is the position of the
 * *previous* manifest of the epoch. Return: how many. */
size_t weir__retained_forget(struct weir_retained *r, struct weir_stream_id covered);

#endif
