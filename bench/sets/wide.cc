/* SPDX-License-Identifier: MIT
 * Keys of 32 bytes: a number, and three numbers computed from it. The loop makes a thousand keys at
 * a time, for XXH3 alone and for weir, so the difference is weir's work. */
#include <algorithm>
#include <stdexcept>
#include <weir/weir.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../keys.h"
#include "set.h"
#include "weir_filter.h"

namespace bench {
namespace {

struct Wide {
	uint64_t part[4];
};

/* The loops that make the 32-byte keys. @Self has look(keys, n) and put(keys, n). */
template <class Self> class WideSet : public Set {
public:
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0;
		each(keys, n, [&](const Wide *wide, size_t m) { found += self().look(wide, m); });
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		each(keys, n, [&](const Wide *wide, size_t m) { self().put(wide, m); });
	}
	uint64_t chain(const uint64_t *keys, size_t n) override { return lookup(keys, n); }
	uint64_t lookup(const struct iovec *, size_t) override { throw no_strings(); }
	void insert(const struct iovec *, size_t) override { throw no_strings(); }

private:
	static std::logic_error no_strings() { return std::logic_error("these keys are wide"); }
	Self &self() { return static_cast<Self &>(*this); }

	template <class Use> static void each(const uint64_t *keys, size_t n, Use use)
	{
		Wide wide[batch_keys];
		for (size_t i = 0; i < n; i += batch_keys) {
			size_t m = std::min(n - i, batch_keys);
			for (size_t k = 0; k < m; k++) {
				uint64_t key = keys[i + k];
				wide[k] = { { key, ~key, key + 1, key ^ absent } };
			}
			use(wide, m);
		}
	}
};

class WideFixed : public WideSet<WideFixed>, protected WeirFilter {
public:
	WideFixed(size_t n, double rate) : WeirFilter(n, rate, WEIR_BLOCKED) {}
	uint64_t bytes() const override { return region->bytes(); }
	void clear() override { region->clear(); }
	virtual uint64_t look(const Wide *keys, size_t n)
	{
		uint64_t bitmap[batch_keys / 64];
		return weir_contains_keys(filter, weir_keys_fixed(keys, sizeof(*keys), n), bitmap);
	}
	void put(const Wide *keys, size_t n)
	{
		weir_insert_keys(filter, weir_keys_fixed(keys, sizeof(*keys), n), nullptr);
	}
};

/* The same keys as WideFixed, each given by an iovec. */
class WideVectors final : public WideFixed {
public:
	using WideFixed::WideFixed;
	uint64_t look(const Wide *keys, size_t n) override
	{
		struct iovec vectors[batch_keys];
		uint64_t bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i++)
			vectors[i] = { const_cast<Wide *>(&keys[i]), sizeof(*keys) };
		return weir_contains_keys(filter, weir_keys_iov(vectors, n), bitmap);
	}
};

/* XXH3 alone, with a seed that the compiler does not know. */
class WideHash final : public WideSet<WideHash> {
public:
	WideHash() { asm volatile("" : "+m"(seed_)); }
	uint64_t bytes() const override { return 0; }
	void clear() override {}
	uint64_t look(const Wide *keys, size_t n)
	{
		uint64_t sum = 0;
		for (size_t i = 0; i < n; i++)
			sum += XXH3_64bits_withSeed(&keys[i], sizeof(*keys), seed_);
		return sum;
	}
	void put(const Wide *, size_t) {}

private:
	uint64_t seed_ = 42;
};

} // namespace

std::unique_ptr<Set> weir_wide(size_t n, double rate)
{
	return std::make_unique<WideFixed>(n, rate);
}
std::unique_ptr<Set> weir_wide_vectors(size_t n, double rate)
{
	return std::make_unique<WideVectors>(n, rate);
}
std::unique_ptr<Set> xxh3_wide(size_t, double) { return std::make_unique<WideHash>(); }

} // namespace bench
