/* SPDX-License-Identifier: MIT
 * The thread of an image, and what the node's thread sees of it. */
#include "coming.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/filter.h>
#include "../clock.h"

enum { SENTENCE = 512 };

struct weir_coming {
	struct weir_redis redis; /* as it was when this began; with the connection of images */
	struct weir_fetch_options http;
	struct weir_manifest of;
	struct weir_image_file file;
	pthread_t thread;
	bool started;            /* the thread: and not waited for yet */
	atomic_bool stop, ended;
	/* when it has ended */
	int err;
	char sentence[SENTENCE];
	struct weir_filter *filter;
	/* the last time that it ended with less than all; the node's thread's own */
	struct {
		int err;
		char sentence[SENTENCE];
		uint64_t here, again_ms; /* what had come; when to go on */
		unsigned times;          /* in a row in which nothing came */
	} failure;
};

/* ---- the thread ---- */

static bool stopped(void *coming)
{
	return atomic_load(&((struct weir_coming *)coming)->stop);
}

static int get_and_load(struct weir_coming *c)
{
	int err = weir__image_get(&c->redis, &c->of, &c->file);
	return err ? err : weir__image_load(&c->redis, &c->of, &c->file, &c->filter);
}

static void *run(void *arg)
{
	struct weir_coming *c = arg;
	c->err = get_and_load(c);
	if (weir__image_refused(c->err) && weir__image_again(&c->file))
		c->err = get_and_load(c);
	snprintf(c->sentence, sizeof c->sentence, "%s", c->err ? weir_error_detail() : "");
	void (*wake)(void *) = c->redis.wake;
	void *whom = c->redis.wake_context;
	atomic_store(&c->ended, true);
	if (wake)
		wake(whom);
	return NULL;
}

static int start(struct weir_coming *c)
{
	sigset_t all, old;
	atomic_store(&c->ended, false);
	if (c->of.path[0]) /* it comes from its beginning */
		c->file.here = c->failure.here = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return weir_fail(-EAGAIN, "set %s: no thread for an image: %s", c->redis.keys.set,
		                 weir_strerror(-err));
	c->started = true;
	(void)pthread_setname_np(c->thread, "weir-image");
	return 0;
}

/* ---- the node's thread ---- */

static void stop(struct weir_coming *c)
{
	if (atomic_exchange(&c->stop, true))
		return;
	weir__wire_interrupt(c->redis.wire);
	if (c->redis.read_wire)
		weir__wire_interrupt(c->redis.read_wire);
}

static void join(struct weir_coming *c)
{
	if (c->started)
		pthread_join(c->thread, NULL);
	c->started = false;
}

static void rest(const struct weir_coming *c)
{
	weir__wire_rest(c->redis.wire);
	if (c->redis.read_wire)
		weir__wire_rest(c->redis.read_wire);
}

static void drop(struct weir_redis *r)
{
	struct weir_coming *c = r->coming;
	join(c);
	rest(c);
	weir_destroy(c->filter);
	weir__image_end(&c->file);
	free(c);
	r->coming = NULL;
}

/* Does the manifest name these bytes? */
static bool is_of(const struct weir_coming *c, const struct weir_manifest *m)
{
	const struct weir_manifest *of = &c->of;
	return !atomic_load(&c->stop) && of->generation == m->generation &&
	       of->bytes == m->bytes && of->checksum[0] == m->checksum[0] &&
	       of->checksum[1] == m->checksum[1] && of->chunks == m->chunks &&
	       of->chunk_bytes == m->chunk_bytes && of->stored == m->stored &&
	       of->kind == m->kind && strcmp(of->path, m->path) == 0;
}

static int begin(struct weir_redis *r, const struct weir_manifest *m)
{
	struct weir_coming *c = calloc(1, sizeof *c);
	if (!c)
		return weir_fail(-ENOMEM, "no memory to fetch an image");
	c->redis = *r;
	c->redis.wire = r->image_wire;
	c->of = *m;
	c->file.master = !weir__reader_is_due(&r->reader);
	if (r->http) {
		c->http = *r->http;
		c->http.stop = stopped;
		c->http.context = c;
		c->http.here = &c->file.here;
		c->redis.http = &c->http;
	}
	int err = weir__image_begin(r, m, &c->file);
	if (err)
		free(c);
	else
		r->coming = c;
	return err;
}

