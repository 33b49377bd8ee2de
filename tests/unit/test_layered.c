/* SPDX-License-Identifier: MIT
 * Filters of an include list and an exclude list: exact on both, half of the first level's rate
 * elsewhere, the reference's bits; and what is refused. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include "../folder.h"
#include "../kinds/layered.h"
#include "../kinds/kind.h"

enum { KEYS = 4000, OTHERS = 60000, THREADS = 3, SEED = 9 };

static struct weir_params params(unsigned width)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_LAYERED;
	p.fp_rate = 0.5;
	p.fingerprint_bits = width;
	p.seed = SEED;
	return p;
}

static struct weir_builder *begun(const struct weir_params *p,
                                  const struct weir_builder_options *o)
{
	struct weir_builder *b = NULL;
	assert_ok(weir_builder_create(&b, p, o));
	return b;
}

static struct weir_filter *finished(struct weir_builder *b, struct weir_build_report *report)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_builder_finish(b, &f, report));
	assert_non_null(f);
	weir_builder_destroy(b);
	return f;
}

static void keys_of(uint64_t *hashes, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = test_key(first + i);
}

/* Included are keys 0 .. n-1, excluded those from there up to n+m-1. */
static struct weir_filter *built(const struct weir_params *p, uint64_t n, uint64_t m,
                                 struct weir_build_report *report)
{
	uint64_t *hashes = malloc(8 * (n + m) + 8);
	struct weir_builder *b = begun(p, NULL);
	keys_of(hashes, 0, n + m);
	assert_ok(weir_builder_add_hashes(b, hashes, n));
	assert_ok(weir_builder_seal(b));
	assert_ok(weir_builder_exclude_hashes(b, hashes + n, m));
	free(hashes);
	return finished(b, report);
}

/* One by one, and in a batch with answers and without. */
static uint64_t found_in(const struct weir_filter *f, uint64_t first, uint64_t n)
{
	uint64_t *hashes = malloc(8 * n + 8), *bitmap = malloc(n / 8 + 16), found = 0;
	keys_of(hashes, first, n);
	assert_int_equal(weir_contains_hashes(f, hashes, n, bitmap),
	                 weir_contains_hashes(f, hashes, n, NULL));
	for (uint64_t i = 0; i < n; i++) {
		const bool there = weir_contains_hash(f, hashes[i]);
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, there);
		found += there;
	}
	assert_int_equal(weir_contains_hashes(f, hashes, n, NULL), found);
	free(bitmap);
	free(hashes);
	return found;
}

static void exact_on_both(void **state)
{
	static const unsigned widths[] = { 1, 2, 5, 8, 11, 16, 32 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(widths); i++) {
		const struct weir_params p = params(widths[i]);
		struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
		struct weir_stats s = WEIR_STATS_INIT;
		struct weir_filter *f = built(&p, KEYS, OTHERS, &r);
		const double odds = ldexp(1, -(int)widths[i]), half = odds / 2 * 1000000;
		assert_int_equal(found_in(f, 0, KEYS), KEYS);
		assert_int_equal(found_in(f, KEYS, OTHERS), 0);
		const double found = (double)found_in(f, KEYS + OTHERS, 1000000);
		if (fabs(found - half) > 0.05 * half + 5 * sqrt(half))
			fail_msg("%u bits: %.0f of a million others found, expected %.0f",
			         widths[i], found, half);
		assert_true(r.added == KEYS && r.keys == KEYS && r.excluded == OTHERS);
		assert_true(fabs((double)r.passed - odds * OTHERS) <=
		            0.05 * odds * OTHERS + 5 * sqrt(odds * OTHERS));
		assert_true(r.seal_seconds > 0 && r.build_seconds > 0 && !r.equal);
		assert_ok(weir_stats_exact(f, &s));
		assert_true(s.fp_rate_estimated == odds / 2);
		/* a key's cell has its fingerprint's bits; the second level's are none of them */
		const double bits = KEYS * widths[i] * (1 - odds);
		assert_true(fabs(s.fill * 8 * (double)s.bytes / bits - 1) < 0.05);
		weir_destroy(f);
	}
}

