/* SPDX-License-Identifier: MIT
 * A weir filter in the benchmark's own memory, so that the benchmark can empty the filter before
 * each round of inserts. */
#ifndef WEIR_BENCH_WEIR_FILTER_H
#define WEIR_BENCH_WEIR_FILTER_H

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <weir/weir.h>
#include "../region.h"

namespace bench {

inline void check(int64_t done, const char *verb)
{
	if (done < 0)
		throw std::runtime_error(std::string(verb) + ": " +
		                         weir_strerror(static_cast<int>(done)) + ": " +
		                         weir_error_detail());
}

struct WeirFilter {
	WeirFilter(size_t n, double rate, uint32_t kind) : WeirFilter(params_of(n, rate, kind)) {}
	explicit WeirFilter(const struct weir_params &wanted, bool huge = true) : params(wanted)
	{
		struct weir_plan plan = WEIR_PLAN_INIT;
		check(weir_plan_make(&params, &plan), "weir_plan_make");
		region = std::make_unique<Region>(plan.bytes, huge);
		params.memory = region->base();
		params.memory_bytes = plan.bytes;
		check(weir_create(&filter, &params), "weir_create");
	}
	/* Makes an empty filter in the same memory. This also clears the data that some kinds keep
	 * outside the bits. */
	void renew()
	{
		weir_destroy(filter);
		filter = nullptr;
		check(weir_create(&filter, &params), "weir_create");
	}
	~WeirFilter() { weir_destroy(filter); }
	WeirFilter(const WeirFilter &) = delete;
	WeirFilter &operator=(const WeirFilter &) = delete;

	unsigned layout_words() const
	{
		struct weir_stats stats = WEIR_STATS_INIT;
		check(weir_measure(filter, WEIR_SAMPLED, &stats), "weir_measure");
		return stats.shape.kind == WEIR_BLOCKED ? stats.shape.blocked.words_per_key : 0;
	}

	static struct weir_params params_of(size_t n, double rate, uint32_t kind)
	{
		struct weir_params params = WEIR_PARAMS_INIT;
		params.kind = kind;
		params.capacity = n;
		params.fp_rate = rate;
		params.seed = kind == WEIR_SPLIT ? 0 : 42; /* split hashes without a seed */
		return params;
	}

	struct weir_params params;
	std::unique_ptr<Region> region;
	struct weir_filter *filter = nullptr;
};

} // namespace bench

#endif
