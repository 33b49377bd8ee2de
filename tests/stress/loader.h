/* SPDX-License-Identifier: MIT
 * The thread that reloads at random, and what it shares with those that insert and look up. */
#ifndef WEIR_TESTS_LOADER_H
#define WEIR_TESTS_LOADER_H

#include "flavor.h"

enum reload_action { FROM_SOURCE, BY_COPY, OTHER_RATE, ABORTED, ROLLED_BACK, DROPPED, REFRESHED,
                     RELOAD_ACTIONS };
extern const char *const reload_action_names[RELOAD_ACTIONS];

struct reloads {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *handle;
	/* of the handle's hash and seed, and never published: keys are hashed without a section */
	struct weir_filter *hasher;
	/* that a reload at another rate chooses: blocked, where the hash is that of most kinds */
	uint32_t other_kind;
	/* keys of each inserter in this round, and where their numbers begin */
	uint64_t keys, first;
	unsigned inserters;
	char image[64];
	/* the handle takes any seed, and most reloads choose another: then keys go by themselves */
	bool reseeds;
	/* a filter of the kind may be saved beside inserts: it has no removal, or holds it off */
	bool saves;
	atomic_uint inserting;
	/* of the inserter's keys: before they are inserted */
	_Alignas(64) _Atomic uint64_t recorded[MOST_THREADS];
	/* after their inserts have returned */
	_Alignas(64) _Atomic uint64_t promised[MOST_THREADS];
	_Atomic uint64_t lookups, in_batches, measured;
	uint64_t done[RELOAD_ACTIONS];
};

/* The eight bytes of this number are a thread's key. */
static inline uint64_t reload_key(const struct reloads *s, unsigned thread, uint64_t i)
{
	return s->first + i * MOST_THREADS + thread;
}

static inline uint64_t reload_hash(const struct reloads *s, unsigned thread, uint64_t i)
{
	uint64_t key = reload_key(s, thread, i);
	return weir_hash(s->hasher, &key, sizeof key);
}

/* A quarter more than will be inserted: some layouts are more than half full at their capacity. */
static inline uint64_t reload_capacity(const struct reloads *s)
{
	return s->keys * s->inserters * 5 / 4;
}

/* Until the inserters have ended. */
void reload_at_random(struct reloads *s, unsigned thread);

#endif
