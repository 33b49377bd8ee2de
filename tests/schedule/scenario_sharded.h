/* SPDX-License-Identifier: MIT
 * The common part of the scenarios of a sharded set: two shards, each replaced by the rules of a
 * handle (H1 to H4). New is that a hash chooses its shard and is rotated for it, and that the
 * shards share one claim.
 *
 * Keys 0 and 1 lie in the first shard, 2 and 3 in the second. Keys 0 and 2 are in from the
 * beginning; the scenarios insert 1 and 3. A shard is a filter of the subject's layout, so a key's
 * hash in it is the subject's. The set's hash is that one rotated back by a bit. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H

#include "scenario_handle.h"
#include "../sharded.h"

enum { SHARDS = 2 };

extern struct weir_handle *sharded_set; /* of the current execution */
extern struct insertion sharded_one, sharded_three;

/* Replace the subject by one with such keys. */
bool sharded_prepare(void);
/* The set's hash for the hash @own in a shard; the set's hash of a key. */
uint64_t sharded_hash(uint64_t own);
uint64_t sharded_key(unsigned key);

/* Make an empty set; make one that holds keys 0 and 2. */
void sharded_make(const struct rcu_flavor_struct *of);
void sharded_begin(const struct rcu_flavor_struct *of);
bool sharded_holds(unsigned key);
/* Destroy it; check that all memory is free. */
void sharded_end(void);
/* The same, after these checks: these keys (bit i: key i) are in, and the shards were replaced this
 * often. */
void sharded_end_with(unsigned keys, unsigned first, unsigned second);

/* Threads. */
void sharded_insert_thread(void *insertion);
/* a thread that has the promise sees the key, in its shard and through the set */
void sharded_verify_thread(void *insertion);
void sharded_spawn_inserters(void);
void sharded_copy_each_thread(void *unused);

/* The steps of loaders. */
struct weir_reload *sharded_begun(uint32_t shard);
void sharded_copy(uint32_t shard);

/* The fields that are equal in all rows but one. */
#define SHARDED(title, function) \
	.name = title, .group = "sharded", .body = function, .prepare = sharded_prepare, \
	.narrowed = true, .cost = 20

#endif
