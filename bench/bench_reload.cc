/* SPDX-License-Identifier: MIT
 * What does a reload do to my readers? Readers ask the set without a pause while the loader replaces it again and again; once with
 * only the end of it all timed, for the throughput, and once with each call timed, for the latency. */
#include <chrono>
#include <cmath>
#include <weir/weir.h>
#include "harness.h"
#include "machine.h"
#include "reload.h"

extern "C" {
extern const struct rcu_flavor_struct urcu_memb_flavor, urcu_qsbr_flavor;
}

namespace bench {
namespace {

const Flavor flavors[] = { { "bp", nullptr }, { "memb", &urcu_memb_flavor }, { "qsbr", &urcu_qsbr_flavor } };

struct Case {
	Phase phase;
	bool rolling;
	Read read;
	const Flavor *flavor;
	size_t n;
	unsigned threads;
};

/* The last target: the cases that share it follow each other. */
Target &target_of(const Case &c)
{
	static std::unique_ptr<Target> last;
	static Case of;
	if (!last || of.phase != c.phase || of.rolling != c.rolling || of.flavor != c.flavor || of.n != c.n) {
		last.reset();
		last = make_target(c.n, c.phase, c.rolling, *c.flavor);
		of = c;
	}
	return *last;
}

/* What the loader does in one run of the readers. */
void load(Target &target, Phase phase, const Flavor &flavor)
{
	if (phase != Phase::none) {
		target.replace();
		return;
	}
	auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
	while (std::chrono::steady_clock::now() < until) {
		flavor.quiet();
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
}

Quality quality_of(Target &target, const Case &c)
{
	constexpr size_t misses = 200000;
	Quality q;
	double wrong = static_cast<double>(target.wrong(misses));
	q.fp_asked = 0.01;
	q.fp_measured = wrong / misses;
	q.fp_interval = wrong > 0 ? 2.576 * std::sqrt((1 - q.fp_measured) / wrong) : 1;
	q.bits_per_key = static_cast<double>(target.bytes()) * 8 / static_cast<double>(c.n);
	const std::vector<uint64_t> &hashes = target.hashes();
	q.lost = hashes.size() - target.whole(Read::hit, hashes.data(), hashes.size());
	return q;
}

void report_times(benchmark::State &state, const struct histogram &times)
{
	double ns = ticks_ns();
	counter(state, "p50_ns", histogram_quantile(&times, 0.5) * ns);
	counter(state, "p99_ns", histogram_quantile(&times, 0.99) * ns);
	counter(state, "p999_ns", histogram_quantile(&times, 0.999) * ns);
	counter(state, "max_ns", static_cast<double>(times.most) * ns);
	counter(state, "clock_ns", static_cast<double>(ticks.cost) * ns);
	counter(state, "timed", static_cast<double>(times.total));
}

void measure_readers(benchmark::State &state, const Case &c, Target &target)
{
	Readers readers(target, c.read, c.threads, *c.flavor);
	uint64_t runs = 0;
	auto loader = [&] { load(target, c.phase, *c.flavor); };
	Tally tally = rounds(state, [&] {
		Reading whole = readers.run(false, loader), clocked = readers.run(true, loader);
		runs++;
		Tally t;
		t.keys = whole.keys;
		t.ns = t.wall_ns = whole.ns;
		t.waited_ns = whole.waited_ns;
		t.lost = whole.lost + clocked.lost;
		return t;
	});
	report(state, tally, c.threads + (c.phase != Phase::none));
	report_times(state, readers.times());
	if (c.phase != Phase::none) {
		counter(state, "reloads", 2 * static_cast<double>(runs));
		counter(state, "reload_seconds", tally.ns * 1e-9 / static_cast<double>(runs));
	}
}

void run(benchmark::State &state, const Case &c)
{
	c.flavor->enter();
	pin(allowed_cpus().back());
	try {
		Target &target = target_of(c);
		measure_readers(state, c, target);
		report(state, quality_of(target, c), target.bytes());
	} catch (...) {
		c.flavor->leave();
		throw;
	}
	c.flavor->leave();
}

void add_case(const Case &c)
{
	add({ { "phase", name_of(c.phase) }, { "op", name_of(c.read) }, { "flavor", c.flavor->name }, { "form", c.rolling ? "rolling" : "handle" },
	      { "keys", c.n }, { "threads", c.threads } },
	    [c](benchmark::State &state) { run(state, c); });
}

std::vector<unsigned> reader_counts(const Options &options)
{
	unsigned cpus = static_cast<unsigned>(allowed_cpus().size()), beside = std::max(1u, cpus - 1);
	std::vector<unsigned> counts = { beside };
	if (options.quick())
		return counts;
	if (beside > 1)
		counts.insert(counts.begin(), 1);
	if (cpus > beside)
		counts.push_back(cpus);
	return counts;
}

void add_all(const Options &options)
{
	static const std::pair<Phase, bool> phases[] = { { Phase::none, false },    { Phase::rebuild, false }, { Phase::copy, false },
		                                         { Phase::refresh, false }, { Phase::none, true },     { Phase::roll, true } };
	ticks_start();
	for (size_t n : { size_t(1000000), size_t(3000000), size_t(10000000) })
		for (const Flavor &flavor : flavors)
			for (auto [phase, rolling] : phases)
				for (Read read : { Read::hit, Read::batch, Read::insert }) {
					bool usual = n == (options.quick() ? 1000000 : 3000000) && (!flavor.rcu || (read == Read::hit && !options.quick()));
					if (!options.full() && (!usual || (options.quick() && read == Read::insert)))
						continue;
					for (unsigned threads : reader_counts(options))
						add_case({ phase, rolling, read, &flavor, n, threads });
				}
}

const char help[] =
	"What does a reload do to my readers? Throughput and latency of threads that look up keys, all of them present, while one loader\n"
	"replaces the set without a pause between two reloads: the worst that a server can meet. A blocked filter at 1 %.\n"
	"  phase:none     nobody disturbs: what the others are to be compared with\n"
	"  phase:rebuild  a new filter filled with every key        phase:copy  a new filter with the bits of the old one\n"
	"  phase:refresh  an image file taken over, mapped          phase:roll  rebuilt one of 16 shards at a time (form:rolling)\n"
	"  op: hit (a key a call), batch (64 keys a call), insert (keys that the loader inserts too, a key a call)\n"
	"  flavor: of RCU. threads: readers, the first CPUs each; the loader takes the last one, and shares it where threads is as many.\n"
	"items_per_second are the keys of all readers, in runs without a clock; p50_ns to max_ns of each call in other runs, clock_ns already\n"
	"taken off. lost: lookups that missed a key. All times are of the clock.\n";

const Question reload = { "reload", help, { 3, 0.1 }, { 5, 0.2 }, { 9, 1.0 }, false, add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::reload); }
