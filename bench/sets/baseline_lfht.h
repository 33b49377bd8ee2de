/* SPDX-License-Identifier: MIT
 * The exact answer, lock-free: liburcu's hash table, a node a key. Sized for its keys from the
 * start, never resized. */
#ifndef WEIR_BENCH_BASELINE_LFHT_H
#define WEIR_BENCH_BASELINE_LFHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lfht;

/* Return: NULL when memory is lacking. */
struct lfht *lfht_create(size_t n);
void lfht_destroy(struct lfht *t);
/* Bytes of nodes and buckets. */
uint64_t lfht_bytes(const struct lfht *t);
/* For keys of 8 bytes. Any threads; each key in a read-side section of its own. */
bool lfht_contains(struct lfht *t, uint64_t key);
/* At most the @n keys of its creation. */
void lfht_insert(struct lfht *t, uint64_t key);

#ifdef __cplusplus
}
#endif

#endif
