/* SPDX-License-Identifier: MIT
 * A filter has one owner. After a caller has given a filter to a handle, no other handle accepts
 * the filter, and the caller cannot free it. */
#include "../handles.h"

static struct weir_handle *none;
static const char already[] = "belongs to a handle already";

static int begin_with(struct weir_reload **r, struct weir_handle *h, struct weir_filter *next)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	o.next = next;
	return weir_reload_begin(r, h, &o);
}

static struct weir_filter *current_of(const struct weir_handle *h)
{
	flavors->rcu->read_lock();
	struct weir_filter *f = (struct weir_filter *)(uintptr_t)weir_handle_get(h);
	flavors->rcu->read_unlock();
	return f;
}

static struct weir_filter *filter_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.kind = kind;
	p.capacity = 1000;
	p.seed = 1;
	if (kind == WEIR_ROUTER)
		p.router.sets = 8;
	p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	return f;
}

static void test_a_second_handle_refuses_the_filter(void **state)
{
	const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CUCKOO, WEIR_GROWING, WEIR_ROUTER };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct weir_filter *f = filter_of(kinds[i]);
		struct weir_handle *h;
		assert_ok(weir_handle_create(&h, f, NULL));
		assert_refused(weir_handle_create(&none, f, NULL), -EBUSY, already, "weir_clone");
		assert_null(none);
		assert_refused(weir_destroy(f), -EBUSY, "belongs to a handle",
		               "weir_handle_destroy");
		assert_ok(weir_handle_destroy(h));
	}
}

static void test_a_second_handle_does_not_publish_the_filter(void **state)
{
	struct weir_filter *f = filter_of(WEIR_BLOCKED), *next = filter_of(WEIR_BLOCKED);
	struct weir_handle *first, *second;
	struct weir_reload *r, *other = NULL;
	(void)state;
	assert_ok(weir_handle_create(&first, f, NULL));
	assert_ok(weir_handle_create(&second, filter_of(WEIR_BLOCKED), NULL));
	assert_refused(begin_with(&other, second, f), -EBUSY, already, "");
	assert_refused(begin_with(&other, first, f), -EINVAL, "the current filter", "");
	assert_ok(begin_with(&r, first, next));
	assert_refused(begin_with(&other, second, next), -EBUSY, already, "");
	assert_refused(weir_handle_create(&none, next, NULL), -EBUSY, already, "");
	assert_refused(weir_destroy(next), -EBUSY, "belongs to a handle", "");
	assert_null(other);
	assert_ok(weir_reload_commit(r));
	assert_refused(begin_with(&other, second, next), -EBUSY, already, "");
	assert_refused(begin_with(&other, first, next), -EINVAL, "the current filter", "");
	assert_ok(weir_handle_destroy(first));
	assert_ok(weir_handle_destroy(second));
}

/* The filter of a shard belongs to the sharded handle. */
static void test_created_filters_belong_to_their_handle(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *h;
	struct weir_reload *r;
	(void)state;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	o.params = &p;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_refused(weir_handle_create(&none, current_of(h), NULL), -EBUSY, already, "");
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_refused(weir_destroy((struct weir_filter *)(uintptr_t)weir_reload_next(r)), -EBUSY,
	               "belongs to a handle", "");
	assert_ok(weir_reload_commit(r));
	assert_refused(weir_destroy(current_of(h)), -EBUSY, "belongs to a handle", "");
	assert_ok(weir_handle_destroy(h));
	o.shards = 2;
	assert_ok(weir_handle_create(&h, NULL, &o));
	flavors->rcu->read_lock();
	struct weir_filter *shard = (struct weir_filter *)(uintptr_t)weir_handle_get_shard(h, 1);
	flavors->rcu->read_unlock();
	assert_refused(weir_handle_create(&none, shard, NULL), -EBUSY, already, "");
	assert_refused(weir_destroy(shard), -EBUSY, "belongs to a handle", "");
	assert_ok(weir_handle_destroy(h));
}

static void test_a_refused_filter_stays_the_callers(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	struct weir_filter *f = filter_of(WEIR_BLOCKED), *next = filter_of(WEIR_CUCKOO);
	struct weir_handle *h;
	(void)state;
	o.can = WEIR_CAN_REMOVE;
	assert_refused(weir_handle_create(&none, f, &o), -ENOTSUP, "", "");
	o.can = 0;
	o.absent = WEIR_ABSENT_YES;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.keep_inserts = 1 << 20;
	assert_ok(weir_handle_create(&h, NULL, &o));
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(weir_handle_insert_u64(h, i) >= 0);
	assert_refused(begin_with(&r, h, next), -ENOSPC, "", "");
	assert_ok(weir_destroy(next));
	assert_ok(begin_with(&r, h, f));
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_handle_destroy(h));
}

/* ---- two threads give one filter to two handles ---- */

enum { ROUNDS = 2000 };

struct race {
	struct weir_filter *filter;
	pthread_barrier_t both;
	int answer[2];
};

static void *give(struct race *race, unsigned me)
{
	struct weir_handle *h = NULL;
	pthread_barrier_wait(&race->both);
	race->answer[me] = weir_handle_create(&h, race->filter, NULL);
	pthread_barrier_wait(&race->both);
	return h;
}

static void *other_thread(void *race)
{
	return give(race, 1);
}

static void test_one_of_two_threads_gets_the_filter(void **state)
{
	struct race race;
	(void)state;
	pthread_barrier_init(&race.both, NULL, 2);
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_t thread;
		void *theirs;
		race.filter = filter_of(WEIR_BLOCKED);
		assert_int_equal(pthread_create(&thread, NULL, other_thread, &race), 0);
		struct weir_handle *mine = give(&race, 0);
		pthread_join(thread, &theirs);
		assert_int_equal(!mine + !theirs, 1);
		assert_int_equal(race.answer[0] + race.answer[1], -EBUSY);
		assert_ok(weir_handle_destroy(mine ? mine : theirs));
	}
	pthread_barrier_destroy(&race.both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_second_handle_refuses_the_filter),
		cmocka_unit_test(test_a_second_handle_does_not_publish_the_filter),
		cmocka_unit_test(test_created_filters_belong_to_their_handle),
		cmocka_unit_test(test_a_refused_filter_stays_the_callers),
		cmocka_unit_test(test_one_of_two_threads_gets_the_filter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
