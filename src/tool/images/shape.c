/* SPDX-License-Identifier: MIT
 * See shape.h. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
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
#define OFFER(number, constant, name, summary) nearest_offer(&near, text, strlen(text), #name);
#define NAME(number, constant, name, summary) " " #name
	struct nearest near = { 0 };
	WEIR_SIMPLE_KINDS(TRY)
	WEIR_SIMPLE_KINDS(OFFER)
	say("--kind '%s': %s%s%s kinds are" WEIR_SIMPLE_KINDS(NAME), text,
	    near.word ? "did you mean " : "", near.word ? near.word : "",
	    near.word ? "? The" : "the");
#undef TRY
#undef OFFER
#undef NAME
	return false;
}

/* An option that sets a number. Each kind that has the number has its own field for it in struct
 * weir_params, such as blocked.words_per_key and counting.words_per_key for -z. */
enum { GROUPS = 4 };
struct number {
	int option;
	const char *long_name, *name;
	uint32_t most;      /* largest value; 0: a number of keys, 64 bits wide */
	/* for each kind in @of, the offset of its field in struct weir_params; 0 after the last
	 * kind */
	size_t at[GROUPS];
	uint32_t of[GROUPS];
};
#define AT(field) offsetof(struct weir_params, field)
static const struct number numbers[] = {
	{ 'z', "--words", "words_per_key", 8,
	  { AT(blocked.words_per_key), AT(counting.words_per_key), AT(growing.words_per_key),
	    AT(frequency.words_per_key) },
	  { WEIR_BLOCKED, WEIR_COUNTING, WEIR_GROWING, WEIR_FREQUENCY } },
	{ 'g', "--bits", "bits_per_word", 10,
	  { AT(blocked.bits_per_word), AT(growing.bits_per_word) },
	  { WEIR_BLOCKED, WEIR_GROWING } },
	{ SHAPE_PROBES, "--probes", "probes", 32, { AT(classic.probes) }, { WEIR_CLASSIC } },
	{ SHAPE_COUNTER_BITS, "--counter-bits", "counter_bits", 32,
	  { AT(counting.counter_bits), AT(frequency.counter_bits) },
	  { WEIR_COUNTING, WEIR_FREQUENCY } },
	{ SHAPE_COUNTERS_PER_WORD, "--counters-per-word", "counters_per_word", 16,
	  { AT(counting.counters_per_word), AT(frequency.counters_per_word) },
	  { WEIR_COUNTING, WEIR_FREQUENCY } },
	{ SHAPE_FINGERPRINT_BITS, "--fingerprint-bits", "fingerprint_bits", 32,
	  { AT(cuckoo.fingerprint_bits), AT(fuse.fingerprint_bits),
	    AT(layered.fingerprint_bits) },
	  { WEIR_CUCKOO, WEIR_FUSE, WEIR_LAYERED } },
	{ SHAPE_MAX_KEYS, "--max-keys", "max_capacity", 0, { AT(growing.max_capacity) },
	  { WEIR_GROWING } },
	{ SHAPE_EXCLUDE_KEYS, "--exclude-keys", "exclude_keys", 0, { AT(layered.exclude_keys) },
	  { WEIR_LAYERED } },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static uint64_t get(const struct weir_params *params, const struct number *number, unsigned i)
{
	const char *at = (const char *)params + number->at[i];
	return number->most ? *(const uint32_t *)(const void *)at :
	                      *(const uint64_t *)(const void *)at;
}

static void set(struct weir_params *params, const struct number *number, unsigned i, uint64_t value)
{
	char *at = (char *)params + number->at[i];
	if (number->most)
		*(uint32_t *)(void *)at = (uint32_t)value;
	else
		*(uint64_t *)(void *)at = value;
}

/* Return: the index of the kind in number->of, or GROUPS. */
static unsigned index_of(const struct number *number, uint32_t kind)
{
	unsigned i = 0;
	while (i < GROUPS && !(number->at[i] && number->of[i] == kind))
		i++;
	return i;
}

int shape_option(int option, struct weir_params *params)
{
	const struct number *n = numbers;
	uint64_t value = 0;
	uint32_t small = 0;
	if (option == 'k')
		return parse_kind(optarg, &params->kind);
	while (n < numbers + NUMBERS && n->option != option)
		n++;
	if (n == numbers + NUMBERS)
		return -1;
	if (!(n->most ? parse_small(n->long_name, optarg, n->most, &small) :
	                parse_keys(n->long_name, optarg, &value)))
		return 0;
	for (unsigned i = 0; i < GROUPS && n->at[i]; i++)
		set(params, n, i, n->most ? small : value);
	return 1;
}

uint64_t shape_asked(const struct weir_params *params, const char *name)
{
	uint64_t value = 0;
	for (unsigned n = 0; n < NUMBERS; n++)
		for (unsigned i = 0; i < GROUPS && numbers[n].at[i]; i++)
			if (strcmp(numbers[n].name, name) == 0)
				value |= get(params, &numbers[n], i);
	return value;
}

/* Return: the @n names as "a, b or c". */
static const char *any_of(const char *const *names, unsigned n)
{
	static char text[128];
	size_t at = 0;
	*text = '\0';
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
		                       i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
	return text;
}

static const char *kinds_of(const struct number *number)
{
	const char *names[GROUPS];
	unsigned n = 0;
	for (; n < GROUPS && number->at[n]; n++)
		names[n] = weir_kind_name(number->of[n]);
	return any_of(names, n);
}

const char *shape_kinds(enum weir_ability ability)
{
	const char *names[16];
	unsigned n = 0;
#define TAKE(number, constant, name, summary) \
	if (weir_kind_can(number, ability)) \
		names[n++] = #name;
	WEIR_SIMPLE_KINDS(TAKE)
#undef TAKE
	return any_of(names, n);
}

bool shape_fits(const struct weir_params *params)
{
	for (const struct number *n = numbers; n < numbers + NUMBERS; n++) {
		const uint64_t value = shape_asked(params, n->name);
		if (!value || index_of(n, params->kind) < GROUPS)
			continue;
		say("%s %llu: not for kind %s: leave it out, or give -k %s", n->long_name,
		    (unsigned long long)value, weir_kind_name(params->kind), kinds_of(n));
		return false;
	}
	if (!(params->flags & WEIR_ONCE) || weir_kind_can(params->kind, WEIR_CAN_REMOVE))
		return true;
	say("--once: not for kind %s, but for those that can remove keys: give -k %s",
	    weir_kind_name(params->kind), shape_kinds(WEIR_CAN_REMOVE));
	return false;
}

void shape_keep_counters(struct weir_params *params, const struct weir_shape *is)
{
	const struct number *n = numbers;
	while (n->option != SHAPE_COUNTER_BITS)
		n++;
	const unsigned i = index_of(n, is->kind);
	if (i < GROUPS && !get(params, n, i))
		set(params, n, i, shape_number(is, n->name));
}

unsigned shape_own(struct weir_params *params)
{
	unsigned left = 0;
	for (const struct number *n = numbers; n < numbers + NUMBERS; n++)
		for (unsigned i = 0; i < GROUPS && n->at[i]; i++) {
			if (n->of[i] != params->kind)
				set(params, n, i, 0);
			left += n->option != SHAPE_EXCLUDE_KEYS && get(params, n, i);
		}
	return left;
}

bool shape_differs(const struct weir_params *wanted, const struct weir_params *is)
{
	for (const struct number *n = numbers; n < numbers + NUMBERS; n++) {
		const unsigned i = index_of(n, is->kind);
		const uint64_t value = shape_asked(wanted, n->name);
		if (n->option != SHAPE_EXCLUDE_KEYS && value &&
		    (i == GROUPS || value != get(is, n, i)))
			return true;
	}
	return false;
}

void shape_as(struct weir_params *params, const struct weir_params *is)
{
	params->kind = is->kind;
	params->flags |= is->flags & WEIR_ONCE;
	(void)shape_own(params);
	for (const struct number *n = numbers; n < numbers + NUMBERS; n++) {
		const unsigned i = index_of(n, is->kind);
		if (n->most && i < GROUPS)
			set(params, n, i, get(is, n, i));
	}
}

void shape_set_words(struct weir_params *params, uint32_t words)
{
	const unsigned i = index_of(&numbers[0], params->kind);
	if (i < GROUPS)
		set(params, &numbers[0], i, words);
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
