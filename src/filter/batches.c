/* SPDX-License-Identifier: MIT
 * The verbs of many keys at a time: by the kernel's pipeline (batch.h), and of a few keys by the
 * verbs of one. The pipeline costs some 20 ns a call, as much as four keys in cache. */
#include "filter/bulk.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/apart.h"
#include "kind/batch.h"

enum {
#ifdef WEIR_DET
	WEIR_FEW = 0, /* the schedules have but few keys, and ask about the pipeline */
#else
	WEIR_FEW = 5, /* most keys that are too few for the pipeline */
#endif
	WEIR_ROOM = 5 /* for their hashes */
};
_Static_assert((int)WEIR_FEW <= (int)WEIR_ROOM, "the hashes of a few keys have room");

/* Beyond the cache the lines of a few keys are fetched together, as the pipeline would. */
static void fetch_few(const struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	if (f->outgrows_cache && n > 1)
		for (size_t i = 0; i < n; i++)
			__builtin_prefetch(weir__line(&f->array, hashes[i]));
}

static size_t contains_few(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                           uint64_t *bitmap)
{
	uint64_t answers = 0;
	fetch_few(f, hashes, n);
	for (size_t i = 0; i < n; i++)
		answers |= (uint64_t)f->verbs.contains_hash(f, hashes[i]) << i;
	if (bitmap && n)
		*bitmap = answers;
	return (size_t)__builtin_popcountll(answers);
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
		answer = f->verbs.insert_hash(f, hashes[i]);
		if (answer < 0)
			break;
		answers |= (uint64_t)(answer == WEIR_NEW) << i;
	}
	if (bitmap && n)
		*bitmap = answers;
	return answer < 0 ? weir__stopped(i, answer) : __builtin_popcountll(answers);
}

static void hash_few_keys(const struct weir_filter *f, const struct iovec *keys, size_t n,
                          uint64_t out[WEIR_ROOM])
{
	for (size_t i = 0; i < n; i++)
		out[i] = weir__hash_by(&f->hashing, keys[i].iov_base, keys[i].iov_len);
}

static void hash_few_fixed(const struct weir_filter *f, const char *keys, size_t key_bytes,
                           size_t n, uint64_t out[WEIR_ROOM])
{
	if (key_bytes == 8 && f->hashing.by == &weir__xxh3)
		weir__hash8_each(f->array.flip8, keys, n, out);
	else
		for (size_t i = 0; i < n; i++)
			out[i] = weir__hash_by(&f->hashing, keys + i * key_bytes, key_bytes);
}

/* Not inlined: their callers would keep registers and a guard of the stack for them. */
#define APART static __attribute__((noinline))

APART size_t contains_few_keys(const struct weir_filter *f, const struct iovec *keys, size_t n,
                               uint64_t *bitmap)
{
	uint64_t hashes[WEIR_ROOM];
	hash_few_keys(f, keys, n, hashes);
	return contains_few(f, hashes, n, bitmap);
}

APART size_t contains_few_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes,
                                size_t n, uint64_t *bitmap)
{
	uint64_t hashes[WEIR_ROOM];
	hash_few_fixed(f, keys, key_bytes, n, hashes);
	return contains_few(f, hashes, n, bitmap);
}

APART int64_t insert_few_keys(struct weir_filter *f, const struct iovec *keys, size_t n,
                              uint64_t *bitmap)
{
	uint64_t hashes[WEIR_ROOM];
	hash_few_keys(f, keys, n, hashes);
	return insert_few(f, hashes, n, bitmap);
}

APART int64_t insert_few_fixed(struct weir_filter *f, const void *keys, size_t key_bytes, size_t n,
                               uint64_t *bitmap)
{
	uint64_t hashes[WEIR_ROOM];
	hash_few_fixed(f, keys, key_bytes, n, hashes);
	return insert_few(f, hashes, n, bitmap);
}

void weir_hash_keys(const struct weir_filter *f, const struct iovec *keys, size_t n, uint64_t *out)
{
	struct weir_batch batch = weir__batch_keys(keys, n);
	weir__batch_hash(f, &batch, 0, n, out);
}

void weir_hash_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes, size_t n,
                     uint64_t *out)
{
	struct weir_batch batch = weir__batch_fixed(f, keys, key_bytes, n);
	weir__batch_hash(f, &batch, 0, n, out);
}

size_t weir_contains_hashes(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return contains_few(f, hashes, n, bitmap);
	struct weir_batch batch = weir__batch_hashes(hashes, n);
	return f->kernel->contains_batch(f, &batch, bitmap);
}

size_t weir_contains_keys(const struct weir_filter *f, const struct iovec *keys, size_t n,
                          uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return contains_few_keys(f, keys, n, bitmap);
	struct weir_batch batch = weir__batch_keys(keys, n);
	return f->kernel->contains_batch(f, &batch, bitmap);
}

size_t weir_contains_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes,
                           size_t n, uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return contains_few_fixed(f, keys, key_bytes, n, bitmap);
	struct weir_batch batch = weir__batch_fixed(f, keys, key_bytes, n);
	return f->kernel->contains_batch(f, &batch, bitmap);
}

static int64_t insert_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	if (f->insert_error)
		return weir__stopped(0, weir__insert_refused(f));
	weir__change_begin(f);
	int64_t answer = f->kernel->insert_batch(f, batch, bitmap);
	weir__change_end(f);
	return answer;
}

int64_t weir_insert_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                           uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return insert_few(f, hashes, n, bitmap);
	struct weir_batch batch = weir__batch_hashes(hashes, n);
	return insert_batch(f, &batch, bitmap);
}

int64_t weir_insert_keys(struct weir_filter *f, const struct iovec *keys, size_t n,
                         uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return insert_few_keys(f, keys, n, bitmap);
	struct weir_batch batch = weir__batch_keys(keys, n);
	return insert_batch(f, &batch, bitmap);
}

int64_t weir_insert_fixed(struct weir_filter *f, const void *keys, size_t key_bytes, size_t n,
                          uint64_t *bitmap)
{
	if (n <= WEIR_FEW)
		return insert_few_fixed(f, keys, key_bytes, n, bitmap);
	struct weir_batch batch = weir__batch_fixed(f, keys, key_bytes, n);
	return insert_batch(f, &batch, bitmap);
}

int weir_load_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	if (f->insert_error)
		return (int)weir__stopped(0, weir__insert_refused(f));
	if (f->kernel->load && !f->memory.shared)
		return weir__bulk_load(f, hashes, n);
	/* The kernel has no plain stores, or other processes write to the bits too. */
	int64_t answer = weir_insert_hashes(f, hashes, n, NULL);
	return answer < 0 ? (int)answer : 0;
}
