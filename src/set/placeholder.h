/* SPDX-License-Identifier: MIT
 * A handle before its first set: a placeholder that answers every lookup alike, and what is
 * inserted meanwhile. H10 in generation.h. */
#ifndef WEIR_SRC_ABSENT_H
#define WEIR_SRC_ABSENT_H

#include <weir/handle.h>
#include "ground/atomic.h"
#include "set/keys.h"

struct weir_kept; /* a key that was inserted */

struct weir_absence {
	int answer;     /* to an insert: what a lookup is answered, so WEIR_SEEN for yes */
	uint64_t limit; /* bytes of those kept; 0: none are, and inserts are refused */
	atomic_uint_fast64_t taken;
	struct weir_kept *newest;
};

/* @options: complete.  @placeholder: receives the first filter of the handle, the caller's.
 * Return: 0; -EINVAL, -ENOMEM with the sentence. */
int weir__absence_make(struct weir_absence **out, struct weir_filter **placeholder,
                       const struct weir_handle_options *options);
/* By an inserter, in its section.
 * Return: @a->answer; -EAGAIN nothing is kept; -ENOBUFS there is no more room; -ENOMEM. */
int weir__absence_keep(struct weir_absence *a, const struct weir_given *key);
/* Let @next, which nobody else has yet, have the lengths of all texts that are kept.
 * Return: 0 or -ENOMEM. */
int weir__absence_note(struct weir_absence *a, struct weir_filter *next);
/* Insert all that was kept into @next; texts that are no keys there are passed over.
 * Return: 0, or the error of an insert; -EAGAIN a text's length is not noted in @next. */
int weir__absence_replay(struct weir_absence *a, struct weir_filter *next);
/* @a: may be NULL. */
void weir__absence_free(struct weir_absence *a);

#endif
