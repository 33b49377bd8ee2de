/* SPDX-License-Identifier: MIT
 * A filter that has left the handle's record is freed after the last section that found the filter
 * has ended, and not before ([FREE-AFTER-GRACE]). The filter is freed after a wait, by call_rcu, or
 * with the handle itself. */
#include "scenario_handle.h"

static void spawn_reload(const struct weir_reload_options *options)
{
	det_spawn(reload_by_copy_thread, (void *)(uintptr_t)options);
}

static void kept_over(const struct rcu_flavor_struct *of, const struct weir_reload_options *options)
{
	handle_begin(of);
	det_spawn(handle_keep_thread, NULL);
	spawn_reload(options);
	det_join_all();
	handle_end_with(0, 1);
}

static void kept(void)
{
	kept_over(&urcu_bp_flavor, NULL);
}

static void kept_memb(void)
{
	kept_over(&det_memb_flavor, &defer_free);
}

static void kept_qsbr(void)
{
	kept_over(&det_qsbr_flavor, NULL);
}

static void kept_qsbr_deferred(void)
{
	kept_over(&det_qsbr_flavor, &defer_free);
}

/* The second reload begins while the first reload's old filter still waits for call_rcu. */
static void two_deferred(void *unused)
{
	(void)unused;
	reload_by_copy(&defer_free);
	reload_by_copy(&defer_free);
}

static void deferred(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_insert_thread, &one);
	det_spawn(two_deferred, NULL);
	det_join_all();
	handle_end_with(1, 2);
}

static void deferred_kept(void)
{
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_keep_thread, NULL);
	det_spawn(two_deferred, NULL);
	det_join_all();
	handle_end_with(0, 2);
}

/* The abort is in a section, so it cannot wait for a grace period. */
static void abort_inside(void *unused)
{
	(void)unused;
	struct weir_reload *r = reload_begun(NULL);
	flavor->read_lock();
	weir_reload_abort(r);
	det_assert(handle_holds(0));
	flavor->read_unlock();
}

static void aborted_inside(void)
{
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_keep_thread, NULL);
	det_spawn(abort_inside, NULL);
	det_join_all();
	handle_end_with(0, 0);
}

/* Measures the handle while the measured filters are published and freed. */
static void ask_stats(void *unused)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	(void)unused;
	acts_on_keys(1u << SUBJECT_KEYS); /* this thread acts on no key */
	det_assert(weir_handle_measure(handle, &s, &filter) == 0);
	det_assert(s.generation >= 1 && s.generation <= 2 && s.bytes >= subject->bytes &&
	           s.bytes <= 3 * subject->bytes);
	det_assert(filter.bytes == subject->bytes && !(s.reloading && s.generation == 2));
}

static void measured(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	det_spawn(ask_stats, NULL);
	det_spawn(handle_insert_thread, &one);
	spawn_reload(&defer_free);
	det_join_all();
	handle_end_with(1, 1);
}

/* The filter of generation 2 also has key 1, so figures from two moments would contradict each
 * other. */
static double fill_of[3];

static void ask_stats_at_once(void *unused)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	(void)unused;
	acts_on_keys(3);
	det_assert(weir_handle_measure(handle, &s, &current) == 0);
	det_assert(current.fill == fill_of[s.generation]);
	det_assert(s.bytes == subject->bytes * (s.reloading ? 2 : 1));
}

static void reload_with_one_more(void *unused)
{
	(void)unused;
	struct weir_reload *r = reload_begun(NULL);
	det_assert(form_reload_insert(r, hash_of(0)) == WEIR_NEW);
	det_assert(form_reload_insert(r, hash_of(1)) == WEIR_NEW);
	det_assert(weir_reload_commit(r) == 0);
}

static void learn_fills(void)
{
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_filter *f;
	det_assert(weir_clone(&f, subject->filter) == 0);
	for (unsigned key = 0; key < 2; key++) {
		det_assert(form_insert(f, hash_of(key)) == WEIR_NEW);
		det_assert(weir_measure(f, WEIR_SAMPLED, &s) == 0);
		fill_of[1 + key] = s.fill;
	}
	weir_destroy(f);
}

static void measured_at_once(void)
{
	handle_begin(&urcu_bp_flavor);
	learn_fills();
	det_spawn(ask_stats_at_once, NULL);
	det_spawn(reload_with_one_more, NULL);
	det_join_all();
	handle_end_with(1, 1);
}

