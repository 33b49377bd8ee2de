/* SPDX-License-Identifier: MIT
 * Removals and counts, for the kinds that can: by key, by hash and in batches. Inserts
 * for those who never remove. */
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"

enum { TOGETHER = 64 }; /* keys whose lines are fetched together: a word of the bitmap */

static int remove_check(const struct weir_filter *f)
{
	if (!f->kernel->remove)
		return weir__kind_cannot(f->kind, "remove keys");
	return f->insert_error ? weir__insert_refused(f) : 0;
}

static int count_check(const struct weir_filter *f)
{
	return f->kernel->count ? 0 : weir__kind_cannot(f->kind, "count keys");
}

int weir_remove_hash(struct weir_filter *f, uint64_t hash)
{
	int err = remove_check(f);
	if (err)
		return err;
	weir__change_begin(f);
	const int removed = f->kernel->remove(f, hash);
	weir__change_end(f);
	return removed;
}

int weir_remove(struct weir_filter *f, const void *key, size_t len)
{
	return weir_remove_hash(f, weir_hash(f, key, len));
}

int weir_remove_u64(struct weir_filter *f, uint64_t key)
{
	return weir_remove(f, &key, sizeof key);
}

int weir_insert_absent_hash(struct weir_filter *f, uint64_t hash)
{
	if (f->insert_error)
		return weir__insert_refused(f);
	if (f->kernel->insert_absent)
		return f->kernel->insert_absent(f, hash);
	if (f->kernel->remove && f->verbs.contains_hash(f, hash))
		return WEIR_SEEN;
	return f->verbs.insert_hash(f, hash);
}

int weir_insert_absent(struct weir_filter *f, const void *key, size_t len)
{
	return weir_insert_absent_hash(f, weir_hash(f, key, len));
}

int64_t weir_count_hash(const struct weir_filter *f, uint64_t hash)
{
	int err = count_check(f);
	return err ? err : f->kernel->count(f, hash);
}

int64_t weir_count(const struct weir_filter *f, const void *key, size_t len)
{
	return weir_count_hash(f, weir_hash(f, key, len));
}

int64_t weir_count_u64(const struct weir_filter *f, uint64_t key)
{
	return weir_count(f, &key, sizeof key);
}

/* As weir__batch_take(), and fetch the lines of the keys. */
static const uint64_t *take(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                            unsigned n, uint64_t *scratch)
{
	const uint64_t *hashes = weir__batch_take(f, f->array.flip8, batch, at, n, scratch);
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__line(&f->array, hashes[i]), 0, 3);
	return hashes;
}

int64_t weir_remove_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_batch batch = weir__batch(f, keys);
	int64_t removed = 0;
	int err = remove_check(f);
	if (!err && keys.n && !weir__keys_form(keys))
		err = weir__keys_refused();
	if (err)
		return err;
	for (size_t at = 0; at < batch.n; at += TOGETHER) {
		unsigned n = weir__least(batch.n - at, TOGETHER);
		const uint64_t *hashes = take(f, &batch, at, n, scratch);
		uint64_t answers = 0;
		weir__change_begin(f);
		for (unsigned i = 0; i < n; i++)
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
	int err = count_check(f);
	if (!err && keys.n && !weir__keys_form(keys))
		err = weir__keys_refused();
	if (err)
		return err;
	for (size_t at = 0; at < batch.n; at += TOGETHER) {
		unsigned n = weir__least(batch.n - at, TOGETHER);
		const uint64_t *hashes = take(f, &batch, at, n, scratch);
		for (unsigned i = 0; i < n; i++) {
			counts[at + i] = f->kernel->count(f, hashes[i]);
			counted += counts[at + i] != 0;
		}
	}
	return counted;
}
