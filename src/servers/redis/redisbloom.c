/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "murmur.h"
#include "redisbloom.h"

/* ---- hashes and probes ---- */

struct redisbloom_hash redisbloom_hash(uint32_t options, const void *item, size_t len)
{
	struct redisbloom_hash h;
	if (!(options & REDISBLOOM_HASH64)) {
		h.a = murmur2(item, len, 0x9747b28c);
		h.b = murmur2(item, len, (uint32_t)h.a);
	} else if (options & REDISBLOOM_SERVER_HASH) {
		h.a = murmur64a(item, len, 0x5bd1e995);
		h.b = murmur64a(item, len, (uint32_t)h.a);
	} else {
		h.a = murmur64a(item, len, UINT64_C(0xc6a4a7935bd1e995));
		h.b = murmur64a(item, len, h.a);
	}
	return h;
}

uint64_t redisbloom_modulus(uint64_t bytes, unsigned n2)
{
	return n2 ? UINT64_C(1) << n2 : 8 * bytes;
}

bool redisbloom_has(const unsigned char *bits, uint64_t modulus, uint32_t probes,
                    const struct redisbloom_hash *h)
{
	uint64_t x = h->a;
	for (uint32_t i = 0; i < probes; i++, x += h->b) {
		uint64_t bit = x % modulus;
		if (!(bits[bit / 8] >> bit % 8 & 1))
			return false;
	}
	return true;
}

bool redisbloom_set(unsigned char *bits, uint64_t modulus, uint32_t probes,
                    const struct redisbloom_hash *h)
{
	uint64_t x = h->a;
	unsigned was = 1;
	for (uint32_t i = 0; i < probes; i++, x += h->b) {
		uint64_t bit = x % modulus;
		was &= bits[bit / 8] >> bit % 8;
		bits[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	return !(was & 1);
}

/* ---- sizes ---- */

static const double LN2 = 0.693147180559945, LN2_SQUARED = 0.480453013918201;

double redisbloom_bits_per_item(double error)
{
	return -log(error) / LN2_SQUARED;
}

static uint32_t probes_for(double bits_per_item)
{
	return (uint32_t)ceil(LN2 * bits_per_item);
}

void redisbloom_size(struct redisbloom_link *out, uint64_t capacity, double error,
                     uint32_t options)
{
	double each = redisbloom_bits_per_item(error), all = (double)capacity * each;
	*out = (struct redisbloom_link){ .error = error, .bits_per_item = each,
		                         .probes = probes_for(each), .capacity = capacity };
	if (options & REDISBLOOM_NO_ROUND) {
		out->bits = all < 1 ? 1 : (uint64_t)all;
	} else {
		out->n2 = (uint8_t)(logb(all < 1 ? 1 : all) + 1);
		out->bits = UINT64_C(1) << out->n2;
		out->capacity += (uint64_t)(floor((double)out->bits - all) / each);
	}
	out->bytes = (out->bits + 63) / 64 * 8;
	out->bits = out->bytes * 8;
}

const char *redisbloom_check(const struct redisbloom_link *l)
{
	if (!(l->error > 0 && l->error < 1))
		return "an error rate that is not between 0 and 1";
	double each = redisbloom_bits_per_item(l->error);
	if (!(fabs(l->bits_per_item - each) < 1e-9 * each) ||
	    l->probes != probes_for(l->bits_per_item))
		return "bits or probes for each item that do not follow from the error rate";
	const uint64_t most = UINT64_C(1) << 48; /* as CHAIN_CAPACITY_MOST */
	if (!l->bytes || l->bytes >> 46 || !l->capacity || l->capacity > most || l->items > most)
		return "a number of bytes or items that no link has";
	if (l->n2 > 48 || (l->n2 ? UINT64_C(1) << l->n2 > l->bytes * 8 : l->bits != l->bytes * 8))
		return "a number of bits that contradicts its bytes";
	if (l->n2 && l->bits && l->bits != l->bytes * 8)
		return "a number of bits that contradicts its bytes";
	return NULL;
}
