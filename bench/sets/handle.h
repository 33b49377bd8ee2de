/* SPDX-License-Identifier: MIT
 * handle.cc: a filter with a handle, a lock or a reference count. guard.cc: a filter with a
 * guard. */
#ifndef WEIR_BENCH_SETS_HANDLE_H
#define WEIR_BENCH_SETS_HANDLE_H

#include "set.h"

namespace bench {

/* weir_handle_contains, by flavor. For qsbr each thread reports a quiescent state every 64
 * lookups. */
std::unique_ptr<Set> handle_bp(size_t n, double rate);
std::unique_ptr<Set> handle_memb(size_t n, double rate);
std::unique_ptr<Set> handle_qsbr(size_t n, double rate);
/* weir_handle_get in the caller's own section for each lookup. */
std::unique_ptr<Set> handle_get_memb(size_t n, double rate);
std::unique_ptr<Set> handle_get_qsbr(size_t n, double rate);
/* 16 lookups in each section */
std::unique_ptr<Set> handle_get_16_memb(size_t n, double rate);

/* inserts during a reload, so each insert goes to two filters */
std::unique_ptr<Set> handle_reloading(size_t n, double rate);
/* lookups as in handle_get_memb, while reloads run without a pause */
std::unique_ptr<Set> handle_back_to_back(size_t n, double rate);

std::unique_ptr<Set> behind_rwlock(size_t n, double rate);
std::unique_ptr<Set> behind_count(size_t n, double rate);

/* weir_guard_ask and weir_guard_saw with a handle, by one thread. The last two functions measure a
 * guard that bypasses the filter because every key is present. */
std::unique_ptr<Set> guarded(size_t n, double rate);
std::unique_ptr<Set> guarded_batch(size_t n, double rate);
std::unique_ptr<Set> guard_bypassed(size_t n, double rate);
std::unique_ptr<Set> guard_bypassed_batch(size_t n, double rate);

} // namespace bench

#endif
