/* SPDX-License-Identifier: MIT
 * weir through the functions of the shared library: single keys, batches, and whole sets. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>
#include <weir/weir.h>
#include "../region.h"
#include "set.h"
#include "weir_filter.h"

namespace bench {
namespace {

class Single : public SingleKeySet<Single>, protected WeirFilter {
public:
	Single(size_t n, double rate, uint32_t kind = WEIR_BLOCKED) : WeirFilter(n, rate, kind) {}
	uint64_t bytes() const override { return region->bytes(); }
	unsigned words_per_key() const override { return layout_words(); }
	void clear() override { region->clear(); }
	bool find(const void *key, size_t len) const { return weir_contains(filter, key, len); }
	void add(const void *key, size_t len) { weir_insert(filter, key, len); }
};

class SingleU64 final : public SingleKeySet<SingleU64>, WeirFilter {
public:
	SingleU64(size_t n, double rate) : WeirFilter(n, rate, WEIR_BLOCKED) {}
	uint64_t bytes() const override { return region->bytes(); }
	unsigned words_per_key() const override { return layout_words(); }
	void clear() override { region->clear(); }
	/* The loops over numbers inline this function with a constant len of 8, so the compiler
	 * removes the test of len from them. */
	bool find(const void *key, size_t len) const
	{
		return len == 8 ? weir_contains_u64(filter, number(key)) :
		                  weir_contains(filter, key, len);
	}
	void add(const void *key, size_t len)
	{
		len == 8 ? weir_insert_u64(filter, number(key)) : weir_insert(filter, key, len);
	}

private:
	static uint64_t number(const void *key)
	{
		uint64_t n;
		memcpy(&n, key, sizeof(n));
		return n;
	}
};

class Batch : public Single {
public:
	using Single::Single;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys)
			found += weir_contains_keys(filter,
			                            weir_keys_fixed(keys + i, sizeof(*keys),
			                                            std::min(n - i, batch_keys)),
			                            bitmap);
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		uint64_t bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys)
			weir_insert_keys(filter,
			                 weir_keys_fixed(keys + i, sizeof(*keys),
			                                 std::min(n - i, batch_keys)),
			                 bitmap);
	}
	uint64_t lookup(const struct iovec *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys)
			found += weir_contains_keys(filter,
			                            weir_keys_iov(keys + i,
			                                          std::min(n - i, batch_keys)),
			                            bitmap);
		return found;
	}
	void insert(const struct iovec *keys, size_t n) override
	{
		uint64_t bitmap[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys)
			weir_insert_keys(filter,
			                 weir_keys_iov(keys + i, std::min(n - i, batch_keys)),
			                 bitmap);
	}
};

/* Looks up 4 Mi keys per call. The keys of one call do not fit into the caches. */
class LongBatch final : public Batch {
public:
	using Batch::Batch;
	using Batch::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		constexpr size_t at_once = size_t(4) << 20;
		static thread_local std::vector<uint64_t> bitmap(at_once / 64);
		uint64_t found = 0;
		for (size_t i = 0; i < n; i += at_once)
			found += weir_contains_keys(filter,
			                            weir_keys_fixed(keys + i, sizeof(*keys),
			                                            std::min(n - i, at_once)),
			                            bitmap.data());
		return found;
	}
};

/* Inserts as a loader does: hashes up to 16 Mi keys, then passes all these hashes in one call. */
class Bulk : public Batch {
public:
	using Batch::Batch;
	using Batch::insert;
	void insert(const uint64_t *keys, size_t n) override
	{
		constexpr size_t at_once = size_t(16) << 20;
		static thread_local std::vector<uint64_t> hashes;
		hashes.resize(std::max(hashes.size(), std::min(n, at_once)));
		for (size_t i = 0; i < n; i += at_once) {
			size_t m = std::min(n - i, at_once);
			weir_hash_keys(filter, weir_keys_u64(keys + i, m),
			               hashes.data());
			load(hashes.data(), m);
		}
	}

protected:
	virtual void load(const uint64_t *hashes, size_t n)
	{
		weir_insert_keys(filter, weir_keys_hashes(hashes, n), nullptr);
	}
};

class Private final : public Bulk {
public:
	using Bulk::Bulk;

protected:
	void load(const uint64_t *hashes, size_t n) override
	{
		check(weir_fill_keys(filter, weir_keys_hashes(hashes, n)), "weir_fill_keys");
	}
};

} // namespace

std::unique_ptr<Set> weir_single(size_t n, double rate)
{
	return std::make_unique<Single>(n, rate);
}
std::unique_ptr<Set> weir_single_u64(size_t n, double rate)
{
	return std::make_unique<SingleU64>(n, rate);
}
std::unique_ptr<Set> weir_batch(size_t n, double rate) { return std::make_unique<Batch>(n, rate); }
std::unique_ptr<Set> weir_long_batch(size_t n, double rate)
{
	return std::make_unique<LongBatch>(n, rate);
}
std::unique_ptr<Set> weir_bulk(size_t n, double rate) { return std::make_unique<Bulk>(n, rate); }
std::unique_ptr<Set> weir_private(size_t n, double rate)
{
	return std::make_unique<Private>(n, rate);
}
std::unique_ptr<Set> weir_classic(size_t n, double rate)
{
	return std::make_unique<Batch>(n, rate, WEIR_CLASSIC);
}

std::string weir_isa()
{
	WeirFilter probe(1000, 0.01, WEIR_BLOCKED);
	struct weir_stats stats = WEIR_STATS_INIT;
	check(weir_measure(probe.filter, WEIR_SAMPLED, &stats), "weir_measure");
	return stats.isa;
}

ForcedIsa::ForcedIsa(const char *isa) : forced_(isa), had_(getenv("WEIR_ISA"))
{
	if (had_)
		before_ = getenv("WEIR_ISA");
	if (forced_)
		setenv("WEIR_ISA", isa, 1);
}

ForcedIsa::~ForcedIsa()
{
	if (forced_ && had_)
		setenv("WEIR_ISA", before_.c_str(), 1);
	else if (forced_)
		unsetenv("WEIR_ISA");
}

bool weir_has_isa(const char *isa)
{
	ForcedIsa forced(isa);
	try {
		return !isa || weir_isa() == isa;
	} catch (const std::runtime_error &) {
		return false;
	}
}

} // namespace bench
