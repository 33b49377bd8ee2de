/* SPDX-License-Identifier: MIT
 * The current speed of the machine, measured along with a benchmark so that results of different
 * minutes can be compared. If a host moves a virtual machine's CPUs to cores that are further
 * apart, a cache line takes longer from one CPU to another. If other machines use the same cores,
 * each CPU is slower. */
#ifndef WEIR_BENCH_PULSE_H
#define WEIR_BENCH_PULSE_H

#include <functional>
#include <benchmark/benchmark.h>
#include "team.h"
#include "work.h"

namespace bench {

struct Pulse {
	/* time for a cache line to get from its last writer to the next thread; 0: not measured */
	double handoff_ns = 0;
	double waited_ns = 0; /* part of wall_ns in which a thread waited for its CPU */
	double wall_ns = 0;
	unsigned handoffs = 0;
};
/* @rounds: how often each thread gets the cache line that the threads hand round. Measures nothing
 * with one thread, or with more threads than CPUs. */
Pulse pulse_of(Team &team, unsigned rounds);

/* CPU time of one step of arithmetic while all threads of the team do such steps. The time rises
 * when the other half of a core is busy, even with another machine's work. */
double step_ns(Team &team);

/* Measures the machine between the rounds of a benchmark, and reports counters:
 *   handoff_ns        time for a cache line to get from one thread to the next
 *   step_ns           the team's step_ns()
 *   alone_per_second  with several threads: the rate of one thread alone, on each of the
 *                     team's CPUs in turn. To compare runs, divide the team's rate by this rate
 *   alone_step_ns     the step_ns() of that thread */
class Beside {
public:
	/* @alone: runs a round with one thread. */
	Beside(Team &team, std::function<Tally()> alone);
	/* Call this before each round. The first calls measure each CPU once. A later call measures
	 * only if take() has used at most 30 % of the time until then. */
	void take();
	void report(benchmark::State &state) const;

private:
	void take_alone();

	Team &team_;
	const std::function<Tally()> alone_;
	std::vector<Tally> tallies_;          /* rounds of one thread, one tally per CPU */
	double began_ = 0, spent_ = 0;        /* began_: start; spent_: time in take() */
	double handoff_ = 0, step_ = 0, alone_step_ = 0;
	unsigned taken_ = 0;
};

} // namespace bench

#endif
