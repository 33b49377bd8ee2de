/* SPDX-License-Identifier: MIT
 * Reloads whose next filter is built once: what the loader gives is collected, the commit builds,
 * and the current set answers until then. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include "../folder.h"
#include "../test.h"

enum { KEYS = 20000, SEED = 5 };

static struct weir_params params(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	p.seed = SEED;
	return p;
}

/* A handle over a set of a hundred keys. */
static struct weir_handle *handle(uint32_t flags)
{
	const struct weir_params p = params();
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	struct weir_filter *f = NULL;
	uint64_t hashes[100];
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t key = test_key(1000000 + i);
		hashes[i] = weir_hash_seeded(SEED, &key, 8);
	}
	assert_ok(weir_build(&f, &p, hashes, 100));
	o.flags = flags;
	assert_ok(weir_handle_create(&h, f, &o));
	return h;
}

static bool has(const struct weir_handle *h, uint64_t number)
{
	const uint64_t key = test_key(number);
	return weir_handle_contains(h, &key, 8);
}

static void assert_old(const struct weir_handle *h)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < 100; i++)
		assert_true(has(h, 1000000 + i));
	for (uint64_t i = 0; i < KEYS; i++)
		found += has(h, i);
	assert_true(found < 30);
}

static void assert_new(const struct weir_handle *h, uint64_t n)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < n; i++)
		assert_true(has(h, i));
	for (uint64_t i = 0; i < 100; i++)
		found += has(h, 1000000 + i);
	assert_true(found < 5);
}

static struct weir_reload *begun(struct weir_handle *h, const struct weir_reload_options *o)
{
	struct weir_reload *r = NULL;
	assert_ok(weir_reload_begin(&r, h, o));
	assert_non_null(r);
	return r;
}

/* In each of the forms that a loader's keys may have. */
static void fill(struct weir_reload *r, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		const uint64_t key = test_key(i), hash = weir_hash_seeded(SEED, &key, 8);
		const struct iovec whole = { (void *)(uintptr_t)&key, 8 };
		switch (i % 5) {
		case 0: assert_int_equal(weir_reload_insert(r, &key, 8), 0); break;
		case 1: assert_int_equal(weir_reload_insert_hash(r, hash), 0); break;
		case 2: assert_int_equal(weir_reload_insert_hashes(r, &hash, 1), 0); break;
		case 3: assert_int_equal(weir_reload_insert_keys(r, &whole, 1), 0); break;
		default: assert_int_equal(weir_reload_insert_fixed(r, &key, 8, 1), 0);
		}
	}
}

static struct weir_handle_stats stats_of(const struct weir_handle *h)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	assert_ok(weir_handle_stats(h, &s));
	return s;
}

/* Without parameters: of the current set's kind, rate and hash, for as many keys as come. */
static void filled_and_built(void **state)
{
	struct weir_reload_progress p = WEIR_RELOAD_PROGRESS_INIT;
	struct weir_params old = WEIR_PARAMS_INIT, next = WEIR_PARAMS_INIT;
	struct weir_reload *other = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	assert_ok(weir_params_of(weir_handle_get(h), &old));
	assert_false(stats_of(h).reloading);
	struct weir_reload *r = begun(h, NULL);
	assert_null(weir_reload_next(r));
	assert_true(stats_of(h).reloading);
	assert_int_equal(stats_of(h).bytes, weir_handle_get(h) ? stats_of(h).filter.bytes : 0);
	assert_refused(weir_reload_begin(&other, h, NULL), -EBUSY, "under way", "");
	fill(r, 0, KEYS);
	fill(r, 0, 10); /* again: of these there is one each */
	assert_ok(weir_reload_progress(r, &p));
	assert_true(p.keys == KEYS + 10 && p.share == 0 && p.seconds >= 0);
	assert_old(h);
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	assert_refused(weir_reload_copy(r), -ENOTSUP, "kind fuse", "take over");
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	assert_false(stats_of(h).reloading);
	assert_int_equal(stats_of(h).generation, 2);
	assert_int_equal(stats_of(h).filter.capacity, KEYS);
	assert_ok(weir_params_of(weir_handle_get(h), &next));
	assert_true(next.seed == SEED && next.fp_rate == old.fp_rate &&
	            next.fingerprint_bits == old.fingerprint_bits && next.capacity == KEYS);
	weir_handle_destroy(h);
}

