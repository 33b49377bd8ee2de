/* SPDX-License-Identifier: MIT
 * See pulse.h. */
#include "pulse.h"
#include <atomic>
#include "machine.h"

namespace bench {

Pulse pulse_of(Team &team, unsigned rounds)
{
	Pulse pulse;
	unsigned n = team.size();
	if (n < 2 || n > allowed_cpus().size())
		return pulse;
	struct alignas(128) {
		std::atomic<unsigned> turn{0};
	} line;
	pulse.handoffs = rounds * n;
	Elapsed e = team.run([&](unsigned t) {
		for (unsigned i = t; i < pulse.handoffs; i += n) {
			while (line.turn.load(std::memory_order_acquire) != i)
				;
			line.turn.store(i + 1, std::memory_order_release);
		}
	});
	pulse.wall_ns = e.wall_ns;
	pulse.waited_ns = e.waited_ns;
	pulse.handoff_ns = e.wall_ns / pulse.handoffs;
	return pulse;
}

double step_ns(Team &team)
{
	constexpr uint64_t steps = 1 << 14, wide = 8;
	Elapsed e = team.run([](unsigned) {
		uint64_t sum[wide] = { 1, 2, 3, 4, 5, 6, 7, 8 };
		for (uint64_t i = 0; i < steps; i++)
			/* enough independent chains to keep all units of the core busy */
			for (uint64_t &s : sum) {
				s = (s ^ s >> 13) + i;
				asm volatile("" : "+r"(s));
			}
	});
	return e.cpu_ns / (steps * wide);
}

Beside::Beside(Team &team, std::function<Tally()> alone)
    : team_(team), alone_(std::move(alone)),
      tallies_(team.size() <= allowed_cpus().size() ? team.size() : 1),
      began_(clock_ns(CLOCK_MONOTONIC))
{
}

/* Measures one thread alone, on the team's CPUs in turn. */
void Beside::take_alone()
{
	size_t i = taken_ % tallies_.size();
	pin(allowed_cpus()[i]);
	alone_(); /* a warm-up, which fills the caches as a round of one thread does */
	tallies_[i].add(alone_());
	alone_step_ += step_ns(team_of(1));
	pin(allowed_cpus()[0]);
}

void Beside::take()
{
	constexpr unsigned laps = 500;
	/* After one turn on each CPU, take() measures only if it has used at most this share of the
	 * time. */
	constexpr double share = 0.3;
	double began = clock_ns(CLOCK_MONOTONIC);
	if (spent_ > share * (began - began_) && taken_ >= tallies_.size())
		return;
	if (tallies_.size() > 1) {
		take_alone();
		pulse_of(team_, laps / 10); /* wakes the threads */
		handoff_ += pulse_of(team_, laps).handoff_ns;
	}
	step_ += step_ns(team_);
	taken_++;
	spent_ += clock_ns(CLOCK_MONOTONIC) - began;
}

void Beside::report(benchmark::State &state) const
{
	double taken = taken_, ns = 0, cpus = 0;
	state.counters["step_ns"] = step_ / taken;
	if (tallies_.size() == 1)
		return;
	for (const Tally &t : tallies_)
		if (t.keys > 0)
			ns += t.ns / t.keys, cpus++;
	state.counters["handoff_ns"] = handoff_ / taken;
	state.counters["alone_step_ns"] = alone_step_ / taken;
	state.counters["alone_per_second"] = 1e9 * cpus / ns;
}

} // namespace bench
