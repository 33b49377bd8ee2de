/* SPDX-License-Identifier: MIT
 * Lookups and the insert ([ROUTER-LAYOUT], [ROUTER-CELL]). INSTANCE compiles the lookup for each
 * number of columns and of rows per key. The insert reads these numbers from the shape. The code is
 * scalar on every machine, since a batch spends its time loading lines at random addresses. */
#include "kind/batch.h"
#include "router/router.h"

enum {
	AHEAD = 24,         /* keys between the prefetch of a line and its lookup */
	AHEAD_TO_WRITE = 8, /* keys between the prefetch of a line and its insert */
};

WEIR__INLINE uint64_t sets_of(const struct weir_array *a, unsigned columns, unsigned k,
                              uint64_t hash)
{
	const uint64_t *page = weir__router_page(a, hash);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r), all = weir__router_all(a);
	WEIR__UNROLL
	for (unsigned i = 0; i < k; i++) {
		unsigned row = weir__row(columns, i, r, r2);
		all &= weir__word_load_relaxed(page + weir__row_word(columns, row)) >>
		       weir__row_shift(columns, row);
	}
	return all;
}

/* Prefetch to a core's own second-level cache, as batch.h says. */
WEIR__INLINE void fetch(const struct weir_array *a, unsigned columns, unsigned k, uint64_t hash)
{
	const uint64_t *page = weir__router_page(a, hash);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	WEIR__UNROLL
	for (unsigned i = 0; i < k; i++)
		__builtin_prefetch(page + weir__row_word(columns, weir__row(columns, i, r, r2)), 0,
		                   2);
}

WEIR__INLINE size_t sets_of_each(const struct weir_array *from, unsigned columns, unsigned k,
                                 const uint64_t *hashes, size_t n, bool far, uint64_t *masks)
{
	const struct weir_array a = *from; /* a copy that no store can alias */
	size_t positive = 0, ahead = far ? AHEAD : 0;
	for (size_t i = 0; i < ahead && i < n; i++)
		fetch(&a, columns, k, hashes[i]);
	for (size_t i = 0; i < n; i++) {
		if (far && i + ahead < n)
			fetch(&a, columns, k, hashes[i + ahead]);
		masks[i] = sets_of(&a, columns, k, hashes[i]);
		positive += masks[i] != 0;
	}
	return positive;
}

/* ---- inserts ---- */

/* Set the bits of a key. Load all words first, since a locked OR delays the loads after it. Do not
 * write words that have the bits already. @sets: at least one bit. */
static int set_bits(const struct weir_array *a, uint64_t sets, uint64_t hash)
{
	const unsigned columns = weir__router_columns(a), k = weir__router_probes(a);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	uint64_t *page = weir__router_page(a, hash), *word[WEIR__ROUTER_ROWS];
	uint64_t bits[WEIR__ROUTER_ROWS];
	unsigned missing = 0;
	for (unsigned i = 0; i < k; i++) {
		unsigned row = weir__row(columns, i, r, r2);
		word[missing] = page + weir__row_word(columns, row);
		bits[missing] = sets << weir__row_shift(columns, row);
		missing += (bits[missing] & ~weir__word_load_relaxed(word[missing])) != 0;
	}
	for (unsigned i = 0; i < missing; i++)
		weir__word_or_relaxed(word[i], bits[i]);
	return missing ? WEIR_NEW : WEIR_SEEN;
}

static void fetch_to_write(const struct weir_array *a, uint64_t hash)
{
	const unsigned columns = weir__router_columns(a), k = weir__router_probes(a);
	const uint64_t *page = weir__router_page(a, hash);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	for (unsigned i = 0; i < k; i++)
		__builtin_prefetch(page + weir__row_word(columns, weir__row(columns, i, r, r2)), 1,
		                   3);
}

int weir__router_insert_one(struct weir_filter *f, uint64_t sets, uint64_t hash)
{
	return set_bits(&f->array, sets, hash);
}

