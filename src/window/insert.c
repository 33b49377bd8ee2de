/* SPDX-License-Identifier: MIT
 * Inserts into a window. One function serves both layouts, all shapes and all instruction sets,
 * since no instruction set has a vector form of the atomic OR. */
#include "kind/batch.h"
#include "window/window.h"

/* The words and bits of a key. They are the same in each slot. */
struct key_bits {
	uint64_t *words; /* the key's column or block in slot 0 */
	uint64_t mask[8];
	uint32_t index[8];
};

static inline uint64_t *first_word(const struct weir_window_bits *b, uint64_t hash)
{
	return weir__window_is_ring(b) ? weir__window_block(b, hash) :
	                                 weir__window_column(b, hash, weir__remix(hash));
}

static inline void key_bits_of(struct key_bits *p, const struct weir_window_bits *b, uint64_t hash)
{
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	bool ring = weir__window_is_ring(b);
	p->words = first_word(b, hash);
	for (unsigned i = 0, j = 0; i < b->z; i++) {
		p->index[i] = ring ? weir__word_index(b->z, i, r) : 0;
		p->mask[i] = 0;
		for (unsigned t = 0; t < b->g; t++, j++)
			p->mask[i] |= UINT64_C(1) << weir__bit_index(b->z, j, r, r2);
	}
}

/* Insert into one slot. Load all words first, since a locked instruction delays the loads after it.
 * The loads are relaxed, since a bit that is set in a live slot stays set ([BITS-ONLY-SET]).
 * Return: true if this insert has set a bit. */
static bool set_bits(const struct weir_window_bits *b, const struct key_bits *p, uint32_t slot)
{
	uint64_t *words = p->words + slot * b->slot_step, missing = 0;
	bool changed = false;
	for (unsigned i = 0; i < b->z; i++)
		missing |= p->mask[i] & ~weir__word_load_relaxed(words + p->index[i]);
	for (unsigned i = 0; missing && i < b->z; i++) {
		uint64_t before = weir__slot_fetch_or_seq_cst(words + p->index[i], p->mask[i]);
		changed |= (p->mask[i] & ~before) != 0;
	}
	return changed;
}

/* Return: true if the key is in one of these slots. */
static bool is_in(const struct weir_window_bits *b, const struct key_bits *p, uint32_t slots)
{
	uint32_t in = 0;
	for (; slots; slots &= slots - 1) {
		const uint64_t *words = p->words + (uint32_t)__builtin_ctz(slots) * b->slot_step;
		uint64_t missing = 0;
		for (unsigned i = 0; i < b->z; i++)
			missing |= p->mask[i] & ~weir__slot_load_seq_cst(words + p->index[i]);
		in |= !missing;
	}
	return in;
}

static uint32_t others(uint64_t state, uint32_t own)
{
	return weir__window_live(state) & ~(UINT32_C(1) << own);
}

/* Count a key if it is in the sample. If the number of counted keys makes an advance due, wake the
 * timer. */
static void count(struct weir_window *w, uint64_t hash, uint32_t slot)
{
	if ((hash & w->sampled) == 0 && w->enough != UINT64_MAX &&
	    weir__figure_add_relaxed(&w->counted[slot], 1) + 1 == w->enough)
		(void)weir__window_wake(w);
}

/* Call this in a read-side section. */
static int insert(struct weir_window *w, uint64_t hash)
{
	const struct weir_window_bits *b = &w->bits;
	struct key_bits p;
	key_bits_of(&p, b, hash);
	uint64_t state = weir__window_load_acquire(&w->state);
	uint32_t own = weir__window_newest(state);
	bool one_word = b->z == 1;
	/* [ONE-NEW-AT-LEAST]: read before the OR */
	bool present = !one_word && is_in(b, &p, others(state, own));
	if (!set_bits(b, &p, own))
		return WEIR_SEEN;
	count(w, hash, own);
	if (one_word) { /* [ONE-NEW-AT-MOST]: read after the OR */
		state = weir__window_load_seq_cst(&w->state);
		present = is_in(b, &p, others(state, own));
	}
	return present ? WEIR_SEEN : WEIR_NEW;
}

int weir__window_insert_hash(struct weir_filter *f, uint64_t hash)
{
	struct weir_window *w = weir__window_of(f);
	int answer;
	WEIR__IN_SECTION(&w->rcu, answer = insert(w, hash));
	return answer;
}

int weir__window_insert(struct weir_filter *f, const void *key, size_t len)
{
	return weir__window_insert_hash(f, weir__hash(f->array.seed, key, len));
}

int weir__window_insert_u64(struct weir_filter *f, uint64_t key)
{
	return weir__window_insert_hash(f, weir__hash_u64(f->array.flip8, key));
}

/* Insert up to 64 keys in one section. */
static uint64_t insert_some(struct weir_window *w, const uint64_t *hashes, unsigned n)
{
	const struct weir_window_bits *b = &w->bits;
	uint64_t new = 0;
	weir__read_lock(&w->rcu);
	uint32_t own = weir__window_newest(weir__window_load_acquire(&w->state));
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(first_word(b, hashes[i]) + own * b->slot_step, 1, 3);
	for (unsigned i = 0; i < n; i++)
		new |= (uint64_t)insert(w, hashes[i]) << i;
	weir__read_unlock(&w->rcu);
	return new;
}

int64_t weir__window_insert_batch(struct weir_filter *f, const struct weir_batch *batch,
                                  uint64_t *bitmap)
{
	return (int64_t)weir__window_run(f, batch, bitmap, insert_some);
}
