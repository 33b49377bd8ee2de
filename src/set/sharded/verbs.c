/* SPDX-License-Identifier: MIT
 * The functions of a sharded set for one key, and its batches of inserts. The hash chooses the
 * shard ([SHARD-ROUTING]) and is rotated for the shard ([SHARD-TURN]). */
#include "ground/error.h"
#include "kind/batch.h"
#include "set/sharded/sharded.h"

static inline const struct weir_sharded *set_of(const struct weir_handle *h)
{
	return (const struct weir_sharded *)(const void *)h; /* the handle is the first field */
}

/* Insert a hash into its shard. Call this in a section. */
static inline int insert_into_shard(const struct weir_sharded *set, uint64_t hash)
{
	return weir__insert_hash(weir__shard_record(set, hash), weir__share_hash(set->bits, hash));
}

static bool contains_hash(const struct weir_handle *h, uint64_t hash)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir__shard_contains(set_of(h), hash));
	return answer;
}

static bool contains(const struct weir_handle *h, const void *key, size_t len)
{
	return contains_hash(h, weir__hash_by(&set_of(h)->hashing, key, len));
}

static bool contains_u64(const struct weir_handle *h, uint64_t key)
{
	return contains_hash(h, weir__hash_by(&set_of(h)->hashing, &key, sizeof key));
}

static int insert_hash(struct weir_handle *h, uint64_t hash)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_into_shard(set_of(h), hash));
	return answer;
}

static int insert(struct weir_handle *h, const void *key, size_t len)
{
	return insert_hash(h, weir__hash_by(&set_of(h)->hashing, key, len));
}

static int insert_u64(struct weir_handle *h, uint64_t key)
{
	return insert_hash(h, weir__hash_by(&set_of(h)->hashing, &key, sizeof key));
}

const struct weir_handle_verbs weir__sharded_verbs = {
	contains, contains_u64, contains_hash, insert, insert_u64, insert_hash
};

/* Insert up to 64 keys, up to the first key that is refused. Return: the number of keys accepted,
 * new or seen. @err: receives 0, or the error of the refused key. */
static size_t insert_some(const struct weir_sharded *set, const uint64_t *hashes, size_t n,
                          uint64_t *answers, int *err)
{
	size_t i = 0;
	*answers = 0;
	*err = 0;
	for (; i < n; i++)
		weir__shard_fetch(set, hashes[i]);
	for (i = 0; i < n; i++) {
		int answer = insert_into_shard(set, hashes[i]);
		if (answer < 0) {
			*err = answer;
			break;
		}
		*answers |= (uint64_t)answer << i;
	}
	return i;
}

int64_t weir__sharded_insert_keys(struct weir_sharded *set, struct weir_keys keys,
                                  uint64_t *bitmap)
{
	uint64_t hashes[WEIR__TOGETHER], answers;
	int64_t inserted = 0;
	size_t at = 0;
	for (; at < keys.n && inserted >= 0; at += WEIR__TOGETHER) {
		const size_t n = keys.n - at < WEIR__TOGETHER ? keys.n - at : WEIR__TOGETHER;
		int err;
		weir__keys_hash(&set->hashing, WEIR_ISA_SCALAR, weir_keys_part(keys, at, n),
		                hashes);
		const size_t taken = insert_some(set, hashes, n, &answers, &err);
		inserted = err ? weir__stopped(at + taken, err) :
		                 inserted + __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR__TOGETHER] = answers;
	}
	for (; bitmap && at < keys.n; at += WEIR__TOGETHER) /* after an error */
		bitmap[at / WEIR__TOGETHER] = 0;
	return inserted;
}

/* ---- the shards ---- */

uint32_t weir_handle_shards(const struct weir_handle *h)
{
	return h->sharded ? h->sharded->shards : 1;
}

uint32_t weir_handle_shard(const struct weir_handle *h, uint64_t hash)
{
	return h->sharded ? weir__share_shard(h->sharded->bits, hash) : 0;
}

const struct weir_filter *weir_handle_get_shard(const struct weir_handle *h, uint32_t shard)
{
	return weir_handle_get(h->sharded ? h->sharded->shard[shard] : h);
}
