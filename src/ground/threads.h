/* SPDX-License-Identifier: MIT
 * Coordination of threads: ownership of a filter's parts, one piece of work by several threads, and
 * no cancellation of a thread that holds something others wait for. */
#ifndef WEIR_SRC_GROUND_THREADS_H
#define WEIR_SRC_GROUND_THREADS_H

#include <pthread.h>
#include "ground/atomic.h"

/* The owners of a filter's parts (O1 in atomic.h): take a part, drop it, and sleep until another
 * thread drops it.
 *
 * W1  A mark is 0 if the part has no owner. Otherwise it is the number of the owner's process,
 *     which is even. Either way plus 1 if a thread may be asleep.
 * W2  A child of fork() has a number that none of its ancestors has. So a mark left by a thread
 *     that was not copied into the child has no owner there, and the child takes the part over.
 *     Stores of that thread up to the fork belong to keys that its call would have loaded: false
 *     positives at most.
 * W3  A thread that wants to sleep adds the 1 first, and sleeps only while the mark stays at that
 *     value. The owner that drops a part subtracts its number in the same step that reads the 1,
 *     and wakes all sleepers. So no thread sleeps on a part without an owner.
 * W4  An owner never waits, so each wait ends. A sleeper leaves the processor to the owner,
 *     whatever their priorities.
 * W5  The 1 stays until a thread takes the part. A thread that wants all parts does not take a free
 *     part with the 1: it would retake the part before a sleeper wakes, again and again. A sleeper
 *     takes the part it waited for, so the 1 soon goes. In a child of fork() (W2) it stays until
 *     the first thread that wants that part alone. */

/* Call it before the first part is taken. Return: 0 or -ENOMEM. */
int weir__owners_begin(void);

/* Return: false if another thread owns the part. */
bool weir__owner_take(struct weir_owner *owner);
/* As above; also false if a former sleeper may want the part (W5). */
bool weir__owner_take_spare(struct weir_owner *owner);
/* Does a thread of this process own the part? If not, the caller sees the last owner's writes. */
bool weir__owner_held(const struct weir_owner *owner);
void weir__owner_drop(struct weir_owner *owner);
/* Sleep until the part may have been dropped. */
void weir__owner_wait(struct weir_owner *owner);

/* ---- one piece of work by several threads ---- */

/*
 * Call @work(@arg) on @threads threads, the caller's among them, or on fewer if the machine has no
 * more. Each call must take pieces that no other has taken, until none is left or another call
 * failed.
 * Return: 0, or the error of one that failed, with its sentence.
 */
int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg);

/* No cancellation (pthread_cancel) of a thread that holds something others wait for: a handle's
 * claim, a part of a filter being loaded, liburcu's own locks during a grace period. A cancellation
 * requested in that time takes effect at the thread's next cancellation point. */

static inline int weir__cancel_off(void)
{
	int before;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void weir__cancel_as_before(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}

/* A declaration: holds from here to the end of the block, however control leaves it. */
#define WEIR__UNCANCELLED \
	__attribute__((cleanup(weir__cancel_as_before), unused)) const int cancel_state = \
		weir__cancel_off()

#endif
