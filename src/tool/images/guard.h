/* SPDX-License-Identifier: MIT
 * Refuses to save a set that is hardly meant: too full, too small, or empty. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/fill.h"

struct guard {
	bool allow_overfull, allow_shrink, allow_empty; /* the options of those names */
	const char *option; /* that makes more room: "-n" */
	bool memory_given; /* -m, which is to go then */
	uint64_t keys; /* all that were put in, whether or not they differ; 0: not known */
	uint64_t most; /* how many there may be, where keys were there before; 0: not known */
	uint64_t min_keys;  /* --min-keys, different ones; 0: not given */
	uint64_t different; /* how many differ, if the builder counted them; else 0 */
	uint64_t max_memory; /* to unpack an old image, or to read one whose sample does not tell */
};

/* Whether a set of these figures may be saved to @path: refused are more keys than its capacity at
 * a rate above twice the one asked, and under a tenth of the keys that an image which stands there
 * has. Return: TOOL_OK, or TOOL_NO after a message on each of the two that is so. */
int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* The input has no key: a list is empty by a slip, a filter before it failed, or every line was
 * passed over, @bad in all. @so: what follows, behind the option that allows it.
 * Return: TOOL_OK if it is allowed, or TOOL_NO after a message. */
int guard_empty(const struct guard *guard, const struct lines_options *from, uint64_t bad,
                const char *so);

/* An export that was cut short and still ended with status 0 leaves over a tenth of the keys, which
 * guard_ask() lets pass. Only the person who wrote the job knows how many keys are expected.
 * Return: TOOL_OK with at least min_keys different keys, or TOOL_NO after a message. */
int guard_few(const struct guard *guard, const struct weir_stats *fresh,
              const struct lines_options *from, const char *path);

/* The same where some of the files have no key, and others do. */
int guard_keyless(const struct guard *guard, const struct keyless *keyless, const char *so);

/* Asks only whether the set is too full. */
int guard_overfull(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* The filter has refused a key for lack of room. Files are read again to count their keys.
 * @fill: of the pass that added to it, with what that found.
 * Return: TOOL_NO after a sentence that says what makes room. */
int guard_full(const struct weir_filter *f, const struct fill *fill, const char *path,
               const struct guard *guard);

/* For a set of more keys than it has room for: the option that makes it, "; -n 2010 has room for
 * them", or "" if the bits do not tell. */
const char *guard_advice(const struct guard *guard, const struct weir_stats *stats);

/* The marks by which the image tells its followers what was allowed. */
uint32_t guard_marks(const struct guard *guard);

#endif
