/* SPDX-License-Identifier: MIT
 * What does a reload do to my readers? Readers look up keys without a pause while the loader
 * replaces the set again and again. One run measures only the throughput; another run times each
 * call, for the latency. */
#include <algorithm>
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

const Flavor flavors[] = { { "bp", nullptr }, { "memb", &urcu_memb_flavor },
                           { "qsbr", &urcu_qsbr_flavor } };

struct Case {
	Phase phase;
	Read read;
	const Flavor *flavor;
	size_t n;
	unsigned threads;
	double pace; /* share of a core that the loader may use; 0: no limit */
	bool beside; /* the loader has its own CPU */
};

/* Return: the previous case's target, if this case needs the same target; otherwise a new target.
 * Cases that need the same target follow each other. */
Target &target_of(const Case &c)
{
	static std::unique_ptr<Target> last;
	static Case of;
	if (!last || of.phase != c.phase || of.flavor != c.flavor || of.n != c.n) {
		last.reset();
		last = make_target(c.n, c.phase, *c.flavor);
		of = c;
	}
	return *last;
}

/* Replaces the set, or leaves it unchanged for the same time. */
class Loader {
public:
	Loader(Target &target, const Flavor &flavor, double pace)
	    : target_(target), flavor_(flavor), pace_(pace)
	{
	}

	/* Replaces the set once without timing, before timed reloads. A reload evicts lines from
	 * the readers' caches, which still slows the readers after the reload. So the readers must
	 * begin each measurement with the caches that an earlier reload has left. */
	void lead() { target_.replace(0); }
	/* Replaces the set at least once, and for long enough to measure. */
	void replace()
	{
		auto began = clock::now();
		do {
			target_.replace(pace_);
			reloads_++;
		} while (clock::now() - began < least);
		last_ = clock::now() - began;
		all_ += last_;
	}
	/* Rests as long as the last replace() took, but no longer than a measurement needs. */
	void rest() { rest_for(std::min(last_, most)); }
	/* Rests long enough for the readers' caches to fill with the last published filter. */
	void settle() { rest_for(least / 4); }
	uint64_t reloads() const { return reloads_; }
	double seconds_each() const
	{
		return std::chrono::duration<double>(all_).count() / static_cast<double>(reloads_);
	}

private:
	using clock = std::chrono::steady_clock;
	static constexpr clock::duration least = std::chrono::milliseconds(20);
	static constexpr clock::duration most = std::chrono::milliseconds(500);

