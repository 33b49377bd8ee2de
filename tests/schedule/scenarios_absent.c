/* SPDX-License-Identifier: MIT
 * A handle before its first set ([PLACEHOLDER]). The first set gets every key that was inserted
 * before this set, in any order of the inserts, the loader's steps and an aborted reload. Before
 * the first set, the handle has a placeholder for which every lookup returns yes (WEIR_ABSENT_YES)
 * or no. */
#include "scenario_handle.h"

static void absent_begin(enum weir_absent says, uint64_t keep)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	scenario_begin();
	flavor = &urcu_bp_flavor;
	options.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_OWN_HASHES;
	options.absent = says;
	options.keep_inserts = keep;
	det_assert(weir_handle_create(&handle, NULL, &options) == 0);
	det_assert(form_handle_insert(handle, hash_of(0)) ==
	           (says == WEIR_ABSENT_YES ? WEIR_SEEN : WEIR_NEW));
}

static struct weir_reload *first_begun(const struct weir_reload_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params params = subject_params(subject);
	struct weir_reload *r = NULL;
	if (options)
		o = *options;
	o.params = &params;
	o.gate = &any_hashes;
	det_assert(weir_reload_begin(&r, handle, &o) == 0);
	det_assert(form_contains(weir_reload_next(r), hash_of(0)));
	return r;
}

static void load_first(void *options)
{
	struct weir_reload *r = first_begun(options);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0); /* no current filter: copies nothing */
	det_assert(weir_reload_commit(r) == 0);
}

static void kept_with(void (*loader)(void *), const struct weir_reload_options *options)
{
	absent_begin(WEIR_ABSENT_YES, 4096);
	spawn_insert_and_verify();
	det_spawn(loader, (void *)(uintptr_t)options);
	det_join_all();
	det_assert(weir_handle_rollback(handle) == -ENOENT);
	handle_end_with(1, 1);
}

static void kept(void)
{
	kept_with(load_first, NULL);
}

static void kept_deferred(void)
{
	kept_with(load_first, &defer_free);
}

/* After the first set, the handle has no previous filter, because the placeholder is not kept. */
static void kept_no_previous(void)
{
	kept_with(load_first, &keep_previous);
}

static void load_after_an_abort(void *unused)
{
	(void)unused;
	weir_reload_abort(first_begun(NULL));
	load_first(NULL);
}

static void kept_over_an_abort(void)
{
	kept_with(load_after_an_abort, NULL);
}

static void two_kept(void)
{
	static struct insertion insertions[] = { { 1, 1 }, { 2, 2 } };
	absent_begin(WEIR_ABSENT_NO, 4096);
	det_spawn(handle_insert_thread, &insertions[0]);
	det_spawn(handle_insert_thread, &insertions[1]);
	det_spawn(load_first, NULL);
	det_join_all();
	handle_end_with(2, 1);
}

/* Leaves the reload open. The reload's next filter has the key, which the handle must keep when the
 * scenario aborts the reload. */
static void begin_first(void *begun)
{
	*(struct weir_reload **)begun = first_begun(NULL);
}

static void kept_and_given_up(void)
{
	static struct insertion one = { 1, 1 };
	static struct weir_reload *r;
	absent_begin(WEIR_ABSENT_YES, 4096);
	det_spawn(handle_insert_thread, &one);
	det_spawn(begin_first, &r);
	det_join_all();
	det_assert(form_contains(weir_reload_next(r), hash_of(1)));
	weir_reload_abort(r);
	load_first(NULL);
	handle_end_with(1, 1);
}

/* The memory for inserts suffices for key 0 and one more key, so one of two inserts is refused. */
static void no_room(void)
{
	static struct insertion insertions[] = { { 1, 1 }, { 2, 2 } };
	absent_begin(WEIR_ABSENT_NO, 2 * 40);
	det_spawn(handle_insert_thread, &insertions[0]);
	det_spawn(handle_insert_thread, &insertions[1]);
	det_join_all();
	det_assert((answer[1] == WEIR_NEW && answer[2] == -ENOBUFS) ||
	           (answer[1] == -ENOBUFS && answer[2] == WEIR_NEW));
	load_first(NULL);
	det_assert(handle_holds(1) == (answer[1] == WEIR_NEW));
	det_assert(handle_holds(2) == (answer[2] == WEIR_NEW));
	handle_end_with(0, 1);
}

/* The placeholder that a section has found stays valid until the section ends. */
static void placeholder_kept(void)
{
	absent_begin(WEIR_ABSENT_YES, 4096);
	det_spawn(handle_keep_thread, NULL);
	det_spawn(load_first, NULL);
	det_join_all();
	handle_end_with(0, 1);
}

const struct scenario absent_scenarios[] = {
	{ .name = "kept before", .group = "absent", .body = kept, .narrowed = true, .cost = 6,
	  .fits = smallest },
	{ .name = "kept, call_rcu", .group = "absent", .body = kept_deferred, .narrowed = true,
	  .cost = 6, .fits = smallest, .preemptions = 2 },
	{ .name = "kept, none before", .group = "absent", .body = kept_no_previous,
	  .narrowed = true, .cost = 6, .fits = smallest, .preemptions = 2 },
	{ .name = "kept over an abort", .group = "absent", .body = kept_over_an_abort,
	  .narrowed = true, .cost = 6, .fits = smallest, .preemptions = 2 },
	{ .name = "two kept", .group = "absent", .body = two_kept, .narrowed = true, .cost = 6,
	  .fits = smallest, .preemptions = 2 },
	{ .name = "kept and given up", .group = "absent", .body = kept_and_given_up,
	  .narrowed = true, .cost = 6, .fits = smallest },
	{ .name = "no room", .group = "absent", .body = no_room, .narrowed = true, .cost = 6,
	  .fits = smallest },
	{ .name = "placeholder kept", .group = "absent", .body = placeholder_kept,
	  .narrowed = true, .cost = 6, .fits = smallest },
	{ .name = NULL },
};
