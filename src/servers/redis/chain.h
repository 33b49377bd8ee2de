/* SPDX-License-Identifier: MIT
 * A chain of filters, independent of Redis. Each filter is a link. Links are appended as items
 * come.
 *
 * A blocked chain adds an item only if it is in no link. The first link has half the error rate
 * that the caller asks for, and each later link has half the rate of its predecessor, so the sum
 * stays below that error rate. A chain with expansion 0 has one link, with the whole rate. Link i
 * hashes with the chain's seed + i.
 *
 * A cuckoo chain stores one copy of an item for each time it is added, in the newest link that
 * accepts it, and can remove each copy. Each link adds at most 0.012 % of error. All links hash
 * with the chain's seed. With expansion 1 all links have equal parameters: items with the same
 * fingerprint and buckets in one link have equal fingerprints and buckets in all links, so a
 * removal may take either copy. With a larger expansion the links differ: if two links match an
 * item, one may hold the fingerprint of another item, which a removal would lose. Then
 * chain_remove() removes nothing.
 *
 * Replicas rely on determinism: equal settings and equal changes in one order give equal bits. The
 * slots of fingerprints in a cuckoo filter depend only on its bits, as long as one thread at a time
 * changes it. So links are copied and loaded bit by bit, and are not merged. */
#ifndef WEIR_REDIS_CHAIN_H
#define WEIR_REDIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>

enum { CHAIN_LINKS = 64 };
/* Every number that clients may read is below this limit. */
#define CHAIN_NUMBERS (UINT64_C(1) << 62)

struct chain_memory {
	void *(*get)(size_t bytes); /* returns NULL if memory is short */
	void (*put)(void *memory);
};

struct chain_settings {
	double error;       /* blocked: between 0 and 1, limited to 0.25; cuckoo: 0 */
	uint64_t capacity;  /* capacity of the first link: 1 to 2^30 */
	uint64_t expansion; /* factor from one link's capacity to the next; 0: only one link */
	uint64_t seed;      /* not 0 */
	uint64_t bucket;    /* cuckoo: 1 to 255; blocked: 0. Clients read bucket and iterations, as
	                       in RedisBloom; both have no effect */
	uint64_t iterations;  /* cuckoo: 1 to 65535; blocked: 0 */
};

struct chain_link {
	struct weir_filter *filter;
	void *memory;       /* contains the filter's bits */
	uint64_t capacity, items, bytes;
};

struct chain {
	struct chain_settings settings;
	const struct chain_memory *memory;
	uint64_t deleted;   /* cuckoo: deleted items */
	uint64_t changes;   /* cuckoo: additions and removals */
	size_t links;
	struct chain_link link[CHAIN_LINKS];
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail(). -EFBIG: all
 * links together would have more than @most bytes of bits. @most 0: no limit. */
int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory);
void chain_destroy(struct chain *c);
int chain_copy(struct chain **out, const struct chain *from);

static inline bool chain_is_cuckoo(const struct chain *c)
{
	return c->settings.bucket != 0;
}

/* Add an item to a blocked chain (blocked.c). Return: 1 a new item; 0 a duplicate; or a negative
 * errno, and the chain is unchanged: -ENOSPC a chain of one link is full, -EFBIG, -ENOMEM. */
int chain_add(struct chain *c, const void *item, size_t len, uint64_t most);
/* chain_grow() appends an empty link. chain_shrink() removes the last link. */
int chain_grow(struct chain *c, uint64_t most);
void chain_shrink(struct chain *c);
/* The bits of a link. Any bits make a valid filter of either kind. */
unsigned char *chain_bits(const struct chain_link *l);
/* Count the items in the bits of a cuckoo link. @bytes: a multiple of 8. */
uint64_t chain_fingerprints(const void *bits, uint64_t bytes);
bool chain_has(const struct chain *c, const void *item, size_t len);

uint64_t chain_capacity(const struct chain *c);
uint64_t chain_items(const struct chain *c);
uint64_t chain_bytes(const struct chain *c);

/* Add an item to a cuckoo chain (cuckoo.c). A link takes as many items as its capacity, or fewer if
 * its filter refuses an item. Return: 1 added; 0 if @absent is set and the chain already has the
 * item; or as chain_add(). */
int chain_insert(struct chain *c, const void *item, size_t len, bool absent, uint64_t most);
/* Remove one copy of an item from the newest link that contains it. Return: true if removed. */
bool chain_remove(struct chain *c, const void *item, size_t len);
uint64_t chain_count(const struct chain *c, const void *item, size_t len);

/* To load a chain, begin a chain without links, then append each image in turn. The input is
 * untrusted: chain_begin() checks the settings, and chain_append() checks that the link's
 * parameters, size and number of items fit the settings. The bits need no check, since any bits
 * make a valid filter. */
int chain_begin(struct chain **out, const struct chain_settings *settings,
                const struct chain_memory *memory);
int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes);

#endif
