/* SPDX-License-Identifier: MIT
 * What is done to keys, as other files of the library need it. */
#ifndef WEIR_SRC_NORMALISE_NORMALISE_H
#define WEIR_SRC_NORMALISE_NORMALISE_H

#include <weir/normalise.h>

#define WEIR__NORMAL_STEPS \
	(WEIR_NORMAL_TRIM | WEIR_NORMAL_LOWERCASE | WEIR_NORMAL_CIDR | WEIR_NORMAL_SUFFIXES)
#define WEIR__NORMAL_EITHER (WEIR_NORMAL_CIDR | WEIR_NORMAL_SUFFIXES)
#define WEIR__IPV4_LENGTHS ((UINT64_C(1) << 33) - 1)

/* Whether @a has all that @b has, and the same steps. */
bool weir__normal_covers(const struct weir_normal *a, const struct weir_normal *b);

enum { WEIR__NORMAL_TEXT = 64 };
/* The steps in words: "trim, lowercase", or "none". Return: @text. */
const char *weir__normal_text(const struct weir_normal *n, char text[WEIR__NORMAL_TEXT]);

#endif
