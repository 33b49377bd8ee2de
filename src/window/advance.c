/* SPDX-License-Identifier: MIT
 * Advances ([STATE-IN-SECTION], [CLOCK-AFTER], [ONE-ADVANCE]). */
#include <inttypes.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "window/window.h"

bool weir__window_due(const struct weir_window *w, uint64_t *wait)
{
	uint32_t newest = weir__window_newest(weir__window_load_acquire(&w->state));
	uint64_t age;
	*wait = UINT64_MAX;
	if (weir__figure_load_relaxed(&w->counted[newest]) >= w->enough)
		return true;
	if (!w->period)
		return false;
	age = weir__window_age(w, newest, w->clock(w->clock_arg));
	*wait = age < w->period ? w->period - age : 0;
	return age >= w->period;
}

/* Clear a slot that no section counts as live any more. Do not write words that are 0 already,
 * since a write would take the words' lines from the caches of other cores. */
static void clear(struct weir_window *w, uint32_t slot)
{
	const struct weir_window_bits *b = &w->bits;
	uint64_t *word = b->words + slot * b->slot_step;
	for (uint64_t n = 8 * b->blocks; n > 0; n--, word += b->stride)
		if (weir__word_load_relaxed(word))
			weir__slot_clear_release(word);
	weir__figure_store_relaxed(&w->counted[slot], 0);
}

static void note_late(struct weir_window *w, uint32_t newest)
{
	uint64_t age = weir__window_age(w, newest, w->clock(w->clock_arg));
	if (w->period && age > w->period &&
	    age - w->period > weir__figure_load_relaxed(&w->late))
		weir__figure_store_relaxed(&w->late, age - w->period);
}

/* [CLOCK-AFTER]: note the time. In since[] 0 means that no time is noted, so note a 0 as 1. */
static void note_time(struct weir_window *w, uint32_t slot)
{
	uint64_t now = w->clock(w->clock_arg);
	weir__figure_store_relaxed(&w->since[slot], now ? now : 1);
}

/* Advance the window, which the caller has claimed. */
static void advance(struct weir_window *w)
{
	uint64_t state = weir__window_load_acquire(&w->state);
	uint32_t next = weir__window_next(weir__window_newest(state), w->bits.slots);
	note_late(w, weir__window_newest(state));
	weir__figure_store_relaxed(&w->since[next], 0); /* its age is 0 until note_time() */
	weir__window_store_seq_cst(&w->state, weir__window_state(weir__window_advances(state) + 1,
	                                                         next, w->bits.slots));
	note_time(w, next);
	weir__synchronize(&w->rcu); /* [STATE-IN-SECTION] */
	clear(w, weir__window_next(next, w->bits.slots));
}

int weir__window_advance(struct weir_window *w, bool only_due)
{
	WEIR__UNCANCELLED;
	uint64_t wait;
	if (only_due && !weir__window_due(w, &wait))
		return 0;
	if (weir__in_section(&w->rcu))
		return weir__fail(-EDEADLK, "an advance of a window inside a read-side section: it "
		                  "would wait for its own caller");
	if (!weir__flag_claim_acquire(&w->claimed))
		return weir__fail(-EBUSY, "an advance of this window is under way");
	bool now = !only_due || weir__window_due(w, &wait); /* now under the claim */
	if (now)
		advance(w);
	weir__flag_release(&w->claimed);
	return now;
}

static int advance_of(struct weir_filter *f, bool only_due)
{
	return f->kind == &weir__kind_window ? weir__window_advance(weir__window_of(f), only_due) :
	                                       weir__kind_cannot(f->kind, "advance");
}

int weir_window_advance(struct weir_filter *f)
{
	int answer = advance_of(f, false);
	return answer < 0 ? answer : 0;
}

int weir_window_tick(struct weir_filter *f)
{
	int answer = advance_of(f, true);
	return answer == -EBUSY ? 0 : answer;
}
