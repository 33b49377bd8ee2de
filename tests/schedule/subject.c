/* SPDX-License-Identifier: MIT
 * The layouts under test, and the search for keys that collide in them. */
#include <stdio.h>
#include <stdlib.h>
#include "subject.h"

enum { LINE = 64, TWO_SHARDS = 2 * 1024 * LINE, TRIES = 100000 };

struct subject subjects[] = {
	{ .name = "z=1", .kind = WEIR_BLOCKED, .words_per_key = 1, .bits_per_word = 3, .bytes = LINE },
	{ .name = "z=2", .kind = WEIR_BLOCKED, .words_per_key = 2, .bits_per_word = 2, .bytes = LINE },
	{ .name = "z=4", .kind = WEIR_BLOCKED, .words_per_key = 4, .bits_per_word = 2, .bytes = LINE },
	{ .name = "z=8", .kind = WEIR_BLOCKED, .words_per_key = 8, .bits_per_word = 1, .bytes = LINE },
	{ .name = "classic", .kind = WEIR_CLASSIC, .bits_per_word = 4, .bytes = LINE },
	{ .name = "z=2 shards", .kind = WEIR_BLOCKED, .words_per_key = 2, .bits_per_word = 2, .bytes = TWO_SHARDS },
};
const size_t subject_count = sizeof subjects / sizeof subjects[0];

static _Alignas(LINE) uint64_t bits[2][TWO_SHARDS / 8];

static uint64_t random_hash(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static struct key learn(const struct subject *s, uint64_t hash)
{
	struct key k = { .hash = hash };
	if (weir_insert_hash(s->filter, hash) != WEIR_NEW)
		fprintf(stderr, "%s: an empty filter knows a key\n", s->name);
	for (size_t i = 0; i < s->bytes / 8; i++) {
		if (!bits[0][i])
			continue;
		k.word[k.words].index = i;
		k.word[k.words++].mask = bits[0][i];
		bits[0][i] = 0;
	}
	return k;
}

static uint64_t mask_in(const struct key *k, size_t index)
{
	for (unsigned i = 0; i < k->words; i++)
		if (k->word[i].index == index)
			return k->word[i].mask;
	return 0;
}

static bool share_a_bit(const struct key *a, const struct key *b)
{
	for (unsigned i = 0; i < a->words; i++)
		if (a->word[i].mask & mask_in(b, a->word[i].index))
			return true;
	return false;
}

/* Has key @own a bit, in a word that its neighbour uses too, that no other key has? */
static bool private_bit(const struct subject *s, unsigned own)
{
	const struct key *k = &s->key[own], *neighbour = &s->key[own ^ 1];
	for (unsigned i = 0; i < k->words; i++) {
		uint64_t left = k->word[i].mask;
		for (unsigned other = 0; other < SUBJECT_KEYS; other++)
			left &= other == own ? left : ~mask_in(&s->key[other], k->word[i].index);
		if (left && mask_in(neighbour, k->word[i].index))
			return true;
	}
	return false;
}

/* Keys whose top bits are alike fall into one block of whichever layout. */
static bool find_keys(struct subject *s)
{
	const uint64_t top = UINT64_C(0xffff) << 48;
	uint64_t state = 1;
	for (unsigned tries = 0; tries < TRIES; tries++) {
		for (unsigned i = 0; i < SUBJECT_KEYS; i++) {
			uint64_t hash = random_hash(&state), first = s->key[i & 2].hash;
			if (i == 0 || i == 2) /* the top bit is the shard */
				hash = hash << 1 >> 1 | (uint64_t)(i / 2) << 63;
			else
				hash = (hash & ~top) | (first & top);
			s->key[i] = learn(s, hash);
		}
		bool good = share_a_bit(&s->key[0], &s->key[1]) && share_a_bit(&s->key[2], &s->key[3]);
		for (unsigned i = 0; good && i < SUBJECT_KEYS; i++)
			good = private_bit(s, i);
		if (good)
			return true;
	}
	fprintf(stderr, "%s: no colliding keys in %d tries\n", s->name, TRIES);
	return false;
}

static bool make_filter(const struct subject *s, struct weir_filter **out, uint64_t *memory)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.kind = s->kind;
	params.words_per_key = s->words_per_key;
	params.bits_per_word = s->bits_per_word;
	params.capacity = s->bytes / 2;
	params.max_bytes = params.memory_bytes = s->bytes;
	params.memory = memory;
	params.seed = 1;
	int err = weir_create(out, &params);
	if (err)
		fprintf(stderr, "%s: %s\n", s->name, weir_error_detail());
	return !err;
}

bool subject_make(struct subject *s)
{
	return make_filter(s, &s->filter, bits[0]) && make_filter(s, &s->other, bits[1]) && find_keys(s);
}

void subject_clear(const struct subject *s)
{
	for (unsigned k = 0; k < SUBJECT_KEYS; k++)
		for (unsigned i = 0; i < s->key[k].words; i++)
			bits[0][s->key[k].word[i].index] = bits[1][s->key[k].word[i].index] = 0;
}

uint64_t subject_bits(const struct subject *s, const volatile void *word, unsigned keys)
{
	uint64_t mask = 0;
	size_t index = (size_t)((const volatile uint64_t *)word - bits[0]);
	if ((uintptr_t)word < (uintptr_t)bits[0] || (uintptr_t)word >= (uintptr_t)bits[1])
		return ~UINT64_C(0); /* not of this filter */
	for (unsigned k = 0; k < SUBJECT_KEYS; k++)
		if (keys >> k & 1)
			mask |= mask_in(&s->key[k], index);
	return mask;
}

void subject_unmake(struct subject *s)
{
	weir_destroy(s->filter);
	weir_destroy(s->other);
	s->filter = s->other = NULL;
}
