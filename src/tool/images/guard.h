/* SPDX-License-Identifier: MIT
 * Refuses to save a set that is probably a mistake: too full, too small, or empty. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/fill.h"

struct guard {
	bool allow_overfull, allow_shrink, allow_empty; /* the options of the same names */
	const char *option; /* the option that raises the capacity, such as "-n" */
	bool memory_given; /* -m is given, so the advice says to omit -m */
	uint64_t keys; /* number of keys inserted, duplicates included; 0: unknown */
	uint64_t most; /* upper bound on the keys in the set after weir add; 0: unknown */
	uint64_t min_keys;  /* --min-keys, a number of different keys; 0: not given */
	uint64_t different; /* number of different keys, if the builder counted them; else 0 */
	uint64_t max_memory; /* limit in bytes on an old image that is unpacked or read whole */
};

/* Checks a new set before it is saved to @path. Refuses a set that has more keys than its capacity
 * and whose rate exceeds twice the asked rate. Also refuses a set with under a tenth of the keys of
 * an image at @path. Return: TOOL_OK, or TOOL_NO after a message for each fault. */
int guard_check(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* Refuses input without keys, unless --allow-empty is given. The list may be empty by mistake, the
 * program that wrote it may have failed, or every line was skipped. @bad: number of skipped lines.
 * @so: the effect of --allow-empty, for the message. Return: TOOL_OK, or TOOL_NO after a
 * message. */
int guard_empty(const struct guard *guard, const struct lines_options *from, uint64_t bad,
                const char *so);

/* Refuses fewer than min_keys different keys. An export that was cut short and still ended with
 * status 0 may leave over a tenth of the keys, which guard_check() accepts. Only the user knows how
 * many keys to expect. Return: TOOL_OK, or TOOL_NO after a message. */
int guard_few(const struct guard *guard, const struct weir_stats *fresh,
              const struct lines_options *from, const char *path);

/* Refuses the input if one of its files has no keys, although other files have keys, unless
 * --allow-empty is given. @so: as in guard_empty(). Return: TOOL_OK, or TOOL_NO after a message. */
int guard_keyless(const struct guard *guard, const struct keyless *keyless, const char *so);

/* Refuses a set that is too full, like guard_check(), but does not compare it with an old image. */
int guard_overfull(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* Reports that a filter has refused a key, and how to raise the capacity. Reads files again to
 * count their keys. @fill: the pass that added keys, with its findings. Return: TOOL_NO after this
 * report, or TOOL_TROUBLE after the message of another error. */
int guard_full(const struct weir_filter *f, const struct fill *fill, const char *path,
               const struct guard *guard);

/* Return: advice for an overfull set, such as "; -n 2010 has room for them", or "" if the bits do
 * not show how many keys there are. */
const char *guard_advice(const struct guard *guard, const struct weir_stats *stats);

/* Return: the marks that tell followers of the image which checks the user disabled. */
uint32_t guard_marks(const struct guard *guard);

#endif
