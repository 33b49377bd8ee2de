/* SPDX-License-Identifier: MIT
 * Batches through a handle: each key of a batch has the promises of a single key. */
#include "scenario_handle.h"

/* Inserts keys 1 and 2 in one section. */
static void insert_batch(void *unused)
{
	uint64_t hashes[2] = { hash_of(1), hash_of(2) }, bitmap = 0;
	(void)unused;
	acts_on_keys(6);
	for (unsigned key = 1; key < 3 && reseeds(); key++)
		record_key(key);
	int64_t fresh = form_handle_insert_all(handle, hashes, 2, &bitmap);
	/* a loader that reads the record may insert the keys before this thread */
	det_assert(fresh == __builtin_popcountll(bitmap) && (bitmap == 3 || reseeds()));
	promise(1);
}

static void look_up_batch(void *unused)
{
	uint64_t hashes[3] = { hash_of(0), hash_of(1), hash_of(2) }, bitmap = 0;
	(void)unused;
	acts_on_keys(7);
	uint64_t must = promised(1) ? 7 : 1;
	size_t n = form_handle_contains_all(handle, hashes, 3, &bitmap);
	det_assert((bitmap & must) == must && n == (size_t)__builtin_popcountll(bitmap));
}

static void batches(void)
{
	handle_begin(&urcu_bp_flavor);
	det_spawn(insert_batch, NULL);
	det_spawn(look_up_batch, NULL);
	det_spawn(reload_by_copy_thread, NULL);
	det_join_all();
	handle_end_with(2, 1);
}

static void reload_and_keep(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	det_assert(weir_handle_rollback(handle) == 0);
}

static void batch_rolled_back(void)
{
	handle_begin(&det_memb_flavor);
	det_spawn(insert_batch, NULL);
	det_spawn(reload_and_keep, NULL);
	det_join_all();
	handle_end_with(2, 2);
}

const struct scenario batch_scenarios[] = {
	{ .name = "batches", .group = "batch", .body = batches, .batches = true, .narrowed = true,
	  .cost = 3, .fits = small, .search_words = 1 },
	{ .name = "a batch rolled back", .group = "batch", .body = batch_rolled_back,
	  .batches = true, .narrowed = true, .cost = 3, .fits = small },
	{ .name = NULL },
};
