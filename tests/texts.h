/* SPDX-License-Identifier: MIT
 * Steps given to a filter that holds raw keys already, as images of before have them: no public
 * call does that. */
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
