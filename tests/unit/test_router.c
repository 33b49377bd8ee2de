/* SPDX-License-Identifier: MIT
 * Routers. Their answers equal the answers of a second, plain implementation of the layout. The
 * tests also cover secrets, names, statistics and merges. */
#include <math.h>
#include "router.h"

/* ---- a plain implementation of the layout: [ROUTER-LAYOUT] in src/router/router.h ---- */

enum { ROWS = 10 }; /* most rows for one key */

struct plain {
	uint32_t sets, columns, k;
	uint64_t pages;         /* number of pages that hold keys */
	unsigned char *has;     /* [page][row][set] */
};

static struct plain plain_of(const struct weir_filter *r)
{
	const struct weir_stats s = whole_stats(r);
	struct plain p = { test_number(&s.shape, "sets"), test_number(&s.shape, "columns"),
		           test_number(&s.shape, "rows_per_key"), s.bytes / 4096 - 1, NULL };
	p.has = calloc(p.pages * 32768, 1);
	assert_non_null(p.has);
	return p;
}

static uint64_t high(uint64_t a, uint64_t b)
{
	uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
	uint64_t mid = ah * bl + (al * bl >> 32), low = al * bh + (mid & 0xffffffff);
	return ah * bh + (mid >> 32) + (low >> 32);
}

/* Compute the rows of a key, as indices into the array plain.has. */
static void plain_rows(const struct plain *p, uint64_t hash, uint64_t row[10])
{
	uint64_t stream[2] = { hash * UINT64_C(0x9E3779B97F4A7C15),
		               hash * UINT64_C(0xD6E8FEB86659FD93) };
	unsigned rows = 32768 / p->columns, bits = 0, left = 64, word = 0;
	while (1u << bits < rows)
		bits++;
	for (unsigned i = 0; i < p->k; i++) {
		if (left < bits) {
			word++;
			left = 64;
		}
		left -= bits;
		row[i] = (high(hash, p->pages) * rows + (stream[word] >> left) % rows) *
		         p->columns;
	}
}

static void plain_insert(const struct plain *p, uint32_t set, uint64_t hash)
{
	uint64_t row[10];
	plain_rows(p, hash, row);
	for (unsigned i = 0; i < p->k; i++)
		p->has[row[i] + set] = 1;
}

static uint64_t plain_route(const struct plain *p, uint64_t hash)
{
	uint64_t row[10], mask = 0;
	plain_rows(p, hash, row);
	for (uint32_t set = 0; set < p->sets; set++) {
		bool all = true;
		for (unsigned i = 0; i < p->k; i++)
			all &= p->has[row[i] + set];
		mask |= (uint64_t)all << set;
	}
	return mask;
}

static void answers_equal_the_plain_layout(void **state)
{
	static const uint32_t sets[] = { 1, 7, 8, 9, 16, 31, 32, 33, 64 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sets); i++)
		for (uint32_t k = 1; k <= ROWS; k++) {
			struct weir_filter *r = router_of(sets[i], 200, k);
			struct plain p = plain_of(r);
			uint64_t any = 0;
			for (uint64_t n = 0; n < 200u * sets[i]; n++) {
				uint64_t hash = test_key(n);
				uint32_t set = (uint32_t)(n % sets[i]);
				assert_in_range(weir_insert_into_hash(r, set, hash), 0, 1);
				plain_insert(&p, set, hash);
			}
			for (uint64_t n = 0; n < 400u * sets[i]; n++) {
				uint64_t hash = test_key(n), mask = weir_route_hash(r, hash);
				assert_true(mask == plain_route(&p, hash));
				any |= mask;
			}
			assert_true(any == ~UINT64_C(0) >> (64 - sets[i]));
			free(p.has);
			weir_destroy(r);
		}
}

/* ---- functions that must agree, secrets, names, and sets that do not exist ---- */

