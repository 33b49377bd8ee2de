/* SPDX-License-Identifier: MIT
 * Runs one piece of work in several threads. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"
#include "say.h"

unsigned threads_default(void)
{
	cpu_set_t allowed;
	/* sched_getaffinity() fails on machines with more than 1024 CPUs. */
	bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
	long n = known ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (unsigned)n;
}

struct team {
	void (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t done;
	unsigned working;
};

static void *thread_main(void *arg)
{
	struct team *team = arg;
	team->work(team->arg);
	pthread_mutex_lock(&team->lock);
	team->working--;
	pthread_cond_signal(&team->done);
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

static void wait_for_threads(struct team *team, void (*tick)(void *arg))
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	pthread_mutex_lock(&team->lock);
	while (team->working) {
		at.tv_nsec += 100000000;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		while (team->working && pthread_cond_timedwait(&team->done, &team->lock, &at) == 0)
			;
		pthread_mutex_unlock(&team->lock);
		if (tick)
			tick(team->arg);
		pthread_mutex_lock(&team->lock);
	}
	pthread_mutex_unlock(&team->lock);
}

void run_threads(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg)
{
	struct team team = { .work = work, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER,
	                     .working = threads };
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&team.done, &monotonic);
	pthread_condattr_destroy(&monotonic);

	pthread_t *ids = xmalloc(threads * sizeof *ids);
	unsigned started = 0;
	while (started < threads && pthread_create(&ids[started], NULL, thread_main, &team) == 0)
		started++;
	if (!started) /* If no thread could be started, the calling thread does the work. */
		work(arg);
	pthread_mutex_lock(&team.lock);
	team.working -= threads - started;
	pthread_mutex_unlock(&team.lock);
	wait_for_threads(&team, tick);
	for (unsigned i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	pthread_cond_destroy(&team.done);
}
