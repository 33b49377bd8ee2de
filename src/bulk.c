/* SPDX-License-Identifier: MIT
 * Bulk loading. A filter is cut into parts that fit the cache, and the top bits of a hash choose
 * its part (L1). One counting sort by those bits turns random writes over the whole array into
 * random writes within a part. Its price is two sequential passes over the hashes. */
#include <stdlib.h>
#include <string.h>
#include "bulk.h"
#include "cancel.h"
#include "error.h"
#include "owner.h"

/* Hashes sorted at a time, a multiple of 64. It bounds the scratch memory, and gives each part
 * enough keys to pay for fetching it. A test has smaller ones. */
#ifndef WEIR_BULK_PIECE
#define WEIR_BULK_PIECE (16 << 20)
#endif

enum {
	PIECE = WEIR_BULK_PIECE,
	WANTED_FROM = 64 << 10, /* larger batches are sorted */
	PARTS_MOST = 4096,      /* streams that a sort writes to */
	PARTS_SHARED = 16,      /* parts even of a small filter, for several loading threads */
};

uint32_t weir__bulk_parts(unsigned partition_bits, uint64_t bytes, uint32_t shards)
{
	uint32_t parts = 1;
	while (partition_bits-- && parts < shards && parts < PARTS_MOST &&
	       (parts < PARTS_SHARED || bytes / parts > weir__cache_bytes() / 2))
		parts *= 2;
	return parts;
}

bool weir__bulk_wanted(const struct weir_filter *f, size_t n)
{
	return n > WANTED_FROM && f->parts > 1 && f->bytes > 8 * weir__cache_bytes();
}

/* A piece of hashes sorted by part. Part p has hashes[begin[p]] .. hashes[end[p] - 1], and room up
 * to begin[p + 1]. */
struct sorted {
	uint64_t *hashes;
	uint32_t *index;           /* of each hash, its place in the piece; NULL: not wanted */
	uint32_t *begin;           /* parts + 1 */
	uint32_t *end;             /* parts */
	struct weir_memory memory; /* of all four */
};

static int sorted_alloc(struct sorted *s, uint32_t parts, size_t n, bool with_index)
{
	size_t hash_bytes = n * sizeof *s->hashes;
	size_t index_bytes = with_index ? n * sizeof *s->index : 0;
	size_t bytes = hash_bytes + index_bytes + (2 * parts + 1) * sizeof *s->begin;
	int err = weir__memory_alloc(&s->memory, (bytes + 63) / 64 * 64, 0, NULL, 0);
	if (err)
		return err;
	s->hashes = s->memory.bits;
	s->index = with_index ? (uint32_t *)(void *)(s->hashes + n) : NULL;
	s->begin = (uint32_t *)(void *)((char *)s->hashes + hash_bytes + index_bytes);
	s->end = s->begin + parts + 1;
	return 0;
}

/* The top log2(parts) bits of a hash. With one part it is 0; a single shift by 64 is undefined. */
static uint32_t part_of(const struct weir_filter *f, uint64_t hash)
{
	return (uint32_t)(hash >> 1 >> (63 - __builtin_ctz(f->parts)));
}

enum { TAKEN = 512 }; /* hashes taken at a time: a scratch of this size stays in cache */

/* The hashes of n keys from at on: where the caller has them, else in scratch. */
static const uint64_t *take(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                            size_t n, uint64_t *scratch)
{
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)batch->keys + at;
	weir__batch_hash(f, batch, at, n, scratch);
	return scratch;
}

/* Place a hash at the end of its part. A part that is full has no room for it: the caller's memory
 * has changed since it was counted, which must cost the caller keys, and nobody memory. */
static void place(const struct weir_filter *f, struct sorted *s, uint64_t hash, size_t at)
{
	uint32_t part = part_of(f, hash), to = s->end[part];
	if (__builtin_expect(to == s->begin[part + 1], 0))
		return;
	s->end[part] = to + 1;
	s->hashes[to] = hash;
	if (s->index)
		s->index[to] = (uint32_t)at;
}

/* The counting sort of n keys from first on: one pass counts, the next places. Both hash: for
 * 8-byte keys that costs less than memory for the hashes, which the system would clear first. */
