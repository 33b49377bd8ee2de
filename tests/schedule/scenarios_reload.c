/* SPDX-License-Identifier: MIT
 * A reload during inserts and lookups. The next filter is filled by a copy or from the
 * application's record, or the reload is aborted ([DUAL-WRITE], [BEGIN-WAITS]). */
#include "scenario_handle.h"

static void copied_with(const struct rcu_flavor_struct *of)
{
	handle_begin(of);
	spawn_insert_and_verify();
	det_spawn(reload_by_copy_thread, NULL);
	det_join_all();
	/* a loader that reads the record may insert the key before the inserter */
	det_assert(answer[1] == WEIR_NEW || reseeds());
	handle_end_with(1, 1);
}

static void copied(void)
{
	copied_with(&urcu_bp_flavor);
}

static void copied_memb(void)
{
	copied_with(&det_memb_flavor);
}

static void copied_qsbr(void)
{
	copied_with(&det_qsbr_flavor);
}

/* The loader sleeps after each step, but not within its own section. */
static void reload_at_a_pace(void *unused)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	(void)unused;
	flavor->register_thread();
	options.pace = 0.5;
	struct weir_reload *r = reload_begun(&options);
	/* with qsbr, all code between quiescent states is a section */
	if (flavor != &det_qsbr_flavor) {
		flavor->read_lock();
		det_assert(form_reload_insert(r, hash_of(0)) >= 0);
		flavor->read_unlock();
	}
	det_assert(carry_over(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
	flavor->unregister_thread();
}

static void paced_with(const struct rcu_flavor_struct *of)
{
	handle_begin(of);
	spawn_insert_and_verify();
	det_spawn(reload_at_a_pace, NULL);
	det_join_all();
	handle_end_with(1, 1);
}

static void paced(void)
{
	paced_with(&urcu_bp_flavor);
}

static void paced_qsbr(void)
{
	paced_with(&det_qsbr_flavor);
}

static void two_inserters(void)
{
	static struct insertion insertions[] = { { 1, 1 }, { 2, 2 } };
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_insert_thread, &insertions[0]);
	det_spawn(handle_insert_thread, &insertions[1]);
	det_spawn(reload_by_copy_thread, NULL);
	det_join_all();
	handle_end_with(2, 1);
}

/* Two threads insert one new key, and each thread may take its answer from either filter. At least
 * one insert returns WEIR_NEW, unless the reload changes the seed. While one filter replaces the
 * other, both inserts may return WEIR_NEW. */
static void one_key_twice(void)
{
	static struct insertion insertions[] = { { 1, 1 }, { 1, 2 } };
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_insert_thread, &insertions[0]);
	det_spawn(handle_insert_thread, &insertions[1]);
	det_spawn(reload_by_copy_thread, NULL);
	det_join_all();
	det_assert(answer[1] == WEIR_NEW || answer[2] == WEIR_NEW || reseeds());
	det_assert(answer[1] >= 0 && answer[2] >= 0);
	handle_end_with(1, 1);
}

static void record_and_insert(void *insertion)
{
	record_key(((const struct insertion *)insertion)->key);
	handle_insert_thread(insertion);
}

static void reload_from_record(void *unused)
{
	(void)unused;
	struct weir_reload *r = reload_begun(NULL);
	for (unsigned key = 0; key < 2; key++)
		if (is_recorded(key))
			det_assert(form_reload_insert(r, hash_of(key)) >= 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void recorded(void)
{
	static struct insertion one = { 1, 1 };
	handle_begin(&urcu_bp_flavor);
	det_spawn(record_and_insert, &one);
	det_spawn(handle_verify_thread, &one);
	det_spawn(reload_from_record, NULL);
	det_join_all();
	handle_end_with(1, 1);
}

static void two_reloads(void *unused)
{
	(void)unused;
	reload_by_copy(NULL);
	reload_by_copy(NULL);
}

static void in_turn(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(two_reloads, NULL);
	det_join_all();
	handle_end_with(1, 2);
}

/* Key 2 is inserted only into the next filter, and the reload is aborted. */
static void begin_and_abort(void *options)
{
	struct weir_reload *r = reload_begun(options);
	det_assert(form_reload_insert(r, hash_of(2)) == WEIR_NEW);
	weir_reload_abort(r);
}

static void aborted(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(begin_and_abort, NULL);
	det_join_all();
	det_assert(!handle_holds(2));
	handle_end_with(1, 0);
}

static int refuse(const struct weir_filter *next, void *context)
{
	(void)context;
	det_assert(form_contains(next, hash_of(0)));
	return 1;
}

static void be_refused(void *unused)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	(void)unused;
	gate.check = refuse;
	options.gate = &gate;
	struct weir_reload *r = reload_begun(&options);
	det_assert(form_reload_insert(r, hash_of(0)) == WEIR_NEW &&
	           form_reload_insert(r, hash_of(2)) == WEIR_NEW);
	det_assert(weir_reload_commit(r) == -ECANCELED);
}

static void refused(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(be_refused, NULL);
	det_join_all();
	det_assert(!handle_holds(2));
	handle_end_with(1, 0);
}

/* The next filter exists before the reload begins. It has key 2, and a copy adds the other keys. */
static void reload_given(void *unused)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	(void)unused;
	det_assert(weir_clone(&o.next, subject->filter) == 0);
	det_assert(form_insert(o.next, hash_of(2)) == WEIR_NEW);
	det_assert(weir_reload_begin(&r, handle, &o) == 0);
	det_assert(weir_reload_next(r) == o.next);
	det_assert(carry_over(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void given(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(reload_given, NULL);
	det_join_all();
	handle_end_with(2, 1);
}

const struct scenario reload_scenarios[] = {
	{ .name = "copied", .group = "reload", .body = copied, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "copied, memb", .group = "reload", .body = copied_memb, .narrowed = true,
	  .cost = 3, .fits = smallest },
	{ .name = "copied, qsbr", .group = "reload", .body = copied_qsbr, .narrowed = true,
	  .cost = 3, .fits = smallest },
	{ .name = "paced", .group = "reload", .body = paced, .narrowed = true, .cost = 3,
	  .fits = smallest },
	{ .name = "paced, qsbr", .group = "reload", .body = paced_qsbr, .narrowed = true,
	  .cost = 3, .fits = smallest },
	{ .name = "two inserters", .group = "reload", .body = two_inserters, .narrowed = true,
	  .cost = 3, .fits = smallest },
	{ .name = "two inserters", .group = "reload", .body = two_inserters, .narrowed = true,
	  .cost = 3, .fits = two_words, .preemptions = 2 },
	{ .name = "one key, copied", .group = "reload", .body = one_key_twice,
	  .narrowed = true, .cost = 3, .fits = smallest },
	{ .name = "one key, copied", .group = "reload", .body = one_key_twice,
	  .narrowed = true, .cost = 3, .fits = two_words, .preemptions = 2 },
	{ .name = "recorded", .group = "reload", .body = recorded, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "given", .group = "reload", .body = given, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "in turn", .group = "reload", .body = in_turn, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "aborted", .group = "reload", .body = aborted, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = "refused", .group = "reload", .body = refused, .narrowed = true, .cost = 3,
	  .fits = small },
	{ .name = NULL },
};