static void every_function_agrees(void **state)
{
	enum { N = 1500 };
	static uint64_t hashes[N], keys[N], bitmap[WEIR_BITMAP_WORDS(N)], masks[N], again[N];
	struct iovec vectors[N];
	struct weir_filter *a = router_of(40, 2000, 0), *b = router_of(40, 2000, 0),
	                   *c = router_of(40, 2000, 0), *d = router_of(40, 2000, 0);
	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		keys[i] = test_key(i % 1400); /* some keys occur twice */
		hashes[i] = weir_hash(a, &keys[i], 8);
		vectors[i] = (struct iovec){ &keys[i], 8 };
	}
	int64_t new = 0;
	for (unsigned i = 0; i < N; i++)
		new += weir_insert_into_u64(a, 39, keys[i]);
	assert_int_equal(weir_insert_into_keys(b, 39, weir_keys_hashes(hashes, N), bitmap), new);
	assert_int_equal(weir_insert_into_keys(c, 39, weir_keys_iov(vectors, N), NULL), new);
	assert_int_equal(weir_insert_into_keys(d, 39, weir_keys_u64(keys, N), bitmap), new);
	int64_t bits = 0;
	for (unsigned i = 0; i < N; i++)
		bits += bitmap[i / 64] >> (i % 64) & 1;
	assert_int_equal(bits, new);
	assert_true(bitmap[N / 64] >> (N % 64) == 0);
	struct weir_filter *each[] = { a, b, c, d };
	for (unsigned r = 0; r < 4; r++) {
		memset(masks, 0xff, sizeof masks);
		assert_int_equal(weir_route_keys(each[r], weir_keys_hashes(hashes, N),
		                                        masks),
		                 N);
		for (unsigned i = 0; i < N; i++) {
			assert_true(masks[i] >> 39 == 1);
			assert_true(masks[i] == weir_route_u64(a, keys[i]));
			assert_true(masks[i] == weir_route(a, &keys[i], 8));
		}
		memset(again, 0, sizeof again);
		assert_int_equal(weir_route_keys(each[r], weir_keys_iov(vectors, N), again),
		                 N);
		assert_memory_equal(again, masks, sizeof masks);
		memset(again, 0, sizeof again);
		assert_int_equal(weir_route_keys(each[r], weir_keys_u64(keys, N),
		                                        again),
		                 N);
		assert_memory_equal(again, masks, sizeof masks);
	}
	for (unsigned r = 0; r < 4; r++)
		weir_destroy(each[r]);
}

static void prefetching_does_not_change_answers(void **state)
{
	enum { N = 4000 };
	static uint64_t hashes[N], masks[N];
	struct weir_filter *r = router_of(64, 200000, 0);
	(void)state;
	for (unsigned i = 0; i < N; i++)
		hashes[i] = test_key(i);
	for (uint32_t set = 0; set < 64; set++)
		assert_ok(weir_insert_into_keys(r, set, weir_keys_hashes(hashes + 60 * set, 100),
		                                  NULL));
	for (size_t n = 0; n < 100; n++)
		(void)weir_route_keys(r, weir_keys_hashes(hashes, n), masks);
	(void)weir_route_keys(r, weir_keys_hashes(hashes, N), masks);
	for (unsigned i = 0; i < N; i++)
		assert_true(masks[i] == weir_route_hash(r, hashes[i]));
	assert_true(masks[3779] & UINT64_C(1) << 62);
	weir_destroy(r);
}

static void routers_may_be_keyed(void **state)
{
	static const unsigned char secret[16] = { 1, 2, 3 };
	struct weir_params o = router_params(9, 1000);
	struct weir_filter *r = NULL;
	uint64_t key = 77, mask;
	(void)state;
	o.seed = 0;
	o.secret = secret;
	assert_ok(weir_create(&r, &o));
	assert_int_equal(weir_insert_into(r, 8, &key, 8), WEIR_NEW);
	assert_int_equal(weir_insert_into_u64(r, 8, key), WEIR_SEEN);
	assert_true(weir_route_u64(r, key) == 1u << 8);
	assert_int_equal(weir_route_keys(r, weir_keys_u64(&key, 1), &mask), 1);
	assert_true(mask == 1u << 8);
	weir_destroy(r);
	o.seed = 5; /* differs from the check value of the secret */
	assert_refused(weir_create(&r, &o), -EINVAL, "seed", "secret");
}

static void sets_have_names(void **state)
{
	const char *given[3] = { "\xee\x80\x80", "zwei", "\xc3\xa4\xc3\xb6" };
	static const char *const bad[] = { "", "a\tb", "\x80", "\xc0\x80", "\xed\xa0\x80", "a\x7f",
		                           "\xc2\x85", "\xf4\x90\x80\x80", "zwei",
		                           ("0123456789012345678901234567890123456789"
		                           "012345678901234567890123") };
	struct weir_params o = router_params(3, 100);
	struct weir_filter *r = NULL;
	(void)state;
	o.router.names = given;
	assert_ok(weir_create(&r, &o));
	assert_string_equal(weir_router_name(r, 2), given[2]);
	assert_null(weir_router_name(r, 3));
	assert_int_equal(weir_router_find(r, "zwei"), 1);
	assert_int_equal(weir_router_find(r, "drei"), -ENOENT);
	assert_int_equal(weir_router_sets(r), 3);
	weir_destroy(r);
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		given[2] = bad[i];
		assert_refused(weir_create(&r, &o), -EINVAL, "set", "2");
	}
	given[2] = NULL;
	assert_refused(weir_create(&r, &o), -EINVAL, "names", "2 is NULL");
	r = router_of(64, 10, 0);
	assert_string_equal(weir_router_name(r, 63), "63");
	weir_destroy(r);
}

