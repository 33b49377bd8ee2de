/* SPDX-License-Identifier: MIT
 * Measures how long a thread waited for a CPU that another thread used. So a report can tell a
 * shared machine from a slow filter. */
#ifndef WEIR_BENCH_ACCOUNT_H
#define WEIR_BENCH_ACCOUNT_H

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace bench {

/* Reads how many nanoseconds the thread that made this object has waited for a CPU: the second
 * number in that thread's schedstat. */
class Account {
public:
	Account() : fd_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
	~Account()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	Account(const Account &) = delete;
	Account &operator=(const Account &) = delete;

	double waited_ns() const
	{
		char text[96] = "";
		ssize_t got = fd_ < 0 ? 0 : pread(fd_, text, sizeof(text) - 1, 0);
		double on_cpu = 0, waited = 0;
		return got > 0 && sscanf(text, "%lf %lf", &on_cpu, &waited) == 2 ? waited : 0;
	}

private:
	int fd_;
};

} // namespace bench

#endif
