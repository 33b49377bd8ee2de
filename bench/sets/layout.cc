/* SPDX-License-Identifier: MIT
 * weir through the functions of the shared library. The caller chooses kind, layout, size and
 * pages, and single keys or batches. */
#include <algorithm>
#include <mutex>
#include <vector>
#include <weir/weir.h>
#include "numbers.h"
#include "set.h"
#include "weir_filter.h"

namespace bench {
namespace {

/* The loops over single keys, in a class that lets the compiler inline them. */
class OneByOne : public SingleKeySet<OneByOne> {
public:
	explicit OneByOne(struct weir_filter *f) : filter(f) {}
	uint64_t bytes() const override { return 0; }
	void clear() override {}
	bool find(const void *key, size_t len) const { return weir_contains(filter, key, len); }
	void add(const void *key, size_t len) { weir_insert(filter, key, len); }

private:
	struct weir_filter *filter;
};

class Chosen final : public LayoutSet, WeirFilter {
public:
	Chosen(const struct weir_params &wanted, bool huge) : WeirFilter(wanted, huge), one_(filter)
	{
		check(weir_plan_make(&wanted, &plan_), "weir_plan_make");
	}
	/* The bytes with all keys inserted: for a growing filter, those of all its layers. */
	uint64_t bytes() const override { return plan_.growing.full_bytes; }
	void clear() override
	{
		renew();
		to_build_.clear();
		one_ = OneByOne(filter);
	}
	void *memory() const override { return region->base(); }
	uint32_t words_per_key() const override
	{
		return shape_number(&plan_.shape, "words_per_key");
	}
	double fp_rate() const override { return plan_.fp_rate; }
	bool take_at_once(size_t batch) override
	{
		batch_ = batch;
		return batch <= batch_keys;
	}
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64];
		if (!batch_)
			return one_.lookup(keys, n);
		for (size_t i = 0; i < n; i += batch_)
			found += weir_contains_keys(filter,
			                            weir_keys_fixed(keys + i, sizeof(*keys),
			                                            std::min(n - i, batch_)),
			                            bitmap);
		return found;
	}
	void insert(const uint64_t *keys, size_t n) override
	{
		uint64_t bitmap[batch_keys / 64];
		if (!batch_)
			one_.insert(keys, n);
		else
			for (size_t i = 0; i < n; i += batch_)
				weir_insert_keys(filter,
				                 weir_keys_fixed(keys + i, sizeof(*keys),
				                                 std::min(n - i, batch_)),
				                 bitmap);
	}
	void load_keys(const uint64_t *keys, size_t n) override
	{
		std::vector<uint64_t> hashes(n);
		weir_hash_keys(filter, weir_keys_u64(keys, n), hashes.data());
		if (!built_) {
			check(weir_fill_keys(filter, weir_keys_hashes(hashes.data(), n)),
			      "weir_fill_keys");
			return;
		}
		std::lock_guard<std::mutex> own(lock_);
		to_build_.insert(to_build_.end(), hashes.begin(), hashes.end());
	}
	void settle() override
	{
		struct weir_filter *all = nullptr;
		if (!built_)
			return;
		weir_destroy(filter);
		filter = nullptr;
		check(weir_build(&all, &params,
		                 weir_keys_hashes(to_build_.data(), to_build_.size()), nullptr),
		      "weir_build");
		filter = all;
		one_ = OneByOne(filter);
	}
	uint64_t remove(const uint64_t *keys, size_t n) override
	{
		uint64_t refused = 0;
		for (size_t i = 0; i < n; i++)
			refused += weir_remove(filter, &keys[i], sizeof(*keys)) != 1;
		return refused;
	}
	uint64_t count(const uint64_t *keys, size_t n) override
	{
		uint64_t none = 0;
		for (size_t i = 0; i < n; i++)
			none += weir_count(filter, &keys[i], sizeof(*keys)) == 0;
		return none;
	}
	uint64_t chain(const uint64_t *keys, size_t n) override { return one_.chain(keys, n); }
	uint64_t mixed(const uint64_t *keys, size_t n, const uint64_t *fresh) override
	{
		return one_.mixed(keys, n, fresh);
	}
	uint64_t lookup(const struct iovec *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64];
		if (!batch_)
			return one_.lookup(keys, n);
		for (size_t i = 0; i < n; i += batch_)
			found +=
				weir_contains_keys(filter,
			                           weir_keys_iov(keys + i, std::min(n - i, batch_)),
			                           bitmap);
		return found;
	}
	void insert(const struct iovec *keys, size_t n) override
	{
		uint64_t bitmap[batch_keys / 64];
		if (!batch_)
			one_.insert(keys, n);
		else
			for (size_t i = 0; i < n; i += batch_)
				weir_insert_keys(filter,
				                 weir_keys_iov(keys + i, std::min(n - i, batch_)),
				                 bitmap);
	}

private:
	const bool built_ = weir_kind_can(params.kind, WEIR_CAN_BUILD);
	std::vector<uint64_t> to_build_;
	std::mutex lock_;
	struct weir_plan plan_ = WEIR_PLAN_INIT;
	OneByOne one_;
	size_t batch_ = 0;
};

} // namespace

std::unique_ptr<LayoutSet> weir_layout(const struct weir_params &params, bool huge_pages)
{
	return std::make_unique<Chosen>(params, huge_pages);
}

} // namespace bench
