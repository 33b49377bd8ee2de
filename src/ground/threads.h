/* SPDX-License-Identifier: MIT
 * What threads ask of each other: who owns a part of a filter, who does a piece of work, and that
 * none is cancelled while it holds what others wait for. */
#ifndef WEIR_SRC_GROUND_THREADS_H
#define WEIR_SRC_GROUND_THREADS_H

#include <pthread.h>
#include "ground/atomic.h"

/* The owners of a filter's parts (O1 in atomic.h): taking a part, dropping it, and sleeping until
 * another thread drops it.
 *
 * W1  A mark is 0 (nobody's), or the number of the process whose thread owns the part, which is
 *     even, plus 1 if a thread may sleep.
 * W2  A child of fork() has another number than all its ancestors. So a mark that a thread left
 *     which was not copied into the child is nobody's there, and is taken over. What that
 *     thread had stored so far belongs to keys that its call would have loaded: false positives at
 *     most.
 * W3  Who wants to sleep adds the 1 first, and sleeps only while the mark is what it was then. Who
 *     drops a part takes the number off in the same step that reads the 1, and wakes all. So nobody
 *     sleeps on a part that nobody owns.
 * W4  An owner waits for nothing, so each wait ends; a sleeper leaves the processor to it,
 *     whatever the priorities.
 * W5  The 1 stays until somebody takes the part, and who wants all parts does not take one that
 *     has it: it would be back before a sleeper is awake, again and again. A sleeper takes what it
 *     waited for, so the 1 does not stay for long; in a child of fork() (W2), until the first who
 *     wants that part alone. */

/* Before the first part is taken. Return: 0 or -ENOMEM. */
int weir__owners_begin(void);

/* Return: false if another thread owns the part. */
bool weir__owner_take(struct weir_owner *owner);
/* As that, and false too if one that slept may want it (W5). */
bool weir__owner_take_spare(struct weir_owner *owner);
/* Does a thread of this process own the part? If not, the caller sees what its last owner did. */
bool weir__owner_held(const struct weir_owner *owner);
void weir__owner_drop(struct weir_owner *owner);
/* Return when the part may have been dropped. */
void weir__owner_wait(struct weir_owner *owner);

/* ---- one piece of work by several threads ---- */

/*
 * Call @work(@arg) on so many threads, the caller's among them, or on fewer if the machine has no
 * more. Each is to take what nobody else has taken, until nothing is left or another one failed.
 * Return: 0, or what one that failed returned, with its sentence.
 */
int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg);

/* No cancellation of the thread (pthread_cancel) while it holds what other threads wait for: a
 * handle's claim, a part of a filter that is loaded, liburcu's own locks during a grace period. A
 * cancellation that comes meanwhile takes effect at the thread's next cancellation point. */

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

/* A declaration: from here to the end of the block, by whichever way that is left. */
#define WEIR__UNCANCELLED \
	__attribute__((cleanup(weir__cancel_as_before), unused)) const int cancel_state = \
		weir__cancel_off()

#endif
