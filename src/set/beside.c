/* SPDX-License-Identifier: MIT
 * Inserts beside a reload, with a previous filter kept, into filters that hash differently (H9), or
 * before the first set (H10). */
#include <weir/normalise.h>
#include "error.h"
#include "set/beside.h"

enum { AT_A_TIME = 512 }; /* hashes of a batch, for each identity: a multiple of 64 */

/* H9: lookups of hashes ask this one where nobody knows which filter's hash it is. */
static bool contains_any_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return true;
}

const struct weir_filter weir__any_hash = {
	.verbs = { .contains_hash = contains_any_hash }
};

static int refuse_hashes(void)
{
	return weir__fail(-EINVAL, "a hash, for a handle made with WEIR_HANDLE_ANY_SEED: its "
	                           "filters hash differently, so insert the key, or make the "
	                           "handle with WEIR_HANDLE_OWN_HASHES if all hashes are by a "
	                           "function of your own");
}

/* H9: the hash of the key for filter @i of the record, and made once for those that hash alike. */
static uint64_t hash_for(const struct weir_generation *g, unsigned i,
                         const struct weir_filter *taker, const struct weir_given *key,
                         uint64_t hashes[WEIR_TAKERS])
{
	if (!key->key)
		return key->hash;
	if (g->alike[i] == i)
		hashes[i] = weir_hash(taker, key->key, key->len);
	return hashes[g->alike[i]];
}

static int insert(const struct weir_generation *g, const struct weir_given *key)
{
	uint64_t hashes[WEIR_TAKERS];
	int answer = g->absence ? weir__absence_keep(g->absence, key) : 0;
	for (unsigned i = 0; i < WEIR_TAKERS && answer >= 0; i++) {
		struct weir_filter *taker = weir__taker(g, i);
		if (!taker)
			continue;
		int one = key->text ?
		          weir_normal_insert(taker, key->key, key->len) :
		          weir_insert_hash(taker, hash_for(g, i, taker, key, hashes));
		answer = one < 0 || i == 0 ? one : answer;
	}
	return answer;
}

int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash)
{
	if (g->beside & WEIR_BESIDE_NO_HASHES)
		return refuse_hashes();
	return insert(g, &(struct weir_given){ .hash = hash });
}

int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len)
{
	if (g->beside == WEIR_BESIDE_NO_HASHES)
		return weir_insert(g->current, key, len);
	return insert(g, &(struct weir_given){ .key = key ? key : "", .len = len });
}

int weir__insert_text(const struct weir_generation *g, const void *text, size_t len)
{
	return insert(g, &(struct weir_given){ .key = text ? text : "", .len = len, .text = true });
}

size_t weir__answer_all(bool answer, size_t n, uint64_t *bitmap)
{
	const uint64_t all = answer ? ~UINT64_C(0) : 0;
	for (size_t at = 0; bitmap && at < n; at += 64)
		bitmap[at / 64] = n - at < 64 ? all & ((UINT64_C(1) << (n - at)) - 1) : all;
	return answer ? n : 0;
}

/* Each filter hashes them itself. */
static int64_t insert_each(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                           size_t n, uint64_t *bitmap)
{
	int64_t answer = 0;
	for (unsigned i = 0; i < WEIR_TAKERS && answer >= 0; i++) {
		struct weir_filter *taker = weir__taker(g, i);
		if (!taker)
			continue;
		int64_t one = weir__keys_insert(taker, k, at, n, i ? NULL : bitmap);
		answer = one < 0 || i == 0 ? one : answer;
	}
	return answer;
}

/* As that, of AT_A_TIME keys at most: hashed once for the filters that hash alike (H9). */
static int64_t insert_some(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                           size_t n, uint64_t *bitmap)
{
	uint64_t hashes[WEIR_TAKERS][AT_A_TIME];
	int64_t answer = 0;
	for (unsigned i = 0; i < WEIR_TAKERS && answer >= 0; i++) {
		struct weir_filter *taker = weir__taker(g, i);
		if (!taker)
			continue;
		if (g->alike[i] == i)
			weir__keys_hash(taker, k, at, n, hashes[i]);
		int64_t one = weir_insert_hashes(taker, hashes[g->alike[i]], n, i ? NULL : bitmap);
		answer = one < 0 || i == 0 ? one : answer;
	}
	return answer;
}

static int64_t insert_in_pieces(const struct weir_generation *g, const struct weir_keys *k,
                                size_t at, size_t n, uint64_t *bitmap)
{
	int64_t inserted = 0;
	for (size_t done = 0; done < n; done += AT_A_TIME) {
		size_t some = n - done < AT_A_TIME ? n - done : AT_A_TIME;
		int64_t answer = insert_some(g, k, at + done, some,
		                             bitmap ? bitmap + done / 64 : NULL);
		if (answer < 0)
			return answer;
		inserted += answer;
	}
	return inserted;
}

/* H10 */
static int64_t insert_absent(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                             size_t n, uint64_t *bitmap)
{
	for (size_t i = at; i < at + n; i++) {
		struct weir_given key = weir__keys_one(k, i);
		int answer = insert(g, &key);
		if (answer < 0)
			return answer;
	}
	return (int64_t)weir__answer_all(g->absence->answer == WEIR_NEW, n, bitmap);
}

int64_t weir__insert_keys_beside(const struct weir_generation *g, const struct weir_keys *k,
                                 size_t at, size_t n, uint64_t *bitmap)
{
	if (k->hashes && g->beside & WEIR_BESIDE_NO_HASHES)
		return refuse_hashes();
	if (g->absence)
		return insert_absent(g, k, at, n, bitmap);
	if (k->hashes || !(g->beside & WEIR_BESIDE_FILTERS))
		return insert_each(g, k, at, n, bitmap);
	return insert_in_pieces(g, k, at, n, bitmap);
}
