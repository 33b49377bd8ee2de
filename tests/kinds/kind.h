/* SPDX-License-Identifier: MIT
 * The facts that the tests need about a kind. Each kind has a file, tests/kinds/NAME.c, with a
 * test_kind_NAME. An empty member means that the kind lacks the feature, and tests that need it
 * skip the kind. Tests ask the library what a kind's filters can do. */
#ifndef WEIR_TESTS_KIND_H
#define WEIR_TESTS_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>
#include "can.h"
#include "reference.h"

/* Initialise a list: { its rows, their number }. */
#define TEST_ROWS(rows) { rows, sizeof(rows) / sizeof((rows)[0]) }

/* conformance/, unit/test_kinds.c: a complete shape. */
struct test_shape {
	struct weir_shape shape;
	bool main; /* the long tests take it */
	bool bulk; /* stress/test_bulk.c takes it: made of bits, with a kernel that loads (L1) */
	bool one_new; /* exactly one of several inserts of a new key is answered WEIR_NEW */
};

/* stress/, property/, unit/: the numbers to ask for; the library chooses the rest. */
struct test_layout {
	const char *name;
	struct weir_params ask; /* the numbers of the shape; the test sets everything else */
	bool one_new;         /* as above */
	uint64_t huge_keys;     /* for an array of more than 2^32 bits; 0: skip such arrays */
};

/* schedule/: a filter so small that two keys share a word. */
struct test_subject {
	const char *name;
	struct weir_params ask; /* as above; capacity 0: half as many keys as bytes */
	uint64_t bytes;
	bool one_new;         /* as above */
	bool handles;           /* the scenarios of handles and sharded sets run on it */
};

/* golden/: a pinned filter. */
struct test_golden {
	const char *name; /* of its file. With "zstd" in it: packed. With "keyed": format 2, with
	                     the key of SipHash's reference vectors and every mark. With "normal":
	                     format 2, with steps of normalisation. With "excluded": with an
	                     exclude list of eight times as many keys */
	struct weir_shape shape;
	uint64_t capacity, keys;
	uint64_t false_positives; /* among 20000 keys that are not in it */
	uint64_t sum;             /* XXH3-64 of the plain image */
};

struct test_kind {
	uint32_t id;    /* enum weir_kind_id */
	bool every_isa; /* it has kernels of its own for each instruction set */
	bool commutes;  /* the order of inserts does not change the array */
	bool grows;     /* beyond its capacity its arrays differ from the reference's */
	bool copies;    /* each insert keeps a copy, so copies of one key can fill it */
	bool coarse;    /* its rates come in steps: a filter may be much better than asked */
	bool sized;     /* only the first number of its shapes is chosen; the others follow from
	                   the size */
	unsigned blocks_a_line; /* if a fold joins blocks; 0: it joins lines */
	bool unasked;   /* all numbers of its shapes follow from the size */

	struct reference_kind reference;
	unsigned bits_per_key; /* of the filters compared with the reference; 0: 12 */
	/* Sizes are multiples of this many lines; NULL: of one. */
	unsigned (*block_lines)(const struct weir_shape *shape);
	struct { const struct test_shape *rows; size_t n; } shapes;
	struct { const struct test_layout *rows; size_t n; } layouts;
	/* More for property/rate.c: the layouts with the longest derivation of a key's bits. */
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

/* Parameters that ask for a kind with the numbers of a row. */
struct weir_params test_params(const struct test_kind *kind, const struct weir_params *ask);

#endif
