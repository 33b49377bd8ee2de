/* SPDX-License-Identifier: MIT
 * Who replaces the shards of a rolling set: one at a time, whatever the shard; a replacement
 * given up; the set destroyed. */
#include "scenario_sharded.h"

static int result[SHARDS];
static struct weir_reload *open[SHARDS];
static uint32_t each[SHARDS] = { 0, 1 };

static void begin_thread(void *shard)
{
	uint32_t i = *(uint32_t *)shard;
	result[i] = weir_rolling_begin(&open[i], rolling_set, i, NULL);
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

/* Both left open: one has begun, of whichever shard. */
static void two_begin(void)
{
	rolling_begin(&urcu_bp_flavor);
	spawn_loaders(begin_thread);
	rolling_spawn_inserters();
	det_join_all();
	det_assert((result[0] == 0 && result[1] == -EBUSY) ||
	           (result[0] == -EBUSY && result[1] == 0));
	uint32_t won = result[0] != 0;
	det_assert(weir_rolling_destroy(rolling_set) == -EBUSY);
	det_assert(weir_reload_copy(open[won], WEIR_ALL_SETS) == 0 &&
	           weir_reload_commit(open[won]) == 0);
	rolling_end_with(15, !won, won);
}

static void two_loaders(void)
{
	rolling_begin(&urcu_bp_flavor);
	spawn_loaders(copy_if_free);
	det_spawn(rolling_insert_thread, &rolling_three);
	det_join_all();
	for (unsigned i = 0; i < SHARDS; i++)
		det_assert(result[i] == 0 || result[i] == -EBUSY);
	det_assert(result[0] == 0 || result[1] == 0);
	rolling_end_with(13, result[0] == 0, result[1] == 0);
}

/* Key 3 goes into the second shard's next filter alone, which is given up. */
static int stop_at_second(struct weir_reload *r, uint32_t shard, void *context)
{
	(void)context;
	det_assert(form_reload_insert(r, rolling_key(3)) == (shard ? WEIR_NEW : WEIR_SEEN));
	return shard ? -ECANCELED : weir_reload_copy(r, WEIR_ALL_SETS);
}

static void stop_thread(void *unused)
{
	(void)unused;
	weir_reload_abort(rolling_begun(0));
	det_assert(weir_rolling_reload(rolling_set, NULL, stop_at_second, NULL) == -ECANCELED);
}

static void stopped(void)
{
	rolling_begin(&urcu_bp_flavor);
	det_spawn(rolling_insert_thread, &rolling_one);
	det_spawn(rolling_verify_thread, &rolling_one);
	det_spawn(stop_thread, NULL);
	det_join_all();
	det_assert(!rolling_holds(3));
	rolling_end_with(7, 1, 0);
}

/* ---- what a section has found; the set itself, found through the application's pointer ---- */

static struct weir_rolling *found;

static void look_if_there(void *unused)
{
	(void)unused;
	works_on(1);
	flavor->read_lock();
	struct weir_rolling *there = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	det_assert(!there || form_rolling_contains(there, rolling_key(0)));
	flavor->read_unlock();
}

static void insert_if_there(void *unused)
{
	(void)unused;
	works_on(8);
	flavor->read_lock();
	struct weir_rolling *there = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	det_assert(!there || form_rolling_insert(there, rolling_key(3)) == WEIR_NEW);
	flavor->read_unlock();
}

static void take_away(void *unused)
{
	(void)unused;
	__atomic_store_n(&found, NULL, __ATOMIC_RELEASE);
	det_assert(weir_rolling_destroy(rolling_set) == 0);
}

/* Given up in a section, so that call_rcu frees what it leaves, which destroy waits for. */
static void abort_and_take_away(void *unused)
{
	struct weir_reload *r = rolling_begun(1);
	flavor->read_lock();
	weir_reload_abort(r);
	flavor->read_unlock();
	take_away(unused);
}

static void destroyed(void)
{
	rolling_begin(&det_memb_flavor);
	found = rolling_set;
	det_spawn(look_if_there, NULL);
	det_spawn(insert_if_there, NULL);
	det_spawn(take_away, NULL);
	det_join_all();
	det_assert(det_allocated() == 0);
}

static void destroyed_aborted(void)
{
	rolling_begin(&urcu_bp_flavor);
	found = rolling_set;
	det_spawn(insert_if_there, NULL);
	det_spawn(abort_and_take_away, NULL);
	det_join_all();
	det_assert(det_allocated() == 0);
}

/* A call that would wait for its own caller is refused; who has begun one shard gets no other. */
static void inside_section(void)
{
	struct weir_reload *none = NULL;
	rolling_begin(&urcu_bp_flavor);
	flavor->read_lock();
	det_assert(weir_rolling_begin(&none, rolling_set, 1, NULL) == -EDEADLK &&
	           weir_rolling_destroy(rolling_set) == -EDEADLK);
	flavor->read_unlock();
	struct weir_reload *r = rolling_begun(0);
	for (uint32_t shard = 0; shard < SHARDS; shard++)
		det_assert(weir_rolling_begin(&none, rolling_set, shard, NULL) == -EBUSY);
	det_assert(!none && weir_rolling_destroy(rolling_set) == -EBUSY);
	weir_reload_abort(r);
	rolling_end_with(5, 0, 0);
}

const struct scenario rolling_writers_scenarios[] = {
	{ ROLLING("two begin shards", two_begin), .fits = smallest, .preemptions = 2 },
	{ ROLLING("two loaders of shards", two_loaders), .fits = smallest, .preemptions = 2 },
	{ ROLLING("stopped", stopped), .fits = smallest, .preemptions = 2 },
	{ ROLLING("set destroyed", destroyed), .fits = smallest },
	{ ROLLING("set destroyed, aborted", destroyed_aborted), .fits = smallest },
	{ ROLLING("set inside a section", inside_section), .fits = smallest },
	{ .name = NULL },
};
