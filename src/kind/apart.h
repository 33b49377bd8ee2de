/* SPDX-License-Identifier: MIT
 * The rule that nothing else can check: of a kind that removes keys no insert or removal may run
 * while the filter is saved, copied, merged or folded (filter.h), since the copy could have a key
 * by halves, and removing it there would take another's share. A debug build stops the program that
 * breaks it; others do nothing. A handle's reload and refresh are not asked: what they carry beside
 * live inserts is too much at worst. */
#ifndef WEIR_SRC_KIND_APART_H
#define WEIR_SRC_KIND_APART_H

#include "kind/kind.h"

#if defined WEIR_DEBUG && !defined WEIR_DET
/* @verb: for the sentence, such as "weir_clone". */
void weir__change_begin(struct weir_filter *f);
void weir__change_end(struct weir_filter *f);
void weir__whole_begin(const struct weir_filter *f, const char *verb);
void weir__whole_end(const struct weir_filter *f);
/* Put verbs that ask in the place of the filter's inserts. */
void weir__apart_wrap(struct weir_filter *f);
#else
static inline void weir__change_begin(struct weir_filter *f)
{
	(void)f;
}
static inline void weir__change_end(struct weir_filter *f)
{
	(void)f;
}
static inline void weir__whole_begin(const struct weir_filter *f, const char *verb)
{
	(void)f, (void)verb;
}
static inline void weir__whole_end(const struct weir_filter *f)
{
	(void)f;
}
static inline void weir__apart_wrap(struct weir_filter *f)
{
	(void)f;
}
#endif

#endif
