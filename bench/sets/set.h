/* SPDX-License-Identifier: MIT
 * What every contender can do, so that each measurement is one loop over many of them. A call
 * works through thousands of keys: the virtual call is not in the loop. */
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
	/* Of a layout that has them; else 0. */
	virtual unsigned words_per_key() const { return 0; }
	/* Empty again, every page touched. No other thread may be using it. */
	virtual void clear() = 0;
	/* How many of the keys are answered "there". */
	virtual uint64_t lookup(const uint64_t *keys, size_t n) = 0;
	/* Likewise, but each key depends on the answer before it: time is latency. */
	virtual uint64_t chain(const uint64_t *keys, size_t n) = 0;
	virtual void insert(const uint64_t *keys, size_t n) = 0;
	/* As lookup; after each lookups_an_insert of them one of the @fresh keys is inserted. */
	virtual uint64_t mixed(const uint64_t *keys, size_t n, const uint64_t *fresh);
	/* As insert, the quickest way there is while nobody asks: several threads may load at
	 * once where several may insert. */
	virtual void load_keys(const uint64_t *keys, size_t n) { insert(keys, n); }
	/* All that are to be loaded are: a kind that is built once is built. */
	virtual void settle() {}
	/* As lookup and insert, of strings. */
	virtual uint64_t lookup(const struct iovec *keys, size_t n) = 0;
	virtual void insert(const struct iovec *keys, size_t n) = 0;
	/* Of kinds that remove or count keys: how many of these were not there to be removed, or
	 * have a count of 0. */
	virtual uint64_t remove(const uint64_t *keys, size_t n);
	virtual uint64_t count(const uint64_t *keys, size_t n);
	/* May several threads insert at once? */
	virtual bool concurrent() const { return true; }
	/* From now on hand @batch keys to the set at a time; 0: one by one. Return: whether it
	 * can. */
	virtual bool take_at_once(size_t batch) { return batch == 0; }
};

/* Keys a call of a batch verb, as a server would collect them. */
constexpr size_t batch_keys = 1024;
/* 95 : 5 */
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

/* The loops of a contender from its two verbs on one key; they are inlined. @Self has find(p,
 * len) and add(p, len). */
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
			/* @last is always 0, but only the answer shows that */
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

/* weir.cc: through the verbs of the shared library. */
std::unique_ptr<Set> weir_single(size_t n, double rate);
std::unique_ptr<Set> weir_single_u64(size_t n, double rate); /* by the verbs named so */
std::unique_ptr<Set> weir_batch(size_t n, double rate);
/* lookup: 4 Mi keys a call */
std::unique_ptr<Set> weir_long_batch(size_t n, double rate);
/* insert: weir_insert_keys on everything at once */
std::unique_ptr<Set> weir_bulk(size_t n, double rate);
/* insert: weir_fill_keys on everything at once */
std::unique_ptr<Set> weir_private(size_t n, double rate);
std::unique_ptr<Set> weir_classic(size_t n, double rate);

/* wide.cc: keys of 32 bytes, in batches: side by side; in vectors; and XXH3 of them alone. */
std::unique_ptr<Set> weir_wide(size_t n, double rate);
std::unique_ptr<Set> weir_wide_vectors(size_t n, double rate);
std::unique_ptr<Set> xxh3_wide(size_t n, double rate);

/* layout.cc: weir through the shared library with everything chosen: see struct
 * weir_params. It can take keys in batches of up to batch_keys, and huge pages or small ones. */
struct LayoutSet : Set {
	virtual void *memory() const = 0;
	/* Words a key touches and bits it sets in each. */
	virtual uint32_t words_per_key() const = 0;
	virtual double fp_rate() const = 0; /* that the layout's own formula expects */
};
std::unique_ptr<LayoutSet> weir_layout(const struct weir_params &params, bool huge_pages = true);

/* The instruction set that weir chooses, or that WEIR_ISA names. */
std::string weir_isa();

/* Has weir take the kernels of @isa while it lives; NULL: as it would anyway. */
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

/* kinds.cc: kinds that remove keys, one key a call; and what they are measured against: blocked
 * with as many bytes, and for a key as many words and bits, as counting has counters. */
std::unique_ptr<Set> weir_counting(size_t n, double rate);
std::unique_ptr<Set> blocked_as_counting(size_t n, double rate);
std::unique_ptr<Set> weir_cuckoo(size_t n, double rate);

/* fuse.cc: one that is built once: insert builds it from all keys; by two threads; asked in
 * batches. */
std::unique_ptr<Set> weir_fuse(size_t n, double rate);
std::unique_ptr<Set> weir_fuse_by_two(size_t n, double rate);
std::unique_ptr<Set> weir_fuse_batch(size_t n, double rate);

/* inline.cc: through <weir/inline.h>, compiled for this machine; for the layout of 0.1 % alone. */
std::unique_ptr<Set> weir_inlined(size_t n, double rate);
std::unique_ptr<Set> weir_inlined_fixed(size_t n, double rate);

/* yardstick.cc: the split-block filter, for AVX2 as the comparison asks, and for all that
 * this machine has. */
std::unique_ptr<Set> yardstick_single(size_t n, double rate);
std::unique_ptr<Set> yardstick_batch(size_t n, double rate);
double yardstick_rate(double bits_per_key); /* that its own formula expects */
/* each key through a pointer to a function, as an object's verbs are */
std::unique_ptr<Set> yardstick_called(size_t n, double rate);
std::unique_ptr<Set> yardstick_native_single(size_t n, double rate);
std::unique_ptr<Set> yardstick_native_batch(size_t n, double rate);

/* baseline.cc: what a user would write or take otherwise. */
std::unique_ptr<Set> textbook(size_t n, double rate);
std::unique_ptr<Set> libbloom(size_t n, double rate);
std::unique_ptr<Set> libbloom_mutex(size_t n, double rate); /* behind one lock */
std::unique_ptr<Set> mutex_per_shard(size_t n, double rate);
std::unique_ptr<Set> rwlock_per_shard(size_t n, double rate);
std::unique_ptr<Set> lfht(size_t n, double rate);

/* limits.cc: random lines of as many bytes as weir's filter has; a call through a pointer that
 * does nothing; as much arithmetic as a lookup, without memory. */
std::unique_ptr<Set> random_lines(size_t n, double rate);
std::unique_ptr<Set> empty_calls(size_t n, double rate);
std::unique_ptr<Set> registers_only(size_t n, double rate);

} // namespace bench

#endif
