/* SPDX-License-Identifier: MIT
 * The cuckoo kind: each key has a fingerprint in one of two buckets, so it can be removed. The
 * fingerprint can move between the two buckets. The layout is in cuckoo.h, the rules for threads in
 * move.h.
 *
 * One scalar kernel serves every instruction set: a bucket is one word, and a few operations on the
 * word compare all of its slots. The two buckets of a key lie apart, so vectors would gain
 * nothing. */
#include "ground/error.h"
#include "kind/batch.h"
#include "kinds/cuckoo/cuckoo.h"
#include "kinds/cuckoo/search.h"

/* ---- lookups ([TWO-VERSIONS], [EIGHT-TRIES] in move.h) ---- */

struct buckets {
	uint64_t bucket[2];
	unsigned fingerprint;
};

WEIR__INLINE struct buckets buckets_of(const struct weir_array *a, uint64_t hash, unsigned width)
{
	struct weir_cuckoo_spot spot = weir__cuckoo_spot(a, hash, width);
	return (struct buckets){
		.bucket = { spot.bucket, weir__cuckoo_other(a, spot.bucket, spot.fingerprint) },
		.fingerprint = spot.fingerprint
	};
}

/* Return: true if either bucket has an equal fingerprint. */
WEIR__INLINE bool found_in(const struct weir_array *a, const struct buckets *p, unsigned width)
{
	uint64_t equal = p->fingerprint * weir__cuckoo_ones(width);
	uint64_t first = weir__place_load_acquire(a->words + p->bucket[0]);
	uint64_t second = weir__place_load_acquire(a->words + p->bucket[1]);
	return (weir__cuckoo_zeros(first ^ equal, width) |
	        weir__cuckoo_zeros(second ^ equal, width)) != 0;
}

WEIR__INLINE bool find(const struct weir_array *a, const struct buckets *p, unsigned width)
{
	const atomic_uint *version = weir__cuckoo_version(a, p->fingerprint);
	for (unsigned i = 0; i < WEIR_CUCKOO_TRIES; i++) {
		unsigned before = weir__version_load_acquire(version);
		if (found_in(a, p, width))
			return true;
		if (__builtin_expect(weir__version_load_again(version) == before, 1))
			return false;
	}
	return true;
}

WEIR__INLINE bool contains_any(const struct weir_filter *f, uint64_t hash, unsigned width)
{
	struct buckets p = buckets_of(&f->array, hash, width);
	return find(&f->array, &p, width);
}

/* Return: the number of copies in both buckets. If they are the same bucket, count it only once. */
WEIR__INLINE int64_t count_in(const struct weir_array *a, const struct buckets *p, unsigned width)
{
	uint64_t equal = p->fingerprint * weir__cuckoo_ones(width);
	uint64_t first = weir__place_load_acquire(a->words + p->bucket[0]);
	uint64_t second = weir__place_load_acquire(a->words + p->bucket[1]);
	int64_t n = __builtin_popcountll(weir__cuckoo_zeros(first ^ equal, width));
	if (p->bucket[0] != p->bucket[1])
		n += __builtin_popcountll(weir__cuckoo_zeros(second ^ equal, width));
	return n;
}

/* Count a key's copies, in up to eight tries as in a lookup ([EIGHT-TRIES]). If the version changed
 * in each try, return the largest possible number. */
static int64_t count(const struct weir_filter *f, uint64_t hash)
{
	const struct weir_array *a = &f->array;
	unsigned width = weir__cuckoo_width(a);
	struct buckets p = buckets_of(a, hash, width);
	const atomic_uint *version = weir__cuckoo_version(a, p.fingerprint);
	for (unsigned i = 0; i < WEIR_CUCKOO_TRIES; i++) {
		unsigned before = weir__version_load_acquire(version);
		int64_t n = count_in(a, &p, width);
		if (weir__version_load_again(version) == before)
			return n;
	}
	return 2 * weir__cuckoo_places(width);
}

/* ---- batches ---- */

/* A key's notes are its buckets and its fingerprint. */
enum { ROW_BUCKET, ROW_OTHER, ROW_FINGERPRINT };
enum { STEP = 16, LEAD = 48 };

WEIR__INLINE void note_buckets(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                               bool far, struct weir_notes *notes, unsigned at, unsigned width)
{
	for (unsigned i = 0; i < n; i++) {
		struct buckets p = buckets_of(a, hashes[i], width);
		notes->row[ROW_BUCKET][at + i] = p.bucket[0];
		notes->row[ROW_OTHER][at + i] = p.bucket[1];
		notes->row[ROW_FINGERPRINT][at + i] = p.fingerprint;
	}
	for (unsigned i = at; far && i < at + n; i++) {
		__builtin_prefetch(a->words + notes->row[ROW_BUCKET][i], 0, WEIR_TO_L1);
		__builtin_prefetch(a->words + notes->row[ROW_OTHER][i], 0, WEIR_TO_L1);
	}
}

WEIR__INLINE uint64_t find_noted(const struct weir_array *a, const struct weir_notes *notes,
                                 unsigned at, unsigned n, unsigned width)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct buckets p = {
			.bucket = { notes->row[ROW_BUCKET][at + i], notes->row[ROW_OTHER][at + i] },
			.fingerprint = (unsigned)notes->row[ROW_FINGERPRINT][at + i]
		};
		answers |= (uint64_t)find(a, &p, width) << i;
	}
	return answers;
}

