/* SPDX-License-Identifier: MIT
 * The memory's own limit: the program reads random 64-byte lines of an array, or writes them by a
 * fetch-or of 0. It tries several prefetch distances, into the first-level and the second-level
 * cache, and uses the fastest on this machine. The array may be a filter's bits, since a fetch-or
 * of 0 changes no bit. */
#ifndef WEIR_BENCH_LINES_H
#define WEIR_BENCH_LINES_H

#include <cstddef>
#include <cstdint>
#include "keys.h"
#include "team.h"

namespace bench {

class Lines {
public:
	/* @tries: the number of lines that a trial visits. To find the best way to prefetch, each
	 * way gets six trials. */
	Lines(void *base, size_t bytes, size_t tries = size_t(1) << 20)
	    : base_(static_cast<char *>(base)), lines_(bytes / 64), tries_(tries)
	{
	}

	/* Reads a word in each of @n random lines. */
	uint64_t read(uint64_t from, size_t n)
	{
		if (reading_.ahead == unknown)
			reading_ = best_way<false>();
		return visit<false>(from, n, reading_);
	}

	/* Ors 0 into a word in each of @n random lines, with a locked instruction. */
	void fetch_or(uint64_t from, size_t n)
	{
		if (oring_.ahead == unknown)
			oring_ = best_way<true>();
		visit<true>(from, n, oring_);
	}

	/* Measures latency: the address of each line depends on the contents of the line before. */
	uint64_t chain(const uint64_t *keys, size_t n) const
	{
		uint64_t last = 0;
		for (size_t i = 0; i < n; i++)
			/* always 0, but the core knows that only after the load */
			last = *word(place(keys[i] ^ last)) & nothing();
		return last;
	}

private:
	static constexpr unsigned ring = 64, unknown = ~0u;
	static constexpr unsigned distances[] = { 0, 4, 8, 12, 16, 24, 32, 48, 60 };

	struct Way {
		unsigned ahead = unknown; /* prefetch this many lines ahead; 0: no prefetches */
		bool to_l2 = false;       /* true: prefetch into the second-level cache */
	};

	/* Return: a 0 that the compiler does not know to be 0. */
	static uint64_t nothing()
	{
		uint64_t zero = 0;
		asm volatile("" : "+r"(zero));
		return zero;
	}

	__extension__ typedef unsigned __int128 uint128;
	uint64_t place(uint64_t i) const
	{
		return static_cast<uint64_t>(static_cast<uint128>(scramble(i)) * lines_ >> 64) * 64;
	}
	volatile uint64_t *word(uint64_t at) const
	{
		return reinterpret_cast<volatile uint64_t *>(base_ + at);
	}

	template <bool write> uint64_t touch(uint64_t at, uint64_t zero) const
	{
		if (!write)
			return *word(at);
		__atomic_fetch_or(word(at), zero, __ATOMIC_RELAXED);
		return 0;
	}

	template <bool write> uint64_t visit(uint64_t from, size_t n, Way way) const
	{
		if (!way.ahead)
			return visit_plainly<write>(from, n);
		return way.to_l2 ? visit_fetching<write, 2>(from, n, way.ahead) :
		                   visit_fetching<write, 3>(from, n, way.ahead);
	}

	template <bool write> uint64_t visit_plainly(uint64_t from, size_t n) const
	{
		uint64_t sum = 0, zero = nothing();
		for (size_t i = 0; i < n; i++)
			sum += touch<write>(place(from + i), zero);
		return sum;
	}

	template <bool write, int locality>
	uint64_t visit_fetching(uint64_t from, size_t n, unsigned distance) const
	{
		uint64_t sum = 0, zero = nothing(), ahead[ring];
		for (unsigned i = 0; i < distance; i++)
			ahead[i] = place(from + i);
		for (size_t i = 0; i < n; i++) {
			uint64_t next = place(from + i + distance);
			__builtin_prefetch(base_ + next, write, locality);
			sum += touch<write>(ahead[i % ring], zero);
			ahead[(i + distance) % ring] = next;
		}
		return sum;
	}

	template <bool write> double try_out(Way way) const
	{
		double began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t sum = visit<write>(static_cast<uint64_t>(began), tries_, way);
		asm volatile("" : : "r"(sum));
		return clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	}

	template <bool write> Way best_way() const
	{
		Way best;
		double least = 1e300;
		for (int again = 0; again < 6; again++)
			for (bool to_l2 : { false, true })
				for (unsigned ahead : distances) {
					double took = try_out<write>({ ahead, to_l2 });
					if (took < least)
						least = took, best = { ahead, to_l2 };
				}
		return best;
	}

	char *base_;
	uint64_t lines_;
	size_t tries_;
	Way reading_, oring_;
};

} // namespace bench

#endif