/* Set 0 has the figures of the filter. */
static void a_filter_acts_as_a_router_with_one_set(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	(void)state;
	assert_int_equal(weir_insert_into(f, 0, "key", 3), WEIR_NEW);
	assert_int_equal(weir_insert_into_hash(f, 0, weir_hash(f, "key", 3)), WEIR_SEEN);
	assert_refused(weir_insert_into(f, 1, "key", 3), -EINVAL, "set 1", "has 1");
	assert_refused(weir_insert_into_u64(f, 1, 3), -EINVAL, "set 1", "has 1");
	assert_refused(weir_insert_into_hash(f, 1, 3), -EINVAL, "set 1", "has 1");
	assert_string_equal(weir_router_name(f, 0), "0");
	assert_null(weir_router_name(f, 1));
	assert_ok(weir_router_measure(f, WEIR_EXACT, &s));
	const struct weir_stats whole = whole_stats(f);
	assert_true(s.sets == 1 && s.sampled == 1 && s.saturated == 0);
	assert_true(fabs(s.keys[0] - whole.keys_estimated) < 1e-9 && s.keys[0] > 0.5);
	assert_true(fabs(s.fp_rates[0] - s.false_sets) < 1e-12 && s.fill[0] > 0);
	assert_refused(weir_router_measure(f, 7, &s), -EINVAL, "effort 7", "");
	s.struct_size = 1;
	assert_refused(weir_router_measure(f, WEIR_EXACT, &s), -EINVAL, "weir_router_stats", "1");
	weir_destroy(f);
}

static void unknown_sets_are_refused(void **state)
{
	uint64_t hash = 5;
	struct weir_filter *r = router_of(9, 100, 0);
	(void)state;
	assert_refused(weir_insert_into_hash(r, 9, 1), -EINVAL, "set 9", "9");
	assert_refused(weir_insert_into_keys(r, UINT32_MAX, weir_keys_hashes(&hash, 1), NULL),
	               -EINVAL, "set", "9");
	assert_refused(weir_insert_into_keys(r, 16, weir_keys_u64(&hash, 1), NULL), -EINVAL,
	               "16", "9");
	assert_true(weir_route_hash(r, 1) == 0);
	weir_destroy(r);
}

/* ---- statistics and merges ---- */

static void the_saturated_set_is_named(void **state)
{
	struct weir_filter *r = router_of(64, 1000, 0);
	(void)state;
	for (uint64_t i = 0; i < 3000; i++)
		assert_ok(weir_insert_into_u64(r, 40, test_key(i)));
	assert_true(router_stats(r).saturated == UINT64_C(1) << 40);
	weir_destroy(r);
}

/* The sample's estimate exceeds the capacity, but by less than the error of the estimate. */
static void a_sample_within_its_error_is_not_saturated(void **state)
{
	enum { CAPACITY = 1000000 };
	struct weir_filter *r = router_of(8, CAPACITY, 0);
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	(void)state;
	assert_ok(weir_router_measure(r, WEIR_SAMPLED, &s));
	assert_true(s.sampled < 0.25);
	const double off = 3 * sqrt(CAPACITY / s.sampled);
	for (uint64_t i = 0; s.keys[2] < CAPACITY + 0.9 * off; i++) {
		assert_ok(weir_insert_into_u64(r, 2, i));
		if (i >= CAPACITY && i % 256 == 0)
			assert_ok(weir_router_measure(r, WEIR_SAMPLED, &s));
	}
	assert_int_equal(s.saturated, 0);
	weir_destroy(r);
}

