/* SPDX-License-Identifier: MIT
 * The functions for many keys at a time. They use the kernel's pipeline (batch.h), or for a few
 * keys the functions for one key. For so few keys, the fixed cost of a pipeline call would exceed
 * the gain. */
#include <stdlib.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"

enum {
	MOST_FEW = 5,      /* the most hashes in a small batch */
	TOGETHER = 64,     /* texts hashed at a time, one for each bit of a bitmap word */
	FILLED = 1 << 20,  /* the most keys hashed before their hashes are bulk loaded */
};
_Static_assert((int)WEIR__FEW <= (int)MOST_FEW, "the hashes of a few keys have room");

/* If the array is larger than the cache, prefetch the lines of a few keys together, as the pipeline
 * does. */
static void fetch_few(const struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	if (f->outgrows_cache && n > 1)
		for (size_t i = 0; i < n; i++)
			__builtin_prefetch(weir__line(&f->array, hashes[i]));
}

static int64_t contains_few(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap)
{
	uint64_t answers = 0;
	fetch_few(f, hashes, n);
	for (size_t i = 0; i < n; i++)
		answers |= (uint64_t)f->raw.contains_hash(f, hashes[i]) << i;
	if (bitmap && n)
		*bitmap = answers;
	return __builtin_popcountll(answers);
}

static int64_t insert_few(struct weir_filter *f, const uint64_t *hashes, size_t n, uint64_t *bitmap)
{
	uint64_t answers = 0;
	int answer = 0;
	size_t i = 0;
	if (f->insert_error)
		return weir__stopped(0, weir__insert_refused(f));
	fetch_few(f, hashes, n);
	for (; i < n; i++) {
		answer = f->raw.insert_hash(f, hashes[i]);
		if (answer < 0)
			break;
		answers |= (uint64_t)(answer == WEIR_NEW) << i;
	}
	if (bitmap && n)
		*bitmap = answers;
	return answer < 0 ? weir__stopped(i, answer) : __builtin_popcountll(answers);
}

static void hash_few(const struct weir_filter *f, struct weir_keys keys, uint64_t out[MOST_FEW])
{
	const struct iovec *key = keys.at;
	const char *fixed = keys.at;
	if (keys.form == WEIR_KEYS_IOV)
		for (size_t i = 0; i < keys.n; i++)
			out[i] = weir__hash_by(&f->hashing, key[i].iov_base, key[i].iov_len);
	else if (keys.width == 8 && f->hashing.by == &weir__xxh3)
		weir__hash8_each(f->array.flip8, fixed, keys.n, out);
	else
		for (size_t i = 0; i < keys.n; i++)
			out[i] = weir__hash_by(&f->hashing, fixed + i * keys.width, keys.width);
}

/* Not inlined: inlining would cost the callers registers and a stack guard. */
#define NOT_INLINED static __attribute__((noinline))

NOT_INLINED int64_t contains_few_keys(const struct weir_filter *f, struct weir_keys keys,
                                      uint64_t *bitmap)
{
	uint64_t hashes[MOST_FEW];
	if (!weir__keys_form(keys))
		return weir__answer_all(true, keys.n, bitmap);
	hash_few(f, keys, hashes);
	return contains_few(f, hashes, keys.n, bitmap);
}

NOT_INLINED int64_t insert_few_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t hashes[MOST_FEW];
	if (!weir__keys_form(keys))
		return keys.n ? weir__stopped(0, weir__keys_refused()) : 0;
	hash_few(f, keys, hashes);
	return insert_few(f, hashes, keys.n, bitmap);
}

static __attribute__((noinline)) void hash_many(const struct weir_filter *f, struct weir_keys keys,
                                                uint64_t *out)
{
	struct weir_batch batch = weir__batch(f, keys);
	if (!keys.n || !weir__keys_form(keys))
		return;
	if (keys.form == WEIR_KEYS_HASHES)
		memcpy(out, keys.at, 8 * keys.n);
	else if (weir__keys_several(f, keys))
		(void)weir__several_hash_keys(f, keys, out);
	else
		weir__batch_hash(f, &batch, 0, keys.n, out);
}

void weir_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out)
{
	if (keys.n <= f->few && keys.form != WEIR_KEYS_HASHES && weir__keys_form(keys))
		hash_few(f, keys, out);
	else
		hash_many(f, keys, out);
}

int64_t weir_contains_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	if (keys.n <= f->few)
		return keys.form == WEIR_KEYS_HASHES ? contains_few(f, keys.at, keys.n, bitmap) :
		                                       contains_few_keys(f, keys, bitmap);
	if (__builtin_expect(!weir__keys_form(keys), 0))
		return weir__answer_all(true, keys.n, bitmap);
	if (__builtin_expect(weir__keys_several(f, keys), 0))
		return weir__several_contains_keys(f, keys, bitmap);
	struct weir_batch batch = weir__batch(f, keys);
	return (int64_t)f->kernel->contains_batch(f, &batch, bitmap);
}

