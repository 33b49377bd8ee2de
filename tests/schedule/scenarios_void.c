/* SPDX-License-Identifier: MIT
 * A previous filter that refuses a key ([REFUSED-KEY]). Either the insert succeeds and no rollback
 * returns to that filter, or the rollback comes first and the insert is refused. */
#include "scenario_full.h"

static int rolled;

/* Starts a scenario with a handle whose previous filter takes @most keys, key 0 included. */
static void begin_with_previous(uint32_t most)
{
	full_begin_with(most);
	struct weir_reload *r = full_begin_into(6, true);
	full_load(r, 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void roll_back(void *unused)
{
	(void)unused;
	rolled = weir_handle_rollback(handle);
	det_assert(rolled == 0 || rolled == -ENOENT);
}

static void void_or_refused(void)
{
	begin_with_previous(1);
	full_spawn(full_insert_thread, 1);
	full_spawn(full_verify_thread, 1);
	det_spawn(roll_back, NULL);
	det_join_all();
	det_assert((rolled == 0) == (answer[1] < 0));
	full_end_exactly(1);
}

static void one_fits(void)
{
	begin_with_previous(2);
	full_spawn(full_insert_thread, 1);
	full_spawn(full_insert_thread, 2);
	det_spawn(roll_back, NULL);
	det_join_all();
	det_assert(rolled == 0 || (answer[1] >= 0 && answer[2] >= 0));
	full_end_exactly(2);
}

static void reload_over_it(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(6, false);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

/* The reload frees a void previous filter (one that refused a key, so that no rollback may return
 * to it) while other threads still insert. */
static void beside_freeing(unsigned keys)
{
	begin_with_previous(1);
	for (unsigned key = 1; key <= keys; key++)
		full_spawn(full_insert_thread, key);
	if (keys == 1)
		full_spawn(full_verify_thread, 1);
	det_spawn(reload_over_it, NULL);
	det_join_all();
	det_assert(full_count(0) == 1);
	for (unsigned key = 1; key <= keys; key++) /* two copies if the reload copied the key */
		det_assert(answer[key] >= 0 && full_count(key) >= 1 && full_count(key) <= 2);
	handle_end();
}

static void void_and_freed(void)
{
	beside_freeing(1);
}

static void two_void_and_freed(void)
{
	beside_freeing(2);
}

/* A filter that a rollback returned to becomes the previous filter again, and then refuses a
 * key. */
static void roll_back_and_keep(void *unused)
{
	(void)unused;
	det_assert(weir_handle_rollback(handle) == 0);
	struct weir_reload *r = full_begin_into(6, true);
	full_load(r, 0);
	det_assert(weir_reload_commit(r) == 0);
	full_insert(1);
	det_assert(answer[1] == WEIR_NEW);
	det_assert(weir_handle_rollback(handle) == -ENOENT);
}

static void kept_once_more(void)
{
	begin_with_previous(1);
	det_spawn(roll_back_and_keep, NULL);
	det_join_all();
	full_end_exactly(1);
}

/* A filter becomes the previous filter during the insert of key 1, for which it has no free
 * slot. */
static void keep_and_roll_back(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(6, true);
	full_load(r, 0);
	if (is_recorded(1))
		full_load(r, 1);
	det_assert(weir_reload_commit(r) == 0);
	roll_back(NULL);
}

static void insert_until_acknowledged(void *key)
{
	full_record_and_insert(key);
	if (answer[1] < 0)
		full_insert(1);
}

static void kept_while_it_refuses(void)
{
	full_begin_with(1);
	full_forget_record();
	full_spawn(insert_until_acknowledged, 1);
	full_spawn(full_verify_thread, 1);
	det_spawn(keep_and_roll_back, NULL);
	det_join_all();
	det_assert(answer[1] < 0 || (rolled == -ENOENT && full_count(1) >= 1));
	det_assert(full_count(0) == 1 && (rolled != 0 || full_count(1) == 0));
	handle_end();
}

const struct scenario void_scenarios[] = {
	{ .name = "void or refused", .group = "full", .body = void_or_refused, .cost = 3,
	  .fits = full_once },
	{ .name = "one fits", .group = "full", .body = one_fits, .cost = 3, .fits = full_once },
	{ .name = "void and freed", .group = "full", .body = void_and_freed, .cost = 3,
	  .fits = full_once },
	{ .name = "two, void and freed", .group = "full", .body = two_void_and_freed, .cost = 3,
	  .fits = full_once, .preemptions = 2 },
	{ .name = "kept once more", .group = "full", .body = kept_once_more, .cost = 3,
	  .fits = full_once },
	{ .name = "kept as it refuses", .group = "full", .body = kept_while_it_refuses,
	  .cost = 3, .fits = full_once },
	{ .name = NULL },
};
