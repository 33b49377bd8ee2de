/* SPDX-License-Identifier: MIT
 * WEIR_ONCE: inserts that keep one copy of a key, for kinds that otherwise keep one for each
 * insert. So repeated keys cannot fill their buckets or counters.
 *
 * Two keys may have equal fingerprints or counters. Then the second key stores nothing, and
 * removing one of the two keys would lose the other key. So weir__removes() is false for a set with
 * WEIR_ONCE: the set removes nothing, and weir does not undo a failed merge or a failed write to
 * two filters of a handle. */
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"

int weir__once_check(uint32_t flags, const struct weir_kind *kind)
{
	if (!(flags & WEIR_ONCE) || weir__kind_can(kind) & WEIR_CAN_REMOVE)
		return 0;
	return weir__fail(-EINVAL, "flags 0x%x: WEIR_ONCE (0x%x) is for kinds that can remove "
	                  "keys, kind %s cannot: leave it out", flags, WEIR_ONCE, kind->name);
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	if (f->kernel->insert_once)
		return f->kernel->insert_once(f, hash);
	return f->kernel->verbs.contains_hash(f, hash) ? WEIR_SEEN :
	                                                 f->kernel->verbs.insert_hash(f, hash);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return insert_hash(f, weir__hash_by(&f->hashing, key, len));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return insert(f, &key, sizeof key);
}

void weir__once_wrap(struct weir_filter *f)
{
	if (!(f->flags & WEIR_ONCE))
		return;
	f->verbs.insert = insert;
	f->verbs.insert_hash = insert_hash;
	f->verbs.insert_u64 = insert_u64;
}

int64_t weir__once_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_batch batch = weir__batch(f, keys);
	int64_t fresh = 0;
	for (size_t at = 0; at < batch.n; at += WEIR_HASHED) {
		const unsigned n = weir__least(batch.n - at, WEIR_HASHED);
		const uint64_t *hashes =
			weir__batch_take(f, f->array.flip8, &batch, at, n, scratch);
		uint64_t answers = 0;
		for (unsigned i = 0; f->outgrows_cache && i < n; i++)
			__builtin_prefetch(weir__line(&f->array, hashes[i]), 1, 3);
		for (unsigned i = 0; i < n; i++) {
			const int answer = f->raw.insert_hash(f, hashes[i]);
			if (answer < 0)
				return weir__batch_stopped(&batch, at + i, answers, bitmap, answer);
			answers |= (uint64_t)(answer == WEIR_NEW) << i;
		}
		fresh += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR_HASHED] = answers;
	}
	return fresh;
}
