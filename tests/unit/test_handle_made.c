/* SPDX-License-Identifier: MIT
 * A handle that makes its filters from parameters, with one shard or several shards, or that
 * requires abilities of its filters. The tests also cover the calls that a sharded handle
 * refuses. */
#include "../folder.h"
#include "../handles.h"
#include "../sharded.h"

static struct weir_handle *made;

static struct weir_params params_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = kind == WEIR_FUSE ? 0 : 1000;
	p.fp_rate = 0.01;
	p.seed = 1;
	return p;
}

static void test_a_handle_is_created_from_parameters(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = params_of(WEIR_BLOCKED);
	(void)state;
	o.params = &p;
	assert_ok(weir_handle_create(&made, NULL, &o));
	assert_int_equal(weir_handle_shards(made), 1);
	assert_int_equal(weir_handle_shard(made, UINT64_MAX), 0);
	assert_ptr_equal(weir_handle_get_shard(made, 0), weir_handle_get(made));
	assert_int_equal(figures_of(made).capacity, 1000);
	assert_int_equal(stats_of(made).generation, 1);
	assert_int_equal(stats_of(made).oldest, 1);
	insert_into(made, 0, 100);
	assert_int_equal(missing_in(made, 0, 100), 0);
	struct weir_reload *r;
	assert_ok(weir_reload_begin(&r, made, NULL));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(missing_in(made, 0, 100), 0);
	assert_int_equal(stats_of(made).oldest, 2);
	assert_ok(weir_handle_destroy(made));
	p = params_of(WEIR_FUSE); /* an empty filter */
	assert_ok(weir_handle_create(&made, NULL, &o));
	assert_true(missing_in(made, 0, 1000) > 900);
	assert_refused(weir_handle_insert_u64(made, 1), -ENOTSUP, "inserts", "");
	assert_ok(weir_handle_destroy(made));
}

static int fill(struct weir_reload *r, uint32_t shard, void *calls)
{
	++*(unsigned *)calls;
	assert_true(shard < 4);
	for (uint64_t i = 0; i < 100; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(i)));
	return *(unsigned *)calls > 100 ? 17 : 0;
}

static void test_reload_all_works_with_and_without_shards(void **state)
{
	static const uint32_t shards[] = { 0, 4 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(shards); i++) {
		struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
		struct weir_reload_options reload = WEIR_RELOAD_OPTIONS_INIT;
		struct weir_params p = params_of(WEIR_BLOCKED);
		unsigned calls = 0;
		o.params = &p, o.shards = shards[i];
		reload.shard = 3; /* the call ignores this field */
		assert_ok(weir_handle_create(&made, NULL, &o));
		insert_into(made, 1000, 1100);
		assert_ok(weir_reload_all(made, &reload, fill, &calls));
		assert_int_equal(calls, weir_handle_shards(made));
		assert_int_equal(missing_in(made, 0, 100), 0);
		assert_true(missing_in(made, 1000, 1100) > 90);
		assert_int_equal(stats_of(made).generation, 2);
		assert_int_equal(stats_of(made).oldest, 2);
		assert_int_equal(stats_of(made).swaps, calls);
		assert_true(stats_of(made).last_reload > 0);
		assert_false(stats_of(made).reloading);
		calls = 100;
		assert_int_equal(weir_reload_all(made, NULL, fill, &calls), 17);
		assert_int_equal(stats_of(made).generation, 2);
		assert_int_equal(stats_of(made).swaps, calls - 101 + weir_handle_shards(made));
		assert_false(stats_of(made).reloading);
		assert_ok(weir_handle_destroy(made));
	}
}

static void test_statistics_include_a_shards_reload(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = params_of(WEIR_BLOCKED);
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload *r;
	(void)state;
	gate.min_keys = 500;
	o.gate = &gate;
	assert_ok(sharded_create(&made, &p, 4, NULL));
	const uint64_t bytes = stats_of(made).bytes;
	assert_ok(shard_begin(&r, made, 2, &o));
	assert_true(stats_of(made).reloading);
	assert_int_equal(stats_of(made).bytes, bytes + bytes / 4);
	assert_refused(weir_reload_commit(r), -ECANCELED, "min_keys", "500");
	assert_int_equal(stats_of(made).refused, 1);
	assert_true(stats_of(made).refused_since > 0);
	assert_non_null(strstr(stats_of(made).refused_sentence, "min_keys"));
	assert_int_equal(stats_of(made).bytes, bytes);
	assert_ok(shard_begin(&r, made, 0, NULL));
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(made).refused_since <= 0);
	assert_int_equal(stats_of(made).swaps, 1);
	assert_int_equal(stats_of(made).generation, 2);
	assert_int_equal(stats_of(made).oldest, 1);
	assert_ok(weir_handle_destroy(made));
}

