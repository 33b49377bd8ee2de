/* SPDX-License-Identifier: MIT
 * Measures the machine's limits with 1, 2, 4 ... threads, up to the number of CPUs: reads of random
 * lines, and fetch-ors of a word per thread, of one word for all threads, and of random words in an
 * array. */
#include <fstream>
#include <sstream>
#include <string>
#include "bench_memory.h"
#include "pulse.h"
#include "region.h"

namespace bench {
namespace {

constexpr size_t a_round = size_t(1) << 18, tries = size_t(1) << 17;

struct Array {
	size_t bytes = 0;
	bool huge = false;
	std::unique_ptr<Region> region;
	std::unique_ptr<Lines> lines;
};

Array &array_of(size_t bytes, bool huge)
{
	static Array last;
	if (last.bytes != bytes || last.huge != huge) {
		last = Array();
		last.region = std::make_unique<Region>(bytes, huge);
		last.lines = std::make_unique<Lines>(last.region->base(), bytes, tries);
		last.bytes = bytes;
		last.huge = huge;
	}
	return last;
}

Tally timed(Team &team, size_t each, const std::function<void(unsigned)> &work)
{
	Elapsed e = team.run(work);
	Tally t;
	t.keys = static_cast<double>(each * team.size());
	t.ns = team.size() > 1 ? e.wall_ns : e.cpu_ns;
	t.wall_ns = e.wall_ns;
	t.waited_ns = e.waited_ns;
	return t;
}

void run_array(benchmark::State &state, const Size &size, bool huge, unsigned threads, bool write)
{
	Array &array = array_of(size.bytes, huge);
	Team &team = team_of(threads);
	uint64_t at = 0;
	/* The first call chooses the prefetch distance, so make it before the threads start. */
	write ? array.lines->fetch_or(0, 1) : benchmark::DoNotOptimize(array.lines->read(0, 1));
	auto round = [&](Team &some) {
		Tally t = timed(some, a_round, [&](unsigned thread) {
			uint64_t from = at + thread * a_round;
			if (write)
				array.lines->fetch_or(from, a_round);
			else
				benchmark::DoNotOptimize(array.lines->read(from, a_round));
		});
		at += some.size() * a_round;
		return t;
	};
	Beside beside(team, [&] { return round(team_of(1)); });
	report(state, rounds(state, [&] {
		       beside.take();
		       return round(team);
	       }),
	       threads);
	beside.report(state);
	counter(state, "bytes", static_cast<double>(size.bytes));
	counter(state, "huge_share", huge_share(array.region->base(), size.bytes));
}

/* Measures fetch-ors of one word per thread, or of the same word for all threads. */
void run_word(benchmark::State &state, bool own, unsigned threads)
{
	Team &team = team_of(threads);
	/* a word in every second line, because CPUs prefetch pairs of lines */
	std::vector<uint64_t> words(threads * 16);
	report(state, rounds(state, [&] {
		       return timed(team, a_round, [&](unsigned thread) {
			       uint64_t *word = &words[own ? thread * 16 : 0];
			       for (size_t i = 0; i < a_round; i++)
				       __atomic_fetch_or(word, UINT64_C(1) << i % 64,
				                         __ATOMIC_RELAXED);
		       });
	       }),
	       threads);
}

} // namespace

Limit limit_of(void *memory, size_t bytes)
{
	Lines lines(memory, bytes, tries);
	Team &team = team_of(1);
	auto best = [&](auto work) {
		double most = 0;
		uint64_t at = 0;
		for (int again = 0; again < 7; again++, at += a_round) {
			double ns = timed(team, a_round, [&](unsigned) { work(at); }).ns;
			most = std::max(most, static_cast<double>(a_round) / (ns * 1e-9));
		}
		return most;
	};
	double read = best([&](uint64_t at) { benchmark::DoNotOptimize(lines.read(at, a_round)); });
	return { read, best([&](uint64_t at) { lines.fetch_or(at, a_round); }) };
}

double huge_share(const void *memory, size_t bytes)
{
	uint64_t begin = reinterpret_cast<uintptr_t>(memory), end = begin + bytes;
	double huge_kib = 0;
	bool within = false;
	std::ifstream maps("/proc/self/smaps");
	for (std::string line; std::getline(maps, line);) {
		unsigned long long from, to, kib;
		if (sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2)
			within = from < end && to > begin;
		else if (within && sscanf(line.c_str(), "AnonHugePages: %llu kB", &kib) == 1)
			huge_kib += static_cast<double>(kib);
	}
	return std::min(1.0, huge_kib * 1024 / static_cast<double>(bytes));
}

void add_limits(const Options &options)
{
	for (const Size &size : options.sizes()) {
		if (options.quick() && !size.largest)
			continue;
		for (bool huge : { true, false })
			for (bool write : { false, true })
				for (unsigned threads : thread_counts(options.quick() ? 3 : 64))
					add({ { "what", write ? "fetch-or" : "lines" },
					      { "where", "random" },
					      { "pages", name_of_pages(huge) },
					      { "fits", size.fits }, { "threads", threads } },
					    [=](benchmark::State &state) {
						    run_array(state, size, huge, threads, write);
					    });
	}
	for (bool own : { true, false })
		for (unsigned threads : thread_counts(options.quick() ? 3 : 64))
			add({ { "what", "fetch-or" }, { "where", own ? "own" : "same" },
			      { "threads", threads } },
			    [=](benchmark::State &state) { run_word(state, own, threads); });
}

} // namespace bench
