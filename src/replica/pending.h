/* SPDX-License-Identifier: MIT
 * What the application has inserted and no batch has yet (L2 in rules.h): put by any thread, taken
 * by the one that owns the connection. Several lists, so that threads seldom meet. */
#ifndef WEIR_REPLICA_PENDING_H
#define WEIR_REPLICA_PENDING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { WEIR_PENDING_LISTS = 16 };

struct weir_pending_list {
	_Alignas(64) pthread_mutex_t lock;
	uint64_t *hashes;
	size_t n, room;
};

struct weir_pending {
	size_t limit; /* hashes in each list */
	struct weir_pending_list lists[WEIR_PENDING_LISTS];
};

void weir__pending_make(struct weir_pending *p, size_t limit);
void weir__pending_free(struct weir_pending *p);
/* Return: 0; -ENOBUFS there are as many as may be, -ENOMEM: then it is not there. */
int weir__pending_put(struct weir_pending *p, uint64_t hash);

/* Return: how many are there. */
size_t weir__pending_count(struct weir_pending *p);

/* Called with hashes that were put. Return: 0, or a negative errno: they stay where they are. */
typedef int weir_pending_fn(void *context, const uint64_t *hashes, size_t n);
/* Give all that was put before the call to @take, list by list, each in pieces of at most @most.
 * While it runs nobody puts into that list. Return: 0, or what @take answered. */
int weir__pending_take(struct weir_pending *p, size_t most, weir_pending_fn *take, void *context);

#endif
