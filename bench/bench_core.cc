/* SPDX-License-Identifier: MIT
 * Measures each operation of weir and of its alternatives: inserts, hits, misses, batches, latency
 * and strings, by size, rate and threads. Google Benchmark prints a line for each case: the column
 * Time is the time per key, and other columns are the filter's bits per key and measured rate. An
 * iteration is the median of some rounds. With one thread the time is CPU time, with several
 * threads it is the clock's time. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <benchmark/benchmark.h>
#include "measure.h"
#include "table.h"

namespace bench {
namespace {

struct Contender {
	const char *name;
	Maker make;
	size_t largest;      /* the most keys; more keys would take too long or too much memory */
	bool strings;
	bool lookups = true; /* false: only the inserts differ from another contender's */
	bool limit = false;  /* true: measures a limit of the machine, and stores no keys */
};

constexpr size_t m10 = 10000000, m100 = 100000000;

const Contender contenders[] = {
	{ "weir_single", weir_single, m100, true },
	{ "weir_inline", weir_inlined, m100, true },
	{ "weir_batch", weir_batch, m100, true },
	{ "weir_bulk", weir_bulk, m100, false, false },
	{ "weir_private", weir_private, m100, false, false },
	{ "weir_classic_batch", weir_classic, m10, false },
	{ "split_block_single", yardstick_single, m100, true },
	{ "split_block_batch", yardstick_batch, m100, false },
	{ "split_block_native_single", yardstick_native_single, m100, false },
	{ "split_block_native_batch", yardstick_native_batch, m100, false },
	{ "textbook", textbook, m10, true },
	{ "libbloom", libbloom, m10, true },
	{ "mutex_per_shard", mutex_per_shard, m10, true },
	{ "rwlock_per_shard", rwlock_per_shard, m10, true },
	{ "urcu_lfht", lfht, m10, false },
};

struct Case {
	Contender contender;
	Op op;
	size_t n;
	double rate;
	unsigned threads;
};

const char *name_of(Op op)
{
	switch (op) {
	case Op::hit: return "hit";
	case Op::miss: return "miss";
	case Op::chain: return "latency";
	case Op::insert: return "insert";
	case Op::present: return "insert_present";
	case Op::remove: return "remove";
	}
	return "";
}

std::string size_name(size_t n)
{
	return n % 1000000 ? std::to_string(n / 1000) + "k" : std::to_string(n / 1000000) + "M";
}

/* Keeps only the keys that the previous case used, since cases are ordered by size. */
const Keys &keys_of(size_t n)
{
	static std::unique_ptr<Keys> keys;
	if (!keys || keys->present.size() != n) {
		keys.reset();
		keys = std::make_unique<Keys>(n, 2000000);
	}
	return *keys;
}

void report(benchmark::State &state, const Facts &facts)
{
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
	state.counters["bits/key"] = facts.bits_per_key;
	state.counters["fp_%"] = facts.rate * 100;
}

/* The filled filter of the previous case. Cases with the same contender, size and rate follow each
 * other, so they share the filter. */
struct Filled {
	std::string name;
	size_t n = 0;
	double rate = 0;
	std::unique_ptr<Set> set;
	Facts facts;
};

Filled &filled(const Case &c, const Keys &keys)
{
	static Filled last;
	if (last.name != c.contender.name || last.n != c.n || last.rate != c.rate) {
		last = Filled();
		last.set = c.contender.make(c.n, c.rate);
		last.facts = fill_and_ask(*last.set, keys);
		last.name = c.contender.name;
		last.n = c.n;
		last.rate = c.rate;
	}
	return last;
}

void progress(const Case &c)
{
	if (isatty(2))
		fprintf(stderr, "\r%s, %s, n = %s, %u threads\033[K\r", name_of(c.op),
		        c.contender.name, size_name(c.n).c_str(), c.threads);
}

/* Return: the median of a few rounds, which is reported as the time of one iteration. */
template <class Round> double median_of(size_t rounds, Round round)
{
	Series series;
	for (size_t i = 0; i < rounds; i++)
		series.values.push_back(round(i));
	return series.median();
}

size_t rounds_of(const Case &c)
{
	return c.op != Op::insert || c.n < m10 ? 7 : c.n < m100 ? 3 : 1;
}

void run(benchmark::State &state, const Case &c)
{
	progress(c);
	const Keys &keys = keys_of(c.n);
	Filled &f = filled(c, keys);
	if (f.facts.lost && !c.contender.limit) {
		state.SkipWithError("keys were lost");
		return;
	}
	Team team(c.threads);
	size_t count = std::min<size_t>(c.n, size_t(1) << 20);
	for (auto _ : state)
		state.SetIterationTime(1e-9 * median_of(rounds_of(c), [&](size_t i) {
			bool wall = c.threads > 1;
			return measure(team, *f.set, c.op, keys, i * count, count, wall).ns;
		}));
	report(state, f.facts);
}

