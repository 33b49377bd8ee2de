/* SPDX-License-Identifier: MIT
 * The layouts under test, and the search for keys that collide in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "det.h"
#include "subject.h"
#include "unhash.h"

enum { LINE = 64, TRIES = 20000, MOST_SUBJECTS = 256 };

struct subject subjects[MOST_SUBJECTS];
size_t subject_count;

static uint64_t random_hash(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

struct key subject_learn(const struct subject *s, uint64_t hash)
{
	struct key k = { .hash = hash };
	if (weir_insert_hash(s->filter, hash) != WEIR_NEW)
		fprintf(stderr, "%s: an empty filter knows a key\n", s->name);
	for (size_t i = 0; i < s->bytes / 8; i++) {
		if (!s->bits[0][i])
			continue;
		k.word[k.words].index = i;
		k.word[k.words++].mask = s->bits[0][i];
		s->bits[0][i] = 0;
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

/* Return: true if a key has a single bit. Such a key shares a word with the other key of its pair,
 * but no bit. */
static bool one_bit(const struct key *k)
{
	return k->words == 1 && __builtin_popcountll(k->word[0].mask) == 1;
}

/* Return: true if key @own has a bit that no other key up to @last has, in a word that the other
 * key of its pair uses too. */
static bool private_bit(const struct subject *s, unsigned own, unsigned last)
{
	const struct key *k = &s->key[own], *neighbour = &s->key[own ^ 1];
	for (unsigned i = 0; i < k->words; i++) {
		uint64_t left = k->word[i].mask;
		for (unsigned other = 0; other <= last; other++)
			left &= other == own ? left : ~mask_in(&s->key[other], k->word[i].index);
		if (left && mask_in(neighbour, k->word[i].index))
			return true;
	}
	return false;
}

/* If @s is a shard, puts the number of the shard of keys @first and @first + 1 into the lowest bit
 * of @hash. Return: the resulting hash. */
static uint64_t with_shard_bit(const struct subject *s, uint64_t hash, unsigned first)
{
	return s->is_shard ? (hash & ~UINT64_C(1)) | first / 2 : hash;
}

/* Finds keys @first and @first + 1. The top bit of a hash chooses the shard, and sixteen equal top
 * bits put both keys into one block. Keys of one bit share only the top bit, because the other top
 * bits may choose that one bit. */
static bool find_pair(struct subject *s, unsigned first, uint64_t *state)
{
	uint64_t hash = random_hash(state) << 1 >> 1 | (uint64_t)(first / 2) << 63;
	hash = with_shard_bit(s, hash, first);
	s->key[first] = subject_learn(s, hash);
	const uint64_t low = ~UINT64_C(0) >> (one_bit(&s->key[first]) ? 1 : 16);
	for (unsigned tries = 0; tries < TRIES; tries++) {
		s->key[first + 1] = subject_learn(
			s, with_shard_bit(s, (hash & ~low) | (random_hash(state) & low), first));
		bool good = one_bit(&s->key[first]) ||
		            share_a_bit(&s->key[first], &s->key[first + 1]);
		for (unsigned i = 0; good && i <= first + 1; i++)
			good = private_bit(s, i, first + 1);
		if (good)
			return true;
	}
	return false;
}

static bool find_keys(struct subject *s)
{
	uint64_t state = 1;
	for (unsigned tries = 0; tries < TRIES; tries++)
		if (find_pair(s, 0, &state) && find_pair(s, 2, &state))
			return true;
	fprintf(stderr, "%s: no colliding keys found\n", s->name);
	return false;
}

struct weir_params subject_params(const struct subject *s)
{
	struct weir_params params = test_params(s->kind, &s->row->ask);
	params.capacity = params.capacity ? params.capacity : s->bytes / 2;
	params.max_bytes = s->bytes;
	params.seed = s->seed;
	return params;
}

static bool make_filter(struct subject *s, struct weir_filter **out, uint64_t **memory)
{
	struct weir_params params = subject_params(s);
	*memory = aligned_alloc(LINE, s->bytes);
	params.memory_bytes = s->bytes;
	params.memory = *memory;
	int err = weir_create(out, &params);
	if (err)
		fprintf(stderr, "%s: %s\n", s->name, weir_error_detail());
	return !err;
}

static void find_abilities(struct subject *s)
{
	s->merges = weir_merge(s->filter, s->other) != -ENOTSUP;
	s->copies = test_copies(s->filter);
	s->removes = weir_remove_keys(s->filter, weir_keys_hashes(NULL, 0), NULL) != -ENOTSUP;
	s->counts = weir_count_keys(s->filter, weir_keys_hashes(NULL, 0), NULL) != -ENOTSUP;
}