/* A batch is longer than what is hashed at a time; keys of other lengths; none at all. */
static void whole_batches(void **state)
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
	assert_int_equal(weir_reload_insert_fixed(r, keys, 8, KEYS - 1), 0);
	assert_int_equal(weir_reload_insert_keys(r, vectors, KEYS), 0);
	assert_int_equal(weir_reload_insert_hashes(r, keys, 0), 0);
	assert_int_equal(weir_reload_insert_hashes(r, &zero, 1), 0);
	assert_int_equal(weir_reload_insert_fixed(r, NULL, 0, 1), 0);
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
	struct weir_reload_progress p = WEIR_RELOAD_PROGRESS_INIT;
	fill(l->r, l->first, KEYS / 4);
	assert_ok(weir_reload_progress(l->r, &p));
	assert_true(p.keys >= KEYS / 4);
	return NULL;
}

static int count(void *context, uint64_t done, uint64_t total)
{
	uint64_t *last = context;
	assert_true(done <= total);
	last[0] = done;
	last[1] = total;
	return 0;
}

static void by_several_threads(void **state)
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
	build.progress = NULL; /* it was copied */
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

/* Nothing of it was ever published. */
static void aborted(void **state)
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

/* The gate looks at what was built. */
static void the_gate(void **state)
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
	assert_int_equal(stats_of(h).refused, 1);
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

/* What the builder refuses ends the reload, and the old set stays. */
static void not_to_be_built(void **state)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload_progress p = WEIR_RELOAD_PROGRESS_INIT;
	struct weir_params next = params();
	struct weir_handle *h = handle(0);
	(void)state;
	next.capacity = KEYS - 1;
	o.params = &next;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_progress(r, &p));
	assert_true(p.share > 1 && p.share < 1.001);
	assert_refused(weir_reload_commit(r), -ENOSPC, "capacity 19999", "20000 different keys");
	assert_old(h);
	assert_int_equal(stats_of(h).refused, 1);
	assert_false(stats_of(h).reloading);
	build.progress = stop;
	o.params = NULL;
	o.build = &build;
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_refused(weir_reload_commit(r), -ECANCELED, "progress", "");
	assert_old(h);
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
	assert_true(stats_of(h).bytes <= 64 * 1024);
	r = begun(h, &o); /* both together are more */
	fill(r, 0, KEYS);
	assert_int_equal(weir_reload_commit(r), -EFBIG);
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

static void options_that_are_refused(void **state)
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
	build.max_memory = 1;
	o.build = &build;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "max_memory 1", "");
	build.struct_size = 3;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "weir_builder_options", "");
	assert_null(r);
	assert_false(stats_of(h).reloading);
	r = begun(h, NULL); /* none of them has kept it claimed */
	weir_reload_abort(r);
	weir_handle_destroy(h);
}

/* Memory of the caller's, and never where a filter that is in use has its bits. */
static void in_given_memory(void **state)
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

/* The set before it answers a rollback, and takes no insert either. */
static void kept_and_taken_back(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	(void)state;
	o.keep_previous = true;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(h).previous_kept);
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "");
	r = begun(h, &o); /* beside one that is kept */
	fill(r, 0, 10);
	weir_reload_abort(r);
	assert_new(h, KEYS);
	assert_ok(weir_handle_rollback(h));
	assert_old(h);
	weir_handle_destroy(h);
}

/* The next one is hashed by the same key, and what is done to keys before that stays. */
static void keyed_and_normalised(void **state)
{
	static const unsigned char secret[16] = "sixteen bytes!!";
	const struct weir_normal lowercase = { .steps = WEIR_NORMAL_LOWERCASE };
	struct weir_params p = params();
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	p.seed = 0;
	p.hash_key = secret;
	p.fingerprint_bits = 21; /* more than the rate needs */
	p.fp_rate = 0.001;
	assert_ok(weir_builder_create(&b, &p, NULL));
	assert_ok(weir_builder_add(b, "old", 3));
	assert_ok(weir_builder_finish(b, &f, NULL));
	weir_builder_destroy(b);
	assert_ok(weir_normal_set(f, &lowercase));
	assert_ok(weir_handle_create(&h, f, NULL));
	struct weir_reload *r = begun(h, NULL);
	assert_ok(weir_reload_insert(r, "new", 3));
	assert_ok(weir_reload_insert_hash(r, weir_handle_hash(h, "hashed", 6)));
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_normal_contains(h, "NEW", 3));
	assert_true(weir_handle_contains(h, "hashed", 6));
	assert_false(weir_handle_contains(h, "old", 3));
	p = (struct weir_params)WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(weir_handle_get(h), &p));
	assert_int_equal(p.fingerprint_bits, 21);
	weir_handle_destroy(h);
}

