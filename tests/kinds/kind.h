/* SPDX-License-Identifier: MIT
 * What the tests must know of a kind: one file a kind, tests/kinds/NAME.c, that defines
 * test_kind_NAME. A member that stays empty says that the kind has nothing of the sort, and the
 * tests that need it pass the kind by. What a kind's filters can do is asked of the library. */
#ifndef WEIR_TESTS_KIND_H
#define WEIR_TESTS_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>
#include "can.h"
#include "reference.h"

/* A list in a struct: { its rows, how many }. */
#define TEST_ROWS(rows) { rows, sizeof(rows) / sizeof((rows)[0]) }

/* conformance/, unit/test_kinds.c: a shape, whole. */
struct test_shape {
	struct weir_shape shape;
	bool main; /* one of those that the long tests take */
	bool bulk; /* stress/test_bulk.c takes it: the kind is bits, and its kernel loads (L1) */
	bool one_new; /* of the inserts of a new key exactly one is answered WEIR_NEW */
};

/* stress/, property/, unit/: what is asked for, the rest is chosen. */
struct test_layout {
	const char *name;
	struct weir_params ask; /* the numbers of the shape; everything else in it is the test's */
	bool one_new;         /* as above */
	uint64_t huge_keys;     /* into an array of more than 2^32 bits; 0: not this one */
};

/* schedule/: a filter so small that two keys meet in it. */
struct test_subject {
	const char *name;
	struct weir_params ask; /* as above; capacity 0: half as many keys as bytes */
	uint64_t bytes;
	bool one_new;         /* as above */
	bool handles;           /* the scenarios of handles and sharded sets run on it */
};

/* golden/: a filter for ever. */
struct test_golden {
	const char *name; /* of its file; with "zstd" in it, packed; with "keyed", of format 2: by
	                     the key of SipHash's reference vectors, and with every mark; with
	                     "normal", of format 2: with what is done to keys; with "excluded",
	                     of an exclude list too, of eight times as many keys */
	struct weir_shape shape;
	uint64_t capacity, keys;
	uint64_t false_positives; /* among 20000 keys that are not in it */
	uint64_t sum;             /* XXH3-64 of the plain image */
};

struct test_kind {
	uint32_t id;    /* enum weir_kind_id */
	bool every_isa; /* it has kernels of its own for each instruction set */
	bool commutes;  /* in whatever order keys are inserted, the array is the same */
	bool grows;     /* beyond its capacity it has other arrays than the reference's */
	bool copies;    /* each insert keeps a copy: it is full of copies of one key as well */
	bool coarse;    /* its rates come in steps: a filter may be much better than asked */
	bool sized;     /* of the numbers of its shapes the first is chosen, the others follow
	                   from the size */
	unsigned blocks_a_line; /* that it folds; 0: lines */
	bool unasked;   /* all of them follow from it */

	struct reference_kind reference;
	unsigned bits_per_key; /* of the filters that are compared with the reference; 0: 12 */
	/* Lines that only come together, so that sizes are multiples of them; NULL: one. */
	unsigned (*block_lines)(const struct weir_shape *shape);
	struct { const struct test_shape *rows; size_t n; } shapes;
	struct { const struct test_layout *rows; size_t n; } layouts;
	/* More for property/rate.c: where the derivation of a key's bits runs longest. */
	struct { const struct test_layout *rows; size_t n; } extremes;
	struct { const struct test_subject *rows; size_t n; } subjects;
	struct { const struct test_golden *rows; size_t n; } goldens;
};

#define TEST_KIND_DECLARE(number, constant, name, summary) \
	extern const struct test_kind test_kind_##name;
WEIR_KINDS(TEST_KIND_DECLARE)
#undef TEST_KIND_DECLARE

/* Every kind there is, in the list's order. */
extern const struct test_kind *const test_kind_list[];
extern const size_t test_kind_count;
#define FOR_EACH_KIND(kind) \
	for (const struct test_kind *const *at_##kind = test_kind_list, *kind; \
	     at_##kind < test_kind_list + test_kind_count && (kind = *at_##kind) != NULL; \
	     at_##kind++)

const struct test_kind *test_kind_of(uint32_t id);

/* Parameters that ask for a kind and the numbers of a row. */
struct weir_params test_params(const struct test_kind *kind, const struct weir_params *ask);

#endif
