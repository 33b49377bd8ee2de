/* SPDX-License-Identifier: MIT
 * Pinned threads that start together, and the clocks. */
#ifndef WEIR_BENCH_TEAM_H
#define WEIR_BENCH_TEAM_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
#include "machine.h"

namespace bench {

inline double clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Elapsed {
	double wall_ns = 0;   /* from the common start to the end of the last thread */
	double cpu_ns = 0;    /* the longest CPU time of a thread */
	/* the longest time that a thread waited for a CPU that another thread used; 0 if
	 * unknown */
	double waited_ns = 0;
};

/* Threads that are pinned to different CPUs, as long as there are enough CPUs. The caller is one of
 * the @threads threads. */
class Team {
public:
	explicit Team(unsigned threads);
	/* One thread on each of these CPUs. The caller is pinned to the first. */
	explicit Team(const std::vector<int> &cpus);
	~Team();
	Team(const Team &) = delete;
	Team &operator=(const Team &) = delete;

	unsigned size() const { return threads_; }
	/* Each thread calls @work with the thread's number. The threads spin until all are ready,
	 * so that all start together. */
	Elapsed run(const std::function<void(unsigned)> &work);

private:
	void follow(unsigned number, int cpu);
	void one(unsigned number);

	unsigned threads_;
	std::vector<std::thread> others_;
	std::mutex lock_;
	std::condition_variable wake_;
	uint64_t generation_ = 0;
	bool over_ = false;
	const std::function<void(unsigned)> *work_ = nullptr;
	std::atomic<unsigned> arrived_{0}, finished_{0};
	std::vector<double> began_, ended_, cpu_, waited_;
};

} // namespace bench

#endif
