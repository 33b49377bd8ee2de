/* SPDX-License-Identifier: MIT
 * The yardstick: a split-block Bloom filter as in Parquet, Impala and Arrow (Apple 2021; Putze,
 * Sanders, Singler 2007), inlined and as fast as we can write it: blocks of 256 bits, one bit in
 * each of eight 32-bit words, AVX2 for the test, XXH3 without a seed for the hash, batches that
 * prefetch. An insert is four relaxed 64-bit atomic ors, without a test before.
 *
 * Its size follows from its own formula (bits_for_rate), so that both sides of a comparison have
 * the same measured rate. For a rate of 1 % the filter needs 10.53 bits per key, and we measured
 * 0.995 to 1.006 % with 10M absent keys (n = 100k to 10M). For 0.1 % it needs 16.89 bits, and we
 * measured 0.098 to 0.100 %. bench_targets prints the bits and the measured rate of each run.
 *
 * The including file chooses the instruction set, and wraps this file in its own namespace. */
#ifndef WEIR_BENCH_YARDSTICK_SPLIT_BLOCK_H
#define WEIR_BENCH_YARDSTICK_SPLIT_BLOCK_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif
#include "../region.h"

namespace {

struct SplitBlock {
	alignas(32) static constexpr uint32_t salt[8] = { 0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
	                                                  0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
	                                                  0x9efc4947U, 0x5c6bfb31U };
	static constexpr size_t block_bytes = 32;
	/* number of keys that are hashed and prefetched before they are tested; their answers fill
	 * one word */
	static constexpr size_t group = 64;

	/* Return: the rate at @bits bits per key. This is the chance that all eight bits are set,
	 * over the Poisson-distributed number of keys in a block. */
	static double rate_of_bits(double bits)
	{
		double load = 256 / bits, chance = std::exp(-load), rate = 0;
		for (int n = 1; n < 1000; n++) {
			chance *= load / n;
			rate += chance * std::pow(1 - std::pow(31.0 / 32, n), 8);
		}
		return rate;
	}

	static double bits_for_rate(double rate)
	{
		double low = 1, high = 128;
		for (int i = 0; i < 60; i++) {
			double middle = (low + high) / 2;
			(rate_of_bits(middle) > rate ? low : high) = middle;
		}
		return high;
	}

	/* @multiple: the number of blocks is rounded up to a multiple of this. */
	SplitBlock(size_t n, double rate, uint64_t multiple = 1)
	    : nblocks(static_cast<uint64_t>(std::ceil(static_cast<double>(n) * bits_for_rate(rate) /
	                                              256 / static_cast<double>(multiple))) *
	              multiple),
	      region((nblocks + 1) / 2 * 64), bits(static_cast<char *>(region.base())),
	      outgrows_cache(static_cast<long>(region.bytes()) > sysconf(_SC_LEVEL2_CACHE_SIZE))
	{
		/* volatile, so that the compiler does not do the check at compile time */
		volatile uint64_t key = 0x0123456789ABCDEF;
		uint64_t k = key;
		if (hash8(&k) != XXH3_64bits(&k, sizeof(k)))
			throw std::logic_error("the yardstick's hash is not XXH3");
	}

