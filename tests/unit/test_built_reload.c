/* SPDX-License-Identifier: MIT
 * Reloads into a filter that is built once. The reload collects the loader's keys, and the commit
 * builds the filter. Until the commit, the current set answers. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include "../built_sets.h"
#include "../folder.h"

/* Without params, the next set has the kind, the rate and the hash function of the current set. The
 * size of the next set fits the keys that the loader added. */
static void the_commit_builds_the_next_set(void **state)
{
	struct weir_reload_stats p = WEIR_RELOAD_STATS_INIT;
	struct weir_params old = WEIR_PARAMS_INIT, next = WEIR_PARAMS_INIT;
	struct weir_reload *other = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	assert_ok(weir_params_of(weir_handle_get(h), &old));
	const double rate = figures_of(h).fp_rate;
	assert_false(stats_of(h).reloading);
	struct weir_reload *r = begun(h, NULL);
	assert_null(weir_reload_next(r));
	assert_true(stats_of(h).reloading);
	assert_int_equal(stats_of(h).bytes, weir_handle_get(h) ? figures_of(h).bytes : 0);
	assert_refused(weir_reload_begin(&other, h, NULL), -EBUSY, "under way", "");
	fill(r, 0, KEYS);
	fill(r, 0, 10); /* duplicates, which the built set stores once */
	assert_ok(weir_reload_measure(r, &p));
	assert_true(p.keys == KEYS + 10 && p.share == 0 && p.seconds >= 0);
	assert_old(h);
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	assert_refused(weir_reload_copy(r, WEIR_ALL_SETS), -ENOTSUP, "kind fuse", "take over");
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	assert_false(stats_of(h).reloading);
	assert_int_equal(stats_of(h).generation, 2);
	assert_int_equal(figures_of(h).capacity, KEYS);
	assert_ok(weir_params_of(weir_handle_get(h), &next));
	assert_true(next.seed == SEED && next.fuse.fingerprint_bits == old.fuse.fingerprint_bits &&
	            next.capacity == KEYS);
	assert_true(figures_of(h).fp_rate == rate && rate > 0);
	weir_handle_destroy(h);
}

/* The batches have more keys than the library hashes at once, have keys of different lengths, or
 * are empty. */
static void batches_of_any_length(void **state)
{
	static uint64_t keys[KEYS];
	static struct iovec vectors[KEYS];
	static const uint64_t zero = 0;
	struct weir_handle *h = handle(0);
	(void)state;
	for (uint64_t i = 0; i < KEYS; i++) {
		keys[i] = test_key(i);
		vectors[i] = (struct iovec){ &keys[i], 1 + i % 8 };
	}
	struct weir_reload *r = begun(h, NULL);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(keys, KEYS - 1), NULL), 0);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_iov(vectors, KEYS), NULL), 0);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(keys, 0), NULL), 0);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(&zero, 1), NULL), 0);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_fixed(NULL, 0, 1), NULL), 0);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS - 1);
	assert_true(weir_handle_contains(h, "", 0) && weir_handle_contains_hash(h, zero));
	for (size_t i = 0; i < KEYS; i++)
		assert_true(weir_handle_contains(h, vectors[i].iov_base, vectors[i].iov_len));
	weir_handle_destroy(h);
}

struct loader {
	struct weir_reload *r;
	uint64_t first;
};

static void *load(void *arg)
{
	const struct loader *l = arg;
	struct weir_reload_stats p = WEIR_RELOAD_STATS_INIT;
	fill(l->r, l->first, KEYS / 4);
	assert_ok(weir_reload_measure(l->r, &p));
	assert_true(p.keys >= KEYS / 4);
	return NULL;
}

