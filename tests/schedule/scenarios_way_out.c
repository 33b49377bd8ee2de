/* SPDX-License-Identifier: MIT
 * The way out of a real filter that is nearly full: a reload into a larger filter from the
 * application's record, begun when weir_handle_measure() reports nearly_full. Key 0 is inserted at
 * the start. An inserter that was refused retries after the commit, and then succeeds. An
 * acknowledged key is never missed ([REFUSED-KEY]), although an insert into a cuckoo filter moves
 * key 0. */
#include "scenario_cuckoo.h"
#include "scenario_handle.h"

static struct weir_params larger;
static uint64_t hashes[3];

static void begin_with(struct weir_filter *initial)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	flavor = &urcu_bp_flavor;
	for (unsigned key = 0; key < 3; key++)
		clear_record(key);
	det_assert(weir_handle_create(&handle, initial, NULL) == 0);
	det_assert(weir_handle_measure(handle, &s, NULL) == 0 && s.nearly_full);
}

/* @room: the number of free slots, to which the copy of key 0 can move. Key 1 needs the slot of
 * that copy. */
static void begin_cuckoo(unsigned room)
{
	struct weir_filter *initial;
	cuckoo_fill(room);
	hashes[0] = resident.hash, hashes[1] = newcomer.hash;
	det_assert(weir_clone(&initial, subject->filter) == 0);
	begin_with(initial);
	larger = subject_params(subject);
	larger.max_bytes *= 3;
}

/* The filter's only layer has a capacity of one key. */
static void begin_growing(void)
{
	struct weir_filter *initial;
	scenario_begin();
	for (unsigned key = 0; key < 3; key++)
		hashes[key] = hash_of(key);
	larger = (struct weir_params)WEIR_PARAMS_INIT;
	larger.kind = WEIR_GROWING, larger.capacity = 1, larger.growing.max_capacity = 1;
	larger.growing.words_per_key = larger.growing.bits_per_word = 1;
	larger.fp_rate = 0.01, larger.seed = SUBJECT_SEED;
	det_assert(weir_create(&initial, &larger) == 0);
	det_assert(weir_insert_hash(initial, hashes[0]) == WEIR_NEW);
	begin_with(initial);
	larger.growing.max_capacity = 5;
}

/* ---- threads ---- */

static void load_larger(void *unused)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	(void)unused;
	o.params = &larger;
	o.gate = &any_hashes;
	det_assert(weir_reload_begin(&r, handle, &o) == 0);
	for (unsigned key = 0; key < 3; key++)
		if (key == 0 || is_recorded(key))
			det_assert(weir_reload_insert_hash(r, hashes[key]) >= 0);
	det_assert(weir_reload_commit(r) == 0);
	promise(3);
}

static void insert_until_it_fits(void *number)
{
	const unsigned key = (unsigned)(uintptr_t)number;
	record_key(key);
	answer[key] = weir_handle_insert_hash(handle, hashes[key]);
	det_assert(answer[key] >= 0 || answer[key] == -ENOSPC);
	if (answer[key] < 0 && promised(3)) {
		answer[key] = weir_handle_insert_hash(handle, hashes[key]);
		det_assert(answer[key] >= 0);
	}
	if (answer[key] >= 0)
		promise(key);
}

static void look(void *unused)
{
	(void)unused;
	bool there = promised(1);
	det_assert(weir_handle_contains_hash(handle, hashes[0]));
	det_assert(!there || weir_handle_contains_hash(handle, hashes[1]));
}

/* ---- scenarios ---- */

static void insert_beside_reload(unsigned keys, bool verified)
{
	for (uintptr_t key = 1; key <= keys; key++)
		det_spawn(insert_until_it_fits, (void *)key);
	if (verified)
		det_spawn(look, NULL);
	det_spawn(load_larger, NULL);
	det_join_all();
	for (unsigned key = 0; key <= keys; key++)
		det_assert((key && answer[key] < 0) ||
		           weir_handle_contains_hash(handle, hashes[key]));
	handle_end();
}

static void out_of_full_cuckoo(void)
{
	begin_cuckoo(0);
	insert_beside_reload(1, false);
}

static void out_of_cuckoo_verified(void)
{
	begin_cuckoo(1);
	insert_beside_reload(1, true);
}

static void out_of_growing(void)
{
	begin_growing();
	insert_beside_reload(2, false);
}

static void out_of_growing_verified(void)
{
	begin_growing();
	insert_beside_reload(1, true);
}

/* Return: true for the first subject, since these scenarios make their own filters. */
static bool once(const struct subject *s)
{
	return s == subjects;
}

const struct scenario way_out_scenarios[] = {
	CUCKOO_SCENARIO("way out of cuckoo", out_of_full_cuckoo),
	CUCKOO_SCENARIO("cuckoo, verified", out_of_cuckoo_verified),
	{ .name = "way out of growing", .group = "growing", .body = out_of_growing, .fits = once,
	  .one_form = true, .cost = 3 },
	{ .name = "growing, verified", .group = "growing", .body = out_of_growing_verified,
	  .fits = once, .one_form = true, .cost = 3 },
	{ .name = NULL },
};