/* Insert in the keys' order, up to the first refused key. */
static int64_t insert_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_array *a = &f->array;
	unsigned width = weir__cuckoo_width(a);
	int64_t fresh = 0;
	for (size_t at = 0; at < batch->n; at += WEIR_HASHED) {
		unsigned n = weir__least(batch->n - at, WEIR_HASHED);
		const uint64_t *hashes = weir__batch_take(f, a->flip8, batch, at, n, scratch);
		struct buckets p;
		uint64_t answers = 0;
		for (unsigned i = 0; f->outgrows_cache && i < n; i++) {
			p = buckets_of(a, hashes[i], width);
			__builtin_prefetch(a->words + p.bucket[0], 1, 3);
			__builtin_prefetch(a->words + p.bucket[1], 1, 3);
		}
		for (unsigned i = 0; i < n; i++) {
			int answer = weir__cuckoo_put(a, weir__cuckoo_spot(a, hashes[i], width),
			                              WEIR_CUCKOO_ALWAYS, WEIR_CUCKOO_WAIT);
			if (answer < 0)
				return weir__batch_stopped(batch, at + i, answers, bitmap, answer);
			answers |= (uint64_t)(answer == WEIR_NEW) << i;
		}
		fresh += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR_HASHED] = answers;
	}
	return fresh;
}

/* ---- the functions of each width ---- */

static int put(struct weir_filter *f, uint64_t hash, enum weir_cuckoo_put how)
{
	const struct weir_array *a = &f->array;
	return weir__cuckoo_put(a, weir__cuckoo_spot(a, hash, weir__cuckoo_width(a)), how,
	                        WEIR_CUCKOO_WAIT);
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	return put(f, hash, WEIR_CUCKOO_ALWAYS);
}

static int insert_once(struct weir_filter *f, uint64_t hash)
{
	return put(f, hash, WEIR_CUCKOO_ABSENT);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return insert_hash(f, weir__hash(f->array.seed, key, len));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return insert_hash(f, weir__hash_u64(f->array.flip8, key));
}

static int take_out(struct weir_filter *f, uint64_t hash)
{
	const struct weir_array *a = &f->array;
	return weir__cuckoo_take_out(a, weir__cuckoo_spot(a, hash, weir__cuckoo_width(a)));
}

#define VERBS(width) \
	static bool contains_hash_##width(const struct weir_filter *f, uint64_t hash) \
	{ \
		return contains_any(f, hash, width); \
	} \
	static bool contains_##width(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		return contains_any(f, weir__hash(f->array.seed, key, len), width); \
	} \
	static bool contains_u64_##width(const struct weir_filter *f, uint64_t key) \
	{ \
		return contains_any(f, weir__hash_u64(f->array.flip8, key), width); \
	} \
	WEIR__INLINE void note_##width(const struct weir_array *a, const uint64_t *hashes, \
	                               unsigned n, bool far, struct weir_notes *notes, \
	                               unsigned at) \
	{ \
		note_buckets(a, hashes, n, far, notes, at, width); \
	} \
	WEIR__INLINE uint64_t find_##width(const struct weir_array *a, bool far, \
	                                   const struct weir_notes *notes, unsigned at, \
	                                   unsigned n) \
	{ \
		(void)far; \
		return find_noted(a, notes, at, n, width); \
	} \
	static size_t contains_batch_##width(const struct weir_filter *f, \
	                                     const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, STEP, LEAD, note_##width, find_##width); \
	} \
	/* A key lies in two buckets anywhere, so partition_bits is 0 ([PARTITION-BITS]). */ \
	static const struct weir_kernel kernel_##width = { \
		.isa = WEIR_ISA_SCALAR, \
		.verbs = { contains_##width, contains_hash_##width, insert, insert_hash, \
		           contains_u64_##width, insert_u64 }, \
		.contains_batch = contains_batch_##width, \
		.insert_batch = insert_batch, \
		.remove = take_out, \
		.insert_once = insert_once, \
		.count = count, \
	};
VERBS(12)
VERBS(16)

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	(void)isa;
	return shape->field[WEIR_CUCKOO_WIDTH] == 12 ? &kernel_12 : &kernel_16;
}

static uint64_t most(const struct weir_filter *f)
{
	return weir__cuckoo_most(f->array.lines, &f->array.shape);
}

/* Return: the number of slots in a key's two buckets, or in one bucket if both are the same. */
static unsigned copies(const struct weir_filter *f, uint64_t hash)
{
	unsigned width = weir__cuckoo_width(&f->array);
	struct buckets p = buckets_of(&f->array, hash, width);
	return (1 + (p.bucket[0] != p.bucket[1])) * weir__cuckoo_places(width);
}

const struct weir_kind weir__kind_cuckoo = {
	.id = WEIR_CUCKOO,
	.name = "cuckoo",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW |
	       WEIR_CAN_REMOVE | WEIR_CAN_COUNT | WEIR_CAN_HOLD_COPIES,
	.fields = { "fingerprint_bits" },
	.plan = weir__cuckoo_plan,
	.legal = weir__cuckoo_legal,
	.describe = weir__cuckoo_describe,
	.kernel = kernel,
	.measure = weir__cuckoo_measure,
	.law = weir__cuckoo_law,
	.estimate = weir__cuckoo_estimate,
	.create = weir__cuckoo_create,
	.destroy = weir__cuckoo_destroy,
	.most = most,
	.copies = copies,
	.hold = weir__cuckoo_hold,
	.let_go = weir__cuckoo_let_go,
	.merge = weir__cuckoo_merge,
	.take_back = weir__cuckoo_take_back,
	.snapshot = weir__cuckoo_snapshot,
};
