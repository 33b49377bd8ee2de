/* SPDX-License-Identifier: MIT
 * No cancellation of the thread (pthread_cancel) while it holds what other threads wait for: a
 * handle's claim, a part of a filter that is loaded, liburcu's own locks during a grace period. A
 * cancellation that comes meanwhile takes effect at the thread's next cancellation point. */
#ifndef WEIR_SRC_GROUND_CANCEL_H
#define WEIR_SRC_GROUND_CANCEL_H

#include <pthread.h>

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
