/* SPDX-License-Identifier: MIT
 * The hash functions that a kind may choose, and the one that a key chooses. */
#include <errno.h>
#include <stdio.h>
#include "config.h"
#include "ground/error.h"
#include "ground/random.h"
#include "hash/hash.h"

static uint64_t xxh3(const struct weir_hashing *h, const void *key, size_t len)
{
	return weir__hash(h->seed, key, len);
}

static uint64_t xxh64(const struct weir_hashing *h, const void *key, size_t len)
{
	return XXH64(key, len, h->seed);
}

static uint64_t siphash(const struct weir_hashing *h, const void *key, size_t len)
{
	return weir__siphash(h->key, key, len);
}

const struct weir_hash weir__xxh3 = { 1, "XXH3", xxh3 };
const struct weir_hash weir__xxh64 = { 2, "XXH64", xxh64 };
const struct weir_hash weir__siphash_2_4 = { 3, "SipHash-2-4", siphash };

struct weir_hashing weir__hashing_seeded(const struct weir_hash *by, uint64_t seed)
{
	return (struct weir_hashing){ .by = by, .seed = seed };
}

/* The check value is the hash of a text that never changes. It stands in images, where it tells a
 * right key from a wrong one; it helps nobody to guess the key, which has 128 bits. */
struct weir_hashing weir__hashing_keyed(const void *hash_key)
{
	static const char text[] = "weir key check";
	struct weir_hashing h = { .by = &weir__siphash_2_4 };
	memcpy(h.key, hash_key, sizeof h.key);
	uint64_t check = weir__siphash(h.key, text, sizeof text - 1);
	h.seed = check ? check : 1; /* 0 would mean a random seed */
	return h;
}

int weir__hashing_of(struct weir_hashing *out, const struct weir_hash *by, uint64_t seed,
                     const void *hash_key)
{
	int err = 0;
	if (hash_key) {
		*out = weir__hashing_keyed(hash_key);
		if (seed && seed != out->seed)
			return weir__fail(-EINVAL, "seed: with hash_key it is the key's check "
			                  "value, or 0: this one is another's");
		return 0;
	}
	while (!err && !seed)
		err = weir__random(&seed);
	*out = weir__hashing_seeded(by, seed);
	return err;
}

const char *weir__hashing_text(const struct weir_hashing *h, char text[WEIR_HASHING_TEXT])
{
	if (h->seed)
		snprintf(text, WEIR_HASHING_TEXT, "%s, %s fingerprint %08llx", h->by->name,
		         weir__keyed(h) ? "key" : "seed",
		         (unsigned long long)weir__seed_fingerprint(h->seed));
	else
		snprintf(text, WEIR_HASHING_TEXT, "%s, seed 0", h->by->name);
	return text;
}

uint64_t weir__seed_fingerprint(uint64_t seed)
{
	static const char text[] = "weir seed fingerprint";
	unsigned char key[WEIR_SIPHASH_KEY] = { 0 };
	if (!seed)
		return 0; /* as_is: there is none */
	seed = WEIR__LE64(seed);
	memcpy(key, &seed, sizeof seed);
	return weir__siphash(key, text, sizeof text - 1) & UINT32_MAX;
}

void weir__hash8_for(enum weir_isa isa, uint64_t flip8, const char *keys, size_t n, uint64_t *out)
{
#if WEIR_X86
	if (isa == WEIR_ISA_AVX512) {
		weir__hash8_avx512(flip8, keys, n, out);
		return;
	}
#endif
	(void)isa;
	weir__hash8_each(flip8, keys, n, out);
}
