/* SPDX-License-Identifier: MIT
 * Collects the hashes of keys for a filter that is built. Several threads may add hashes at the
 * same time. The hashes are put into bins by their top bits. They stay in memory up to a limit,
 * then they are written to a file.
 *
 * A thread adds to one of the lanes. Each lane has its own lock and bins, so threads rarely
 * contend. A bin is a list of blocks, which get larger as the bin grows. If all blocks together
 * exceed the limit, the adding thread writes the blocks of its lane and of all unlocked lanes to
 * the file. */
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

/* @n hashes in the file, starting at byte @at. */
struct weir_extent {
	uint64_t at, n;
};

struct weir_bin {
	struct weir_block *last; /* the newest block, or NULL */
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
	_Alignas(64) atomic_uint_fast64_t bytes; /* bytes of all blocks */
	uint64_t most_bytes; /* limit of the bytes of all blocks; UINT64_MAX: no limit */
	const char *folder;  /* folder of the file, or NULL; owned by the caller */
	int fd;              /* -1: not opened */
	pthread_mutex_t opening;
	atomic_uint_fast64_t end; /* size of the file in bytes */
};

void weir__collect_begin(struct weir_collected *c, uint64_t most_bytes, const char *folder);
/* Add hashes. Return: 0; -ENOMEM, -EFBIG, or an error of the file. A failed call may have added
 * some of the hashes. */
int weir__collect(struct weir_collected *c, const uint64_t *hashes, size_t n);
/* Open the file, unless it is open. If the file is open, sorted hashes go to the file too. */
int weir__collect_to_file(struct weir_collected *c);
/* Return: the number of hashes added so far. */
uint64_t weir__collected(struct weir_collected *c);
/* Return: the number of hashes of a bin, in all lanes. */
uint64_t weir__collected_in(const struct weir_collected *c, unsigned bin);
/* Move all hashes of a bin to @out, in any order, and free their blocks. Several threads may call
 * it at the same time for different bins. */
int weir__collected_take(struct weir_collected *c, unsigned bin, uint64_t *out);
/* Append hashes to the file. @at: receives their offset. Return: 0 or a negative errno. */
int weir__collect_write(struct weir_collected *c, const uint64_t *hashes, uint64_t n,
                        uint64_t *at);
int weir__collect_read(const struct weir_collected *c, uint64_t at, uint64_t n, uint64_t *out);
void weir__collect_end(struct weir_collected *c);

#endif
