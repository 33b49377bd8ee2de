/* SPDX-License-Identifier: MIT
 * The options that choose the numbers of a kind's shape: those of weir build, of which weir plan
 * takes some. */
#ifndef WEIR_TOOL_SHAPE_H
#define WEIR_TOOL_SHAPE_H

#include <stdbool.h>
#include <weir/weir.h>

/* Values of long options, apart from those that commands begin at 256. */
enum { SHAPE_COUNTER_BITS = 768, SHAPE_COUNTERS_PER_WORD, SHAPE_FINGERPRINT_BITS, SHAPE_MAX_KEYS,
       SHAPE_PROBES, SHAPE_EXCLUDE_KEYS };

/* For who takes -k, -z, -g and --probes too: { "kind", ..., 'k' }, { "words", ..., 'z' },
 * { "bits", ..., 'g' }. */
#define SHAPE_OPTIONS \
	{ "counter-bits", required_argument, NULL, SHAPE_COUNTER_BITS }, \
	{ "counters-per-word", required_argument, NULL, SHAPE_COUNTERS_PER_WORD }, \
	{ "fingerprint-bits", required_argument, NULL, SHAPE_FINGERPRINT_BITS }, \
	{ "max-keys", required_argument, NULL, SHAPE_MAX_KEYS }, \
	{ "exclude-keys", required_argument, NULL, SHAPE_EXCLUDE_KEYS }

/* One of them, or 'k', 'z', 'g', SHAPE_PROBES, whose argument is optarg. Return: 1 taken, 0 wrong
 * (reported), -1 not such an option. */
int shape_option(int option, struct weir_params *params);

/* Whether the kind has the numbers that were asked for; if not, a sentence is printed.
 * weir_plan_make() refuses it too, but in its own words, and where keys are counted first only
 * after that. */
bool shape_fits(const struct weir_params *params);
/* Take the width of counters of an image's shape, unless another was asked for. */
void shape_keep_counters(struct weir_params *params, const struct weir_shape *is);
/* The kinds with an ability, as "counting or cuckoo". */
const char *shape_kinds(enum weir_ability ability);
/* Clear the groups of other kinds. Until then each number stands in every group that has a field of
 * its name. Return: how many numbers are left. */
unsigned shape_own(struct weir_params *params);
/* The number of that name, such as "counter_bits", in whichever group it was asked for; 0: none. */
uint64_t shape_asked(const struct weir_params *params, const char *name);
/* Does @wanted ask for a number that is another one in @is, or that its kind lacks? */
bool shape_differs(const struct weir_params *wanted, const struct weir_params *is);
/* Take the kind and the shape of @is, and WEIR_ONCE if it has that. */
void shape_as(struct weir_params *params, const struct weir_params *is);
/* Set words_per_key, of a kind that has it. */
void shape_set_words(struct weir_params *params, uint32_t words);

/* The numbers of a shape have names: weir_shape_field(). Has a kind one of that name; and the
 * number of a shape, 0 if its kind has none such. */
bool shape_has(uint32_t kind, const char *number);
uint32_t shape_number(const struct weir_shape *shape, const char *number);

#endif
