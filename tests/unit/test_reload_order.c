/* SPDX-License-Identifier: MIT
 * Reloads together with other calls: one writer at a time, read sections, previous filters and
 * rollbacks, the time at which memory is freed, and threads that insert and read all the time. */
#include <stdatomic.h>
#include "../handles.h"

static struct weir_reload *untouched;

static struct weir_reload *begin(struct weir_handle *h, bool keep_previous, bool defer_free)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = keep_previous;
	o.defer_free = defer_free;
	assert_ok(weir_reload_begin(&r, h, &o));
	return r;
}

static void test_a_rollback_returns_to_the_previous_filter(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 1000);
		uint64_t each = stats_of(h).bytes;
		struct weir_reload *r = begin(h, true, false);
		insert_into(h, 1000, 2000);
		assert_ok(weir_reload_insert_hash(r, test_key(777777)));
		assert_ok(weir_reload_commit(r));
		assert_true(stats_of(h).previous_kept);
		assert_int_equal(stats_of(h).bytes, 2 * each);
		insert_into(h, 2000, 3000); /* into the current and the previous filter */
		r = begin(h, true, false);
		assert_int_equal(stats_of(h).bytes, 3 * each);
		insert_into(h, 3000, 4000); /* into the current, the next and the previous filter */
		weir_reload_abort(r);
		assert_int_equal(missing_in(h, 1000, 4000), 0);
		assert_ok(weir_handle_rollback(h));
		assert_int_equal(missing_in(h, 0, 4000), 0);
		assert_false(weir_handle_contains_hash(h, test_key(777777)));
		struct weir_handle_stats s = stats_of(h);
		assert_int_equal(s.generation, 3);
		assert_int_equal(s.swaps, 2);
		assert_int_equal(s.bytes, each);
		assert_refused(weir_handle_rollback(h), -ENOENT, "weir_handle_rollback",
		               "no previous filter is kept");
		close_handle(flavor, h);
	}
}

static void test_the_previous_filter_is_dropped_or_replaced(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		uint64_t each = stats_of(h).bytes;
		assert_refused(weir_handle_drop_previous(h), -ENOENT, "weir_handle_drop_previous",
		               "no previous filter is kept");
		assert_ok(weir_reload_commit(begin(h, true, false)));
		insert_into(h, 0, 100);
		/* the commit replaces the previous filter */
		assert_ok(weir_reload_commit(begin(h, true, false)));
		assert_int_equal(stats_of(h).bytes, 2 * each);
		double age = stats_of(h).age;
		assert_ok(weir_handle_drop_previous(h));
		assert_true(stats_of(h).age >= age); /* the current filter was not replaced */
		struct weir_handle_stats s = stats_of(h);
		assert_int_equal(s.bytes, each);
		assert_int_equal(s.generation, 3);
		assert_int_equal(s.swaps, 2);
		assert_ok(weir_reload_commit(begin(h, true, false)));
		/* a reload without keep_previous frees the previous filter */
		assert_ok(weir_reload_commit(begin(h, false, false)));
		assert_false(stats_of(h).previous_kept);
		assert_int_equal(stats_of(h).bytes, each);
		/* the next case: weir_handle_destroy() also frees the previous filter */
		close_handle(flavor, h);
		h = open_handle(flavor, 10000);
		assert_ok(weir_reload_commit(begin(h, true, false)));
		close_handle(flavor, h);
	}
}

static void test_a_second_writer_is_refused(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 1000);
		struct weir_reload *r = begin(h, false, false);
		assert_refused(weir_reload_begin(&untouched, h, NULL), -EBUSY, "weir_reload_begin",
		               "under way");
		assert_refused(weir_handle_rollback(h), -EBUSY, "weir_handle_rollback",
		               "under way");
		assert_refused(weir_handle_drop_previous(h), -EBUSY, "weir_handle_drop_previous",
		               "under way");
		assert_refused(weir_handle_refresh(h, "/none", NULL), -EBUSY, "weir_handle_refresh",
		               "under way");
		assert_refused(weir_handle_destroy(h), -EBUSY, "weir_handle_destroy", "under way");
		assert_null(untouched);
		assert_ok(weir_reload_commit(r));
		weir_reload_abort(begin(h, false, false));
		close_handle(flavor, h);
	}
}

