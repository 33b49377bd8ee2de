/* SPDX-License-Identifier: MIT
 * A chain of filters, independent of Redis. It grows by links as items come.
 *
 * A blocked chain takes an item as new only if no link has it. The first link has half the error
 * rate that the caller asks for, and each next link half the rate of its predecessor, so that the
 * sum stays below the asked rate. Link i hashes with the chain's seed + i.
 *
 * A cuckoo chain keeps each item as often as it is added, in the newest link that takes it, and can
 * remove it as often. Each link adds at most 0.012 % of error. All links hash with the chain's
 * seed. With expansion 1 the links are alike: items that share a fingerprint and its buckets in one
 * link share them in all, so a removal may take either copy. With a larger expansion they differ:
 * if two links seem to hold an item, one may hold the fingerprint of another item, which a removal
 * would lose. Then chain_take() removes nothing.
 *
 * Replicas rely on this: equal settings and equal changes, in one order, give equal bits. The
 * places of fingerprints in a cuckoo filter depend only on its bits, as long as one thread at a
 * time changes it. Links are therefore copied and loaded bit by bit, not merged. */
#ifndef WEIR_REDIS_CHAIN_H
#define WEIR_REDIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>

enum { CHAIN_LINKS = 64 };
/* Each number that clients may see is below this. */
#define CHAIN_NUMBERS (UINT64_C(1) << 62)

struct chain_memory {
	void *(*get)(size_t bytes); /* NULL: no memory */
	void (*put)(void *memory);
};

struct chain_settings {
	double error;       /* blocked: between 0 and 1; a chain uses at most 0.25;
	                       cuckoo: 0 */
	uint64_t capacity;  /* of the first link: 1 to 2^30 */
	uint64_t expansion; /* factor on the last link's capacity; 0: only one link */
	uint64_t seed;      /* not 0 */
	uint64_t bucket;    /* cuckoo: 1 to 255; else 0. From RedisBloom's layout, as the next:
	                       only clients read it, nothing depends on it */
	uint64_t iterations;  /* cuckoo: 1 to 65535; else 0 */
};

struct chain_link {
	struct weir_filter *filter;
	void *memory;       /* the filter's bits are in here */
	uint64_t capacity, items, bytes;
};

struct chain {
	struct chain_settings settings;
	const struct chain_memory *memory;
	uint64_t deleted;   /* cuckoo: items */
	uint64_t changes;   /* cuckoo: additions and removals since it was made */
	size_t links;
	struct chain_link link[CHAIN_LINKS];
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail().
 * @most: upper bound on the bytes of all links' bits, 0: no limit; -EFBIG: it was reached. */
int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory);
void chain_destroy(struct chain *c);
int chain_copy(struct chain **out, const struct chain *from);

static inline bool chain_is_cuckoo(const struct chain *c)
{
	return c->settings.bucket != 0;
}

/* Add to a blocked chain (blocked.c). Return: 1: it was new, 0: it was there, or a negative errno,
 * and the chain is unchanged: -ENOSPC: a chain of one link is full, -EFBIG, -ENOMEM. */
int chain_add(struct chain *c, const void *item, size_t len, uint64_t most);
/* Append an empty link; remove the last link. */
int chain_grow(struct chain *c, uint64_t most);
void chain_shrink(struct chain *c);
/* A link's bits. Any bits make a valid filter, of either kind. */
unsigned char *chain_bits(const struct chain_link *l);
/* Count the items in @bytes bytes of a cuckoo link's bits, a multiple of 8. */
uint64_t chain_fingerprints(const void *bits, uint64_t bytes);
bool chain_has(const struct chain *c, const void *item, size_t len);

uint64_t chain_capacity(const struct chain *c);
uint64_t chain_items(const struct chain *c);
uint64_t chain_bytes(const struct chain *c);

/* Add to a cuckoo chain (cuckoo.c). A link takes as many items as its capacity, or fewer if it
 * refuses one. Return: 1: it was added, 0: @absent, and it was there, or as chain_add(). */
int chain_put(struct chain *c, const void *item, size_t len, bool absent, uint64_t most);
/* Remove one copy, from the newest link that holds the item. Return: was it removed? */
bool chain_take(struct chain *c, const void *item, size_t len);
uint64_t chain_count(const struct chain *c, const void *item, size_t len);

/* To load a chain, begin one without links, then append each image in turn. Both check everything
 * against the settings: chain_add() could have made each chain that they accept. */
int chain_begin(struct chain **out, const struct chain_settings *settings,
                const struct chain_memory *memory);
int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes);

#endif
