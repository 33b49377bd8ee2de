/* SPDX-License-Identifier: MIT
 * Hashes on their way into a filter that is built. Several threads collect them, in bins by their
 * top bits, in memory or, if that is full, in a file.
 *
 * A thread adds to one of the lanes, each with a lock and bins of its own, so threads rarely meet.
 * A bin is a list of blocks, which get larger as it grows. A thread that finds all blocks together
 * over the limit writes those of its lane to the file, and those of all lanes without a holder. */
#ifndef WEIR_SRC_BUILD_COLLECT_H
#define WEIR_SRC_BUILD_COLLECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { WEIR_BIN_BITS = 8, WEIR_BINS = 1 << WEIR_BIN_BITS, WEIR_LANES = 32 };

struct weir_block {
	struct weir_block *before;
	uint32_t n, room;
	uint64_t hashes[];
};

/* @n hashes in the file, from byte @at on. */
struct weir_extent {
	uint64_t at, n;
};

struct weir_bin {
	struct weir_block *last; /* or NULL */
	struct weir_extent *extents;
	uint32_t n_extents, room;
};

struct weir_lane {
	_Alignas(64) pthread_mutex_t lock;
	uint64_t added;
	struct weir_bin bin[WEIR_BINS];
};

struct weir_collected {
	struct weir_lane lane[WEIR_LANES];
	_Alignas(64) atomic_uint_fast64_t bytes; /* of all blocks */
	uint64_t most_bytes; /* UINT64_MAX: no limit */
	const char *folder;  /* for the file, or NULL; its owner frees it */
	int fd;              /* -1: not opened */
	pthread_mutex_t opening;
	atomic_uint_fast64_t end; /* of the file, bytes */
};

void weir__collect_begin(struct weir_collected *c, uint64_t most_bytes, const char *folder);
/* Return: 0; -ENOMEM, -EFBIG, or an error of the file; then some of the hashes are added. */
int weir__collect(struct weir_collected *c, const uint64_t *hashes, size_t n);
/* Open the file, unless it is open. Then sorted hashes go there too. */
int weir__collect_to_file(struct weir_collected *c);
/* Hashes added so far. */
uint64_t weir__collected(struct weir_collected *c);
/* Hashes of a bin, in all lanes. */
uint64_t weir__collected_in(const struct weir_collected *c, unsigned bin);
/* Move all hashes of a bin, in any order, to @out, and free their blocks. Several threads may take
 * bins, each its own. */
int weir__collected_take(struct weir_collected *c, unsigned bin, uint64_t *out);
/* Append hashes to the file. Return: 0 or a negative errno. @at: receives the place. */
int weir__collect_write(struct weir_collected *c, const uint64_t *hashes, uint64_t n,
                        uint64_t *at);
int weir__collect_read(const struct weir_collected *c, uint64_t at, uint64_t n, uint64_t *out);
void weir__collect_end(struct weir_collected *c);

#endif
