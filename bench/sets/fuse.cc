/* SPDX-License-Identifier: MIT
 * A fuse filter. One or two threads build it from its keys, which they hash and sort. Lookups have
 * one key per call, or a batch. */
#include <algorithm>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <vector>
#include <weir/weir.h>
#include "set.h"
#include "weir_filter.h"

namespace bench {
namespace {

/* Lets the caller and the threads that it creates run on any CPU, since a team pins its threads.
 * The destructor restores the caller's CPUs. */
class Unpinned {
public:
	Unpinned()
	{
		cpu_set_t all;
		sched_getaffinity(0, sizeof(before_), &before_);
		CPU_ZERO(&all);
		for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, &all);
		sched_setaffinity(0, sizeof(all), &all);
	}
	~Unpinned() { sched_setaffinity(0, sizeof(before_), &before_); }
	Unpinned(const Unpinned &) = delete;
	Unpinned &operator=(const Unpinned &) = delete;

private:
	cpu_set_t before_;
};

class Fuse : public SingleKeySet<Fuse> {
public:
	Fuse(size_t n, double rate, unsigned threads)
	    : threads_(threads), params_(WeirFilter::params_of(n, rate, WEIR_FUSE))
	{
	}
	~Fuse() override { weir_destroy(filter); }
	uint64_t bytes() const override
	{
		struct weir_stats stats = WEIR_STATS_INIT;
		check(weir_measure(filter, WEIR_SAMPLED, &stats), "weir_measure");
		return stats.bytes;
	}
	void clear() override
	{
		weir_destroy(filter);
		filter = nullptr;
	}
	using SingleKeySet<Fuse>::insert;
	/* Builds the filter. @keys: all keys of the filter. */
	void insert(const uint64_t *keys, size_t n) override
	{
		struct weir_builder_options options = WEIR_BUILDER_OPTIONS_INIT;
		struct weir_builder *b = nullptr;
		options.threads = threads_;
		check(weir_builder_create(&b, &params_, &options), "weir_builder_create");
		if (threads_ == 1) {
			check(weir_builder_add_keys(b, weir_keys_u64(keys, n)),
			      "adding");
			check(weir_builder_finish(&filter, b, nullptr), "weir_builder_finish");
		} else {
			Unpinned unpinned;
			add_by_threads(b, keys, n);
			check(weir_builder_finish(&filter, b, nullptr), "weir_builder_finish");
		}
		weir_builder_destroy(b);
	}
	bool find(const void *key, size_t len) const { return weir_contains(filter, key, len); }
	void add(const void *, size_t) { throw std::logic_error("fuse takes no insert"); }

	struct weir_filter *filter = nullptr;

private:
	void add_by_threads(struct weir_builder *b, const uint64_t *keys, size_t n) const
	{
		std::vector<std::thread> others;
		auto part = [&](unsigned t) {
			size_t from = n * t / threads_, to = n * (t + 1) / threads_;
			/* the builder remembers a failure, and weir_builder_finish() reports it */
			(void)!weir_builder_add_keys(b, weir_keys_fixed(keys + from, sizeof(*keys),
			                                                to - from));
		};
		for (unsigned t = 1; t < threads_; t++)
			others.emplace_back(part, t);
		part(0);
		for (std::thread &t : others)
			t.join();
	}

	const unsigned threads_;
	const struct weir_params params_;
};

class FuseBatch final : public Fuse {
public:
	using Fuse::Fuse;
	using Fuse::lookup;
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
};

} // namespace

std::unique_ptr<Set> weir_fuse(size_t n, double rate)
{
	return std::make_unique<Fuse>(n, rate, 1);
}
std::unique_ptr<Set> weir_fuse_by_two(size_t n, double rate)
{
	return std::make_unique<Fuse>(n, rate, 2);
}
std::unique_ptr<Set> weir_fuse_batch(size_t n, double rate)
{
	return std::make_unique<FuseBatch>(n, rate, 1);
}

} // namespace bench
