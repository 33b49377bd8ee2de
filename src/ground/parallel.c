/* SPDX-License-Identifier: MIT
 * One piece of work by several threads. An error's sentence is its thread's own, so it is taken
 * over from one to the other. */
#include "ground/parallel.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "ground/error.h"

struct crew {
	int (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	int err;
	char sentence[512]; /* as long as any is */
};

static void note(struct crew *crew, int err)
{
	pthread_mutex_lock(&crew->lock);
	if (err && !crew->err) {
		crew->err = err;
		snprintf(crew->sentence, sizeof crew->sentence, "%s", weir_error_detail());
	}
	pthread_mutex_unlock(&crew->lock);
}

static void *run(void *crew)
{
	struct crew *c = crew;
	note(c, c->work(c->arg));
	return NULL;
}

/* The caller's signals stay the caller's. */
static unsigned begin(pthread_t *thread, unsigned n, struct crew *crew)
{
	sigset_t all, before;
	unsigned begun = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (begun < n && pthread_create(&thread[begun], NULL, run, crew) == 0)
		begun++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg)
{
	struct crew crew = { .work = work, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t *thread = threads > 1 ? malloc((threads - 1) * sizeof *thread) : NULL;
	unsigned begun = thread ? begin(thread, threads - 1, &crew) : 0;
	run(&crew);
	while (begun)
		pthread_join(thread[--begun], NULL);
	free(thread);
	return crew.err ? weir__fail(crew.err, "%s", crew.sentence) : 0;
}