static void statistics_count_each_set(void **state)
{
	struct weir_filter *r = router_of(20, 20000, 0);
	(void)state;
	for (uint32_t set = 0; set < 20; set++)
		for (uint64_t i = 0; i < 1100u * set; i++)
			assert_ok(weir_insert_into_u64(r, set, test_key(i << 6 | set)));
	struct weir_router_stats s = router_stats(r);
	assert_int_equal(s.sets, 20);
	const struct weir_stats whole = whole_stats(r);
	assert_int_equal(test_number(&whole.shape, "columns"), 32);
	double rates = 0;
	for (uint32_t set = 0; set < 20; set++) {
		double is = 1100.0 * set;
		assert_true(fabs(s.keys[set] - is) <= 0.03 * is);
		rates += s.fp_rates[set];
		/* set 19 has 20900 keys at a capacity of 20000 */
		assert_int_equal(s.saturated >> set & 1, set == 19);
	}
	/* the figures of the router are those of the fullest set */
	assert_true(fabs(whole.keys_estimated - s.keys[19]) < 1e-6);
	assert_true(fabs(whole.fp_rate_estimated - s.fp_rates[19]) < 1e-9 && whole.saturated);
	assert_true(fabs(rates - s.false_sets) < 1e-6);
	assert_true(s.fp_rates[18] > 0.007 && s.fp_rates[18] < 0.011 && s.fp_rates[0] == 0);
	weir_destroy(r);
}

/* A second page stores the names of the sets. */
static void a_router_of_one_page_of_keys(void **state)
{
	struct weir_filter *r = router_of(8, 100, 0);
	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		assert_ok(weir_insert_into_u64(r, 7, test_key(i)));
	struct weir_router_stats s = router_stats(r);
	assert_int_equal(whole_stats(r).bytes, 2 * 4096);
	assert_true(fabs(s.keys[7] - 100) < 10);
	weir_destroy(r);
}

/* A lookup probes one page. So the set's rate is the mean of the rates of all pages, and not the
 * rate of a page with the mean fill. */
static void the_rate_is_the_mean_over_pages(void **state)
{
	struct weir_filter *r = router_of(3, 20000, 4);
	(void)state;
	for (uint64_t i = 0; i < 3000; i++)
		assert_ok(weir_insert_into_hash(r, 1, test_key(i) >> 20));
	struct weir_router_stats s = router_stats(r);
	const double pages = (double)whole_stats(r).bytes / 4096 - 1, fill = s.fill[1] * pages;
	assert_true(s.sampled == 1 && pages > 10 && fill > 0.5);
	assert_true(fabs(s.fp_rates[1] * pages / pow(fill, 4) - 1) < 1e-9);
	weir_destroy(r);
}

static void a_merge_unites_each_set(void **state)
{
	struct weir_filter *a = router_of(12, 1000, 0), *b = router_of(12, 1000, 0),
	                   *other = router_of(12, 5000, 0), *more = router_of(13, 1000, 0),
	                   *named = NULL;
	struct weir_params o = router_params(12, 1000);
	(void)state;
	o.router.names = (const char *const[]){ "a", "b", "c", "d", "e", "f",
		                                "g", "h", "i", "j", "k", "l" };
	assert_ok(weir_create(&named, &o));
	for (uint64_t i = 0; i < 1000; i++) {
		assert_ok(weir_insert_into_u64(a, 3, i));
		assert_ok(weir_insert_into_u64(b, 11, i));
	}
	assert_ok(weir_merge(a, b));
	for (uint64_t i = 0; i < 1000; i++)
		assert_true((weir_route_u64(a, i) & 0x808) == 0x808);
	assert_refused(weir_merge(a, other), -EINVAL, "bytes", "differs");
	assert_refused(weir_merge(a, more), -EINVAL, "sets", "differs");
	assert_refused(weir_merge(a, named), -EINVAL, "\"0\"", "\"a\"");
	weir_destroy(a);
	weir_destroy(b);
	weir_destroy(other);
	weir_destroy(more);
	weir_destroy(named);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_equal_the_plain_layout),
		cmocka_unit_test(every_function_agrees),
		cmocka_unit_test(prefetching_does_not_change_answers),
		cmocka_unit_test(routers_may_be_keyed),
		cmocka_unit_test(sets_have_names),
		cmocka_unit_test(a_filter_acts_as_a_router_with_one_set),
		cmocka_unit_test(unknown_sets_are_refused),
		cmocka_unit_test(the_saturated_set_is_named),
		cmocka_unit_test(a_sample_within_its_error_is_not_saturated),
		cmocka_unit_test(statistics_count_each_set),
		cmocka_unit_test(a_router_of_one_page_of_keys),
		cmocka_unit_test(the_rate_is_the_mean_over_pages),
		cmocka_unit_test(a_merge_unites_each_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