static void as_the_reference(void **state)
{
	static const uint64_t sizes[][2] = { { 0, 50 }, { 1, 0 }, { 1, 900 }, { 40, 3 },
		                             { 700, 700 }, { 3000, 40000 } };
	static const unsigned widths[] = { 1, 6, 9, 16 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (size_t j = 0; j < COUNT_OF(widths); j++) {
			const uint64_t n = sizes[i][0], m = sizes[i][1];
			struct weir_params p = params(widths[j]);
			struct weir_stats s = WEIR_STATS_INIT;
			struct reference ref;
			static uint64_t hashes[50000];
			p.memory_bytes = 1 << 20;
			p.memory = aligned_alloc(64, p.memory_bytes);
			struct weir_filter *f = built(&p, n, m, NULL);
			assert_ok(weir_stats_exact(f, &s));
			reference_init(&ref, &s.shape, s.bytes / 64, SEED);
			keys_of(hashes, 0, n + m);
			assert_ok(layered_reference_build(&ref, hashes, n, hashes + n, m));
			assert_memory_equal(p.memory, ref.bytes, s.bytes);
			assert_true(fabs(s.keys_estimated - (double)n) <=
			            1 + 2 * sqrt((double)n));
			reference_free(&ref);
			weir_destroy(f);
			free(p.memory);
		}
}

/* ---- every verb, from several threads ---- */

struct part {
	struct weir_builder *b;
	uint64_t number;
};

static void *exclude(void *arg)
{
	const struct part *part = arg;
	for (uint64_t i = part->number; i < OTHERS; i += THREADS) {
		const uint64_t key = test_key(KEYS + i), hash = weir_builder_hash(part->b, &key, 8);
		const struct iovec whole = { (void *)(uintptr_t)&key, 8 };
		switch (i % 7) {
		case 0: assert_ok(weir_builder_exclude(part->b, &key, 8)); break;
		case 1: assert_ok(weir_builder_exclude_u64(part->b, key)); break;
		case 2: assert_ok(weir_builder_exclude_hash(part->b, hash)); break;
		case 3: assert_ok(weir_builder_exclude_hashes(part->b, &hash, 1)); break;
		case 4: assert_ok(weir_builder_exclude_keys(part->b, &whole, 1)); break;
		default: assert_ok(weir_builder_exclude_fixed(part->b, &key, 8, 1));
		}
	}
	return NULL;
}

static void from_several_threads(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(3);
	struct part part[THREADS];
	pthread_t thread[THREADS];
	(void)state;
	o.threads = THREADS;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_builder_add_u64(b, test_key(i)));
	assert_ok(weir_builder_seal(b));
	for (unsigned i = 0; i < THREADS; i++) {
		part[i] = (struct part){ b, i };
		assert_int_equal(pthread_create(&thread[i], NULL, exclude, &part[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	struct weir_filter *f = finished(b, &r);
	assert_true(r.excluded == OTHERS && r.passed > 0);
	for (uint64_t i = 0; i < KEYS + OTHERS; i++)
		assert_int_equal(weir_contains_u64(f, test_key(i)), i < KEYS);
	uint64_t *keys = malloc(8 * (KEYS + OTHERS)); /* more than go through a level at once */
	keys_of(keys, 0, KEYS + OTHERS);
	assert_int_equal(weir_contains_fixed(f, keys, 8, KEYS + OTHERS, NULL), KEYS);
	free(keys);
	weir_destroy(f);
}

/* ---- memory ---- */

/* The included keys that are kept leave less for what passes: 450,000 of 8 bytes in 7 MiB. */
static void memory_is_shared(void **state)
{
	enum { MANY = 450000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params(1);
	struct weir_filter *f = NULL;
	int err = 0;
	(void)state;
	o.max_memory = 63 << 20;
	for (uint64_t n = KEYS; n <= MANY; n += MANY - KEYS) {
		struct weir_builder *b = begun(&p, &o);
		for (uint64_t k = 0; k < n; k++)
			assert_ok(weir_builder_add_hash(b, test_key(k)));
		assert_ok(weir_builder_seal(b));
		for (uint64_t k = 0; k < 2 * MANY && !err; k++) /* half of them pass */
			err = weir_builder_exclude_hash(b, test_key(MANY + k));
		if (n < MANY) {
			assert_ok(err);
			assert_ok(weir_builder_finish(b, &f, NULL));
			weir_destroy(f);
		}
		weir_builder_destroy(b);
	}
	assert_refused(err, -EFBIG, "max_memory", "spill_folder");
}

/* What passes goes to the file as included keys do; without one that is refused. */
static void spilled(void **state)
{
	enum { MANY = 1500000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	uint64_t *hashes = malloc(8 * 4 * MANY);
	struct weir_filter *f = NULL;
	int err = 0;
	(void)state;
	keys_of(hashes, 0, 4 * MANY);
	o.max_memory = 63 << 20;
	struct weir_builder *b = begun(&p, &o);
	assert_ok(weir_builder_add_hashes(b, hashes, KEYS));
	assert_ok(weir_builder_seal(b));
	for (uint64_t at = KEYS; !err && at < 4 * MANY; at += 1000)
		err = weir_builder_exclude_hashes(b, hashes + at, 1000);
	assert_refused(err, -EFBIG, "max_memory", "spill_folder");
	assert_refused(weir_builder_finish(b, &f, NULL), -EFBIG, "an earlier call has failed", "");
	weir_builder_destroy(b);
	o.spill_folder = folder;
	for (uint64_t n = KEYS; n <= MANY; n += MANY - KEYS) {
		b = begun(&p, &o);
		assert_ok(weir_builder_add_hashes(b, hashes, n));
		assert_ok(weir_builder_seal(b));
		assert_ok(weir_builder_exclude_hashes(b, hashes + n, 4 * MANY - n));
		f = finished(b, &r);
		assert_true(r.spilled_bytes > 8 * (n > KEYS ? n : MANY));
		assert_int_equal(weir_contains_hashes(f, hashes, n, NULL), n);
		assert_int_equal(weir_contains_hashes(f, hashes + n, 4 * MANY - n, NULL), 0);
		weir_destroy(f);
	}
	free(hashes);
}

/* What the included keys alone have spilled is reported too. */
static void spilled_before_the_seal(void **state)
{
	enum { MANY = 1500000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	(void)state;
	o.max_memory = 63 << 20;
	o.spill_folder = folder;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < MANY; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	struct weir_filter *f = finished(b, &r);
	assert_true(r.spilled_bytes >= 8 * (uint64_t)MANY && r.excluded == 0);
	weir_destroy(f);
}

/* ---- what is refused ---- */

static void in_their_order(void **state)
{
	const struct weir_params p = params(4);
	struct weir_builder *b = begun(&p, NULL);
	(void)state;
	assert_refused(weir_builder_exclude_hash(b, 1), -EINVAL, "not sealed", "weir_builder_seal");
	assert_ok(weir_builder_add_hash(b, 1)); /* it has not failed for that */
	assert_ok(weir_builder_seal(b));
	assert_refused(weir_builder_seal(b), -EINVAL, "sealed already", "");
	assert_refused(weir_builder_add_hash(b, 2), -EINVAL, "sealed", "no more included keys");
	assert_ok(weir_builder_exclude_hash(b, 2));
	struct weir_filter *f = NULL;
	assert_ok(weir_builder_finish(b, &f, NULL));
	assert_true(weir_contains_hash(f, 1) && !weir_contains_hash(f, 2));
	assert_refused(weir_builder_exclude_hash(b, 3), -EINVAL, "was finished", "");
	assert_refused(weir_builder_seal(b), -EINVAL, "was finished", "");
	weir_builder_destroy(b);
	weir_destroy(f);
}

static void of_other_kinds(void **state)
{
	struct weir_params p = params(8);
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_FUSE;
	struct weir_builder *b = begun(&p, NULL);
	assert_refused(weir_builder_seal(b), -ENOTSUP, "kind fuse", "exclude list");
	assert_refused(weir_builder_exclude_hash(b, 1), -ENOTSUP, "kind fuse", "exclude list");
	weir_builder_destroy(b);
	p.exclude_keys = 10;
	p.capacity = 10;
	assert_refused(weir_plan(&p, &plan), -EINVAL, "exclude_keys 10", "kind fuse");
	p.kind = WEIR_LAYERED;
	p.exclude_keys = UINT64_MAX;
	assert_refused(weir_plan(&p, &plan), -EINVAL, "exclude_keys 18446744073709551615", "2^48");
}

/* The least hash that is in both, wherever it stands in either, and alone; 0 is one like others. */
static void in_both_lists(void **state)
{
	static const uint64_t both[][3] = { { 17, 1, 1000 }, { 0, 1, 1000 }, { 17, 2, 1000 },
		                            { 17, 1, 0 } };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
		const struct weir_params p = params(7);
		struct weir_builder *b = begun(&p, NULL);
		struct weir_filter *f = NULL;
		char name[32];
		for (uint64_t k = 0; k < both[i][1]; k++)
			assert_ok(weir_builder_add_hash(b, both[i][0] + k));
		for (uint64_t k = 0; k < both[i][2]; k++)
			assert_ok(weir_builder_add_hash(b, test_key(k)));
		assert_ok(weir_builder_seal(b));
		for (uint64_t k = 0; k < both[i][2]; k++)
			assert_ok(weir_builder_exclude_hash(b, test_key(1000 + k)));
		for (uint64_t k = both[i][1]; k-- > 0;)
			assert_ok(weir_builder_exclude_hash(b, both[i][0] + k));
		snprintf(name, sizeof name, "0x%016llx", (unsigned long long)both[i][0]);
		assert_refused(weir_builder_finish(b, &f, &r), -EEXIST, name, "another seed");
		assert_true(!f && r.equal == both[i][1] && r.equal_hash == both[i][0]);
		weir_builder_destroy(b);
	}
}

static void the_same_list(void **state)
{
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(5);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(k)));
	assert_refused(weir_builder_finish(b, &f, &r), -EEXIST, "not the only one", "");
	assert_int_equal(r.equal, KEYS);
	weir_builder_destroy(b);
}

/* Hashes that are no better than a counter have their first cells in one place: however large the
 * second level becomes, it cannot be built. */
static void not_spread(void **state)
{
	const struct weir_params p = params(1);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, k));
	assert_refused(weir_builder_finish(b, &f, NULL), -ENOSPC, "cannot be built", "spread");
	assert_null(f);
	weir_builder_destroy(b);
}

/* The second level may not become larger than there is memory for. */
static void within_bytes(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.seed = SEED;
	p.capacity = KEYS;
	p.exclude_keys = OTHERS;
	p.max_bytes = 8000;
	struct weir_filter *f = built(&p, KEYS, OTHERS, &r); /* of the widest for that */
	assert_ok(weir_stats(f, &s));
	assert_true(s.bytes <= 8000 && s.bytes > 7500 && s.shape.field[0] > 8);
	assert_int_equal(found_in(f, 0, KEYS), KEYS);
	assert_int_equal(found_in(f, KEYS, OTHERS), 0);
	weir_destroy(f);
	p.exclude_keys = 0; /* but then they come */
	p.fp_rate = 0.25;
	p.max_bytes = 1200;
	struct weir_builder *b = begun(&p, NULL);
	f = NULL;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_refused(weir_builder_seal(b), -EFBIG, "max_bytes is 1200", "");
	weir_builder_destroy(b);
	p.max_bytes = 1600;
	b = begun(&p, NULL);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < OTHERS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k)));
	assert_refused(weir_builder_finish(b, &f, NULL), -EFBIG, "max_bytes is 1600", "");
	weir_builder_destroy(b);
}

