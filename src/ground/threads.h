/* SPDX-License-Identifier: MIT
 * Coordination of threads: ownership of a filter's partitions, work shared by several threads, and
 * disabling the cancellation of a thread that other threads wait for. */
#ifndef WEIR_SRC_GROUND_THREADS_H
#define WEIR_SRC_GROUND_THREADS_H

#include <pthread.h>
#include "ground/atomic.h"

/* The owner of a partition of a filter ([OWNED-PART] in atomic.h). A thread can take a partition,
 * drop it, or sleep until another thread drops it.
 *
 * [OWNER-MARK]  A mark is 0 if the partition has no owner. Otherwise it is the number of the
 *    owner's process, which is even. In both cases 1 is added if a thread may be asleep.
 * [FORK-NUMBER]  A child of fork() gets a process number that none of its ancestors has. Only the
 *    forking thread exists in the child, so marks of other threads have no owner there, and the
 *    child may take their partitions. Bits that those threads stored before the fork belong to keys
 *    of an unfinished load, so they cause false positives at most.
 * [SLEEPER-COUNTS]  A thread that wants to sleep first adds the 1, and sleeps only while the mark
 *    keeps that value. An owner that drops a partition subtracts its number and reads the 1 in one
 *    step, then wakes all sleepers. So no thread sleeps on a partition without an owner.
 * [OWNER-NEVER-WAITS]  A partition's owner never waits, so every wait ends. A waiting thread sleeps
 *    instead of spinning, so the owner can run even if its priority is lower.
 * [WANTED-FIRST]  The 1 stays until a thread takes the partition. A thread that wants all
 *    partitions skips a free partition whose mark is 1. Otherwise it could retake the partition
 *    again and again before a sleeper wakes. The sleeper soon takes the partition and so clears the
 *    1. In a child of fork() ([FORK-NUMBER]) the parent's sleepers do not exist, so the 1 stays
 *    until a thread calls weir__owner_take() for the partition. */

/* Call it before the first partition is taken. Return: 0 or -ENOMEM. */
int weir__owners_begin(void);

/* Take the partition. Return: false if another thread of this process owns the partition. */
bool weir__owner_take(struct weir_owner *owner);
/* Take the partition unless a woken sleeper may be about to take it ([WANTED-FIRST]). Return: false
 * if the partition was not taken. */
bool weir__owner_take_spare(struct weir_owner *owner);
/* Return: true if a thread of this process owns the partition. If it returns false, the caller sees
 * all writes of the last owner. */
bool weir__owner_held(const struct weir_owner *owner);
void weir__owner_drop(struct weir_owner *owner);
/* Sleep until the partition may have been dropped. */
void weir__owner_wait(struct weir_owner *owner);

/* ---- work shared by several threads ---- */

/* Call @work(@arg) on @threads threads, including the caller's, or on fewer if the system refuses
 * to create so many. Each call claims pieces of the work until no piece is left or another call has
 * failed.
 * Return: 0, or the error of one failed call, with its sentence. */
int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg);

/* Disable cancellation (pthread_cancel) while a thread holds what other threads wait for: a
 * handle's claim, a partition of a filter, or liburcu's locks during a grace period. A cancellation
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

/* A declaration that disables cancellation until control leaves the block. */
#define WEIR__UNCANCELLED \
	__attribute__((cleanup(weir__cancel_as_before), unused)) const int cancel_state = \
		weir__cancel_off()

#endif
