/* SPDX-License-Identifier: MIT
 * An exact and lock-free set: liburcu's hash table, with a node for each key. It has its full size
 * from the start and is never resized. */
#ifndef WEIR_BENCH_BASELINE_LFHT_H
#define WEIR_BENCH_BASELINE_LFHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lfht;

/* Return: NULL without memory. */
struct lfht *lfht_create(size_t n);
void lfht_destroy(struct lfht *t);
/* Return: the bytes of nodes and buckets. */
uint64_t lfht_bytes(const struct lfht *t);
/* Any thread may call this. Each call has its own read-side section. */
bool lfht_contains(struct lfht *t, uint64_t key);
/* Each call uses one of the @n nodes of lfht_create(). A call without a free node aborts. */
void lfht_insert(struct lfht *t, uint64_t key);

#ifdef __cplusplus
}
#endif

#endif
