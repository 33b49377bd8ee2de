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

unsigned crew_default(void)
{
	cpu_set_t allowed;
	/* sched_getaffinity() fails on machines with more than 1024 CPUs. */
	bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
	long n = known ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > CREW_MOST ? CREW_MOST : (unsigned)n;
}

struct crew {
	void (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t done;
	unsigned working;
};

static void *member(void *arg)
{
	struct crew *crew = arg;
	crew->work(crew->arg);
	pthread_mutex_lock(&crew->lock);
	crew->working--;
	pthread_cond_signal(&crew->done);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void watch(struct crew *crew, void (*tick)(void *arg))
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	pthread_mutex_lock(&crew->lock);
	while (crew->working) {
		at.tv_nsec += 100000000;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		while (crew->working && pthread_cond_timedwait(&crew->done, &crew->lock, &at) == 0)
			;
		pthread_mutex_unlock(&crew->lock);
		if (tick)
			tick(crew->arg);
		pthread_mutex_lock(&crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
}

void crew_run(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg)
{
	struct crew crew = { .work = work, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER,
	                     .working = threads };
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&crew.done, &monotonic);
	pthread_condattr_destroy(&monotonic);

	pthread_t *ids = need(threads * sizeof *ids);
	unsigned started = 0;
	while (started < threads && pthread_create(&ids[started], NULL, member, &crew) == 0)
		started++;
	if (!started) /* If no thread could be started, the calling thread does the work. */
		work(arg);
	pthread_mutex_lock(&crew.lock);
	crew.working -= threads - started;
	pthread_mutex_unlock(&crew.lock);
	watch(&crew, tick);
	for (unsigned i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	pthread_cond_destroy(&crew.done);
}
