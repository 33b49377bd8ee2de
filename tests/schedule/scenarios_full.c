/* SPDX-License-Identifier: MIT
 * Filters that are full beside a reload, and with a previous filter kept (H12): what is
 * acknowledged is never lost, what is refused is taken back. The filters are toys with room for so
 * many copies; a key's hash is its number. */
#include "../bounded.h"
#include "set/generation.h"
#include "set/reload.h"
/* after those, which have a parameter of the name of its variable */
#include "scenario_handle.h"

static struct weir_filter *make(uint32_t most)
{
	struct weir_filter *f = bounded_make(&bounded_removes, 1, most);
	det_assert(f);
	return f;
}

/* Key 0 is in. */
static void begin_with(uint32_t most)
{
	struct weir_filter *initial = make(most);
	scenario_begin();
	flavor = &urcu_bp_flavor;
	det_assert(weir_insert_hash(initial, 0) == WEIR_NEW);
	det_assert(weir_handle_create(&handle, initial, NULL) == 0);
}

static struct weir_reload *begin_into(uint32_t most, bool keep)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = keep;
	det_assert(weir__writer_begin(handle, "the test") == 0);
	weir__standby_free(handle);
	det_assert(weir__reload_open(&r, handle, make(most), &o) == 0);
	return r;
}

static void load(struct weir_reload *r, uint64_t key)
{
	det_assert(form_reload_insert(r, key) >= 0);
}

/* Inserts key @key and promises that slot if it is acknowledged. */
static void insert(unsigned key)
{
	answer[key] = form_handle_insert(handle, key);
	det_assert(answer[key] >= 0 || answer[key] == -ENOSPC);
	if (answer[key] >= 0)
		promise(key);
}

static void insert_thread_of(void *key)
{
	insert((unsigned)(uintptr_t)key);
}

static void verify_thread_of(void *key)
{
	unsigned k = (unsigned)(uintptr_t)key;
	if (promised(k))
		det_assert(form_handle_contains(handle, k));
}

static void spawn(void (*run)(void *), unsigned key)
{
	det_spawn(run, (void *)(uintptr_t)key);
}

static int64_t count_of(unsigned key)
{
	return weir_count_hash(weir_handle_get(handle), key);
}

/* Key 0 and what was acknowledged are in once; nothing else is. */
static void end_exactly(unsigned keys)
{
	det_assert(count_of(0) == 1);
	for (unsigned key = 1; key <= keys; key++)
		det_assert(count_of(key) == (answer[key] >= 0));
	handle_end();
}

/* ---- next is too small ---- */

/* The application's record first, as always. */
static void record_and_insert(void *key)
{
	note((unsigned)(uintptr_t)key);
	insert_thread_of(key);
}

static void forget_record(void)
{
	for (unsigned key = 0; key < 3; key++)
		unnote(key);
}

static void load_too_small(void *unused)
{
	(void)unused;
	struct weir_reload *r = begin_into(1, false);
	bool fits = form_reload_insert(r, 0) >= 0;
	for (unsigned key = 1; key < 3; key++)
		if (noted(key) && form_reload_insert(r, key) < 0)
			fits = false;
	if (fits)
		det_assert(weir_reload_commit(r) == 0);
	else
		weir_reload_abort(r);
}

static void next_too_small(void)
{
	begin_with(3);
	forget_record();
	spawn(record_and_insert, 1);
	spawn(verify_thread_of, 1);
	det_spawn(load_too_small, NULL);
	det_join_all();
	end_exactly(1);
}

static void two_into_too_small(void)
{
	begin_with(3);
	forget_record();
	spawn(record_and_insert, 1);
	spawn(record_and_insert, 2);
	det_spawn(load_too_small, NULL);
	det_join_all();
	end_exactly(2);
}

/* ---- the way out: current is full, next is larger ---- */

static void load_larger(void *unused)
{
	(void)unused;
	struct weir_reload *r = begin_into(6, false);
	load(r, 0);
	for (unsigned key = 1; key < 3; key++)
		if (noted(key))
			load(r, key);
	det_assert(weir_reload_commit(r) == 0);
	promise(3);
}

/* Who was refused has a place after the commit. */
static void insert_until_it_fits(void *key)
{
	const unsigned k = (unsigned)(uintptr_t)key;
	record_and_insert(key);
	if (answer[k] < 0 && promised(3)) {
		insert(k);
		det_assert(answer[k] >= 0);
	}
}

