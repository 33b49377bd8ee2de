/* SPDX-License-Identifier: MIT
 * The ring has the hashes that this node inserted and that no generation covers ([RING-FIRST],
 * [RING-RELEASE]). Any thread adds hashes; all other calls belong to the node's thread. A hash is
 * first in a thread's list, then in a batch, which becomes one entry of the log. The node frees a
 * batch when a generation's position covers its entry. One budget limits lists and batches
 * together. */
#ifndef WEIR_REPLICA_RING_H
#define WEIR_REPLICA_RING_H

#include <pthread.h>
#include "../format/entry.h"

enum {
	WEIR_RING_LISTS = 64,      /* 63 threads have own lists; all others share list 0 */
	WEIR_RING_WAKE = 64 << 10, /* pending bytes that wake the node's thread */
};

struct weir_batch {
	struct weir_batch *older, *newer;
	struct weir_log_id id; /* id of its log entry; valid after the acknowledgment */
	uint64_t tag,          /* tag of its log entry */
	         before;       /* tag of the previous log entry; 0: unknown */
	uint64_t stamp;        /* flushes with this number or a higher number wait for the batch */
	bool replaces;         /* the tag of its next log entry is weir__tag_next(tag) */
	size_t n, capacity;
	unsigned char hashes[]; /* little-endian, as in an entry */
};

struct weir_batches {
	struct weir_batch *oldest, *newest;
};

/* One thread fills a chunk. The node's thread reads the hashes, and frees the chunk after a newer
 * chunk exists. */
struct weir_chunk {
	struct weir_chunk *_Atomic newer;
	_Atomic size_t n;
	size_t capacity;
	uint64_t hashes[]; /* little-endian */
};

struct weir_ring_list {
	_Alignas(64) struct weir_chunk *newest; /* the chunk that the inserting thread fills */
	struct weir_chunk *_Atomic oldest;      /* the chunk that the node reads; NULL: none */
	size_t read_pos;                        /* read position in oldest */
};

struct weir_ring {
	uint64_t limit;              /* largest size in bytes of lists and batches together */
	_Atomic uint64_t used;       /* bytes reserved, including free capacity of lists */
	_Atomic uint64_t full;       /* bytes of full chunks */
	void (*wake)(void *context); /* wakes the node's thread; NULL: no-op */
	void *context;
	pthread_mutex_t shared;      /* guards lists[0], which threads share */
	struct weir_batches waiting; /* batches not sent, or sent but not acknowledged */
	struct weir_batch *lowest;   /* the waiting batch with the lowest stamp; NULL: unknown */
	struct weir_batch *lowest_upto; /* the last batch that was compared for `lowest` */
	struct weir_batches acked;   /* acknowledged batches in the order of their ids */
	struct weir_batch *last_found; /* the next search in acked starts at this batch; NULL: at
	                                  the newest batch */
	struct weir_ring_list lists[WEIR_RING_LISTS];
};

void weir__ring_make(struct weir_ring *r, uint64_t limit, void (*wake)(void *), void *context);
void weir__ring_free(struct weir_ring *r);
/* Any thread may call this. Link the library that contains this function with -z nodelete, since a
 * thread that exits later runs code of that library.
 * Return: the number of hashes added, from the first one on; the ring had no room for the rest. */
size_t weir__ring_put(struct weir_ring *r, const uint64_t *hashes, size_t n);
/* Return: true if the hash was added. */
bool weir__ring_put_one(struct weir_ring *r, uint64_t hash);

/* The functions below belong to the node's thread. Return: true if a list has hashes. */
bool weir__ring_has_hashes(const struct weir_ring *r);
/* Return: the bytes in use, without free capacity of lists. */
uint64_t weir__ring_bytes(const struct weir_ring *r);
/* Move all hashes of the lists into waiting batches. Return: 0; -ENOMEM: the rest stays in the
 * lists. */
int weir__ring_collect(struct weir_ring *r, uint64_t stamp);
/* The log has the first @n waiting batches as entries. @last: the id of the last entry. */
void weir__ring_acked(struct weir_ring *r, size_t n, struct weir_log_id last);
/* Queue the acknowledged batches with an id above @after and up to @upto again.
 * @replace: derive the next tag of each batch from its present tag, so that readers recognize the
 *   replacement. */
void weir__ring_requeue(struct weir_ring *r, struct weir_log_id after, struct weir_log_id upto,
                        bool replace);
/* Free the batches with an id up to @position. Return: true if any batch was freed. */
bool weir__ring_release(struct weir_ring *r, struct weir_log_id position);
/* Return: the batch of entry @id, or NULL. Cost: linear in the batches between @id and the id of
 *   the last call. */
struct weir_batch *weir__ring_find(struct weir_ring *r, struct weir_log_id id);
/* Return: the lowest stamp of the waiting batches; UINT64_MAX: no batch waits. */
uint64_t weir__ring_lowest_stamp(struct weir_ring *r);

#endif