	/* XXH3_64bits of eight bytes, written out, since xxhash.h leaves a call that compilers do
	 * not inline. */
	static uint64_t hash8(const void *key)
	{
		uint64_t x, low, high;
		memcpy(&x, key, 8);
		memcpy(&low, XXH3_kSecret + 8, 8);
		memcpy(&high, XXH3_kSecret + 16, 8);
		x = (x << 32 | x >> 32) ^ low ^ high;
		x ^= (x << 49 | x >> 15) ^ (x << 24 | x >> 40);
		x *= UINT64_C(0x9FB21C651E98DF25);
		x ^= (x >> 35) + 8;
		x *= UINT64_C(0x9FB21C651E98DF25);
		return x ^ x >> 28;
	}
	static uint64_t hash(const void *key, size_t len)
	{
		return __builtin_constant_p(len) && len == 8 ? hash8(key) : XXH3_64bits(key, len);
	}
	uint64_t offset(uint64_t h) const { return ((h >> 32) * nblocks >> 32) * block_bytes; }
	uint64_t *block(uint64_t h) const { return reinterpret_cast<uint64_t *>(bits + offset(h)); }

#ifdef __AVX2__
	static __m256i mask(uint64_t h)
	{
		__m256i salts = _mm256_load_si256(reinterpret_cast<const __m256i *>(salt));
		__m256i product = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(h)), salts);
		return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
	}
	static bool test(const uint64_t *words, uint64_t h)
	{
		return _mm256_testc_si256(
			_mm256_load_si256(reinterpret_cast<const __m256i *>(words)), mask(h));
	}
	static void words_of(uint64_t h, uint64_t out[4])
	{
		_mm256_storeu_si256(reinterpret_cast<__m256i *>(out), mask(h));
	}
#else
	static void words_of(uint64_t h, uint64_t out[4])
	{
		uint32_t low = static_cast<uint32_t>(h);
		for (int i = 0; i < 4; i++)
			out[i] = UINT64_C(1) << (low * salt[2 * i] >> 27) |
			         UINT64_C(1) << 32 << (low * salt[2 * i + 1] >> 27);
	}
	static bool test(const uint64_t *words, uint64_t h)
	{
		uint64_t want[4], missing = 0;
		words_of(h, want);
		for (int i = 0; i < 4; i++)
			missing |= want[i] & ~words[i];
		return missing == 0;
	}
#endif

	bool contains(uint64_t h) const { return test(block(h), h); }

	void insert(uint64_t h)
	{
		uint64_t want[4], *words = block(h);
		words_of(h, want);
		for (int i = 0; i < 4; i++)
			__atomic_fetch_or(&words[i], want[i], __ATOMIC_RELAXED);
	}

	/* The caller holds the block's lock. */
	void insert_plain(uint64_t h)
	{
		uint64_t want[4], *words = block(h);
		words_of(h, want);
		for (int i = 0; i < 4; i++)
			words[i] |= want[i];
	}

	/* Return: a bitmap with bit i set if key i is found. @n: at most 64 keys (group). We
	 * measured groups of 16 to 64 keys, a ring instead of groups, and block addresses that are
	 * computed again instead of kept. This variant was the fastest over all sizes. */
	template <bool far> uint64_t contains_group(const uint64_t *keys, size_t n) const
	{
		uint64_t h[group], answers = 0;
		const uint64_t *words[group];
		for (size_t i = 0; i < n; i++) {
			h[i] = hash8(&keys[i]);
			words[i] = block(h[i]);
			if (far)
				__builtin_prefetch(words[i]);
		}
#pragma GCC unroll 8
		for (size_t i = 0; i < n; i++)
			answers |= static_cast<uint64_t>(test(words[i], h[i])) << i;
		return answers;
	}

	template <bool far>
	uint64_t contains_groups(const uint64_t *keys, size_t n, uint64_t *bitmap) const
	{
		uint64_t found = 0;
		for (size_t i = 0; i < n; i += group) {
			size_t m = n - i;
			uint64_t answers = m >= group ? contains_group<far>(keys + i, group) :
			                                contains_group<far>(keys + i, m);
			bitmap[i / group] = answers;
			found += static_cast<uint64_t>(__builtin_popcountll(answers));
		}
		return found;
	}

	/* Prefetches only in a filter larger than the L2. In a smaller filter prefetches would cost
	 * a tenth of the speed. */
	uint64_t contains_batch(const uint64_t *keys, size_t n, uint64_t *bitmap) const
	{
		return outgrows_cache ? contains_groups<true>(keys, n, bitmap) :
		                        contains_groups<false>(keys, n, bitmap);
	}

	uint64_t nblocks;
	bench::Region region;
	char *bits;
	bool outgrows_cache;
};

} // namespace

#endif