/* Each call would wait until the read sections end. Inside a section of its own, the caller would
 * wait for itself, so the call fails. A thread of qsbr has no sections, so its calls succeed. */
static void test_inside_a_section_writers_are_refused(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 1000);
		struct weir_reload *r = NULL;
		flavor->rcu->read_lock();
		if (flavor->has_sections) {
			assert_refused(weir_reload_begin(&untouched, h, NULL), -EDEADLK,
			               "weir_reload_begin", "read-side section");
			assert_refused(weir_handle_rollback(h), -EDEADLK, "weir_handle_rollback",
			               "read-side section");
			assert_refused(weir_handle_drop_previous(h), -EDEADLK,
			               "weir_handle_drop_previous", "read-side section");
			assert_refused(weir_handle_refresh(h, "/none", NULL), -EDEADLK,
			               "weir_handle_refresh", "read-side section");
			flavor->rcu->read_unlock();
			r = begin(h, false, false);
			insert_into(h, 0, 100);
			flavor->rcu->read_lock();
			assert_refused(weir_reload_commit(r), -EDEADLK, "weir_reload_commit",
			               "read-side section");
			insert_into(h, 100, 200);
			assert_int_equal(stats_of(h).generation, 1);
		} else {
			r = begin(h, false, false);
			insert_into(h, 0, 200);
		}
		flavor->rcu->read_unlock();
		/* the reload was not ended by the refused calls */
		assert_ok(weir_reload_commit(r));
		assert_int_equal(missing_in(h, 0, 200), 0);
		assert_int_equal(stats_of(h).generation, 2);
		assert_null(untouched);
		close_handle(flavor, h);
	}
}

static void test_abort_works_inside_a_section(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 1000);
		uint64_t each = stats_of(h).bytes;
		struct weir_reload *r = begin(h, false, false);
		flavor->rcu->read_lock();
		weir_reload_abort(r);
		assert_false(stats_of(h).reloading);
		/* the next filter is freed after this section ends */
		assert_int_equal(stats_of(h).bytes, flavor->has_sections ? 2 * each : each);
		flavor->rcu->read_unlock();
		expect_bytes(flavor, h, each);
		close_handle(flavor, h);
	}
}

static void test_deferred_free_does_not_wait(void **state)
{
	struct weir_reload_options tight = WEIR_RELOAD_OPTIONS_INIT;
	struct sitter sitter;
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		uint64_t each = stats_of(h).bytes;
		struct weir_reload *r = begin(h, false, true);
		insert_into(h, 0, 100);
		sitter_start(&sitter, flavor->rcu);
		assert_ok(weir_reload_commit(r)); /* does not wait for the sitter's section */
		assert_int_equal(stats_of(h).generation, 2);
		assert_int_equal(stats_of(h).bytes, 2 * each);
		tight.max_bytes = 3 * each - 1;
		/* a filter that is not freed yet counts towards max_bytes */
		assert_refused(weir_reload_begin(&untouched, h, &tight), -EFBIG, "max_bytes",
		               "held");
		sitter_end(&sitter);
		expect_bytes(flavor, h, each);
		assert_ok(weir_reload_begin(&r, h, &tight));
		assert_ok(weir_reload_commit(r));
		assert_ok(weir_reload_commit(begin(h, false, true)));
		close_handle(flavor, h); /* weir_handle_destroy() waits for the deferred free */
	}
}

/* ---- threads that insert, load and read ---- */

enum { INSERTERS = 2, LOADERS = 2, TURNS = 12, KEYS_A_TURN = 400 };

struct crowd {
	const struct flavor *flavor;
	struct weir_handle *h;
	atomic_bool over;
	/* number of keys whose insert has returned, for each thread */
	atomic_uint_fast64_t promised[INSERTERS];
	uint64_t most;
	struct weir_reload *r;
};
struct one {
	struct crowd *crowd;
	unsigned number;
};

