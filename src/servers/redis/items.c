/* SPDX-License-Identifier: MIT
 * Add items to a chain, and look them up. */
#include <errno.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "chain.h"

/* ---- compact links ---- */

/* Probe i is bit (x_i >> 32) * bits >> 32, with x_0 the hash and x_(i+1) = x_i *
 * 0xD1342543DE82EF95. weir's kind classic has the same sequence of x_i. */
static inline uint64_t probe(const struct chain_link *l, uint64_t x)
{
	return (x >> 32) * (8 * l->bytes) >> 32;
}

static inline uint64_t next(uint64_t x)
{
	return x * UINT64_C(0xD1342543DE82EF95);
}

static bool compact_has(const struct chain_link *l, uint64_t x)
{
	for (uint32_t i = 0; i < l->probes; i++, x = next(x)) {
		uint64_t bit = probe(l, x);
		if (!(l->bits[bit / 8] >> bit % 8 & 1))
			return false;
	}
	return true;
}

/* Return: true if a bit was 0. */
static bool compact_set(struct chain_link *l, uint64_t x)
{
	unsigned was = 1;
	for (uint32_t i = 0; i < l->probes; i++, x = next(x)) {
		uint64_t bit = probe(l, x);
		was &= l->bits[bit / 8] >> bit % 8;
		l->bits[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	return !(was & 1);
}

/* ---- any layout ---- */

uint64_t chain_hash(const struct chain *c, const void *item, size_t len)
{
	return XXH3_64bits_withSeed(item, len, c->seed); /* as weir_hash() of the blocked links */
}

/* b is only for RedisBloom's layout. */
static struct redisbloom_hash hash_of(const struct chain *c, const void *item, size_t len)
{
	return c->layout == CHAIN_OWN ? (struct redisbloom_hash){ chain_hash(c, item, len), 0 }
	                              : redisbloom_hash(c->options, item, len);
}

static bool link_has(const struct chain *c, const struct chain_link *l,
                     const struct redisbloom_hash *h)
{
	if (!l->probes)
		return weir_contains_hash(l->filter, h->a);
	return c->layout == CHAIN_OWN ? compact_has(l, h->a)
	                              : redisbloom_has(l->bits, redisbloom_modulus(l->bytes, l->n2),
	                                               l->probes, h);
}

/* Return: 1 if the link did not have the item, 0 if it had; or a negative errno. */
static int link_add(const struct chain *c, struct chain_link *l, const struct redisbloom_hash *h)
{
	int answer;
	if (!l->probes)
		answer = weir_insert_hash(l->filter, h->a);
	else if (c->layout == CHAIN_OWN)
		answer = compact_set(l, h->a);
	else
		answer = redisbloom_set(l->bits, redisbloom_modulus(l->bytes, l->n2), l->probes, h);
	l->items += answer > 0;
	return answer;
}

/* Look in a link and in all older ones. */
static bool has(const struct chain *c, const struct chain_link *l, const struct redisbloom_hash *h)
{
	for (; l; l = l->older)
		if (link_has(c, l, h))
			return true;
	return false;
}

bool chain_has(const struct chain *c, const void *item, size_t len)
{
	struct redisbloom_hash h = hash_of(c, item, len);
	return has(c, c->newest, &h);
}

static int add(struct chain *c, const struct redisbloom_hash *h, uint64_t most)
{
	struct chain_link *l = c->newest;
	bool full = l->items >= l->capacity;
	/* Adding the item to a link with room tells whether the link had it. */
	if (has(c, full ? l : l->older, h))
		return 0;
	if (full) {
		if (!chain_scales(c))
			return weir_fail(-ENOSPC, "the chain of one link is full: %llu items",
			                 (unsigned long long)l->items);
		int err = chain_grow(c, most);
		if (err)
			return err;
	}
	return link_add(c, c->newest, h);
}

int chain_add(struct chain *c, const void *item, size_t len, uint64_t most)
{
	struct redisbloom_hash h = hash_of(c, item, len);
	return add(c, &h, most);
}

int chain_add_hash(struct chain *c, uint64_t hash, uint64_t most)
{
	return add(c, &(struct redisbloom_hash){ hash, 0 }, most);
}

/* A part of chain_has_hashes(): look up to 64 hashes in a link. */
static uint64_t link_has_each(const struct chain_link *l, const uint64_t *hashes, unsigned n)
{
	uint64_t answers = 0;
	if (!l->probes)
		(void)weir_contains_keys(l->filter, weir_keys_hashes(hashes, n), &answers);
	for (unsigned i = 0; l->probes && i < n; i++)
		answers |= (uint64_t)compact_has(l, hashes[i]) << i;
	return answers;
}

void chain_has_hashes(const struct chain *c, const uint64_t *hashes, size_t n, bool *found)
{
	for (size_t first = 0; first < n; first += 64) {
		unsigned some = n - first < 64 ? (unsigned)(n - first) : 64;
		uint64_t answers = 0;
		for (const struct chain_link *l = c->newest; l; l = l->older)
			answers |= link_has_each(l, hashes + first, some);
		for (unsigned i = 0; i < some; i++)
			found[first + i] = answers >> i & 1;
	}
}