/* ---- progress ---- */

static uint64_t calls, stop_at, done_last, total_last;

static int on_progress(void *seal, uint64_t done, uint64_t total)
{
	(void)seal;
	assert_true(done <= total);
	done_last = done;
	total_last = total;
	return ++calls == stop_at;
}

static int stopped_at(uint64_t call, bool *sealed)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params(2);
	struct weir_filter *f = NULL;
	calls = 0;
	stop_at = call;
	o.progress = on_progress;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	int err = weir_builder_seal(b);
	*sealed = !err;
	for (uint64_t k = 0; !err && k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k)));
	if (!err)
		err = weir_builder_finish(b, &f, NULL);
	assert_int_equal(!err, f != NULL);
	weir_builder_destroy(b);
	weir_destroy(f);
	return err;
}

/* As alike_when_multiplied() in test_fuse.c, of the exclude list: half of it passes, and its table
 * is asked for the included keys. */
static void alike_when_multiplied(void **state)
{
	enum { SIDE = 1024 };
	const struct weir_params p = params(1);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t i = 0; i < SIDE * SIDE; i++)
		assert_ok(weir_builder_exclude_hash(b, i / SIDE * UINT64_C(0xa8a2288097) +
		                                       i % SIDE * UINT64_C(0x53f887addb)));
	assert_refused(weir_builder_finish(b, &f, NULL), -ENOSPC, "cannot be built", "spread");
	weir_builder_destroy(b);
}

