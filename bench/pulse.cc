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
			/* so many at a time that a core has no time for another's work */
			for (uint64_t &s : sum) {
				s = (s ^ s >> 13) + i;
				asm volatile("" : "+r"(s));
			}
	});
	return e.cpu_ns / (steps * wide);
}

PulseBeside::PulseBeside(Team &team) : team_(team)
{
	pulse_of(team, rounds / 10); /* awake */
	handoff_ = pulse_of(team, rounds).handoff_ns;
	step_ = step_ns(team);
}

void PulseBeside::report(benchmark::State &state)
{
	double handoff = pulse_of(team_, rounds).handoff_ns;
	if (handoff_ > 0 && handoff > 0)
		state.counters["handoff_ns"] = (handoff_ + handoff) / 2;
	state.counters["step_ns"] = (step_ + step_ns(team_)) / 2;
}

} // namespace bench