static void sort_piece(const struct weir_filter *f, struct sorted *s,
                       const struct weir_batch *batch, size_t first, size_t n)
{
	uint64_t scratch[TAKEN];
	uint32_t sum = 0;
	memset(s->end, 0, f->parts * sizeof *s->end);
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < TAKEN ? n - at : TAKEN;
		const uint64_t *hashes = take(f, batch, first + at, some, scratch);
		for (size_t i = 0; i < some; i++)
			s->end[part_of(f, hashes[i])]++;
	}
	for (uint32_t p = 0; p < f->parts; p++) {
		uint32_t count = s->end[p];
		s->begin[p] = s->end[p] = sum;
		sum += count;
	}
	s->begin[f->parts] = sum;
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < TAKEN ? n - at : TAKEN;
		const uint64_t *hashes = take(f, batch, first + at, some, scratch);
		for (size_t i = 0; i < some; i++)
			place(f, s, hashes[i], at + i);
	}
}

/* Spread the answers of a run over the piece's bitmap. */
static void report(uint64_t *bitmap, const uint32_t *index, const uint64_t *answers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (answers[i / 64] >> (i % 64) & 1)
			bitmap[index[i] / 64] |= UINT64_C(1) << (index[i] % 64);
}

/* ---- stages (L2): a part that gets many keys is copied, the copy is loaded by plain stores, and
 *      its words are or'ed back. That takes one atomic or for each word that changes, instead of
 *      one for each word of each key. ---- */

struct stage {
	struct weir_filter *filter; /* the real record, but with its words moved to the copy */
	struct weir_memory memory;  /* the copy: the bits of one part */
	uint64_t words;             /* in a part */
};

/* A stage pays if a part has at most this many words for each of its keys. */
enum { WORDS_A_KEY = 4 };

static bool stage_wanted(const struct weir_filter *f, size_t keys)
{
	return f->kernel->stages_or && keys * WORDS_A_KEY >= 8 * f->array.lines / f->parts;
}

/* Copy a part, and point stage->filter at the copy. Return: the part's words in the filter. */
static uint64_t *stage_enter(struct stage *s, const struct weir_filter *f, uint32_t part)
{
	uint64_t *words = f->array.words + part * s->words;
	for (uint64_t i = 0; i < s->words; i++)
		s->memory.bits[i] = WEIR__LE64(weir__word_load_relaxed(words + i));
	/* A kernel counts lines from the filter's first word. Place that word such that this part's
	 * lines fall on the copy; the kernel touches no others. */
	s->filter->array.words =
		(uint64_t *)((uintptr_t)s->memory.bits - part * s->words * sizeof(uint64_t));
	return words;
}

/* Or the copy's words back, where that changes them. */
static void stage_leave(const struct stage *s, uint64_t *words)
{
	for (uint64_t i = 0; i < s->words; i++) {
		uint64_t bits = WEIR__LE64(s->memory.bits[i]);
		if (bits & ~weir__word_load_relaxed(words + i))
			weir__word_or_relaxed(words + i, bits);
	}
}

/* Insert n sorted hashes of one part by a batch function of the kernel. @bitmap: the piece's. */
static int64_t run_batch(
	struct weir_filter *f,
	int64_t (*batch)(struct weir_filter *, const struct weir_batch *, uint64_t *),
	const struct sorted *s, size_t at, size_t n, uint64_t *bitmap)
{
	enum { RUN = 4096 };
	uint64_t answers[RUN / 64];
	int64_t fresh = 0;
	for (size_t end = at + n, some; at < end; at += some) {
		some = end - at < RUN ? end - at : RUN;
		struct weir_batch run = weir__batch_hashes(s->hashes + at, some);
		int64_t answer = batch(f, &run, bitmap ? answers : NULL);
		if (answer < 0)
			return answer;
		fresh += answer;
		if (bitmap)
			report(bitmap, s->index + at, answers, some);
	}
	return fresh;
}

/* Insert a sorted piece. @bitmap: the piece's.  @stage: NULL if none pays or there is no memory. */
static int64_t insert_sorted(struct weir_filter *f, const struct sorted *s, struct stage *stage,
                             uint64_t *bitmap)
{
	int64_t fresh = 0, answer = 0;
	for (uint32_t p = 0; p < f->parts && answer >= 0; p++) {
		size_t at = s->begin[p], n = s->end[p] - at;
		if (stage && stage_wanted(f, n)) {
			uint64_t *words = stage_enter(stage, f, p);
			answer = run_batch(stage->filter, f->kernel->load, s, at, n, bitmap);
			stage_leave(stage, words);
		} else {
			answer = run_batch(f, f->kernel->insert_batch, s, at, n, bitmap);
		}
		fresh += answer;
	}
	return answer < 0 ? answer : fresh;
}

/* @record: room for the stage's own record. Return: false if there is no memory. */
static bool stage_alloc(struct stage *s, const struct weir_filter *f, struct weir_filter *record)
{
	*record = *f;
	record->outgrows_cache = false;
	s->filter = record;
	s->words = 8 * f->array.lines / f->parts;
	return weir__memory_alloc(&s->memory, s->words * sizeof(uint64_t), 0, NULL, 0) == 0;
}

