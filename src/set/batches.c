/* SPDX-License-Identifier: MIT
 * The handle's batches. Each SECTION_KEYS keys have a section of their own, so that a grace period
 * waits for some milliseconds and not for the whole batch. */
#include "ground/error.h"
#include "kind/batch.h"
#include "set/dual_write.h"
#include "set/generation.h"
#include "set/keys.h"

enum { SECTION_KEYS = 1 << 20 }; /* a multiple of 64: each section has whole words of the bitmap */

static struct weir_keys section(struct weir_keys keys, size_t at)
{
	return weir_keys_part(keys, at, keys.n - at < SECTION_KEYS ? keys.n - at : SECTION_KEYS);
}

static int64_t contain_section(const struct weir_generation *g, struct weir_keys keys,
                               uint64_t *bitmap)
{
	if (keys.form == WEIR_KEYS_HASHES && g->by_hash == &weir__any_hash)
		return weir__answer_all(true, keys.n, bitmap);
	return weir_contains_keys(g->current, keys, bitmap);
}

int64_t weir_handle_contains_keys(const struct weir_handle *h, struct weir_keys keys,
                                  uint64_t *bitmap)
{
	int64_t found = 0;
	for (size_t at = 0; at < keys.n; at += SECTION_KEYS) {
		weir__read_lock(&h->rcu);
		found += contain_section(weir__generation(h), section(keys, at),
		                         bitmap ? bitmap + at / 64 : NULL);
		weir__read_unlock(&h->rcu);
	}
	return found;
}

/* H1: into every filter of the record. The answer is the current one's unless another refuses. */
static int64_t insert_section(const struct weir_generation *g, struct weir_keys keys,
                              uint64_t *bitmap)
{
	return g->beside ? weir__insert_keys_beside(g, keys, bitmap) :
	                   weir_insert_keys(g->current, keys, bitmap);
}

int64_t weir_handle_insert_keys(struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	const size_t n = keys.n;
	int64_t inserted = 0;
	for (size_t at = 0; at < n; at += SECTION_KEYS) {
		const struct weir_keys some = section(keys, at);
		weir__read_lock(&h->rcu);
		int64_t answer = insert_section(weir__generation(h), some,
		                                bitmap ? bitmap + at / 64 : NULL);
		size_t taken = answer < 0 ? at + weir_error_taken() : 0;
		weir__read_unlock(&h->rcu);
		if (answer < 0) {
			size_t rest = at + some.n; /* whole words */
			if (rest < n)
				(void)weir__answer_all(false, n - rest,
				                       bitmap ? bitmap + rest / 64 : NULL);
			return weir__stopped(taken, answer);
		}
		inserted += answer;
	}
	return inserted;
}
