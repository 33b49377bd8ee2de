/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a filter is built from keys, in memory or with a file for the
 * keys that do not fit. The builder reports the failure in an error text, or does without the call.
 * The caller gets no filter, or a filter with all keys. No memory, thread or file is leaked. */
#include <errno.h>
#include <weir/build.h>
#include "../cpus.h"
#include "../sharded.h"
#include "faults.h"

enum { FEW = 3000, MANY = 1200000, MOST_CALLS = 100000 };

static uint64_t *hashes;

static int setup(void **state)
{
	(void)folder_setup(state);
	hashes = malloc(MANY * sizeof *hashes);
	for (uint64_t i = 0; hashes && i < MANY; i++)
		hashes[i] = test_key(i);
	return hashes == NULL;
}

static int teardown(void **state)
{
	free(hashes);
	return folder_teardown(state);
}

/* Return: the number of keys in the builder's lanes (its buffers, to which different threads add at
 * the same time). The function locks each lane. */
uint64_t weir__builder_added(struct weir_builder *b);

/* @processors: 2 adds half of the keys on each of two processors, if the machine has two. */
static int build_on(unsigned processors, size_t n, uint32_t threads, bool spills)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	cpu_set_t all;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.01;
	p.seed = 3;
	o.threads = threads;
	o.max_memory = spills ? 64 << 20 : 0;
	o.spill_folder = spills ? folder : NULL;
	int err = weir_builder_create(&b, &p, &o);
	assert_int_equal(err == 0, b != NULL);
	for (size_t at = 0; !err && at < n; at += 1000) {
		if (processors > 1 && at % (n / 2) == 0) {
			const cpu_set_t one = nth_cpu(&all, at > 0);
			assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
		}
		err = weir_builder_add_keys(b, weir_keys_hashes(hashes + at, 1000));
	}
	on_cpus(&all);
	if (b && err) /* this call hangs if a lane is still locked */
		assert_true(weir__builder_added(b) <= n);
	if (!err)
		err = weir_builder_finish(&f, b, NULL);
	weir_builder_destroy(b);
	assert_int_equal(err == 0, f != NULL);
	assert_true(!f || weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL) == (int64_t)n);
	weir_destroy(f);
	return err;
}

static int build(size_t n, uint32_t threads, bool spills)
{
	return build_on(1, n, threads, spills);
}

/* Build from a set and an exclude list. Excluded keys that pass the first level may be spilled. */
static int build_two(size_t n, size_t m, bool spills)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	p.kind = WEIR_LAYERED;
	p.fp_rate = 0.25;
	p.seed = 3;
	o.max_memory = spills ? 64 << 20 : 0;
	o.spill_folder = spills ? folder : NULL;
	int err = weir_builder_create(&b, &p, &o);
	if (!err)
		err = weir_builder_add_keys(b, weir_keys_hashes(hashes, n));
	if (!err)
		err = weir_builder_seal(b);
	for (size_t at = 0; !err && at < m; at += 1000)
		err = weir_builder_exclude_keys(b, weir_keys_hashes(hashes + n + at, 1000));
	if (!err)
		err = weir_builder_finish(&f, b, NULL);
	weir_builder_destroy(b);
	assert_int_equal(err == 0, f != NULL);
	assert_true(!f || (weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL) == (int64_t)n &&
	                   weir_contains_keys(f, weir_keys_hashes(hashes + n, m), NULL) == 0));
	weir_destroy(f);
	return err;
}

static int of_two_lists(void) { return build_two(FEW, FEW, false); }
static int of_two_lists_with_a_file(void) { return build_two(700000, 500000, true); }
static int in_memory(void) { return build(FEW, 1, false); }
static int by_threads(void) { return build(FEW, 3, false); }
static int with_a_file(void) { return build(MANY, 1, true); }
/* Each processor adds its keys to a lane of the builder. When one processor spills keys to the
 * file, it also writes out the lane of the other processor, which may fail. */
static int from_two_processors(void) { return build_on(2, MANY, 1, true); }

/* Replace the set by a reload. After a failed commit the old set stays, and a new reload can
 * begin. */
static int replaced(struct weir_handle *h)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_reload *r = NULL;
	int err = weir_reload_begin(&r, h, NULL);
	if (err)
		return err;
	err = (int)weir_reload_insert_keys(r, weir_keys_hashes(hashes, FEW), NULL);
	if (err)
		weir_reload_abort(r);
	else
		err = weir_reload_commit(r);
	size_t found = weir_handle_contains_keys(h, weir_keys_hashes(hashes, FEW), NULL);
	assert_true(err ? found < FEW : found == FEW);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes + FEW, 100), NULL) ==
	                         100,
	                 err != 0);
	assert_ok(weir_handle_measure(h, &s, NULL));
	assert_false(s.reloading);
	assert_int_equal(s.generation, err ? 1 : 2);
	return err;
}

static int by_a_reload(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	p.seed = 3;
	int err = weir_build(&f, &p, weir_keys_hashes(hashes + FEW, 100), NULL);
	if (err)
		return err;
	err = weir_handle_create(&h, f, NULL);
	if (err) {
		weir_destroy(f);
		return err;
	}
	err = replaced(h);
	assert_ok(weir_handle_destroy(h));
	return err;
}

/* The first shard that fails ends the call, and the shards that were built are freed. */
static int of_a_sharded_set(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	int err = sharded_create(&set, &p, 2, NULL);
	if (!err)
		assert_ok(weir_handle_destroy(set));
	return err;
}

static const struct verb {
	const char *name;
	int (*run)(void);
	/* Large builds are slow, so the test skips calls: after a failure of call n, it fails call
	 * n + 1 + n / step. */
	unsigned step;
} verbs[] = {
	{ "in memory", in_memory, 60 },
	{ "by threads", by_threads, 60 },
	{ "with a file", with_a_file, 4 },
	{ "from two processors", from_two_processors, 3 },
	{ "of two lists", of_two_lists, 60 },
	{ "of two lists, with a file", of_two_lists_with_a_file, 4 },
	{ "by a reload", by_a_reload, 60 },
	{ "of a sharded set", of_a_sharded_set, 60 },
};

/* Run the verb while its n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(const struct verb *verb, unsigned n, int error)
{
	char name[256];
	unsigned descriptors = open_descriptors();
	int answer = run_failing(verb->run, n, error, false);
	const char *what = shim.what ? shim.what : "none";
	if (answer < 0 && !*weir_error_detail())
		fail_msg("%s: call %u (%s): answered %d without a sentence", verb->name, n, what,
		         answer);
	if (open_descriptors() != descriptors || shim.allocated)
		fail_msg("%s: call %u (%s): %u descriptors more, %ld allocations", verb->name, n,
		         what, open_descriptors() - descriptors, shim.allocated);
	assert_int_equal(folder_entries(folder, "", name), 0);
	return shim.what != NULL;
}

static void every_call_fails(void **state)
{
	static const int errors[] = { EIO, ENOMEM, ENOSPC, EINTR };
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++) {
			unsigned n = 1;
			if (test_is_short() && (v + e) % 3 != 0)
				continue;
			while (n < MOST_CALLS && fail_at(&verbs[v], n, errors[e]))
				n += 1 + n / verbs[v].step;
			assert_in_range(n, 10, MOST_CALLS - 1);
		}
}

static void interrupted_and_short(void **state)
{
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		shim.trickle = shim.armed = true;
		int answer = verbs[v].run();
		shim.trickle = shim.armed = false;
		assert_ok(answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails),
		cmocka_unit_test(interrupted_and_short),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
