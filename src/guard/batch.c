/* SPDX-License-Identifier: MIT
 * Asks of a guard, many keys at a time: in runs, as long as they go to the filter. */
#include <stddef.h>
#include "guard/count.h"

enum { WORD = 64 /* keys of one word of a bitmap */ };
_Static_assert(1 << WEIR__GUARD_MEASURED_BITS == WORD, "of a bypassed word one key is measured");

/* A batch in one of its three forms. */
struct batch {
	bool (*contains)(const struct weir_guard_options *o, const struct batch *b, size_t i);
	/* of @n keys from key @from on, as weir_handle_contains_hashes() */
	size_t (*handle_contains)(const struct weir_handle *h, const struct batch *b, size_t from,
	                          size_t n, uint64_t *bitmap);
	const void *keys;
	size_t key_bytes;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* By the filter, in a run. Return: how many it lets pass. */
static size_t ask_run(struct weir_guard_thread *t, const struct batch *b, size_t from, size_t n,
                      uint64_t *bitmap)
{
	const struct weir_guard_options *o = &t->guard->options;
	size_t maybe = 0;
	weir__guard_add(t, WEIR__ASKED, n);
	if (o->handle) {
		maybe = b->handle_contains(o->handle, b, from, n, bitmap);
	} else {
		for (size_t word = 0; word < WEIR_BITMAP_WORDS(n); word++)
			bitmap[word] = 0;
		for (size_t i = 0; i < n; i++) {
			const bool passed = b->contains(o, b, from + i);
			bitmap[i / WORD] |= (uint64_t)passed << i % WORD;
			maybe += passed;
		}
	}
	weir__guard_measured(t, (uint32_t)n, (uint32_t)(n - maybe));
	return maybe;
}

/* While bypassed, a word of keys: one of its 64 is measured, at a random place, so a shorter one
 * may have none. Return: how many are passed on. */
static size_t ask_word(struct weir_guard_thread *t, const struct batch *b, size_t from, size_t n,
                       uint64_t *bitmap, uint64_t *bypassed)
{
	const uint64_t all = ~UINT64_C(0) >> (WORD - n);
	const unsigned i = weir__guard_draw(t);
	uint64_t absent = 0;
	weir__guard_add(t, WEIR__ASKED, n);
	*bypassed = all;
	if (i < n) {
		const bool maybe = b->contains(&t->guard->options, b, from + i);
		*bypassed &= ~(UINT64_C(1) << i);
		absent = (uint64_t)!maybe << i;
		(void)weir__guard_answer(t, maybe);
	}
	weir__guard_add(t, WEIR__BYPASSED, (uint64_t)__builtin_popcountll(*bypassed));
	*bitmap = all & ~absent;
	return (size_t)__builtin_popcountll(*bitmap);
}

/* In runs that end with a decision, and with a word of the bitmap. */
static int64_t ask_all(struct weir_guard_thread *t, const struct batch *b, size_t n,
                       uint64_t *bitmap, uint64_t *bypassed)
{
	size_t passed = 0;
	for (size_t from = 0, run; from < n; from += run) {
		const size_t word = from / WORD;
		if (bypassed && weir__guard_bypassing(t)) {
			run = least(n - from, WORD);
			passed += ask_word(t, b, from, run, &bitmap[word], &bypassed[word]);
			continue;
		}
		const uint32_t left = weir__guard_window(t) - t->measured;
		run = least(n - from, WORD * WEIR_BITMAP_WORDS(left));
		passed += ask_run(t, b, from, run, &bitmap[word]);
		for (size_t i = 0; bypassed && i < WEIR_BITMAP_WORDS(run); i++)
			bypassed[word + i] = 0;
	}
	return (int64_t)passed;
}

static bool contains_hash(const struct weir_guard_options *o, const struct batch *b, size_t i)
{
	return o->contains_hash(o->set, ((const uint64_t *)b->keys)[i]);
}

static size_t handle_hashes(const struct weir_handle *h, const struct batch *b, size_t from,
                            size_t n, uint64_t *bitmap)
{
	return weir_handle_contains_hashes(h, (const uint64_t *)b->keys + from, n, bitmap);
}

int64_t weir_guard_ask_hashes(struct weir_guard_thread *t, const uint64_t *hashes, size_t n,
                              uint64_t *bitmap, uint64_t *bypassed)
{
	const struct batch b = { contains_hash, handle_hashes, hashes, sizeof *hashes };
	if (!t->guard->options.contains_hash)
		return weir__guard_no_hashes();
	return ask_all(t, &b, n, bitmap, bypassed);
}

static bool contains_key(const struct weir_guard_options *o, const struct batch *b, size_t i)
{
	const struct iovec *key = (const struct iovec *)b->keys + i;
	return o->contains(o->set, key->iov_base, key->iov_len);
}

static size_t handle_keys(const struct weir_handle *h, const struct batch *b, size_t from, size_t n,
                          uint64_t *bitmap)
{
	return weir_handle_contains_keys(h, (const struct iovec *)b->keys + from, n, bitmap);
}

int64_t weir_guard_ask_keys(struct weir_guard_thread *t, const struct iovec *keys, size_t n,
                            uint64_t *bitmap, uint64_t *bypassed)
{
	const struct batch b = { contains_key, handle_keys, keys, sizeof *keys };
	return ask_all(t, &b, n, bitmap, bypassed);
}

static bool contains_fixed(const struct weir_guard_options *o, const struct batch *b, size_t i)
{
	return o->contains(o->set, (const char *)b->keys + i * b->key_bytes, b->key_bytes);
}

static size_t handle_fixed(const struct weir_handle *h, const struct batch *b, size_t from,
                           size_t n, uint64_t *bitmap)
{
	return weir_handle_contains_fixed(h, (const char *)b->keys + from * b->key_bytes,
	                                  b->key_bytes, n, bitmap);
}

int64_t weir_guard_ask_fixed(struct weir_guard_thread *t, const void *keys, size_t key_bytes,
                             size_t n, uint64_t *bitmap, uint64_t *bypassed)
{
	const struct batch b = { contains_fixed, handle_fixed, keys, key_bytes };
	return ask_all(t, &b, n, bitmap, bypassed);
}

void weir_guard_saw_each(struct weir_guard_thread *t, const uint64_t *bitmap,
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
