/* SPDX-License-Identifier: MIT
 * A guard: threads' cells with what they counted, and when a thread leaves its filter out.
 *
 * Q1  A cell has one writer, the thread that joined. So adding is a relaxed load and store, no
 *     locked operation, and loses no count; who reports reads each counter as it was a moment ago.
 * Q2  The list of cells is changed and walked under the lock. A cell that leaves is added to the
 *     guard's own in the same hold in which it goes, so a report counts it once.
 * Q3  What a thread decides by is its own. It only chooses who answers, filter or store; the store
 *     is asked whenever the filter is not, so no decision can miss a key.
 * Q4  A cell stands alone in two lines (the CPU fetches them in pairs), so no two threads write to
 *     one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <weir/guard.h>
#include "atomic.h"
#include "error.h"
#include "options.h"

enum {
	WINDOW = 4096, LEAST_WINDOW = 1024, MOST_WINDOW = 1 << 24,
	SOONER = 16, /* times, while bypassed: measured asks are rare then */
	MEASURED_BITS = 6, /* one of 64 */
	PAIR_OF_LINES = 128,
};

enum figure { ASKED, STOPPED, TRUE_POSITIVES, FALSE_POSITIVES, BYPASSED, BYPASSED_FOUND,
              BYPASSED_ABSENT, SWITCHES, FIGURES };

struct weir_guard_thread {
	struct weir_guard *guard;
	atomic_uint_fast64_t figure[FIGURES];
	atomic_uint_fast64_t bypassing; /* 0 or 1 */
	uint64_t random;
	uint32_t measured, stopped; /* since it last decided */
	struct weir_guard_thread *next, **link;
};

struct weir_guard {
	struct weir_guard_options options;
	pthread_mutex_t lock;
	struct weir_guard_thread *threads;
	uint32_t joined;
	uint64_t left[FIGURES]; /* of threads that are gone */
};

/* ---- making one ---- */

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
	if (!o->handle == !o->contains)
		return weir__fail(-EINVAL, "options.handle and contains: %s given, one is needed",
		                  o->handle ? "both are" : "neither is");
	if (o->window && (o->window < LEAST_WINDOW || o->window > MOST_WINDOW))
		return weir__fail(-EINVAL, "window %u: %d to %d asks, or 0 for %d", o->window,
		                  LEAST_WINDOW, MOST_WINDOW, WINDOW);
	o->window = o->window ? o->window : WINDOW;
	return check_shares(o);
}

static bool handle_contains(const void *handle, const void *key, size_t len)
{
	return weir_handle_contains(handle, key, len);
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
	if (o.handle) {
		o.contains = handle_contains;
		o.set = o.handle;
	}
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

void weir_guard_leave(struct weir_guard_thread *t)
{
	if (!t)
		return;
	struct weir_guard *g = t->guard;
	pthread_mutex_lock(&g->lock);
	for (unsigned i = 0; i < FIGURES; i++)
		g->left[i] += weir__figure_load_relaxed(&t->figure[i]);
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	g->joined--;
	pthread_mutex_unlock(&g->lock);
	free(t);
}

/* ---- asking ---- */

/* Q1 */
static void add(struct weir_guard_thread *t, enum figure figure, uint64_t more)
{
	weir__figure_store_relaxed(&t->figure[figure],
	                           weir__figure_load_relaxed(&t->figure[figure]) + more);
}

static void decide(struct weir_guard_thread *t, bool bypassing)
{
	const struct weir_guard_options *o = &t->guard->options;
	const double share = (double)t->stopped / t->measured;
	const bool bypass = bypassing ? share <= o->resume_above : share < o->bypass_below;
	if (bypass != bypassing) {
		weir__figure_store_relaxed(&t->bypassing, bypass);
		add(t, SWITCHES, 1);
	}
	t->measured = t->stopped = 0;
}

/* At random: traffic may repeat itself. Of Knuth's generator the top bits are good. */
static bool left_out(struct weir_guard_thread *t)
{
	t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return t->random >> (64 - MEASURED_BITS) != 0;
}

int weir_guard_ask(struct weir_guard_thread *t, const void *key, size_t len)
{
	const struct weir_guard_options *o = &t->guard->options;
	const bool bypassing = weir__figure_load_relaxed(&t->bypassing);
	add(t, ASKED, 1);
	if (bypassing && left_out(t)) {
		add(t, BYPASSED, 1);
		return WEIR_GUARD_BYPASSED;
	}
	const bool maybe = o->contains(o->set, key, len);
	add(t, STOPPED, !maybe); /* without a branch, which nobody could predict */
	t->stopped += !maybe;
	if (++t->measured >= (bypassing ? o->window / SOONER : o->window))
		decide(t, bypassing);
	return maybe; /* WEIR_GUARD_ABSENT or _MAYBE */
}

void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found)
{
	if (answer == WEIR_GUARD_MAYBE)
		add(t, found ? TRUE_POSITIVES : FALSE_POSITIVES, 1);
	else if (answer == WEIR_GUARD_BYPASSED)
		add(t, found ? BYPASSED_FOUND : BYPASSED_ABSENT, 1);
}

/* ---- figures ---- */

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

int weir_guard_stats(struct weir_guard *g, struct weir_guard_stats *out)
{
	uint64_t sum[FIGURES];
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	int err = g ? weir__size_check(out, sizeof *out, "weir_guard_stats") :
	              weir__fail(-EINVAL, "the guard is NULL: weir_guard_stats needs it");
	if (err)
		return err;
	pthread_mutex_lock(&g->lock); /* Q2 */
	memcpy(sum, g->left, sizeof sum);
	for (const struct weir_guard_thread *t = g->threads; t; t = t->next) {
		for (unsigned i = 0; i < FIGURES; i++)
			sum[i] += weir__figure_load_relaxed(&t->figure[i]);
		s.bypassing += weir__figure_load_relaxed(&t->bypassing) != 0;
	}
	s.threads = g->joined;
	pthread_mutex_unlock(&g->lock);
	s.struct_size = out->struct_size;
	s.asked = sum[ASKED];
	s.stopped = sum[STOPPED];
	s.true_positives = sum[TRUE_POSITIVES];
	s.false_positives = sum[FALSE_POSITIVES];
	s.bypassed = sum[BYPASSED];
	s.bypassed_absent = sum[BYPASSED_ABSENT];
	s.switches = sum[SWITCHES];
	const uint64_t closed = s.stopped + s.true_positives + s.false_positives +
	                        s.bypassed_absent + sum[BYPASSED_FOUND];
	s.unreported = closed < s.asked ? s.asked - closed : 0; /* of different moments */
	s.fp_rate = share_of(s.false_positives, s.false_positives + s.stopped);
	s.saved = share_of(s.stopped, s.asked);
	memcpy(out, &s, out->struct_size);
	return 0;
}
