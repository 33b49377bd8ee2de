/* SPDX-License-Identifier: MIT
 * An image on its way, on a thread of its own: it may take minutes, in which the node has to send,
 * apply and confirm inserts. Of one at a time. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>
#include <weir/filter.h>
#include "parts.h"

struct weir_image_job {
	struct weir_image_work work;
	uint64_t id;             /* of the generation */
	bool upload, packed;
	pthread_t thread;
	bool started;            /* and not joined yet */
	atomic_bool stop, ended;
	/* when it has ended */
	int err;
	char sentence[WEIR_SENTENCE_BYTES];
	struct weir_filter *filter;
};

static void *run(void *arg)
{
	struct weir_image_job *j = arg;
	const struct weir_redis_options *o = &j->work.r->o;
	j->err = j->upload ? weir__image_upload(&j->work, &j->packed) :
	                     weir__image_fetch(&j->work, &j->filter);
	snprintf(j->sentence, sizeof j->sentence, "%s", j->err ? weir_error_detail() : "");
	atomic_store(&j->ended, true);
	if (o->wake)
		o->wake(o->wake_context);
	return NULL;
}

static int start(struct weir_image_job *j)
{
	sigset_t all, old;
	atomic_store(&j->ended, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&j->thread, NULL, run, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return weir_fail(-EAGAIN, "set %s: no thread for an image: %s", j->work.r->set,
		                 weir_strerror(-err));
	j->started = true;
	return 0;
}

static void join(struct weir_image_job *j)
{
	if (j->started)
		pthread_join(j->thread, NULL);
	j->started = false;
}

static void stop(struct weir_image_job *j)
{
	const struct weir_redis_options *o = &j->work.r->o;
	if (!atomic_exchange(&j->stop, true) && o->interrupt)
		o->interrupt(o->image_link);
}

static void drop(struct weir_redis *r)
{
	struct weir_image_job *j = r->job;
	join(j);
	if (atomic_load(&j->stop) && r->o.rest)
		r->o.rest(r->o.image_link);
	weir_destroy(j->filter);
	weir__image_free(&j->work);
	free(j);
	r->job = NULL;
}

void weir__job_end(struct weir_redis *r)
{
	if (!r->job)
		return;
	stop(r->job);
	drop(r);
}

static int begin(struct weir_redis *r, const struct weir_manifest *m, const struct weir_filter *f)
{
	struct weir_image_job *j = calloc(1, sizeof *j);
	if (!j)
		return weir_fail(-ENOMEM, "set %s: no memory for an image", r->set);
	j->work = (struct weir_image_work){ .r = r, .stop = &j->stop, .m = *m };
	j->id = m->id;
	j->upload = f != NULL;
	int err = f ? weir__image_copy(&j->work, f) : weir__image_room(&j->work, m->bytes);
	r->job = j;
	if (err)
		drop(r);
	return err;
}

/* Errors after which what has come is of use. */
static bool goes_on(int err)
{
	return err != -ENOENT && err != -EBADMSG && err != -EKEYREJECTED && err != -ENOTSUP &&
	       err != -EFBIG && err != -ENOSPC;
}

/* The job of this generation: begun, going on after an error, or ended.
 * @f: NULL: fetch. Return: 0: it has done all; -EINPROGRESS; an error, once. */
static int ask(struct weir_redis *r, const struct weir_manifest *m, const struct weir_filter *f)
{
	struct weir_image_job *j = r->job;
	if (j && (j->id != m->id || j->upload != (f != NULL) ||
	          (!f && memcmp(j->work.m.image, m->image, sizeof m->image) != 0))) {
		stop(j);
		if (!j->started || atomic_load(&j->ended))
			drop(r);
	}
	int err = r->job ? 0 : begin(r, m, f);
	if (err)
		return err;
	j = r->job;
	if (!j->started && !atomic_load(&j->stop))
		err = start(j);
	if (err || !atomic_load(&j->ended) || atomic_load(&j->stop))
		return err ? err : weir_fail(-EINPROGRESS, "set %s: an image is on its way: %"
		                             PRIu64 " chunks so far", r->set,
		                             (uint64_t)atomic_load(&j->work.chunks));
	join(j);
	if (!j->err)
		return 0;
	char why[WEIR_SENTENCE_BYTES];
	memcpy(why, j->sentence, sizeof why);
	err = j->err;
	if (!goes_on(err))
		drop(r);
	return weir_fail(err, "%s", why);
}

int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	struct weir_redis *r = context;
	int err = ask(r, m, NULL);
	if (err)
		return err;
	*out = r->job->filter;
	r->job->filter = NULL;
	drop(r);
	return 0;
}

int weir__redis_upload(void *context, const struct weir_filter *f, struct weir_manifest *m)
{
	struct weir_redis *r = context;
	int err = ask(r, m, f);
	if (err)
		return err;
	const struct weir_manifest *of = &r->job->work.m;
	memcpy(m->image, of->image, sizeof m->image);
	m->bytes = of->bytes;
	m->chunks = of->chunks;
	drop(r);
	return 0;
}

void weir__redis_progress(const struct weir_redis *r, uint64_t *here, uint64_t *all)
{
	const struct weir_image_job *j = r->job;
	*all = j && !j->upload ? j->work.m.bytes : 0;
	*here = j && !j->upload ? atomic_load(&j->work.chunks) * WEIR_CHUNK : 0;
	*here = *here < *all ? *here : *all;
}
