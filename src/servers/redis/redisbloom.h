/* SPDX-License-Identifier: MIT
 * The layout of RedisBloom's Bloom filters, so that a key that it has made answers here as it did
 * there. Probe i of an item is bit (a + i * b) mod 2^64 mod M, where a and b are two hashes of the
 * item by MurmurHash, and M is the number of bits, or 2^n2 in files from before RedisBloom 2.2. */
#ifndef WEIR_REDIS_REDISBLOOM_H
#define WEIR_REDIS_REDISBLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of a chain. REDISBLOOM_SERVER_HASH is not an option of RedisBloom's: versions 2.0.0
 * and 2.0.1 hash by a function of the Redis server, whose seeds have 32 bits. */
enum {
	REDISBLOOM_NO_ROUND = 1, REDISBLOOM_BITS = 2, REDISBLOOM_HASH64 = 4,
	REDISBLOOM_NO_SCALING = 8, REDISBLOOM_OPTIONS = 15,
	REDISBLOOM_SERVER_HASH = 16
};

/* Return: true if a filter can have these options. RedisBloom never wrote REDISBLOOM_BITS with the
 * server's hash. */
static inline bool redisbloom_are_options(uint64_t options)
{
	return !(options & ~(uint64_t)(REDISBLOOM_OPTIONS | REDISBLOOM_SERVER_HASH)) &&
	       !(options & REDISBLOOM_SERVER_HASH && options & REDISBLOOM_BITS);
}

/* The fields that RedisBloom records about a link, in the order of its files. */
struct redisbloom_link {
	uint64_t bytes, bits; /* of the array; bits is 0 in old files with n2 */
	uint64_t items;
	double error, bits_per_item; /* the second follows from the first */
	uint32_t probes;
	uint64_t capacity;
	uint8_t n2;
};

struct redisbloom_hash {
	uint64_t a, b;
};

struct redisbloom_hash redisbloom_hash(uint32_t options, const void *item, size_t len);
/* @modulus: redisbloom_modulus() of the link. */
bool redisbloom_has(const unsigned char *bits, uint64_t modulus, uint32_t probes,
                    const struct redisbloom_hash *h);
/* Return: true if a bit was 0. */
bool redisbloom_set(unsigned char *bits, uint64_t modulus, uint32_t probes,
                    const struct redisbloom_hash *h);
uint64_t redisbloom_modulus(uint64_t bytes, unsigned n2);
double redisbloom_bits_per_item(double error);

/* Size a new link, as RedisBloom 2.8 does. */
void redisbloom_size(struct redisbloom_link *out, uint64_t capacity, double error,
                     uint32_t options);
/* Return: NULL; or what a link cannot have, which may come from an enemy. */
const char *redisbloom_check(const struct redisbloom_link *l);

#endif
