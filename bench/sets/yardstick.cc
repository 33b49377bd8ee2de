/* SPDX-License-Identifier: MIT
 * The yardstick as a contender. This file is compiled twice: for AVX2, and with YARDSTICK_NATIVE
 * for all instruction sets of this machine. The compiler may then hash a batch by AVX-512. */
#include "set.h"
#include "yardstick_split_block.h"

namespace bench {
namespace {

class Single : public SingleKeySet<Single> {
public:
	Single(size_t n, double rate) : filter(n, rate) {}
	uint64_t bytes() const override { return filter.region.bytes(); }
	void clear() override { filter.region.clear(); }
	bool find(const void *key, size_t len) const
	{
		return filter.contains(SplitBlock::hash(key, len));
	}
	void add(const void *key, size_t len) { filter.insert(SplitBlock::hash(key, len)); }

protected:
	SplitBlock filter;
};

class Batch final : public Single {
public:
	using Single::Single;
	using Single::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys) {
			size_t m = n - i < batch_keys ? n - i : batch_keys;
			found += filter.contains_batch(keys + i, m, bitmap);
			asm volatile("" : : "r"(bitmap) : "memory"); /* uses the answers */
		}
		return found;
	}
};

#ifndef YARDSTICK_NATIVE
/* Calls the filter's functions through pointers. The compiler cannot tell which functions these
 * are, so it cannot inline them. */
class Called final : public SingleKeySet<Called> {
public:
	Called(size_t n, double rate) : filter(n, rate)
	{
		asm volatile("" : "+m"(contains_), "+m"(insert_));
	}
	uint64_t bytes() const override { return filter.region.bytes(); }
	void clear() override { filter.region.clear(); }
	bool find(const void *key, size_t len) const { return contains_(filter, key, len); }
	void add(const void *key, size_t len) { insert_(filter, key, len); }

private:
	static uint64_t hash(const void *key, size_t len)
	{
		return len == 8 ? SplitBlock::hash8(key) : SplitBlock::hash(key, len);
	}
	static bool contains(const SplitBlock &f, const void *key, size_t len)
	{
		return f.contains(hash(key, len));
	}
	static void insert(SplitBlock &f, const void *key, size_t len) { f.insert(hash(key, len)); }

	bool (*contains_)(const SplitBlock &, const void *, size_t) = contains;
	void (*insert_)(SplitBlock &, const void *, size_t) = insert;
	SplitBlock filter;
};
#endif

} // namespace

#ifdef YARDSTICK_NATIVE
std::unique_ptr<Set> yardstick_native_single(size_t n, double rate)
{
	return std::make_unique<Single>(n, rate);
}
std::unique_ptr<Set> yardstick_native_batch(size_t n, double rate)
{
	return std::make_unique<Batch>(n, rate);
}
#else
std::unique_ptr<Set> yardstick_single(size_t n, double rate)
{
	return std::make_unique<Single>(n, rate);
}
std::unique_ptr<Set> yardstick_batch(size_t n, double rate)
{
	return std::make_unique<Batch>(n, rate);
}
double yardstick_rate(double bits_per_key) { return SplitBlock::rate_of_bits(bits_per_key); }
std::unique_ptr<Set> yardstick_called(size_t n, double rate)
{
	return std::make_unique<Called>(n, rate);
}
#endif

} // namespace bench
