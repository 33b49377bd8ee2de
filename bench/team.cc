/* SPDX-License-Identifier: MIT
 * See team.h. */
#include "team.h"
#include <algorithm>
#include <sched.h>
#include <unistd.h>

namespace bench {

std::vector<int> allowed_cpus()
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(getpid(), sizeof(set), &set);
	std::vector<int> cpus;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus.push_back(cpu);
	return cpus;
}

void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

Team::Team(unsigned threads) : threads_(threads), began_(threads), ended_(threads), cpu_(threads)
{
	static const std::vector<int> cpus = allowed_cpus(); /* before the first pin narrows them */
	pin(cpus[0]);
	for (unsigned i = 1; i < threads; i++)
		others_.emplace_back(&Team::follow, this, i, cpus[i % cpus.size()]);
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
	arrived_.fetch_add(1);
	while (arrived_.load() < threads_)
		if (threads_ > 2)
			std::this_thread::yield(); /* more threads than CPUs must not spin each other out */
	double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	began_[number] = clock_ns(CLOCK_MONOTONIC);
	(*work_)(number);
	ended_[number] = clock_ns(CLOCK_MONOTONIC);
	cpu_[number] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
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
	e.wall_ns = *std::max_element(ended_.begin(), ended_.end()) - *std::min_element(began_.begin(), began_.end());
	e.cpu_ns = *std::max_element(cpu_.begin(), cpu_.end());
	return e;
}

} // namespace bench
