/* SPDX-License-Identifier: MIT
 * A router in several threads: inserts into cells of one word, and reloads that clear one set
 * ([ROUTER-CELL] to [COLUMN-COPY] in src/router/router.h). One subject is enough, because a router
 * makes its own array. */
#include <errno.h>
#include <weir/router.h>
#include "scenario.h"

enum { KEY = 0, KEPT = 0, CLEARED = 1, SETS = 2, TRIES = 2 };
static struct weir_filter *router;
static struct weir_handle *handle;
static struct weir_reload_options how;
static uint64_t masks[TRIES];
static int result, both[TRIES] = { 0, 1 };

/* Makes a router with one page and two rows a key, so that the cells of both sets are bits of one
 * word. */
static struct weir_filter *made(void)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *r;
	o.kind = WEIR_ROUTER;
	o.router.sets = SETS;
	o.capacity = 4;
	o.max_bytes = 8192;
	o.router.rows_per_key = 2;
	o.seed = 1;
	det_assert(weir_create(&r, &o) == 0);
	return r;
}

static void begin(void)
{
	scenario_begin();
	router = made();
}

static void end(void)
{
	weir_destroy(router);
	det_assert(det_allocated() == 0);
}

static void begin_handle(void)
{
	begin();
	how = (struct weir_reload_options)WEIR_RELOAD_OPTIONS_INIT;
	how.gate = &any_hashes;
	det_assert(weir_handle_create(&handle, router, NULL) == 0);
}

static void end_handle(void)
{
	det_assert(weir_handle_destroy(handle) == 0);
	det_assert(det_allocated() == 0);
}

/* ---- a router without a handle ---- */

/* Inserts the key into set @slot. */
static void insert(void *slot)
{
	int i = *(int *)slot;
	answer[i] = weir_insert_into_hash(router, (uint32_t)i, hash_of(KEY));
	promise((unsigned)i);
	det_assert(answer[i] == WEIR_NEW);
}

static void insert_same(void *slot)
{
	answer[*(int *)slot] = weir_insert_into_hash(router, KEPT, hash_of(KEY));
}

static void two_sets(void)
{
	begin();
	det_spawn(insert, &both[0]);
	det_spawn(insert, &both[1]);
	det_join_all();
	det_assert(weir_route_hash(router, hash_of(KEY)) == 3);
	end();
}

static void one_set(void)
{
	begin();
	det_spawn(insert_same, &both[0]);
	det_spawn(insert_same, &both[1]);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW || answer[1] == WEIR_NEW);
	det_assert(weir_route_hash(router, hash_of(KEY)) == 1);
	end();
}

static void look(void *unused)
{
	uint64_t wanted = (uint64_t)promised(0) | (uint64_t)promised(1) << 1;
	uint64_t hashes[2] = { hash_of(KEY), hash_of(KEY) };
	(void)unused;
	det_assert((weir_route_hash(router, hash_of(KEY)) & wanted) == wanted);
	(void)weir_route_keys(router, weir_keys_hashes(hashes, 2), masks);
	det_assert((masks[0] & wanted) == wanted && (masks[1] & wanted) == wanted);
}

static void promised_route(void)
{
	begin();
	det_spawn(insert, &both[0]);
	det_spawn(insert, &both[1]);
	det_spawn(look, NULL);
	det_join_all();
	end();
}

/* A merge and an insert write bits of one word. */
static void merge(void *from)
{
	det_assert(weir_merge(router, from) == 0);
}

static void insert_and_merge(void)
{
	begin();
	struct weir_filter *other = made();
	det_assert(weir_insert_into_hash(other, 1, hash_of(KEY)) == WEIR_NEW);
	det_spawn(insert, &both[0]);
	det_spawn(merge, other);
	det_join_all();
	det_assert(weir_route_hash(router, hash_of(KEY)) == 3);
	weir_destroy(other);
	end();
}

/* ---- a router in a handle ---- */

static void insert_through(void *slot)
{
	int i = *(int *)slot;
	det_assert(weir_handle_insert_into_hash(handle, (uint32_t)i, hash_of(KEY)) >= 0);
	promise((unsigned)i);
}

/* A key inserted before weir_reload_begin() has returned may be cleared with its set. A key
 * inserted later stays. */
static void insert_later(void *slot)
{
	if (promised(2))
		insert_through(slot);
}

static void look_through(void *unused)
{
	uint64_t wanted = (uint64_t)promised(0) | (uint64_t)promised(1) << 1;
	(void)unused;
	det_assert((weir_handle_route_hash(handle, hash_of(KEY)) & wanted) == wanted);
}

static void clear(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	det_assert(weir_reload_begin(&r, handle, &how) == 0);
	promise(2);
	det_assert(weir_reload_copy(r, ~(UINT64_C(1) << CLEARED)) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void insert_and_clear(void)
{
	begin_handle();
	det_spawn(insert_through, &both[KEPT]);
	det_spawn(insert_later, &both[CLEARED]);
	det_spawn(clear, NULL);
	det_join_all();
	look_through(NULL);
	end_handle();
}

static void route_and_clear(void)
{
	begin_handle();
	det_spawn(insert_through, &both[KEPT]);
	det_spawn(look_through, NULL);
	det_spawn(clear, NULL);
	det_join_all();
	look_through(NULL);
	end_handle();
}

static void replace_and_return(void *unused)
{
	how.keep_previous = true;
	clear(unused);
	result = weir_handle_rollback(handle);
	det_assert(result == 0);
}

static void insert_and_roll_back(void)
{
	begin_handle();
	det_spawn(insert_through, &both[0]);
	det_spawn(insert_through, &both[1]);
	det_spawn(replace_and_return, NULL);
	det_join_all();
	look_through(NULL);
	end_handle();
}

static void give_up(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	det_assert(weir_reload_begin(&r, handle, &how) == 0);
	weir_reload_abort(r);
}

static void insert_and_give_up(void)
{
	begin_handle();
	det_spawn(insert_through, &both[0]);
	det_spawn(look_through, NULL);
	det_spawn(give_up, NULL);
	det_join_all();
	look_through(NULL);
	end_handle();
}

static bool first(const struct subject *s)
{
	return s == &subjects[0];
}

#define ROUTER(title, run) \
	{ .name = title, .group = "router", .body = run, .fits = first, .one_form = true, \
	  .cost = 8 }
/* The schedules of a reload are long: with three preemptions a search takes minutes. */
#define HANDLE(title, run) \
	{ .name = title, .group = "router", .body = run, .fits = first, .one_form = true, \
	  .cost = 8, .preemptions = 2 }

const struct scenario router_scenarios[] = {
	ROUTER("two sets", two_sets),
	ROUTER("one set", one_set),
	ROUTER("promised route", promised_route),
	ROUTER("insert merge", insert_and_merge),
	HANDLE("insert clear", insert_and_clear),
	HANDLE("route clear", route_and_clear),
	HANDLE("insert rollback", insert_and_roll_back),
	HANDLE("insert abort", insert_and_give_up),
	{ .name = NULL }
};
