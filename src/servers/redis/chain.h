/* SPDX-License-Identifier: MIT
 * A chain of filters, which grows by links as items come. It knows nothing of Redis.
 *
 * Of blocked filters: an item is new only if no link has it. The first link has half the error rate
 * that was asked, each next one half of its predecessor's, so that the sum stays below what was
 * asked. Link i hashes with the chain's seed + i.
 *
 * Of cuckoo filters: each item is kept as often as it is added, in the newest link that takes it,
 * and can be removed as often. Each link adds 0.012 % of error at most. All links hash with the
 * chain's seed. So with expansion 1 they are alike: items that share a fingerprint and its buckets
 * in one link do so in all, and it does not matter from which of them either is removed. With a
 * greater expansion they are not: of two links that seem to have an item, one may have another's
 * fingerprint, whose removal would lose that item. Then nothing is removed.
 *
 * Equal settings and equal changes, in one order, give equal bits: that is what replicas rely on.
 * Where a cuckoo filter puts and moves its fingerprints depends on nothing but its bits, as long as
 * one thread at a time changes it; so links are copied and loaded bit by bit, not by merging. */
#ifndef WEIR_REDIS_CHAIN_H
#define WEIR_REDIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>

enum { CHAIN_LINKS = 64 };
/* What a number that clients may see is below. */
#define CHAIN_NUMBERS (UINT64_C(1) << 62)

struct chain_memory {
	void *(*get)(size_t bytes); /* NULL: there is none */
	void (*put)(void *memory);
};

struct chain_settings {
	double error;       /* blocked: between 0 and 1; of more than 0.25 a chain has 0.25;
	                       cuckoo: 0 */
	uint64_t capacity;  /* of the first link: 1 to 2^30 */
	uint64_t expansion; /* times the last link's capacity; 0: one link for ever */
	uint64_t seed;      /* not 0 */
	uint64_t bucket;    /* cuckoo: 1 to 255; else 0. RedisBloom's layout: it is kept for who
	                       asks, as the next is, and nothing depends on it. */
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

/* All return 0 or a negative errno, with weir_error_detail(), where they return an int.
 * @most: bytes of bits that all links may have, 0: any number; -EFBIG says that it was met. */
int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory);
void chain_destroy(struct chain *c);
int chain_copy(struct chain **out, const struct chain *from);

static inline bool chain_is_cuckoo(const struct chain *c)
{
	return c->settings.bucket != 0;
}

/* Of a blocked chain (blocked.c). Return: 1 it was new, 0 it was there, or a negative errno:
 * -ENOSPC a chain of one link is full, -EFBIG, -ENOMEM. Then nothing was changed. */
int chain_add(struct chain *c, const void *item, size_t len, uint64_t most);
/* One more link, empty; and without the last one. */
int chain_grow(struct chain *c, uint64_t most);
void chain_shrink(struct chain *c);
/* A link's bits: any bits are a filter, of either kind. */
unsigned char *chain_bits(const struct chain_link *l);
/* Items in @bytes bytes of a cuckoo link's bits, a multiple of 8. */
uint64_t chain_fingerprints(const void *bits, uint64_t bytes);
bool chain_has(const struct chain *c, const void *item, size_t len);

uint64_t chain_capacity(const struct chain *c);
uint64_t chain_items(const struct chain *c);
uint64_t chain_bytes(const struct chain *c);

/* Of a cuckoo chain (cuckoo.c). A link takes as many items as its capacity, or fewer if it refuses
 * one. Return: 1 it was added, 0 @absent and it was there, or a negative errno as chain_add(). */
int chain_put(struct chain *c, const void *item, size_t len, bool absent, uint64_t most);
/* Once, from the newest link that has it. Return: was it removed? */
bool chain_take(struct chain *c, const void *item, size_t len);
uint64_t chain_count(const struct chain *c, const void *item, size_t len);

/* To read one back: make it empty of links, then append each image in turn. All is checked against
 * the settings: a chain that this accepts is one that chain_add() could have made. */
int chain_begin(struct chain **out, const struct chain_settings *settings,
                const struct chain_memory *memory);
int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes);

#endif
