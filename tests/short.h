/* SPDX-License-Identifier: MIT
 * Is this run to ask the same of fewer sizes? tests/run.sh --ci is. */
#ifndef WEIR_TESTS_SHORT_H
#define WEIR_TESTS_SHORT_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_is_short(void)
{
	const char *is = getenv("WEIR_TEST_SHORT");
	return is && *is;
}

#endif
