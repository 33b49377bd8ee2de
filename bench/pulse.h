/* SPDX-License-Identifier: MIT
 * The speed of the machine at the moment, measured beside a figure so that figures of different
 * minutes can be compared. A host moves a virtual machine's CPUs to other cores, which lengthens
 * the way between them, and lets other machines share those cores, which slows them. */
#ifndef WEIR_BENCH_PULSE_H
#define WEIR_BENCH_PULSE_H

#include <functional>
#include <benchmark/benchmark.h>
#include "team.h"
#include "work.h"

namespace bench {

struct Pulse {
	/* The time of a line from the thread that wrote it to the next; 0: not measured. */
	double handoff_ns = 0;
	double waited_ns = 0; /* of wall_ns: a thread waited while another had its CPU */
	double wall_ns = 0;
	unsigned handoffs = 0;
};
/* @rounds: how often the line visits each thread. Measures nothing with one thread, or with more
 * threads than CPUs. */
Pulse pulse_of(Team &team, unsigned rounds);

/* CPU time of one step of arithmetic while the whole team does such steps. It rises when the other
 * half of a core is busy, even with another machine's work. */
double step_ns(Team &team);

/* Measures the machine in turn with the rounds of a row, and reports counters:
 *   handoff_ns        the time of a line from a thread to the next
 *   step_ns           the team's step_ns()
 *   alone_per_second  for rows of several threads: the rate of one thread alone, on each of the
 *                     team's CPUs in turn. A ratio to it leaves out changes between two rows
 *   alone_step_ns     the step_ns() of that thread */
class Beside {
public:
	/* @alone: a round of one thread. */
	Beside(Team &team, std::function<Tally()> alone);
	/* Call it before each round. Most calls do nothing. */
	void take();
	void report(benchmark::State &state) const;

private:
	void take_alone();

	Team &team_;
	const std::function<Tally()> alone_;
	std::vector<Tally> tallies_;          /* of each CPU */
	double began_ = 0, spent_ = 0;        /* the start; time spent in take() */
	double handoff_ = 0, step_ = 0, alone_step_ = 0;
	unsigned taken_ = 0;
};

} // namespace bench

#endif
