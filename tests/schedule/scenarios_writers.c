/* SPDX-License-Identifier: MIT
 * Several threads that try to replace the filter. Only one thread at a time may replace it. Other
 * threads are refused with -EBUSY ([ONE-WRITER]). */
#include "scenario_handle.h"

enum { WRITERS = 2 };
static int result[WRITERS];
static struct weir_reload *begun[WRITERS];

static void begin_thread(void *which)
{
	int i = *(int *)which;
	result[i] = reload_begin(&begun[i], NULL);
}

static int both[WRITERS] = { 0, 1 };

static void spawn_both(void (*run)(void *))
{
	for (int i = 0; i < WRITERS; i++) {
		result[i] = 1;
		det_spawn(run, &both[i]);
	}
}

/* Two threads begin a reload, and one of them is refused with -EBUSY. The other reload stays open
 * during the insert, and no insert is lost. */
static void two_begin(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	spawn_both(begin_thread);
	det_spawn(handle_insert_thread, &one);
	det_join_all();
	det_assert((result[0] == 0 && result[1] == -EBUSY) ||
	           (result[0] == -EBUSY && result[1] == 0));
	struct weir_reload *r = begun[result[0] == 0 ? 0 : 1];
	det_assert(weir_handle_destroy(handle) == -EBUSY);
	det_assert(carry_over(r) == 0 && weir_reload_commit(r) == 0);
	handle_end_with(1, 1);
}

/* Each thread that may begin a reload adds its own key. */
static void reload_if_free(void *which)
{
	int i = *(int *)which;
	struct weir_reload *r;
	result[i] = reload_begin(&r, NULL);
	if (result[i])
		return;
	det_assert(carry_over(r) == 0);
	det_assert(form_reload_insert(r, hash_of(2 + (unsigned)i)) == WEIR_NEW);
	if (reseeds())
		record_key(2 + (unsigned)i);
	det_assert(weir_reload_commit(r) == 0);
}

static void two_loaders(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	spawn_both(reload_if_free);
	det_spawn(handle_insert_thread, &one);
	det_join_all();
	unsigned swaps = 0;
	for (unsigned i = 0; i < WRITERS; i++) {
		det_assert(result[i] == 0 || result[i] == -EBUSY);
		det_assert(handle_holds(2 + i) == (result[i] == 0));
		swaps += result[i] == 0;
	}
	det_assert(swaps);
	handle_end_with(1, swaps);
}

static void roll_back_or_drop(void *which)
{
	int i = *(int *)which;
	result[i] = i ? weir_handle_drop_previous(handle) : weir_handle_rollback(handle);
}

/* One of the two threads gets the previous filter, and the other is refused. */
static void rollback_and_drop(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	reload_by_copy(&keep_previous);
	spawn_both(roll_back_or_drop);
	det_spawn(handle_insert_thread, &one);
	det_join_all();
	det_assert((result[0] == 0) + (result[1] == 0) == 1);
	int other = result[result[0] == 0];
	det_assert(other == -EBUSY || other == -ENOENT);
	handle_end_with(1, result[0] == 0 ? 2 : 1);
}

static void roll_back_if_free(void *unused)
{
	(void)unused;
	result[0] = weir_handle_rollback(handle);
}

static void reload_unless_busy(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	result[1] = reload_begin(&r, &keep_previous);
	if (result[1])
		return;
	det_assert(carry_over(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void rollback_and_reload(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	reload_by_copy(&keep_previous);
	det_spawn(roll_back_if_free, NULL);
	det_spawn(reload_unless_busy, NULL);
	det_spawn(handle_insert_thread, &one);
	det_join_all();
	det_assert(result[0] == 0 || result[1] == 0);
	det_assert(result[0] == 0 || result[0] == -EBUSY);
	det_assert(result[1] == 0 || result[1] == -EBUSY);
	handle_end_with(1, 1u + (result[0] == 0) + (result[1] == 0));
}

/* While a writer works, or after it has finished, at most one of two threads begins a reload. A
 * reload that has begun stays open, so the other thread is refused. */
static int finished; /* the writer's result */

static void lets_one_in(void (*writer)(void *))
{
	handle_begin(&urcu_bp_flavor);
	reload_by_copy(&keep_previous);
	det_spawn(writer, NULL);
	spawn_both(begin_thread);
	det_join_all();
	det_assert(finished == 0 || finished == -EBUSY);
	det_assert(result[0] == -EBUSY || result[1] == -EBUSY);
	struct weir_reload *r = result[0] == 0 ? begun[0] : result[1] == 0 ? begun[1] : NULL;
	weir_reload_abort(r ? r : reload_begun(NULL));
	handle_end();
}

static void roll_back(void *unused)
{
	(void)unused;
	finished = weir_handle_rollback(handle);
}

static void drop(void *unused)
{
	(void)unused;
	finished = weir_handle_drop_previous(handle);
}

static void begin_and_commit(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	finished = reload_begin(&r, NULL);
	if (!finished)
		det_assert(weir_reload_commit(r) == 0);
}

static void begin_and_abort(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	finished = reload_begin(&r, NULL);
	if (!finished)
		weir_reload_abort(r);
}

static void rollback_lets_one_in(void)
{
	lets_one_in(roll_back);
}

static void drop_lets_one_in(void)
{
	lets_one_in(drop);
}

static void commit_lets_one_in(void)
{
	lets_one_in(begin_and_commit);
}

static void abort_lets_one_in(void)
{
	lets_one_in(begin_and_abort);
}

/* A call that would wait for its own thread is refused. */
static void inside_section(void)
{
	handle_begin(&urcu_bp_flavor);
	reload_by_copy(&keep_previous);
	struct weir_reload *r = NULL, *none = NULL;
	flavor->read_lock();
	det_assert(weir_reload_begin(&none, handle, NULL) == -EDEADLK && !none);
	det_assert(weir_handle_rollback(handle) == -EDEADLK &&
	           weir_handle_drop_previous(handle) == -EDEADLK);
	det_assert(weir_handle_destroy(handle) == -EDEADLK);
	flavor->read_unlock();
	r = reload_begun(NULL);
	flavor->read_lock();
	det_assert(weir_reload_commit(r) == -EDEADLK);
	flavor->read_unlock();
	weir_reload_abort(r);
	handle_end_with(0, 1);
}

const struct scenario writers_scenarios[] = {
	{ .name = "two begin", .group = "writers", .body = two_begin, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "two loaders", .group = "writers", .body = two_loaders, .narrowed = true,
	  .cost = 3, .fits = small },
	{ .name = "rollback and drop", .group = "writers", .body = rollback_and_drop,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = "rollback and reload", .group = "writers", .body = rollback_and_reload,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = "let in by rollback", .group = "writers", .body = rollback_lets_one_in,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "let in by drop", .group = "writers", .body = drop_lets_one_in,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "let in by commit", .group = "writers", .body = commit_lets_one_in,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "let in by abort", .group = "writers", .body = abort_lets_one_in,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "inside a section", .group = "writers", .body = inside_section, .narrowed = true,
	  .cost = 3, .fits = smallest },
	{ .name = NULL },
};
