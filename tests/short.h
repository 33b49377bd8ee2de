/* SPDX-License-Identifier: MIT
 * Limits of a run: fewer sizes under tests/run.sh --ci, and other limits of memory and time in a
 * sanitized program. */
#ifndef WEIR_TESTS_SHORT_H
#define WEIR_TESTS_SHORT_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_is_short(void)
{
	const char *is = getenv("WEIR_TEST_SHORT");
	return is && *is;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#define TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	                __has_feature(memory_sanitizer))
#else
#define TEST_SANITIZED 0
#endif

#endif
