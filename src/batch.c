/* SPDX-License-Identifier: MIT
 * The batch pipeline: hash a step of keys, prefetch their lines, then work on the step before, whose lines have come meanwhile.
 * A filter that fits a core's own cache is not prefetched: that costs 15 % there. */
#include <sys/uio.h>
#include "batch.h"
#include "config.h"
#include "hash.h"

static const uint64_t *take_hashes(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n,
                                   uint64_t *scratch)
{
	(void)f, (void)n, (void)scratch;
	return (const uint64_t *)batch->keys + at;
}

static const uint64_t *take_keys(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n,
                                 uint64_t *scratch)
{
	const struct iovec *key = (const struct iovec *)batch->keys + at;
	for (unsigned i = 0; i < n; i++)
		scratch[i] = weir__hash(f->view.seed, key[i].iov_base, key[i].iov_len);
	return scratch;
}

static const uint64_t *take_fixed(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n,
                                  uint64_t *scratch)
{
	const char *key = (const char *)batch->keys + at * batch->key_bytes;
	for (unsigned i = 0; i < n; i++)
		scratch[i] = weir__hash(f->view.seed, key + i * batch->key_bytes, batch->key_bytes);
	return scratch;
}

static const uint64_t *take_fixed8(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n,
                                   uint64_t *scratch)
{
	const char *key = (const char *)batch->keys + at * 8;
#if WEIR_X86
	if (f->isa == WEIR_ISA_AVX512) {
		weir__hash8_avx512(f->view.seed, key, n, scratch);
		return scratch;
	}
#endif
	for (unsigned i = 0; i < n; i++)
		scratch[i] = weir__hash8(f->view.seed, key + i * 8);
	return scratch;
}

struct weir_batch weir__batch_hashes(const uint64_t *hashes, size_t n)
{
	return (struct weir_batch){ .take = take_hashes, .keys = hashes, .key_bytes = 8, .n = n };
}

struct weir_batch weir__batch_keys(const struct iovec *keys, size_t n)
{
	return (struct weir_batch){ .take = take_keys, .keys = keys, .n = n };
}

struct weir_batch weir__batch_fixed(const void *keys, size_t key_bytes, size_t n)
{
	return (struct weir_batch){ .take = key_bytes == 8 ? take_fixed8 : take_fixed, .keys = keys, .key_bytes = key_bytes, .n = n };
}

static unsigned step_at(const struct weir_batch *batch, size_t at)
{
	size_t rest = batch->n - at;
	return rest < WEIR_STEP ? (unsigned)rest : WEIR_STEP;
}

/* The one loop of every batch: fetch the next step's lines, then work on this step's. */
#define FOR_EACH_STEP(f, batch, prefetch, hashes, at, count) \
	uint64_t scratch_[2][WEIR_STEP]; \
	unsigned turn_ = 0, count = step_at(batch, 0); \
	const uint64_t *hashes = count ? (batch)->take(f, batch, 0, count, scratch_[0]) : NULL, *next_ = NULL; \
	bool fetch_ = (f)->outgrows_cache; \
	if (fetch_ && count) \
		(prefetch)(f, hashes, count); \
	for (size_t at = 0; count; at += count, count = step_at(batch, at), hashes = next_) \
		if (next_step(f, batch, at + count, fetch_ ? (prefetch) : NULL, &next_, scratch_[turn_ ^= 1]), true)

static inline void next_step(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                             void (*prefetch)(const struct weir_filter *, const uint64_t *, unsigned), const uint64_t **next,
                             uint64_t *scratch)
{
	unsigned n = step_at(batch, at);
	if (!n)
		return;
	*next = batch->take(f, batch, at, n, scratch);
	if (prefetch)
		prefetch(f, *next, n);
}

size_t weir__batch_contains(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	size_t found = 0;
	FOR_EACH_STEP (f, batch, f->kernel->prefetch64, hashes, at, n) {
		uint64_t answers = f->kernel->contains64(f, hashes, n);
		found += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR_STEP] = answers;
	}
	return found;
}

size_t weir__batch_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	size_t fresh = 0;
	FOR_EACH_STEP (f, batch, f->kernel->prefetch64_write, hashes, at, n) {
		uint64_t answers = f->kernel->insert64(f, hashes, n);
		fresh += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR_STEP] = answers;
	}
	return fresh;
}

void weir__batch_load(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	struct weir_batch batch = weir__batch_hashes(hashes, n);
	FOR_EACH_STEP (f, &batch, f->kernel->prefetch64_write, step, at, count)
		f->kernel->load64(f, step, count);
}

void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *out)
{
	for (size_t at = 0; at < batch->n; at += WEIR_STEP)
		batch->take(f, batch, at, step_at(batch, at), out + at);
}
