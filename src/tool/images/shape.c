/* SPDX-License-Identifier: MIT
 * See shape.h. */
#include <getopt.h>
#include <string.h>
#include "output/say.h"
#include "output/units.h"
#include "shape.h"

static bool parse_kind(const char *text, uint32_t *out)
{
#define TRY(number, constant, name, summary) \
	if (strcmp(text, #name) == 0) { \
		*out = number; \
		return true; \
	}
#define NAME(number, constant, name, summary) " " #name
	WEIR_SIMPLE_KINDS(TRY)
	say("--kind '%s': the kinds are" WEIR_SIMPLE_KINDS(NAME), text);
#undef TRY
#undef NAME
	return false;
}

int shape_option(int option, struct weir_params *params)
{
	switch (option) {
	case 'k': return parse_kind(optarg, &params->kind);
	case 'z': return parse_small("--words", optarg, 8, &params->words_per_key);
	case 'g': return parse_small("--bits", optarg, 10, &params->bits_per_word);
	case SHAPE_PROBES: return parse_small("--probes", optarg, 32, &params->probes);
	case SHAPE_COUNTER_BITS:
		return parse_small("--counter-bits", optarg, 32, &params->counter_bits);
	case SHAPE_COUNTERS_PER_WORD:
		return parse_small("--counters-per-word", optarg, 16,
		                   &params->counters_per_word);
	case SHAPE_FINGERPRINT_BITS:
		return parse_small("--fingerprint-bits", optarg, 32, &params->fingerprint_bits);
	case SHAPE_MAX_KEYS: return parse_keys("--max-keys", optarg, &params->max_capacity);
	case SHAPE_EXCLUDE_KEYS:
		return parse_keys("--exclude-keys", optarg, &params->exclude_keys);
	default: return -1;
	}
}

/* A number of a shape, where a caller may ask for it. */
struct number {
	const char *option, *name;
	uint32_t *value;
};
enum { NUMBERS = 6 };

static void numbers_of(struct weir_params *p, struct number out[NUMBERS])
{
	const struct number all[NUMBERS] = {
		{ "--words", "words_per_key", &p->words_per_key },
		{ "--bits", "bits_per_word", &p->bits_per_word },
		{ "--probes", "probes", &p->probes },
		{ "--counter-bits", "counter_bits", &p->counter_bits },
		{ "--counters-per-word", "counters_per_word", &p->counters_per_word },
		{ "--fingerprint-bits", "fingerprint_bits", &p->fingerprint_bits },
	};
	for (unsigned i = 0; i < NUMBERS; i++)
		out[i] = all[i];
}

/* The first number that @params ask for and the kind does not have: its option, and the number
 * through @value; NULL: there is none. */
static const char *foreign(const struct weir_params *params, uint64_t *value)
{
	struct weir_params copy = *params;
	struct number numbers[NUMBERS];
	numbers_of(&copy, numbers);
	for (unsigned i = 0; i < NUMBERS; i++) {
		*value = *numbers[i].value;
		if (*value && !shape_has(params->kind, numbers[i].name))
			return numbers[i].option;
	}
	*value = params->max_capacity;
	if (*value && !weir_kind_can(params->kind, WEIR_CAN_GROW))
		return "--max-keys";
	*value = params->exclude_keys;
	return *value && !weir_kind_can(params->kind, WEIR_CAN_EXCLUDE) ? "--exclude-keys" : NULL;
}

bool shape_fits(const struct weir_params *params)
{
	uint64_t value;
	const char *option = foreign(params, &value);
	if (option)
		say("%s %llu: not for kind %s", option, (unsigned long long)value,
		    weir_kind_name(params->kind));
	return !option;
}

unsigned shape_own(struct weir_params *params)
{
	struct number numbers[NUMBERS];
	unsigned left = 0;
	numbers_of(params, numbers);
	for (unsigned i = 0; i < NUMBERS; i++) {
		if (!shape_has(params->kind, numbers[i].name))
			*numbers[i].value = 0;
		left += *numbers[i].value != 0;
	}
	if (!weir_kind_can(params->kind, WEIR_CAN_GROW))
		params->max_capacity = 0;
	if (!weir_kind_can(params->kind, WEIR_CAN_EXCLUDE))
		params->exclude_keys = 0;
	return left + (params->max_capacity != 0);
}

bool shape_has(uint32_t kind, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return true;
	return false;
}

uint32_t shape_number(const struct weir_shape *shape, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(shape->kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return shape->field[i];
	return 0;
}
