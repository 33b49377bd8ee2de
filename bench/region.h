/* SPDX-License-Identifier: MIT
 * Memory for the bits of every contender, with the rules of weir's memory (src/ground/memory.c):
 * below 2 MiB the heap, 64-byte aligned; from 2 MiB on whole pages, 2 MiB aligned, with huge pages
 * requested. So both sides of a comparison have equal pages. */
#ifndef WEIR_BENCH_REGION_H
#define WEIR_BENCH_REGION_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace bench {

class Region {
public:
	/* @huge: false requests the kernel's small pages, to measure their cost. */
	explicit Region(size_t bytes, bool huge = true) : bytes_(bytes)
	{
		if (huge && bytes < huge_page)
			heap();
		else
			pages(huge);
		clear();
	}
	~Region()
	{
		if (mapped_)
			munmap(base_, mapped_);
		else
			free(base_);
	}
	Region(const Region &) = delete;
	Region &operator=(const Region &) = delete;

	void clear() { memset(base_, 0, bytes_); } /* also touches every page */
	void *base() const { return base_; }
	size_t bytes() const { return bytes_; }

private:
	static constexpr size_t huge_page = size_t(2) << 20;

	void heap()
	{
		if (posix_memalign(&base_, 64, bytes_))
			throw std::bad_alloc();
	}

	void pages(bool huge)
	{
		mapped_ = (bytes_ + huge_page - 1) / huge_page * huge_page;
		size_t slack = mapped_ + huge_page;
		int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
		char *p = static_cast<char *>(
			mmap(nullptr, slack, PROT_READ | PROT_WRITE, flags, -1, 0));
		if (p == MAP_FAILED)
			throw std::bad_alloc();
		uintptr_t first = reinterpret_cast<uintptr_t>(p) + huge_page - 1;
		char *aligned = reinterpret_cast<char *>(first / huge_page * huge_page);
		if (aligned > p)
			munmap(p, static_cast<size_t>(aligned - p));
		if (aligned + mapped_ < p + slack)
			munmap(aligned + mapped_,
			       static_cast<size_t>(p + slack - aligned - mapped_));
		(void)madvise(aligned, mapped_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		base_ = aligned;
	}

	void *base_ = nullptr;
	size_t bytes_;
	size_t mapped_ = 0;
};

} // namespace bench

#endif
