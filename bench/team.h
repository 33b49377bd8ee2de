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
	double wall_ns = 0;   /* from the common start to the last thread's end */
	double cpu_ns = 0;    /* the longest that one thread was on its CPU */
	/* the longest that one thread was ready to run while another had its CPU; 0 if the kernel
	 * does not say */
	double waited_ns = 0;
};

/* @threads threads, each pinned to a CPU of its own as long as there are enough. The caller is one
 * of them. */
class Team {
public:
	explicit Team(unsigned threads);
	/* A thread on each of these CPUs; the caller is pinned to the first. */
	explicit Team(const std::vector<int> &cpus);
	~Team();
	Team(const Team &) = delete;
	Team &operator=(const Team &) = delete;

	unsigned size() const { return threads_; }
	/* Each thread runs work(its number); they start together, spinning until the last is
	 * there. */
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
