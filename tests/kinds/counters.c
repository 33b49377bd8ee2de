/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "counters.h"

enum { BLOCK = 128 };

static unsigned log2_of(unsigned n)
{
	return n > 1 ? 1 + log2_of(n / 2) : 0;
}

/* Return: the next @width bits of @r, counted from the top. */
static unsigned take(uint64_t r, unsigned *taken, unsigned width)
{
	*taken += width;
	return width ? (unsigned)(r >> (64 - *taken)) & ((1u << width) - 1) : 0;
}

static bool known(const uint64_t *counters, unsigned n, uint64_t counter)
{
	for (unsigned i = 0; i < n; i++)
		if (counters[i] == counter)
			return true;
	return false;
}

struct counters_key counters_of(const struct reference *ref, uint64_t hash)
{
	unsigned b = reference_number(ref, "counter_bits"),
	         z = reference_number(ref, "words_per_key"),
	         g = reference_number(ref, "counters_per_word");
	unsigned in_word = 64 / b, words = BLOCK / in_word, taken = 0;
	uint64_t r = hash * UINT64_C(0x9E3779B97F4A7C15);
	uint64_t block = reference_high_half(hash, ref->lines * 512 / b / BLOCK);
	struct counters_key key = { .words = z };
	uint64_t first[COUNTERS_MOST_WORDS];
	for (unsigned i = 0; i < z; i++) {
		unsigned word = i * (words / z) + take(r, &taken, log2_of(words / z));
		first[i] = block * BLOCK + word * in_word;
	}
	for (unsigned i = 0; i < z; i++)
		for (unsigned t = 0; t < g; t++) {
			uint64_t counter = first[i] + take(r, &taken, log2_of(in_word));
			if (!known(key.word[i].counter, key.word[i].n, counter))
				key.word[i].counter[key.word[i].n++] = counter;
		}
	return key;
}

uint64_t counters_most(const struct reference *ref)
{
	return (UINT64_C(1) << reference_number(ref, "counter_bits")) - 1;
}

/* Counter i starts at bit i * counter_bits; its lowest bit comes first. */
uint64_t counters_get(const struct reference *ref, uint64_t counter)
{
	unsigned b = reference_number(ref, "counter_bits");
	uint64_t value = 0;
	for (unsigned bit = 0; bit < b; bit++) {
		uint64_t at = counter * b + bit;
		value |= (uint64_t)(ref->bytes[at / 8] >> at % 8 & 1) << bit;
	}
	return value;
}

void counters_set(struct reference *ref, uint64_t counter, uint64_t value)
{
	unsigned b = reference_number(ref, "counter_bits");
	for (unsigned bit = 0; bit < b; bit++) {
		uint64_t at = counter * b + bit;
		ref->bytes[at / 8] &= (uint8_t)~(1u << at % 8);
		ref->bytes[at / 8] |= (uint8_t)((value >> bit & 1) << at % 8);
	}
}

static uint64_t least(const struct reference *ref, uint64_t hash)
{
	struct counters_key key = counters_of(ref, hash);
	uint64_t smallest = UINT64_MAX;
	for (unsigned i = 0; i < key.words; i++)
		for (unsigned t = 0; t < key.word[i].n; t++) {
			uint64_t value = counters_get(ref, key.word[i].counter[t]);
			smallest = value < smallest ? value : smallest;
		}
	return smallest;
}

bool counters_contain(const struct reference *ref, uint64_t hash)
{
	return least(ref, hash) > 0;
}

int64_t counters_count(const struct reference *ref, uint64_t hash)
{
	uint64_t count = least(ref, hash);
	return count == counters_most(ref) ? WEIR_COUNT_FULL : (int64_t)count;
}

unsigned counters_block_lines(const struct weir_shape *shape)
{
	return shape->field[0] * BLOCK / 512;
}
