/* SPDX-License-Identifier: MIT
 * The ring holds the hashes that this node inserted and no generation covers (U6, U7). Any thread
 * puts hashes; only the node's thread does the rest. A hash waits in a list, then in a batch, which
 * becomes one entry of the log. The node frees the batch when a generation's position has reached
 * that entry. One budget limits all of it. */
#ifndef WEIR_REPLICA_RING_H
#define WEIR_REPLICA_RING_H

#include <pthread.h>
#include "../format/entry.h"

enum {
	WEIR_RING_LISTS = 64,      /* 63 threads have one each; all others share one */
	WEIR_RING_WAKE = 64 << 10, /* waiting bytes that are worth sending at once */
};

struct weir_batch {
	struct weir_batch *older, *newer;
	struct weir_log_id id; /* of its entry, once it is acknowledged */
	uint64_t tag, before;  /* of its entry; of the entry before it, 0: not known */
	uint64_t stamp;        /* a flush of this number or above waits for it */
	bool replaces;         /* its next entry has the tag weir__tag_again(tag) */
	size_t n, room;
	unsigned char hashes[]; /* as in an entry */
};

struct weir_batches {
	struct weir_batch *oldest, *newest;
};

/* One thread fills it. The node's thread takes the hashes, and frees the chunk once there is a
 * newer one. */
struct weir_chunk {
	struct weir_chunk *_Atomic newer;
	_Atomic size_t n;
	size_t room;
	uint64_t hashes[]; /* as in an entry */
};

struct weir_ring_list {
	_Alignas(64) struct weir_chunk *newest; /* for the thread that fills it */
	struct weir_chunk *_Atomic oldest;      /* for the node's thread; NULL: no chunk yet */
	size_t taken;                           /* hashes taken from oldest */
};

struct weir_ring {
	uint64_t limit;              /* bytes that the ring may use */
	_Atomic uint64_t used;       /* bytes in use; free room of lists counts */
	_Atomic uint64_t full;       /* bytes of chunks that are full */
	void (*wake)(void *context); /* wakes the node's thread, from any thread; or NULL */
	void *context;
	pthread_mutex_t shared;      /* guards the first list */
	struct weir_batches waiting; /* to be sent, or sent and not acknowledged */
	struct weir_batch *lowest;   /* the last batch with the lowest stamp, of waiting */
	struct weir_batch *looked_at; /* up to looked_at; NULL: not known */
	struct weir_batches acked;   /* in the order of their ids */
	struct weir_batch *found;    /* where the last search in acked ended; NULL: none yet */
	struct weir_ring_list lists[WEIR_RING_LISTS];
};

void weir__ring_make(struct weir_ring *r, uint64_t limit, void (*wake)(void *), void *context);
void weir__ring_free(struct weir_ring *r);
/* Any thread. The library that has this is linked with -z nodelete: a thread that ends later calls
 * back into it.
 * Return: how many hashes, from the first on, had room; the rest are not in the ring. */
size_t weir__ring_put(struct weir_ring *r, const uint64_t *hashes, size_t n);
/* Return: whether it had room. */
bool weir__ring_put_one(struct weir_ring *r, uint64_t hash);

/* The rest is for the node's thread alone. Are there hashes in lists? */
bool weir__ring_has_fresh(const struct weir_ring *r);
/* Return: the bytes in use, without the free room of lists. */
uint64_t weir__ring_bytes(const struct weir_ring *r);
/* Move all hashes of the lists into waiting batches. Return: 0; -ENOMEM the rest stays in the
 * lists. */
int weir__ring_collect(struct weir_ring *r, uint64_t stamp);
/* The first @n waiting batches are entries now; the last one's id is @last. */
void weir__ring_acked(struct weir_ring *r, size_t n, struct weir_log_id last);
/* Queue the batches with an id above @after and up to @upto again.
 * @replace: derive their next tags from the present ones, so readers know what they replace. */
void weir__ring_again(struct weir_ring *r, struct weir_log_id after, struct weir_log_id upto,
                      bool replace);
/* Free the batches with an id up to @position. Return: whether there was one. */
bool weir__ring_release(struct weir_ring *r, struct weir_log_id position);
/* Return: the batch of this entry, or NULL. Cost: grows with the batches between this entry and the
 *   one of the last call. */
struct weir_batch *weir__ring_find(struct weir_ring *r, struct weir_log_id id);
/* Return: the lowest stamp of the waiting batches; UINT64_MAX: none waits. */
uint64_t weir__ring_stamp(struct weir_ring *r);

#endif