static int64_t insert_batch(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	struct weir_batch batch = weir__batch(f, keys);
	if (__builtin_expect(f->flags & WEIR_ONCE, 0))
		return weir__once_insert_keys(f, keys, bitmap);
	weir__change_begin(f);
	int64_t answer = f->kernel->insert_batch(f, &batch, bitmap);
	weir__change_end(f);
	return answer;
}

int64_t weir__insert_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap)
{
	return n <= WEIR__FEW || f->insert_error ?
	               insert_few(f, hashes, n, bitmap) :
	               insert_batch(f, weir_keys_hashes(hashes, n), bitmap);
}

size_t weir__hashes_to_insert(struct weir_filter *f, struct weir_keys keys, uint64_t *out)
{
	if (weir__keys_text(f, keys) && weir__text_several(&f->text)) {
		const struct weir_text_hashes h = weir__text_hashes_of(f);
		return weir__text_insert_hashes(&h, keys, out);
	}
	weir_hash_keys(f, keys, out);
	return keys.n;
}

/* Insert into a set whose lookups probe several keys. */
static int64_t insert_several(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t hashes[TOGETHER];
	int64_t inserted = 0;
	if (keys.form == WEIR_KEYS_HASHES)
		return keys.n ? weir__stopped(0, weir__text_refuse_hash(&f->text)) : 0;
	(void)weir__answer_all(false, keys.n, bitmap);
	for (size_t at = 0; at < keys.n; at += TOGETHER) {
		const size_t n = keys.n - at < TOGETHER ? keys.n - at : TOGETHER;
		const size_t got = weir__hashes_to_insert(f, weir_keys_part(keys, at, n), hashes);
		const int64_t answer = weir__insert_hashes(f, hashes, got,
		                                           bitmap ? bitmap + at / 64 : NULL);
		if (answer < 0)
			return weir__stopped(at + weir_error_taken(), answer);
		if (got < n)
			return weir__stopped(at + got, -EINVAL); /* the detail is set already */
		inserted += answer;
	}
	return inserted;
}

int64_t weir_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap)
{
	if (keys.n <= f->few)
		return keys.form == WEIR_KEYS_HASHES ? insert_few(f, keys.at, keys.n, bitmap) :
		                                       insert_few_keys(f, keys, bitmap);
	if (f->insert_error)
		return weir__stopped(0, weir__insert_refused(f));
	if (__builtin_expect(!weir__keys_form(keys), 0))
		return weir__stopped(0, weir__keys_refused());
	if (__builtin_expect(weir__keys_several(f, keys), 0))
		return insert_several(f, keys, bitmap);
	return insert_batch(f, keys, bitmap);
}



/* Hash the keys piece by piece, and load the hashes. */
static int fill_hashed(struct weir_filter *f, struct weir_keys keys)
{
	uint64_t *hashes = malloc(8 * (keys.n < FILLED ? keys.n : FILLED));
	int err = 0;
	if (!hashes) {
		int64_t answer = weir_insert_keys(f, keys, NULL);
		return answer < 0 ? (int)answer : 0;
	}
	for (size_t at = 0; at < keys.n && !err; at += FILLED) {
		const size_t n = keys.n - at < FILLED ? keys.n - at : FILLED;
		const size_t got = weir__hashes_to_insert(f, weir_keys_part(keys, at, n), hashes);
		err = weir__bulk_load(f, hashes, got);
		if (err)
			(void)weir__stopped(at, err);
		else if (got < n) /* set the invalid key's error again: loading may replace it */
			err = weir__hashes_to_insert(f, weir_keys_part(keys, at + got, 1), hashes) ?
			              0 : (int)weir__stopped(at + got, -EINVAL);
	}
	free(hashes);
	return err;
}

int weir_fill_keys(struct weir_filter *f, struct weir_keys keys)
{
	if (f->insert_error)
		return (int)weir__stopped(0, weir__insert_refused(f));
	if (!weir__keys_form(keys))
		return keys.n ? (int)weir__stopped(0, weir__keys_refused()) : 0;
	if (keys.form == WEIR_KEYS_HASHES && weir__text_several(&f->text))
		return keys.n ? (int)weir__stopped(0, weir__text_refuse_hash(&f->text)) : 0;
	if (f->kernel->load && !f->memory.shared && !(f->flags & WEIR_ONCE))
		return keys.form == WEIR_KEYS_HASHES ? weir__bulk_load(f, keys.at, keys.n) :
		                                       fill_hashed(f, keys);
	/* Plain stores are impossible: the kernel has no load(), other processes write to the
	 * filter, or WEIR_ONCE is set. */
	int64_t answer = weir_insert_keys(f, keys, NULL);
	return answer < 0 ? (int)answer : 0;
}
