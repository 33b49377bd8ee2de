/* SPDX-License-Identifier: MIT
 * Helpers for all tests: cmocka with the headers that it needs, numbers and keys that are the same
 * in every run, a temporary folder, and asserts that show weir's own error text. */
#ifndef WEIR_TESTS_TEST_H
#define WEIR_TESTS_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ftw.h>
#include <cmocka.h>
#include <weir/weir.h>
#include "short.h"
#include "kinds/can.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* splitmix64 (Steele, Lea, Flood 2014) of a counter. It is a bijection, so different i give
 * different keys. */
static inline uint64_t test_key(uint64_t i)
{
	uint64_t x = i * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static inline uint64_t test_random(uint64_t *state)
{
	return test_key((*state)++);
}

/* Fail with weir's error text, not only with a number, if the call returns an error. */
#define assert_ok(call) test_assert_ok((call), #call, __FILE__, __LINE__)
static inline void test_assert_ok(int64_t answer, const char *call, const char *file, int line)
{
	if (answer >= 0)
		return;
	print_error("%s: %s: %s\n", call, weir_error_name((int)answer), weir_error_detail());
	_fail(file, line);
}

/* @bytes: the answer of a call that returns the number of written bytes or an error. Return: 0 if
 * bytes were written, -EIO if the call wrote no byte, otherwise the error. */
static inline int test_done(int64_t bytes)
{
	return bytes < 0 ? (int)bytes : bytes == 0 ? -EIO : 0;
}

/* Check that the call answers @err, and that its error text contains @a and @b, mostly the
 * parameter and its value. @call: a call, which must write its own error text, or a variable with
 * the answer of an earlier call, whose error text is then checked. */
#define assert_refused(call, err, a, b) \
	(strchr(#call, '(') ? (void)weir_fail(-EIO, "no sentence of this call") : (void)0, \
	 test_assert_refused((call), (err), (a), (b), #call, __FILE__, __LINE__))
static inline void test_assert_refused(int64_t answer, int err, const char *a, const char *b,
                                       const char *call, const char *file, int line)
{
	const char *sentence = weir_error_detail();
	if (answer == err && strstr(sentence, a) && strstr(sentence, b))
		return;
	print_error("%s: answered %lld (%s), \"%s\"; wanted %s with \"%s\" and \"%s\"\n", call,
	            (long long)answer, weir_error_name((int)answer), sentence, weir_error_name(err),
	            a, b);
	_fail(file, line);
}

/* Return: a filter with a fixed seed, so that failures repeat. */
static inline struct weir_filter *test_filter_as(uint32_t kind, uint64_t capacity,
                                                 double fp_rate, bool bound)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = kind;
	params.capacity = capacity;
	params.fp_rate = fp_rate;
	params.seed = test_seed(kind, 42);
	if (bound)
		test_bound(&params);
	assert_ok(weir_create(&f, &params));
	assert_non_null(f);
	return f;
}

static inline struct weir_filter *test_filter(uint32_t kind, uint64_t capacity, double fp_rate)
{
	return test_filter_as(kind, capacity, fp_rate, false);
}

/* Return: a filter that is full at its capacity, even if its kind can grow. */
static inline struct weir_filter *test_bound_filter(uint32_t kind, uint64_t capacity,
                                                    double fp_rate)
{
	return test_filter_as(kind, capacity, fp_rate, true);
}

/* Return: a builder with the fixed seed of test_filter(). */
static inline struct weir_builder *test_builder(uint32_t kind, double fp_rate)
{
	struct weir_builder_options options = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_builder *b = NULL;
	params.kind = kind;
	params.fp_rate = fp_rate;
	params.seed = test_seed(kind, 42);
	assert_ok(weir_builder_create(&b, &params, &options));
	return b;
}

/* All kinds. */
#define TEST_KIND(number, constant, name, summary) number,
static const uint32_t test_kinds[] __attribute__((unused)) = { WEIR_KINDS(TEST_KIND) };
#undef TEST_KIND

/* Return: the value of the shape's field @name, or 0 if the kind has no such field. */
static inline uint32_t test_number(const struct weir_shape *shape, const char *name)
{
	const char *field;
	for (unsigned i = 0; (field = weir_shape_field(shape->kind, i)) != NULL; i++)
		if (strcmp(field, name) == 0)
			return shape->field[i];
	return 0;
}

static inline void test_assert_same_shape(const struct weir_shape *a, const struct weir_shape *b)
{
	assert_memory_equal(a, b, sizeof *a);
}

/* Return: a new folder under TMPDIR. The caller gives it to test_folder_remove(). */
static inline char *test_folder(void)
{
	const char *root = getenv("TMPDIR");
	char *path = NULL;
	if (asprintf(&path, "%s/weir-test-XXXXXX", root && *root ? root : "/tmp") < 0 ||
	    !mkdtemp(path))
		fail_msg("no temporary folder");
	return path;
}

static inline int test_folder_entry(const char *path, const struct stat *st, int type,
                                    struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void test_folder_remove(char *path)
{
	(void)nftw(path, test_folder_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(path);
}

#endif
