/* SPDX-License-Identifier: MIT
 * The layered kind's lookups, compiled for one instruction set (ground/system.h). A batch goes
 * through the first level, and only the keys that pass go through the second level. Few absent keys
 * pass. To read three more lines for every key would cost more than the second pass. */
#include "ground/system.h"
#include "kinds/common/fuse_kernel.h"
#include "kinds/layered/layered.h"

WEIR__INLINE struct weir_fuse_level first_of(const struct weir_array *a)
{
	const struct weir_fuse part = weir__fuse_of(&a->shape);
	return (struct weir_fuse_level){ .part = part,
		                         .words = a->words,
		                         .part_words = 8 * weir__fuse_lines(&part),
		                         .any = true };
}

WEIR__INLINE struct weir_fuse_level second_of(const struct weir_array *a)
{
	const struct weir_fuse first = weir__fuse_of(&a->shape), part = weir__second_of(&a->shape);
	return (struct weir_fuse_level){ .part = part,
		                         .words = a->words + 8 * weir__level_lines(&first),
		                         .part_words = 8 * weir__fuse_lines(&part),
		                         .second = true };
}

WEIR__INLINE bool look_up(const struct weir_array *a, uint64_t h)
{
	const struct weir_fuse_level first = first_of(a);
	if (!weir__fuse_look(&first, h))
		return false;
	const struct weir_fuse_level second = second_of(a);
	return weir__fuse_look(&second, h);
}

static bool contains_hash(const struct weir_filter *f, uint64_t h)
{
	return look_up(&f->array, h);
}

static bool contains_u64(const struct weir_filter *f, uint64_t key)
{
	return look_up(&f->array, weir__hash_u64(f->array.flip8, key));
}

static __attribute__((noinline)) bool contains_other(const struct weir_filter *f, const void *key,
                                                     size_t len)
{
	return contains_hash(f, weir__hash_other(f, key, len));
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	if (__builtin_expect(len != 8, 0))
		return contains_other(f, key, len);
	return look_up(&f->array, weir__hash8(f->array.flip8, key));
}

/* ---- batches ---- */

enum { CHUNK = 128 }; /* keys looked up in the first level before the second level is read */

#define LEVEL(name) \
	WEIR__INLINE void note_##name(const struct weir_array *a, const uint64_t *hashes, \
	                              unsigned n, bool far, struct weir_notes *notes, unsigned at) \
	{ \
		const struct weir_fuse_level level = name##_of(a); \
		weir__fuse_note(&level, hashes, n, far, notes, at); \
	} \
	WEIR__INLINE uint64_t test_##name(const struct weir_array *a, bool far, \
	                                  const struct weir_notes *notes, unsigned at, unsigned n) \
	{ \
		const struct weir_fuse_level level = name##_of(a); \
		(void)far; \
		return weir__fuse_test(&level, notes, at, n); \
	} \
	static __attribute__((noinline)) size_t through_##name( \
		const struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, WEIR_FUSE_STEP, WEIR_FUSE_LEAD, \
		                       note_##name, test_##name); \
	}
LEVEL(first)
LEVEL(second)

/* Return: the hashes of n keys from @at on. */
static const uint64_t *hashes_of(const struct weir_filter *f, const struct weir_batch *batch,
                                 size_t at, unsigned n, uint64_t *scratch)
{
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)batch->keys + at;
	for (unsigned i = 0; i < n; i += WEIR_HASHED)
		(void)weir__batch_take(f, f->array.flip8, batch, at + i,
		                       weir__least(n - i, WEIR_HASHED), scratch + i);
	return scratch;
}

/* Copy to @out, which may be @hashes, each hash whose bit in @bitmap is 1. Return: the number of
 * hashes copied. */
static unsigned collect_passed(const uint64_t *hashes, const uint64_t *bitmap, unsigned n,
                               uint64_t *out)
{
	unsigned m = 0;
	for (unsigned word = 0; 64 * word < n; word++)
		for (uint64_t left = bitmap[word]; left; left &= left - 1)
			out[m++] = hashes[64 * word + (unsigned)__builtin_ctzll(left)];
	return m;
}

/* Clear each set bit whose answer is 0. Bit i of @answers is the answer of the i-th set bit. */
static void clear_refuted(uint64_t *bitmap, unsigned n, const uint64_t *answers)
{
	unsigned m = 0;
	for (unsigned word = 0; 64 * word < n; word++) {
		uint64_t kept = 0;
		for (uint64_t left = bitmap[word]; left; left &= left - 1, m++)
			if (answers[m / 64] >> m % 64 & 1)
				kept |= left & -left;
		bitmap[word] = kept;
	}
}

static size_t contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                             uint64_t *bitmap)
{
	uint64_t kept[CHUNK], first[CHUNK / 64], second[CHUNK / 64];
	size_t positive = 0;
	for (size_t at = 0; at < batch->n; at += CHUNK) {
		const unsigned n = weir__least(batch->n - at, CHUNK);
		struct weir_batch some = { .from = WEIR_FROM_HASHES,
			                   .keys = hashes_of(f, batch, at, n, kept),
			                   .key_bytes = 8,
			                   .n = n };
		uint64_t *answers = bitmap ? bitmap + at / 64 : first;
		through_first(f, &some, answers);
		const unsigned m = collect_passed(some.keys, answers, n, kept);
		some.keys = kept;
		some.n = m;
		positive += through_second(f, &some, second);
		if (bitmap)
			clear_refuted(answers, n, second);
	}
	return positive;
}

const struct weir_kernel KERNEL_NAME(weir__layered) = {
	.isa = KERNEL_ISA,
	.verbs = { .contains = contains, .contains_hash = contains_hash,
	           .contains_u64 = contains_u64 },
	.contains_batch = contains_batch,
};
