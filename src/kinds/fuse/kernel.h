/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups, compiled for one instruction set: of one key, and of batches, with all
 * three lines of 64 keys on their way. Each <isa>.c defines KERNEL_ISA and KERNEL_FIND, and if it
 * notes several keys at once KERNEL_NOTE, and includes this file. */
#include "batch.h"
#include "kinds/fuse/kernels.h"

/* The part of a key, its cells. */
WEIR__INLINE const unsigned char *part_of(const struct weir_array *a, const struct weir_fuse *part,
                                          uint64_t h)
{
	const uint64_t words = a->lines >> part->part_bits << 3;
	return (const unsigned char *)(a->words + words * weir__fuse_part(h, part->part_bits));
}

WEIR__INLINE struct weir_fuse fuse_of(const struct weir_array *a, unsigned width)
{
	struct weir_fuse part = weir__fuse_of(&a->shape);
	part.width = width;
	return part;
}

WEIR__INLINE bool look(const struct weir_array *a, uint64_t h, unsigned width)
{
	const struct weir_fuse part = fuse_of(a, width);
	const unsigned char *at = part_of(a, &part, h), *cells = at + WEIR_FUSE_SEED;
	const uint64_t m = weir__fuse_mix(h, weir__fuse_word(at));
	const struct weir_fuse_cells c = weir__fuse_cells(&part, h, m);
	const uint64_t all = weir__fuse_cell(cells, c.at[0], width) ^
	                     weir__fuse_cell(cells, c.at[1], width) ^
	                     weir__fuse_cell(cells, c.at[2], width);
	return ((all ^ weir__fuse_fingerprint(m, width)) & ((UINT64_C(1) << width) - 1)) == 0;
}

/* ---- batches: what is noted of a key are its cells, as bits of the array, and its fingerprint.
 *      A key's part begins with its seed: a line more, which its neighbours share. ---- */

enum { STEP = 8, LEAD = 64, ROW_CELL = 0, ROW_FINGERPRINT = 3 };

WEIR__INLINE void note_each(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                            struct weir_notes *notes, unsigned at, unsigned width)
{
	const struct weir_fuse part = fuse_of(a, width);
	const unsigned char *from = (const unsigned char *)a->words;
	for (unsigned i = 0; i < n; i++) {
		const unsigned char *mine = part_of(a, &part, hashes[i]);
		const uint64_t m = weir__fuse_mix(hashes[i], weir__fuse_word(mine));
		const uint64_t first = 8 * (uint64_t)(mine + WEIR_FUSE_SEED - from);
		const struct weir_fuse_cells c = weir__fuse_cells(&part, hashes[i], m);
		for (unsigned j = 0; j < 3; j++)
			notes->row[ROW_CELL + j][at + i] = first + (uint64_t)c.at[j] * width;
		notes->row[ROW_FINGERPRINT][at + i] = weir__fuse_fingerprint(m, width);
	}
}

#ifndef KERNEL_NOTE
#define KERNEL_NOTE note_each
#endif

/* Of that bit of the array on. */
WEIR__INLINE uint64_t bits_at(const struct weir_array *a, uint64_t bit, unsigned width)
{
	const unsigned char *at = (const unsigned char *)a->words + (bit >> 3);
	return width == 8     ? *at :
	       width % 8 == 0 ? weir__fuse_word(at) :
	                        weir__fuse_word(at) >> (bit & 7);
}

WEIR__INLINE void note(const struct weir_array *a, const uint64_t *hashes, unsigned n, bool far,
                       struct weir_notes *notes, unsigned at, unsigned width)
{
	KERNEL_NOTE(a, hashes, n, notes, at, width);
	for (unsigned j = 0; far && j < 3; j++)
		for (unsigned i = at; i < at + n; i++)
			__builtin_prefetch((const char *)a->words +
			                   (notes->row[ROW_CELL + j][i] >> 3), 0, WEIR_TO_L2);
}

WEIR__INLINE uint64_t test_one(const struct weir_array *a, const struct weir_notes *notes,
                               unsigned at, unsigned width)
{
	const uint64_t all = notes->row[ROW_FINGERPRINT][at] ^
	                     bits_at(a, notes->row[ROW_CELL][at], width) ^
	                     bits_at(a, notes->row[ROW_CELL + 1][at], width) ^
	                     bits_at(a, notes->row[ROW_CELL + 2][at], width);
	return (all & ((UINT64_C(1) << width) - 1)) == 0;
}

WEIR__INLINE uint64_t test(const struct weir_array *a, const struct weir_notes *notes, unsigned at,
                           unsigned n, unsigned width)
{
	uint64_t answers = 0;
	if (n == STEP) {
		WEIR__UNROLL
		for (unsigned i = 0; i < STEP; i++)
			answers |= test_one(a, notes, at + i, width) << i;
		return answers;
	}
	for (unsigned i = 0; i < n; i++)
		answers |= test_one(a, notes, at + i, width) << i;
	return answers;
}

/* ---- for each width ---- */

#define VERBS(name, width) \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t h) \
	{ \
		return look(&f->array, h, width(&f->array)); \
	} \
	static bool contains_u64_##name(const struct weir_filter *f, uint64_t key) \
	{ \
		return look(&f->array, weir__hash_u64(f->array.flip8, key), width(&f->array)); \
	} \
	static __attribute__((noinline)) bool contains_other_##name(const struct weir_filter *f, \
	                                                            const void *key, size_t len) \
	{ \
		return contains_hash_##name(f, weir__hash_other(f, key, len)); \
	} \
	static bool contains_##name(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (__builtin_expect(len != 8, 0)) \
			return contains_other_##name(f, key, len); \
		return look(&f->array, weir__hash8(f->array.flip8, key), width(&f->array)); \
	} \
	WEIR__INLINE void note_##name(const struct weir_array *a, const uint64_t *hashes, \
	                              unsigned n, bool far, struct weir_notes *notes, unsigned at) \
	{ \
		note(a, hashes, n, far, notes, at, width(a)); \
	} \
	WEIR__INLINE uint64_t test_##name(const struct weir_array *a, bool far, \
	                                  const struct weir_notes *notes, unsigned at, unsigned n) \
	{ \
		(void)far; \
		return test(a, notes, at, n, width(a)); \
	} \
	static size_t contains_batch_##name(const struct weir_filter *f, \
	                                    const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, STEP, LEAD, note_##name, test_##name); \
	} \
	static const struct weir_kernel kernel_##name = { \
		.isa = KERNEL_ISA, \
		.verbs = { .contains = contains_##name, .contains_hash = contains_hash_##name, \
		           .contains_u64 = contains_u64_##name }, \
		.contains_batch = contains_batch_##name, \
	};

#define WIDTH_8(a) 8
#define WIDTH_16(a) 16
#define WIDTH_32(a) 32
#define WIDTH_ANY(a) ((a)->shape.field[WEIR_FUSE_WIDTH])
#define KERNEL(w) VERBS(w, WIDTH_##w)
FUSE_WIDTHS(KERNEL)
#undef KERNEL
VERBS(any, WIDTH_ANY)

const struct weir_kernel *KERNEL_FIND(const struct weir_shape *shape)
{
	switch (shape->field[WEIR_FUSE_WIDTH]) {
#define KERNEL(w) case w: return &kernel_##w;
	FUSE_WIDTHS(KERNEL)
#undef KERNEL
	default: return &kernel_any;
	}
}
