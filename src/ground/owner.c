/* SPDX-License-Identifier: MIT
 * Owners of parts: the number of the process, and futex(2). */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/owner.h"

enum { NOBODY = 0, ASLEEP = 1 };

static unsigned process = 2; /* W1; changes in a child that has no second thread yet */

static void count_process(void)
{
	process += 2;
}

static int watched = -1; /* pthread_atfork()'s answer */

/* When the library is loaded, and not with the first load of a filter: a fork() that is under way
 * then would not call a handler that comes so late, and the handlers of others may keep it under
 * way for long. */
__attribute__((constructor)) static void watch_forks(void)
{
	watched = pthread_atfork(NULL, NULL, count_process);
}

int weir__owners_begin(void)
{
	return watched ? weir__fail(-watched, "no memory to be called after a fork()") : 0;
}

static bool owned(unsigned mark)
{
	return (mark & ~(unsigned)ASLEEP) == process;
}

bool weir__owner_held(const struct weir_owner *owner)
{
	return owned(weir__mark_load_acquire(owner));
}

bool weir__owner_take(struct weir_owner *owner)
{
	unsigned seen = weir__mark_load_relaxed(owner);
	return !owned(seen) && weir__mark_swap_acquire(owner, seen, process); /* W2 */
}

bool weir__owner_take_spare(struct weir_owner *owner)
{
	return weir__mark_load_relaxed(owner) != (NOBODY | ASLEEP) && weir__owner_take(owner);
}

void weir__owner_drop(struct weir_owner *owner)
{
	if (weir__mark_sub_release(owner, process) & ASLEEP) /* W3, W5 */
		syscall(SYS_futex, &owner->mark, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Where futex(2) is refused, by a sandbox: a sleep of a millisecond serves. */
static void sleep_on(struct weir_owner *owner, unsigned mark)
{
	if (syscall(SYS_futex, &owner->mark, FUTEX_WAIT_PRIVATE, mark, NULL, NULL, 0) == 0 ||
	    errno == EAGAIN || errno == EINTR)
		return;
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void weir__owner_wait(struct weir_owner *owner)
{
	unsigned seen = weir__mark_load_relaxed(owner);
	if (seen == process && weir__mark_swap_acquire(owner, seen, process | ASLEEP))
		seen = process | ASLEEP;
	if (seen == (process | ASLEEP)) /* W3 */
		sleep_on(owner, seen);
}
