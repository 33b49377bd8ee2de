/* SPDX-License-Identifier: MIT
 * Debian's libbloom, unchanged. Threads must not insert concurrently. */
#ifndef WEIR_BENCH_BASELINE_LIBBLOOM_H
#define WEIR_BENCH_BASELINE_LIBBLOOM_H

#include <climits>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <bloom.h>

namespace bench {

struct LibBloom {
	LibBloom(size_t n, double rate)
	{
		if (n > INT_MAX || bloom_init(&bloom, static_cast<int>(n), rate))
			throw std::runtime_error("libbloom: bloom_init refuses this size");
		clear();
	}
	~LibBloom() { bloom_free(&bloom); }
	LibBloom(const LibBloom &) = delete;
	LibBloom &operator=(const LibBloom &) = delete;

	void clear() { memset(bloom.bf, 0, static_cast<size_t>(bloom.bytes)); }
	bool contains(const void *key, size_t len)
	{
		return bloom_check(&bloom, key, static_cast<int>(len)) == 1;
	}
	void insert(const void *key, size_t len) { bloom_add(&bloom, key, static_cast<int>(len)); }

	struct bloom bloom = {};
};

} // namespace bench

#endif
