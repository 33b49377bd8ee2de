/* SPDX-License-Identifier: MIT
 * See team.h. */
#include "team.h"
#include <algorithm>
#include "account.h"

namespace bench {

namespace {

/* Return: a CPU for each thread. If there are too few CPUs, threads share them. */
std::vector<int> cpus_for(unsigned threads)
{
	const std::vector<int> &all = allowed_cpus();
	std::vector<int> cpus;
	for (unsigned i = 0; i < threads; i++)
		cpus.push_back(all[i % all.size()]);
	return cpus;
}

} // namespace

Team::Team(unsigned threads) : Team(cpus_for(threads)) {}

Team::Team(const std::vector<int> &cpus)
    : threads_(static_cast<unsigned>(cpus.size())), began_(threads_), ended_(threads_),
      cpu_(threads_), waited_(threads_)
{
	pin(cpus[0]);
	for (unsigned i = 1; i < threads_; i++)
		others_.emplace_back(&Team::follow, this, i, cpus[i]);
}

Team::~Team()
{
	{
		std::lock_guard<std::mutex> hold(lock_);
		over_ = true;
	}
	wake_.notify_all();
	for (std::thread &t : others_)
		t.join();
}

void Team::one(unsigned number)
{
	static thread_local const Account account;
	double waited = account.waited_ns();
	arrived_.fetch_add(1);
	while (arrived_.load() < threads_)
		if (threads_ > allowed_cpus().size())
			/* a spinning thread would keep the CPU from the thread that it waits for */
			std::this_thread::yield();
	double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	began_[number] = clock_ns(CLOCK_MONOTONIC);
	(*work_)(number);
	ended_[number] = clock_ns(CLOCK_MONOTONIC);
	cpu_[number] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	waited_[number] = account.waited_ns() - waited;
	finished_.fetch_add(1);
}

void Team::follow(unsigned number, int cpu)
{
	pin(cpu);
	for (uint64_t seen = 0;;) {
		{
			std::unique_lock<std::mutex> hold(lock_);
			wake_.wait(hold, [&] { return over_ || generation_ != seen; });
			if (over_)
				return;
			seen = generation_;
		}
		one(number);
	}
}

Elapsed Team::run(const std::function<void(unsigned)> &work)
{
	{
		std::lock_guard<std::mutex> hold(lock_);
		work_ = &work;
		arrived_ = 0;
		finished_ = 0;
		generation_++;
	}
	wake_.notify_all();
	one(0);
	while (finished_.load() < threads_)
		std::this_thread::yield();
	Elapsed e;
	e.wall_ns = *std::max_element(ended_.begin(), ended_.end()) -
	          *std::min_element(began_.begin(), began_.end());
	e.cpu_ns = *std::max_element(cpu_.begin(), cpu_.end());
	e.waited_ns = *std::max_element(waited_.begin(), waited_.end());
	return e;
}

} // namespace bench
