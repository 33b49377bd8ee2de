/* SPDX-License-Identifier: MIT
 * Hashes on their way into a filter that is built: collected from several threads, in bins by their
 * top bits, in memory or where that has no room in a file.
 *
 * A thread adds to one of the lanes, each with a lock and bins of its own, so that few meet. A bin
 * is blocks of hashes that grow as it does. Who finds that all blocks together exceed the limit
 * writes those of its lane to the file, and of all lanes that nobody is in. */
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

/* So many hashes in the file, from that byte on. */
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
	const char *folder;  /* for the file, or NULL: none. The owner's. */
	int fd;              /* -1: not opened */
	pthread_mutex_t opening;
	atomic_uint_fast64_t end; /* of the file, bytes */
};

void weir__collect_begin(struct weir_collected *c, uint64_t most_bytes, const char *folder);
/* Return: 0; -ENOMEM, -EFBIG, what the file answers; then some of them are added. */
int weir__collect(struct weir_collected *c, const uint64_t *hashes, size_t n);
/* Have a file, which what was collected is sorted into. */
int weir__collect_to_file(struct weir_collected *c);
/* Added so far. */
uint64_t weir__collected(struct weir_collected *c);
/* Of a bin, in all lanes. */
uint64_t weir__collected_in(const struct weir_collected *c, unsigned bin);
/* Put all hashes of a bin, in any order, into @out, and free what they were kept in. Bins may be
 * taken by several threads. */
int weir__collected_take(struct weir_collected *c, unsigned bin, uint64_t *out);
/* Append to the file. Return: 0 or a negative errno. @at: receives the place. */
int weir__collect_write(struct weir_collected *c, const uint64_t *hashes, uint64_t n,
                        uint64_t *at);
int weir__collect_read(const struct weir_collected *c, uint64_t at, uint64_t n, uint64_t *out);
void weir__collect_end(struct weir_collected *c);

#endif
