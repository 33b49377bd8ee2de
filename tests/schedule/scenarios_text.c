/* SPDX-License-Identifier: MIT
 * Domains with numbers of labels that are new in the set ([LENGTH-FIRST] in
 * src/normalise/normalise.c). After an insert has returned, its key is found. One subject is
 * enough, because its bits are not under test. No thread looks up during the inserts: a lookup
 * loads six words, each with an old or a new value, which would make millions of executions. */
#include <string.h>
#include "scenario.h"

static struct weir_filter *set;
static struct weir_handle *handle;
static const char *const names[] = { "com", "a.org", "b.a.net" };
static const struct weir_reload_options keep = { .struct_size = sizeof keep,
	                                         .gate = &any_hashes,
	                                         .keep_previous = true };

static struct weir_filter *empty; /* made only once, because this takes longer than a scenario */

static bool make_empty(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.capacity = 4;
	params.max_bytes = 64;
	params.seed = 1;
	params.text.steps = WEIR_TEXT_SUFFIXES;
	return empty || weir_create(&empty, &params) == 0;
}

static struct weir_filter *made(void)
{
	struct weir_filter *f;
	det_assert(weir_clone(&f, empty) == 0);
	return f;
}

static void begin(void)
{
	scenario_begin();
	set = made();
}

static void end(void)
{
	weir_destroy(set);
	det_assert(det_allocated() == 0);
}

static bool in_set(unsigned i)
{
	return weir_contains(set, names[i], strlen(names[i]));
}

static void insert(void *slot)
{
	unsigned i = *(unsigned *)slot;
	det_assert(weir_insert(set, names[i], strlen(names[i])) >= 0);
}

static unsigned each[] = { 0, 1, 2 };

/* Two numbers of labels are bits of one word. Neither insert undoes the other insert's bit. */
static void two_lengths(void)
{
	begin();
	det_spawn(insert, &each[0]);
	det_spawn(insert, &each[1]);
	det_join_all();
	det_assert(in_set(0) && in_set(1));
	end();
}

static void merge(void *from)
{
	det_assert(weir_merge(set, from) == 0);
}

/* A merge and an insert record different numbers of labels in one word. */
static void insert_and_merge(void)
{
	begin();
	struct weir_filter *other = made();
	det_assert(weir_insert(other, names[2], strlen(names[2])) == WEIR_NEW);
	det_spawn(insert, &each[1]);
	det_spawn(merge, other);
	det_join_all();
	det_assert(in_set(1) && in_set(2));
	weir_destroy(other);
	end();
}

/* ---- a set in a handle: each filter of the handle records the numbers of labels itself ---- */

static bool in_handle(unsigned i)
{
	return weir_handle_contains(handle, names[i], strlen(names[i]));
}

static void insert_through(void *slot)
{
	unsigned i = *(unsigned *)slot;
	det_assert(weir_handle_insert(handle, names[i], strlen(names[i])) >= 0);
}

static void insert_batch_through(void *slot)
{
	unsigned i = *(unsigned *)slot;
	const struct iovec one = { (void *)(uintptr_t)names[i], strlen(names[i]) };
	det_assert(weir_handle_insert_keys(handle, weir_keys_iov(&one, 1), NULL) >= 0);
}

static void replace(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	det_assert(weir_reload_begin(&r, handle, &keep) == 0);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void replace_and_return(void *unused)
{
	replace(unused);
	det_assert(weir_handle_rollback(handle) == 0);
}

static void beside(void (*inserter)(void *), void (*loader)(void *))
{
	begin();
	det_assert(weir_handle_create(&handle, set, NULL) == 0);
	det_spawn(inserter, &each[1]);
	det_spawn(loader, NULL);
	det_join_all();
	det_assert(in_handle(1));
	det_assert(weir_handle_destroy(handle) == 0);
	det_assert(det_allocated() == 0);
}

static void insert_and_reload(void)
{
	beside(insert_through, replace);
}

static void batch_and_reload(void)
{
	beside(insert_batch_through, replace);
}

static void insert_and_roll_back(void)
{
	beside(insert_through, replace_and_return);
}

static bool first(const struct subject *s)
{
	return s == &subjects[0];
}

#define TEXT(title, run) \
	{ .name = title, .group = "text", .body = run, .fits = first, .prepare = make_empty, \
	  .one_form = true, .cost = 8 }
/* The schedules of a reload are long: with two preemptions a search takes a minute. */
#define HANDLE(title, run) \
	{ .name = title, .group = "text", .body = run, .fits = first, .prepare = make_empty, \
	  .one_form = true, .cost = 8, .preemptions = 1 }

const struct scenario text_scenarios[] = {
	TEXT("two lengths", two_lengths),
	TEXT("insert merge", insert_and_merge),
	HANDLE("insert reload", insert_and_reload),
	HANDLE("batch reload", batch_and_reload),
	HANDLE("insert rollback", insert_and_roll_back),
	{ .name = NULL }
};
