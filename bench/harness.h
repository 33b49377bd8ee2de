/* SPDX-License-Identifier: MIT
 * Shared by all bench_<question>: options, names of benchmarks, counters and a progress line.
 *
 * A name is the question, then key:value parts: cores/op:hit/set:blocked/rate:0.01/... Google
 * Benchmark adds "manual_time". The counters:
 *   items_per_second   keys per second
 *   bits_per_key, bytes  of the filter; z: words per key of a blocked filter
 *   fp_asked, fp_measured, fp_interval  false-positive rates; fp_interval is half the 99 %
 *                      interval as a share of the measured rate
 *   lost               false negatives; not 0: the benchmark fails, and the exit status is 1
 *   handoff_ns, step_ns, alone_per_second, alone_step_ns  see pulse.h
 *   shared             1: more threads than CPUs, or a thread waited for its CPU for more than a
 *                      twentieth of the time */
#ifndef WEIR_BENCH_HARNESS_H
#define WEIR_BENCH_HARNESS_H

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>
#include <benchmark/benchmark.h>
#include "sizes.h"
#include "work.h"

namespace bench {

enum class Mode { smoke, quick, normal, full };

struct Options {
	Mode mode = Mode::normal;
	std::vector<std::string> keys; /* files with one key per line */
	size_t size = 0;               /* keys in the operator's set; 0: the default number */
	double rate = 0;               /* the operator's rate; 0: the default rate */
	bool smoke() const { return mode == Mode::smoke; }
	bool quick() const { return mode == Mode::quick || smoke(); }
	bool full() const { return mode == Mode::full; }
	/* Return: the sizes that this mode has time to fill. */
	const std::vector<Size> &sizes() const
	{
		return smoke() ? smallest_size() : bench::sizes(quick() ? 3.5 : full() ? 0 : 12);
	}
};

/* How long a mode measures a case. Google Benchmark's options --benchmark_repetitions and
 * --benchmark_min_time override this. */
struct Pace {
	unsigned repetitions;
	double seconds;
};

struct Question {
	const char *name;
	const char *help;
	Pace quick, normal, full;
	const char *smoke; /* --benchmark_filter for --smoke, applied to the cases of --quick */
	/* the options that the program accepts: none, --keys, --size, or (set) --size and --rate */
	enum { nothing, keys, size, set } takes;
	void (*add_all)(const Options &options);
};

/* The main() of each program bench_<question>. */
int answer(int argc, char **argv, const Question &question);

/* A key:value part of a benchmark's name. */
struct Part {
	Part(const char *k, const std::string &v) : key(k), value(v) {}
	Part(const char *k, const char *v) : key(k), value(v) {}
	Part(const char *k, uint64_t v) : key(k), value(std::to_string(v)) {}
	Part(const char *k, unsigned v) : key(k), value(std::to_string(v)) {}
	Part(const char *k, double v);
	const char *key;
	std::string value;
};

/* Adds a benchmark to the question. @body reports a failure by an exception or by lost_keys(). */
benchmark::internal::Benchmark *add(std::initializer_list<Part> parts,
                                    std::function<void(benchmark::State &)> body);

/* Runs rounds until Google Benchmark has enough of them. */
template <class Round> Tally rounds(benchmark::State &state, Round round)
{
	Tally all;
	for (auto _ : state) {
		Tally one = round();
		state.SetIterationTime(one.ns * 1e-9);
		all.add(one);
	}
	return all;
}

/* Set the counters that the head of this file lists. */
void report(benchmark::State &state, const Tally &tally, unsigned threads);
void report(benchmark::State &state, const Quality &quality, uint64_t bytes);
inline void counter(benchmark::State &state, const char *name, double value)
{
	state.counters[name] = value;
}
/* Fails the benchmark, and the whole run, if keys were lost. */
void lost_keys(benchmark::State &state, uint64_t lost);

} // namespace bench

#endif
