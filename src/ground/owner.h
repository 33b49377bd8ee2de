/* SPDX-License-Identifier: MIT
 * The owners of a filter's parts (O1 in atomic.h): taking a part, dropping it, and sleeping until
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
#ifndef WEIR_SRC_GROUND_OWNER_H
#define WEIR_SRC_GROUND_OWNER_H

#include "ground/atomic.h"

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

#endif
