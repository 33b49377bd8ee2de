/* SPDX-License-Identifier: MIT
 * Reloads of built sets that fail: the gate refuses the set, the build fails, or the options are
 * invalid. */
#include <errno.h>
#include "../built_sets.h"

static void the_gate_checks_the_built_set(void **state)
{
	static const struct iovec canary = { (void *)"canary", 6 };
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_handle *h = handle(0);
	(void)state;
	gate.must_hit = &canary;
	gate.must_hits = 1;
	gate.min_keys = KEYS / 2;
	o.gate = &gate;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_refused(weir_reload_commit(r), -ECANCELED, "must_hit", "canary");
	assert_old(h);
	assert_true(stats_of(h).refused == 1 && stats_of(h).failed == 0);
	r = begun(h, &o);
	assert_ok(weir_reload_insert(r, "canary", 6));
	fill(r, 0, KEYS / 3);
	assert_refused(weir_reload_commit(r), -ECANCELED, "the gate refused", "keys");
	assert_old(h);
	r = begun(h, &o);
	assert_ok(weir_reload_insert(r, "canary", 6));
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

static int stop(void *context, uint64_t done, uint64_t total)
{
	(void)context;
	return done > total / 4;
}

static void a_failed_build_keeps_the_current_set(void **state)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload_stats p = WEIR_RELOAD_STATS_INIT;
	struct weir_params next = params();
	struct weir_handle *h = handle(0);
	(void)state;
	next.capacity = KEYS - 1;
	o.params = &next;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_measure(r, &p));
	assert_true(p.share > 1 && p.share < 1.001);
	assert_refused(weir_reload_commit(r), -ENOSPC, "capacity 19999", "20000 different keys");
	assert_old(h);
	struct weir_handle_stats s = stats_of(h);
	assert_true(s.failed == 1 && s.refused == 0 && s.refused_since > 0 && !s.reloading);
	assert_non_null(strstr(s.refused_sentence, "20000 different keys"));
	build.progress = stop;
	o.params = NULL;
	o.build = &build;
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_refused(weir_reload_commit(r), -ECANCELED, "progress", "");
	assert_old(h);
	s = stats_of(h); /* a stopped reload counts as aborted, not as failed */
	assert_true(s.failed == 1 && s.refused == 0);
	assert_non_null(strstr(s.refused_sentence, "20000 different keys"));
	o.build = NULL;
	o.max_bytes = stats_of(h).bytes + 4096;
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_int_equal(weir_reload_commit(r), -EFBIG);
	assert_old(h);
	o.max_bytes = 64 * 1024;
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	s = stats_of(h);
	assert_true(s.bytes <= 64 * 1024 && s.failed == 2 && s.refused == 0);
	assert_true(s.refused_since == 0);
	r = begun(h, &o); /* the current and next set together exceed max_bytes */
	fill(r, 0, KEYS);
	assert_int_equal(weir_reload_commit(r), -EFBIG);
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

static void wrong_options_are_refused(void **state)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	o.max_bytes = 64;
	assert_refused(weir_reload_begin(&r, h, &o), -EFBIG, "max_bytes 64", "held");
	o.max_bytes = 0;
	next.seed = SEED + 1;
	o.params = &next;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "params.seed", "one hash");
	next = params();
	next.fp_rate = 2;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "fp_rate", "2");
	o.params = NULL;
	next = params();
	next.max_bytes = 1 << 20;
	o.params = &next;
	o.max_bytes = 1 << 16; /* less than params.max_bytes */
	assert_refused(weir_reload_begin(&r, h, &o), -EFBIG, "max_bytes 65536", "1048576 more");
	o.max_bytes = 1 << 21;
	r = begun(h, &o);
	weir_reload_abort(r);
	r = NULL;
	o.max_bytes = 0;
	o.params = NULL;
	build.max_memory = 1;
	o.build = &build;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "max_memory 1", "");
	build.struct_size = 3;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "weir_builder_options", "");
	assert_null(r);
	assert_false(stats_of(h).reloading);
	r = begun(h, NULL); /* a refused call leaves no reload in progress */
	weir_reload_abort(r);
	weir_handle_destroy(h);
}

static void given_memory_must_not_overlap_a_filter_in_use(void **state)
{
	static _Alignas(64) unsigned char memory[2][1 << 16];
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	o.params = &next;
	next.memory = memory[0];
	next.memory_bytes = sizeof memory[0];
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "params.memory", "current");
	next.memory = memory[1];
	r = begun(h, &o);
	fill(r, 0, 10);
	assert_ok(weir_reload_commit(r));
	assert_new(h, 10);
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gate_checks_the_built_set),
		cmocka_unit_test(a_failed_build_keeps_the_current_set),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(given_memory_must_not_overlap_a_filter_in_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
