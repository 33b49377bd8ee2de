/* SPDX-License-Identifier: MIT
 * The readers of bench_reload. Each reader has its own CPU, from the first CPU on, as long as there
 * are enough CPUs. The loader is the calling thread. */
#include <algorithm>
#include "account.h"
#include "machine.h"
#include "reload.h"
#include "team.h"

/* ticks.c calls this function. In the command weir, another file defines it. */
extern "C" double seconds_now(void) { return bench::clock_ns(CLOCK_MONOTONIC) * 1e-9; }

namespace bench {
namespace {

constexpr size_t block = 512, most_asked = size_t(1) << 20;

} // namespace

Readers::Readers(Target &target, Read read, unsigned threads, const Flavor &flavor, bool beside)
    : target_(target), read_(read), flavor_(flavor),
      clock_(beside ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC), readers_(threads)
{
	for (unsigned i = 0; i < threads; i++) {
		readers_[i].times.reset(new struct histogram());
		readers_[i].thread = std::thread([this, i] { live(readers_[i], i); });
	}
	wait_for(threads);
}

Readers::~Readers()
{
	state_ = over;
	for (Reader &reader : readers_)
		reader.thread.join();
}

/* Waits until @count readers rest. The caller may be registered with the flavor too. So the caller
 * reports quiescent states while it waits: otherwise a grace period would wait for the caller. */
void Readers::wait_for(unsigned count)
{
	while (resting_.load() != count) {
		flavor_.quiet();
		std::this_thread::yield();
	}
}

void Readers::live(Reader &reader, unsigned number)
{
	pin(allowed_cpus()[number % allowed_cpus().size()]);
	flavor_.enter();
	size_t at = number * 7919 * block;
	resting_.fetch_add(1);
	for (int state; (state = state_.load()) != over;) {
		if (state == idle) {
			flavor_.quiet();
			std::this_thread::yield();
			continue;
		}
		resting_.fetch_sub(1);
		read(reader, state, at);
		resting_.fetch_add(1);
	}
	flavor_.leave();
}

/* Reads until the state changes. */
void Readers::read(Reader &reader, int how, size_t &at)
{
	const std::vector<uint64_t> &hashes = target_.hashes();
	size_t n = std::min(hashes.size(), most_asked) / block * block;
	static thread_local const Account account;
	Reading done;
	double waited = account.waited_ns();
	double began = clock_ns(clock_);
	while (state_.load(std::memory_order_relaxed) == how) {
		at = (at + block) % n;
		const uint64_t *keys = &hashes[at];
		struct histogram *times = reader.times.get();
		uint64_t found = how == clocked ? target_.one_by_one(read_, keys, block, times) :
		                                  target_.whole(read_, keys, block);
		done.lost += block - found;
		done.keys += block;
		flavor_.quiet();
	}
	done.ns = clock_ns(clock_) - began;
	done.waited_ns = account.waited_ns() - waited;
	reader.reading = done;
}

Reading Readers::run(struct histogram *times, const std::function<void()> &meanwhile)
{
	unsigned threads = static_cast<unsigned>(readers_.size());
	for (Reader &reader : readers_) {
		reader.reading = Reading();
		*reader.times = {};
	}
	state_ = times ? clocked : whole;
	wait_for(0);
	try {
		meanwhile();
	} catch (...) {
		state_ = idle;
		wait_for(threads);
		throw;
	}
	state_ = idle;
	wait_for(threads);
	Reading all;
	for (const Reader &reader : readers_) {
		all.keys += reader.reading.keys;
		all.ns += reader.reading.ns / threads;
		all.lost += reader.reading.lost;
		all.waited_ns = std::max(all.waited_ns, reader.reading.waited_ns);
		if (times)
			histogram_merge(times, reader.times.get());
	}
	return all;
}

} // namespace bench