#define REFUSED(o, a, b) \
	do { \
		assert_refused(weir_handle_create(&made, NULL, o), -EINVAL, a, b); \
		assert_null(made); \
	} while (0)

static void test_contradictory_options_are_refused(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = params_of(WEIR_BLOCKED);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01);
	(void)state;
	made = NULL;
	REFUSED(&o, "initial is NULL", "options.params");
	o.params = &p, o.absent = WEIR_ABSENT_YES, o.flags = WEIR_HANDLE_ANY_SEED;
	REFUSED(&o, "options.params", "options.absent");
	o.absent = WEIR_ABSENT_REFUSED, o.flags = 0;
	assert_refused(weir_handle_create(&made, f, &o), -EINVAL, "options.params", "initial");
	p.fp_rate = 2;
	REFUSED(&o, "fp_rate", "2");
	p.fp_rate = 0.01, o.shards = 4;
	assert_refused(weir_handle_create(&made, f, &o), -EINVAL, "initial", "sharded");
	o.params = NULL;
	REFUSED(&o, "options.params is NULL", "sharded");
	o.params = &p, o.absent = WEIR_ABSENT_YES;
	REFUSED(&o, "options.absent", "sharded");
	o.absent = WEIR_ABSENT_REFUSED, o.keep_inserts = 1;
	REFUSED(&o, "options.keep_inserts", "sharded");
	o.keep_inserts = 0, o.secret = "sixteen bytes!!";
	REFUSED(&o, "options.secret", "sharded");
	o.secret = NULL;
	for (uint32_t flag = 1; flag <= WEIR_HANDLE_ANY_STEPS; flag *= 2) {
		o.flags = flag;
		REFUSED(&o, "options.flags", "sharded");
	}
	o.flags = 0, o.can = UINT32_C(1) << 31;
	REFUSED(&o, "options.can 0x80000000", "no such ability");
	weir_destroy(f);
}

static void test_the_first_filter_needs_the_abilities(void **state)
{
	static const uint32_t shards[] = { 0, 4 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(shards); i++) {
		struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
		struct weir_params p = params_of(WEIR_BLOCKED);
		made = NULL;
		o.params = &p, o.shards = shards[i], o.can = WEIR_CAN_INSERT | WEIR_CAN_REMOVE;
		assert_refused(weir_handle_create(&made, NULL, &o), -ENOTSUP, "kind blocked",
		               "WEIR_CAN_REMOVE");
		assert_null(made);
		p.kind = WEIR_COUNTING;
		assert_ok(weir_handle_create(&made, NULL, &o));
		assert_ok(weir_handle_insert_u64(made, 1));
		assert_int_equal(weir_handle_remove_u64(made, 1), 1);
		assert_ok(weir_handle_destroy(made));
	}
}

static void refused_next(const struct weir_reload_options *o)
{
	struct weir_handle_stats before = stats_of(made);
	struct weir_reload *r = NULL;
	assert_refused(weir_reload_begin(&r, made, o), -ENOTSUP, "kind blocked",
	               "WEIR_CAN_REMOVE");
	assert_null(r);
	assert_false(stats_of(made).reloading);
	assert_int_equal(stats_of(made).bytes, before.bytes);
}

/* The next filter comes from parameters, from the caller or from a file. A refused filter is not
 * published. */
static void test_later_filters_need_the_abilities(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload_options reload = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params counting = params_of(WEIR_COUNTING), blocked = params_of(WEIR_BLOCKED);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_reload *r;
	struct weir_params of_f = WEIR_PARAMS_INIT;
	(void)state;
	assert_ok(weir_params_of(f, &of_f));
	counting.seed = blocked.seed = of_f.seed;
	o.can = WEIR_CAN_REMOVE;
	assert_refused(weir_handle_create(&made, f, &o), -ENOTSUP, "", "WEIR_CAN_REMOVE");
	o.params = &counting;
	assert_ok(weir_handle_create(&made, NULL, &o));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_refused(weir_handle_refresh(made, path, NULL), -ENOTSUP, "kind blocked",
	               "WEIR_CAN_REMOVE");
	/* the handle remembers that it refused this file */
	assert_int_equal(weir_handle_refresh(made, path, NULL), 0);
	reload.next = f;
	refused_next(&reload);
	reload.next = NULL, reload.params = &blocked;
	refused_next(&reload);
	reload.params = &counting;
	counting.flags = WEIR_ONCE; /* WEIR_ONCE takes away the kind's ability to remove keys */
	assert_refused(weir_reload_begin(&r, made, &reload), -ENOTSUP, "WEIR_CAN_REMOVE", "");
	counting.flags = 0;
	counting.struct_size = 1;
	assert_refused(weir_reload_begin(&r, made, &reload), -EINVAL, "weir_params.struct_size 1",
	               "");
	counting.struct_size = sizeof counting;
	assert_ok(weir_reload_begin(&r, made, &reload));
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_handle_destroy(made));
	weir_destroy(f);
	/* the kind takes inserts, but a read-only map does not */
	struct weir_handle *h;
	o.params = &blocked, o.can = WEIR_CAN_INSERT;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	reload.params = NULL, reload.next = f;
	assert_refused(weir_reload_begin(&r, h, &reload), -ENOTSUP, "", "WEIR_CAN_INSERT");
	weir_destroy(f);
	assert_ok(weir_handle_destroy(h));
}