int64_t weir__router_insert(struct weir_filter *f, uint64_t sets, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap)
{
	const bool far = f->outgrows_cache;
	uint64_t answers = 0;
	int64_t new = 0;
	for (size_t i = 0; i < n; i++) {
		if (far && i + AHEAD_TO_WRITE < n)
			fetch_to_write(&f->array, hashes[i + AHEAD_TO_WRITE]);
		answers |= (uint64_t)set_bits(&f->array, sets, hashes[i]) << (i % 64);
		if (i % 64 < 63 && i + 1 < n)
			continue;
		new += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[i / 64] = answers;
		answers = 0;
	}
	return new;
}

/* ---- the functions that every kind has. A lookup is true if any set has the key. An insert puts
 *      the key into every set ---- */

static bool contains_hash(const struct weir_filter *f, uint64_t hash)
{
	return f->kernel->route(&f->array, hash) != 0;
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return contains_hash(f, weir__hash(f->array.seed, key, len));
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	return set_bits(&f->array, weir__router_all(&f->array), hash);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return insert_hash(f, weir__hash(f->array.seed, key, len));
}

static size_t contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                             uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64))), masks[WEIR_HASHED];
	size_t positive = 0;
	for (size_t at = 0; at < batch->n; at += WEIR_HASHED) {
		const unsigned n = weir__least(batch->n - at, WEIR_HASHED);
		const uint64_t *hashes =
			weir__batch_take(f, f->array.flip8, batch, at, n, scratch);
		uint64_t answers = 0;
		positive += f->kernel->route_each(&f->array, hashes, n, f->outgrows_cache, masks);
		for (unsigned i = 0; i < n; i++)
			answers |= (uint64_t)(masks[i] != 0) << i;
		if (bitmap)
			bitmap[at / 64] = answers;
	}
	return positive;
}

static int64_t insert_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	int64_t new = 0;
	for (size_t at = 0; at < batch->n; at += WEIR_HASHED) {
		const unsigned n = weir__least(batch->n - at, WEIR_HASHED);
		const uint64_t *hashes =
			weir__batch_take(f, f->array.flip8, batch, at, n, scratch);
		new += weir__router_insert(f, weir__router_all(&f->array), hashes, n,
		                           bitmap ? bitmap + at / 64 : NULL);
	}
	return new;
}

/* ---- one kernel for each number of columns and of rows ---- */

#define INSTANCE(columns, k) \
	static uint64_t route_##columns##_##k(const struct weir_array *a, uint64_t hash) \
	{ \
		return sets_of(a, columns, k, hash); \
	} \
	static size_t route_each_##columns##_##k(const struct weir_array *a, \
	                                         const uint64_t *hashes, size_t n, bool far, \
	                                         uint64_t *masks) \
	{ \
		return sets_of_each(a, columns, k, hashes, n, far, masks); \
	}
#define ENTRY(columns, k) \
	{ \
		.isa = WEIR_ISA_SCALAR, \
		.verbs = { contains, contains_hash, insert, insert_hash, NULL, NULL }, \
		.contains_batch = contains_batch, \
		.insert_batch = insert_batch, \
		.block_lines = WEIR__PAGE_LINES, \
		.route = route_##columns##_##k, \
		.route_each = route_each_##columns##_##k, \
	},
#define EACH_K(X, columns) \
	X(columns, 1) X(columns, 2) X(columns, 3) X(columns, 4) X(columns, 5) \
	X(columns, 6) X(columns, 7) X(columns, 8) X(columns, 9) X(columns, 10)

EACH_K(INSTANCE, 8)
EACH_K(INSTANCE, 16)
EACH_K(INSTANCE, 32)
EACH_K(INSTANCE, 64)

const struct weir_kernel *weir__router_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel kernels[4][WEIR__ROUTER_ROWS] = {
		{ EACH_K(ENTRY, 8) },
		{ EACH_K(ENTRY, 16) },
		{ EACH_K(ENTRY, 32) },
		{ EACH_K(ENTRY, 64) },
	};
	(void)isa;
	return &kernels[12 - weir__row_bits(shape->field[WEIR_ROUTER_COLUMNS])]
	               [shape->field[WEIR_ROUTER_PROBES] - 1];
}
