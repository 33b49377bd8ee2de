/* SPDX-License-Identifier: MIT
 * See choice_kinds.h. */
#include "choice_kinds.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <weir/weir.h>
#include "sets/numbers.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

/* A growing filter is made for 1 / grown_times of its keys. */
constexpr size_t grown_times = 100;

int plan_of(const struct weir_params &params, struct weir_plan &plan)
{
	plan = WEIR_PLAN_INIT;
	return weir_plan_make(&params, &plan);
}

/* Sets approximately the lowest rate at which all layers together have at most @bytes. The size of
 * the first layer says little about the total, so the function searches for the rate. Return: false
 * if no rate fits. */
bool grown_within(struct weir_params &params, uint64_t bytes)
{
	struct weir_plan plan;
	double low = 1e-8, high = 0.5;
	params.fp_rate = high;
	if (plan_of(params, plan) || plan.growing.full_bytes > bytes)
		return false;
	for (int step = 0; step < 12; step++) {
		params.fp_rate = std::sqrt(low * high);
		const bool large = plan_of(params, plan) || plan.growing.full_bytes > bytes;
		(large ? low : high) = params.fp_rate;
	}
	params.fp_rate = high;
	return true;
}

/* Sets the words per key, in kinds that have this number. */
void ask_words(struct weir_params &params, uint32_t z)
{
	switch (params.kind) {
	case WEIR_COUNTING: params.counting.words_per_key = z; break;
	case WEIR_GROWING: params.growing.words_per_key = z; break;
	case WEIR_FREQUENCY: params.frequency.words_per_key = z; break;
	case WEIR_BLOCKED: params.blocked.words_per_key = z; break;
	default: break;
	}
}

/* Fills @params. Return: false if the kind has no such filter, or if the filter's rate would be
 * below a sixteenth of @rate, since such a filter could not be compared with the others. */
bool wanted(struct weir_params &params, uint32_t kind, uint32_t z, size_t n, double rate,
            double bits)
{
	struct weir_plan plan;
	uint64_t bytes = static_cast<uint64_t>(static_cast<double>(n) * bits / 8);
	bool grows = weir_kind_can(kind, WEIR_CAN_GROW);
	params = WeirFilter::params_of(grows ? n / grown_times : n, rate, kind);
	ask_words(params, z);
	params.growing.max_capacity = grows ? n : 0;
	if (bits > 0 && grows)
		return grown_within(params, bytes);
	if (bits > 0) {
		params.fp_rate = 0;
		params.max_bytes = bytes;
	}
	return plan_of(params, plan) == 0 && (bits > 0 || plan.fp_rate > rate / 16);
}

Made weir_kind(uint32_t kind, uint32_t z, size_t n, double rate, double bits)
{
	struct weir_params params;
	if (!wanted(params, kind, z, n, rate, bits))
		throw std::runtime_error(weir_error_detail());
	std::unique_ptr<LayoutSet> set = weir_layout(params);
	double expected = set->fp_rate();
	return { std::move(set), bits > 0 ? expected : std::min(rate, expected) };
}

/* Finds the functions that a kind has by calling them on a small filter. */
void ask_verbs(Kind &kind, uint32_t id)
{
	WeirFilter small(1000, 0.01, id);
	uint64_t key = 1;
	(void)weir_insert(small.filter, &key, sizeof(key));
	kind.counts = weir_count(small.filter, &key, sizeof(key)) > 0;
	kind.removes = weir_remove(small.filter, &key, sizeof(key)) >= 0;
}

/* Adds a kind. The kinds blocked (the default) and classic run at every point. Blocked runs with
 * each number of words per key. The other kinds choose this number themselves, and a full run also
 * measures them with each number. */
void add_weir(std::vector<Kind> &all, uint32_t kind)
{
	bool words = shape_has(kind, "words_per_key"), usual = kind <= WEIR_CLASSIC;
	for (uint32_t z = words && usual; z <= 8; z = z ? 2 * z : 1) {
		Kind one = { weir_kind_name(kind), z,
			     [kind, z](size_t n, double rate, double bits) {
				     return weir_kind(kind, z, n, rate, bits);
			     },
			     usual ? Kind::always : z ? Kind::rare : Kind::few, false, true };
		one.can = [kind, z](size_t n, double rate, double bits) {
			struct weir_params params;
			return wanted(params, kind, z, n, rate, bits);
		};
		one.inserts = !weir_kind_can(kind, WEIR_CAN_BUILD);
		one.grows = weir_kind_can(kind, WEIR_CAN_GROW);
		ask_verbs(one, kind);
		all.push_back(one);
		if (!words)
			return;
	}
}

Make yardstick(Maker maker)
{
	return [maker](size_t n, double rate, double bits) {
		double r = bits > 0 ? yardstick_rate(bits) : rate;
		return Made{ maker(n, r), r };
	};
}

/* Return: a function that makes a filter of the textbook's size, ln(1/rate) / ln(2)^2 bits per
 * key. */
Make textbook_sized(Maker maker)
{
	return [maker](size_t n, double rate, double bits) {
		double r = bits > 0 ? std::exp(-bits * M_LN2 * M_LN2) : rate;
		return Made{ maker(n, r), r };
	};
}

} // namespace

const std::vector<Kind> &kinds()
{
	static const std::vector<Kind> all = [] {
		std::vector<Kind> kinds;
#define ADD(number, constant, name, summary) add_weir(kinds, number);
		WEIR_SIMPLE_KINDS(ADD)
#undef ADD
		kinds.push_back({ "yardstick", 0, yardstick(yardstick_called), Kind::always });
		kinds.push_back({ "yardstick", 0, yardstick(yardstick_batch), Kind::always, true });
		kinds.push_back({ "libbloom", 0, textbook_sized(libbloom), Kind::slow });
		kinds.push_back({ "textbook", 0, textbook_sized(textbook), Kind::rare });
		return kinds;
	}();
	return all;
}

} // namespace bench
