/* SPDX-License-Identifier: MIT
 * A previous filter that is kept. A rollback returns to it, the handle drops it, or the next reload
 * begins while it is still kept ([PREVIOUS-WRITTEN]). No inserted key is lost. */
#include "scenario_handle.h"

static void reload_and_roll_back(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	det_assert(weir_handle_rollback(handle) == 0);
	det_assert(weir_handle_rollback(handle) == -ENOENT);
}

static void rolled_back(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(reload_and_roll_back, NULL);
	det_join_all();
	handle_end_with(1, 2);
}

/* A thread that knows of the commit inserts into the previous filter too. */
static void insert_after_commit(void *insertion)
{
	if (promised(3))
		handle_insert_thread(insertion);
}

static void commit_then_roll_back(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	promise(3);
	det_assert(weir_handle_rollback(handle) == 0);
}

static void inserted_between(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	det_spawn(insert_after_commit, &one);
	det_spawn(handle_verify_thread, &one);
	det_spawn(commit_then_roll_back, NULL);
	det_join_all();
	handle_end_with(promised(1) ? 1 : 0, 2);
}

static void reload_and_drop(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	det_assert(weir_handle_drop_previous(handle) == 0);
	det_assert(weir_handle_drop_previous(handle) == -ENOENT);
}

static void dropped(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(reload_and_drop, NULL);
	det_join_all();
	handle_end_with(1, 1);
}

/* The second reload begins while the previous filter of the first reload is kept, so the handle's
 * records have three filters. */
static void reload_twice(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	reload_by_copy(&keep_previous);
}

static void kept_twice(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(reload_twice, NULL);
	det_join_all();
	handle_end_with(1, 2);
}

static void reload_begin_roll_back(void *unused)
{
	(void)unused;
	reload_by_copy(&keep_previous);
	weir_reload_abort(reload_begun(NULL));
	det_assert(weir_handle_rollback(handle) == 0);
}

/* An abort keeps the previous filter. */
static void aborted_with_previous(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(reload_begin_roll_back, NULL);
	det_join_all();
	handle_end_with(1, 2);
}

/* The filter that a section has found stays valid until the section ends, even if a rollback
 * rejects the filter. */
static void roll_back_thread(void *unused)
{
	(void)unused;
	det_assert(weir_handle_rollback(handle) == 0);
}

static void kept_while_rejected(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	reload_by_copy(&keep_previous);
	det_spawn(handle_keep_thread, NULL);
	det_spawn(roll_back_thread, NULL);
	det_spawn(handle_insert_thread, &one);
	det_join_all();
	handle_end_with(1, 2);
}

const struct scenario previous_scenarios[] = {
	{ .name = "rolled back", .group = "previous", .body = rolled_back, .narrowed = true,
	  .cost = 3, .fits = small },
	{ .name = "inserted between", .group = "previous", .body = inserted_between,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = "dropped", .group = "previous", .body = dropped, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "kept twice", .group = "previous", .body = kept_twice, .narrowed = true,
	  .cost = 3, .fits = small },
	{ .name = "aborted, previous", .group = "previous", .body = aborted_with_previous,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = "kept and rejected", .group = "previous", .body = kept_while_rejected,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = NULL },
};
