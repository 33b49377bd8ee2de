/* SPDX-License-Identifier: MIT
 * det's record of a location of memory. */
#ifndef WEIR_TESTS_SCHEDULE_DET_LOCATION_H
#define WEIR_TESTS_SCHEDULE_DET_LOCATION_H

#include "det_internal.h"

enum { HISTORY = 20, LOCATIONS = 8192 };

struct store {
	uint64_t value;
	struct det_clock released;  /* what an acquire load of it learns */
	uint32_t when;              /* its thread's clock; 0: before all threads */
	uint32_t seen[DET_THREADS]; /* each thread's clock when it first read it; 0: it has not */
	uint8_t thread;
	bool seq_cst;
};

struct location {
	/* One cache line holds everything that a plain access needs. */
	uintptr_t address;
	uint32_t execution; /* the last one that used it */
	int stores;
	uint32_t plain_written;           /* clock of the last plain write; 0: none */
	uint32_t plain_read[DET_THREADS]; /* clocks */
	uint8_t plain_writer;
	struct store store[HISTORY];
};

/* det_memory.c: the slot of an address, used or not; and the location of an access. */
struct location *det_slot(uintptr_t address);
struct location *det_find(const volatile void *address);
/* det_plain.c: fail unless the last plain write, or these reads, are ordered before what the
 * running thread does now. */
void det_check_plain_write(const struct location *l);
void det_check_reads(const struct location *l, const uint32_t read[DET_THREADS]);

#endif
