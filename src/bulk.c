/* SPDX-License-Identifier: MIT
 * Bulk loading. The top bits of a hash choose its block, so its part too: one counting sort by
 * those bits turns random writes over the whole array into random writes within a part that fits
 * the cache, at the price of a pass over the hashes in sequence. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "bulk.h"
#include "error.h"

enum {
	/* hashes sorted at a time: bounds the scratch memory, and enough for each part to be
	 * worth its fetch */
	PIECE = 16 << 20,
	WANTED_FROM = 64 << 10, /* keys from which a batch is sorted */
	PARTS_MOST = 4096,    /* streams a sort writes to */
	PARTS_SHARED = 16,    /* parts that several loading threads find apart from each other */
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

/* A piece of hashes sorted by part; part p's are hashes[start[p]] .. hashes[start[p + 1] - 1]. */
struct sorted {
	uint64_t *hashes;
	uint32_t *index; /* where in the piece each came from; NULL where nobody asks */
	uint32_t *start; /* parts + 1 */
	struct weir_memory memory;
};

static int sorted_alloc(struct sorted *s, uint32_t parts, size_t n, bool with_index)
{
	size_t hash_bytes = n * sizeof *s->hashes,
	       index_bytes = with_index ? n * sizeof *s->index : 0;
	size_t bytes = hash_bytes + index_bytes + (parts + 1) * sizeof *s->start;
	int err = weir__memory_alloc(&s->memory, (bytes + 63) / 64 * 64, 0, NULL, 0);
	if (err)
		return err;
	s->hashes = s->memory.bits;
	s->index = with_index ? (uint32_t *)(void *)(s->hashes + n) : NULL;
	s->start = (uint32_t *)(void *)((char *)s->hashes + hash_bytes + index_bytes);
	return 0;
}

/* The top log2(parts) bits of a hash; two shifts, since one part leaves none of them. */
static uint32_t part_of(const struct weir_filter *f, uint64_t hash)
{
	return (uint32_t)(hash >> 1 >> (63 - __builtin_ctz(f->parts)));
}

/* Hashes a few at a time, where they are or through a small scratch. */
enum { TAKEN = 512 };

static const uint64_t *take(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                            size_t n, uint64_t *scratch)
{
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)batch->keys + at;
	weir__batch_hash(f, batch, at, n, scratch);
	return scratch;
}

/* The counting sort of n keys from first on: count, then start[p + 1] is where part p's next
 * hash goes, which leaves it at that part's end. Both passes hash: for eight bytes that is
 * cheaper than to keep the hashes in memory that the kernel must clear first. */
static void sort_piece(const struct weir_filter *f, struct sorted *s,
                       const struct weir_batch *batch, size_t first, size_t n)
{
	uint64_t scratch[TAKEN];
	uint32_t *next = s->start + 1, sum = 0;
	memset(s->start, 0, (f->parts + 1) * sizeof *s->start);
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < TAKEN ? n - at : TAKEN;
		const uint64_t *hashes = take(f, batch, first + at, some, scratch);
		for (size_t i = 0; i < some; i++)
			next[part_of(f, hashes[i])]++;
	}
	for (uint32_t p = 0; p < f->parts; p++) {
		uint32_t count = next[p];
		next[p] = sum;
		sum += count;
	}
	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < TAKEN ? n - at : TAKEN;
		const uint64_t *hashes = take(f, batch, first + at, some, scratch);
		for (size_t i = 0; i < some; i++) {
			uint32_t to = next[part_of(f, hashes[i])]++;
			s->hashes[to] = hashes[i];
			if (s->index)
				s->index[to] = (uint32_t)(at + i);
		}
	}
}

static void report(uint64_t *bitmap, const uint32_t *index, const uint64_t *answers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (answers[i / 64] >> (i % 64) & 1)
			bitmap[index[i] / 64] |= UINT64_C(1) << (index[i] % 64);
}

/* ---- a part that many keys go to is filled in a private copy by plain stores, and what that adds
 *      is or'ed in: an atomic or a word that changes, instead of one a key and word ---- */

struct stage {
	/* the real one's record over the copy's words: only its own part may be touched */
	struct weir_filter *filter;
	struct weir_memory memory; /* of one part's bits */
	uint64_t words;            /* in a part */
};

