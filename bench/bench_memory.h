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

/* memory_pages.cc: huge and small pages, batch sizes. */
void add_pages(const Options &options);
/* memory_hash.cc: the hash of keys of different lengths. */
void add_hashes(const Options &options);
/* memory_limits.cc: the machine's limits. */
void add_limits(const Options &options);
/* memory_owner.cc: the cost of a line that another core wrote last. */
void add_owners(const Options &options);

/* The most reads of random lines, and the most fetch-ors, that one thread can do in an array per
 * second. */
struct Limit {
	double lines_per_second, fetch_ors_per_second;
};
Limit limit_of(void *memory, size_t bytes);

/* Return: the share of an array that the kernel has put on huge pages. */
double huge_share(const void *memory, size_t bytes);

inline const char *name_of_pages(bool huge) { return huge ? "huge" : "small"; }

} // namespace bench

#endif
