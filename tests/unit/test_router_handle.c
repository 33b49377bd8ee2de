/* SPDX-License-Identifier: MIT
 * Handles over routers: reloads clear sets and replace routers, and no insert is lost. */
#include <urcu/urcu-bp.h>
#include "../folder.h"
#include "router.h"

static struct weir_handle *published(void)
{
	struct weir_handle *h = NULL;
	assert_ok(weir_handle_create(&h, router_of(10, 1000, 0), NULL));
	for (uint32_t set = 0; set < 10; set++)
		for (uint64_t i = 0; i < 300; i++)
			assert_ok(weir_handle_insert_into_u64(h, set, i));
	return h;
}

static uint64_t all_of(const struct weir_handle *h, uint64_t first, uint64_t n)
{
	uint64_t all = ~UINT64_C(0);
	for (uint64_t i = first; i < first + n; i++)
		all &= weir_handle_route_u64(h, i);
	return all;
}

/* The reload copies all sets except set 4. Inserts since weir_reload_begin() stay in set 4. */
static void a_reload_can_clear_one_set(void **state)
{
	struct weir_handle *h = published();
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_int_equal(weir_handle_insert_into_u64(h, 4, 1000), WEIR_NEW);
	/* a duplicate in the current filter */
	assert_int_equal(weir_handle_insert_into_u64(h, 4, 7), WEIR_SEEN);
	assert_ok(weir_reload_copy(r, ~(UINT64_C(1) << 4)));
	assert_ok(weir_handle_insert_into_u64(h, 4, 1001));
	assert_ok(weir_handle_insert_into_u64(h, 5, 1001));
	assert_true(all_of(h, 0, 300) == 0x3ff); /* until the commit, set 4 is unchanged */
	assert_ok(weir_reload_commit(r));
	assert_true(all_of(h, 0, 300) == (0x3ff & ~(1u << 4)));
	assert_true(all_of(h, 1000, 1) & 1u << 4);
	assert_true((all_of(h, 1001, 1) & 3u << 4) == 3u << 4);
	uint64_t left = 0;
	for (uint64_t i = 0; i < 300; i++)
		left += weir_handle_route_u64(h, i) >> 4 & 1;
	assert_true(left < 3);
	assert_ok(weir_handle_destroy(h));
}

static void aborts_and_rollbacks_lose_nothing(void **state)
{
	struct weir_handle *h = published();
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_ok(weir_handle_insert_into_u64(h, 1, 2000));
	weir_reload_abort(r);
	assert_true(all_of(h, 2000, 1) & 2);
	assert_int_equal(weir_handle_rollback(h), -ENOENT);
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r)); /* publishes empty sets */
	assert_true(weir_handle_route_u64(h, 2000) == 0);
	assert_ok(weir_handle_insert_into_u64(h, 7, 2001));
	assert_ok(weir_handle_rollback(h));
	assert_true(all_of(h, 2000, 1) & 2);
	assert_true(all_of(h, 2001, 1) & 1u << 7);
	assert_true(all_of(h, 0, 300) == 0x3ff);
	assert_ok(weir_handle_destroy(h));
}

/* Inserts during the reload also reach the larger router. */
static void the_next_router_may_be_larger(void **state)
{
	struct weir_handle *h = published();
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	o.next = router_of(10, 9000, 0);
	o.defer_free = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ptr_equal(weir_reload_next(r), o.next);
	assert_refused(weir_reload_copy(r, 1), -EINVAL, "bytes", "differs");
	assert_ok(weir_handle_insert_into_u64(h, 9, 3000));
	assert_ok(weir_reload_insert_into_u64(r, 2, 3001));
	assert_ok(weir_reload_insert_into_u64(r, 0, 3002));
	assert_ok(weir_reload_commit(r));
	assert_true(all_of(h, 3002, 1) & 1u);
	assert_true(all_of(h, 3000, 1) & 1u << 9);
	assert_true(all_of(h, 3001, 1) & 1u << 2);
	assert_ok(weir_handle_destroy(h));
}

static void wrong_routers_are_refused(void **state)
{
	struct weir_handle *h = published();
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL, *second = NULL;
	struct weir_params other = router_params(10, 1000);
	(void)state;
	assert_int_equal(weir_handle_create(&h, NULL, NULL), -EINVAL);
	assert_refused(weir_handle_insert_into_u64(h, 10, 1), -EINVAL, "set 10", "10");
	o.max_bytes = 8192;
	assert_refused(weir_reload_begin(&r, h, &o), -EFBIG, "max_bytes 8192", "held");
	o.next = router_of(10, 1000, 0); /* as large as the current router */
	o.max_bytes = 2 * whole_stats(o.next).bytes - 1;
	assert_refused(weir_reload_begin(&r, h, &o), -EFBIG, "max_bytes", "held");
	o.max_bytes++;
	assert_ok(weir_reload_begin(&r, h, &o));
	weir_reload_abort(r);
	o.max_bytes = 0;
	o.next = router_of(11, 1000, 0);
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "10 sets", "11");
	weir_destroy(o.next);
	other.seed = 43;
	assert_ok(weir_create(&o.next, &other));
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "hashed", "fingerprint");
	weir_destroy(o.next);
	other.seed = 42;
	other.router.names =
		(const char *const[]){ "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
	assert_ok(weir_create(&o.next, &other));
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "\"0\"", "\"a\"");
	weir_destroy(o.next);
	o.next = NULL;
	other = router_params(11, 1000);
	o.params = &other;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "params.router", "10 sets");
	o.params = NULL;
	o.next = test_filter(WEIR_BLOCKED, 1000, 0.01);
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL,
	               "of kind blocked, the current filter of kind router", "same sets");
	weir_destroy(o.next);
	o.next = NULL;
	urcu_bp_read_lock();
	assert_refused(weir_reload_begin(&r, h, &o), -EDEADLK, "section", "caller");
	assert_non_null(weir_handle_get(h));
	urcu_bp_read_unlock();
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_refused(weir_reload_begin(&second, h, &o), -EBUSY, "under way", "reload");
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
	assert_ok(weir_handle_destroy(NULL));
	weir_reload_abort(NULL);
}

