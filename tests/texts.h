/* SPDX-License-Identifier: MIT
 * Gives normalisation to a filter that already contains raw keys, as filters from older images do.
 * No public call can do that. */
#ifndef WEIR_TESTS_TEXTS_H
#define WEIR_TESTS_TEXTS_H

#include "filter/filter.h"

static inline void test_text_set(struct weir_filter *f, const struct weir_text *text)
{
	f->verbs = f->raw;
	f->text = *text;
	weir__text_wrap(f);
}

#endif
