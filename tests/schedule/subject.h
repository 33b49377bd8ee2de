/* SPDX-License-Identifier: MIT
 * The subject of the scenarios: a filter of one layout in memory that the test can read, and keys
 * that collide in this filter. */
#ifndef WEIR_TESTS_SCHEDULE_SUBJECT_H
#define WEIR_TESTS_SCHEDULE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../kinds/kind.h"

enum { SUBJECT_KEYS = 4, SUBJECT_WORDS = 32 };

/* The words and bits that a key sets. The test does not know how the library computes them, so it
 * inserts the key into an empty filter. */
struct key {
	uint64_t hash;
	unsigned words;
	struct {
		size_t index;
		uint64_t mask;
	} word[SUBJECT_WORDS];
};

struct subject {
	const char *name;
	const struct test_kind *kind;
	const struct test_subject *row;
	uint64_t bytes;
	bool is_shard; /* see subject_become_shard() */
	/* made by subjects_make() */
	bool merges, copies, removes, counts; /* abilities of the kind */
	uint64_t *bits[2]; /* memory of the two filters */
	struct weir_filter *filter;
	struct weir_filter *other; /* a filter of equal layout, for merges */
	/* Keys 0 and 1 share a word and a bit of it, and so do keys 2 and 3. Keys with a single bit
	 * share only a word. Each key has a bit that no other key has, so its first insert returns
	 * WEIR_NEW whatever other threads do. In a set of two shards, keys 0 and 1 are in the first
	 * shard, and keys 2 and 3 in the second. */
	struct key key[SUBJECT_KEYS];
	bool by_xxh64; /* the kind hashes keys with XXH64 instead of XXH3 */
	uint64_t flip; /* the bits that the seed flips in XXH3 (unhash.h) */
	uint64_t seed; /* SUBJECT_SEED, or 0 if the kind has no seed */
	/* In a filter of one cache line: another seed with which the keys collide too, or 0. */
	uint64_t other_seed;
	struct key by_other_seed[SUBJECT_KEYS]; /* the bits of each key with other_seed */
};

/* Return: true if exactly one of several threads that insert a new key gets WEIR_NEW. Other layouts
 * promise only that at least one thread gets WEIR_NEW. */
static inline bool subject_one_new(const struct subject *s)
{
	return s->row->one_new;
}

static inline unsigned subject_words(const struct subject *s)
{
	return s->key[0].words;
}

/* The subjects of all kinds. subjects_make() fills this array. */
extern struct subject subjects[];
extern size_t subject_count;

/* Finds a filter and colliding keys for each layout. Return: false after a message on stderr if a
 * filter or its keys are missing. */
bool subjects_make(void);
void subjects_unmake(void);
/* Chooses other keys in @s, for a filter that is one of a sharded set's two shards. The lowest bit
 * of a hash in the shard is the number of the shard, and is the top bit of the set's hash. Return:
 * false, after a message on stderr, if there are no such keys. */
bool subject_become_shard(struct subject *s);
/* Return: the key of eight bytes that has this hash. */
uint64_t subject_key(const struct subject *s, uint64_t hash);
/* Return: the words and bits that @hash sets in an empty filter. */
struct key subject_learn(const struct subject *s, uint64_t hash);
/* Return: the bits of @word that the keys in @keys (bit i: key i) use. @two_seeds: include the bits
 * that these keys use with the other seed. */
uint64_t subject_bits(const struct subject *s, const volatile void *word, unsigned keys,
                      bool two_seeds);
/* Return: the parameters of a filter of this layout, with the seed of the keys' hashes. */
struct weir_params subject_params(const struct subject *s);
enum { SUBJECT_SEED = 1 };
/* In both filters of the subject, clears every word that a key uses. */
void subject_clear(const struct subject *s);

#endif
