/* SPDX-License-Identifier: MIT
 * The hash functions that a kind may choose. */
#include "hash.h"
#include "siphash.h"

static uint64_t xxh3(uint64_t seed, const void *key, size_t len)
{
	return weir__hash(seed, key, len);
}

static uint64_t xxh64(uint64_t seed, const void *key, size_t len)
{
	return XXH64(key, len, seed);
}

const struct weir_hash weir__xxh3 = { 1, "XXH3", xxh3 };
const struct weir_hash weir__xxh64 = { 2, "XXH64", xxh64 };

uint64_t weir__seed_fingerprint(uint64_t seed)
{
	static const char text[] = "weir seed fingerprint";
	unsigned char key[WEIR_SIPHASH_KEY] = { 0 };
	seed = WEIR__LE64(seed);
	memcpy(key, &seed, sizeof seed);
	return weir__siphash(key, text, sizeof text - 1) & UINT32_MAX;
}
