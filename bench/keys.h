/* SPDX-License-Identifier: MIT
 * Keys that are distinct and in no order: key i is a bijection of i (the finaliser of
 * splitmix64, Steele, Lea, Flood 2014), so the first n are a set of n keys and any others are
 * certainly not in it. */
#ifndef WEIR_BENCH_KEYS_H
#define WEIR_BENCH_KEYS_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <sys/uio.h>

namespace bench {

inline uint64_t scramble(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* Where the keys that are never inserted begin. */
constexpr uint64_t absent = UINT64_C(1) << 40;

inline std::vector<uint64_t> make_keys(uint64_t first, size_t n)
{
	std::vector<uint64_t> keys(n);
	for (size_t i = 0; i < n; i++)
		keys[i] = scramble(first + i);
	return keys;
}

/* Strings of 16 to 64 bytes, the first eight of them the key itself, so that they are as
 * distinct as the numbers. */
class Strings {
public:
	Strings(uint64_t first, size_t n) : keys_(n)
	{
		std::vector<size_t> at(n + 1, 0);
		for (size_t i = 0; i < n; i++)
			at[i + 1] = at[i] + 16 + scramble(~(first + i)) % 49;
		bytes_.resize(at[n]);
		for (size_t i = 0; i < n; i++) {
			fill(&bytes_[at[i]], at[i + 1] - at[i], scramble(first + i));
			keys_[i] = { &bytes_[at[i]], at[i + 1] - at[i] };
		}
	}
	const struct iovec *data() const { return keys_.data(); }
	size_t size() const { return keys_.size(); }

private:
	static void fill(char *to, size_t len, uint64_t key)
	{
		for (size_t i = 0; i < len; i += 8, key = scramble(key))
			memcpy(to + i, &key, len - i < 8 ? len - i : 8);
	}

	std::string bytes_;
	std::vector<struct iovec> keys_;
};

} // namespace bench

#endif
