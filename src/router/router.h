/* SPDX-License-Identifier: MIT
 * The inside of a router, and the rules that make it one.
 *
 * R1  A router is a struct weir_filter whose kind is weir__kind_router. So memory, images, copies
 *     and generations under RCU are those of filters (H1 to H14), and none of it stands here a
 *     second time. struct weir_router and the structs of its handle and reload have no inside of
 *     their own: they are other names for the callers, so that a compiler keeps the verbs of
 *     filters and routers apart. What the two conversions below convert is nowhere dereferenced as
 *     anything but what it is.
 * R2  The layout, frozen by golden files. The array is pages of 64 lines. The first page has the
 *     names: line i that of set i, padded with 0; the lines of no set are 0. It is written before
 *     anybody has the router, and never after. Each further page is 32768 / columns rows, and row i
 *     is bits i * columns to i * columns + columns - 1 of it; bit b is bit b % 64 of word b / 64.
 *     Bit s of a row belongs to set s.
 *         page = 1 + high half of h * (pages - 1)
 *         row of probe i: the next log2(rows of a page) bits of r = h * 0x9E3779B97F4A7C15 from the
 *         top, first that of probe 0; the first that does not fit whole is taken from the top of
 *         h * 0xD6E8FEB86659FD93, and so on downward.
 * R3  A cell is read and written as part of its 64-bit word, atomically, and in no other width. So
 *     B1 to B3 hold as they stand: the word of a row only gains bits, a lookup that comes after an
 *     insert finds the bit in each of its words, whatever others or into the word's other cells
 *     meanwhile, and the order of bytes is that of every word. Accesses of a cell's own width would
 *     overlap those of other widths (a copy, a merge, a snapshot are by words), for which C11 has
 *     no rule.
 * R4  All generations of a handle have the same number of sets, with the same names, and one hash.
 *     So bit i of an answer means one thing whichever generation answers, and an insert that
 *     current takes no other taker refuses: none is void (H12).
 * R5  A copy of some sets ors the words of their columns, word by word (H2): what is inserted
 *     meanwhile into next remains.
 *
 * tests/schedule runs the code through R3, R4 and R5. */
#ifndef WEIR_SRC_ROUTER_ROUTER_H
#define WEIR_SRC_ROUTER_ROUTER_H

#include <weir/router.h>
#include "filter/filter.h"

enum { WEIR_ROUTER_COLUMNS, WEIR_ROUTER_PROBES, WEIR_ROUTER_SETS_AT }; /* of its shape */

enum {
	WEIR__PAGE_LINES = 64,
	WEIR__PAGE_WORDS = 512,
	WEIR__PAGE_BITS = 32768,
	WEIR__PAGE_BYTES = 4096,
};

/* For one number of columns and of rows a key. */
struct weir_router_kernel {
	uint64_t (*route)(const struct weir_array *a, uint64_t hash);
	/* Return: how many masks are not 0. @far: the array outgrows a core's own cache. */
	size_t (*route_each)(const struct weir_array *a, const uint64_t *hashes, size_t n, bool far,
	                     uint64_t *masks);
};

/* f->own */
struct weir_router_own {
	const struct weir_router_kernel *kernel;
	char name[WEIR_ROUTER_SETS][WEIR_ROUTER_NAME]; /* copied out of the first page: a file that
	                                                  is mapped may change */
};

/* R1 */
static inline struct weir_filter *weir__router_mut(struct weir_router *r)
{
	return (struct weir_filter *)(void *)r;
}

static inline const struct weir_filter *weir__router_filter(const struct weir_router *r)
{
	return (const struct weir_filter *)(const void *)r;
}

static inline struct weir_router *weir__router_of(struct weir_filter *f)
{
	return (struct weir_router *)(void *)f;
}

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

/* The bits of its sets in a mask. Columns beyond them may have bits in a forged image. */
static inline uint64_t weir__router_all(const struct weir_array *a)
{
	return ~UINT64_C(0) >> (64 - weir__router_sets(a));
}

/* ---- R2: where a key's cells are. Constants where they are inlined with constants ---- */

static inline uint64_t *weir__router_page(const struct weir_array *a, uint64_t hash)
{
	uint64_t pages = a->lines / WEIR__PAGE_LINES;
	return a->words + WEIR__PAGE_WORDS * (1 + weir__mulhi64(hash, pages - 1));
}

/* log2 of the rows of a page: 12 to 9 */
WEIR__INLINE unsigned weir__row_bits(unsigned columns)
{
	return columns == 8 ? 12 : columns == 16 ? 11 : columns == 32 ? 10 : 9;
}

/* The row of probe i. */
WEIR__INLINE unsigned weir__row(unsigned columns, unsigned i, uint64_t r, uint64_t r2)
{
	const unsigned bits = weir__row_bits(columns), each = 64 / bits;
	return (unsigned)((i < each ? r << (i * bits) : r2 << ((i - each) * bits)) >> (64 - bits));
}

/* The word of a row in its page, and where its cell begins in it. */
WEIR__INLINE unsigned weir__row_word(unsigned columns, unsigned row)
{
	return row / (64 / columns);
}

WEIR__INLINE unsigned weir__row_shift(unsigned columns, unsigned row)
{
	return row % (64 / columns) * columns;
}

/* kernel.c */
const struct weir_router_kernel *weir__router_kernel(const struct weir_shape *shape);
/* As weir_router_insert_hash(), of a set that there is. */
int weir__router_set(const struct weir_array *a, uint32_t set, uint64_t hash);

/* ---- plan.c ---- */

/* The rate of a set when @load keys a page are in it, each of k rows: a page's keys are Poisson
 * distributed. Relative error below 1e-3. */
double weir__router_rate(double load, unsigned columns, unsigned k);
/* Check and complete options and plan. Return: 0 or a negative errno. */
int weir__router_plan(struct weir_router_options *o, const struct weir_router_options *options,
                      struct weir_router_plan *plan);

/* ---- names.c ---- */

/* Write the names of options into the first page. Return: 0 or -EINVAL. */
int weir__router_write_names(uint64_t *page, const struct weir_router_options *o);
/* Copy the names out of the first page, and check them. Return: 0 or -EBADMSG. */
int weir__router_read_names(const struct weir_filter *f);
/* Have two routers the same sets, and the same hash? Return: 0 or -EINVAL. */
int weir__router_alike(const struct weir_filter *a, const struct weir_filter *b);

/* ---- whole.c ---- */

/* R5. Return: 0, or a negative errno if they differ or dst takes no inserts. */
int weir__router_copy_sets(struct weir_filter *dst, const struct weir_filter *src, uint64_t sets);
/* An empty router of the same layout, hash and names. */
int weir__router_like(struct weir_filter **out, const struct weir_filter *f);
/* Insert into every set of the n hashes. Return: how many were new. */
int64_t weir__router_insert_hashes(struct weir_filter *f, uint32_t set, const uint64_t *hashes,
                                   size_t n, uint64_t *bitmap);
/* Is there such a set, and does f take inserts? Return: 0 or a negative errno. */
int weir__router_insert_check(const struct weir_filter *f, uint32_t set);

#endif
