/* SPDX-License-Identifier: MIT
 * Threads that replace shards of a sharded set. Only one thread at a time may replace a shard,
 * whichever shard it is. A replacement may be aborted, and the set may be destroyed. */
#include "scenario_sharded.h"

static int result[SHARDS];
static struct weir_reload *open[SHARDS];
static uint32_t each[SHARDS] = { 0, 1 };

static void begin_thread(void *shard)
{
	uint32_t i = *(uint32_t *)shard;
	result[i] = shard_begin(&open[i], sharded_set, i, NULL);
}

static void copy_if_free(void *shard)
{
	uint32_t i = *(uint32_t *)shard;
	begin_thread(shard);
	if (result[i])
		return;
	det_assert(weir_reload_copy(open[i], WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(open[i]) == 0);
}

static void spawn_loaders(void (*run)(void *))
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		result[i] = 1;
		det_spawn(run, &each[i]);
	}
}

/* Two threads begin a reload, each of its own shard, and one of them is refused with -EBUSY. The
 * other reload stays open during the inserts. */
static void two_begin(void)
{
	sharded_begin(&urcu_bp_flavor);
	spawn_loaders(begin_thread);
	sharded_spawn_inserters();
	det_join_all();
	det_assert((result[0] == 0 && result[1] == -EBUSY) ||
	           (result[0] == -EBUSY && result[1] == 0));
	uint32_t won = result[0] != 0;
	det_assert(weir_handle_destroy(sharded_set) == -EBUSY);
	det_assert(weir_reload_copy(open[won], WEIR_ALL_SETS) == 0 &&
	           weir_reload_commit(open[won]) == 0);
	sharded_end_with(15, !won, won);
}

static void two_loaders(void)
{
	sharded_begin(&urcu_bp_flavor);
	spawn_loaders(copy_if_free);
	det_spawn(sharded_insert_thread, &sharded_three);
	det_join_all();
	for (unsigned i = 0; i < SHARDS; i++)
		det_assert(result[i] == 0 || result[i] == -EBUSY);
	det_assert(result[0] == 0 || result[1] == 0);
	sharded_end_with(13, result[0] == 0, result[1] == 0);
}

/* Key 3 is inserted only into the next filter of the second shard, and that reload is aborted. */
static int stop_at_second(struct weir_reload *r, uint32_t shard, void *context)
{
	(void)context;
	det_assert(form_reload_insert(r, sharded_key(3)) == (shard ? WEIR_NEW : WEIR_SEEN));
	return shard ? -ECANCELED : weir_reload_copy(r, WEIR_ALL_SETS);
}

static void stop_thread(void *unused)
{
	(void)unused;
	weir_reload_abort(sharded_begun(0));
	det_assert(weir_reload_all(sharded_set, NULL, stop_at_second, NULL) == -ECANCELED);
}

static void stopped(void)
{
	sharded_begin(&urcu_bp_flavor);
	det_spawn(sharded_insert_thread, &sharded_one);
	det_spawn(sharded_verify_thread, &sharded_one);
	det_spawn(stop_thread, NULL);
	det_join_all();
	det_assert(!sharded_holds(3));
	sharded_end_with(7, 1, 0);
}

/* ---- the set itself, which threads find through a pointer of the application ---- */

static struct weir_handle *found;

static void look_if_there(void *unused)
{
	(void)unused;
	acts_on_keys(1);
	flavor->read_lock();
	struct weir_handle *there = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	det_assert(!there || form_handle_contains(there, sharded_key(0)));
	flavor->read_unlock();
}

static void insert_if_there(void *unused)
{
	(void)unused;
	acts_on_keys(8);
	flavor->read_lock();
	struct weir_handle *there = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	det_assert(!there || form_handle_insert(there, sharded_key(3)) == WEIR_NEW);
	flavor->read_unlock();
}

static void unpublish_and_destroy(void *unused)
{
	(void)unused;
	__atomic_store_n(&found, NULL, __ATOMIC_RELEASE);
	det_assert(weir_handle_destroy(sharded_set) == 0);
}

/* The abort is in a section, so call_rcu frees the filter, and destroy waits for the callback. */
static void abort_and_destroy(void *unused)
{
	struct weir_reload *r = sharded_begun(1);
	flavor->read_lock();
	weir_reload_abort(r);
	flavor->read_unlock();
	unpublish_and_destroy(unused);
}

static void destroyed(void)
{
	sharded_begin(&det_memb_flavor);
	found = sharded_set;
	det_spawn(look_if_there, NULL);
	det_spawn(insert_if_there, NULL);
	det_spawn(unpublish_and_destroy, NULL);
	det_join_all();
	det_assert(det_allocated() == 0);
}

static void destroyed_aborted(void)
{
	sharded_begin(&urcu_bp_flavor);
	found = sharded_set;
	det_spawn(insert_if_there, NULL);
	det_spawn(abort_and_destroy, NULL);
	det_join_all();
	det_assert(det_allocated() == 0);
}

/* A call that would wait for its own thread is refused. A second reload by one thread is also
 * refused. */
static void inside_section(void)
{
	struct weir_reload *none = NULL;
	sharded_begin(&urcu_bp_flavor);
	flavor->read_lock();
	det_assert(shard_begin(&none, sharded_set, 1, NULL) == -EDEADLK &&
	           weir_handle_destroy(sharded_set) == -EDEADLK);
	flavor->read_unlock();
	struct weir_reload *r = sharded_begun(0);
	for (uint32_t shard = 0; shard < SHARDS; shard++)
		det_assert(shard_begin(&none, sharded_set, shard, NULL) == -EBUSY);
	det_assert(!none && weir_handle_destroy(sharded_set) == -EBUSY);
	weir_reload_abort(r);
	sharded_end_with(5, 0, 0);
}

const struct scenario sharded_writers_scenarios[] = {
	{ SHARDED("two begin shards", two_begin), .fits = smallest, .preemptions = 2 },
	{ SHARDED("two loaders of shards", two_loaders), .fits = smallest, .preemptions = 2 },
	{ SHARDED("stopped", stopped), .fits = smallest, .preemptions = 2 },
	{ SHARDED("set destroyed", destroyed), .fits = smallest },
	{ SHARDED("set destroyed, aborted", destroyed_aborted), .fits = smallest },
	{ SHARDED("set inside a section", inside_section), .fits = smallest },
	{ .name = NULL },
};
