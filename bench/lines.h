/* SPDX-License-Identifier: MIT
 * What memory allows, whatever a filter does: random 64-byte lines of an array, read or or'ed
 * into, with the prefetch distance that this machine likes best. The array may be a filter's own
 * bits: nothing is changed. */
#ifndef WEIR_BENCH_LINES_H
#define WEIR_BENCH_LINES_H

#include <cstddef>
#include <cstdint>
#include "keys.h"
#include "team.h"

namespace bench {

class Lines {
public:
	/* @tries: lines asked of each distance while the best is sought, six times. */
	Lines(void *base, size_t bytes, size_t tries = size_t(1) << 20)
	    : base_(static_cast<char *>(base)), lines_(bytes / 64), tries_(tries)
	{
	}

	/* Reads a word of @n random lines. */
	uint64_t read(uint64_t from, size_t n)
	{
		if (read_ahead_ == unknown)
			read_ahead_ = best_distance<false>();
		return visit<false>(from, n, read_ahead_);
	}

	/* Or's nothing into a word of @n random lines, locked all the same. */
	void fetch_or(uint64_t from, size_t n)
	{
		if (or_ahead_ == unknown)
			or_ahead_ = best_distance<true>();
		visit<true>(from, n, or_ahead_);
	}

	/* Reads, each line chosen by what the one before held: latency. */
	uint64_t chain(const uint64_t *keys, size_t n) const
	{
		uint64_t last = 0;
		for (size_t i = 0; i < n; i++)
			/* always 0, but only memory shows that */
			last = *word(place(keys[i] ^ last)) & nothing();
		return last;
	}

private:
	static constexpr unsigned ring = 64, unknown = ~0u;

	/* 0 that the compiler does not know to be 0. */
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

	/* @distance lines ahead are asked for; 0: the core finds the parallelism itself. */
	template <bool write> uint64_t visit(uint64_t from, size_t n, unsigned distance) const
	{
		uint64_t sum = 0, zero = nothing(), ahead[ring];
		for (unsigned i = 0; i < distance; i++)
			ahead[i] = place(from + i);
		if (!distance)
			for (size_t i = 0; i < n; i++)
				sum += touch<write>(place(from + i), zero);
		else
			for (size_t i = 0; i < n; i++) {
				uint64_t next = place(from + i + distance);
				__builtin_prefetch(base_ + next, write);
				sum += touch<write>(ahead[i % ring], zero);
				ahead[(i + distance) % ring] = next;
			}
		return sum;
	}

	template <bool write> unsigned best_distance() const
	{
		unsigned best = 0;
		double least = 1e300;
		for (int again = 0; again < 6; again++)
			for (unsigned distance : { 0u, 4u, 8u, 12u, 16u, 24u, 32u, 48u, 60u }) {
				double began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
				uint64_t sum = visit<write>(static_cast<uint64_t>(began), tries_,
				                            distance);
				asm volatile("" : : "r"(sum));
				double took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
				if (took < least)
					least = took, best = distance;
			}
		return best;
	}

	char *base_;
	uint64_t lines_;
	size_t tries_;
	unsigned read_ahead_ = unknown, or_ahead_ = unknown;
};

} // namespace bench

#endif
