/* SPDX-License-Identifier: MIT
 * Allocates and frees the memory for the bits. */
#ifndef WEIR_SRC_GROUND_MEMORY_H
#define WEIR_SRC_GROUND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_memory {
	uint64_t *bits;    /* 64-byte aligned; 2 MiB aligned if we allocate 2 MiB or more */
	void *base;        /* the allocation, base_bytes long */
	size_t base_bytes;
	void (*release)(const struct weir_memory *memory); /* NULL: the caller owns the memory */
	bool shared;       /* other processes may insert into the memory */
	void *origin;      /* state of image/map.c for a mapped file, else NULL */
};

/* Check that @buffer is not NULL if @buffer_bytes is not 0. weir__memory_alloc() checks @buffer
 * further. Return: 0 or -EINVAL. */
int weir__memory_given(const void *buffer, size_t buffer_bytes);

/* Allocate zeroed memory for @bytes of bits, a multiple of 64.
 * @flags: enum weir_flags.
 * @buffer, @buffer_bytes: the caller's memory to use instead, which is checked and zeroed; or NULL.
 * Return: 0, -ENOMEM, or -EINVAL if the caller's memory is too small or misaligned. */
int weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *buffer,
                       size_t buffer_bytes);
/* Fault in the pages of @bytes bytes from @at on, so that the first lookups take no page faults.
 * The kernel reads the pages of a mapped file. In any other memory the call writes a byte of each
 * page, so no other thread may use the memory yet. @at: a multiple of the page size. */
void weir__memory_touch(const struct weir_memory *memory, uint64_t at, uint64_t bytes);
void weir__memory_free(const struct weir_memory *memory);

#endif
