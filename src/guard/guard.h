/* SPDX-License-Identifier: MIT
 * A guard's insides: threads' cells with what they counted.
 *
 * Q1  A cell has one writer, the thread that joined. So adding is a relaxed load and store, no
 *     locked operation, and loses no count; who reports reads each counter as it was a moment ago.
 * Q2  The list of cells is changed and walked under the lock. A cell that leaves is added to the
 *     guard's own in the same hold in which it goes, so a report counts it once.
 * Q3  What a thread decides by is its own. It only chooses who answers, filter or store; the store
 *     is asked whenever the filter is not, so no decision can miss a key.
 * Q4  A cell stands alone in two lines (the CPU fetches them in pairs), so no two threads write to
 *     one. */
#ifndef WEIR_SRC_GUARD_GUARD_H
#define WEIR_SRC_GUARD_GUARD_H

#include <pthread.h>
#include <weir/guard.h>
#include "ground/atomic.h"

enum weir__guard_figure {
	WEIR__ASKED, WEIR__STOPPED, WEIR__TRUE_POSITIVES, WEIR__FALSE_POSITIVES, WEIR__BYPASSED,
	WEIR__BYPASSED_FOUND, WEIR__BYPASSED_ABSENT, WEIR__SWITCHES, WEIR__GUARD_FIGURES
};

struct weir_guard_thread {
	struct weir_guard *guard;
	atomic_uint_fast64_t figure[WEIR__GUARD_FIGURES];
	atomic_uint_fast64_t bypassing; /* 0 or 1 */
	uint64_t random;
	uint32_t measured, stopped; /* since it last decided */
	struct weir_guard_thread *next, **link;
};

struct weir_guard {
	struct weir_guard_options options;
	pthread_mutex_t lock;
	struct weir_guard_thread *threads;
	uint32_t joined;
	uint64_t left[WEIR__GUARD_FIGURES]; /* of threads that are gone */
};

#endif
