/* SPDX-License-Identifier: MIT
 * Inserts into the reload of one shard: of all that the loader offers, the keys of that shard are
 * inserted and the others are passed over. */
#include "ground/error.h"
#include "set/reload/one_shard.h"

enum { AT_A_TIME = 2048 };

/* The caller's keys before the one that is number @kept of those that lie in the share. */
static size_t passed(const struct weir_share *share, const uint64_t *hashes, size_t n, size_t kept)
{
	size_t at = 0;
	for (; at < n; at++)
		if (weir__share_shard(share->bits, hashes[at]) == share->shard && kept-- == 0)
			break;
	return at;
}

size_t weir__share_keep(const struct weir_share *share, uint64_t *hashes, size_t n)
{
	size_t kept = 0;
	if (share->bits == 0)
		return n;
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = hashes[i];
		hashes[kept] = weir__share_hash(share->bits, hash);
		kept += weir__share_shard(share->bits, hash) == share->shard;
	}
	return kept;
}

int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           const struct weir_keys *keys, size_t first, size_t n)
{
	uint64_t hashes[AT_A_TIME];
	int64_t inserted = 0;
	if (share->bits == 0)
		return weir__keys_insert(f, keys, first, n, NULL);
	for (size_t at = 0; at < n; at += AT_A_TIME) {
		size_t some = n - at < AT_A_TIME ? n - at : AT_A_TIME;
		weir__keys_hash(f, keys, first + at, some, hashes);
		size_t kept = weir__share_keep(share, hashes, some);
		int64_t answer = weir_insert_hashes(f, hashes, kept, NULL);
		if (answer < 0) {
			size_t taken = weir_error_taken();
			weir__keys_hash(f, keys, first + at, some, hashes);
			return weir__stopped(at + passed(share, hashes, some, taken), answer);
		}
		inserted += answer;
	}
	return inserted;
}
