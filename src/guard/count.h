/* SPDX-License-Identifier: MIT
 * What each ask counts, and whether it leaves the filter out. */
#ifndef WEIR_SRC_GUARD_COUNT_H
#define WEIR_SRC_GUARD_COUNT_H

#include "guard/guard.h"

enum {
	WEIR__GUARD_SOONER = 16, /* times, while bypassed: measured asks are rare then */
	WEIR__GUARD_MEASURED_BITS = 6, /* one of 64 */
};

/* Stop or begin to leave the filter out, by the share of measured asks that it stopped. */
void weir__guard_decide(struct weir_guard_thread *t);

/* That a guard has no options.contains_hash. Return: -ENOTSUP. */
int weir__guard_no_hashes(void);

/* Q1 */
static inline void weir__guard_add(struct weir_guard_thread *t, enum weir__guard_figure figure,
                                   uint64_t more)
{
	weir__figure_store_relaxed(&t->figure[figure],
	                           weir__figure_load_relaxed(&t->figure[figure]) + more);
}

static inline bool weir__guard_bypassing(const struct weir_guard_thread *t)
{
	return weir__figure_load_relaxed(&t->bypassing);
}

/* Measured asks that a decision takes. */
static inline uint32_t weir__guard_window(const struct weir_guard_thread *t)
{
	const uint32_t window = t->guard->options.window;
	return weir__guard_bypassing(t) ? window / WEIR__GUARD_SOONER : window;
}

/* The filter was asked for so many keys, and ruled so many of them out. */
static inline void weir__guard_measured(struct weir_guard_thread *t, uint32_t asked,
                                        uint32_t stopped)
{
	weir__guard_add(t, WEIR__STOPPED, stopped);
	t->stopped += stopped;
	t->measured += asked;
	if (t->measured >= weir__guard_window(t))
		weir__guard_decide(t);
}

/* At random: traffic may repeat itself. Of Knuth's generator the top bits are good. */
static inline unsigned weir__guard_draw(struct weir_guard_thread *t)
{
	t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(t->random >> (64 - WEIR__GUARD_MEASURED_BITS));
}

/* Counts the ask of one key. Return: does it leave the filter out? */
static inline bool weir__guard_left_out(struct weir_guard_thread *t)
{
	weir__guard_add(t, WEIR__ASKED, 1);
	if (!weir__guard_bypassing(t) || !weir__guard_draw(t))
		return false;
	weir__guard_add(t, WEIR__BYPASSED, 1);
	return true;
}

/* Of one key that did not. Return: WEIR_GUARD_ABSENT or _MAYBE. */
static inline int weir__guard_answer(struct weir_guard_thread *t, bool maybe)
{
	weir__guard_measured(t, 1, !maybe); /* without a branch, which nobody could predict */
	return maybe;
}

#endif
