/* SPDX-License-Identifier: MIT
 * What the scenarios of a rolling set share. */
#include "scenario_sharded.h"

struct weir_rolling *rolling_set;
struct insertion rolling_one = { 1, 1 }, rolling_three = { 3, 3 };
static struct subject turned; /* takes the subject's place */

bool rolling_prepare(void)
{
	if (turned.name != subject->name) {
		subject_clear(subject);
		turned = *subject;
		if (!subject_turn(&turned))
			return false;
	}
	subject = &turned;
	return true;
}

uint64_t rolling_hash(uint64_t hash)
{
	return hash >> 1 | hash << 63;
}

uint64_t rolling_key(unsigned key)
{
	return rolling_hash(hash_of(key));
}

void rolling_make(const struct rcu_flavor_struct *of)
{
	struct weir_params params = test_params(subject->kind, &subject->row->ask);
	scenario_begin();
	flavor = of;
	params.capacity = 2;
	params.fp_rate = 0.001;
	params.seed = subject->seed;
	det_assert(weir_rolling_create(&rolling_set, &params, SHARDS,
	                               of == &urcu_bp_flavor ? NULL : of) == 0);
}

void rolling_begin(const struct rcu_flavor_struct *of)
{
	rolling_make(of);
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		det_assert(weir_rolling_shard(rolling_set, rolling_key(key)) == key / 2);
	for (unsigned key = 0; key < SUBJECT_KEYS; key += 2)
		det_assert(form_rolling_insert(rolling_set, rolling_key(key)) == WEIR_NEW);
}

bool rolling_holds(unsigned key)
{
	return form_rolling_contains(rolling_set, rolling_key(key));
}

void rolling_end(void)
{
	det_assert(weir_rolling_destroy(rolling_set) == 0);
	det_assert(det_allocated() == 0);
}

void rolling_end_with(unsigned keys, unsigned first, unsigned second)
{
	struct weir_rolling_stats s = WEIR_ROLLING_STATS_INIT;
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		det_assert(!(keys >> key & 1) || rolling_holds(key));
	det_assert(weir_rolling_stats(rolling_set, &s) == 0);
	det_assert(s.shards == SHARDS && s.bytes == SHARDS * subject->bytes);
	det_assert(s.oldest == 1 + (first < second ? first : second) &&
	           s.newest == 1 + (first > second ? first : second));
	rolling_end();
}

void rolling_insert_thread(void *insertion)
{
	const struct insertion *i = insertion;
	works_on(1u << i->key);
	flavor->register_thread();
	answer[i->slot] = form_rolling_insert(rolling_set, rolling_key(i->key));
	promise(i->slot);
	flavor->unregister_thread();
}

void rolling_verify_thread(void *insertion)
{
	const struct insertion *i = insertion;
	works_on(1u << i->key);
	if (!promised(i->slot))
		return;
	flavor->register_thread();
	flavor->read_lock();
	det_assert(form_contains(weir_rolling_get(rolling_set, i->key / 2), hash_of(i->key)));
	flavor->read_unlock();
	det_assert(rolling_holds(i->key));
	flavor->unregister_thread();
}

void rolling_spawn_inserters(void)
{
	det_spawn(rolling_insert_thread, &rolling_one);
	det_spawn(rolling_insert_thread, &rolling_three);
}

struct weir_reload *rolling_begun(uint32_t shard)
{
	struct weir_reload *r = NULL;
	det_assert(weir_rolling_begin(&r, rolling_set, shard, NULL) == 0);
	return r;
}

void rolling_copy(uint32_t shard)
{
	struct weir_reload *r = rolling_begun(shard);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

void rolling_copy_each_thread(void *unused)
{
	(void)unused;
	flavor->register_thread();
	rolling_copy(0);
	rolling_copy(1);
	flavor->unregister_thread();
}