void run_strings(benchmark::State &state, const Case &c)
{
	progress(c);
	Strings present(0, c.n), others(absent, 1000000);
	std::unique_ptr<Set> set = c.contender.make(c.n, c.rate);
	set->insert(present.data(), c.n);
	if (set->lookup(present.data(), c.n) != c.n) {
		state.SkipWithError("keys were lost");
		return;
	}
	const Strings &asked = c.op == Op::miss ? others : present;
	Team team(1);
	auto round = [&](size_t) {
		if (c.op == Op::insert)
			set->clear();
		uint64_t found = 0;
		Elapsed e = team.run([&](unsigned) {
			if (c.op == Op::insert)
				set->insert(asked.data(), asked.size());
			else
				found = set->lookup(asked.data(), asked.size());
		});
		benchmark::DoNotOptimize(found);
		return e.cpu_ns / static_cast<double>(asked.size());
	};
	for (auto _ : state)
		state.SetIterationTime(1e-9 * median_of(rounds_of(c), round));
	double wrong = static_cast<double>(set->lookup(others.data(), others.size()));
	report(state, { static_cast<double>(set->bytes()) * 8 / static_cast<double>(c.n),
	                wrong / static_cast<double>(others.size()), 0 });
}

void add(const Case &c, bool strings)
{
	char name[128];
	snprintf(name, sizeof(name), "%s%s/%s/n:%s/p:%g%%/threads:%u", strings ? "string_" : "",
	         name_of(c.op), c.contender.name, size_name(c.n).c_str(), c.rate * 100, c.threads);
	auto body = [c, strings](benchmark::State &state) {
		strings ? run_strings(state, c) : run(state, c);
	};
	benchmark::RegisterBenchmark(name, body)
		->UseManualTime()
		->Iterations(1)
		->Unit(benchmark::kNanosecond);
}

/* Adds the cases with one thread: latency, inserts of present keys and, at 1M keys, strings. */
void add_once(const Contender &contender, size_t n, double rate)
{
	if (contender.lookups) {
		add({ contender, Op::chain, n, rate, 1 }, false);
		/* the hash table has nodes for one insert per key, so a second round would abort */
		if (strcmp(contender.name, "urcu_lfht") != 0)
			add({ contender, Op::present, n, rate, 1 }, false);
	}
	if (contender.strings && n == 1000000)
		for (Op op : { Op::hit, Op::miss, Op::insert })
			add({ contender, op, n, rate, 1 }, true);
}

void add_threads(const Contender &contender, size_t n, double rate)
{
	bool concurrent = contender.make(1000, rate)->concurrent();
	for (Op op : { Op::insert, Op::hit, Op::miss })
		for (unsigned threads : { 1u, 2u })
			if (threads <= allowed_cpus().size() &&
			    (op == Op::insert ? threads == 1 || concurrent : contender.lookups))
				add({ contender, op, n, rate, threads }, false);
}

/* Registers a benchmark of reads of random lines, to compare the lookups with. The lines take as
 * much memory as a filter of @n keys. */
void add_limits(size_t n)
{
	static const Contender lines = { "machine_random_lines", random_lines, m100, false, true,
	                                 true };
	for (unsigned threads : { 1u, 2u })
		if (threads <= allowed_cpus().size())
			add({ lines, Op::hit, n, 0.01, threads }, false);
}

void add_all(size_t largest)
{
	for (size_t n : { size_t(100000), size_t(1000000), m10, m100 }) {
		if (n > largest)
			continue;
		for (double rate : { 0.01, 0.001 })
			for (const Contender &contender : contenders)
				if (n <= contender.largest) {
					add_threads(contender, n, rate);
					add_once(contender, n, rate);
				}
		add_limits(n);
	}
}

struct Options {
	size_t largest = m10;
	bool table = false;
};

/* Takes our own options out of the arguments before Google Benchmark sees them. */
Options take_options(int *argc, char **argv)
{
	Options o;
	int kept = 1;
	for (int i = 1; i < *argc; i++) {
		if (strncmp(argv[i], "--largest=", 10) == 0)
			o.largest = strtoull(argv[i] + 10, nullptr, 10);
		else if (strcmp(argv[i], "--table") == 0)
			o.table = true;
		else
			argv[kept++] = argv[i];
	}
	*argc = kept;
	return o;
}

int run_all(int argc, char **argv)
{
	Options options = take_options(&argc, argv);
	add_all(options.largest);
	benchmark::AddCustomContext("weir_isa", weir_isa());
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	if (options.table) {
		Table table;
		benchmark::RunSpecifiedBenchmarks(&table);
	} else {
		benchmark::RunSpecifiedBenchmarks();
	}
	benchmark::Shutdown();
	return 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0)
		puts("bench_core [--largest=N] [--table] [Google Benchmark's options]\n"
		     "  --largest=N  leave out sizes above N keys (10000000; 100000000 for all)\n"
		     "  --table      one row a contender instead of a line a benchmark");
	try {
		return bench::run_all(argc, argv);
	} catch (const std::exception &e) {
		fprintf(stderr, "bench_core: %s\n", e.what());
		return 1;
	}
}
