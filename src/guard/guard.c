/* SPDX-License-Identifier: MIT
 * Creates and frees guards, lets threads join and leave, and sums the figures. */
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "guard/guard.h"

enum {
	WINDOW = 4096, LEAST_WINDOW = 1024, MOST_WINDOW = 1 << 24,
	PAIR_OF_LINES = 128,
};

/* ---- creation ---- */

static int check_shares(struct weir_guard_options *o)
{
	if (!(o->bypass_below >= 0 && o->bypass_below < 1))
		return weir__fail(-EINVAL, "bypass_below %g: a share of asks, 0 to below 1",
		                  o->bypass_below);
	if (!(o->resume_above >= 0 && o->resume_above <= 1))
		return weir__fail(-EINVAL, "resume_above %g: a share of asks, 0 to 1",
		                  o->resume_above);
	if (o->resume_above > 0 && o->resume_above <= o->bypass_below)
		return weir__fail(-EINVAL, "resume_above %g: above bypass_below, which is %g",
		                  o->resume_above, o->bypass_below);
	if (o->resume_above == 0) {
		const double more = 1.25 * o->bypass_below, half = (1 + o->bypass_below) / 2;
		o->resume_above = more < half ? more : half;
	}
	return 0;
}

static int check_options(struct weir_guard_options *o)
{
	const unsigned given = !!o->handle + !!o->filter + !!o->contains;
	if (given != 1)
		return weir__fail(-EINVAL, "options.handle, filter and contains: %u given, one is "
		                  "needed", given);
	if (o->contains_hash && !o->contains)
		return weir__fail(-EINVAL, "options.contains_hash: a %s has its own",
		                  o->handle ? "handle" : "filter");
	if (o->window && (o->window < LEAST_WINDOW || o->window > MOST_WINDOW))
		return weir__fail(-EINVAL, "window %u: %d to %d asks, or 0 for %d", o->window,
		                  LEAST_WINDOW, MOST_WINDOW, WINDOW);
	o->window = o->window ? o->window : WINDOW;
	return check_shares(o);
}

int weir_guard_create(struct weir_guard **out, const struct weir_guard_options *options)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the guard needs a place");
	int err = weir__options_copy(&o, sizeof o, options, "weir_guard_options");
	if (!err)
		err = check_options(&o);
	if (err)
		return err;
	struct weir_guard *g = calloc(1, sizeof *g);
	if (!g)
		return weir__fail(-ENOMEM, "no memory for a guard");
	g->options = o;
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return 0;
}

int weir_guard_destroy(struct weir_guard *g)
{
	if (!g)
		return 0;
	if (g->joined)
		return weir__fail(-EBUSY, "weir_guard_destroy: %u thread%s joined and not left",
		                  g->joined, g->joined == 1 ? " has" : "s have");
	pthread_mutex_destroy(&g->lock);
	free(g);
	return 0;
}

/* ---- threads ---- */

int weir_guard_join(struct weir_guard_thread **out, struct weir_guard *g)
{
	struct weir_guard_thread *t = NULL;
	if (!out || !g)
		return weir__fail(-EINVAL, "%s is NULL: weir_guard_join needs it",
		                  out ? "the guard" : "out");
	if (posix_memalign((void **)&t, PAIR_OF_LINES,
	                   (sizeof *t + PAIR_OF_LINES - 1) / PAIR_OF_LINES * PAIR_OF_LINES))
		return weir__fail(-ENOMEM, "no memory for a thread of a guard");
	memset(t, 0, sizeof *t);
	t->guard = g;
	t->random = (uint64_t)(uintptr_t)t;
	pthread_mutex_lock(&g->lock);
	t->next = g->threads;
	t->link = &g->threads;
	if (t->next)
		t->next->link = &t->next;
	g->threads = t;
	g->joined++;
	pthread_mutex_unlock(&g->lock);
	*out = t;
	return 0;
}

int weir_guard_leave(struct weir_guard_thread *t)
{
	if (!t)
		return 0;
	struct weir_guard *g = t->guard;
	pthread_mutex_lock(&g->lock);
	for (unsigned i = 0; i < WEIR__GUARD_FIGURES; i++)
		g->left[i] += weir__figure_load_relaxed(&t->figure[i]);
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	g->joined--;
	pthread_mutex_unlock(&g->lock);
	free(t);
	return 0;
}

/* ---- figures: the sums over joined threads and over threads that have left ([GUARD-LIST]) ---- */

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

int weir_guard_measure(struct weir_guard *g, struct weir_guard_stats *out)
{
	uint64_t sum[WEIR__GUARD_FIGURES];
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	int err = g ? weir__size_check(out, sizeof *out, "weir_guard_stats") :
	              weir__fail(-EINVAL, "the guard is NULL: weir_guard_stats needs it");
	if (err)
		return err;
	pthread_mutex_lock(&g->lock); /* [GUARD-LIST] */
	memcpy(sum, g->left, sizeof sum);
	for (const struct weir_guard_thread *t = g->threads; t; t = t->next) {
		for (unsigned i = 0; i < WEIR__GUARD_FIGURES; i++)
			sum[i] += weir__figure_load_relaxed(&t->figure[i]);
		s.bypassing += weir__figure_load_relaxed(&t->bypassing) != 0;
	}
	s.threads = g->joined;
	pthread_mutex_unlock(&g->lock);
	s.struct_size = out->struct_size;
	s.asked = sum[WEIR__ASKED];
	s.stopped = sum[WEIR__STOPPED];
	s.true_positives = sum[WEIR__TRUE_POSITIVES];
	s.false_positives = sum[WEIR__FALSE_POSITIVES];
	s.bypassed = sum[WEIR__BYPASSED];
	s.bypassed_absent = sum[WEIR__BYPASSED_ABSENT];
	s.switches = sum[WEIR__SWITCHES];
	const uint64_t closed = s.stopped + s.true_positives + s.false_positives +
	                        s.bypassed_absent + sum[WEIR__BYPASSED_FOUND];
	/* The sums may be of different moments, so closed can exceed asked. */
	s.unreported = closed < s.asked ? s.asked - closed : 0;
	s.fp_rate = share_of(s.false_positives, s.false_positives + s.stopped);
	s.saved = share_of(s.stopped, s.asked);
	memcpy(out, &s, out->struct_size);
	return 0;
}
