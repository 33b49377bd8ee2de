/* SPDX-License-Identifier: MIT
 * Options that set the numbers of a kind's shape, for weir build and partly for weir plan. */
#ifndef WEIR_TOOL_SHAPE_H
#define WEIR_TOOL_SHAPE_H

#include <stdbool.h>
#include <weir/weir.h>

/* Values of long options. They are larger than the values of each command's own options, which
 * begin at 256. */
enum { SHAPE_COUNTER_BITS = 768, SHAPE_COUNTERS_PER_WORD, SHAPE_FINGERPRINT_BITS, SHAPE_MAX_KEYS,
       SHAPE_PROBES, SHAPE_EXCLUDE_KEYS };

/* Commands with -k, -z, -g and --probes add the rows { "kind", ..., 'k' }, { "words", ..., 'z' }, {
 * "bits", ..., 'g' } and { "probes", ..., SHAPE_PROBES }. */
#define SHAPE_OPTIONS \
	{ "counter-bits", required_argument, NULL, SHAPE_COUNTER_BITS }, \
	{ "counters-per-word", required_argument, NULL, SHAPE_COUNTERS_PER_WORD }, \
	{ "fingerprint-bits", required_argument, NULL, SHAPE_FINGERPRINT_BITS }, \
	{ "max-keys", required_argument, NULL, SHAPE_MAX_KEYS }, \
	{ "exclude-keys", required_argument, NULL, SHAPE_EXCLUDE_KEYS }

/* Applies an option of SHAPE_OPTIONS, or 'k', 'z', 'g' or SHAPE_PROBES, with the value in optarg.
 * Return: 1 if applied, 0 after a message about a wrong value, -1 if @option is unknown. */
int shape_option(int option, struct weir_params *params);

/* Checks that the kind has all numbers that options set. weir_plan_make() would refuse them too,
 * but without the names of options, and perhaps after a pass that counts keys. Return: false after
 * a message. */
bool shape_fits(const struct weir_params *params);
/* Copies the width of counters from an image's shape, unless an option gives a width. */
void shape_keep_counters(struct weir_params *params, const struct weir_shape *is);
/* Return: the kinds with an ability, such as "counting or cuckoo". */
const char *shape_kinds(enum weir_ability ability);
/* Clears the fields of kinds other than params->kind, since shape_option() sets a number for every
 * kind that has the number. Return: the count of params->kind's own numbers that are set, without
 * exclude_keys. */
unsigned shape_own(struct weir_params *params);
/* Return: the number @name, such as "counter_bits", that an option set for any kind; 0: not set. */
uint64_t shape_asked(const struct weir_params *params, const char *name);
/* Return: true if @wanted sets a number that differs in @is, or that the kind of @is lacks. */
bool shape_differs(const struct weir_params *wanted, const struct weir_params *is);
/* Copies the kind and the shape of @is, and the flag WEIR_ONCE. */
void shape_as(struct weir_params *params, const struct weir_params *is);
/* Sets words_per_key if the kind has this number, else does nothing. */
void shape_set_words(struct weir_params *params, uint32_t words);

/* shape_has() returns true if a kind has a number of that name, as listed by weir_shape_field().
 * shape_number() returns the number, or 0 if the kind lacks it. */
bool shape_has(uint32_t kind, const char *number);
uint32_t shape_number(const struct weir_shape *shape, const char *number);

#endif
