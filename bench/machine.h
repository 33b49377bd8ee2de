/* SPDX-License-Identifier: MIT
 * Facts about the machine that decide what to measure: its CPUs, in the order in which threads get
 * them, and its caches. */
#ifndef WEIR_BENCH_MACHINE_H
#define WEIR_BENCH_MACHINE_H

#include <cstddef>
#include <vector>

namespace bench {

/* The CPUs that this process may use: one CPU of each physical core, then the second CPU of each
 * core. The first call makes the list, since the kernel reports fewer CPUs after pin(). */
const std::vector<int> &allowed_cpus();
/* The number of physical cores of the allowed CPUs. */
unsigned allowed_cores();
void pin(int cpu);

/* Numbers of threads to measure: 1, 2, 4 ..., the number of physical cores (more threads share
 * cores by SMT), and the number of CPUs. If there are more than @most numbers, some are left out,
 * but never the first or the last. */
std::vector<unsigned> thread_counts(size_t most = 64);

/* Bytes of the first CPU's cache of @level; 0: no such cache, or unknown. */
size_t cache_bytes(unsigned level);
size_t memory_bytes();

} // namespace bench

#endif
