/* SPDX-License-Identifier: MIT
 * The machine's own limits. They are contenders, so that one run measures them and the filters:
 * - reads of independent random 64-byte lines, in as many bytes as the filter has and on pages of
 *   the same size, with the prefetches that are fastest on this machine;
 * - a call through a pointer, which is expensive if indirect branches are not predicted;
 * - arithmetic alone, which two idle cores do twice as fast as one core. */
#include <cstdint>
#include <stdexcept>
#include <weir/weir.h>
#include "lines.h"
#include "region.h"
#include "sets/set.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

class LineSet final : public Set {
public:
	explicit LineSet(size_t bytes) : region_(bytes), lines_(region_.base(), bytes)
	{
		lines_.read(0, 1); /* finds the best way to prefetch before any measurement */
	}
	uint64_t bytes() const override { return region_.bytes(); }
	void clear() override {}
	uint64_t lookup(const uint64_t *keys, size_t n) override { return lines_.read(keys[0], n); }
	uint64_t chain(const uint64_t *keys, size_t n) override { return lines_.chain(keys, n); }
	void insert(const uint64_t *, size_t) override {}
	uint64_t lookup(const struct iovec *, size_t) override
	{
		throw std::logic_error("lines have no strings");
	}
	void insert(const struct iovec *, size_t) override {}

private:
	Region region_;
	Lines lines_;
};

/* A contender without keys. */
template <class Self> class Keyless : public SingleKeySet<Self> {
public:
	uint64_t bytes() const override { return 0; }
	void clear() override {}
	void add(const void *key, size_t len) { static_cast<Self *>(this)->find(key, len); }
};

class EmptyCalls final : public Keyless<EmptyCalls> {
public:
	EmptyCalls() { asm volatile("" : "+m"(verb_)); }
	bool find(const void *key, size_t len) const { return verb_(this, key, len); }

private:
	static bool nothing(const EmptyCalls *, const void *, size_t) { return true; }
	bool (*verb_)(const EmptyCalls *, const void *, size_t) = nothing;
};

class Registers final : public Keyless<Registers> {
public:
	bool find(const void *key, size_t) const
	{
		uint64_t x = reinterpret_cast<uintptr_t>(key);
		for (int i = 0; i < 4; i++)
			x = scramble(x);
		asm volatile("" : "+r"(x));
		return x & 1;
	}
};

} // namespace

std::unique_ptr<Set> empty_calls(size_t, double) { return std::make_unique<EmptyCalls>(); }
std::unique_ptr<Set> registers_only(size_t, double) { return std::make_unique<Registers>(); }

std::unique_ptr<Set> random_lines(size_t n, double rate)
{
	return std::make_unique<LineSet>(WeirFilter(n, rate, WEIR_BLOCKED).region->bytes());
}

} // namespace bench
