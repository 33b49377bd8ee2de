/* SPDX-License-Identifier: MIT
 * The inside of the kind router, and its rules.
 *
 * [ROUTER-LAYOUT]  The layout, which golden files freeze. The array consists of pages of 64 lines.
 *    The first page has the names: line i has the name of set i, padded with 0, and a line without
 *    a set is 0. The first page is written before other threads get the router, and never after.
 *    Each further page has 32768 / columns rows. Row i of a page is bits i * columns to
 *    i * columns + columns - 1 of the page. Bit b of a page is bit b % 64 of its word b / 64. Bit s
 *    of a row belongs to set s. With h the key's hash, and pages the number of all pages:
 *         page = 1 + high half of h * (pages - 1)
 *         row of probe i: log2(rows of a page) bits of r = h * 0x9E3779B97F4A7C15, from the top
 *         down, those of probe 0 first. Probes that do not fit into r take the bits of
 *         h * 0xD6E8FEB86659FD93 in the same way.
 * [ROUTER-CELL]  A row's cell is read and written as a part of its 64-bit word, atomically, and in
 *    no other width. So [BITS-ONLY-SET], [WORD-ATOMIC] and [LITTLE-ENDIAN] hold for the router too:
 *    a word only gains bits. A lookup after an insert finds the insert's bits in all words,
 *    whatever other threads OR into other cells of these words at the same time. Accesses of a
 *    cell's own width would overlap with those of whole words (a copy, a merge and a snapshot use
 *    words), and C11 has no rule for that.
 * [SAME-SETS]  All generations of a handle have the same sets, with the same names. So bit i of an
 *    answer means the same set whichever generation answers. The next filter and the previous
 *    filter have each set of the current filter too. So no filter refuses a key because it lacks
 *    the set ([REFUSED-KEY]).
 * [COLUMN-COPY]  A copy of some sets ORs the bits of their columns into the next filter, word by
 *    word and atomically ([BEGIN-WAITS]). So keys that are inserted into the next filter at the
 *    same time remain.
 *
 * tests/schedule runs the code through [ROUTER-CELL], [SAME-SETS] and [COLUMN-COPY]. */
#ifndef WEIR_SRC_ROUTER_ROUTER_H
#define WEIR_SRC_ROUTER_ROUTER_H

#include <weir/router.h>
#include "filter/filter.h"

enum { WEIR_ROUTER_COLUMNS, WEIR_ROUTER_PROBES, WEIR_ROUTER_SETS_AT }; /* fields of the shape */

enum {
	WEIR__ROUTER_ROWS = 10, /* most rows of a key */
	WEIR__PAGE_LINES = 64,
	WEIR__PAGE_WORDS = 512,
	WEIR__PAGE_BITS = 32768,
	WEIR__PAGE_BYTES = 4096,
};

/* The router's data at f->own. */
struct weir_router_own {
	char name[WEIR_ROUTER_SETS][WEIR_ROUTER_NAME]; /* a copy, since a mapped file may change */
	const char *names[WEIR_ROUTER_SETS];           /* pointers into name */
};

static inline const struct weir_router_own *weir__router_own(const struct weir_filter *f)
{
	return f->own;
}

static inline uint32_t weir__router_columns(const struct weir_array *a)
{
	return a->shape.field[WEIR_ROUTER_COLUMNS];
}

static inline uint32_t weir__router_probes(const struct weir_array *a)
{
	return a->shape.field[WEIR_ROUTER_PROBES];
}

static inline uint32_t weir__router_sets(const struct weir_array *a)
{
	return a->shape.field[WEIR_ROUTER_SETS_AT];
}

/* Return: the mask of the router's sets. In a forged image other columns may have bits too. */
static inline uint64_t weir__router_all(const struct weir_array *a)
{
	return ~UINT64_C(0) >> (64 - weir__router_sets(a));
}

/* Return: the mask of all sets of a filter. A filter that is not a router has one set. */
static inline uint64_t weir__all_sets(const struct weir_filter *f)
{
	return WEIR_ALL_SETS >> (64 - weir_router_sets(f));
}

/* ---- [ROUTER-LAYOUT]: the cells of a key. Lookups inline these functions with constant numbers of
 *      columns and probes, so the compiler computes shifts and masks ---- */

static inline uint64_t *weir__router_page(const struct weir_array *a, uint64_t hash)
{
	uint64_t pages = a->lines / WEIR__PAGE_LINES;
	return a->words + WEIR__PAGE_WORDS * (1 + weir__mulhi64(hash, pages - 1));
}

/* Return: log2 of the rows of a page, 12 to 9. */
WEIR__INLINE unsigned weir__row_bits(unsigned columns)
{
	return columns == 8 ? 12 : columns == 16 ? 11 : columns == 32 ? 10 : 9;
}

/* Return: the row of probe @i. */
WEIR__INLINE unsigned weir__row(unsigned columns, unsigned i, uint64_t r, uint64_t r2)
{
	const unsigned bits = weir__row_bits(columns), each = 64 / bits;
	return (unsigned)((i < each ? r << (i * bits) : r2 << ((i - each) * bits)) >> (64 - bits));
}

/* Return: the number of a row's word in its page. */
WEIR__INLINE unsigned weir__row_word(unsigned columns, unsigned row)
{
	return row / (64 / columns);
}

/* Return: the first bit of a row's cell in its word. */
WEIR__INLINE unsigned weir__row_shift(unsigned columns, unsigned row)
{
	return row % (64 / columns) * columns;
}

/* ---- kernel.c ---- */
const struct weir_kernel *weir__router_kernel(enum weir_isa isa, const struct weir_shape *shape);
/* Insert a hash into these sets, which must exist. Return: WEIR_NEW or WEIR_SEEN. */
int weir__router_insert_one(struct weir_filter *f, uint64_t sets, uint64_t hash);
/* Insert hashes into these sets. Return: the number of hashes new to at least one of the sets. */
int64_t weir__router_insert(struct weir_filter *f, uint64_t sets, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap);

/* ---- plan.c: members of struct weir_kind, and a function that the tests call too ---- */

int weir__router_settle(struct weir_params *params);
int weir__router_plan(const struct weir_params *params, struct weir_plan *out);
/* Return: the rate of a set with @load keys per page on average and @k rows per key. The number of
 * keys in a page is Poisson distributed. The relative error is below 1e-3. */
double weir__router_rate(double load, unsigned columns, unsigned k);

/* ---- names.c: members of struct weir_kind ---- */

int weir__router_name(struct weir_filter *f, const struct weir_params *params);
int weir__router_read_names(const struct weir_filter *f);
void weir__router_names_of(const struct weir_filter *f, struct weir_params *params);
int weir__router_alike(const struct weir_filter *a, const struct weir_filter *b);

/* ---- stats.c: members of struct weir_kind. They estimate the keys of the fullest set ---- */

void weir__router_look(const struct weir_filter *f, uint64_t first, uint64_t n,
                       struct weir_measure *sum);
void weir__router_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                           double *keys, double *rate);
uint32_t weir__router_judge(const struct weir_filter *f, bool all, const char **why);

/* [COLUMN-COPY]: copy some sets. The caller has called weir__merge_check(). */
void weir__router_copy_sets(struct weir_filter *dst, const struct weir_filter *src, uint64_t sets);

#endif
