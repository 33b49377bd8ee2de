/* SPDX-License-Identifier: MIT
 * Fetch and upload images on a separate thread, one at a time. A transfer may take minutes, in
 * which the node must still send, apply and confirm inserts. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <weir/filter.h>
#include "parts.h"

static void *run(void *arg)
{
	struct weir_image_job *j = arg;
	const struct weir_redis_options *o = &j->r->o;
	j->err = j->upload ? weir__image_upload(j) : weir__image_fetch(j);
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
	j->started = !err;
	return !err ? 0 : weir_fail(-EAGAIN, "set %s: no thread for an image: %s", j->r->o.set,
	                            weir_strerror(-err));
}

static void join(struct weir_image_job *j)
{
	if (j->started)
		pthread_join(j->thread, NULL);
	j->started = false;
}

static void stop(struct weir_image_job *j)
{
	if (!atomic_exchange(&j->stop, true) && j->r->o.interrupt)
		j->r->o.interrupt(j->r->o.image_link);
}

static void free_job(struct weir_redis *r)
{
	struct weir_image_job *j = r->job;
	join(j);
	if (atomic_load(&j->stop) && r->o.rest)
		r->o.rest(r->o.image_link);
	weir_destroy(j->filter);
	if (j->bytes)
		munmap(j->bytes, j->room);
	free(j);
	r->job = NULL;
}

void weir__job_end(struct weir_redis *r)
{
	if (!r->job)
		return;
	stop(r->job);
	free_job(r);
}

static int begin(struct weir_redis *r, const struct weir_manifest *m, const struct weir_filter *f)
{
	struct weir_image_job *j = calloc(1, sizeof *j);
	if (!j)
		return weir_fail(-ENOMEM, "set %s: no memory for an image", r->o.set);
	j->r = r;
	j->m = *m;
	j->upload = f != NULL;
	r->job = j;
	int err = f ? weir__image_copy(j, f) : weir__image_allocate(j, m->bytes);
	if (err)
		free_job(r);
	return err;
}

/* Return: true if @j is the transfer that the caller asks for. */
static bool is_same_job(const struct weir_image_job *j, const struct weir_manifest *m, bool upload)
{
	return j->m.id == m->id && j->upload == upload && !atomic_load(&j->stop) &&
	       (upload || memcmp(j->m.image, m->image, sizeof m->image) == 0);
}

/* After an error, keep the job only if a retry can use its progress. */
static int failed(struct weir_redis *r)
{
	char why[WEIR_SENTENCE_BYTES];
	const int err = r->job->err;
	memcpy(why, r->job->sentence, sizeof why);
	if (err == -ENOENT || err == -EBADMSG || err == -EKEYREJECTED || err == -ENOTSUP ||
	    err == -EFBIG || err == -ENOSPC)
		free_job(r);
	return weir_fail(err, "%s", why);
}

/* Start the transfer of a generation's image, resume it after an error, or complete it.
 * @f: the filter to upload; NULL: fetch. Return: 0 complete; -EINPROGRESS; or an error, after which
 *   the next call resumes the transfer or starts it again. */
static int run_job(struct weir_redis *r, const struct weir_manifest *m, const struct weir_filter *f)
{
	struct weir_image_job *j = r->job;
	if (j && !is_same_job(j, m, f != NULL)) {
		stop(j);
		if (!j->started || atomic_load(&j->ended))
			free_job(r);
	}
	int err = r->job ? 0 : begin(r, m, f);
	if (err)
		return err;
	j = r->job;
	if (!j->started)
		err = start(j);
	if (err)
		return err;
	if (!atomic_load(&j->ended) || atomic_load(&j->stop))
		return weir_fail(-EINPROGRESS, "set %s: an image is on its way", r->o.set);
	join(j);
	return j->err ? failed(r) : 0;
}

void weir__redis_progress(const struct weir_redis *r, uint64_t *here, uint64_t *all)
{
	const struct weir_image_job *j = r->job;
	*here = *all = 0;
	if (!j || j->upload)
		return;
	*all = j->m.bytes;
	*here = atomic_load(&j->chunks) * WEIR_CHUNK;
	*here = *here < *all ? *here : *all;
}

int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	struct weir_redis *r = context;
	int err = run_job(r, m, NULL);
	if (err)
		return err;
	*out = r->job->filter;
	r->job->filter = NULL;
	free_job(r);
	return 0;
}

int weir__redis_upload(void *context, const struct weir_filter *f, struct weir_manifest *m)
{
	struct weir_redis *r = context;
	int err = run_job(r, m, f);
	if (err)
		return err;
	memcpy(m->image, r->job->m.image, sizeof m->image);
	m->bytes = r->job->m.bytes;
	m->chunks = r->job->m.chunks;
	free_job(r);
	return 0;
}
