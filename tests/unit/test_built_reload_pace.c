/* SPDX-License-Identifier: MIT
 * Reloads of built sets at a pace. A single thread builds the set and sleeps between pieces. */
#include <pthread.h>
#include "../built_sets.h"

/* calls: the number of calls of the progress function. others: the number of calls by threads other
 * than @first. */
struct caller {
	pthread_t first;
	unsigned calls, others;
};

static int note_thread(void *context, uint64_t done, uint64_t total)
{
	struct caller *c = context; /* the builder's lock protects the counts */
	(void)done;
	(void)total;
	c->others += !pthread_equal(c->first, pthread_self());
	c->calls++;
	return 0;
}

/* A pace is a share of one core, so build.threads has no effect. */
static void with_a_pace_one_thread_builds(void **state)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct caller caller = { .first = pthread_self() };
	struct weir_handle *h = handle(0);
	(void)state;
	build.threads = 4;
	build.progress = note_thread;
	build.progress_arg = &caller;
	o.build = &build;
	o.pace = 1; /* a pace of one whole core means no sleep */
	for (unsigned i = 0; i < 10; i++) {
		struct weir_reload *r = begun(h, &o);
		fill(r, 0, KEYS);
		assert_ok(weir_reload_commit(r));
	}
	assert_true(caller.calls > 10 && caller.others == 0);
	o.pace = 0;
	for (unsigned i = 0; i < 1000 && !caller.others; i++) {
		struct weir_reload *r = begun(h, &o);
		fill(r, 0, KEYS);
		assert_ok(weir_reload_commit(r));
	}
	assert_true(caller.others > 0); /* without a pace, note_thread() does see other threads */
	weir_handle_destroy(h);
}

/* The reload splits a large batch into pieces and sleeps between the pieces. */
static void a_large_batch_is_paced(void **state)
{
	static uint64_t hashes[KEYS];
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	uint64_t last[2] = { 0, 0 };
	(void)state;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		hashes[i] = weir_hash_seeded(SEED, &key, 8);
	}
	build.threads = 4;
	build.progress = count;
	build.progress_arg = last;
	o.build = &build;
	o.pace = 0.3;
	struct weir_reload *r = begun(h, &o);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL), 0);
	fill(r, 0, 1000);
	assert_ok(weir_reload_commit(r));
	/* progress counts each added key and each distinct key */
	assert_true(last[0] == KEYS + 1000 + KEYS && last[1] == last[0]);
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_a_pace_one_thread_builds),
		cmocka_unit_test(a_large_batch_is_paced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