static uint64_t key_of(unsigned thread, uint64_t i)
{
	return test_key(i * INSERTERS + thread);
}

static void *insert_and_look(void *argument)
{
	struct one *me = argument;
	struct crowd *c = me->crowd;
	uint64_t n = 0, lost = 0, random = me->number;
	c->flavor->rcu->register_thread();
	while (!atomic_load_explicit(&c->over, memory_order_relaxed)) {
		if (n < c->most) {
			lost += weir_handle_insert_hash(c->h, key_of(me->number, n)) < 0;
			atomic_store_explicit(&c->promised[me->number], ++n, memory_order_release);
		}
		unsigned other = (unsigned)test_random(&random) % INSERTERS;
		uint64_t there = atomic_load_explicit(&c->promised[other], memory_order_acquire);
		if (there) {
			uint64_t key = key_of(other, test_random(&random) % there);
			lost += !weir_handle_contains_hash(c->h, key);
		}
		c->flavor->rcu->read_quiescent_state();
	}
	c->flavor->rcu->unregister_thread();
	return (void *)(uintptr_t)lost;
}

static void *load(void *argument)
{
	struct one *me = argument;
	for (uint64_t i = me->number; i < KEYS_A_TURN; i += LOADERS)
		if (weir_reload_insert_hash(me->crowd->r, test_key(UINT64_C(1) << 40 | i)) < 0)
			return me;
	return NULL;
}

static void reload(struct crowd *c, unsigned turn)
{
	struct one loaders[LOADERS];
	pthread_t threads[LOADERS];
	void *failed;
	c->r = begin(c->h, turn % 3 == 1, turn % 2);
	for (unsigned i = 0; i < LOADERS; i++) {
		loaders[i] = (struct one){ c, i };
		assert_int_equal(pthread_create(&threads[i], NULL, load, &loaders[i]), 0);
	}
	assert_ok(weir_reload_copy(c->r, WEIR_ALL_SETS));
	c->flavor->rcu->thread_offline();
	for (unsigned i = 0; i < LOADERS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	c->flavor->rcu->thread_online();
	if (turn % 4 == 3)
		weir_reload_abort(c->r);
	else
		assert_ok(weir_reload_commit(c->r));
	if (turn % 6 == 1 && stats_of(c->h).previous_kept)
		assert_ok(weir_handle_rollback(c->h));
}

static void test_no_insert_is_lost(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct crowd c = { .flavor = flavor, .h = open_handle(flavor, 100000),
		                   .most = 30000 };
		struct one ones[INSERTERS];
		pthread_t threads[INSERTERS];
		void *lost;
		for (unsigned i = 0; i < INSERTERS; i++) {
			ones[i] = (struct one){ &c, i };
			assert_int_equal(
				pthread_create(&threads[i], NULL, insert_and_look, &ones[i]), 0);
		}
		for (unsigned turn = 0; turn < TURNS; turn++)
			reload(&c, turn);
		atomic_store(&c.over, true);
		flavor->rcu->thread_offline();
		for (unsigned i = 0; i < INSERTERS; i++) {
			pthread_join(threads[i], &lost);
			assert_null(lost);
		}
		flavor->rcu->thread_online();
		for (unsigned i = 0; i < INSERTERS; i++)
			for (uint64_t n = 0; n < c.promised[i]; n++)
				assert_true(weir_handle_contains_hash(c.h, key_of(i, n)));
		/* a fuller filter would hide a lost key behind false positives */
		assert_true(figures_of(c.h).fill < 0.5);
		close_handle(flavor, c.h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rollback_returns_to_the_previous_filter),
		cmocka_unit_test(test_the_previous_filter_is_dropped_or_replaced),
		cmocka_unit_test(test_a_second_writer_is_refused),
		cmocka_unit_test(test_inside_a_section_writers_are_refused),
		cmocka_unit_test(test_abort_works_inside_a_section),
		cmocka_unit_test(test_deferred_free_does_not_wait),
		cmocka_unit_test(test_no_insert_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
