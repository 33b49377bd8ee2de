/* SPDX-License-Identifier: MIT
 * The measured rate is the rate that was asked for. Filters are filled exactly to their capacity.
 * Then absent keys are looked up until the measured rate is known to +-3 % with 99 % confidence
 * (slow: 1.5 %, short: 4.5 %). The rate may be at most 1.03 of the asked rate. Except in a slow
 * run, the test compares the lower end of the confidence interval with this limit. The rate must be
 * at least 0.9 of the asked rate, or memory is wasted. Seeds are fixed, so each run gives the same
 * numbers. */
#include <math.h>
#include "../test.h"
#include "../kinds/kind.h"

enum { PIECE = 1 << 16 };
static uint64_t piece[PIECE];
static bool slow;

struct sample {
	const struct test_kind *kind;
	struct weir_params ask; /* only the numbers of the shape are set */
	double fp_rate;
	uint64_t capacity;
	bool sequential; /* keys 0, 1, 2, ... instead of random keys */
};

struct measured {
	struct weir_plan plan;
	double rate, interval; /* interval: half of the 99 % confidence interval, over the rate */
};

/* The number of a filter's first key. If the kind takes no seed, this number differs from filter to
 * filter, so that no two filters have equal keys. */
static uint64_t from;

static void make_keys(const struct sample *s, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		piece[i] = s->sequential ? from + first + i : test_key(from + first + i);
}

/* Fill a filter. In a window each generation gets its share of the keys, by test_fill(). */
static struct weir_filter *filled(struct weir_filter *f, const struct sample *s)
{
	bool inserts = test_takes_inserts(f) && !test_forgets(s->kind->id);
	uint64_t *hashes = inserts ? NULL : malloc(8 * s->capacity);
	for (uint64_t at = 0, n; at < s->capacity; at += n) {
		n = s->capacity - at < PIECE ? s->capacity - at : PIECE;
		make_keys(s, at, n);
		if (inserts)
			assert_ok(weir_insert_keys(f, weir_keys_u64(piece, n), NULL));
		else
			weir_hash_keys(f, weir_keys_u64(piece, n), hashes + at);
	}
	if (!inserts)
		assert_ok(test_fill(&f, hashes, s->capacity));
	free(hashes);
	return f;
}

static uint64_t ask(const struct weir_filter *f, const struct sample *s, uint64_t lookups)
{
	uint64_t positive = 0;
	for (uint64_t at = 0, n; at < lookups; at += n) {
		n = lookups - at < PIECE ? lookups - at : PIECE;
		make_keys(s, s->capacity + at, n);
		positive += weir_contains_keys(f, weir_keys_u64(piece, n), NULL);
	}
	return positive;
}

/* The lookups are spread over filters of 4 (slow: 20, short: 2) million keys in all. Each filter
 * has its own seed. A single blocked filter may miss the rate of its layout, because its fullest
 * blocks depend on chance. At a rate of 0.01 % the standard deviation of one filter's rate is 5.6 %
 * with 20 thousand keys and 1.6 % with 300 thousand. The deviation over all filters is below
 * 0.6 %. */
static struct measured measure(const struct sample *s)
{
	const double quantile = 2.576, width = slow ? 0.015 : test_is_short() ? 0.045 : 0.03;
	uint64_t filters = (slow ? 20000000 : test_is_short() ? 2000000 : 4000000) / s->capacity +
	                   1, positive = 0;
	uint64_t lookups = (uint64_t)(quantile * quantile / (width * width) / s->fp_rate /
	                              (double)filters) +
	                   1;
	struct measured m = { .plan = WEIR_PLAN_INIT };
	for (uint64_t i = 0; i < filters; i++) {
		struct weir_params params = test_params(s->kind, &s->ask);
		struct weir_filter *f = NULL;
		params.capacity = s->capacity, params.fp_rate = s->fp_rate;
		params.seed = test_seed(s->kind->id, 1 + i);
		from = params.seed ? 0 : i << 40;
		test_bound(&params);
		assert_ok(weir_plan_make(&params, &m.plan));
		assert_ok(weir_create(&f, &params));
		f = filled(f, s);
		positive += ask(f, s, lookups);
		weir_destroy(f);
	}
	assert_true(positive > 0);
	m.rate = (double)positive / (double)(lookups * filters);
	m.interval = quantile / sqrt((double)positive);
	return m;
}

static void check(const struct sample *s)
{
	struct measured m = measure(s);
	double ratio = m.rate / s->fp_rate, interval = ratio * m.interval;
	char shape[WEIR_SHAPE_TEXT];
	assert_ok(weir_shape_text(&m.plan.shape, shape));
	print_message("%-8s %-26s %7.4g %% %9llu %-10s keys %7.3f bits a key: measured / asked "
	              "%.3f +- %.3f, expected %.3f\n",
	              weir_kind_name(s->kind->id), shape, 100 * s->fp_rate,
	              (unsigned long long)s->capacity, s->sequential ? "sequential" : "random",
	              m.plan.bits_per_key, ratio, interval, m.plan.fp_rate / s->fp_rate);
	assert_true(ratio - (slow ? 0 : interval) <= 1.03);
	/* a filter of fewer keys may be better than asked, because it has whole lines */
	if (s->capacity > 10000) {
		assert_true(ratio + interval >= 0.9 || s->kind->coarse);
		assert_true(fabs(m.rate / m.plan.fp_rate - 1) <= 0.03 + m.interval);
	}
}

static const double rates[] = { 0.1, 0.01, 0.001, 0.0001 };

static void each_kind_at_each_rate(void **state)
{
	(void)state;
	for (size_t r = 0; r < COUNT_OF(rates); r++)
		FOR_EACH_KIND(kind)
			if (kind->layouts.n)
				check(&(struct sample){
					.kind = kind, .fp_rate = rates[r], .capacity = 1000003 });
}

static void each_layout(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t l = 0; l < kind->layouts.n; l++)
			for (size_t r = 0; r < COUNT_OF(rates); r++)
				if (slow || r == (l % 2 ? 3 : 1)) /* 1 % and 0.01 % alternate */
					check(&(struct sample){ .kind = kind,
					                        .ask = kind->layouts.rows[l].ask,
					                        .fp_rate = rates[r],
					                        .capacity = 300007 });
}

static void each_size(void **state)
{
	static const uint64_t sizes[] = { 1000, 20011, 3000017, 30000001 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes) - !slow - test_is_short(); i++)
		FOR_EACH_KIND(kind)
			for (size_t r = 0; r < COUNT_OF(rates); r++)
				if (kind->layouts.n && (slow || r == 1))
					check(&(struct sample){ .kind = kind,
					                        .fp_rate = rates[r],
					                        .capacity = sizes[i],
					                        .sequential = true });
}

/* The layouts that derive the most bits from a hash. They need a second product of the hash, or the
 * longest chain of products. */
static void the_most_bits(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t l = 0; l < kind->extremes.n; l++)
			check(&(struct sample){ .kind = kind,
			                        .ask = kind->extremes.rows[l].ask,
			                        .fp_rate = 0.001,
			                        .capacity = 300007 });
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_at_each_rate),
		cmocka_unit_test(each_layout),
		cmocka_unit_test(each_size),
		cmocka_unit_test(the_most_bits),
	};
	slow = argc > 1 && strcmp(argv[1], "slow") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
