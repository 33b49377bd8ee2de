/* SPDX-License-Identifier: MIT
 * The ring: hashes that this node inserted and no generation covers (U6, U7). Any thread puts some;
 * all else is for the node's thread. They wait in lists, become batches, each one entry of the log,
 * and go when a generation's position has reached that entry. One budget is for all of it. */
#ifndef WEIR_REPLICA_RING_H
#define WEIR_REPLICA_RING_H

#include <pthread.h>
#include "../format/entry.h"

enum {
	WEIR_RING_LISTS = 64,      /* a thread has its own; all beyond 63 threads share one */
	WEIR_RING_WAKE = 64 << 10, /* bytes that wait: worth sending at once */
};

struct weir_batch {
	struct weir_batch *older, *newer;
	struct weir_log_id id; /* of its entry, once it is acknowledged */
	uint64_t tag, before;  /* of its entry; of the entry before it, 0: not known */
	uint64_t stamp;        /* a flush of this number or above waits for it */
	bool replaces;         /* to be sent again as weir__tag_again() */
	size_t n, room;
	unsigned char hashes[]; /* as in an entry */
};

struct weir_batches {
	struct weir_batch *oldest, *newest;
};

/* One thread fills it. The node's thread takes the hashes, and frees it once there is a newer. */
struct weir_chunk {
	struct weir_chunk *_Atomic newer;
	_Atomic size_t n;
	size_t room;
	uint64_t hashes[]; /* as in an entry */
};

struct weir_ring_list {
	_Alignas(64) struct weir_chunk *newest; /* for the thread that fills it */
	struct weir_chunk *_Atomic oldest;      /* for the node's thread, once there is one; */
	size_t taken;                           /* of that */
};

struct weir_ring {
	uint64_t limit;              /* bytes of all */
	_Atomic uint64_t used;       /* of those; free room of lists counts */
	_Atomic uint64_t full;       /* bytes of chunks that are full */
	void (*wake)(void *context); /* the node's thread, from any thread; or NULL */
	void *context;
	pthread_mutex_t shared;      /* of the first list */
	struct weir_batches waiting; /* to be sent, or sent and not acknowledged */
	struct weir_batch *lowest;   /* of waiting up to looked_at, the last with the lowest */
	struct weir_batch *looked_at; /* stamp; NULL: not known */
	struct weir_batches acked;   /* in the order of their ids */
	struct weir_batch *found;    /* of acked, where the last search ended; NULL: none did */
	struct weir_ring_list lists[WEIR_RING_LISTS];
};

void weir__ring_make(struct weir_ring *r, uint64_t limit, void (*wake)(void *), void *context);
void weir__ring_free(struct weir_ring *r);
/* Any thread. The library that has this is linked with -z nodelete: threads end after it.
 * Return: how many had room; those behind them are not in the ring. */
size_t weir__ring_put(struct weir_ring *r, const uint64_t *hashes, size_t n);
/* Return: whether it had room. */
bool weir__ring_put_one(struct weir_ring *r, uint64_t hash);

/* The rest is for the node's thread alone. Are there hashes in lists? */
bool weir__ring_has_fresh(const struct weir_ring *r);
/* What is in the ring, without the free room of lists. */
uint64_t weir__ring_bytes(const struct weir_ring *r);
/* All that is in lists becomes batches that wait. Return: 0; -ENOMEM the rest stays there. */
int weir__ring_collect(struct weir_ring *r, uint64_t stamp);
/* The first @n that wait are entries now; the last one is @last. */
void weir__ring_acked(struct weir_ring *r, size_t n, struct weir_log_id last);
/* Those with an id above @after and up to @upto wait again.
 * @replace: their tags will tell which entries they were. */
void weir__ring_again(struct weir_ring *r, struct weir_log_id after, struct weir_log_id upto,
                      bool replace);
/* Let go of those with an id up to @position. Return: whether there was one. */
bool weir__ring_release(struct weir_ring *r, struct weir_log_id position);
/* The batch that is this entry, or NULL. Cost: that of the batches between it and the one that was
 * asked for before. */
struct weir_batch *weir__ring_find(struct weir_ring *r, struct weir_log_id id);
/* The lowest stamp of those that wait; UINT64_MAX: none does. */
uint64_t weir__ring_stamp(struct weir_ring *r);

#endif
