/* SPDX-License-Identifier: MIT
 * The interface of every contender, so that one loop measures all of them. A call gets thousands of
 * keys, so the virtual call is outside the loop over keys. */
#ifndef WEIR_BENCH_SET_H
#define WEIR_BENCH_SET_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/uio.h>

struct weir_params;

namespace bench {

class Set {
public:
	virtual ~Set() = default;
	virtual uint64_t bytes() const = 0;
	/* Return: the number of words that a key touches; 0 if the layout has no such number. */
	virtual unsigned words_per_key() const { return 0; }
	/* Empties the set and touches every page. No other thread may use the set. */
	virtual void clear() = 0;
	/* Return: the number of keys found. */
	virtual uint64_t lookup(const uint64_t *keys, size_t n) = 0;
	/* Measures latency: as lookup, but each key depends on the previous answer. */
	virtual uint64_t chain(const uint64_t *keys, size_t n) = 0;
	virtual void insert(const uint64_t *keys, size_t n) = 0;
	/* As lookup, but inserts one of the @fresh keys after every 19 lookups
	 * (lookups_an_insert). */
	virtual uint64_t mixed(const uint64_t *keys, size_t n, const uint64_t *fresh);
	/* Inserts in the fastest way. No thread may read the set at the same time. Several threads
	 * may load at once if concurrent() is true. */
	virtual void load_keys(const uint64_t *keys, size_t n) { insert(keys, n); }
	/* Call this after the last load_keys(). If the kind is built once, the call builds the
	 * filter. */
	virtual void settle() {}
	/* As lookup and insert, for strings. */
	virtual uint64_t lookup(const struct iovec *keys, size_t n) = 0;
	virtual void insert(const struct iovec *keys, size_t n) = 0;
	/* For kinds that remove keys. Return: the number of keys that the filter did not remove. */
	virtual uint64_t remove(const uint64_t *keys, size_t n);
	/* For kinds that count keys. Return: the number of keys with a count of 0. */
	virtual uint64_t count(const uint64_t *keys, size_t n);
	/* Return: true if several threads may insert at once. */
	virtual bool concurrent() const { return true; }
	/* Makes later calls pass @batch keys at once to the filter; 0: single keys. Return: false
	 * if the set cannot do this. */
	virtual bool take_at_once(size_t batch) { return batch == 0; }
};

/* Keys per call of a batch function, as a server would collect them. */
constexpr size_t batch_keys = 1024;
/* The lookups per insert in mixed(): 95 % lookups and 5 % inserts. */
constexpr size_t lookups_an_insert = 19;

inline uint64_t Set::remove(const uint64_t *, size_t n) { return n; }
inline uint64_t Set::count(const uint64_t *, size_t n) { return n; }
inline uint64_t Set::mixed(const uint64_t *keys, size_t n, const uint64_t *fresh)
{
	uint64_t found = 0;
	for (size_t i = 0, m; i < n; i += m) {
		m = n - i < lookups_an_insert ? n - i : lookups_an_insert;
		found += lookup(keys + i, m);
		insert(fresh++, 1);
	}
	return found;
}

/* The loops of a contender. @Self has two functions for one key, find(p, len) and add(p, len), and
 * the loops inline these functions. */
template <class Self> class SingleKeySet : public Set {
public:
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0;
		for (size_t i = 0; i < n; i++)
			found += self().find(&keys[i], sizeof(keys[i]));
		return found;
	}
	uint64_t chain(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, last = 0;
		for (size_t i = 0; i < n; i++) {
			/* @last is always 0, but the core knows that only after the answer */
			uint64_t key = keys[i] ^ last;
			uint64_t answer = self().find(&key, sizeof(key));
			asm volatile("" : "+r"(answer));
			found += answer;
			last = answer >> 1;
		}
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		for (size_t i = 0; i < n; i++)
			self().add(&keys[i], sizeof(keys[i]));
	}
	uint64_t mixed(const uint64_t *keys, size_t n, const uint64_t *fresh) override
	{
		uint64_t found = 0;
		for (size_t i = 0, until; i < n;) {
			for (until = i + lookups_an_insert < n ? i + lookups_an_insert : n;
			     i < until; i++)
				found += self().find(&keys[i], sizeof(keys[i]));
			self().add(fresh++, sizeof(*fresh));
		}
		return found;
	}
	uint64_t lookup(const struct iovec *keys, size_t n) override
	{
		uint64_t found = 0;
		for (size_t i = 0; i < n; i++)
			found += self().find(keys[i].iov_base, keys[i].iov_len);
		return found;
	}
	void insert(const struct iovec *keys, size_t n) override
	{
		for (size_t i = 0; i < n; i++)
			self().add(keys[i].iov_base, keys[i].iov_len);
	}

private:
	Self &self() { return static_cast<Self &>(*this); }
};

/* Makes an empty set for @n keys at @rate. */
using Maker = std::unique_ptr<Set> (*)(size_t n, double rate);

