/* SPDX-License-Identifier: MIT
 * A guard with a handle, for one thread. The thread asks the guard about each key. If the guard
 * does not answer that the key is absent, the thread reports to the guard that the key was
 * present. */
#include <algorithm>
#include <weir/weir.h>
#include "handle.h"
#include "weir_filter.h"

namespace bench {
namespace {

class Guarded : public SingleKeySet<Guarded> {
public:
	/* @bypass_below: If the filter finds less than this share of the keys absent, the guard
	 * bypasses the filter from then on. 0: the guard never bypasses the filter. */
	Guarded(size_t n, double rate, double bypass_below = 0) : filter_(n, rate, WEIR_BLOCKED)
	{
		struct weir_guard_options options = WEIR_GUARD_OPTIONS_INIT;
		check(weir_handle_create(&handle_, filter_.filter, nullptr), "weir_handle_create");
		filter_.filter = nullptr; /* the handle owns the filter now */
		options.handle = handle_;
		options.bypass_below = bypass_below;
		options.resume_above = bypass_below > 0 ? 1 : 0;
		check(weir_guard_create(&guard_, &options), "weir_guard_create");
		check(weir_guard_join(&thread, guard_), "weir_guard_join");
	}
	~Guarded() override
	{
		weir_guard_leave(thread);
		check(weir_guard_destroy(guard_), "weir_guard_destroy");
		check(weir_handle_destroy(handle_), "weir_handle_destroy");
	}
	uint64_t bytes() const override { return filter_.region->bytes(); }
	void clear() override { filter_.region->clear(); }
	bool find(const void *key, size_t len)
	{
		int answer = weir_guard_ask(thread, key, len);
		if (answer == WEIR_GUARD_ABSENT)
			return false;
		weir_guard_saw(thread, answer, true);
		return true;
	}
	void add(const void *key, size_t len) { weir_handle_insert(handle_, key, len); }

	struct weir_guard_thread *thread = nullptr;

private:
	WeirFilter filter_;
	struct weir_handle *handle_ = nullptr;
	struct weir_guard *guard_ = nullptr;
};

class GuardedBatch final : public Guarded {
public:
	using Guarded::Guarded;
	using Guarded::lookup;
	uint64_t lookup(const uint64_t *keys, size_t n) override
	{
		uint64_t found = 0, bitmap[batch_keys / 64], bypassed[batch_keys / 64];
		for (size_t i = 0; i < n; i += batch_keys) {
			size_t m = std::min(n - i, batch_keys);
			found += static_cast<uint64_t>(
				weir_guard_ask_keys(thread,
			                            weir_keys_u64(keys + i, m),
			                            bitmap, bypassed));
			weir_guard_saw_keys(thread, bitmap, bypassed, bitmap, m);
		}
		return found;
	}
};

/* A value of bypass_below at which the guard bypasses the filter in rounds of hits, because no key
 * is absent in these rounds. */
constexpr double always = 0.9;

} // namespace

std::unique_ptr<Set> guarded(size_t n, double rate) { return std::make_unique<Guarded>(n, rate); }
std::unique_ptr<Set> guarded_batch(size_t n, double rate)
{
	return std::make_unique<GuardedBatch>(n, rate);
}
std::unique_ptr<Set> guard_bypassed(size_t n, double rate)
{
	return std::make_unique<Guarded>(n, rate, always);
}
std::unique_ptr<Set> guard_bypassed_batch(size_t n, double rate)
{
	return std::make_unique<GuardedBatch>(n, rate, always);
}

} // namespace bench