	void rest_for(clock::duration time)
	{
		for (auto until = clock::now() + time; clock::now() < until;) {
			flavor_.quiet();
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	}

	Target &target_;
	const Flavor &flavor_;
	const double pace_;
	uint64_t reloads_ = 0;
	clock::duration last_ = least, all_ = clock::duration::zero();
};

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

/* @prefix: precedes the name of each counter. */
void report_times(benchmark::State &state, const std::string &prefix, const struct histogram &times)
{
	double ns = ticks_ns();
	static const std::pair<const char *, double> quantiles[] = {
		{ "p50_ns", 0.5 }, { "p99_ns", 0.99 }, { "p999_ns", 0.999 }, { "p9999_ns", 0.9999 }
	};
	for (auto [name, quantile] : quantiles)
		counter(state, (prefix + name).c_str(), histogram_quantile(&times, quantile) * ns);
	counter(state, (prefix + "max_ns").c_str(), static_cast<double>(times.most) * ns);
}

/* Readers with and without reloads, measured in turn, since the machine's speed changes within
 * seconds. */
struct Sides {
	Tally during, calm;
	struct histogram during_times = {}, calm_times = {};
};

Tally tally_of(const Reading &whole, const Reading &clocked)
{
	Tally t;
	t.keys = whole.keys;
	t.ns = t.wall_ns = whole.ns;
	t.waited_ns = whole.waited_ns;
	t.lost = whole.lost + clocked.lost;
	return t;
}

void measure_readers(benchmark::State &state, const Case &c, Target &target)
{
	Readers readers(target, c.read, c.threads, *c.flavor, c.beside);
	Loader loader(target, *c.flavor, c.pace);
	auto sides = std::make_unique<Sides>();
	auto rest = [&] { loader.rest(); };
	auto replace = [&] { loader.replace(); };
	sides->during = rounds(state, [&] {
		auto calm = [&](struct histogram *times) {
			readers.run(nullptr, [&] { loader.settle(); });
			return readers.run(times, rest);
		};
		auto disturbed = [&](struct histogram *times) {
			loader.lead();
			return readers.run(times, replace);
		};
		sides->calm.add(tally_of(calm(nullptr), calm(&sides->calm_times)));
		Reading during = disturbed(nullptr);
		sides->calm.add(tally_of(calm(nullptr), Reading()));
		return tally_of(during, disturbed(&sides->during_times));
	});
	double calm = sides->calm.keys / sides->calm.ns;
	double during = sides->during.keys / sides->during.ns;
	report(state, sides->during, c.threads + 1);
	lost_keys(state, sides->calm.lost);
	counter(state, "of_calm", during / calm);
	counter(state, "calm_per_second", calm * 1e9);
	report_times(state, "", sides->during_times);
	report_times(state, "calm_", sides->calm_times);
	counter(state, "clock_ns", static_cast<double>(ticks.cost) * ticks_ns());
	counter(state, "timed", static_cast<double>(sides->during_times.total));
	counter(state, "reloads", static_cast<double>(loader.reloads()));
	counter(state, "reload_seconds", loader.seconds_each());
	counter(state, "reader_ms", (1 - during / calm) * loader.seconds_each() * 1e3);
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
	auto body = [c](benchmark::State &state) { run(state, c); };
	Part phase("phase", name_of(c.phase)), op("op", name_of(c.read));
	Part flavor("flavor", c.flavor->name), keys("keys", c.n), threads("threads", c.threads);
	if (c.pace > 0)
		add({ phase, op, flavor, { "pace", c.pace }, keys, threads }, body);
	else
		add({ phase, op, flavor, keys, threads }, body);
}

std::vector<unsigned> reader_counts(const Options &options)
{
	unsigned cpus = static_cast<unsigned>(allowed_cpus().size());
	unsigned beside = std::max(1u, cpus - 1);
	std::vector<unsigned> counts = { beside };
	if (options.quick())
		return counts;
	if (beside > 1)
		counts.insert(counts.begin(), 1);
	if (cpus > beside)
		counts.push_back(cpus);
	return counts;
}

/* Return: the operator's number of keys, rounded down to two digits and limited to what the mode
 * has time for. If the operator gave no number: the default numbers, and with --full also a large
 * number. */
std::vector<size_t> key_counts(const Options &options)
{
	if (options.smoke())
		return { 100000 };
	if (options.size) {
		size_t most = options.quick() ? 3000000 : 100000000, unit = 1;
		size_t n = std::clamp(options.size, size_t(100000), most);
		while (n / unit >= 100)
			unit *= 10;
		return { n / unit * unit };
	}
	if (options.quick())
		return { 1000000 };
	return options.full() ? std::vector<size_t>{ 1000000, 10000000, 100000000 } :
	                        std::vector<size_t>{ 1000000, 10000000 };
}

/* Return: true if there is time for all cases, not only for the first flavor's single lookups. */
bool time_for_all(const Options &options, size_t n)
{
	return n <= (options.full() || options.size ? 30000000 : 3000000);
}

bool wanted(const Options &options, const Case &c)
{
	bool usual = !c.flavor->rcu || (c.read == Read::hit && !options.quick());
	bool first = !c.flavor->rcu && c.read == Read::hit;
	bool more = c.read == Read::insert || c.read == Read::hit_of_16;
	/* the sharded target cannot look up in a caller's section (find_in_section()) */
	if (c.read == Read::hit_of_16 && c.phase == Phase::roll)
		return false;
	if (!time_for_all(options, c.n))
		return first && (c.beside || allowed_cpus().size() == 1);
	return options.full() || (usual && !(options.quick() && more));
}

/* Return: the paces at which to repeat a case, with a loader that readers should not notice. */
std::vector<double> paces(const Options &options, const Case &c)
{
	if (c.flavor->rcu || c.read != Read::hit || !c.beside)
		return {};
	if (options.quick() && c.phase != Phase::rebuild && c.phase != Phase::copy)
		return {}; /* a case with a pace takes ten times as long */
	return options.full() ? std::vector<double>{ 0.3, 0.1, 0.03 } : std::vector<double>{ 0.1 };
}

void add_with_paces(const Options &options, Case c)
{
	if (!wanted(options, c))
		return;
	add_case(c);
	for (double pace : paces(options, c)) {
		c.pace = pace;
		add_case(c);
	}
}

void add_all(const Options &options)
{
	size_t cpus = allowed_cpus().size();
	ticks_start();
	for (size_t n : key_counts(options))
		for (const Flavor &flavor : flavors)
			for (Phase phase :
			     { Phase::rebuild, Phase::copy, Phase::refresh, Phase::roll })
				for (Read read :
				     { Read::hit, Read::hit_of_16, Read::batch, Read::insert })
					for (unsigned threads : reader_counts(options))
						add_with_paces(options,
						               { phase, read, &flavor, n,
						                 threads, 0, threads < cpus });
}

const char help[] =
	"What does a reload do to my readers? Throughput and latency of threads that look up\n"
	"keys, all of them present, while one loader replaces the set without a pause between\n"
	"two reloads: the worst that a server can meet. A blocked filter at 1 %.\n"
	"  phase:rebuild  a new filter filled with every key\n"
	"  phase:copy     a new filter with the bits of the old one\n"
	"  phase:refresh  an image file read and taken over\n"
	"  phase:roll     rebuilt one of 16 shards at a time\n"
	"  op: hit (a key a call), hit_of_16 (by weir_handle_get(), 16 keys a section of the\n"
	"      reader's own), batch (64 keys a call), insert (keys that the loader inserts too, a\n"
	"      key a call)\n"
	"  flavor: of RCU. threads: readers, the first CPUs each; the loader takes the last one,\n"
	"          and shares it where threads is as many.\n"
	"  pace: the share of a core that the loader takes (weir_reload_options.pace); none:\n"
	"        all of it\n"
	"items_per_second are the keys of all readers, in runs without a clock; p50_ns to\n"
	"p9999_ns and max_ns of each call in other runs, clock_ns already taken off.\n"
	"calm_per_second, calm_p50_ns ...: the same readers with no loader, in turn with it;\n"
	"of_calm is the throughput as a share of that. reader_ms is what one reload takes of a\n"
	"reader's time: (1 - of_calm) * reload_seconds, in milliseconds. lost: lookups that\n"
	"missed a key. Throughput is by the readers' CPU time where the loader has another\n"
	"CPU, else by the clock; all other times are of the clock.\n";

const Question reload = { "reload", help, { 3, 0.1 }, { 5, 0.1 }, { 9, 1.0 },
			   "/phase:(rebuild|refresh)/op:hit/flavor:bp/keys:", Question::size,
			   add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::reload); }
