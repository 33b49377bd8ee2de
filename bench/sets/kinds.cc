/* SPDX-License-Identifier: MIT
 * Kinds that remove keys, and a blocked filter with as much memory. */
#include <weir/weir.h>
#include "numbers.h"
#include "set.h"
#include "weir_filter.h"

namespace bench {

std::unique_ptr<Set> weir_counting(size_t n, double rate)
{
	return weir_layout(WeirFilter::params_of(n, rate, WEIR_COUNTING));
}

std::unique_ptr<Set> blocked_as_counting(size_t n, double rate)
{
	struct weir_params like = WeirFilter::params_of(n, rate, WEIR_COUNTING);
	struct weir_params params = WeirFilter::params_of(n, 0, WEIR_BLOCKED);
	struct weir_plan plan = WEIR_PLAN_INIT;
	check(weir_plan_make(&like, &plan), "weir_plan_make");
	params.max_bytes = plan.bytes;
	params.blocked.words_per_key = shape_number(&plan.shape, "words_per_key");
	params.blocked.bits_per_word = shape_number(&plan.shape, "counters_per_word");
	return weir_layout(params);
}

std::unique_ptr<Set> weir_cuckoo(size_t n, double rate)
{
	return weir_layout(WeirFilter::params_of(n, rate, WEIR_CUCKOO));
}

} // namespace bench