uint64_t subject_key(const struct subject *s, uint64_t hash)
{
	return s->by_xxh64 ? unhash_xxh64(hash) : unhash_xxh3(hash, s->flip);
}

static bool find_flip(struct subject *s)
{
	const uint64_t wanted = UINT64_C(0x0123456789ABCDEF);
	uint64_t key = 0;
	s->flip = unhash_flip(weir_hash(s->filter, &key, sizeof key));
	for (unsigned i = 0; i < 2; i++) {
		s->by_xxh64 = i;
		key = subject_key(s, wanted);
		if (weir_hash(s->filter, &key, sizeof key) == wanted)
			return true;
	}
	fprintf(stderr, "%s: its hash is not XXH3 nor XXH64: subject_key() needs its inverse\n",
	        s->name);
	return false;
}

/* Return: true if the keys also collide with @seed, as struct subject demands. */
static bool collide_with_seed(struct subject *s, uint64_t seed)
{
	struct weir_params params = subject_params(s);
	struct subject other = *s;
	struct weir_filter *f;
	params.seed = seed;
	if (weir_create(&f, &params))
		return false;
	for (unsigned k = 0; k < SUBJECT_KEYS; k++) {
		uint64_t key = subject_key(s, s->key[k].hash);
		other.key[k] = subject_learn(s, weir_hash(f, &key, sizeof key));
	}
	weir_destroy(f);
	for (unsigned k = 0; k < SUBJECT_KEYS; k++)
		if (!private_bit(&other, k, SUBJECT_KEYS - 1))
			return false;
	memcpy(s->by_other_seed, other.key, sizeof other.key);
	return true;
}

static bool find_other_seed(struct subject *s)
{
	memcpy(s->by_other_seed, s->key, sizeof s->key);
	if (s->bytes != LINE || !s->row->handles || !s->seed)
		return true;
	for (uint64_t seed = SUBJECT_SEED + 1; seed < TRIES; seed++)
		if (collide_with_seed(s, seed)) {
			s->other_seed = seed;
			return true;
		}
	fprintf(stderr, "%s: no other seed lets its keys collide\n", s->name);
	return false;
}

static bool make(struct subject *s)
{
	if (!make_filter(s, &s->filter, &s->bits[0]) || !make_filter(s, &s->other, &s->bits[1]))
		return false;
	find_abilities(s);
	return find_flip(s) && find_keys(s) && find_other_seed(s);
}

bool subjects_make(void)
{
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->subjects.n; i++) {
			const struct test_subject *row = &kind->subjects.rows[i];
			struct subject *s = &subjects[subject_count];
			if (subject_count == MOST_SUBJECTS) {
				fprintf(stderr, "%s: make MOST_SUBJECTS larger\n", row->name);
				return false;
			}
			*s = (struct subject){ row->name, kind, row, .bytes = row->bytes,
			                       .seed = test_seed(kind->id, SUBJECT_SEED) };
			if (!make(s))
				return false;
			subject_count++;
		}
	return true;
}

bool subject_become_shard(struct subject *s)
{
	s->is_shard = true;
	return find_keys(s);
}

static void clear_keys(const struct subject *s, uint64_t *bits)
{
	for (unsigned k = 0; k < SUBJECT_KEYS; k++)
		for (unsigned i = 0; i < s->key[k].words; i++)
			bits[s->key[k].word[i].index] = 0;
}

void subject_clear(const struct subject *s)
{
	for (unsigned i = 0; i < 2; i++)
		if (s->bytes == LINE)
			memset(s->bits[i], 0, LINE);
		else
			clear_keys(s, s->bits[i]);
}

uint64_t subject_bits(const struct subject *s, const volatile void *word, unsigned keys,
                      bool two_seeds)
{
	uint64_t mask = 0;
	size_t index = ((uintptr_t)word - (uintptr_t)s->bits[0]) / 8;
	/* @word may belong to another filter of this layout, so take its place in its line */
	if (s->bytes == LINE && det_block_bytes(word) == LINE)
		index = (uintptr_t)word % LINE / 8;
	if (index >= s->bytes / 8)
		return ~UINT64_C(0); /* not in this filter */
	for (unsigned k = 0; k < SUBJECT_KEYS; k++)
		if (keys >> k & 1)
			mask |= mask_in(&s->key[k], index) |
			        (two_seeds ? mask_in(&s->by_other_seed[k], index) : 0);
	return mask;
}

void subjects_unmake(void)
{
	for (struct subject *s = subjects; s < subjects + subject_count; s++) {
		weir_destroy(s->filter);
		weir_destroy(s->other);
		free(s->bits[0]);
		free(s->bits[1]);
	}
}
