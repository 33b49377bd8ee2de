/* SPDX-License-Identifier: MIT
 * The handle's batches. Each SECTION_KEYS keys have a section of their own, so that a grace period
 * waits for some milliseconds and not for the whole batch. */
#include "ground/error.h"
#include "set/dual_write.h"
#include "set/generation.h"
#include "set/keys.h"

enum { SECTION_KEYS = 1 << 20 }; /* a multiple of 64: each section has whole words of the bitmap */

static size_t contain_section(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                              size_t n, uint64_t *bitmap)
{
	if (k->hashes && g->by_hash == &weir__any_hash)
		return weir__answer_all(true, n, bitmap);
	return weir__keys_contain(g->current, k, at, n, bitmap);
}

static size_t contains_all(const struct weir_handle *h, const struct weir_keys *k, size_t n,
                           uint64_t *bitmap)
{
	size_t found = 0;
	for (size_t at = 0; at < n; at += SECTION_KEYS) {
		size_t some = n - at < SECTION_KEYS ? n - at : SECTION_KEYS;
		weir__read_lock(&h->rcu);
		found += contain_section(weir__generation(h), k, at, some,
		                         bitmap ? bitmap + at / 64 : NULL);
		weir__read_unlock(&h->rcu);
	}
	return found;
}

/* H1: into every filter of the record. The answer is the current one's unless another refuses. */
static int64_t insert_section(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                              size_t n, uint64_t *bitmap)
{
	return g->beside ? weir__insert_keys_beside(g, k, at, n, bitmap) :
	                   weir__keys_insert(g->current, k, at, n, bitmap);
}

static int64_t insert_all(struct weir_handle *h, const struct weir_keys *k, size_t n,
                          uint64_t *bitmap)
{
	int64_t inserted = 0;
	for (size_t at = 0; at < n; at += SECTION_KEYS) {
		size_t some = n - at < SECTION_KEYS ? n - at : SECTION_KEYS;
		weir__read_lock(&h->rcu);
		int64_t answer = insert_section(weir__generation(h), k, at, some,
		                                bitmap ? bitmap + at / 64 : NULL);
		size_t taken = answer < 0 ? at + weir_error_taken() : 0;
		weir__read_unlock(&h->rcu);
		if (answer < 0) {
			size_t rest = at + some; /* whole words */
			if (rest < n)
				(void)weir__answer_all(false, n - rest,
				                       bitmap ? bitmap + rest / 64 : NULL);
			return weir__stopped(taken, answer);
		}
		inserted += answer;
	}
	return inserted;
}

size_t weir_handle_contains_hashes(const struct weir_handle *h, const uint64_t *hashes, size_t n,
                                   uint64_t *bitmap)
{
	return contains_all(h, &(struct weir_keys){ .hashes = hashes }, n, bitmap);
}

size_t weir_handle_contains_keys(const struct weir_handle *h, const struct iovec *keys, size_t n,
                                 uint64_t *bitmap)
{
	return contains_all(h, &(struct weir_keys){ .vectors = keys }, n, bitmap);
}

size_t weir_handle_contains_fixed(const struct weir_handle *h, const void *keys, size_t key_bytes,
                                  size_t n, uint64_t *bitmap)
{
	return contains_all(h, &(struct weir_keys){ .fixed = keys, .key_bytes = key_bytes }, n,
	                    bitmap);
}

int64_t weir_handle_insert_hashes(struct weir_handle *h, const uint64_t *hashes, size_t n,
                                  uint64_t *bitmap)
{
	return insert_all(h, &(struct weir_keys){ .hashes = hashes }, n, bitmap);
}

int64_t weir_handle_insert_keys(struct weir_handle *h, const struct iovec *keys, size_t n,
                                uint64_t *bitmap)
{
	return insert_all(h, &(struct weir_keys){ .vectors = keys }, n, bitmap);
}

int64_t weir_handle_insert_fixed(struct weir_handle *h, const void *keys, size_t key_bytes,
                                 size_t n, uint64_t *bitmap)
{
	return insert_all(h, &(struct weir_keys){ .fixed = keys, .key_bytes = key_bytes }, n,
	                  bitmap);
}
