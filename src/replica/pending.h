/* SPDX-License-Identifier: MIT
 * What the application has inserted and no batch has yet (L2 in rules.h): put by any thread, taken
 * by the one that owns the connection. Several lists, so that threads seldom meet. They hold hashes
 * or keys as they stand in an entry (entry.h). */
#ifndef WEIR_REPLICA_PENDING_H
#define WEIR_REPLICA_PENDING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "format/entry.h"

enum { WEIR_PENDING_LISTS = 16 };

struct weir_pending_list {
	_Alignas(64) pthread_mutex_t lock;
	unsigned char *data;
	size_t bytes, room;
};

struct weir_pending {
	enum weir_entry_kind kind; /* hashes or keys */
	size_t limit;              /* bytes in each list */
	struct weir_pending_list lists[WEIR_PENDING_LISTS];
};

void weir__pending_make(struct weir_pending *p, enum weir_entry_kind kind, size_t limit);
void weir__pending_free(struct weir_pending *p);
/* One of them, as the kind is. Return: 0; -ENOBUFS there are as many as may be, -ENOMEM: then it is
 * not there. */
int weir__pending_put_hash(struct weir_pending *p, uint64_t hash);
int weir__pending_put_key(struct weir_pending *p, const void *key, uint32_t len);

/* Return: how many bytes are there. */
size_t weir__pending_bytes(struct weir_pending *p);

/* Called with what was put. Return: 0, or a negative errno: it stays where it is. */
typedef int weir_pending_fn(void *context, const unsigned char *data, size_t bytes);
/* Give all that was put before the call to @take, list by list, each in pieces of at most @most
 * bytes, or of one key. While it runs nobody puts into that list. Return: 0, or what @take
 * answered. */
int weir__pending_take(struct weir_pending *p, size_t most, weir_pending_fn *take, void *context);
/* Likewise, and all of it stays where it is. */
int weir__pending_show(struct weir_pending *p, size_t most, weir_pending_fn *show, void *context);

#endif