/* With a rate the bytes are a limit, also of a reload's budget: nothing is filled up to it. */
static void no_larger_than_needed(void **state)
{
	struct weir_params p = params(6);
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	struct weir_stats s = WEIR_STATS_INIT, limited = WEIR_STATS_INIT;
	struct weir_filter *f = built(&p, KEYS, OTHERS, &r);
	(void)state;
	assert_ok(weir_stats(f, &s));
	weir_destroy(f);
	p.max_bytes = 1 << 20;
	f = built(&p, KEYS, OTHERS, &r);
	assert_ok(weir_stats(f, &limited));
	assert_int_equal(limited.bytes, s.bytes);
	weir_destroy(f);
}

static void stopped(void **state)
{
	bool sealed, in_seal = false, in_finish = false;
	uint64_t all;
	(void)state;
	assert_ok(stopped_at(0, &sealed));
	all = calls;
	for (uint64_t call = 1; call <= all; call += all / 9) {
		assert_refused(stopped_at(call, &sealed), -ECANCELED, "", "");
		in_seal |= !sealed;
		in_finish |= sealed;
	}
	assert_true(in_seal && in_finish);
}

/* Equal keys of either list are done when they are sorted: both stages end at their totals. */
static void progress_with_equal_keys(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	(void)state;
	stop_at = 0;
	o.progress = on_progress;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < 2 * KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k / 2)));
	assert_ok(weir_builder_seal(b));
	assert_true(done_last == 3 * KEYS && total_last == 3 * KEYS);
	for (uint64_t k = 0; k < 2 * KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k / 2)));
	weir_destroy(finished(b, &r));
	assert_true(r.passed > KEYS / 3 && done_last == 3 * r.passed + KEYS);
	assert_int_equal(total_last, done_last);
}