static struct weir_filter *mapped(void)
{
	struct weir_filter *r = router_of(10, 1000, 0);
	assert_ok(weir_save(r, weir_location_path(path), NULL));
	weir_destroy(r);
	assert_ok(weir_load(&r, weir_location_map(path, WEIR_MAP_READ), NULL));
	return r;
}

/* If the previous router is read-only, the first insert makes a rollback impossible. */
static void a_read_only_router_cannot_be_next(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = published();
	struct weir_reload *r = NULL;
	(void)state;
	o.next = mapped();
	assert_refused(weir_reload_begin(&r, h, &o), -EROFS, "read-only", "");
	assert_ok(weir_handle_destroy(h));
	assert_ok(weir_handle_create(&h, o.next, NULL));
	o.next = NULL;
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_handle_insert_into_u64(h, 3, 7));
	assert_refused(weir_handle_rollback(h), -ENOENT, "refused", "");
	assert_ok(weir_handle_destroy(h));
}

static void a_filter_acts_as_a_router_in_a_handle(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload *r = NULL;
	struct weir_handle *h = NULL;
	struct weir_filter *f;
	uint64_t key = 9, mask;
	(void)state;
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.001), NULL));
	assert_int_equal(weir_handle_insert_into_u64(h, 0, key), WEIR_NEW);
	assert_refused(weir_handle_insert_into_u64(h, 1, key), -EINVAL, "set 1", "has 1");
	assert_true(weir_handle_contains_u64(h, key) && weir_handle_route_u64(h, key) == 1);
	assert_int_equal(weir_handle_route_keys(h, weir_keys_u64(&key, 1), &mask), 1);
	assert_true(mask == 1);
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_int_equal(weir_reload_insert_into_u64(r, 0, 10), WEIR_NEW);
	assert_refused(weir_reload_insert_into_u64(r, 1, 10), -EINVAL, "set 1", "has 1");
	assert_ok(weir_reload_copy(r, 2)); /* selects only a set that does not exist */
	assert_ok(weir_reload_commit(r));
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	o.next = router_of(10, 1000, 0);
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL,
	               "of kind router, the current filter of kind blocked", "same sets");
	weir_destroy(o.next);
	assert_true(weir_handle_contains_u64(h, 10) && !weir_handle_contains_u64(h, key));
	assert_ok(weir_handle_destroy(h));
	p.kind = WEIR_FUSE, p.fp_rate = 0.01, p.seed = 42;
	assert_ok(weir_build(&f, &p, weir_keys_u64(&key, 1), NULL));
	assert_ok(weir_handle_create(&h, f, NULL));
	assert_true(weir_handle_route_u64(h, key) == 1);
	assert_refused(weir_handle_insert_into_u64(h, 0, 10), -ENOTSUP, "fuse", "inserts");
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_ok(weir_reload_insert_into_u64(r, 0, 10));
	assert_refused(weir_reload_insert_into_u64(r, 1, 10), -EINVAL, "set 1", "one");
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_route_u64(h, 10) == 1);
	assert_ok(weir_handle_destroy(h));
}

static void through_the_handle(void **state)
{
	struct weir_handle *h = published();
	uint64_t hashes[70], masks[70], bitmap[2];
	(void)state;
	for (uint64_t i = 0; i < 70; i++) {
		uint64_t key = 5000 + i;
		hashes[i] = weir_handle_hash(h, &key, 8);
	}
	assert_true(weir_handle_insert_into_keys(h, 6, weir_keys_hashes(hashes, 70), bitmap) >=
	            68);
	assert_int_equal(weir_handle_insert_into_hash(h, 6, hashes[69]), WEIR_SEEN);
	assert_int_equal(weir_handle_insert_into(h, 6, &(uint64_t){ 5069 }, 8), WEIR_SEEN);
	assert_refused(weir_handle_insert_into(h, 10, "key", 3), -EINVAL, "set 10", "has 10");
	assert_int_equal(weir_handle_route_keys(h, weir_keys_hashes(hashes, 70), masks), 70);
	for (uint64_t i = 0; i < 70; i++) {
		uint64_t key = 5000 + i;
		assert_true(masks[i] >> 6 & 1);
		assert_true(masks[i] == weir_handle_route_hash(h, hashes[i]));
		assert_true(masks[i] == weir_handle_route(h, &key, 8));
	}
	assert_ok(weir_handle_destroy(h));
}

