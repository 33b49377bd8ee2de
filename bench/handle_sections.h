/* SPDX-License-Identifier: MIT
 * handle_sections.c: lookups of many keys. Each lookup has its own read-side section, except in
 * memb_long_sections(). The caller has registered the thread and, for qsbr, brought the thread
 * online. */
#ifndef WEIR_BENCH_HANDLE_SECTIONS_H
#define WEIR_BENCH_HANDLE_SECTIONS_H

#include <weir/weir.h>

WEIR_BEGIN_DECLS

uint64_t memb_sections(const struct weir_handle *h, const uint64_t *keys, size_t n);
/* 16 lookups per section, as for a request with several keys. */
uint64_t memb_long_sections(const struct weir_handle *h, const uint64_t *keys, size_t n);
uint64_t qsbr_sections(const struct weir_handle *h, const uint64_t *keys, size_t n);

WEIR_END_DECLS

#endif
