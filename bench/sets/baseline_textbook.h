/* SPDX-License-Identifier: MIT
 * The textbook Bloom filter, as many programs have it: m bits, k calls of murmur3 with k seeds,
 * each modulo m. m and k are optimal for the rate. Threads must not insert concurrently. */
#ifndef WEIR_BENCH_BASELINE_TEXTBOOK_H
#define WEIR_BENCH_BASELINE_TEXTBOOK_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include "../region.h"

namespace bench {

/* MurmurHash3_x86_32, Austin Appleby, public domain. */
inline uint32_t murmur3(const void *key, size_t len, uint32_t seed)
{
	const unsigned char *p = static_cast<const unsigned char *>(key);
	auto rotate = [](uint32_t x, int by) { return x << by | x >> (32 - by); };
	auto mix = [&](uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
	uint32_t h = seed, k = 0;
	for (size_t i = 0; i + 4 <= len; i += 4) {
		memcpy(&k, p + i, 4);
		h = rotate(h ^ mix(k), 13) * 5 + 0xe6546b64u;
	}
	if (len % 4) {
		k = 0;
		memcpy(&k, p + len / 4 * 4, len % 4);
		h ^= mix(k);
	}
	h ^= static_cast<uint32_t>(len);
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

struct Textbook {
	Textbook(size_t n, double rate)
	    : m(static_cast<uint64_t>(
	              std::ceil(-static_cast<double>(n) * std::log(rate) / (M_LN2 * M_LN2)))),
	      k(static_cast<uint32_t>(
	              std::lround(static_cast<double>(m) / static_cast<double>(n) * M_LN2))),
	      region((m + 511) / 512 * 64), bits(static_cast<unsigned char *>(region.base()))
	{
	}

	bool contains(const void *key, size_t len) const
	{
		for (uint32_t i = 0; i < k; i++) {
			uint64_t bit = murmur3(key, len, i) % m;
			if (!(bits[bit / 8] >> bit % 8 & 1))
				return false;
		}
		return true;
	}

	void insert(const void *key, size_t len)
	{
		for (uint32_t i = 0; i < k; i++) {
			uint64_t bit = murmur3(key, len, i) % m;
			bits[bit / 8] |= static_cast<unsigned char>(1u << bit % 8);
		}
	}

	uint64_t m;
	uint32_t k;
	Region region;
	unsigned char *bits;
};

} // namespace bench

#endif