/* weir.cc: through the functions of the shared library. */
std::unique_ptr<Set> weir_single(size_t n, double rate);
std::unique_ptr<Set> weir_single_u64(size_t n, double rate); /* with the _u64 functions */
std::unique_ptr<Set> weir_batch(size_t n, double rate);
/* lookups with 4 Mi keys per call */
std::unique_ptr<Set> weir_long_batch(size_t n, double rate);
/* inserts with weir_insert_keys on up to 16 Mi hashes per call */
std::unique_ptr<Set> weir_bulk(size_t n, double rate);
/* inserts with weir_fill_keys on up to 16 Mi hashes per call */
std::unique_ptr<Set> weir_private(size_t n, double rate);
std::unique_ptr<Set> weir_classic(size_t n, double rate);

/* wide.cc: batches of 32-byte keys, adjacent or as iovecs. xxh3_wide() only hashes the keys. */
std::unique_ptr<Set> weir_wide(size_t n, double rate);
std::unique_ptr<Set> weir_wide_vectors(size_t n, double rate);
std::unique_ptr<Set> xxh3_wide(size_t n, double rate);

/* layout.cc: weir through the shared library, with any struct weir_params, on huge or small pages.
 * It can insert keys in batches of up to batch_keys. */
struct LayoutSet : Set {
	virtual void *memory() const = 0;
	/* Return: the number of words that a key touches. */
	virtual uint32_t words_per_key() const = 0;
	virtual double fp_rate() const = 0; /* the rate by the layout's own formula */
};
std::unique_ptr<LayoutSet> weir_layout(const struct weir_params &params, bool huge_pages = true);

/* Return: the instruction set that weir chooses, or that WEIR_ISA names. */
std::string weir_isa();

/* Makes weir use the kernels of @isa during this object's lifetime; NULL: no change. */
class ForcedIsa {
public:
	explicit ForcedIsa(const char *isa);
	~ForcedIsa();
	ForcedIsa(const ForcedIsa &) = delete;
	ForcedIsa &operator=(const ForcedIsa &) = delete;

private:
	bool forced_, had_;
	std::string before_;
};
bool weir_has_isa(const char *isa);

/* kinds.cc: kinds that remove keys, with single keys. blocked_as_counting() is a blocked filter
 * for comparison, with the bytes and the words per key of the counting filter. An insert sets one
 * bit for each counter that the counting filter would increment. */
std::unique_ptr<Set> weir_counting(size_t n, double rate);
std::unique_ptr<Set> blocked_as_counting(size_t n, double rate);
std::unique_ptr<Set> weir_cuckoo(size_t n, double rate);

/* fuse.cc: fuse filters, which insert() builds from all keys, with one thread or with two. The
 * filter of weir_fuse_batch() looks up batches, the filters of the others look up single keys. */
std::unique_ptr<Set> weir_fuse(size_t n, double rate);
std::unique_ptr<Set> weir_fuse_by_two(size_t n, double rate);
std::unique_ptr<Set> weir_fuse_batch(size_t n, double rate);

/* inline.cc: with <weir/inline.h>, compiled for this machine. weir_inlined_fixed() is compiled for
 * a single layout, which is the layout for a rate of 0.1 %. */
std::unique_ptr<Set> weir_inlined(size_t n, double rate);
std::unique_ptr<Set> weir_inlined_fixed(size_t n, double rate);

/* yardstick.cc: the split-block filter, for AVX2 as in the comparisons, and for all instruction
 * sets of this machine. */
std::unique_ptr<Set> yardstick_single(size_t n, double rate);
std::unique_ptr<Set> yardstick_batch(size_t n, double rate);
double yardstick_rate(double bits_per_key); /* Return: the rate by the filter's own formula. */
/* calls a function through a pointer for each key, as weir does */
std::unique_ptr<Set> yardstick_called(size_t n, double rate);
std::unique_ptr<Set> yardstick_native_single(size_t n, double rate);
std::unique_ptr<Set> yardstick_native_batch(size_t n, double rate);

/* baseline.cc: the filters and sets that a user would write or use instead of weir. */
std::unique_ptr<Set> textbook(size_t n, double rate);
std::unique_ptr<Set> libbloom(size_t n, double rate);
std::unique_ptr<Set> libbloom_mutex(size_t n, double rate); /* behind one lock */
std::unique_ptr<Set> mutex_per_shard(size_t n, double rate);
std::unique_ptr<Set> rwlock_per_shard(size_t n, double rate);
std::unique_ptr<Set> lfht(size_t n, double rate);

/* limits.cc: limits of the machine. random_lines() reads random lines in as many bytes as weir's
 * filter has. empty_calls() calls an empty function through a pointer. registers_only() computes
 * about as much as a lookup, but reads no memory. */
std::unique_ptr<Set> random_lines(size_t n, double rate);
std::unique_ptr<Set> empty_calls(size_t n, double rate);
std::unique_ptr<Set> registers_only(size_t n, double rate);

} // namespace bench

#endif
