/* SPDX-License-Identifier: MIT
 * Lookups in a window. */
#include "ground/error.h"
#include "kind/batch.h"
#include "window/window.h"

/* In a section. The live slots that have the key. */
static inline uint32_t slots_with(const struct weir_window *w, uint64_t hash, uint64_t *state)
{
	*state = weir__window_load_acquire(&w->state);
	return w->kernel.look(&w->bits, hash) & weir__window_live(*state);
}

bool weir__window_look_again(const struct weir_window *w, uint64_t hash)
{
	uint64_t state;
	uint32_t in;
	WEIR__IN_SECTION(&w->rcu, in = slots_with(w, hash, &state));
	return in != 0;
}

bool weir_window_contains_hash(const struct weir_window *w, uint64_t hash)
{
	return w->kernel.contains(w, hash);
}

bool weir_window_contains(const struct weir_window *w, const void *key, size_t len)
{
	return w->kernel.contains(w, weir__hash_by(&w->hashing, key, len));
}

/* By value: a key whose address is taken would go through memory in the quick way too. */
static __attribute__((noinline)) bool contains_keyed(const struct weir_window *w, uint64_t key)
{
	return weir_window_contains(w, &key, sizeof key);
}

bool weir_window_contains_u64(const struct weir_window *w, uint64_t key)
{
	if (__builtin_expect(weir__keyed(&w->hashing), 0))
		return contains_keyed(w, key);
	return w->kernel.contains(w, weir__hash8(w->flip8, &key));
}

int weir_window_age_hash(const struct weir_window *w, uint64_t hash)
{
	uint64_t state;
	uint32_t in, slots = w->bits.slots;
	WEIR__IN_SECTION(&w->rcu, in = slots_with(w, hash, &state));
	if (!in)
		return -ENOENT;
	/* Slots below the newest's and the newest's own come first, from above. */
	uint32_t newest = weir__window_newest(state);
	uint32_t below = in & ((UINT32_C(2) << newest) - 1);
	uint32_t slot = 31 - (uint32_t)__builtin_clz(below ? below : in);
	return (int)weir__window_slot(newest, slot, slots);
}

int weir_window_age(const struct weir_window *w, const void *key, size_t len)
{
	return weir_window_age_hash(w, weir__hash_by(&w->hashing, key, len));
}

static uint64_t answers_of(const struct weir_window *w, const uint64_t *hashes, unsigned n,
                           uint64_t state)
{
	return w->kernel.look_each(&w->bits, hashes, n, weir__window_live(state));
}

/* As W8 looks one up. */
static uint64_t look_some(struct weir_window *w, const uint64_t *hashes, unsigned n)
{
	uint64_t state = weir__window_load_acquire(&w->state);
	uint64_t in = answers_of(w, hashes, n, state);
	if (__builtin_expect(weir__window_load_after(&w->state) != state, 0)) {
		weir__read_lock(&w->rcu);
		in = answers_of(w, hashes, n, weir__window_load_acquire(&w->state));
		weir__read_unlock(&w->rcu);
	}
	return in;
}

int64_t weir_window_contains_keys(const struct weir_window *w, struct weir_keys keys,
                                  uint64_t *bitmap)
{
	if (!weir__keys_form(keys))
		return weir__answer_all(true, keys.n, bitmap);
	/* It writes nothing: the loop is that of inserts too. */
	return weir__window_run((struct weir_window *)(uintptr_t)w, keys, bitmap, look_some);
}

/* ---- the one loop of all batches: the hashes of up to 64 keys, and their answers ---- */

static const uint64_t *hashes_of(const struct weir_window *w, struct weir_keys keys,
                                 uint64_t *scratch)
{
	if (keys.form == WEIR_KEYS_HASHES)
		return keys.at;
	weir__keys_hash(&w->hashing, w->isa, keys, scratch);
	return scratch;
}

int64_t weir__window_run(struct weir_window *w, struct weir_keys keys, uint64_t *bitmap,
                         weir__window_some_fn *some)
{
	uint64_t scratch[WEIR_WINDOW_STEP];
	int64_t positive = 0;
	for (size_t at = 0; at < keys.n; at += WEIR_WINDOW_STEP) {
		size_t now = keys.n - at < WEIR_WINDOW_STEP ? keys.n - at : WEIR_WINDOW_STEP;
		uint64_t answers = some(w, hashes_of(w, weir_keys_part(keys, at, now), scratch),
		                        (unsigned)now);
		if (bitmap)
			bitmap[at / WEIR_WINDOW_STEP] = answers;
		positive += __builtin_popcountll(answers);
	}
	return positive;
}