/* It goes on later. Until something comes, that is how it stands. Nobody has interrupted it: what
 * was stopped is dropped. */
static void note_failure(struct weir_coming *c)
{
	uint64_t here = atomic_load(&c->file.here);
	c->failure.times = here > c->failure.here ? 1 : c->failure.times + 1;
	c->failure.here = here;
	c->failure.err = c->err;
	memcpy(c->failure.sentence, c->sentence, sizeof c->failure.sentence);
	c->failure.again_ms = weir__now_ms() + weir__wire_backoff(c->failure.times);
	atomic_store(&c->ended, false);
}

static int take(struct weir_redis *r, struct weir_filter **out)
{
	struct weir_coming *c = r->coming;
	join(c);
	weir__reader_note(&r->reader, c->file.away, c->file.mixed);
	c->file.away[0] = '\0';
	int err = c->err ? weir_fail(c->err, "%s", c->sentence) : 0;
	if (!err) {
		*out = c->filter;
		c->filter = NULL;
	}
	if (!err || weir__image_refused(err))
		drop(r);
	else
		note_failure(c);
	return err;
}

static bool fails(const struct weir_coming *c)
{
	return c->failure.err && atomic_load(&c->file.here) <= c->failure.here;
}

static int not_yet(const struct weir_redis *r, const struct weir_manifest *m)
{
	const struct weir_coming *c = r->coming;
	uint64_t here, all;
	if (fails(c))
		return weir_fail(c->failure.err, "%s", c->failure.sentence);
	weir__redis_image_bytes(r, &here, &all);
	return weir_fail(-EINPROGRESS, "set %s: the image of generation %" PRIu64 " is on its way: "
	                 "%" PRIu64 " of %" PRIu64 " bytes are here", r->keys.set, m->generation,
	                 here, all);
}

int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	struct weir_redis *r = context;
	struct weir_coming *c = r->coming;
	if (c && r->trust && memcmp(c->redis.image_hash, r->image_hash, sizeof r->image_hash) != 0)
		stop(c); /* another signature */
	weir__redis_image_only(r, m);
	int err = r->coming ? 0 : begin(r, m);
	if (err)
		return err;
	c = r->coming;
	if (!is_of(c, m))
		return weir_fail(-EINPROGRESS, "set %s: the image of generation %" PRIu64 " is "
		                 "next: the thread of another is about to end", r->keys.set,
		                 m->generation);
	if (atomic_load(&c->ended))
		return take(r, out);
	bool starts = !c->started && (!c->failure.err || weir__now_ms() >= c->failure.again_ms);
	err = starts ? start(c) : 0;
	return err ? err : not_yet(r, m);
}

int weir__redis_image_await(struct weir_redis *r, const struct weir_manifest *m,
                            struct weir_filter **out)
{
	int err;
	do {
		if (r->coming) {
			join(r->coming);
			r->coming->failure.again_ms = 0;
		}
		err = weir__redis_image(r, m, out);
	} while (r->coming && r->coming->started);
	return err;
}

bool weir__redis_image_comes(const struct weir_redis *r, const struct weir_manifest *m)
{
	const struct weir_coming *c = r->coming;
	return c && c->started && !atomic_load(&c->ended) && is_of(c, m) && !fails(c);
}

void weir__redis_image_bytes(const struct weir_redis *r, uint64_t *here, uint64_t *all)
{
	const struct weir_coming *c = r->coming;
	*here = c ? atomic_load_explicit(&c->file.here, memory_order_relaxed) : 0;
	*all = c ? c->of.bytes : 0;
}

void weir__redis_image_only(struct weir_redis *r, const struct weir_manifest *wanted)
{
	struct weir_coming *c = r->coming;
	if (!c || (wanted && is_of(c, wanted)))
		return;
	stop(c);
	if (!c->started || atomic_load(&c->ended))
		drop(r);
}

void weir__redis_image_stop(struct weir_redis *r)
{
	if (!r->coming)
		return;
	stop(r->coming);
	drop(r);
}
