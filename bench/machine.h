/* SPDX-License-Identifier: MIT
 * What the machine is, as far as it decides what is worth measuring: its CPUs in the order in
 * which threads are put on them, and its caches. */
#ifndef WEIR_BENCH_MACHINE_H
#define WEIR_BENCH_MACHINE_H

#include <cstddef>
#include <vector>

namespace bench {

/* The CPUs this process may use, one of each physical core before the second of any. As they
 * were at the first call: after a pin the kernel reports fewer. */
const std::vector<int> &allowed_cpus();
/* How many physical cores those are. */
unsigned allowed_cores();
void pin(int cpu);

/* 1, 2, 4 ... and all CPUs; the physical cores among them, which is where SMT begins. @most of
 * them: both ends stay. */
std::vector<unsigned> thread_counts(size_t most = 64);

/* Bytes of the cache of @level that the first CPU uses; 0: it has none, or does not say. */
size_t cache_bytes(unsigned level);
/* Bytes of memory. */
size_t memory_bytes();

} // namespace bench

#endif
