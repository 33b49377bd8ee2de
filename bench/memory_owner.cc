/* SPDX-License-Identifier: MIT
 * The cost of a line that another core wrote last. Inserts have this cost when two threads insert.
 * bench/model multiplies it by the frequency of such lines.
 *
 * First each thread works in its own part of a filter, so every line that it visits is its own.
 * Then all threads work in the whole filter. The difference is the cost of the others' lines. */
#include <algorithm>
#include <string>
#include <vector>
#include <weir/weir.h>
#include "bench_memory.h"
#include "pulse.h"
#include "sets/set.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

enum class Visit {
	lock,   /* an atomic OR on one word per line; the core overlaps as many ORs as it can */
	mixed,  /* in turn 19 lookups (lookups_an_insert) and an insert */
	insert, /* single inserts */
	batch,  /* inserts in batches of batch_keys */
};
constexpr Visit visits[] = { Visit::lock, Visit::mixed, Visit::insert, Visit::batch };

const char *name_of(Visit visit)
{
	switch (visit) {
	case Visit::lock: return "or";
	case Visit::mixed: return "mixed";
	case Visit::insert: return "insert";
	case Visit::batch: return "batch";
	}
	return "";
}

using Hashes = std::vector<uint64_t>;

/* A blocked filter at 1 %, and hashes that fall on a part of its lines. */
class Parts {
public:
	Parts(size_t bytes, unsigned parts)
	    : filter_(keys_for(bytes), 0.01, WEIR_BLOCKED), parts_(parts)
	{
	}

	uint64_t bytes() const { return filter_.region->bytes(); }
	size_t lines() const { return bytes() / 64; }
	void clear() { filter_.region->clear(); }

	/* Makes hashes. The high half of hash * lines is the line's index ([PARTITION-BITS]), so a
	 * range of hashes is a range of lines. @part: the number of a part, or parts_ for the whole
	 * filter. */
	Hashes make(unsigned part, size_t n, uint64_t &salt) const
	{
		bool all = part == parts_;
		uint64_t width = all ? ~UINT64_C(0) : ~UINT64_C(0) / parts_;
		uint64_t first = all ? 0 : part * width;
		Hashes out(n);
		for (uint64_t &h : out)
			h = first + high_half(scramble(salt++), width);
		return out;
	}

	void visit(Visit how, const Hashes &hashes)
	{
		uint64_t bitmap[batch_keys / 64];
		size_t n = hashes.size();
		if (how == Visit::batch)
			for (size_t i = 0; i < n; i += batch_keys)
				weir_insert_keys(filter_.filter,
				                 weir_keys_hashes(&hashes[i],
				                                  std::min(n - i, batch_keys)),
				                 bitmap);
		else if (how == Visit::lock)
			for (uint64_t h : hashes)
				__atomic_fetch_or(line_of(h), UINT64_C(1) << h % 64,
				                  __ATOMIC_RELAXED);
		else
			one_by_one(hashes, how == Visit::mixed ? lookups_an_insert : 0);
	}

private:
	__extension__ typedef unsigned __int128 uint128;
	static uint64_t high_half(uint64_t a, uint64_t b)
	{
		return static_cast<uint64_t>(static_cast<uint128>(a) * b >> 64);
	}
	uint64_t *line_of(uint64_t h) const
	{
		return static_cast<uint64_t *>(filter_.region->base()) + high_half(h, lines()) * 8;
	}
	void one_by_one(const Hashes &hashes, size_t lookups)
	{
		uint64_t found = 0;
		for (size_t i = 0; i < hashes.size();) {
			for (size_t end = std::min(hashes.size(), i + lookups); i < end; i++)
				found += weir_contains_hash(filter_.filter, hashes[i]);
			if (i < hashes.size())
				found += weir_insert_hash(filter_.filter, hashes[i++]) > 0;
		}
		asm volatile("" : : "r"(found));
	}

	WeirFilter filter_;
	unsigned parts_;
};

/* own_ns: CPU time of visits to a thread's own lines; together_ns: CPU time of visits to the whole
 * filter. Both are the longest thread's time, multiplied by the number of threads. */
struct Price {
	double keys = 0, own_ns = 0, together_ns = 0, wall_ns = 0, waited_ns = 0;
	void add(const Price &p)
	{
		keys += p.keys;
		own_ns += p.own_ns;
		together_ns += p.together_ns;
		wall_ns += p.wall_ns;
		waited_ns += p.waited_ns;
	}
};

Price price_of(Team &team, Parts &parts, Visit how)
{
	static uint64_t round;
	unsigned n = team.size();
	/* as many keys as a thread inserts in a round of bench_cores */
	size_t each = parts.bytes() / n <= cache_bytes(2) ? size_t(1) << 15 : size_t(1) << 17;
	Price price;
	round++;
	auto all = [&](Visit visit, bool own, size_t keys) {
		std::vector<Hashes> hashes(n);
		team.run([&](unsigned t) {
			uint64_t salt = (round * n + t) << 32 | static_cast<uint64_t>(price.keys);
			hashes[t] = parts.make(own ? t : n, keys, salt);
		});
		price.keys += static_cast<double>(keys);
		Elapsed e = team.run([&](unsigned t) { parts.visit(visit, hashes[t]); });
		price.wall_ns += e.wall_ns;
		price.waited_ns += e.waited_ns;
		return e.cpu_ns * n;
	};
	parts.clear();
	/* give nearly every line an owner before the measurement */
	all(Visit::insert, true, 2 * parts.lines() / n);
	price.own_ns = all(how, true, each);
	all(Visit::insert, false, 2 * parts.lines() / n);
	price.together_ns = all(how, false, each);
	price.keys = static_cast<double>(each * n);
	return price;
}

