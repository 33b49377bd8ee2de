/* SPDX-License-Identifier: MIT
 * Removals and counts in a rolling set: a shard's are those of its handle (H13). */
#include <string.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "set/sharded/rolling.h"

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