/* Worth it from a key for every so many words on. */
enum { WORDS_A_KEY = 4 };

static bool stage_wanted(const struct weir_filter *f, size_t keys)
{
	return f->kernel->stages_or && keys * WORDS_A_KEY >= 8 * f->array.lines / f->parts;
}

static uint64_t *stage_enter(struct stage *s, const struct weir_filter *f, uint32_t part)
{
	uint64_t *words = f->array.words + part * s->words;
	for (uint64_t i = 0; i < s->words; i++)
		s->memory.bits[i] = WEIR__LE64(weir__word_load_relaxed(words + i));
	/* so that the part's blocks, counted from the filter's first word, come to lie on the
	 * copy */
	s->filter->array.words = (uint64_t *)((uintptr_t)s->memory.bits -
	                                     part * s->words * sizeof(uint64_t));
	return words;
}

static void stage_leave(const struct stage *s, uint64_t *words)
{
	for (uint64_t i = 0; i < s->words; i++) {
		uint64_t bits = WEIR__LE64(s->memory.bits[i]);
		if (bits & ~weir__word_load_relaxed(words + i))
			weir__word_or_relaxed(words + i, bits);
	}
}

/* A run of hashes of one part, by one of the kernel's batches; which were new into the piece's
 * bitmap. */
static int64_t run_batch(struct weir_filter *f,
                         int64_t (*batch)(struct weir_filter *, const struct weir_batch *,
                                          uint64_t *),
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

/* Insert a sorted piece; bitmap is the piece's own. @stage: NULL where there is no memory for
 * one. */
static int64_t insert_sorted(struct weir_filter *f, const struct sorted *s, struct stage *stage,
                             uint64_t *bitmap)
{
	int64_t fresh = 0, answer = 0;
	for (uint32_t p = 0; p < f->parts && answer >= 0; p++) {
		size_t at = s->start[p], n = s->start[p + 1] - at;
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

/* @record: room for the copy of the filter's. False: no memory, and nothing to free. */
static bool stage_alloc(struct stage *s, const struct weir_filter *f, struct weir_filter *record)
{
	*record = *f;
	record->outgrows_cache = false;
	s->filter = record;
	s->words = 8 * f->array.lines / f->parts;
	return weir__memory_alloc(&s->memory, s->words * sizeof(uint64_t), 0, NULL, 0) == 0;
}

/* @hashed: room for a piece's hashes, where hashing twice would be dear; else NULL. */
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
		answer = insert_sorted(f, s, staged ? &stage : NULL, bitmap ? bitmap + at / 64 : NULL);
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
	/* Keys of any length; without the memory they are hashed twice. */
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

/* Load a part if nobody else owns it now. An empty or finished part has start == end. */
static bool load_part(struct weir_filter *f, struct sorted *s, uint32_t *done, uint32_t p)
{
	uint32_t n = s->start[p + 1] - s->start[p];
	if (done[p / 32] >> (p % 32) & 1)
		return false;
	if (n && !weir__owner_try_acquire(&f->owners[p]))
		return false;
	if (n) {
		struct weir_batch run = weir__batch_hashes(s->hashes + s->start[p], n);
		f->kernel->load(f, &run, NULL);
		weir__owner_drop(&f->owners[p]);
	}
	done[p / 32] |= UINT32_C(1) << (p % 32);
	return true;
}

/* Each thread begins at a part of its own, so that they follow each other round instead of
 * meeting. */
static void load_sorted(struct weir_filter *f, struct sorted *s, uint32_t first)
{
	uint32_t done[PARTS_MOST / 32] = { 0 }, left = f->parts;
	while (left) {
		uint32_t before = left;
		for (uint32_t i = 0; i < f->parts; i++)
			left -= load_part(f, s, done, (first + i) % f->parts);
		if (left == before)
			sched_yield();
	}
}

int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	struct sorted s;
	struct weir_batch all = weir__batch_hashes(hashes, n);
	size_t piece = n < PIECE ? n : PIECE;
	int err = n ? sorted_alloc(&s, f->parts, piece, false) : 0;
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
