/* SPDX-License-Identifier: MIT
 * What the scenarios work on: a filter of one layout in memory that the test can see, and keys
 * that get in each other's way there. */
#ifndef WEIR_TESTS_SCHEDULE_SUBJECT_H
#define WEIR_TESTS_SCHEDULE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../kinds/kind.h"

enum { SUBJECT_KEYS = 4, SUBJECT_WORDS = 32 };

/* What a key sets, learnt by inserting it into an empty filter: the test knows nothing of how it
 * is derived. */
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
	/* 0 and 1 have a word and a bit of it in common (a word alone, if a key has one bit in
	 * all), so have 2 and 3; each has a bit that no other has, so the first insert of each is
	 * answered WEIR_NEW whatever the others do. In a filter of two shards 0 and 1 lie in the
	 * first, 2 and 3 in the second. */
	struct key key[SUBJECT_KEYS];
	bool by_xxh64; /* see subject_key */
	uint64_t flip; /* likewise */
	uint64_t seed; /* SUBJECT_SEED; 0 of a kind that has none */
	/* Of a filter of one line: a seed with which those keys get in each other's way as well,
	 * and what each sets then. 0: none. */
	uint64_t other_seed;
	struct key by_other_seed[SUBJECT_KEYS];
};

/* Of every insert of one new key by several threads exactly one is answered WEIR_NEW, not only at
 * least one. */
static inline bool subject_one_new(const struct subject *s)
{
	return s->row->one_new;
}

static inline unsigned subject_words(const struct subject *s)
{
	return s->key[0].words;
}

/* Those of every kind, after subjects_make(). */
extern struct subject subjects[];
extern size_t subject_count;

/* False, with a sentence on stderr, if there is no such filter or there are no such keys. */
bool subjects_make(void);
void subjects_unmake(void);
/* Other keys in @s, for a filter of @s's layout that is one of a sharded set's two shards: there
 * the lowest bit of a hash, which the set turned to the top of it, says the shard. False, with a
 * sentence on stderr, if there are none. */
bool subject_turn(struct subject *s);
/* The eight bytes of a key that has this hash. */
uint64_t subject_key(const struct subject *s, uint64_t hash);
/* What @hash sets in an empty filter. */
struct key subject_learn(const struct subject *s, uint64_t hash);
/* The bits of this word of the filter that the keys of a set (bit i: key i) have; by either seed.
 */
uint64_t subject_bits(const struct subject *s, const volatile void *word, unsigned keys,
                      bool two_seeds);
/* Parameters of a filter of its layout; the seed is that of the keys' hashes. */
struct weir_params subject_params(const struct subject *s);
enum { SUBJECT_SEED = 1 };
/* Both filters empty again, as far as the keys go. */
void subject_clear(const struct subject *s);

#endif