/* Before the first router is published, the handle refuses inserts into a given set. */
static void lookups_before_the_first_router_are_equal(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	const struct iovec one = { "key", 3 };
	const uint64_t number = 7;
	const struct weir_keys forms[] = { weir_keys_iov(&one, 1), weir_keys_u64(&number, 1),
		                           weir_keys_hashes(&number, 1) };
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.keep_inserts = 4096;
	for (o.absent = WEIR_ABSENT_YES; o.absent <= WEIR_ABSENT_NO; o.absent++) {
		const uint64_t all = o.absent == WEIR_ABSENT_YES ? WEIR_ALL_SETS : 0;
		struct weir_handle *h = NULL;
		uint64_t mask, bitmap[1];
		assert_ok(weir_handle_create(&h, NULL, &o));
		assert_true(weir_handle_route(h, "key", 3) == all);
		assert_true(weir_handle_route_u64(h, number) == all);
		assert_true(weir_handle_route_hash(h, number) == all);
		for (unsigned i = 0; i < COUNT_OF(forms); i++) {
			assert_int_equal(weir_handle_route_keys(h, forms[i], &mask), all & 1);
			assert_true(mask == all);
			assert_refused(weir_handle_insert_into_keys(h, 0, forms[i], bitmap),
			               -EAGAIN, "no router is published yet", "");
		}
		assert_refused(weir_handle_insert_into(h, 0, "key", 3), -EAGAIN, "no router", "");
		assert_refused(weir_handle_insert_into_u64(h, 0, 7), -EAGAIN, "no router", "");
		assert_refused(weir_handle_insert_into_hash(h, 0, 7), -EAGAIN, "no router", "");
		assert_ok(weir_handle_destroy(h));
	}
}

/* Inserts by hash fail if seeds may differ. */
static void if_seeds_may_differ_a_hash_is_in_every_set(void **state)
{
	const uint64_t hashes[] = { 1, 2 };
	const struct weir_keys keys = weir_keys_hashes(hashes, 2);
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *const first[] = { router_of(10, 1000, 0),
		                              test_filter(WEIR_BLOCKED, 1000, 0.001) };
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	for (unsigned i = 0; i < COUNT_OF(first); i++) {
		const uint64_t all = i ? 1 : 0x3ff;
		struct weir_handle *h = NULL;
		uint64_t masks[2];
		assert_ok(weir_handle_create(&h, first[i], &o));
		assert_true(weir_handle_route_hash(h, 1) == all);
		assert_int_equal(weir_handle_route_keys(h, keys, masks), 2);
		assert_true(masks[0] == all && masks[1] == all);
		assert_refused(weir_handle_insert_into_keys(h, 0, keys, NULL), -EINVAL, "a hash",
		               "WEIR_HANDLE_ANY_SEED");
		assert_int_equal(weir_handle_insert_into_keys(h, 0, weir_keys_u64(hashes, 0), NULL),
		                 0);
		assert_int_equal(weir_handle_insert_into(h, 0, "key", 3), WEIR_NEW);
		assert_true(weir_handle_route(h, "key", 3) & 1);
		assert_ok(weir_handle_destroy(h));
	}
}

/* The next filter is a blocked filter, which acts as a router with one set. Its seed differs from
 * the current filter's seed. */
static void inserts_during_a_reload_reach_set_0(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload_options reload = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	p.capacity = 1000, p.fp_rate = 0.001, p.seed = 43;
	reload.params = &p;
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.001), &o));
	assert_ok(weir_reload_begin(&r, h, &reload));
	assert_int_equal(weir_handle_insert_into_keys(h, 0, weir_keys_u64(NULL, 0), NULL), 0);
	assert_int_equal(weir_handle_insert_into(h, 0, "key", 3), WEIR_NEW);
	assert_int_equal(weir_handle_insert_into_u64(h, 0, 8), WEIR_NEW);
	assert_refused(weir_handle_insert_into(h, 1, "key", 3), -EINVAL, "set 1", "has 1");
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, "key", 3) && weir_handle_contains_u64(h, 8));
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reload_can_clear_one_set),
		cmocka_unit_test(aborts_and_rollbacks_lose_nothing),
		cmocka_unit_test(the_next_router_may_be_larger),
		cmocka_unit_test(wrong_routers_are_refused),
		cmocka_unit_test(a_read_only_router_cannot_be_next),
		cmocka_unit_test(a_filter_acts_as_a_router_in_a_handle),
		cmocka_unit_test(through_the_handle),
		cmocka_unit_test(lookups_before_the_first_router_are_equal),
		cmocka_unit_test(if_seeds_may_differ_a_hash_is_in_every_set),
		cmocka_unit_test(inserts_during_a_reload_reach_set_0),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
