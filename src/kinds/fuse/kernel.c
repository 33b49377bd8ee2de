/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups, compiled for one instruction set (ground/system.h). */
#include "ground/system.h"
#include "kinds/common/fuse_kernel.h"
#include "kinds/fuse/kernels.h"

WEIR__INLINE struct weir_fuse_level level_of(const struct weir_array *a, unsigned width)
{
	struct weir_fuse part = weir__fuse_of(&a->shape);
	part.width = width;
	return (struct weir_fuse_level){ .part = part,
		                         .words = a->words,
		                         .part_words = a->lines >> part.part_bits << 3 };
}

WEIR__INLINE bool look(const struct weir_array *a, uint64_t h, unsigned width)
{
	const struct weir_fuse_level level = level_of(a, width);
	return weir__fuse_look(&level, h);
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
		const struct weir_fuse_level level = level_of(a, width(a)); \
		weir__fuse_note(&level, hashes, n, far, notes, at); \
	} \
	WEIR__INLINE uint64_t test_##name(const struct weir_array *a, bool far, \
	                                  const struct weir_notes *notes, unsigned at, unsigned n) \
	{ \
		(void)far; \
		const struct weir_fuse_level level = level_of(a, width(a)); \
		return weir__fuse_test(&level, notes, at, n); \
	} \
	static size_t contains_batch_##name(const struct weir_filter *f, \
	                                    const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, WEIR_FUSE_STEP, WEIR_FUSE_LEAD, \
		                       note_##name, test_##name); \
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

const struct weir_kernel *KERNEL_NAME(weir__fuse)(const struct weir_shape *shape)
{
	switch (shape->field[WEIR_FUSE_WIDTH]) {
#define KERNEL(w) case w: return &kernel_##w;
	FUSE_WIDTHS(KERNEL)
#undef KERNEL
	default: return &kernel_any;
	}
}
