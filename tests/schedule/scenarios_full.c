/* SPDX-License-Identifier: MIT
 * Full filters during a reload ([REFUSED-KEY]). An acknowledged key is never lost. If a filter
 * refuses a key, the inserter removes the key from the filters that accepted it, unless they have
 * WEIR_ONCE. */
#include "scenario_full.h"

/* ---- the next filter is too small ---- */

static void load_too_small(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(1, false);
	bool fits = form_reload_insert(r, 0) >= 0;
	for (unsigned key = 1; key < 3; key++)
		if (is_recorded(key) && form_reload_insert(r, key) < 0)
			fits = false;
	if (fits)
		det_assert(weir_reload_commit(r) == 0);
	else
		weir_reload_abort(r);
}

static void next_too_small(void)
{
	full_begin_with(3);
	full_forget_record();
	full_spawn(full_record_and_insert, 1);
	full_spawn(full_verify_thread, 1);
	det_spawn(load_too_small, NULL);
	det_join_all();
	full_end_exactly(1);
}

static void two_into_too_small(void)
{
	full_begin_with(3);
	full_forget_record();
	full_spawn(full_record_and_insert, 1);
	full_spawn(full_record_and_insert, 2);
	det_spawn(load_too_small, NULL);
	det_join_all();
	full_end_exactly(2);
}

/* ---- the way out: the current filter is full, and the next filter is larger ---- */

static void load_larger(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(6, false);
	full_load(r, 0);
	for (unsigned key = 1; key < 3; key++)
		if (is_recorded(key))
			full_load(r, key);
	det_assert(weir_reload_commit(r) == 0);
	promise(3);
}

/* After the commit, a refused key fits. */
static void insert_until_it_fits(void *key)
{
	const unsigned k = (unsigned)(uintptr_t)key;
	full_record_and_insert(key);
	if (answer[k] < 0 && promised(3)) {
		full_insert(k);
		det_assert(answer[k] >= 0);
	}
}

static void way_out(void)
{
	full_begin_with(2);
	full_forget_record();
	full_spawn(insert_until_it_fits, 1);
	full_spawn(insert_until_it_fits, 2);
	det_spawn(load_larger, NULL);
	det_join_all();
	det_assert(full_count(0) == 1);
	for (unsigned key = 1; key < 3; key++) {
		/* the filter has two copies if the loader has also read the key's record */
		det_assert(full_count(key) <= (answer[key] >= 0) + 1);
		det_assert(answer[key] < 0 || full_count(key) >= 1);
	}
	handle_end();
}

static void way_out_verified(void)
{
	full_begin_with(1);
	full_forget_record();
	full_spawn(insert_until_it_fits, 1);
	full_spawn(full_verify_thread, 1);
	det_spawn(load_larger, NULL);
	det_join_all();
	det_assert(answer[1] < 0 || full_count(1) >= 1);
	handle_end();
}

/* ---- batches ---- */

/* Inserts keys 1 and 2 in this order. The next filter has one free slot. */
static void insert_both(void *unused)
{
	uint64_t hashes[2] = { 1, 2 }, bitmap = ~UINT64_C(0);
	(void)unused;
	for (unsigned key = 1; key < 3; key++)
		record_key(key);
	int64_t fresh = form_handle_insert_all(handle, hashes, 2, &bitmap);
	det_assert(fresh == 2 || fresh == -ENOSPC);
	size_t taken = fresh < 0 ? weir_error_taken() : 2;
	det_assert(bitmap == (UINT64_C(1) << taken) - 1);
	for (unsigned key = 1; key <= taken; key++) {
		answer[key] = WEIR_NEW;
		promise(key);
	}
}

static void load_one_place(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(2, false);
	bool fits = form_reload_insert(r, 0) >= 0;
	for (unsigned key = 1; key < 3; key++)
		if (is_recorded(key))
			/* insert_both() inserts each key that it records. A second copy by this
			 * loader would take the only free slot, so abort the reload. */
			fits = false;
	if (fits)
		det_assert(weir_reload_commit(r) == 0);
	else
		weir_reload_abort(r);
}

static void batch_in_part(void)
{
	full_begin_with(3);
	full_forget_record();
	det_spawn(insert_both, NULL);
	full_spawn(full_verify_thread, 1);
	det_spawn(load_one_place, NULL);
	det_join_all();
	/* a batch is inserted in the order of its keys */
	det_assert(answer[1] >= 0 || answer[2] < 0);
	full_end_exactly(2);
}

/* ---- with WEIR_ONCE, a key that one inserter finds stays if the other inserter is refused ---- */

static void insert_the_same(void *slot)
{
	const unsigned i = (unsigned)(uintptr_t)slot;
	answer[i] = form_handle_insert(handle, 1);
	det_assert(answer[i] >= 0 || answer[i] == -ENOSPC);
	if (answer[i] >= 0)
		promise(1);
}

static void load_in_vain(void *unused)
{
	(void)unused;
	weir_reload_abort(full_begin_into(1, false));
}

static void once_shared(void)
{
	full_begin_as(6, WEIR_ONCE);
	full_spawn(insert_the_same, 1);
	full_spawn(insert_the_same, 2);
	det_spawn(load_in_vain, NULL);
	det_join_all();
	full_verify_thread((void *)1);
	handle_end();
}

const struct scenario full_scenarios[] = {
	{ .name = "next too small", .group = "full", .body = next_too_small, .cost = 3,
	  .fits = full_once },
	{ .name = "two into too small", .group = "full", .body = two_into_too_small, .cost = 3,
	  .fits = full_once },
	{ .name = "way out", .group = "full", .body = way_out, .cost = 3, .fits = full_once },
	{ .name = "way out, verified", .group = "full", .body = way_out_verified, .cost = 3,
	  .fits = full_once },
	{ .name = "a batch in part", .group = "full", .body = batch_in_part, .batches = true,
	  .cost = 3, .fits = full_once },
	{ .name = "once, shared", .group = "full", .body = once_shared, .cost = 3,
	  .fits = full_once },
	{ .name = NULL },
};
