/* SPDX-License-Identifier: MIT
 * The common part of scenarios of a sharded set with two shards. Each shard is replaced by the
 * rules of a handle ([DUAL-WRITE] to [ONE-WRITER]). In addition, the top bit of a hash chooses the
 * shard, the shard's filter gets the hash rotated by one bit, and only one shard at a time can be
 * replaced.
 *
 * Keys 0 and 1 are in the first shard, and keys 2 and 3 in the second. Keys 0 and 2 are inserted at
 * the start, and keys 1 and 3 by the scenarios. A shard is a filter of the subject's layout, so a
 * key's hash in its shard is the subject's hash. The set's hash is this hash rotated back by one
 * bit. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_SHARDED_H

#include "scenario_handle.h"
#include "../sharded.h"

enum { SHARDS = 2 };

extern struct weir_handle *sharded_set; /* the set of the current execution */
extern struct insertion sharded_one, sharded_three;

/* Replaces the subject by a subject with keys for two shards. Return: false without such keys. */
bool sharded_prepare(void);
/* sharded_hash() returns the set's hash for the hash @own in a shard. sharded_key() returns the
 * set's hash of a key. */
uint64_t sharded_hash(uint64_t own);
uint64_t sharded_key(unsigned key);

/* sharded_make() creates an empty set. sharded_begin() creates a set with keys 0 and 2. */
void sharded_make(const struct rcu_flavor_struct *of);
void sharded_begin(const struct rcu_flavor_struct *of);
bool sharded_holds(unsigned key);
/* Destroys the set, and checks that all memory is freed. */
void sharded_end(void);
/* Ends like sharded_end(), after two checks: the keys of @keys (bit i: key i) are in the set, and
 * the two shards were replaced @first and @second times. */
void sharded_end_with(unsigned keys, unsigned first, unsigned second);

/* Thread functions. */
void sharded_insert_thread(void *insertion);
/* a thread that sees the promise must find the key, in its shard and through the set */
void sharded_verify_thread(void *insertion);
void sharded_spawn_inserters(void);
void sharded_copy_each_thread(void *unused);

/* ---- the steps of loaders ---- */
struct weir_reload *sharded_begun(uint32_t shard);
void sharded_copy(uint32_t shard);

/* The fields that the rows of this group have in common. Only the row "wholly" differs. */
#define SHARDED(title, function) \
	.name = title, .group = "sharded", .body = function, .prepare = sharded_prepare, \
	.narrowed = true, .cost = 20

#endif
