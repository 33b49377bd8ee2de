/* SPDX-License-Identifier: MIT
 * Inserts into the reload of one shard. The loader offers all keys of the set. Keys of the shard
 * are inserted, all others are skipped. */
#include "ground/error.h"
#include "kind/batch.h"
#include "set/reload/reload.h"

enum { AT_A_TIME = 256 }; /* a multiple of 64 */

/* Return: the index in @hashes of the shard's hash number @kept, where the first is number 0; @n if
 * at most @kept of the hashes belong to the shard. */
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
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = hashes[i];
		hashes[kept] = weir__share_hash(share->bits, hash);
		kept += weir__share_shard(share->bits, hash) == share->shard;
	}
	return kept;
}

/* Write the answers of the shard's keys to @bitmap, and 0 for all other keys. @kept: the answers, a
 * bit for each of the shard's keys.  @inside: bit i is set if key i belongs to the shard. */
static void spread(const uint64_t *kept, const uint64_t *inside, size_t n, uint64_t *bitmap)
{
	size_t next = 0;
	for (size_t word = 0; word < WEIR_BITMAP_WORDS(n); word++) {
		bitmap[word] = 0;
		for (uint64_t left = inside[word]; left; left &= left - 1, next++)
			bitmap[word] |= (left & -left) * (kept[next / 64] >> next % 64 & 1);
	}
}

static int64_t insert_some(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t hashes[AT_A_TIME], answers[WEIR_BITMAP_WORDS(AT_A_TIME)] = { 0 };
	uint64_t inside[WEIR_BITMAP_WORDS(AT_A_TIME)] = { 0 };
	const size_t n = keys.n;
	weir_hash_keys(f, keys, hashes);
	for (size_t i = 0; bitmap && i < n; i++)
		inside[i / 64] |= (uint64_t)(weir__share_shard(share->bits, hashes[i]) ==
		                             share->shard) << i % 64;
	const size_t kept = weir__share_keep(share, hashes, n);
	int64_t answer = weir_insert_keys(f, weir_keys_hashes(hashes, kept),
	                                  bitmap ? answers : NULL);
	if (bitmap)
		spread(answers, inside, n, bitmap);
	if (answer < 0) {
		const size_t taken = weir_error_taken();
		weir_hash_keys(f, keys, hashes);
		return weir__stopped(passed(share, hashes, n, taken), answer);
	}
	return answer;
}

int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap)
{
	int64_t inserted = 0;
	if (share->bits == 0)
		return weir_insert_keys(f, keys, bitmap);
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		const size_t some = keys.n - at < AT_A_TIME ? keys.n - at : AT_A_TIME;
		int64_t answer = insert_some(share, f, weir_keys_part(keys, at, some),
		                             bitmap ? bitmap + at / 64 : NULL);
		if (answer < 0) {
			const size_t taken = at + weir_error_taken(), rest = at + some;
			(void)weir__answer_all(false, keys.n - rest,
			                       bitmap ? bitmap + rest / 64 : NULL);
			return weir__stopped(taken, answer);
		}
		inserted += answer;
	}
	return inserted;
}
