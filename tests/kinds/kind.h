/* SPDX-License-Identifier: MIT
 * The tests' facts about each kind. The file tests/kinds/NAME.c of each kind defines its
 * test_kind_NAME. A test skips a kind whose table for the test is empty. Tests ask the library, not
 * these tables, what the filters of a kind can do. */
#ifndef WEIR_TESTS_KIND_H
#define WEIR_TESTS_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>
#include "can.h"
#include "reference.h"

/* The initialiser of a table: the rows and their number. */
#define TEST_ROWS(rows) { rows, sizeof(rows) / sizeof((rows)[0]) }

/* A complete shape, for conformance/ and unit/test_kinds.c. */
struct test_shape {
	struct weir_shape shape;
	bool main; /* long tests run only on shapes where this field is true */
	bool bulk; /* stress/test_bulk.c loads this shape, whose filters have several parts */
	bool one_new; /* if several threads insert a new key, exactly one gets WEIR_NEW */
};

/* Parameters for stress/, property/ and unit/. The library chooses each number that is 0. */
struct test_layout {
	const char *name;
	struct weir_params ask; /* only the shape's numbers; the test sets other parameters */
	bool one_new;         /* as in struct test_shape */
	/* the number of keys for which the array has more than 2^32 bits; 0: no such test */
	uint64_t huge_keys;
};

/* A filter for schedule/, so small that two keys share a word. */
struct test_subject {
	const char *name;
	/* the shape's numbers; if capacity is 0, the filter has a capacity of bytes / 2 keys */
	struct weir_params ask;
	uint64_t bytes;
	bool one_new;         /* as in struct test_shape */
	bool handles;           /* the scenarios of handles and sharded sets use this filter */
};

/* A filter whose image is pinned in golden/. */
struct test_golden {
	/* The file's name. A word in the name changes the image. "zstd": the image is compressed.
	 * "keyed": it has format 2, the key of SipHash's reference vectors, and the marks that
	 * allow an overfull or a shrunken set. "normal": it has format 2 and normalisation.
	 * "excluded": its exclude list has eight times as many keys as the set. */
	const char *name;
	struct weir_shape shape;
	uint64_t capacity, keys;
	uint64_t false_positives; /* among 20000 absent keys */
	uint64_t sum;             /* XXH3-64 of the plain image */
};

struct test_kind {
	uint32_t id;    /* enum weir_kind_id */
	bool every_isa; /* the kind has a kernel for each instruction set */
	bool commutes;  /* the order of inserts does not change the array */
	bool grows;     /* a filter above its capacity differs from the reference */
	bool copies;    /* each insert stores a copy, so inserts of one key can fill a filter */
	bool coarse;    /* rates come in steps, so a filter may be much better than asked */
	bool sized;     /* parameters choose only the first number of a shape; the size determines
	                   the others */
	unsigned blocks_a_line; /* number of blocks in a line; 0: weir_fold() joins whole lines */
	bool unasked;   /* the size determines all numbers of a shape */

	struct reference_kind reference;
	/* the size of filters that are compared with the reference, in bits a key; 0: 12 bits */
	unsigned bits_per_key;
	/* The number of lines of a filter is a multiple of this number. NULL: any number. */
	unsigned (*block_lines)(const struct weir_shape *shape);
	struct { const struct test_shape *rows; size_t n; } shapes;
	struct { const struct test_layout *rows; size_t n; } layouts;
	/* Further layouts for property/rate.c: those that derive the most bits from a hash. */
	struct { const struct test_layout *rows; size_t n; } extremes;
	struct { const struct test_subject *rows; size_t n; } subjects;
	struct { const struct test_golden *rows; size_t n; } goldens;
};

#define TEST_KIND_DECLARE(number, constant, name, summary) \
	extern const struct test_kind test_kind_##name;
WEIR_KINDS(TEST_KIND_DECLARE)
#undef TEST_KIND_DECLARE

/* All kinds, in the order of WEIR_KINDS. */
extern const struct test_kind *const test_kind_list[];
extern const size_t test_kind_count;
#define FOR_EACH_KIND(kind) \
	for (const struct test_kind *const *at_##kind = test_kind_list, *kind; \
	     at_##kind < test_kind_list + test_kind_count && (kind = *at_##kind) != NULL; \
	     at_##kind++)

const struct test_kind *test_kind_of(uint32_t id);

/* Return: parameters for a filter of @kind, with the numbers of @ask. */
struct weir_params test_params(const struct test_kind *kind, const struct weir_params *ask);

#endif