/* ---- plans ---- */

static void as_published(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.capacity = 11700000;
	p.exclude_keys = 804300000;
	p.fp_rate = 0.5;
	assert_ok(weir_plan(&p, &plan));
	assert_int_equal(plan.shape.field[0], 6);
	assert_true(plan.bytes <= 13600000 && plan.bytes > 11050000);
	p.fp_rate = 0.001; /* 2^-(9 + 1) */
	assert_ok(weir_plan(&p, &plan));
	assert_int_equal(plan.shape.field[0], 9);
	p.exclude_keys = 0;
	p.fp_rate = 0.25;
	assert_ok(weir_plan(&p, &plan));
	assert_int_equal(plan.shape.field[0], 1);
	p.fp_rate = 1e-10;
	assert_refused(weir_plan(&p, &plan), -EINVAL, "fp_rate 1e-10", "");
	p.fp_rate = 0;
	p.max_bytes = 12000000; /* 8.2 bits a key */
	p.exclude_keys = 804300000;
	assert_refused(weir_plan(&p, &plan), -EFBIG, "max_bytes 12000000", "804300000 excluded");
}

/* Lines of the parts of a level. */
static uint64_t lines_of(uint32_t width, const uint32_t *segments)
{
	const uint64_t bits = ((uint64_t)segments[1] << segments[0]) * width;
	return (8 + (bits + 7) / 8 + 8 + 63) / 64 << segments[2];
}

