/* SPDX-License-Identifier: MIT
 * Removals and counts in a rolling set: a shard's are those of its handle (H13). */
#include <string.h>
#include "ground/error.h"
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

int64_t weir_rolling_remove_hashes(struct weir_rolling *set, const uint64_t *hashes, size_t n,
                                   uint64_t *bitmap)
{
	int64_t removed = 0;
	if (bitmap)
		memset(bitmap, 0, WEIR_BITMAP_WORDS(n) * sizeof *bitmap);
	for (size_t i = 0; i < n; i++) {
		int answer = weir_rolling_remove_hash(set, hashes[i]);
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

int weir_rolling_count_hashes(const struct weir_rolling *set, const uint64_t *hashes, size_t n,
                              int64_t *counts)
{
	for (size_t i = 0; i < n; i++) {
		counts[i] = weir_rolling_count_hash(set, hashes[i]);
		if (counts[i] == -ENOTSUP)
			return -ENOTSUP;
	}
	return 0;
}
