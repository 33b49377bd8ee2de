/* SPDX-License-Identifier: MIT
 * Options that set the numbers of a kind's shape, for weir build and partly for weir plan. */
#ifndef WEIR_TOOL_SHAPE_H
#define WEIR_TOOL_SHAPE_H

#include <stdbool.h>
#include <weir/weir.h>

/* Values of long options. Each command's own begin at 256. */
enum { SHAPE_COUNTER_BITS = 768, SHAPE_COUNTERS_PER_WORD, SHAPE_FINGERPRINT_BITS, SHAPE_MAX_KEYS,
       SHAPE_PROBES, SHAPE_EXCLUDE_KEYS };

/* A command that also takes -k, -z, -g and --probes adds their rows: { "kind", ..., 'k' },
 * { "words", ..., 'z' }, { "bits", ..., 'g' }. */
#define SHAPE_OPTIONS \
	{ "counter-bits", required_argument, NULL, SHAPE_COUNTER_BITS }, \
	{ "counters-per-word", required_argument, NULL, SHAPE_COUNTERS_PER_WORD }, \
	{ "fingerprint-bits", required_argument, NULL, SHAPE_FINGERPRINT_BITS }, \
	{ "max-keys", required_argument, NULL, SHAPE_MAX_KEYS }, \
	{ "exclude-keys", required_argument, NULL, SHAPE_EXCLUDE_KEYS }

/* Takes one of them, or 'k', 'z', 'g', SHAPE_PROBES. Its argument is optarg. Return: 1 taken, 0
 * wrong (reported), -1 not such an option. */
int shape_option(int option, struct weir_params *params);

/* Does the kind have all numbers that were asked for? Prints a message if not. weir_plan_make()
 * would also refuse them, but without the names of options, and perhaps after a pass that counts
 * keys. */
bool shape_fits(const struct weir_params *params);
/* Takes over the width of counters of an image's shape, unless an option gives one. */
void shape_keep_counters(struct weir_params *params, const struct weir_shape *is);
/* The kinds with an ability, as "counting or cuckoo". */
const char *shape_kinds(enum weir_ability ability);
/* Clears the groups of other kinds. Until then each number stands in every group that has a field
 * of its name. Return: the numbers that are left, without exclude_keys. */
unsigned shape_own(struct weir_params *params);
/* Return: the number of that name, such as "counter_bits", in any group; 0: not asked for. */
uint64_t shape_asked(const struct weir_params *params, const char *name);
/* Does @wanted ask for a number that differs in @is, or that the kind of @is lacks? */
bool shape_differs(const struct weir_params *wanted, const struct weir_params *is);
/* Takes over the kind and the shape of @is, and WEIR_ONCE if it has that. */
void shape_as(struct weir_params *params, const struct weir_params *is);
/* Sets words_per_key of a kind with such a number, else does nothing. */
void shape_set_words(struct weir_params *params, uint32_t words);

/* weir_shape_field() names the numbers of a shape. shape_has() tells if a kind has a number of that
 * name; shape_number() returns it, or 0 if the kind lacks it. */
bool shape_has(uint32_t kind, const char *number);
uint32_t shape_number(const struct weir_shape *shape, const char *number);

#endif
