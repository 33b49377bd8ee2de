/* SPDX-License-Identifier: MIT
 * The parts of bench_memory. */
#ifndef WEIR_BENCH_MEMORY_H
#define WEIR_BENCH_MEMORY_H

#include <cstddef>
#include <memory>
#include "harness.h"
#include "lines.h"
#include "machine.h"

namespace bench {

/* memory_pages.cc: pages and batch sizes. */
void add_pages(const Options &options);
/* memory_hash.cc: the hash by the length of the key. */
void add_hashes(const Options &options);
/* memory_limits.cc: what the machine allows. */
void add_limits(const Options &options);
/* memory_owner.cc: what a line costs that another core wrote last. */
void add_owners(const Options &options);

/* What one thread can have of an array: random lines read, and random words changed, a second. */
struct Limit {
	double lines_per_second, fetch_ors_per_second;
};
Limit limit_of(void *memory, size_t bytes);

/* The share of an array that the kernel has really put on huge pages. */
double huge_share(const void *memory, size_t bytes);

inline const char *name_of_pages(bool huge) { return huge ? "huge" : "small"; }

} // namespace bench

#endif
