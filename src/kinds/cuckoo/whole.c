/* SPDX-License-Identifier: MIT
 * Whole cuckoo filters: statistics, merge and copy. Merge and copy hold the source
 * ([WALK-MEETS-ALL]). */
#include <stdio.h>
#include "ground/error.h"
#include "kind/sizing.h"
#include "kind/spread.h"
#include "kinds/cuckoo/cuckoo.h"
#include "kinds/cuckoo/search.h"

void weir__cuckoo_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                          struct weir_measure *sum)
{
	unsigned width = weir__cuckoo_width(&f->array), places = weir__cuckoo_places(width);
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++) {
		uint64_t word = weir__place_load_acquire(f->array.words + i);
		sum->used += places - (unsigned)__builtin_popcountll(
			weir__cuckoo_zeros(word, width));
	}
	sum->lines += n;
	sum->cells += 8 * places * n;
}

/* Several copies of one key count as several keys. */
void weir__cuckoo_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                           double *keys, double *rate)
{
	unsigned width = weir__cuckoo_width(&f->array);
	double fill = (double)sum->used / (double)sum->cells;
	double places = 8.0 * weir__cuckoo_places(width) * (double)f->array.lines;
	*keys = fill * places;
	*rate = weir__cuckoo_rate(fill, width);
}

/* Return: bit 0 of each slot whose fingerprint differs from the fingerprints in all lower slots of
 * the bucket. So a key with several copies counts once in each bucket. */
WEIR__INLINE uint64_t differing(uint64_t word, unsigned width)
{
	uint64_t empty_or_again = weir__cuckoo_zeros(word, width);
	for (unsigned shift = width; shift + width <= 64; shift += width)
		empty_or_again |= weir__cuckoo_zeros(word ^ word << shift, width);
	return ~empty_or_again >> (width - 1) & weir__cuckoo_ones(width);
}

static uint64_t differing_12(uint64_t word) { return differing(word, 12); }
static uint64_t differing_16(uint64_t word) { return differing(word, 16); }

static uint64_t partner(const struct weir_array *a, uint64_t bucket, unsigned *print)
{
	const unsigned width = weir__cuckoo_width(a);
	const uint64_t word = weir__place_load_acquire(a->words + bucket);
	const unsigned place = word ? (unsigned)__builtin_ctzll(word) / width : 0;
	*print = weir__cuckoo_at(word, place * width, width);
	return weir__cuckoo_other(a, bucket, *print);
}

bool weir__cuckoo_law(const struct weir_filter *f, struct weir_law *out)
{
	const unsigned width = weir__cuckoo_width(&f->array);
	*out = (struct weir_law){ .blocks = 8 * f->array.lines, .words = 1, .word_bits = 64,
		                  .cells = weir__cuckoo_places(width), .z = 1, .g = 1,
		                  .partner = partner, .print_bits = width,
		                  .used = width == 12 ? differing_12 : differing_16 };
	return true;
}

/* Insert each copy of a bucket into the same two buckets of f. The caller holds the source. So
 * this function must not wait for a walk over the destination, since the thread of that walk may
 * itself wait for the source. */
static int merge_bucket(const struct weir_filter *f, uint64_t word, uint64_t bucket,
                        uint64_t *copies)
{
	const enum weir_cuckoo_put how = f->flags & WEIR_ONCE ? WEIR_CUCKOO_ABSENT :
	                                                        WEIR_CUCKOO_ALWAYS;
	const struct weir_array *dst = &f->array;
	unsigned width = weir__cuckoo_width(dst);
	for (unsigned place = 0; place < weir__cuckoo_places(width); place++) {
		unsigned copy = weir__cuckoo_at(word, place * width, width);
		int answer = copy ? weir__cuckoo_put(dst, (struct weir_cuckoo_spot){ bucket, copy },
		                                     how, WEIR_CUCKOO_EAGAIN) : 0;
		if (answer < 0)
			return answer;
		*copies += copy != 0;
	}
	return 0;
}

int weir__cuckoo_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                       uint64_t n)
{
	uint64_t copies = 0;
	int err = 0;
	if (dst == src) /* dst already has everything */
		return 0;
	for (uint64_t i = 8 * first; !err && i < 8 * (first + n); i++)
		err = merge_bucket(dst, weir__place_load_acquire(src->array.words + i), i, &copies);
	return err ? (int)weir__stopped(copies, err) : 0;
}

static void take_back_bucket(const struct weir_array *dst, uint64_t word, uint64_t bucket,
                             uint64_t *copies)
{
	unsigned width = weir__cuckoo_width(dst);
	for (unsigned place = 0; *copies && place < weir__cuckoo_places(width); place++) {
		unsigned copy = weir__cuckoo_at(word, place * width, width);
		if (!copy)
			continue;
		(void)weir__cuckoo_take_out(dst, (struct weir_cuckoo_spot){ bucket, copy });
		--*copies;
	}
}

/* Remove the copies that a failed merge added. Any one of several equal copies may be removed. The
 * source is not held, so the call may wait for a walk over the destination. */
void weir__cuckoo_take_back(struct weir_filter *dst, const struct weir_filter *src, uint64_t copies)
{
	for (uint64_t i = 0; copies; i++)
		take_back_bucket(&dst->array, weir__place_load_acquire(src->array.words + i), i,
		                 &copies);
}

void weir__cuckoo_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out)
{
	const uint64_t *from = f->array.words + 8 * first;
	for (uint64_t i = 0; i < 8 * n; i++)
		out[i] = WEIR__LE64(weir__place_load_acquire(from + i));
}
