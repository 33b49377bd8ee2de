/* SPDX-License-Identifier: MIT
 * Measures one filter on huge and on small pages, with single keys and in batches, along with the
 * limits of the same memory. */
#include <weir/weir.h>
#include "bench_memory.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

struct Filled {
	size_t bytes = 0;
	bool huge = false;
	LayoutSet *set = nullptr; /* owned by work */
	std::unique_ptr<Work> work;
	Quality quality;
	Limit limit;
	double huge_share = 0;
};

Filled &filled(const Size &size, bool huge)
{
	static Filled last;
	if (last.bytes != size.bytes || last.huge != huge) {
		last = Filled();
		size_t n = keys_for(size.bytes);
		std::unique_ptr<LayoutSet> set = weir_layout(
			WeirFilter::params_of(n, 0.01, WEIR_BLOCKED), huge);
		last.set = set.get();
		last.work = std::make_unique<Work>(std::move(set), n);
		last.quality = last.work->fill(0.01, size_t(1) << 22);
		last.limit = limit_of(last.set->memory(), last.set->bytes());
		last.huge_share = huge_share(last.set->memory(), last.set->bytes());
		last.bytes = size.bytes;
		last.huge = huge;
	}
	return last;
}

void run(benchmark::State &state, const Size &size, bool huge, Verb verb, size_t batch)
{
	Filled &f = filled(size, huge);
	Team &team = team_of(1);
	f.set->take_at_once(batch);
	size_t each = f.work->usual();
	f.work->round(team, verb, each);
	Tally tally = rounds(state, [&] { return f.work->round(team, verb, each); });
	report(state, f.quality, f.set->bytes());
	report(state, tally, 1);
	counter(state, "huge_share", f.huge_share);
	counter(state, "limit_per_second",
	        verb == Verb::insert ? f.limit.fetch_ors_per_second : f.limit.lines_per_second);
}

void add_case(const char *what, const Size &size, bool huge, Verb verb, size_t batch)
{
	add({ { "what", what }, { "pages", name_of_pages(huge) }, { "keys", keys_for(size.bytes) },
	      { "fits", size.fits }, { "op", name_of(verb) },
	      { "batch", batch } },
	    [=](benchmark::State &state) { run(state, size, huge, verb, batch); });
}

} // namespace

/* Adds all cases of one filter together, so that it is filled once. */
void add_pages(const Options &options)
{
	for (const Size &size : options.sizes()) {
		if (options.quick() && !size.largest)
			continue;
		for (bool huge : { true, false }) {
			for (Verb verb : { Verb::hit, Verb::miss, Verb::insert })
				for (size_t batch : { size_t(0), batch_keys })
					add_case("pages", size, huge, verb, batch);
			for (Verb verb : { Verb::hit, Verb::insert })
				for (size_t batch = 1; batch <= 256 && (huge || !options.quick());
				     batch *= options.quick() ? 4 : 2)
					add_case("batch", size, huge, verb, batch);
		}
	}
}

} // namespace bench