static void several_threads_load(void **state)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	struct loader loader[4];
	pthread_t thread[4];
	uint64_t last[2] = { 0, 0 };
	(void)state;
	build.threads = 2;
	build.progress = count;
	build.progress_arg = last;
	o.build = &build;
	struct weir_reload *r = begun(h, &o);
	build.progress = NULL; /* the reload has copied the options */
	for (unsigned i = 0; i < 4; i++) {
		loader[i] = (struct loader){ r, i * (KEYS / 4) };
		assert_int_equal(pthread_create(&thread[i], NULL, load, &loader[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_ok(weir_reload_commit(r));
	assert_true(last[0] == 2 * KEYS && last[1] == 2 * KEYS);
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

static void an_aborted_reload_publishes_nothing(void **state)
{
	struct weir_handle *h = handle(0);
	(void)state;
	struct weir_reload *r = begun(h, NULL);
	fill(r, 0, KEYS);
	weir_reload_abort(r);
	assert_old(h);
	assert_false(stats_of(h).reloading);
	assert_int_equal(stats_of(h).generation, 1);
	r = begun(h, NULL);
	fill(r, 0, 10);
	assert_ok(weir_reload_commit(r));
	assert_new(h, 10);
	weir_handle_destroy(h);
}

static void the_next_set_keeps_secret_and_normalisation(void **state)
{
	static const unsigned char secret[16] = "sixteen bytes!!";
	struct weir_params p = params();
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	p.seed = 0;
	p.secret = secret;
	p.fuse.fingerprint_bits = 21; /* more bits than the rate needs */
	p.fp_rate = 0.001;
	p.text.steps = WEIR_TEXT_LOWERCASE;
	assert_ok(weir_builder_create(&b, &p, NULL));
	assert_ok(weir_builder_add(b, "old", 3));
	assert_ok(weir_builder_finish(&f, b, NULL));
	weir_builder_destroy(b);
	assert_ok(weir_handle_create(&h, f, NULL));
	/* 21 bits give a lower rate, but the set keeps the rate that was asked for */
	assert_true(figures_of(h).fp_rate == 0.001);
	struct weir_reload *r = begun(h, NULL);
	assert_ok(weir_reload_insert(r, "new", 3));
	assert_ok(weir_reload_insert_hash(r, weir_handle_hash(h, "hashed", 6)));
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, "NEW", 3));
	assert_true(weir_handle_contains(h, "hashed", 6));
	assert_false(weir_handle_contains(h, "old", 3));
	p = (struct weir_params)WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(weir_handle_get(h), &p));
	assert_int_equal(p.fuse.fingerprint_bits, 21);
	assert_true(figures_of(h).fp_rate == 0.001 &&
	            figures_of(h).fp_rate_estimated < 1e-6);
	weir_handle_destroy(h);
}

static void keys_can_be_excluded_by_hash(void **state)
{
	struct weir_params p = params();
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	(void)state;
	p.kind = WEIR_LAYERED;
	p.fp_rate = 0.2;
	p.layered.exclude_keys = 1000;
	o.params = &p;
	struct weir_reload *r = begun(h, &o);
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(weir_reload_insert_u64(r, test_key(i)));
	assert_ok(weir_reload_seal(r));
	for (uint64_t i = 1000; i < 2000; i++)
		assert_ok(weir_reload_exclude_hash(r, weir_handle_hash_u64(h, test_key(i))));
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(weir_handle_contains_u64(h, test_key(i)), i < 1000);
	weir_handle_destroy(h);
}

/* WEIR_HANDLE_ANY_SEED allows a next set with another seed. */
static void the_next_set_may_have_another_seed(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params(), made = WEIR_PARAMS_INIT;
	struct weir_handle *h = handle(WEIR_HANDLE_ANY_SEED);
	(void)state;
	next.seed = 77;
	next.fp_rate = 0.001;
	o.params = &next;
	struct weir_reload *r = begun(h, &o);
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		assert_ok(weir_reload_insert(r, &key, 8));
	}
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_params_of(weir_handle_get(h), &made));
	assert_true(made.seed == 77);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(has(h, i));
	weir_handle_destroy(h);
}

/* Without spill_folder, the insert that exceeds max_memory fails. */
static void keys_beyond_max_memory_are_spilled(void **state)
{
	enum { MANY = 2000000 };
	struct weir_reload_stats progress = WEIR_RELOAD_STATS_INIT;
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	uint64_t *keys = malloc(MANY * sizeof *keys);
	(void)state;
	assert_non_null(keys);
	for (uint64_t i = 0; i < MANY; i++)
		keys[i] = test_key(2000000 + i);
	build.max_memory = UINT64_C(64) << 20;
	o.build = &build;
	struct weir_reload *r = begun(h, &o);
	assert_refused(weir_reload_insert_keys(r, weir_keys_u64(keys, MANY), NULL), -EFBIG,
	               "max_memory", "");
	assert_in_range(weir_error_taken(), MANY / 100, MANY - 1);
	assert_ok(weir_reload_measure(r, &progress)); /* the failed call has released its locks */
	assert_true(progress.keys < MANY);
	assert_refused(weir_reload_insert(r, "key", 3), -EFBIG, "an earlier call has failed", "");
	assert_refused(weir_reload_commit(r), -EFBIG, "an earlier call has failed", "");
	assert_old(h);
	build.spill_folder = folder;
	r = begun(h, &o);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(keys, MANY), NULL), 0);
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 0; i < MANY; i++)
		assert_true(has(h, 2000000 + i));
	free(keys);
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_commit_builds_the_next_set),
		cmocka_unit_test(batches_of_any_length),
		cmocka_unit_test(several_threads_load),
		cmocka_unit_test(an_aborted_reload_publishes_nothing),
		cmocka_unit_test(the_next_set_keeps_secret_and_normalisation),
		cmocka_unit_test(keys_can_be_excluded_by_hash),
		cmocka_unit_test(the_next_set_may_have_another_seed),
		cmocka_unit_test(keys_beyond_max_memory_are_spilled),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
