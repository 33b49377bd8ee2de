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
	/* hashes keys without a section: it has the handle's hash and seed, and is never
	 * published */
	struct weir_filter *hasher;
	/* for a reload at another rate: blocked, if it has the kind's hash */
	uint32_t other_kind;
	/* the number of each inserter's keys in this round, and the first number of them */
	uint64_t keys, first;
	unsigned inserters;
	char image[64];
	/* the handle takes any seed, and most reloads choose another, so threads use keys, not
	 * hashes */
	bool reseeds;
	/* the kind allows a save during inserts: it has no removal, or holds it off */
	bool saves;
	atomic_uint inserting;
	/* the number of keys that the inserter has recorded, before their inserts */
	_Alignas(64) _Atomic uint64_t recorded[MOST_THREADS];
	/* and of those promised, after their inserts have returned */
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

/* A quarter more than the inserts, because some layouts are more than half full at capacity. */
static inline uint64_t reload_capacity(const struct reloads *s)
{
	return s->keys * s->inserters * 5 / 4;
}

/* Runs until the inserters have ended. */
void reload_at_random(struct reloads *s, unsigned thread);

#endif
