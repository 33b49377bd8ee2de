/* SPDX-License-Identifier: MIT
 * det's record of a memory location. */
#ifndef WEIR_TESTS_SCHEDULE_DET_LOCATION_H
#define WEIR_TESTS_SCHEDULE_DET_LOCATION_H

#include "det_internal.h"

enum { HISTORY = 20, LOCATIONS = 8192 };

struct store {
	uint64_t value;
	struct det_clock released;  /* the clock that an acquire load of this store joins */
	uint32_t when;              /* clock of the storing thread; 0: the initial value */
	/* for each thread, its clock when it first read this store; 0: not read */
	uint32_t seen[DET_THREADS];
	uint8_t thread;
	bool seq_cst;
};

struct location {
	/* The fields that a plain access needs share one cache line. */
	uintptr_t address;
	uint32_t execution; /* the last execution that used the location */
	int stores;
	uint32_t plain_written;           /* clock of the last plain write; 0: none */
	uint32_t plain_read[DET_THREADS]; /* each thread's clock at its last plain read; 0: none */
	uint8_t plain_writer;
	struct store store[HISTORY];
};

/* In det_memory.c. det_slot() returns the slot of an address, used or not. det_find() returns the
 * location of an access. */
struct location *det_slot(uintptr_t address);
struct location *det_find(const volatile void *address);
/* In det_plain.c. det_check_plain_write() fails unless the last plain write happens before the
 * running thread's current operation. det_check_reads() fails unless the reads @read happen before
 * that operation. */
void det_check_plain_write(const struct location *l);
void det_check_reads(const struct location *l, const uint32_t read[DET_THREADS]);

#endif
