/* SPDX-License-Identifier: MIT
 * The thread that reloads at random, and its state shared with the threads that insert and look
 * up. */
#ifndef WEIR_TESTS_LOADER_H
#define WEIR_TESTS_LOADER_H

#include "flavor.h"

enum reload_action { FROM_SOURCE, BY_COPY, OTHER_RATE, ABORTED, ROLLED_BACK, DROPPED, REFRESHED,
                     RELOAD_ACTIONS };
extern const char *const reload_action_names[RELOAD_ACTIONS];

struct reloads {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *handle;
	/* a filter that is never published, with the handle's hash and seed, to hash keys outside a
	 * section */
	struct weir_filter *hasher;
	/* the kind of the next filter if a reload changes the rate (OTHER_RATE): blocked if a
	 * blocked filter hashes keys as this round's kind does, otherwise this round's kind */
	uint32_t other_kind;
	uint64_t keys,  /* number of keys of each inserter in this round */
	         first; /* number of the round's first key */
	unsigned inserters;
	char image[64];
	/* the handle accepts any seed, and most reloads choose a new seed, so threads use keys, not
	 * hashes */
	bool reseeds;
	/* the kind allows a save during inserts */
	bool saves;
	atomic_uint inserting;
	/* for each inserter: the number of keys that are inserted or about to be inserted */
	_Alignas(64) _Atomic uint64_t recorded[MOST_THREADS];
	/* for each inserter: the number of keys whose inserts have returned */
	_Alignas(64) _Atomic uint64_t promised[MOST_THREADS];
	_Atomic uint64_t lookups, in_batches, measured;
	uint64_t done[RELOAD_ACTIONS];
};

/* Return: a number whose eight bytes are key @i of a thread. */
static inline uint64_t reload_key(const struct reloads *s, unsigned thread, uint64_t i)
{
	return s->first + i * MOST_THREADS + thread;
}

static inline uint64_t reload_hash(const struct reloads *s, unsigned thread, uint64_t i)
{
	uint64_t key = reload_key(s, thread, i);
	return weir_hash(s->hasher, &key, sizeof key);
}

/* Return: a capacity that exceeds the number of keys by a quarter, because some layouts are more
 * than half full at their capacity. */
static inline uint64_t reload_capacity(const struct reloads *s)
{
	return s->keys * s->inserters * 5 / 4;
}

/* Reload at random until the inserters have ended. */
void reload_at_random(struct reloads *s, unsigned thread);

#endif
