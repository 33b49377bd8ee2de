/* SPDX-License-Identifier: MIT
 * Asks a guard about one key or a batch, and decides when a thread bypasses the filter. */
#include <stddef.h>
#include "ground/error.h"
#include "guard/guard.h"
#include "kind/batch.h"

/* ---- one key ---- */

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
	if (weir__guard_bypasses(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->handle ? weir_handle_contains(o->handle, key, len) :
	                             o->filter ? weir_contains(o->filter, key, len) :
	                                         o->contains(o->set, key, len));
}

int weir_guard_ask_u64(struct weir_guard_thread *t, uint64_t key)
{
	const struct weir_guard_options *o = &t->guard->options;
	if (weir__guard_bypasses(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->handle ? weir_handle_contains_u64(o->handle, key) :
	                             o->filter ? weir_contains_u64(o->filter, key) :
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
	if (o->contains && !o->contains_hash)
		return weir__guard_no_hashes();
	if (weir__guard_bypasses(t))
		return WEIR_GUARD_BYPASSED;
	return weir__guard_answer(t, o->handle ? weir_handle_contains_hash(o->handle, hash) :
	                             o->filter ? weir_contains_hash(o->filter, hash) :
	                                         o->contains_hash(o->set, hash));
}

void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found)
{
	if (answer == WEIR_GUARD_MAYBE)
		weir__guard_add(t, found ? WEIR__TRUE_POSITIVES : WEIR__FALSE_POSITIVES, 1);
	else if (answer == WEIR_GUARD_BYPASSED)
		weir__guard_add(t, found ? WEIR__BYPASSED_FOUND : WEIR__BYPASSED_ABSENT, 1);
}

/* ---- many keys ---- */

enum { WORD = 64 /* keys per word of a bitmap */ };
_Static_assert(1 << WEIR__GUARD_MEASURED_BITS == WORD, "of a bypassed word one key is measured");

/* Ask the caller's own set about key @i. */
static bool own_contains(const struct weir_guard_options *o, struct weir_keys keys, size_t i)
{
	const struct iovec *vector = keys.at;
	switch (keys.form) {
	case WEIR_KEYS_HASHES: return o->contains_hash(o->set, ((const uint64_t *)keys.at)[i]);
	case WEIR_KEYS_IOV: return o->contains(o->set, vector[i].iov_base, vector[i].iov_len);
	default: return o->contains(o->set, (const char *)keys.at + i * keys.width, keys.width);
	}
}

/* Ask the guard's handle, filter or own set. Return: the number of keys that it lets pass. */
static size_t contains_keys(const struct weir_guard_options *o, struct weir_keys keys,
                            uint64_t *bitmap)
{
	size_t maybe = 0;
	if (o->handle)
		return (size_t)weir_handle_contains_keys(o->handle, keys, bitmap);
	if (o->filter)
		return (size_t)weir_contains_keys(o->filter, keys, bitmap);
	for (size_t word = 0; word < WEIR_BITMAP_WORDS(keys.n); word++)
		bitmap[word] = 0;
	for (size_t i = 0; i < keys.n; i++) {
		const bool passed = own_contains(o, keys, i);
		bitmap[i / WORD] |= (uint64_t)passed << i % WORD;
		maybe += passed;
	}
	return maybe;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Ask the filter about a run of keys, and count the answers. Return: the number of keys that it
 * lets pass. */
static size_t ask_run(struct weir_guard_thread *t, struct weir_keys keys, uint64_t *bitmap)
{
	const size_t n = keys.n;
	weir__guard_add(t, WEIR__ASKED, n);
	const size_t maybe = contains_keys(&t->guard->options, keys, bitmap);
	weir__guard_measured(t, (uint32_t)n, (uint32_t)(n - maybe));
	return maybe;
}

/* Answer up to 64 keys while the thread bypasses the filter. Draw a random position from 0 to 63,
 * and ask the filter about the key at that position. If there are fewer than 64 keys, the position
 * may have no key. Return: the number of keys that the caller must look up in the store. */
static size_t ask_word(struct weir_guard_thread *t, struct weir_keys keys, uint64_t *bitmap,
                       uint64_t *bypassed)
{
	const size_t n = keys.n;
	const uint64_t all = ~UINT64_C(0) >> (WORD - n);
	const unsigned i = weir__guard_draw(t);
	uint64_t absent = 0;
	weir__guard_add(t, WEIR__ASKED, n);
	*bypassed = all;
	if (i < n) {
		uint64_t bit;
		const struct weir_keys one = weir_keys_part(keys, i, 1);
		const bool maybe = contains_keys(&t->guard->options, one, &bit);
		*bypassed &= ~(UINT64_C(1) << i);
		absent = (uint64_t)!maybe << i;
		(void)weir__guard_answer(t, maybe);
	}
	weir__guard_add(t, WEIR__BYPASSED, (uint64_t)__builtin_popcountll(*bypassed));
	*bitmap = all & ~absent;
	return (size_t)__builtin_popcountll(*bitmap);
}

/* Ask in runs of whole bitmap words. A run ends with the word in which the thread
 * next decides whether to bypass the filter. */
static int64_t ask_all(struct weir_guard_thread *t, struct weir_keys keys, uint64_t *bitmap,
                       uint64_t *bypassed)
{
	const size_t n = keys.n;
	size_t passed = 0;
	for (size_t from = 0, run; from < n; from += run) {
		const size_t word = from / WORD;
		if (bypassed && weir__guard_bypassing(t)) {
			run = least(n - from, WORD);
			passed += ask_word(t, weir_keys_part(keys, from, run), &bitmap[word],
			                   &bypassed[word]);
			continue;
		}
		const uint32_t left = weir__guard_window(t) - t->measured;
		run = least(n - from, WORD * WEIR_BITMAP_WORDS(left));
		passed += ask_run(t, weir_keys_part(keys, from, run), &bitmap[word]);
		for (size_t i = 0; bypassed && i < WEIR_BITMAP_WORDS(run); i++)
			bypassed[word + i] = 0;
	}
	return (int64_t)passed;
}

int64_t weir_guard_ask_keys(struct weir_guard_thread *t, struct weir_keys keys, uint64_t *bitmap,
                            uint64_t *bypassed)
{
	const struct weir_guard_options *o = &t->guard->options;
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	if (keys.form == WEIR_KEYS_HASHES && o->contains && !o->contains_hash)
		return weir__guard_no_hashes();
	return ask_all(t, keys, bitmap, bypassed);
}

void weir_guard_saw_keys(struct weir_guard_thread *t, const uint64_t *bitmap,
                         const uint64_t *bypassed, const uint64_t *found, size_t n)
{
	uint64_t sum[WEIR__GUARD_FIGURES] = { 0 };
	for (size_t i = 0; i < WEIR_BITMAP_WORDS(n); i++) {
		const uint64_t out = bypassed ? bypassed[i] & bitmap[i] : 0, in = bitmap[i] & ~out;
		sum[WEIR__TRUE_POSITIVES] += (uint64_t)__builtin_popcountll(in & found[i]);
		sum[WEIR__FALSE_POSITIVES] += (uint64_t)__builtin_popcountll(in & ~found[i]);
		sum[WEIR__BYPASSED_FOUND] += (uint64_t)__builtin_popcountll(out & found[i]);
		sum[WEIR__BYPASSED_ABSENT] += (uint64_t)__builtin_popcountll(out & ~found[i]);
	}
	weir__guard_add(t, WEIR__TRUE_POSITIVES, sum[WEIR__TRUE_POSITIVES]);
	weir__guard_add(t, WEIR__FALSE_POSITIVES, sum[WEIR__FALSE_POSITIVES]);
	weir__guard_add(t, WEIR__BYPASSED_FOUND, sum[WEIR__BYPASSED_FOUND]);
	weir__guard_add(t, WEIR__BYPASSED_ABSENT, sum[WEIR__BYPASSED_ABSENT]);
}