/* What is left of the bytes becomes cells of the second level, in each of its parts. */
static void filled(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.capacity = 9000000;
	for (p.max_bytes = 12000000; p.max_bytes < 13000000; p.max_bytes += 100000) {
		assert_ok(weir_plan(&p, &plan));
		const uint32_t *field = plan.shape.field;
		const uint64_t lines = lines_of(field[0], field + 1) + lines_of(1, field + 4);
		assert_true(field[6] > 0 && lines <= plan.bytes / 64);
		assert_true(plan.bytes <= p.max_bytes && 64 * lines > p.max_bytes / 100 * 99);
	}
}

static bool legal(unsigned field, uint32_t value)
{
	struct weir_shape shape = { WEIR_LAYERED, { 6, 4, 3, 0, 4, 3, 0 } };
	char text[WEIR_SHAPE_TEXT];
	shape.field[field] = value;
	return weir_shape_text(&shape, text) == 0;
}

static void shapes(void **state)
{
	static const uint32_t least[] = { 1, 0, 3, 0, 0, 3, 0 };
	static const uint32_t most[] = { 32, 18, 1 << 24, 28, 18, 1 << 24, 28 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(least); i++) {
		assert_true(legal(i, least[i]) && legal(i, most[i]));
		assert_false(legal(i, most[i] + 1) || legal(i, UINT32_MAX));
		assert_false(least[i] && legal(i, least[i] - 1));
	}
}

/* ---- a handle's set ---- */

static void reloaded(void **state)
{
	const struct weir_params p = params(4);
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	static uint64_t hashes[KEYS + OTHERS];
	const struct iovec key = { hashes, 8 };
	(void)state;
	keys_of(hashes, 0, KEYS + OTHERS);
	assert_ok(weir_handle_create(&h, built(&p, 100, 1000, NULL), NULL));
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_refused(weir_reload_exclude_hashes(r, hashes, 1), -EINVAL, "not sealed", "");
	assert_int_equal(weir_reload_insert_hashes(r, hashes, KEYS), 0);
	assert_ok(weir_reload_seal(r));
	assert_ok(weir_reload_exclude_hashes(r, hashes + KEYS, OTHERS));
	assert_ok(weir_reload_exclude_keys(r, &key, 1));
	assert_ok(weir_reload_exclude(r, "a key", 5));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_contains_hashes(h, hashes, KEYS, NULL), KEYS);
	assert_int_equal(weir_handle_contains_hashes(h, hashes + KEYS, OTHERS, NULL), 0);
	assert_false(weir_handle_contains(h, "a key", 5));
	assert_ok(weir_reload_begin(&r, h, NULL)); /* the same key in both */
	assert_int_equal(weir_reload_insert_hashes(r, hashes, KEYS), 0);
	assert_ok(weir_reload_seal(r));
	assert_ok(weir_reload_exclude_hashes(r, hashes, 1));
	assert_refused(weir_reload_commit(r), -EEXIST, "another seed", "");
	assert_int_equal(weir_handle_contains_hashes(h, hashes, KEYS, NULL), KEYS);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_on_both),
		cmocka_unit_test(as_the_reference),
		cmocka_unit_test(from_several_threads),
		cmocka_unit_test(memory_is_shared),
		cmocka_unit_test(spilled),
		cmocka_unit_test(spilled_before_the_seal),
		cmocka_unit_test(in_their_order),
		cmocka_unit_test(of_other_kinds),
		cmocka_unit_test(in_both_lists),
		cmocka_unit_test(the_same_list),
		cmocka_unit_test(not_spread),
		cmocka_unit_test(within_bytes),
		cmocka_unit_test(alike_when_multiplied),
		cmocka_unit_test(no_larger_than_needed),
		cmocka_unit_test(stopped),
		cmocka_unit_test(progress_with_equal_keys),
		cmocka_unit_test(as_published),
		cmocka_unit_test(filled),
		cmocka_unit_test(shapes),
		cmocka_unit_test(reloaded),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
