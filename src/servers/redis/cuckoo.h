/* SPDX-License-Identifier: MIT
 * A cuckoo filter in RedisBloom's layout, independent of Redis. It has sub filters. Sub filter j
 * has buckets * expansion^j buckets of `bucket` bytes. A byte is a fingerprint, and 0 is a free
 * slot. An item with hash h has the fingerprint fp = h % 255 + 1 and, in a sub filter of B buckets,
 * the two buckets h % B and (h ^ fp * 0x5bd1e995) % B.
 *
 * RedisBloom hashes by MurmurHash64A with seed 0. Before its version 2.2 it hashed by MurmurHash2,
 * and a fingerprint was the hash's top byte, or 7 if that was 0. Keys made here have a seed of
 * their own, so that a client cannot choose items that fall into one bucket. Two copies of an item
 * are two fingerprints.
 *
 * [NESTED-BUCKETS]  B is a power of two in each sub filter, and no later one has fewer buckets. So
 *    two items that share fingerprint and buckets in a sub filter share them in every earlier one.
 *    Removal takes a copy from the newest sub filter that has the fingerprint. If that copy is
 *    another item's, then the other item's lookup finds the removed item's own copy, which lies in
 *    the same or an earlier sub filter. So the removal of an added item never loses another one.
 *    Breaks without it: if B were not a power of two, or removal began with the oldest sub filter,
 *    the other item could be missed. test_cuckoo.c removes from filters with expansions of 1 to
 * 4. */
#ifndef WEIR_REDIS_CUCKOO_H
#define WEIR_REDIS_CUCKOO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>
#include "memory.h"

enum { CUCKOO_SUBS = UINT16_MAX, CUCKOO_BUCKET_MOST = 255, CUCKOO_EXPANSION_MOST = 32768 };

struct cuckoo_settings {
	uint64_t buckets;    /* of sub filter 0: a power of two */
	uint64_t seed;       /* 0: RedisBloom's */
	uint64_t bucket;     /* slots in a bucket: 1 to 255 */
	uint64_t iterations; /* most moves for one item: 1 to 65535 */
	uint64_t expansion;  /* a power of two; 0: only one sub filter */
	bool old_hash;       /* RedisBloom's before 2.2; bucket 2, iterations 20, expansion 1 */
};

struct cuckoo {
	union {
		unsigned char *one;   /* sub filter 0, if there was never more than one */
		unsigned char **many; /* else the list of sub filters */
	};
	const struct chain_memory *memory;
	uint64_t buckets, seed, items;
	uint64_t deleted;    /* items deleted */
	uint64_t changes;    /* additions, removals and compactions */
	uint8_t bucket;
	bool old_hash : 1, listed : 1; /* listed: @many is set */
	uint16_t iterations, expansion, subs;
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail(). -EFBIG: the
 * key would have more than @most bytes of fingerprints. @most 0: no limit. */
int cuckoo_create(struct cuckoo **out, const struct cuckoo_settings *s, uint64_t most,
                  const struct chain_memory *memory);
void cuckoo_destroy(struct cuckoo *c);
int cuckoo_copy(struct cuckoo **out, const struct cuckoo *from);
struct cuckoo_settings cuckoo_settings_of(const struct cuckoo *c);

/* Sub filter @j; append an empty one; remove the newest, but not the first. */
unsigned char *cuckoo_sub(const struct cuckoo *c, unsigned j);
int cuckoo_grow(struct cuckoo *c, uint64_t most);
void cuckoo_shrink(struct cuckoo *c);
/* The bytes of sub filter @j, and of the one that cuckoo_grow() would append. 0: more than memory
 * can hold. */
uint64_t cuckoo_sub_bytes(const struct cuckoo *c, unsigned j);
uint64_t cuckoo_next_bytes(const struct cuckoo *c);
uint64_t cuckoo_bytes(const struct cuckoo *c);
/* Return: all memory of the filter, as its allocator counts it. */
size_t cuckoo_usage(const struct cuckoo *c);
/* Return: the fingerprints in @bytes bytes. */
uint64_t cuckoo_fingerprints(const void *bytes, uint64_t n);

/* Add an item. @absent: not if the filter has the item already. Return: 1 added; 0 present; or a
 * negative errno, and the filter is unchanged: -ENOSPC it is full and may not grow, -EFBIG,
 * -ENOMEM. */
int cuckoo_add(struct cuckoo *c, const void *item, size_t len, bool absent, uint64_t most);
/* Remove one copy of an item ([NESTED-BUCKETS]). Return: true if removed. */
bool cuckoo_remove(struct cuckoo *c, const void *item, size_t len);
/* Move fingerprints from newer sub filters to free slots of older ones, and free the newest sub
 * filters that become empty. */
void cuckoo_compact(struct cuckoo *c);
uint64_t cuckoo_count(const struct cuckoo *c, const void *item, size_t len);
bool cuckoo_has(const struct cuckoo *c, const void *item, size_t len);

#endif
