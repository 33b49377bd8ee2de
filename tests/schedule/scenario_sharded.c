/* SPDX-License-Identifier: MIT
 * The common part of scenarios of a sharded set. */
#include "scenario_sharded.h"

struct weir_handle *sharded_set;
struct insertion sharded_one = { 1, 1 }, sharded_three = { 3, 3 };
static struct subject shard_subject; /* replaces the subject */

bool sharded_prepare(void)
{
	if (shard_subject.name != subject->name) {
		subject_clear(subject);
		shard_subject = *subject;
		if (!subject_become_shard(&shard_subject))
			return false;
	}
	subject = &shard_subject;
	return true;
}

uint64_t sharded_hash(uint64_t hash)
{
	return hash >> 1 | hash << 63;
}

uint64_t sharded_key(unsigned key)
{
	return sharded_hash(hash_of(key));
}

void sharded_make(const struct rcu_flavor_struct *of)
{
	struct weir_params params = test_params(subject->kind, &subject->row->ask);
	scenario_begin();
	flavor = of;
	params.capacity = 2;
	params.fp_rate = 0.001;
	params.seed = subject->seed;
	det_assert(sharded_create(&sharded_set, &params, SHARDS,
	                               of == &urcu_bp_flavor ? NULL : of) == 0);
}

void sharded_begin(const struct rcu_flavor_struct *of)
{
	sharded_make(of);
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		det_assert(weir_handle_shard(sharded_set, sharded_key(key)) == key / 2);
	for (unsigned key = 0; key < SUBJECT_KEYS; key += 2)
		det_assert(form_handle_insert(sharded_set, sharded_key(key)) == WEIR_NEW);
}

bool sharded_holds(unsigned key)
{
	return form_handle_contains(sharded_set, sharded_key(key));
}

void sharded_end(void)
{
	det_assert(weir_handle_destroy(sharded_set) == 0);
	det_assert(det_allocated() == 0);
}

void sharded_end_with(unsigned keys, unsigned first, unsigned second)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		det_assert(!(keys >> key & 1) || sharded_holds(key));
	det_assert(weir_handle_measure(sharded_set, &s, &filter) == 0);
	det_assert(filter.shards == SHARDS && s.bytes == SHARDS * subject->bytes);
	det_assert(s.oldest == 1 + (first < second ? first : second) &&
	           s.generation == 1 + (first > second ? first : second));
	sharded_end();
}

void sharded_insert_thread(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	flavor->register_thread();
	answer[i->slot] = form_handle_insert(sharded_set, sharded_key(i->key));
	promise(i->slot);
	flavor->unregister_thread();
}

void sharded_verify_thread(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	if (!promised(i->slot))
		return;
	flavor->register_thread();
	flavor->read_lock();
	det_assert(form_contains(weir_handle_get_shard(sharded_set, i->key / 2), hash_of(i->key)));
	flavor->read_unlock();
	det_assert(sharded_holds(i->key));
	flavor->unregister_thread();
}

void sharded_spawn_inserters(void)
{
	det_spawn(sharded_insert_thread, &sharded_one);
	det_spawn(sharded_insert_thread, &sharded_three);
}

struct weir_reload *sharded_begun(uint32_t shard)
{
	struct weir_reload *r = NULL;
	det_assert(shard_begin(&r, sharded_set, shard, NULL) == 0);
	return r;
}

void sharded_copy(uint32_t shard)
{
	struct weir_reload *r = sharded_begun(shard);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

void sharded_copy_each_thread(void *unused)
{
	(void)unused;
	flavor->register_thread();
	sharded_copy(0);
	sharded_copy(1);
	flavor->unregister_thread();
}
