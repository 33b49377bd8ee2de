/* SPDX-License-Identifier: MIT
 * The hash functions that a kind may choose. */
#include "hash.h"

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
