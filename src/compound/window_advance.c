/* SPDX-License-Identifier: MIT
 * Advances: W1, W6 and W7. */
#include <inttypes.h>
#include "cancel.h"
#include "compound/window.h"
#include "error.h"

bool weir__window_due(const struct weir_window *w, uint64_t *wait)
{
	uint32_t newest = weir__window_newest(weir__window_load_acquire(&w->state));
	uint64_t due, now;
	*wait = UINT64_MAX;
	if (weir__figure_load_relaxed(&w->counted[newest]) >= w->enough)
		return true;
	if (!w->period)
		return false;
	now = w->clock(w->clock_arg);
	due = weir__figure_load_relaxed(&w->since[newest]) + w->period;
	*wait = due > now ? due - now : 0;
	return due <= now;
}

/* No section is left that takes the slot for a live one. A line that is clean stays so: other cores
 * keep it. */
static void clear(struct weir_window *w, uint32_t slot)
{
	const struct weir_window_bits *b = &w->bits;
	uint64_t *words = b->words + slot * b->slot_step;
	unsigned run = b->slot_step == 1 ? 1 : 8;
	for (uint64_t group = 0; group < b->groups; group++, words += b->stride)
		for (unsigned i = 0; i < run; i++)
			if (weir__word_load_relaxed(words + i))
				weir__slot_clear_release(words + i);
	weir__figure_store_relaxed(&w->counted[slot], 0);
}

static void note_late(struct weir_window *w, uint32_t newest)
{
	uint64_t due = weir__figure_load_relaxed(&w->since[newest]) + w->period;
	uint64_t now = w->clock(w->clock_arg);
	if (w->period && now > due && now - due > weir__figure_load_relaxed(&w->late))
		weir__figure_store_relaxed(&w->late, now - due);
}

/* The window is claimed. */
static void advance(struct weir_window *w)
{
	uint64_t state = weir__window_load_acquire(&w->state);
	uint32_t next = weir__window_next(weir__window_newest(state), w->bits.slots);
	note_late(w, weir__window_newest(state));
	/* for who looks in between */
	weir__figure_store_relaxed(&w->since[next], w->clock(w->clock_arg));
	weir__window_store_seq_cst(&w->state, weir__window_state(weir__window_advances(state) + 1,
	                                                         next, w->bits.slots));
	weir__figure_store_relaxed(&w->since[next], w->clock(w->clock_arg)); /* W6 */
	weir__synchronize(&w->rcu);                                            /* W1 */
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
	bool now = !only_due || weir__window_due(w, &wait); /* another was perhaps quicker */
	if (now)
		advance(w);
	weir__flag_release(&w->claimed);
	return now;
}

int weir_window_advance(struct weir_window *w)
{
	int answer = weir__window_advance(w, false);
	return answer < 0 ? answer : 0;
}

int weir_window_tick(struct weir_window *w)
{
	int answer = weir__window_advance(w, true);
	return answer == -EBUSY ? 0 : answer;
}
