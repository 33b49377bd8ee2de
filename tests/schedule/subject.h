/* SPDX-License-Identifier: MIT
 * The subject of the scenarios: a filter of one layout, in memory that the test can see, and keys
 * that collide in it. */
#ifndef WEIR_TESTS_SCHEDULE_SUBJECT_H
#define WEIR_TESTS_SCHEDULE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../kinds/kind.h"

enum { SUBJECT_KEYS = 4, SUBJECT_WORDS = 32 };

/* The words and bits that a key sets, learnt by inserting it into an empty filter. The test does
 * not know how they are derived. */
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
	bool turned; /* see subject_turn */
	/* made by subjects_make() */
	bool merges, copies, removes, counts; /* its kind can */
	uint64_t *bits[2]; /* of the two filters */
	struct weir_filter *filter;
	struct weir_filter *other; /* of the same layout, for merging */
	/* Keys 0 and 1 share a word and a bit of it (only a word, if a key has a single bit), and
	 * so do 2 and 3. Each key has a bit that no other has, so its first insert is answered
	 * WEIR_NEW whatever the others do. In a filter of two shards 0 and 1 lie in the first, 2
	 * and 3 in the second. */
	struct key key[SUBJECT_KEYS];
	bool by_xxh64; /* see subject_key */
	uint64_t flip; /* see subject_key */
	uint64_t seed; /* SUBJECT_SEED; 0 if the kind has no seed */
	/* In a filter of one line: a seed with which those keys collide as well, and what each key
	 * sets then. 0: none. */
	uint64_t other_seed;
	struct key by_other_seed[SUBJECT_KEYS];
};

/* If several threads insert a new key, exactly one answer is WEIR_NEW, not only at least one. */
static inline bool subject_one_new(const struct subject *s)
{
	return s->row->one_new;
}

static inline unsigned subject_words(const struct subject *s)
{
	return s->key[0].words;
}

/* The subjects of all kinds, after subjects_make(). */
extern struct subject subjects[];
extern size_t subject_count;

/* Return: false, with a sentence on stderr, if it finds no such filter or no such keys. */
bool subjects_make(void);
void subjects_unmake(void);
/* Choose other keys in @s, for a filter of @s's layout that is one of a sharded set's two shards.
 * There the lowest bit of a hash is the shard; in the set's hash it is the top bit. Return: false,
 * with a sentence on stderr, if it finds none. */
bool subject_turn(struct subject *s);
/* The eight bytes of a key that has this hash. */
uint64_t subject_key(const struct subject *s, uint64_t hash);
/* The words and bits that @hash sets in an empty filter. */
struct key subject_learn(const struct subject *s, uint64_t hash);
/* The bits of this word that a set of keys (bit i: key i) has; by either seed if @two_seeds. */
uint64_t subject_bits(const struct subject *s, const volatile void *word, unsigned keys,
                      bool two_seeds);
/* Parameters of a filter of its layout, with the seed of the keys' hashes. */
struct weir_params subject_params(const struct subject *s);
enum { SUBJECT_SEED = 1 };
/* Clear every word of both filters that a key uses. */
void subject_clear(const struct subject *s);

#endif
