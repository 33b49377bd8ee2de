/* SPDX-License-Identifier: MIT
 * What the machine is like at the moment: taken beside a figure, so that two figures of different
 * minutes can be compared. A virtual machine's CPUs move to other cores of the host, which makes
 * the way between them longer, and share them with other machines, which makes them slower. */
#ifndef WEIR_BENCH_PULSE_H
#define WEIR_BENCH_PULSE_H

#include <benchmark/benchmark.h>
#include "team.h"

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

/* The counters handoff_ns and step_ns, from before and after the rounds of a row. */
class PulseBeside {
public:
	explicit PulseBeside(Team &team);
	void report(benchmark::State &state);

private:
	static constexpr unsigned rounds = 1000;
	Team &team_;
	double handoff_ = 0, step_ = 0; /* before */
};

} // namespace bench

#endif