/* @hashed: room for the hashes of a piece, so that keys are hashed only once; NULL: hash twice. */
static int64_t insert_pieces(struct weir_filter *f, struct sorted *s,
                             const struct weir_batch *batch, size_t piece, uint64_t *hashed,
                             uint64_t *bitmap)
{
	struct weir_filter record;
	struct stage stage;
	int64_t fresh = 0, answer = 0;
	bool staged = stage_wanted(f, piece / f->parts) && stage_alloc(&stage, f, &record);
	for (size_t at = 0, n; at < batch->n && answer >= 0; at += n) {
		n = batch->n - at < piece ? batch->n - at : piece;
		if (hashed) {
			struct weir_batch some = weir__batch_hashes(hashed, n);
			weir__batch_hash(f, batch, at, n, hashed);
			sort_piece(f, s, &some, 0, n);
		} else {
			sort_piece(f, s, batch, at, n);
		}
		answer = insert_sorted(f, s, staged ? &stage : NULL,
		                       bitmap ? bitmap + at / 64 : NULL);
		fresh += answer;
	}
	if (staged)
		weir__memory_free(&stage.memory);
	return answer < 0 ? answer : fresh;
}

int64_t weir__bulk_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	size_t piece = batch->n < PIECE ? batch->n : PIECE;
	struct sorted s;
	struct weir_memory hashed = { .bits = NULL };
	if (sorted_alloc(&s, f->parts, piece, bitmap != NULL))
		return f->kernel->insert_batch(f, batch, bitmap);
	/* Keys of any length cost too much to hash twice, unless there is no memory. */
	bool keep = batch->from == WEIR_FROM_KEYS &&
	            weir__memory_alloc(&hashed, (piece * 8 + 63) / 64 * 64, 0, NULL, 0) == 0;
	if (bitmap)
		memset(bitmap, 0, WEIR_BITMAP_WORDS(batch->n) * sizeof *bitmap);
	int64_t fresh = insert_pieces(f, &s, batch, piece, keep ? hashed.bits : NULL, bitmap);
	if (keep)
		weir__memory_free(&hashed);
	weir__memory_free(&s.memory);
	return fresh;
}

static bool is_done(const uint32_t *done, uint32_t p)
{
	return done[p / 32] >> (p % 32) & 1;
}

/* Load part p, unless it is done or another thread owns it now. Return: true if it is done by this
 * call. A part without keys has begin == end. */
static bool load_part(struct weir_filter *f, struct sorted *s, uint32_t *done, uint32_t p)
{
	uint32_t n = s->end[p] - s->begin[p];
	if (is_done(done, p))
		return false;
	if (n && !weir__owner_take(&f->owners[p]))
		return false;
	if (n) {
		struct weir_batch run = weir__batch_hashes(s->hashes + s->begin[p], n);
		f->kernel->load(f, &run, NULL);
		weir__owner_drop(&f->owners[p]);
	}
	done[p / 32] |= UINT32_C(1) << (p % 32);
	return true;
}

/* Every part that is left has another owner: sleep until the first of them is dropped. */
static void wait_for_part(struct weir_filter *f, const uint32_t *done)
{
	uint32_t p = 0;
	while (is_done(done, p))
		p++;
	weir__owner_wait(&f->owners[p]);
}

/* @first: the part to begin at. Each thread begins elsewhere and goes round, so they seldom
 *   meet. */
static void load_sorted(struct weir_filter *f, struct sorted *s, uint32_t first)
{
	uint32_t done[PARTS_MOST / 32] = { 0 }, left = f->parts;
	while (left) {
		uint32_t before = left;
		for (uint32_t i = 0; i < f->parts; i++)
			left -= load_part(f, s, done, (first + i) % f->parts);
		if (left == before)
			wait_for_part(f, done);
	}
}

int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	WEIR__UNCANCELLED; /* others wait for the parts that this thread owns */
	struct sorted s;
	struct weir_batch all = weir__batch_hashes(hashes, n);
	size_t piece = n < PIECE ? n : PIECE;
	int err = weir__owners_begin();
	if (!err && n)
		err = sorted_alloc(&s, f->parts, piece, false);
	if (err || !n)
		return err;
	for (size_t at = 0, count; at < n; at += count) {
		count = n - at < piece ? n - at : piece;
		sort_piece(f, &s, &all, at, count);
		load_sorted(f, &s, part_of(f, hashes[at]));
	}
	weir__memory_free(&s.memory);
	return 0;
}
