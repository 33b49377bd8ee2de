/* SPDX-License-Identifier: MIT
 * Removals and counts, for kinds that have them: by key, by hash and in batches. */
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"

enum { TOGETHER = 64 }; /* keys prefetched together, one for each bit of a bitmap word */

static int remove_check(const struct weir_filter *f)
{
	if (!f->kernel->remove)
		return weir__kind_cannot(f->kind, "remove keys");
	if (!weir__removes(f))
		return weir__fail(-ENOTSUP, "a set with WEIR_ONCE cannot remove keys: what is "
		                  "stored of one may stand for another too; create it without");
	return f->insert_error ? weir__insert_refused(f) : 0;
}

static int count_check(const struct weir_filter *f)
{
	return f->kernel->count ? 0 : weir__kind_cannot(f->kind, "count keys");
}

int weir__remove_made(struct weir_filter *f, uint64_t hash)
{
	int err = remove_check(f);
	if (err)
		return err;
	weir__change_begin(f);
	const int removed = f->kernel->remove(f, hash);
	weir__change_end(f);
	return removed;
}

int weir_remove_hash(struct weir_filter *f, uint64_t hash)
{
	int err = remove_check(f);
	if (!err && weir__text_several(&f->text))
		err = weir__text_refuse_hash(&f->text);
	return err ? err : weir__remove_made(f, hash);
}

int weir_remove(struct weir_filter *f, const void *key, size_t len)
{
	uint64_t hash;
	int err = remove_check(f);
	if (!err)
		err = weir__key_hash_of(f, key, len, &hash);
	return err ? err : weir__remove_made(f, hash);
}

int weir_remove_u64(struct weir_filter *f, uint64_t key)
{
	return weir__remove_made(f, weir_hash_u64(f, key));
}

static int64_t count_made(const struct weir_filter *f, uint64_t hash)
{
	int err = count_check(f);
	return err ? err : f->kernel->count(f, hash);
}

int64_t weir_count_hash(const struct weir_filter *f, uint64_t hash)
{
	return f->kernel->count && weir__text_several(&f->text) ? weir__text_refuse_hash(&f->text) :
	                                                          count_made(f, hash);
}

int64_t weir_count(const struct weir_filter *f, const void *key, size_t len)
{
	const struct iovec one = { (void *)(uintptr_t)key, len };
	int64_t count;
	if (__builtin_expect(!weir__text_several(&f->text), 1))
		return count_made(f, weir_hash(f, key, len));
	const int64_t err = weir_count_keys(f, weir_keys_iov(&one, 1), &count);
	return err < 0 ? err : count;
}

int64_t weir_count_u64(const struct weir_filter *f, uint64_t key)
{
	return count_made(f, weir_hash_u64(f, key));
}

/* Return: the hashes of n keys from @at on, as weir__batch_take() does. Prefetches the keys' lines.
 * @known: receives a bitmask. Bit i is 0 if the filter cannot parse key at + i. */
static const uint64_t *take(const struct weir_filter *f, struct weir_keys keys,
                            const struct weir_batch *batch, size_t at, unsigned n,
                            uint64_t *scratch, uint64_t *known)
{
	const bool several = weir__keys_several(f, keys);
	const uint64_t *hashes =
		several ? scratch : weir__batch_take(f, f->array.flip8, batch, at, n, scratch);
	*known = ~UINT64_C(0);
	if (several)
		*known = weir__several_hash_keys(f, weir_keys_part(keys, at, n), scratch);
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__line(&f->array, hashes[i]), 0, 3);
	return hashes;
}

/* Check a batch. @err: the result of the caller's own check. */
static int keys_check(const struct weir_filter *f, struct weir_keys keys, int err)
{
	if (err || !keys.n)
		return err;
	if (!weir__keys_form(keys))
		return weir__keys_refused();
	return keys.form == WEIR_KEYS_HASHES && weir__keys_several(f, keys) ?
	               weir__text_refuse_hash(&f->text) : 0;
}

int64_t weir_remove_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_batch batch = weir__batch(f, keys);
	int64_t removed = 0;
	const int err = keys_check(f, keys, remove_check(f));
	if (err)
		return err;
	for (size_t at = 0; at < batch.n; at += TOGETHER) {
		unsigned n = weir__least(batch.n - at, TOGETHER);
		uint64_t known;
		const uint64_t *hashes = take(f, keys, &batch, at, n, scratch, &known);
		uint64_t answers = 0;
		weir__change_begin(f);
		for (unsigned i = 0; i < n; i++)
			if (known >> i & 1)
				answers |= (uint64_t)(f->kernel->remove(f, hashes[i]) == 1) << i;
		weir__change_end(f);
		removed += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / TOGETHER] = answers;
	}
	return removed;
}

int64_t weir_count_keys(const struct weir_filter *f, struct weir_keys keys, int64_t *counts)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_batch batch = weir__batch(f, keys);
	int64_t counted = 0;
	const int err = keys_check(f, keys, count_check(f));
	if (err)
		return err;
	for (size_t at = 0; at < batch.n; at += TOGETHER) {
		unsigned n = weir__least(batch.n - at, TOGETHER);
		uint64_t known;
		const uint64_t *hashes = take(f, keys, &batch, at, n, scratch, &known);
		for (unsigned i = 0; i < n; i++) {
			counts[at + i] = known >> i & 1 ? f->kernel->count(f, hashes[i]) : 0;
			counted += counts[at + i] != 0;
		}
	}
	return counted;
}
