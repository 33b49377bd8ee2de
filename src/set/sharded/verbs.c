/* SPDX-License-Identifier: MIT
 * The verbs of a rolling set: the top bits of the hash choose the shard, the rest of it is the
 * shard's own hash. */
#include "ground/error.h"
#include "hash/hash.h"
#include "set/sharded/rolling.h"

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

size_t weir_rolling_contains_hashes(const struct weir_rolling *set, const uint64_t *hashes,
                                    size_t n, uint64_t *bitmap)
{
	size_t found = 0;
	weir__read_lock(&set->rcu);
	for (size_t at = 0; at < n; at += TOGETHER) {
		size_t some = n - at < TOGETHER ? n - at : TOGETHER;
		uint64_t answers = 0;
		for (size_t i = 0; i < some; i++)
			fetch(set, hashes[at + i]);
		for (size_t i = 0; i < some; i++) {
			uint64_t hash = hashes[at + i];
			const struct weir_generation *g = weir__generation(
				set->shard[weir__share_shard(set->bits, hash)]);
			answers |= (uint64_t)weir_contains_hash(g->current,
			                                        weir__share_hash(set->bits, hash))
			        << i;
		}
		found += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / TOGETHER] = answers;
	}
	weir__read_unlock(&set->rcu);
	return found;
}

int64_t weir_rolling_insert_hashes(struct weir_rolling *set, const uint64_t *hashes, size_t n,
                                   uint64_t *bitmap)
{
	int64_t inserted = 0;
	size_t at = 0;
	weir__read_lock(&set->rcu);
	for (; at < n && inserted >= 0; at += TOGETHER) {
		size_t some = n - at < TOGETHER ? n - at : TOGETHER;
		uint64_t answers = 0;
		for (size_t i = 0; i < some; i++)
			fetch(set, hashes[at + i]);
		size_t i = 0;
		for (; i < some; i++) {
			/* in a section within this one: H1 requires one record a key */
			int answer = weir_rolling_insert_hash(set, hashes[at + i]);
			if (answer < 0) {
				inserted = weir__stopped(at + i, answer);
				break;
			}
			answers |= (uint64_t)answer << i;
		}
		if (inserted >= 0)
			inserted += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / TOGETHER] = answers;
	}
	weir__read_unlock(&set->rcu);
	for (; bitmap && at < n; at += TOGETHER) /* after one that was refused */
		bitmap[at / TOGETHER] = 0;
	return inserted;
}
