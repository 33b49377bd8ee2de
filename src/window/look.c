/* SPDX-License-Identifier: MIT
 * The parts of lookups that the kernels of a window share, and the ages of keys. */
#include "kind/batch.h"
#include "window/window.h"

/* Return: the live slots that have the key. Call this in a section. */
static inline uint32_t slots_with(const struct weir_window *w, uint64_t hash, uint64_t *state)
{
	*state = weir__window_load_acquire(&w->state);
	return w->kernel->look(&w->bits, hash) & weir__window_live(*state);
}

bool weir__window_look_again(const struct weir_window *w, uint64_t hash)
{
	uint64_t state;
	uint32_t in;
	WEIR__IN_SECTION(&w->rcu, in = slots_with(w, hash, &state));
	return in != 0;
}

static uint64_t answers_of(const struct weir_window *w, const uint64_t *hashes, unsigned n,
                           uint64_t state)
{
	return w->kernel->look_each(&w->bits, hashes, n, weir__window_live(state));
}

/* Look up at most 64 keys as [SECTION-IF-ADVANCED] says. Unlike a lookup of one key, load the state
 * again even if the keys were found. */
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

size_t weir__window_contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                                   uint64_t *bitmap)
{
	return weir__window_run(f, batch, bitmap, look_some);
}

/* ---- the loop of all batches: hash up to 64 keys, then answer them ---- */

static const uint64_t *hashes_of(const struct weir_filter *f, const struct weir_batch *batch,
                                 size_t at, size_t n, uint64_t *scratch)
{
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)batch->keys + at;
	weir__batch_hash(f, batch, at, n, scratch);
	return scratch;
}

size_t weir__window_run(const struct weir_filter *f, const struct weir_batch *batch,
                        uint64_t *bitmap, weir__window_some_fn *some)
{
	uint64_t scratch[WEIR_WINDOW_STEP];
	size_t positive = 0;
	for (size_t at = 0; at < batch->n; at += WEIR_WINDOW_STEP) {
		const unsigned now = weir__least(batch->n - at, WEIR_WINDOW_STEP);
		uint64_t answers = some(weir__window_of(f), hashes_of(f, batch, at, now, scratch),
		                        now);
		if (bitmap)
			bitmap[at / WEIR_WINDOW_STEP] = answers;
		positive += (size_t)__builtin_popcountll(answers);
	}
	return positive;
}

/* ---- ages of keys: a filter of another kind counts as one generation ---- */

/* Return: true if the filter is a window that can tell the generation of a key. A window that was
 * loaded without its secret key cannot, since all its lookups answer true. */
static bool is_window(const struct weir_filter *f)
{
	return f->kind == &weir__kind_window &&
	       f->kernel == &weir__window_of(f)->kernel->verbs;
}

static int age_of(const struct weir_window *w, uint64_t hash)
{
	uint64_t state;
	uint32_t in, slots = w->bits.slots;
	WEIR__IN_SECTION(&w->rcu, in = slots_with(w, hash, &state));
	if (!in)
		return -1;
	/* generations get older from the newest slot down to slot 0, then from the top slot down */
	uint32_t newest = weir__window_newest(state);
	uint32_t below = in & ((UINT32_C(2) << newest) - 1);
	uint32_t slot = 31 - (uint32_t)__builtin_clz(below ? below : in);
	return (int)weir__window_slot(newest, slot, slots);
}

int weir_age_hash(const struct weir_filter *f, uint64_t hash)
{
	return is_window(f) ? age_of(weir__window_of(f), hash) : weir_contains_hash(f, hash) - 1;
}

int weir_age(const struct weir_filter *f, const void *key, size_t len)
{
	return is_window(f) ? age_of(weir__window_of(f), weir_hash(f, key, len)) :
	                      weir_contains(f, key, len) - 1;
}

int weir_age_u64(const struct weir_filter *f, uint64_t key)
{
	return is_window(f) ? age_of(weir__window_of(f), weir_hash_u64(f, key)) :
	                      weir_contains_u64(f, key) - 1;
}

/* Write the ages of up to 64 keys. Return: the number of keys found. */
static int64_t ages_of(const struct weir_filter *f, struct weir_keys keys, int *ages)
{
	uint64_t in, hashes[WEIR_WINDOW_STEP];
	if (!is_window(f)) {
		const int64_t seen = weir_contains_keys(f, keys, &in);
		for (size_t i = 0; i < keys.n; i++)
			ages[i] = (int)(in >> i & 1) - 1;
		return seen;
	}
	int64_t seen = 0;
	weir_hash_keys(f, keys, hashes);
	for (size_t i = 0; i < keys.n; i++) {
		ages[i] = age_of(weir__window_of(f), hashes[i]);
		seen += ages[i] >= 0;
	}
	return seen;
}

int64_t weir_age_keys(const struct weir_filter *f, struct weir_keys keys, int *ages)
{
	int64_t seen = 0;
	if (!weir__keys_form(keys)) {
		for (size_t i = 0; i < keys.n; i++)
			ages[i] = 0;
		return (int64_t)keys.n;
	}
	for (size_t at = 0; at < keys.n; at += WEIR_WINDOW_STEP) {
		const size_t n = weir__least(keys.n - at, WEIR_WINDOW_STEP);
		seen += ages_of(f, weir_keys_part(keys, at, n), ages + at);
	}
	return seen;
}
