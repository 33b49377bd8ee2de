/* SPDX-License-Identifier: MIT
 * The one loop of a window's batches: the hashes of up to 64 keys, and their answers. */
#include "window/window.h"

static void hash_fixed(const struct weir_window *w, const char *keys, size_t key_bytes, size_t n,
                       uint64_t *out)
{
	if (key_bytes == 8 && !weir__keyed(&w->hashing)) {
		weir__hash8_for(w->isa, w->flip8, keys, n, out);
		return;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = weir__hash_by(&w->hashing, keys + i * key_bytes, key_bytes);
}

/* Those of n keys from at on: where the caller has them, else in scratch. */
static const uint64_t *hashes_of(const struct weir_window *w, const struct weir_window_keys *k,
                                 size_t at, size_t n, uint64_t *scratch)
{
	if (k->hashes)
		return k->hashes + at;
	if (k->fixed)
		hash_fixed(w, k->fixed + at * k->key_bytes, k->key_bytes, n, scratch);
	for (size_t i = 0; k->keys && i < n; i++)
		scratch[i] = weir__hash_by(&w->hashing, k->keys[at + i].iov_base,
		                           k->keys[at + i].iov_len);
	return scratch;
}

size_t weir__window_run(struct weir_window *w, const struct weir_window_keys *keys, size_t n,
                        uint64_t *bitmap, weir__window_some_fn *some)
{
	uint64_t scratch[WEIR_WINDOW_STEP];
	size_t positive = 0;
	for (size_t at = 0; at < n; at += WEIR_WINDOW_STEP) {
		size_t now = n - at < WEIR_WINDOW_STEP ? n - at : WEIR_WINDOW_STEP;
		uint64_t answers = some(w, hashes_of(w, keys, at, now, scratch), (unsigned)now);
		if (bitmap)
			bitmap[at / WEIR_WINDOW_STEP] = answers;
		positive += (size_t)__builtin_popcountll(answers);
	}
	return positive;
}