Tally tally_of(const Price &price, unsigned threads)
{
	Tally t;
	t.keys = price.keys;
	t.ns = price.together_ns / threads;
	t.wall_ns = price.wall_ns;
	t.waited_ns = price.waited_ns;
	return t;
}

void run_owner(benchmark::State &state, Visit how, size_t bytes, unsigned threads)
{
	static std::unique_ptr<Parts> last;
	static size_t last_bytes;
	static unsigned last_threads;
	if (!last || last_bytes != bytes || last_threads != threads)
		last = std::make_unique<Parts>(bytes, threads);
	last_bytes = bytes;
	last_threads = threads;
	Price price;
	double handoff = 0;
	report(state, rounds(state, [&] {
		       Price one = price_of(team_of(threads), *last, how);
		       handoff += pulse_of(team_of(threads), 500).handoff_ns;
		       price.add(one);
		       return tally_of(one, threads);
	       }),
	       threads);
	counter(state, "handoff_ns", handoff / static_cast<double>(state.iterations()));
	counter(state, "bytes", static_cast<double>(last->bytes()));
	counter(state, "own_ns", price.own_ns / price.keys);
	counter(state, "together_ns", price.together_ns / price.keys);
}

/* ---- each pair of CPUs ---- */

/* with at most this many CPUs, each pair's figure is reported by itself */
constexpr size_t most_shown = 32;

using Pair = std::pair<size_t, size_t>; /* indices in allowed_cpus() */

/* Return: all pairs. With many CPUs and without @every, only pairs at distances 1, 2, 4 ... */
std::vector<Pair> pairs_of(size_t cpus, bool every)
{
	std::vector<Pair> pairs;
	for (size_t a = 0; a < cpus; a++)
		for (size_t b = a + 1; b < cpus; b++)
			if (every || cpus <= most_shown || ((b - a) & (b - a - 1)) == 0)
				pairs.emplace_back(a, b);
	return pairs;
}

std::string name_of(const Pair &pair)
{
	const std::vector<int> &cpus = allowed_cpus();
	return "cpu" + std::to_string(cpus[pair.first]) + "-cpu" +
	       std::to_string(cpus[pair.second]);
}

/* Adds a time to @ns. If @how is NULL, this is the time that a line needs from one CPU to the
 * other. Otherwise this is the additional time of a visit if both CPUs visit the same lines,
 * compared with visits of each CPU to its own lines. */
Tally visit_pair(Team &team, Parts &parts, const Visit *how, double &ns)
{
	Tally t;
	if (how) {
		Price price = price_of(team, parts, *how);
		ns += (price.together_ns - price.own_ns) / price.keys;
		return tally_of(price, 2);
	}
	pulse_of(team, 100); /* wakes the threads */
	Pulse pulse = pulse_of(team, 2000);
	ns += pulse.handoff_ns;
	t.keys = pulse.handoffs;
	t.ns = t.wall_ns = pulse.wall_ns;
	t.waited_ns = pulse.waited_ns;
	return t;
}

/* @how: NULL measures the handoff of one line between two CPUs. */
void run_pairs(benchmark::State &state, const Visit *how, bool every)
{
	const std::vector<int> &cpus = allowed_cpus();
	std::vector<Pair> pairs = pairs_of(cpus.size(), every);
	std::vector<double> ns(pairs.size());
	Parts parts(std::max(cache_bytes(2), size_t(256) << 10) / 2, 2);
	Tally tally = rounds(state, [&] {
		Tally all;
		for (size_t i = 0; i < pairs.size(); i++) {
			Team team({ cpus[pairs[i].first], cpus[pairs[i].second] });
			all.add(visit_pair(team, parts, how, ns[i]));
		}
		return all;
	});
	pin(cpus[0]);
	report(state, tally, 2);
	for (size_t i = 0; i < pairs.size(); i++) {
		ns[i] /= static_cast<double>(state.iterations());
		if (cpus.size() <= most_shown)
			counter(state, name_of(pairs[i]).c_str(), ns[i]);
	}
	std::sort(ns.begin(), ns.end());
	counter(state, "pairs", static_cast<double>(ns.size()));
	counter(state, "least_ns", ns.front());
	counter(state, "median_ns", ns[ns.size() / 2]);
	counter(state, "most_ns", ns.back());
}

void add_pairs(const Options &options)
{
	/* a fixed number of rounds: Google Benchmark would run too many rounds, since it does not
	 * count the time of the setup */
	long again = allowed_cpus().size() > 8 ? 2 : options.quick() ? 8 : 32;
	bool every = options.full();
	add({ { "what", "pair" }, { "how", "ping" } },
	    [=](benchmark::State &state) { run_pairs(state, nullptr, every); })
		->Iterations(again);
	for (const Visit &how : visits)
		add({ { "what", "pair" }, { "how", name_of(how) } },
		    [=](benchmark::State &state) { run_pairs(state, &how, every); })
			->Iterations(again);
}

} // namespace

void add_owners(const Options &options)
{
	if (allowed_cpus().size() < 2)
		return;
	add_pairs(options);
	for (const Size &size : options.sizes()) {
		bool small = size.fits == std::string("L2");
		if (options.quick() && !small)
			continue;
		for (unsigned threads : thread_counts(options.quick() ? 3 : 64))
			for (Visit how : visits)
				if (threads > 1 && how != Visit::lock)
					add({ { "what", "owner" }, { "how", name_of(how) },
					      { "fits", size.fits }, { "threads", threads } },
					    [=](benchmark::State &state) {
						    run_owner(state, how, size.bytes, threads);
					    })
						->Iterations(small ? 32 : 1);
	}
}

} // namespace bench
