/* SPDX-License-Identifier: MIT
 * Bit-array memory: where it comes from and how it goes back. */
#ifndef WEIR_SRC_MEMORY_H
#define WEIR_SRC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_memory {
	uint64_t *bits; /* 64-byte aligned; 2 MiB aligned from 2 MiB up */
	void *base;     /* what is given back */
	size_t base_bytes;
	void (*release)(const struct weir_memory *memory); /* NULL: not ours to free */
	bool shared;    /* other processes may insert into it too */
	void *origin;   /* what its maker keeps of it (image/map.c), or NULL */
};

/* What a caller gives is a place and its size, or neither: else -EINVAL. weir__memory_alloc()
 * checks the place itself. */
int weir__memory_given(const void *place, size_t place_bytes);

/*
 * Zeroed memory for @bytes of bits, a multiple of 64.
 * @flags: enum weir_flags.  @place, @place_bytes: the caller's memory, or NULL; it is checked and
 *   zeroed.
 * Return: 0; -ENOMEM; -EINVAL the caller's memory is too small or misaligned. The sentence is set.
 */
int weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                       size_t place_bytes);
void weir__memory_free(const struct weir_memory *memory);

#endif
