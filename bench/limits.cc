/* SPDX-License-Identifier: MIT
 * The machine's own limits, contenders like the others, so that they are measured beside them: independent random 64-byte lines out
 * of as many bytes as the filter has, huge pages likewise, with the prefetch distance that this machine likes best; what a call
 * through a pointer costs by itself, much where indirect branches are not predicted; and arithmetic alone, which two idle cores do
 * twice as much of as one. */
#include <cstdint>
#include <stdexcept>
#include <vector>
#include <weir/weir.h>
#include "keys.h"
#include "region.h"
#include "set.h"
#include "team.h"
#include "weir_filter.h"

namespace bench {
namespace {

class Lines final : public Set {
public:
	explicit Lines(size_t bytes) : region_(bytes), lines_(bytes / 64) { best_ = best_distance(); }
	uint64_t bytes() const override { return region_.bytes(); }
	void clear() override {}
	uint64_t lookup(const uint64_t *keys, size_t n) override { return read(keys[0], n, best_); }
	uint64_t chain(const uint64_t *keys, size_t n) override
	{
		uint64_t last = 0;
		for (size_t i = 0; i < n; i++)
			last = word(place(keys[i] ^ last)); /* always 0, but only memory tells */
		return last;
	}
	void insert(const uint64_t *, size_t) override {}
	uint64_t lookup(const struct iovec *, size_t) override { throw std::logic_error("lines have no strings"); }
	void insert(const struct iovec *, size_t) override {}

private:
	static constexpr unsigned ring = 64;

	__extension__ typedef unsigned __int128 uint128;
	uint64_t place(uint64_t i) const { return static_cast<uint64_t>(static_cast<uint128>(scramble(i)) * lines_ >> 64) * 64; }
	uint64_t word(uint64_t at) const { return *reinterpret_cast<const volatile uint64_t *>(static_cast<char *>(region_.base()) + at); }

	/* @distance lines ahead are asked for; 0: the core finds the parallelism itself. */
	uint64_t read(uint64_t from, size_t n, unsigned distance) const
	{
		uint64_t sum = 0, ahead[ring];
		for (unsigned i = 0; i < distance; i++)
			ahead[i] = place(from + i);
		if (!distance)
			for (size_t i = 0; i < n; i++)
				sum += word(place(from + i));
		else
			for (size_t i = 0; i < n; i++) {
				uint64_t next = place(from + i + distance);
				__builtin_prefetch(static_cast<char *>(region_.base()) + next);
				sum += word(ahead[i % ring]);
				ahead[(i + distance) % ring] = next;
			}
		return sum;
	}

	unsigned best_distance() const
	{
		constexpr size_t n = size_t(1) << 20;
		unsigned best = 0;
		double least = 1e300;
		for (int again = 0; again < 6; again++)
			for (unsigned distance : { 0u, 4u, 8u, 12u, 16u, 24u, 32u, 48u, 60u }) {
				double began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
				uint64_t sum = read(static_cast<uint64_t>(began), n, distance);
				asm volatile("" : : "r"(sum));
				double took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
				if (took < least)
					least = took, best = distance;
			}
		return best;
	}

	Region region_;
	uint64_t lines_;
	unsigned best_;
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
	return std::make_unique<Lines>(WeirFilter(n, rate, WEIR_BLOCKED).region->bytes());
}

} // namespace bench