/* Another seed, and one that is not given, where the handle takes any. */
static void another_seed(void **state)
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

/* One that takes inserts may follow one that does not, and takes them from then on; not the other
 * way round. */
static void from_kind_to_kind(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	o.params = &next;
	r = begun(h, &o);
	assert_non_null(weir_reload_next(r));
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	weir_reload_abort(r);
	r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
	next = params();
	assert_refused(weir_reload_begin(&r, h, &o), -ENOTSUP, "kind fuse takes no inserts",
	               "of kind blocked");
	assert_true(weir_handle_contains(h, "key", 3));
	weir_handle_destroy(h);
}

/* Kept beside one that takes inserts, it is good for a rollback until the first insert. */
static void kept_beside_inserts(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_handle *h = handle(0);
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	o.params = &next;
	o.keep_previous = true;
	struct weir_reload *r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(h).previous_kept);
	assert_ok(weir_handle_rollback(h));
	assert_old(h);
	r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
	assert_true(stats_of(h).previous_void);
	assert_refused(weir_handle_rollback(h), -ENOENT, "", "");
	assert_true(weir_handle_contains(h, "key", 3));
	weir_handle_destroy(h);
}

/* Bits that nobody may write take no insert either. */
static void after_a_map(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	assert_ok(weir_create(&f, &next));
	assert_ok(weir_save(f, path, NULL));
	weir_destroy(f);
	f = NULL;
	assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
	assert_ok(weir_handle_create(&h, f, NULL));
	next = params();
	o.params = &next;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

/* What was kept before the first set must be in it: such a set cannot take it. */
static void before_the_first_set(void **state)
{
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	ho.absent = WEIR_ABSENT_NO;
	ho.flags = WEIR_HANDLE_ANY_SEED;
	o.params = &next;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_refused(weir_reload_begin(&r, h, NULL), -EINVAL, "options.params is NULL", "no set");
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	assert_ok(weir_save(weir_handle_get(h), path, NULL));
	weir_handle_destroy(h);
	ho.keep_inserts = 1000;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_ok(weir_handle_insert(h, "kept", 4));
	assert_refused(weir_reload_begin(&r, h, &o), -ENOTSUP, "kind fuse takes no inserts",
	               "keep_inserts");
	assert_refused(weir_handle_refresh(h, path), -ENOTSUP, "kind fuse takes no inserts",
	               "keep_inserts");
	weir_handle_destroy(h);
}

/* Given whole, so that a pace has pieces to sleep between. */
static void at_a_pace(void **state)
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
	assert_int_equal(weir_reload_insert_hashes(r, hashes, KEYS), 0);
	fill(r, 0, 1000);
	assert_ok(weir_reload_commit(r));
	assert_true(last[0] == KEYS + 1000 + KEYS && last[1] == last[0]); /* added, different */
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

/* Where there is no memory for so many, they wait in a file. */
static void spilled(void **state)
{
	enum { MANY = 2000000 };
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
	assert_refused(weir_reload_insert_fixed(r, keys, 8, MANY), -EFBIG, "max_memory", "");
	assert_in_range(weir_error_taken(), MANY / 100, MANY - 1);
	assert_refused(weir_reload_insert(r, "key", 3), -EFBIG, "an earlier call has failed", "");
	assert_refused(weir_reload_commit(r), -EFBIG, "an earlier call has failed", "");
	assert_old(h);
	build.spill_folder = folder;
	r = begun(h, &o);
	assert_int_equal(weir_reload_insert_fixed(r, keys, 8, MANY), 0);
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 0; i < MANY; i++)
		assert_true(has(h, 2000000 + i));
	free(keys);
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filled_and_built),
		cmocka_unit_test(whole_batches),
		cmocka_unit_test(by_several_threads),
		cmocka_unit_test(aborted),
		cmocka_unit_test(the_gate),
		cmocka_unit_test(not_to_be_built),
		cmocka_unit_test(options_that_are_refused),
		cmocka_unit_test(in_given_memory),
		cmocka_unit_test(kept_and_taken_back),
		cmocka_unit_test(keyed_and_normalised),
		cmocka_unit_test(another_seed),
		cmocka_unit_test(from_kind_to_kind),
		cmocka_unit_test(kept_beside_inserts),
		cmocka_unit_test(after_a_map),
		cmocka_unit_test(before_the_first_set),
		cmocka_unit_test(at_a_pace),
		cmocka_unit_test(spilled),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
