/* SPDX-License-Identifier: MIT
 * What the scenarios of a sharded set share: two shards, each replaced by the rules of a handle (H1
 * to H4). What is new is that a hash finds its shard and is turned for it, and that the shards
 * share one claim.
 *
 * Keys 0 and 1 lie in the first shard, 2 and 3 in the second; 0 and 2 are in from the beginning,
 * 1 and 3 are inserted meanwhile. A shard is a filter of the subject's layout, so a key's hash
 * in it is the subject's, and in the set that one turned back by a bit. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H

#include "scenario_handle.h"
#include "../sharded.h"

enum { SHARDS = 2 };

extern struct weir_handle *sharded_set; /* of the execution under way */
extern struct insertion sharded_one, sharded_three;

/* Puts a subject with such keys in the subject's place. */
bool sharded_prepare(void);
/* The set's hash of what is @own in its shard; of a key. */
uint64_t sharded_hash(uint64_t own);
uint64_t sharded_key(unsigned key);

/* An empty set; one that holds keys 0 and 2. */
void sharded_make(const struct rcu_flavor_struct *of);
void sharded_begin(const struct rcu_flavor_struct *of);
bool sharded_holds(unsigned key);
/* Destroys it: nothing is left. */
void sharded_end(void);
/* As that, and before: these keys (bit i: key i) are in; the shards were replaced so often. */
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

/* The fields that all but one of the rows have alike. */
#define SHARDED(title, function) \
	.name = title, .group = "sharded", .body = function, .prepare = sharded_prepare, \
	.narrowed = true, .cost = 20

#endif
