/* SPDX-License-Identifier: MIT
 * A guard's figures: those of its threads, and of threads that are gone (Q2). */
#include <string.h>
#include "ground/error.h"
#include "guard/guard.h"

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

int weir_guard_stats(struct weir_guard *g, struct weir_guard_stats *out)
{
	uint64_t sum[WEIR__GUARD_FIGURES];
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	int err = g ? weir__size_check(out, sizeof *out, "weir_guard_stats") :
	              weir__fail(-EINVAL, "the guard is NULL: weir_guard_stats needs it");
	if (err)
		return err;
	pthread_mutex_lock(&g->lock); /* Q2 */
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
	s.unreported = closed < s.asked ? s.asked - closed : 0; /* of different moments */
	s.fp_rate = share_of(s.false_positives, s.false_positives + s.stopped);
	s.saved = share_of(s.stopped, s.asked);
	memcpy(out, &s, out->struct_size);
	return 0;
}
