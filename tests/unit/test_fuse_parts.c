/* SPDX-License-Identifier: MIT
 * Fuse structures of several parts with a few keys each, built from one list of keys or two lists.
 * Some parts have no key of one list, or no key at all. The planner never plans parts so small. */
#include <stdlib.h>
#include "../test.h"
#include "kinds/common/fuse_build.h"
#include "kinds/common/fuse_kernel.h"
#include "filter/filter.h"

enum { PART_BITS = 2, PARTS = 1 << PART_BITS, SEED = 9 };

struct list {
	struct weir_key_set given; /* first, so that a pointer to given is a pointer to the list */
	const uint64_t *n; /* number of keys in each part */
	uint64_t from;     /* index of the list's first key */
	uint64_t built;
};

/* Return: a hash whose top bits are the number of the part. */
static uint64_t hash_of(const struct list *list, uint64_t part, uint64_t i)
{
	return part << (64 - PART_BITS) | test_key(list->from + 1000 * part + i) >> PART_BITS;
}

static uint64_t count(const struct weir_key_set *given, uint64_t part, unsigned part_bits)
{
	assert_int_equal(part_bits, PART_BITS);
	return ((const struct list *)(const void *)given)->n[part];
}

static int read_part(const struct weir_key_set *given, uint64_t part, unsigned part_bits,
                     uint64_t *out)
{
	const struct list *list = (const void *)given;
	for (uint64_t i = 0; i < count(given, part, part_bits); i++)
		out[i] = hash_of(list, part, i);
	return 0;
}

static int note_built(const struct weir_key_set *given, uint64_t keys)
{
	((struct list *)(void *)(uintptr_t)given)->built += keys;
	return 0;
}

static struct list list_of(const uint64_t *n, uint64_t from)
{
	return (struct list){ .given = { .threads = 1, .count = count, .read = read_part,
		                         .built = note_built },
		              .n = n, .from = from };
}

static uint64_t sum(const uint64_t *n)
{
	return n[0] + n[1] + n[2] + n[3];
}

static uint64_t found_in(const struct weir_fuse_level *level, const struct list *list)
{
	uint64_t found = 0;
	for (uint64_t part = 0; part < PARTS; part++)
		for (uint64_t i = 0; i < list->n[part]; i++)
			found += weir__fuse_look(level, hash_of(list, part, i));
	return found;
}

/* Build a structure from one list or two lists, and look up all keys. */
static void build(unsigned width, const uint64_t *n, const uint64_t *m)
{
	const struct weir_fuse part = weir__fuse_shaped(width, 4, 24, PART_BITS);
	const uint64_t lines = weir__fuse_lines(&part);
	uint64_t *words = aligned_alloc(64, PARTS * lines * 64);
	struct list keys = list_of(n, 0), others = list_of(m ? m : n, 5000);
	const struct weir_fuse_job job = { .words = words, .part_lines = lines, .part = part,
		                           .hash_seed = SEED, .keys = &keys.given,
		                           .others = m ? &others.given : NULL };
	const struct weir_fuse_level level = { .part = part, .words = words,
		                               .part_words = 8 * lines, .second = m != NULL };
	assert_non_null(words);
	memset(words, 0, PARTS * lines * 64);
	assert_ok(weir__fuse_build(&job));
	assert_int_equal(keys.built, sum(n) + (m ? sum(m) : 0));
	assert_int_equal(found_in(&level, &keys), sum(n));
	if (m)
		assert_int_equal(found_in(&level, &others), 0);
	free(words);
}

static void parts_without_keys_can_be_built(void **state)
{
	static const uint64_t n[] = { 60, 0, 90, 0 }, m[] = { 70, 110, 0, 0 };
	static const uint64_t all[] = { 100, 100, 100, 100 }, last[] = { 0, 0, 0, 120 };
	(void)state;
	build(8, n, NULL);
	build(13, last, NULL);
	build(1, n, m);
	build(1, m, n);
	build(1, all, last);
	build(1, last, all);
}

static void a_part_with_too_many_keys_fails_before_it_is_read(void **state)
{
	const struct weir_fuse part = weir__fuse_shaped(8, 4, 24, PART_BITS);
	const uint64_t n[] = { 10, 10, part.cells + 1, 10 };
	struct list keys = list_of(n, 0);
	const struct weir_fuse_job job = { .part_lines = weir__fuse_lines(&part), .part = part,
		                           .hash_seed = SEED, .keys = &keys.given };
	(void)state;
	assert_refused(weir__fuse_build(&job), -EAGAIN, "part 2 of 4", "look up by those too");
	assert_int_equal(keys.built, 0);
}

/* An image is valid only if all parts have the same number of lines, and enough lines. */
static void an_image_needs_the_lines_of_whole_parts(void **state)
{
	struct weir_shape shape = { WEIR_FUSE, .field = { 8, 4, 24, PART_BITS } };
	const struct weir_fuse part = weir__fuse_of(&shape);
	const uint64_t lines = PARTS * weir__fuse_lines(&part);
	(void)state;
	for (uint64_t more = 0; more < 2 * PARTS; more++)
		assert_int_equal(weir__shape_legal(&weir__kind_fuse, &shape, lines + more),
		                 more % PARTS == 0);
	assert_false(weir__shape_legal(&weir__kind_fuse, &shape, lines - PARTS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_without_keys_can_be_built),
		cmocka_unit_test(a_part_with_too_many_keys_fails_before_it_is_read),
		cmocka_unit_test(an_image_needs_the_lines_of_whole_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
