/* SPDX-License-Identifier: MIT
 * Allocates and frees the memory for the bits. */
#ifndef WEIR_SRC_GROUND_MEMORY_H
#define WEIR_SRC_GROUND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_memory {
	uint64_t *bits;    /* 64-byte aligned; the library's own from 2 MiB on: 2 MiB aligned */
	void *base;        /* to free: base_bytes from here */
	size_t base_bytes;
	void (*release)(const struct weir_memory *memory); /* NULL: the caller's memory */
	bool shared;       /* other processes may insert into it too */
	void *origin;      /* for its maker (image/map.c), or NULL */
};

/* Check that a caller gave a place and its size, or neither. weir__memory_alloc() checks the place
 * itself. Return: 0 or -EINVAL. */
int weir__memory_given(const void *place, size_t place_bytes);

/*
 * Zeroed memory for @bytes of bits, a multiple of 64.
 * @flags: enum weir_flags.
 * @place, @place_bytes: the caller's memory, which is checked and zeroed; or NULL.
 * Return: 0; -ENOMEM; -EINVAL the caller's memory is too small or misaligned.
 */
int weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                       size_t place_bytes);
/* Fault in the pages of bytes @at to @at + @bytes now, not at their first use; read in those of a
 * mapped file. @at: a multiple of the page size. Call it before other threads get the memory. */
void weir__memory_touch(const struct weir_memory *memory, uint64_t at, uint64_t bytes);
void weir__memory_free(const struct weir_memory *memory);

#endif
