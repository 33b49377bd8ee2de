/* SPDX-License-Identifier: MIT
 * Asks of a guard, one key at a time, and when a thread leaves its filter out. */
#include "ground/error.h"
#include "guard/count.h"

void weir__guard_decide(struct weir_guard_thread *t)
{
	const struct weir_guard_options *o = &t->guard->options;
	const bool bypassing = weir__guard_bypassing(t);
	const double share = (double)t->stopped / t->measured;
	const bool bypass = bypassing ? share <= o->resume_above : share < o->bypass_below;
	if (bypass != bypassing) {
		weir__figure_store_relaxed(&t->bypassing, bypass);
		weir__guard_add(t, WEIR__SWITCHES, 1);
	}
	t->measured = t->stopped = 0;
}

int weir_guard_ask(struct weir_guard_thread *t, const void *key, size_t len)
{
	const struct weir_guard_options *o = &t->guard->options;
	if (weir__guard_left_out(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->contains(o->set, key, len));
}

int weir_guard_ask_u64(struct weir_guard_thread *t, uint64_t key)
{
	const struct weir_guard_options *o = &t->guard->options;
	if (weir__guard_left_out(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->handle ? weir_handle_contains_u64(o->handle, key) :
	                                         o->contains(o->set, &key, sizeof key));
}

int weir__guard_no_hashes(void)
{
	return weir__fail(-ENOTSUP, "options.contains_hash is NULL: this guard is asked by keys, "
	                  "not by hashes");
}

int weir_guard_ask_hash(struct weir_guard_thread *t, uint64_t hash)
{
	const struct weir_guard_options *o = &t->guard->options;
	if (!o->contains_hash)
		return weir__guard_no_hashes();
	if (weir__guard_left_out(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->contains_hash(o->set, hash));
}

void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found)
{
	if (answer == WEIR_GUARD_MAYBE)
		weir__guard_add(t, found ? WEIR__TRUE_POSITIVES : WEIR__FALSE_POSITIVES, 1);
	else if (answer == WEIR_GUARD_BYPASSED)
		weir__guard_add(t, found ? WEIR__BYPASSED_FOUND : WEIR__BYPASSED_ABSENT, 1);
}
