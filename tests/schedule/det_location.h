/* SPDX-License-Identifier: MIT
 * What det remembers of a location of memory. */
#ifndef WEIR_TESTS_SCHEDULE_DET_LOCATION_H
#define WEIR_TESTS_SCHEDULE_DET_LOCATION_H

#include "det_internal.h"

enum { HISTORY = 20, LOCATIONS = 8192 };

struct store {
	uint64_t value;
	struct det_clock released;  /* what an acquire that reads it learns */
	uint32_t when;              /* its thread's clock; 0: before all threads */
	uint32_t seen[DET_THREADS]; /* each thread's clock when it first read it; 0: it has not */
	uint8_t thread;
	bool seq_cst;
};

struct location {
	/* All that a plain access asks for is in one cache line. */
	uintptr_t address;
	uint32_t execution; /* the one it was last used in */
	int stores;
	uint32_t plain_written;           /* clock of the last plain write; 0: none */
	uint32_t plain_read[DET_THREADS]; /* clocks */
	uint8_t plain_writer;
	struct store store[HISTORY];
};

/* det_memory.c: where it is, or would be; and the one that an access is to. */
struct location *det_slot(uintptr_t address);
struct location *det_find(const volatile void *address);
/* det_plain.c: are plain writes, or these reads, ordered before what the running thread does
 * now? */
void det_check_plain_write(const struct location *l);
void det_check_reads(const struct location *l, const uint32_t read[DET_THREADS]);

#endif
