/* SPDX-License-Identifier: MIT
 * Refuses to save a set that is probably a mistake: too full, too small, or empty. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/fill.h"

struct guard {
	bool allow_overfull, allow_shrink, allow_empty; /* the options of these names */
	const char *option; /* the one that makes more room: "-n" */
	bool memory_given; /* -m is given, and the advice is to omit it */
	uint64_t keys; /* all that were put in, with duplicates; 0: unknown */
	uint64_t most; /* upper bound, if the image had keys before; 0: unknown */
	uint64_t min_keys;  /* --min-keys: different keys; 0: not given */
	uint64_t different; /* different keys, if the builder counted them; else 0 */
	uint64_t max_memory; /* to unpack an old image, or to read one whose sample does not tell */
};

/* May a set of these figures be saved to @path? Refuses more keys than the capacity at more than
 * twice the rate asked, and under a tenth of the keys of an image at @path. Return: TOOL_OK, or
 * TOOL_NO after a message for each. */
int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* For input without a key: the list is empty by mistake, the program before weir failed, or every
 * line was skipped. @bad: lines skipped. @so: in the message, the effect of --allow-empty.
 * Return: TOOL_OK if it is allowed, or TOOL_NO after a message. */
int guard_empty(const struct guard *guard, const struct lines_options *from, uint64_t bad,
                const char *so);

/* Refuses fewer than min_keys different keys. An export that was cut short and still ended with
 * status 0 may leave over a tenth of the keys, which guard_ask() accepts. Only the user knows how
 * many keys to expect. Return: TOOL_OK, or TOOL_NO after a message. */
int guard_few(const struct guard *guard, const struct weir_stats *fresh,
              const struct lines_options *from, const char *path);

/* Like guard_empty(), for files without a key beside others with keys. */
int guard_keyless(const struct guard *guard, const struct keyless *keyless, const char *so);

/* Asks only whether the set is too full. */
int guard_overfull(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* For a filter that has refused a key for lack of room. Reads files again to count their keys.
 * @fill: the pass that added keys, with its findings.
 * Return: TOOL_NO after a message that says how to make room; TOOL_TROUBLE after another. */
int guard_full(const struct weir_filter *f, const struct fill *fill, const char *path,
               const struct guard *guard);

/* Return: for an overfull set, the option that makes room, "; -n 2010 has room for them", or "" if
 * the bits do not tell. */
const char *guard_advice(const struct guard *guard, const struct weir_stats *stats);

/* The marks by which the image tells its followers what was allowed. */
uint32_t guard_marks(const struct guard *guard);

#endif
