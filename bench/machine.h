/* SPDX-License-Identifier: MIT
 * Facts about the machine that decide what is worth measuring: its CPUs, in the order in which
 * threads get them, and its caches. */
#ifndef WEIR_BENCH_MACHINE_H
#define WEIR_BENCH_MACHINE_H

#include <cstddef>
#include <vector>

namespace bench {

/* The CPUs this process may use, one of each physical core before the second of any. The first
 * call makes the list: after a pin the kernel reports fewer. */
const std::vector<int> &allowed_cpus();
/* How many physical cores those are. */
unsigned allowed_cores();
void pin(int cpu);

/* Numbers of threads to measure: 1, 2, 4 ..., the physical cores (beyond them SMT begins), and all
 * CPUs. At most @most numbers; the first and the last always stay. */
std::vector<unsigned> thread_counts(size_t most = 64);

/* Bytes of the first CPU's cache of @level; 0: it has none, or the kernel does not say. */
size_t cache_bytes(unsigned level);
size_t memory_bytes();

} // namespace bench

#endif
