/* SPDX-License-Identifier: MIT
 * Bulk loading. The top bits of a hash choose its block, so its part too: one counting sort by those bits turns random writes over the
 * whole array into random writes within a part that fits the cache, at the price of a pass over the hashes in sequence. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "bulk.h"
#include "error.h"

enum {
	PIECE = 16 << 20,     /* hashes sorted at a time: bounds the scratch memory, and enough for each part to be worth its fetch */
	WANTED_FROM = 64 << 10, /* keys from which a batch is sorted */
	PARTS_MOST = 4096,    /* streams a sort writes to */
	PARTS_SHARED = 16,    /* parts that several loading threads find apart from each other */
};

uint32_t weir__bulk_parts(uint64_t bytes, uint32_t shards)
{
	uint32_t parts = 1;
	while (parts < shards && parts < PARTS_MOST && (parts < PARTS_SHARED || bytes / parts > weir__cache_bytes() / 2))
		parts *= 2;
	return parts;
}

bool weir__bulk_wanted(const struct weir_filter *f, size_t n)
{
	return n > WANTED_FROM && f->parts > 1 && f->kernel->load && f->bytes > 8 * weir__cache_bytes();
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
	size_t hash_bytes = n * sizeof *s->hashes, index_bytes = with_index ? n * sizeof *s->index : 0;
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

/* The counting sort: count, then start[p + 1] is where part p's next hash goes, which leaves it at that part's end. */
static void sort_piece(const struct weir_filter *f, struct sorted *s, const uint64_t *hashes, size_t n)
{
	uint32_t *next = s->start + 1, sum = 0;
	memset(s->start, 0, (f->parts + 1) * sizeof *s->start);
	for (size_t i = 0; i < n; i++)
		next[part_of(f, hashes[i])]++;
	for (uint32_t p = 0; p < f->parts; p++) {
		uint32_t count = next[p];
		next[p] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t at = next[part_of(f, hashes[i])]++;
		s->hashes[at] = hashes[i];
		if (s->index)
			s->index[at] = (uint32_t)i;
	}
}

static void report(uint64_t *bitmap, const uint32_t *index, const uint64_t *answers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (answers[i / 64] >> (i % 64) & 1)
			bitmap[index[i] / 64] |= UINT64_C(1) << (index[i] % 64);
}

/* Insert a sorted piece; bitmap is the piece's own. */
static size_t insert_sorted(struct weir_filter *f, const struct sorted *s, uint64_t *bitmap)
{
	enum { RUN = 4096 };
	uint64_t answers[RUN / 64];
	size_t fresh = 0;
	for (uint32_t p = 0; p < f->parts; p++)
		for (size_t at = s->start[p], n; at < s->start[p + 1]; at += n) {
			n = s->start[p + 1] - at < RUN ? s->start[p + 1] - at : RUN;
			struct weir_batch run = weir__batch_hashes(s->hashes + at, n);
			fresh += f->kernel->insert_batch(f, &run, bitmap ? answers : NULL);
			if (bitmap)
				report(bitmap, s->index + at, answers, n);
		}
	return fresh;
}

int64_t weir__bulk_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	size_t piece = batch->n < PIECE ? batch->n : PIECE, fresh = 0;
	struct sorted s;
	struct weir_memory hashed;
	if (weir__memory_alloc(&hashed, (piece * 8 + 63) / 64 * 64, 0, NULL, 0))
		return (int64_t)f->kernel->insert_batch(f, batch, bitmap);
	if (sorted_alloc(&s, f->parts, piece, bitmap != NULL)) {
		weir__memory_free(&hashed);
		return (int64_t)f->kernel->insert_batch(f, batch, bitmap);
	}
	if (bitmap)
		memset(bitmap, 0, WEIR_BITMAP_WORDS(batch->n) * sizeof *bitmap);
	for (size_t at = 0, n; at < batch->n; at += n) {
		n = batch->n - at < piece ? batch->n - at : piece;
		weir__batch_hash(f, batch, at, n, hashed.bits);
		sort_piece(f, &s, hashed.bits, n);
		fresh += insert_sorted(f, &s, bitmap ? bitmap + at / 64 : NULL);
	}
	weir__memory_free(&s.memory);
	weir__memory_free(&hashed);
	return (int64_t)fresh;
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
		f->kernel->load(f, s->hashes + s->start[p], n);
		weir__owner_drop(&f->owners[p]);
	}
	done[p / 32] |= UINT32_C(1) << (p % 32);
	return true;
}

/* Each thread begins at a part of its own, so that they follow each other round instead of meeting. */
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
	size_t piece = n < PIECE ? n : PIECE;
	int err = n ? sorted_alloc(&s, f->parts, piece, false) : 0;
	if (err || !n)
		return err;
	for (size_t at = 0, count; at < n; at += count) {
		count = n - at < piece ? n - at : piece;
		sort_piece(f, &s, hashes + at, count);
		load_sorted(f, &s, part_of(f, hashes[at]));
	}
	weir__memory_free(&s.memory);
	return 0;
}
