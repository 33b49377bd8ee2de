/* SPDX-License-Identifier: MIT
 * How does throughput grow with cores? Each set is filled once for a size and a rate. Then each
 * operation runs on 1, 2, 4 ... and all CPUs. Threads are pinned: each physical core gets one
 * thread before any core gets a second. */
#include <memory>
#include <weir/weir.h>
#include "harness.h"
#include "machine.h"
#include "pulse.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

std::unique_ptr<Set> blocked(size_t n, double rate)
{
	return weir_layout(WeirFilter::params_of(n, rate, WEIR_BLOCKED));
}
std::unique_ptr<Set> classic(size_t n, double rate)
{
	return weir_layout(WeirFilter::params_of(n, rate, WEIR_CLASSIC));
}

struct Contender {
	const char *name;
	Maker make;
	enum { always, others, slow, everything } when;
	bool batches = false;   /* true: the set also takes batches */
	bool lookups_only = false;
};

const Contender contenders[] = {
	{ "blocked", blocked, Contender::always, true },
	{ "blocked-inline", weir_inlined, Contender::others },
	{ "classic", classic, Contender::others, true },
	{ "split", yardstick_single, Contender::others },
	{ "split-batch", yardstick_batch, Contender::others, false, true },
	{ "libbloom-mutex", libbloom_mutex, Contender::slow },
	{ "shard-mutex", mutex_per_shard, Contender::slow },
	{ "shard-rwlock", rwlock_per_shard, Contender::slow },
	{ "lfht", lfht, Contender::everything },
};

struct Case {
	const Contender *contender;
	Verb verb;
	Size size;
	double rate;
	size_t batch;
	unsigned threads;
};

/* The filled set of the previous case. Cases with the same contender, size and rate follow each
 * other, so they share the set. */
struct Filled {
	const Contender *contender = nullptr;
	size_t bytes = 0;
	double rate = 0;
	std::unique_ptr<Work> work;
	Quality quality;
};

Filled &filled(const Case &c)
{
	static Filled last;
	if (last.contender != c.contender || last.bytes != c.size.bytes || last.rate != c.rate) {
		last = Filled();
		size_t n = keys_for(c.size.bytes);
		last.work = std::make_unique<Work>(c.contender->make(n, c.rate), n);
		last.quality = last.work->fill(c.rate, size_t(1) << 22);
		last.contender = c.contender;
		last.bytes = c.size.bytes;
		last.rate = c.rate;
	}
	return last;
}

void run(benchmark::State &state, const Case &c)
{
	Filled &f = filled(c);
	Team &team = team_of(c.threads);
	size_t each = f.work->usual();
	if (c.contender->batches)
		f.work->set().take_at_once(c.batch);
	f.work->round(team, c.verb, each); /* warms the caches */
	Beside beside(team, [&] { return f.work->round(team_of(1), c.verb, each); });
	Tally tally = rounds(state, [&] {
		beside.take();
		return f.work->round(team, c.verb, each);
	});
	beside.report(state);
	report(state, f.quality, f.work->set().bytes());
	report(state, tally, c.threads);
}

void add_case(const Case &c)
{
	/* "split-batch" is the batch function of the contender "split", so report it as "split"
	 * with a batch */
	bool yardstick = c.contender->lookups_only;
	add({ { "op", name_of(c.verb) }, { "set", yardstick ? "split" : c.contender->name },
	      { "rate", c.rate }, { "keys", keys_for(c.size.bytes) }, { "fits", c.size.fits },
	      { "batch", yardstick ? batch_keys : c.batch }, { "threads", c.threads } },
	    [c](benchmark::State &state) { run(state, c); });
}

void add_set(const Contender &contender, const Size &size, double rate, const Options &options)
{
	bool all = contender.when == Contender::always || !options.quick();
	std::vector<unsigned> threads = thread_counts(options.quick() ? 5 : 64);
	for (Verb verb : { Verb::hit, Verb::miss, Verb::insert, Verb::mixed, Verb::zipf }) {
		bool asked = verb == Verb::hit || verb == Verb::miss;
		if ((contender.lookups_only && !asked) ||
		    (!all && verb != Verb::hit && verb != Verb::insert))
			continue;
		for (size_t batch : { size_t(0), batch_keys })
			for (unsigned n : threads)
				if (!batch || (contender.batches && all &&
				               (verb == Verb::hit || verb == Verb::insert ||
				                (verb == Verb::miss && !options.quick()))))
					add_case({ &contender, verb, size, rate, batch, n });
	}
}

bool wanted(const Contender &contender, const Size &size, double rate, const Options &options)
{
	const std::string fits = size.fits;
	if (options.full())
		return true;
	if (options.quick())
		return contender.when < Contender::everything && rate == 0.01 &&
		       (fits == "L2" ||
		        (size.largest && (contender.when == Contender::always ||
		                          contender.make == yardstick_single)));
	if (contender.when == Contender::slow)
		return rate == 0.01 && fits == "L2";
	/* large sets take long to fill */
	return contender.when < Contender::slow &&
	       (contender.batches || rate == 0.01 || fits != "memory");
}

void add_all(const Options &options)
{
	for (const Size &size : options.sizes())
		for (double rate : { 0.01, 0.001 })
			for (const Contender &contender : contenders) {
				bool few = contender.when == Contender::everything;
				if (wanted(contender, size, rate, options) &&
				    keys_for(size.bytes) < (few ? 10000000u : ~0u))
					add_set(contender, size, rate, options);
			}
}

const char help[] =
	"How does throughput grow with cores? Lookups of keys that are there (hit) and are not\n"
	"(miss), inserts of new keys from empty to capacity (insert), 19 hits for one insert\n"
	"(mixed), inserts of keys of which few come often (zipf: Zipf's law, 0.99), one key a\n"
	"call or in batches of 1024, on 1, 2, 4 ... and all allowed CPUs, in filters that fit\n"
	"half of the L2, half of the L3, and four times the last cache (less where that takes\n"
	"too long to fill, unless --full), at 1 % and 0.1 %.\n"
	"blocked and classic are weir's through its shared library, blocked-inline through\n"
	"<weir/inline.h>; split is a split-block filter written for this machine, inlined; the\n"
	"others are what a user would write: libbloom behind a mutex, 64 shards each behind a\n"
	"mutex or a read-write lock, liburcu's hash table (--full).\n";

const Question cores = { "cores", help, { 3, 0.03 }, { 5, 0.03 }, { 9, 0.4 },
			   "/op:(hit|insert)/set:blocked/", Question::nothing, add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::cores); }
