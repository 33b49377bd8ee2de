/* SPDX-License-Identifier: MIT
 * The thread that advances a window. It sleeps until an advance is due by time, an insert wakes it
 * for an advance by number, or it must end. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "window/window.h"

/* An inserter calls this in its section, after it inserted its key. If write() were a cancellation
 * point here, a cancelled insert would leave its key but lose its answer. write() fails only if the
 * eventfd's count is at its maximum, and then the thread's poll returns anyway. */
bool weir__window_wake(const struct weir_window *w)
{
	const uint64_t one = 1;
	if (w->wake < 0)
		return true;
	WEIR__UNCANCELLED;
	const int before = errno;
	const bool woken = write(w->wake, &one, sizeof one) > 0;
	errno = before;
	return woken;
}

enum { WAKES = 8 }; /* attempts to wake the thread, which may sleep for years, before the join */

static void sleep_for(const struct weir_window *w, uint64_t ns)
{
	struct pollfd fd = { .fd = w->wake, .events = POLLIN };
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
		              .tv_nsec = (long)(ns % 1000000000) };
	uint64_t count;
	/* If the read fails, the eventfd stays readable. */
	if (ppoll(&fd, 1, ns == UINT64_MAX ? NULL : &t, NULL) > 0 &&
	    read(w->wake, &count, sizeof count) < 0)
		return; /* only this thread reads it, so the next sleep ends at once */
}

/* ns to wait while another thread advances, which takes a grace period. */
enum { ANOTHER_IS_AT_IT = 1000000 };

/* With qsbr no grace period ends while an online thread sleeps, so the thread goes offline before
 * it sleeps. With other flavors going offline is a no-op. */
static void *run(void *argument)
{
	struct weir_window *w = argument;
	const struct rcu_flavor_struct *flavor = w->rcu.flavor;
	uint64_t wait;
	pthread_setname_np(pthread_self(), "weir-window");
	flavor->register_thread();
	while (!weir__flag_held_acquire(&w->stopped)) {
		if (weir__window_advance(w, true) > 0)
			continue;
		if (weir__window_due(w, &wait))
			wait = ANOTHER_IS_AT_IT;
		flavor->thread_offline();
		sleep_for(w, wait);
		flavor->thread_online();
	}
	flavor->unregister_thread();
	return NULL;
}

int weir__window_timer_start(struct weir_window *w)
{
	sigset_t all, before;
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake < 0)
		return weir__fail(-errno, "no eventfd to wake a window's timer: %s",
		                  weir_strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->process = getpid();
	int error = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return 0;
	close(w->wake);
	w->wake = -1;
	return weir__fail(-error, "no thread for a window's timer: %s", weir_strerror(error));
}

void weir__window_timer_stop(struct weir_window *w)
{
	if (w->wake < 0)
		return;
	if (w->process == getpid()) {
		const struct rcu_flavor_struct *flavor = w->rcu.flavor;
		bool online = flavor->read_ongoing();
		(void)weir__flag_claim_acquire(&w->stopped);
		for (unsigned tries = 0; tries < WAKES && !weir__window_wake(w); tries++)
			sched_yield();
		/* with qsbr, go offline, since a last advance of the timer's thread may wait for
		 * this thread */
		if (online)
			flavor->thread_offline();
		pthread_join(w->thread, NULL);
		if (online)
			flavor->thread_online();
	}
	close(w->wake);
}
