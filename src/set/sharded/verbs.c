/* SPDX-License-Identifier: MIT
 * The verbs of a rolling set: the top bits of the hash choose the shard, the rest of it is the
 * shard's own hash. */
#include <string.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "kind/batch.h"
#include "set/sharded/sharded.h"

enum { TOGETHER = 64 }; /* keys whose lines are fetched together: a word of the bitmap */

uint64_t weir_rolling_hash(const struct weir_rolling *set, const void *key, size_t len)
{
	return weir__hash_by(&set->hashing, key, len);
}

uint32_t weir_rolling_shard(const struct weir_rolling *set, uint64_t hash)
{
	return weir__share_shard(set->bits, hash);
}

uint32_t weir_rolling_shards(const struct weir_rolling *set)
{
	return set->shards;
}

const struct weir_filter *weir_rolling_get(const struct weir_rolling *set, uint32_t shard)
{
	return weir_handle_get(set->shard[shard]);
}

bool weir_rolling_contains_hash(const struct weir_rolling *set, uint64_t hash)
{
	return weir_handle_contains_hash(set->shard[weir__share_shard(set->bits, hash)],
	                                 weir__share_hash(set->bits, hash));
}

bool weir_rolling_contains(const struct weir_rolling *set, const void *key, size_t len)
{
	return weir_rolling_contains_hash(set, weir_rolling_hash(set, key, len));
}

int weir_rolling_insert_hash(struct weir_rolling *set, uint64_t hash)
{
	return weir_handle_insert_hash(set->shard[weir__share_shard(set->bits, hash)],
	                               weir__share_hash(set->bits, hash));
}

int weir_rolling_insert(struct weir_rolling *set, const void *key, size_t len)
{
	return weir_rolling_insert_hash(set, weir_rolling_hash(set, key, len));
}

/* The line of a hash in its shard's current filter; of a classic filter some line of it. */
static void fetch(const struct weir_rolling *set, uint64_t hash)
{
	const struct weir_filter *f =
		weir__generation(set->shard[weir__share_shard(set->bits, hash)])->current;
	__builtin_prefetch(weir__line(&f->array, weir__share_hash(set->bits, hash)), 0, 3);
}

/* Of up to 64 keys, in a section: key i's answer in bit i. */
static uint64_t contains_some(const struct weir_rolling *set, const uint64_t *hashes, size_t n)
{
	uint64_t answers = 0;
	for (size_t i = 0; i < n; i++)
		fetch(set, hashes[i]);
	for (size_t i = 0; i < n; i++) {
		const uint64_t hash = hashes[i];
		const struct weir_generation *g =
			weir__generation(set->shard[weir__share_shard(set->bits, hash)]);
		answers |= (uint64_t)weir_contains_hash(g->current,
		                                        weir__share_hash(set->bits, hash)) << i;
	}
	return answers;
}

int64_t weir_rolling_contains_keys(const struct weir_rolling *set, struct weir_keys keys,
                                   uint64_t *bitmap)
{
	uint64_t hashes[TOGETHER];
	int64_t found = 0;
	if (!weir__keys_form(keys))
		return weir__answer_all(true, keys.n, bitmap);
	weir__read_lock(&set->rcu);
	for (size_t at = 0; at < keys.n; at += TOGETHER) {
		const size_t n = keys.n - at < TOGETHER ? keys.n - at : TOGETHER;
		weir__rolling_hash_keys(set, weir_keys_part(keys, at, n), hashes);
		const uint64_t answers = contains_some(set, hashes, n);
		found += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / TOGETHER] = answers;
	}
	weir__read_unlock(&set->rcu);
	return found;
}

/* Of up to 64 keys, in a section. Return: how many were taken. @err: 0, or why the next was not. */
static size_t insert_some(struct weir_rolling *set, const uint64_t *hashes, size_t n,
                          uint64_t *answers, int *err)
{
	size_t i = 0;
	*answers = 0;
	*err = 0;
	for (; i < n; i++)
		fetch(set, hashes[i]);
	for (i = 0; i < n; i++) {
		/* in a section within this one: H1 requires one record a key */
		int answer = weir_rolling_insert_hash(set, hashes[i]);
		if (answer < 0) {
			*err = answer;
			break;
		}
		*answers |= (uint64_t)answer << i;
	}
	return i;
}

int64_t weir_rolling_insert_keys(struct weir_rolling *set, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t hashes[TOGETHER], answers;
	int64_t inserted = 0;
	size_t at = 0;
	if (keys.n && !weir__keys_form(keys))
		return weir__stopped(0, weir__keys_refused());
	weir__read_lock(&set->rcu);
	for (; at < keys.n && inserted >= 0; at += TOGETHER) {
		const size_t n = keys.n - at < TOGETHER ? keys.n - at : TOGETHER;
		int err;
		weir__rolling_hash_keys(set, weir_keys_part(keys, at, n), hashes);
		const size_t taken = insert_some(set, hashes, n, &answers, &err);
		inserted = err ? weir__stopped(at + taken, err) :
		                 inserted + __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / TOGETHER] = answers;
	}
	weir__read_unlock(&set->rcu);
	for (; bitmap && at < keys.n; at += TOGETHER) /* after one that was refused */
		bitmap[at / TOGETHER] = 0;
	return inserted;
}

/* ---- removals and counts: a shard's are those of its handle (H13) ---- */

int weir_rolling_remove_hash(struct weir_rolling *set, uint64_t hash)
{
	return weir_handle_remove_hash(set->shard[weir__share_shard(set->bits, hash)],
	                               weir__share_hash(set->bits, hash));
}

int weir_rolling_remove(struct weir_rolling *set, const void *key, size_t len)
{
	return weir_rolling_remove_hash(set, weir_rolling_hash(set, key, len));
}

/* What stops a batch: the other keys of it may well be there. */
static bool stops(int answer)
{
	return answer == -EBUSY || answer == -ENOTSUP || answer == -EROFS;
}

int64_t weir_rolling_remove_keys(struct weir_rolling *set, struct weir_keys keys, uint64_t *bitmap)
{
	int64_t removed = 0;
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	if (bitmap)
		memset(bitmap, 0, WEIR_BITMAP_WORDS(keys.n) * sizeof *bitmap);
	for (size_t i = 0; i < keys.n; i++) {
		uint64_t hash;
		weir__rolling_hash_keys(set, weir_keys_part(keys, i, 1), &hash);
		int answer = weir_rolling_remove_hash(set, hash);
		if (stops(answer))
			return answer;
		removed += answer == 0;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)(answer == 0) << i % 64;
	}
	return removed;
}

int64_t weir_rolling_count_hash(const struct weir_rolling *set, uint64_t hash)
{
	return weir_handle_count_hash(set->shard[weir__share_shard(set->bits, hash)],
	                              weir__share_hash(set->bits, hash));
}

int64_t weir_rolling_count(const struct weir_rolling *set, const void *key, size_t len)
{
	return weir_rolling_count_hash(set, weir_rolling_hash(set, key, len));
}

int64_t weir_rolling_count_keys(const struct weir_rolling *set, struct weir_keys keys,
                                int64_t *counts)
{
	int64_t counted = 0;
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	for (size_t i = 0; i < keys.n; i++) {
		uint64_t hash;
		weir__rolling_hash_keys(set, weir_keys_part(keys, i, 1), &hash);
		counts[i] = weir_rolling_count_hash(set, hash);
		if (counts[i] == -ENOTSUP)
			return -ENOTSUP;
		counted += counts[i] != 0;
	}
	return counted;
}
