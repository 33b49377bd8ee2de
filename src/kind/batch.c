/* SPDX-License-Identifier: MIT
 * Hashes the keys of a batch. */
#include <string.h>
#include <sys/uio.h>
#include "config.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "normalise/normalise.h"

/* The number of keys to prefetch ahead. The hardware prefetcher does not follow the keys, since
 * prefetches of filter lines come between the accesses to them. */
enum { KEYS_AHEAD = 16 };

static void hash_keys(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                      size_t n, uint64_t *out)
{
	const struct iovec *key = (const struct iovec *)batch->keys + at;
	const struct weir_hashing hashing = f->hashing; /* a copy that no store can alias */
	size_t ahead = batch->n - at > KEYS_AHEAD ? batch->n - at - KEYS_AHEAD : 0;
	for (size_t i = 0; i < n; i++) {
		if (i < ahead)
			__builtin_prefetch(key[i + KEYS_AHEAD].iov_base, 0, 3);
		out[i] = weir__hash_by(&hashing, key[i].iov_base, key[i].iov_len);
	}
}

/* Hash n keys by XXH3. A constant @width removes the branches on the length. */
WEIR__INLINE void hash_wide(uint64_t seed, const char *key, size_t width, size_t n, uint64_t *out)
{
	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(key + i * width + WEIR_AHEAD, 0, 3);
		out[i] = weir__hash(seed, key + i * width, width);
	}
}

/* Hash keys of one width. The widths of IPv6 addresses, SHA-1 and SHA-256 are constants, so that
 * their loops have no branches on the length. */
static void hash_width(const struct weir_hashing *hashing, const char *key, size_t width, size_t n,
                       uint64_t *out)
{
	if (hashing->by == &weir__xxh64 && width == 8)
		for (size_t i = 0; i < n; i++)
			out[i] = XXH64(key + 8 * i, 8, hashing->seed);
	else if (hashing->by != &weir__xxh3)
		for (size_t i = 0; i < n; i++)
			out[i] = hashing->by->of(hashing, key + i * width, width);
	else if (width == 16)
		hash_wide(hashing->seed, key, 16, n, out);
	else if (width == 20)
		hash_wide(hashing->seed, key, 20, n, out);
	else if (width == 32)
		hash_wide(hashing->seed, key, 32, n, out);
	else
		hash_wide(hashing->seed, key, width, n, out);
}

static void hash_fixed(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                       size_t n, uint64_t *out)
{
	hash_width(&f->hashing, (const char *)batch->keys + at * batch->key_bytes,
	           batch->key_bytes, n, out);
}

uint64_t weir__text_hash(const struct weir_filter *f, const void *text, size_t len)
{
	const struct iovec bare = weir__text_bare(f->text.steps, text, len);
	return f->text.steps & WEIR_TEXT_LOWERCASE ?
	               f->hashing.by->of_lowercase(&f->hashing, bare.iov_base, bare.iov_len) :
	               weir__hash_by(&f->hashing, bare.iov_base, bare.iov_len);
}

static void hash_texts(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                       size_t n, uint64_t *out)
{
	const struct iovec *text = (const struct iovec *)batch->keys + at;
	for (size_t i = 0; i < n; i++)
		out[i] = weir__text_hash(f, text[i].iov_base, text[i].iov_len);
}

static void hash_fixed_texts(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                             size_t n, uint64_t *out)
{
	const char *text = (const char *)batch->keys + at * batch->key_bytes;
	for (size_t i = 0; i < n; i++)
		out[i] = weir__text_hash(f, text + i * batch->key_bytes, batch->key_bytes);
}

void weir__keys_hash(const struct weir_hashing *hashing, enum weir_isa isa, struct weir_keys keys,
                     uint64_t *out)
{
	const struct iovec *key = keys.at;
	if (!keys.n)
		return;
	if (keys.form == WEIR_KEYS_HASHES)
		memcpy(out, keys.at, 8 * keys.n);
	else if (keys.form == WEIR_KEYS_IOV)
		for (size_t i = 0; i < keys.n; i++)
			out[i] = weir__hash_by(hashing, key[i].iov_base, key[i].iov_len);
	else if (keys.width == 8 && hashing->by == &weir__xxh3)
		weir__hash8_for(isa, weir__flip8(hashing->seed), keys.at, keys.n, out);
	else
		hash_width(hashing, keys.at, keys.width, keys.n, out);
}

struct weir_batch weir__batch(const struct weir_filter *f, struct weir_keys keys)
{
	const bool text = weir__keys_text(f, keys);
	struct weir_batch batch = { .from = WEIR_FROM_KEYS, .keys = keys.at, .n = keys.n };
	if (keys.form == WEIR_KEYS_HASHES) {
		batch.from = WEIR_FROM_HASHES;
	} else if (keys.form == WEIR_KEYS_IOV) {
		batch.hash = text ? hash_texts : hash_keys;
	} else {
		if (!text && keys.width == 8 && f->hashing.by == &weir__xxh3)
			batch.from = WEIR_FROM_FIXED8;
		batch.key_bytes = keys.width;
		batch.hash = text ? hash_fixed_texts : hash_fixed;
	}
	return batch;
}

int weir__insert_refused(const struct weir_filter *f)
{
	if (f->insert_error == -ENOTSUP)
		return weir__kind_cannot(f->kind, "take inserts");
	return weir__fail(f->insert_error, "the filter takes no insert: it is mapped read-only, is "
	                  "sealed, or was loaded without its key: load it with weir_load()");
}

int weir__keys_refused(void)
{
	return weir__fail(-EINVAL, "a batch of 2^40 keys or more, or of fixed keys above 65,535 "
	                  "bytes: hand it over in parts, and longer keys by weir_keys_iov()");
}

void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                      size_t n, uint64_t *out)
{
	if (batch->from == WEIR_FROM_FIXED8)
		weir__hash8_for(f->isa, f->array.flip8, (const char *)batch->keys + 8 * at, n, out);
	else
		batch->hash(f, batch, at, n, out);
}

int64_t weir__batch_stopped(const struct weir_batch *batch, size_t taken, uint64_t answers,
                            uint64_t *bitmap, int err)
{
	for (size_t at = taken / 64 * 64; bitmap && at < batch->n; at += 64, answers = 0)
		bitmap[at / 64] = answers;
	return weir__stopped(taken, err);
}

int64_t weir__answer_all(bool answer, size_t n, uint64_t *bitmap)
{
	const uint64_t all = answer ? ~UINT64_C(0) : 0;
	for (size_t at = 0; bitmap && at < n; at += 64)
		bitmap[at / 64] = n - at < 64 ? all & ((UINT64_C(1) << (n - at)) - 1) : all;
	return answer ? (int64_t)n : 0;
}