static void test_unsupported_calls_on_shards_are_refused(void **state)
{
	struct weir_params p = params_of(WEIR_BLOCKED);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_follower *follower;
	struct weir_reload *r;
	(void)state;
	assert_ok(sharded_create(&made, &p, 4, NULL));
	assert_refused(weir_handle_rollback(made), -ENOTSUP, "weir_handle_rollback", "sharded");
	assert_refused(weir_handle_drop_previous(made), -ENOTSUP, "weir_handle_drop_previous",
	               "sharded");
	assert_refused(weir_handle_refresh(made, path, NULL), -ENOTSUP, "weir_handle_refresh",
	               "sharded");
	assert_refused(weir_follower_start(&follower, made, path, NULL), -ENOTSUP,
	               "weir_follower_start", "sharded");
	assert_ok(shard_begin(&r, made, 1, NULL)); /* a refused call leaves no reload in progress */
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(made));
	assert_ok(weir_handle_create(&made, test_filter(WEIR_BLOCKED, 100, 0.01), NULL));
	o.shard = 1;
	assert_refused(weir_reload_begin(&r, made, &o), -EINVAL, "options.shard 1", "one filter");
	assert_ok(weir_handle_destroy(made));
}

/* A kind with several sets cannot be sharded. */
static void test_a_sharded_handle_has_one_set(void **state)
{
	struct weir_params p = params_of(WEIR_BLOCKED);
	uint64_t mask = 0, key = 7;
	(void)state;
	assert_ok(sharded_create(&made, &p, 4, NULL));
	assert_int_equal(weir_handle_insert_into_u64(made, 0, key), WEIR_NEW);
	assert_true(weir_handle_contains_u64(made, key));
	assert_true(weir_handle_insert_into_u64(made, 1, key) < 0);
	assert_int_equal(weir_handle_route_u64(made, key), 1);
	assert_int_equal(weir_handle_route(made, &key, 8), 1);
	assert_int_equal(weir_handle_route_hash(made, weir_handle_hash_u64(made, key)), 1);
	assert_int_equal(weir_handle_route_keys(made, weir_keys_u64(&key, 1), &mask), 1);
	assert_int_equal(mask, 1);
	key = 8;
	assert_int_equal(weir_handle_route_u64(made, key), 0);
	assert_ok(weir_handle_destroy(made));
	p.kind = WEIR_ROUTER;
	made = NULL;
	assert_refused(sharded_create(&made, &p, 4, NULL), -ENOTSUP,
	               "a router cannot be sharded", "");
	assert_null(made);
}

static void test_a_sharded_handle_does_not_normalise(void **state)
{
	struct weir_params p = params_of(WEIR_BLOCKED);
	(void)state;
	assert_ok(sharded_create(&made, &p, 4, NULL));
	assert_int_equal(weir_handle_insert(made, "Key", 3), WEIR_NEW);
	assert_true(weir_handle_contains(made, "Key", 3));
	assert_false(weir_handle_contains(made, "key", 3));
	assert_ok(weir_handle_destroy(made));
	made = NULL;
	p.text.steps = WEIR_TEXT_LOWERCASE;
	assert_refused(sharded_create(&made, &p, 4, NULL), -ENOTSUP, "params.text.steps",
	               "a sharded set takes keys as they are");
	assert_null(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_handle_is_created_from_parameters),
		cmocka_unit_test(test_reload_all_works_with_and_without_shards),
		cmocka_unit_test(test_statistics_include_a_shards_reload),
		cmocka_unit_test(test_contradictory_options_are_refused),
		cmocka_unit_test(test_the_first_filter_needs_the_abilities),
		cmocka_unit_test_setup_teardown(test_later_filters_need_the_abilities, folder_setup,
		                                folder_teardown),
		cmocka_unit_test_setup_teardown(test_unsupported_calls_on_shards_are_refused,
		                                folder_setup,
		                                folder_teardown),
		cmocka_unit_test(test_a_sharded_handle_has_one_set),
		cmocka_unit_test(test_a_sharded_handle_does_not_normalise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
