/* SPDX-License-Identifier: MIT
 * Lookups and the insert, R2 and R3. One body for all numbers of columns and of rows. It is scalar
 * on every machine: a lookup is some loads from lines that lie apart, and the batch is bound by
 * them (bench/MEASURED.md). */
#include "router/router.h"

/* Keys whose lines are fetched ahead. */
enum { AHEAD = 24 };

WEIR__INLINE uint64_t look(const struct weir_array *a, unsigned columns, unsigned k, uint64_t hash)
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

/* To a core's own second-level cache, as batch.h says. */
WEIR__INLINE void fetch(const struct weir_array *a, unsigned columns, unsigned k, uint64_t hash)
{
	const uint64_t *page = weir__router_page(a, hash);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	WEIR__UNROLL
	for (unsigned i = 0; i < k; i++)
		__builtin_prefetch(page + weir__row_word(columns, weir__row(columns, i, r, r2)), 0,
		                   2);
}

WEIR__INLINE size_t look_each(const struct weir_array *from, unsigned columns, unsigned k,
                              const uint64_t *hashes, size_t n, bool far, uint64_t *masks)
{
	const struct weir_array a = *from; /* a copy that no store can alias */
	size_t positive = 0, ahead = far ? AHEAD : 0;
	for (size_t i = 0; i < ahead && i < n; i++)
		fetch(&a, columns, k, hashes[i]);
	for (size_t i = 0; i < n; i++) {
		if (far && i + ahead < n)
			fetch(&a, columns, k, hashes[i + ahead]);
		masks[i] = look(&a, columns, k, hashes[i]);
		positive += masks[i] != 0;
	}
	return positive;
}

#define INSTANCE(columns, k) \
	static uint64_t route_##columns##_##k(const struct weir_array *a, uint64_t hash) \
	{ \
		return look(a, columns, k, hash); \
	} \
	static size_t route_each_##columns##_##k(const struct weir_array *a, \
	                                         const uint64_t *hashes, size_t n, bool far, \
	                                         uint64_t *masks) \
	{ \
		return look_each(a, columns, k, hashes, n, far, masks); \
	}
#define ENTRY(columns, k) { route_##columns##_##k, route_each_##columns##_##k },
#define EACH_K(X, columns) \
	X(columns, 1) X(columns, 2) X(columns, 3) X(columns, 4) X(columns, 5) \
	X(columns, 6) X(columns, 7) X(columns, 8) X(columns, 9) X(columns, 10)

EACH_K(INSTANCE, 8)
EACH_K(INSTANCE, 16)
EACH_K(INSTANCE, 32)
EACH_K(INSTANCE, 64)

const struct weir_router_kernel *weir__router_kernel(const struct weir_shape *shape)
{
	static const struct weir_router_kernel kernels[4][WEIR_ROUTER_ROWS] = {
		{ EACH_K(ENTRY, 8) },
		{ EACH_K(ENTRY, 16) },
		{ EACH_K(ENTRY, 32) },
		{ EACH_K(ENTRY, 64) },
	};
	return &kernels[12 - weir__row_bits(shape->field[WEIR_ROUTER_COLUMNS])]
	               [shape->field[WEIR_ROUTER_PROBES] - 1];
}

/* All loads come first, since a locked or holds back the loads behind it. A bit that is set is not
 * written again. */
int weir__router_set(const struct weir_array *a, uint32_t set, uint64_t hash)
{
	const unsigned columns = weir__router_columns(a), k = weir__router_probes(a);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	uint64_t *page = weir__router_page(a, hash), *word[WEIR_ROUTER_ROWS];
	uint64_t bit[WEIR_ROUTER_ROWS];
	unsigned missing = 0;
	for (unsigned i = 0; i < k; i++) {
		unsigned row = weir__row(columns, i, r, r2);
		word[missing] = page + weir__row_word(columns, row);
		bit[missing] = UINT64_C(1) << (weir__row_shift(columns, row) + set);
		missing += !(weir__word_load_relaxed(word[missing]) & bit[missing]);
	}
	for (unsigned i = 0; i < missing; i++)
		weir__word_or_relaxed(word[i], bit[i]);
	return missing ? WEIR_NEW : WEIR_SEEN;
}
