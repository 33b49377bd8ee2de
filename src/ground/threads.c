/* SPDX-License-Identifier: MIT
 * Owners of partitions, and work shared by several threads. A mark names the owner's process by a
 * number, and waiting threads sleep in futex(2). */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/threads.h"

enum { UNOWNED = 0, SLEEPER = 1 };

static unsigned process = 2; /* the number of this process ([OWNER-MARK]) */

static void renumber_process(void)
{
	process += 2;
}

static int atfork_err = -1; /* the result of pthread_atfork(); -1: not called yet */

/* Register the handler when the library is loaded. Otherwise a thread could register it and take a
 * partition while another thread forks: a fork() does not call a handler that is registered after
 * the fork() began, and other handlers can make a fork() take long. */
__attribute__((constructor)) static void register_fork_handler(void)
{
	atfork_err = pthread_atfork(NULL, NULL, renumber_process);
}

int weir__owners_begin(void)
{
	return atfork_err ? weir__fail(-atfork_err, "no memory to be called after a fork()") : 0;
}

static bool owned(unsigned mark)
{
	return (mark & ~(unsigned)SLEEPER) == process;
}

bool weir__owner_held(const struct weir_owner *owner)
{
	return owned(weir__mark_load_acquire(owner));
}

bool weir__owner_take(struct weir_owner *owner)
{
	unsigned seen = weir__mark_load_relaxed(owner);
	return !owned(seen) && weir__mark_swap_acquire(owner, seen, process); /* [FORK-NUMBER] */
}

bool weir__owner_take_spare(struct weir_owner *owner)
{
	return weir__mark_load_relaxed(owner) != (UNOWNED | SLEEPER) && weir__owner_take(owner);
}

void weir__owner_drop(struct weir_owner *owner)
{
	if (weir__mark_sub_release(owner, process) & SLEEPER) /* [SLEEPER-COUNTS], [WANTED-FIRST] */
		syscall(SYS_futex, &owner->mark, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* If a sandbox refuses futex(2), sleep for a millisecond instead. */
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
	if (seen == process && weir__mark_swap_acquire(owner, seen, process | SLEEPER))
		seen = process | SLEEPER;
	if (seen == (process | SLEEPER)) /* [SLEEPER-COUNTS] */
		sleep_on(owner, seen);
}

/* ---- work shared by several threads. Error sentences are thread-local, so the thread of
 * the first failed call copies its sentence for the caller ---- */

struct job {
	int (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	int err;
	char sentence[512]; /* the size of the longest sentence */
};

static void record_error(struct job *job, int err)
{
	pthread_mutex_lock(&job->lock);
	if (err && !job->err) {
		job->err = err;
		snprintf(job->sentence, sizeof job->sentence, "%s", weir_error_detail());
	}
	pthread_mutex_unlock(&job->lock);
}

static void *run(void *job)
{
	struct job *c = job;
	record_error(c, c->work(c->arg));
	return NULL;
}

/* Block all signals during creation, since new threads inherit the mask. So signals still go to the
 * caller's threads. */
static unsigned start_threads(pthread_t *thread, unsigned n, struct job *job)
{
	sigset_t all, before;
	unsigned started = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < n && pthread_create(&thread[started], NULL, run, job) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg)
{
	struct job job = { .work = work, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t *thread = threads > 1 ? malloc((threads - 1) * sizeof *thread) : NULL;
	unsigned started = thread ? start_threads(thread, threads - 1, &job) : 0;
	run(&job);
	while (started)
		pthread_join(thread[--started], NULL);
	free(thread);
	return job.err ? weir__fail(job.err, "%s", job.sentence) : 0;
}
