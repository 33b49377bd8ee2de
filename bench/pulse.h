/* SPDX-License-Identifier: MIT
 * What the machine is like at the moment: taken beside a figure, so that two figures of different
 * minutes can be compared. A virtual machine's CPUs move to other cores of the host, which makes
 * the way between them longer, and share them with other machines, which makes them slower. */
#ifndef WEIR_BENCH_PULSE_H
#define WEIR_BENCH_PULSE_H

#include <functional>
#include <benchmark/benchmark.h>
#include "team.h"
#include "work.h"

namespace bench {

struct Pulse {
	/* A line goes from the thread that wrote it to the next, round and round; 0: one thread. */
	double handoff_ns = 0;
	double waited_ns = 0; /* of wall_ns, for another's use of a CPU */
	double wall_ns = 0;
	unsigned handoffs = 0;
};
/* @rounds: how often the line passes by. No more threads than CPUs. */
Pulse pulse_of(Team &team, unsigned rounds);

/* Nanoseconds of its CPU that a thread needs for a step of arithmetic while all of the team do it:
 * more where a core's other half is busy, if with another machine's work. */
double step_ns(Team &team);

/* Taken in turn with the rounds of a row, as counters:
 *   handoff_ns        a line's way from a thread to the next
 *   step_ns           as above, of the team
 *   alone_per_second  of several threads' rows: what one thread does by itself, on each of the
 *                     team's CPUs; and alone_step_ns, its step. For a ratio that no change
 *                     between two rows is part of */
class Beside {
public:
	/* @alone: a round of one thread. */
	Beside(Team &team, std::function<Tally()> alone);
	/* Before each round; most of the calls do nothing. */
	void take();
	void report(benchmark::State &state) const;

private:
	void take_alone();

	Team &team_;
	const std::function<Tally()> alone_;
	std::vector<Tally> tallies_;          /* of each CPU */
	double began_ = 0, spent_ = 0;        /* in taking */
	double handoff_ = 0, step_ = 0, alone_step_ = 0;
	unsigned taken_ = 0;
};

} // namespace bench

#endif