/* Calls weir_handle_hash() and weir_handle_remove() during a reload. The removal fails, because a
 * reload is running (-EBUSY), or because the kinds of this group cannot remove (-ENOTSUP). */
static void hash_and_remove(void *unused)
{
	uint64_t key = subject_key(subject, hash_of(0));
	(void)unused;
	acts_on_keys(1);
	det_assert(weir_handle_hash(handle, &key, sizeof key) == hash_of(0) || reseeds());
	int err = weir_handle_remove(handle, &key, sizeof key);
	det_assert(err == -EBUSY || err == -ENOTSUP);
}

static void hashed_and_removed(void)
{
	handle_begin(&urcu_bp_flavor);
	det_spawn(hash_and_remove, NULL);
	spawn_reload(NULL);
	det_join_all();
	handle_end_with(0, 1);
}

/* ---- the handle itself, which threads find through a pointer of the application ---- */

static struct weir_handle *found;

static struct weir_handle *find(void)
{
	return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}

static void look_if_there(void *unused)
{
	(void)unused;
	acts_on_keys(1);
	flavor->read_lock();
	struct weir_handle *h = find();
	det_assert(!h || form_handle_contains(h, hash_of(0)));
	flavor->read_unlock();
}

static void insert_if_there(void *unused)
{
	(void)unused;
	acts_on_keys(2);
	flavor->read_lock();
	struct weir_handle *h = find();
	if (reseeds())
		record_key(1);
	if (h) /* a loader that reads the record may insert the key before this thread */
		det_assert(form_handle_insert(h, hash_of(1)) == WEIR_NEW || reseeds());
	flavor->read_unlock();
}

static void unpublish_and_destroy(void *options)
{
	if (options)
		reload_by_copy(options);
	__atomic_store_n(&found, NULL, __ATOMIC_RELEASE);
	det_assert(weir_handle_destroy(handle) == 0);
}

static void destroyed_with(const struct weir_reload_options *options)
{
	handle_begin(&urcu_bp_flavor);
	found = handle;
	det_spawn(look_if_there, NULL);
	det_spawn(insert_if_there, NULL);
	det_spawn(unpublish_and_destroy, (void *)(uintptr_t)options);
	det_join_all();
	det_assert(det_allocated() == 0);
}

static void destroyed(void)
{
	destroyed_with(NULL);
}

static void destroyed_deferred(void)
{
	destroyed_with(&defer_free);
}

static void destroyed_with_previous(void)
{
	destroyed_with(&keep_previous);
}

const struct scenario retire_scenarios[] = {
	{ .name = "kept", .group = "retire", .body = kept, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "kept, memb", .group = "retire", .body = kept_memb, .narrowed = true, .cost = 3,
	  .fits = smallest },
	{ .name = "kept, qsbr", .group = "retire", .body = kept_qsbr, .narrowed = true, .cost = 3,
	  .fits = smallest },
	{ .name = "kept, qsbr deferred", .group = "retire", .body = kept_qsbr_deferred,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "deferred", .group = "retire", .body = deferred, .narrowed = true, .cost = 3,
	  .fits = small, .preemptions = 2 },
	{ .name = "deferred, kept", .group = "retire", .body = deferred_kept, .narrowed = true,
	  .cost = 3, .fits = smallest, .preemptions = 2 },
	{ .name = "aborted inside", .group = "retire", .body = aborted_inside, .narrowed = true,
	  .cost = 3, .fits = small },
	{ .name = "measured", .group = "retire", .body = measured, .narrowed = true, .cost = 3,
	  .fits = small, .preemptions = 2 },
	{ .name = "measured at once", .group = "retire", .body = measured_at_once,
	  .one_seed = true,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = "hashed and removed", .group = "retire", .body = hashed_and_removed,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "destroyed", .group = "retire", .body = destroyed, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "destroyed, deferred", .group = "retire", .body = destroyed_deferred,
	  .narrowed = true, .cost = 3, .fits = small, .preemptions = 2 },
	{ .name = "destroyed, previous", .group = "retire", .body = destroyed_with_previous,
	  .narrowed = true, .cost = 3, .fits = small },
	{ .name = NULL },
};