static void way_out(void)
{
	begin_with(2);
	forget_record();
	spawn(insert_until_it_fits, 1);
	spawn(insert_until_it_fits, 2);
	det_spawn(load_larger, NULL);
	det_join_all();
	det_assert(count_of(0) == 1);
	for (unsigned key = 1; key < 3; key++) {
		/* twice if the loader has read its record too */
		det_assert(count_of(key) <= (answer[key] >= 0) + 1);
		det_assert(answer[key] < 0 || count_of(key) >= 1);
	}
	handle_end();
}

static void way_out_verified(void)
{
	begin_with(1);
	forget_record();
	spawn(insert_until_it_fits, 1);
	spawn(verify_thread_of, 1);
	det_spawn(load_larger, NULL);
	det_join_all();
	det_assert(answer[1] < 0 || count_of(1) >= 1);
	handle_end();
}

/* ---- the previous filter refuses ---- */

static int rolled;

/* The previous filter has room for @most, key 0 among them. */
static void begin_with_previous(uint32_t most)
{
	begin_with(most);
	struct weir_reload *r = begin_into(6, true);
	load(r, 0);
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
	spawn(insert_thread_of, 1);
	spawn(verify_thread_of, 1);
	det_spawn(roll_back, NULL);
	det_join_all();
	det_assert((rolled == 0) == (answer[1] < 0));
	end_exactly(1);
}

static void one_fits(void)
{
	begin_with_previous(2);
	spawn(insert_thread_of, 1);
	spawn(insert_thread_of, 2);
	det_spawn(roll_back, NULL);
	det_join_all();
	det_assert(rolled == 0 || (answer[1] >= 0 && answer[2] >= 0));
	end_exactly(2);
}

static void reload_over_it(void *unused)
{
	(void)unused;
	struct weir_reload *r = begin_into(6, false);
	det_assert(weir_reload_copy(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

/* The reload frees a previous filter that is void while others still insert. */
static void beside_freeing(unsigned keys)
{
	begin_with_previous(1);
	for (unsigned key = 1; key <= keys; key++)
		spawn(insert_thread_of, key);
	if (keys == 1)
		spawn(verify_thread_of, 1);
	det_spawn(reload_over_it, NULL);
	det_join_all();
	det_assert(count_of(0) == 1);
	for (unsigned key = 1; key <= keys; key++) /* twice: beside the copy */
		det_assert(answer[key] >= 0 && count_of(key) >= 1 && count_of(key) <= 2);
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

/* What a rollback returned to is kept once more, and refuses then. */
static void roll_back_and_keep(void *unused)
{
	(void)unused;
	det_assert(weir_handle_rollback(handle) == 0);
	struct weir_reload *r = begin_into(6, true);
	load(r, 0);
	det_assert(weir_reload_commit(r) == 0);
	insert(1);
	det_assert(answer[1] == WEIR_NEW);
	det_assert(weir_handle_rollback(handle) == -ENOENT);
}

static void kept_once_more(void)
{
	begin_with_previous(1);
	det_spawn(roll_back_and_keep, NULL);
	det_join_all();
	end_exactly(1);
}

static bool once(const struct subject *s)
{
	for (const struct subject *before = subjects; before < s; before++)
		if (smallest(before))
			return false;
	return smallest(s);
}

const struct scenario full_scenarios[] = {
	{ .name = "next too small", .group = "full", .body = next_too_small, .cost = 3,
	  .fits = once },
	{ .name = "two into too small", .group = "full", .body = two_into_too_small, .cost = 3,
	  .fits = once },
	{ .name = "way out", .group = "full", .body = way_out, .cost = 3, .fits = once },
	{ .name = "way out, verified", .group = "full", .body = way_out_verified, .cost = 3,
	  .fits = once },
	{ .name = "void or refused", .group = "full", .body = void_or_refused, .cost = 3,
	  .fits = once },
	{ .name = "one fits", .group = "full", .body = one_fits, .cost = 3, .fits = once },
	{ .name = "void and freed", .group = "full", .body = void_and_freed, .cost = 3,
	  .fits = once },
	{ .name = "two, void and freed", .group = "full", .body = two_void_and_freed, .cost = 3,
	  .fits = once, .preemptions = 2 },
	{ .name = "kept once more", .group = "full", .body = kept_once_more, .cost = 3,
	  .fits = once },
	{ .name = NULL },
};
