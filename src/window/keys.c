/* SPDX-License-Identifier: MIT
 * The one loop of a window's batches: the hashes of up to 64 keys, and their answers. */
#include "kind/batch.h"
#include "window/window.h"

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
