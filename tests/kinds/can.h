/* SPDX-License-Identifier: MIT
 * Functions that ask the library what a kind can do, and test_fill(), which fills a filter of any
 * kind. */
#ifndef WEIR_TESTS_CAN_H
#define WEIR_TESTS_CAN_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <weir/weir.h>

static inline bool test_takes_inserts(struct weir_filter *f)
{
	return weir_insert_keys(f, weir_keys_hashes(NULL, 0), NULL) != -ENOTSUP;
}

static inline bool test_copies(const struct weir_filter *f)
{
	struct weir_filter *copy = NULL;
	int err = weir_clone(&copy, f);
	weir_destroy(copy);
	return err != -ENOTSUP;
}

/* Return: @seed, or 0 if seed 0 is the only seed of the kind. */
static inline uint64_t test_seed(uint32_t kind, uint64_t seed)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = kind;
	params.capacity = 100;
	params.fp_rate = 0.01;
	params.seed = 1;
	int err = weir_create(&f, &params);
	weir_destroy(f);
	return err == -EINVAL ? 0 : seed;
}

static inline bool test_grows(uint32_t kind)
{
	return weir_kind_can(kind, WEIR_CAN_GROW) != 0;
}

/* Return: true if the kind spreads its capacity over generations. Before the first advance all keys
 * enter one generation, which has room only for its share of the capacity. */
static inline bool test_forgets(uint32_t kind)
{
	return weir_kind_can(kind, WEIR_CAN_FORGET) != 0;
}

/* Limit a growing filter to its capacity, so that it fills up as filters of other kinds do. */
static inline void test_bound(struct weir_params *params)
{
	if (test_grows(params->kind))
		params->growing.max_capacity = params->capacity;
}

/* Set the parameters of a counting or frequency filter. The library chooses each number that is
 * 0. */
static inline void test_ask_counters(struct weir_params *p, uint32_t kind, uint32_t bits,
                                     uint32_t words, uint32_t each)
{
	p->kind = kind;
	if (kind == WEIR_COUNTING) {
		p->counting.counter_bits = bits;
		p->counting.words_per_key = words;
		p->counting.counters_per_word = each;
	} else {
		p->frequency.counter_bits = bits;
		p->frequency.words_per_key = words;
		p->frequency.counters_per_word = each;
	}
}

static inline double test_fill_of(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	return weir_measure(f, WEIR_EXACT, &stats) == 0 ? stats.fill : 0;
}

/* Return: true if each insert stores a copy. Some hundred inserts of one key then do not fit. */
static inline bool test_keeps_copies(uint32_t kind)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = kind;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	if (weir_create(&f, &params))
		return false;
	(void)weir_insert_hash(f, 1);
	double once = test_fill_of(f);
	(void)weir_insert_hash(f, 1);
	bool keeps = test_fill_of(f) > once;
	weir_destroy(f);
	return keeps;
}

/* Return: true if @fp_rate costs at most 256 bits a key. Tests of the rate skip other kinds. */
static inline bool test_affords(uint32_t kind, double fp_rate)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.kind = kind;
	params.capacity = 100000;
	params.fp_rate = fp_rate;
	return weir_plan_make(&params, &plan) == 0 && plan.bits_per_key <= 256;
}

/* Insert an equal share of the keys into each generation of a window. */
static inline int test_fill_window(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	int err = weir_window_measure(f, WEIR_SAMPLED, &s);
	for (uint64_t i = 0; !err && i < s.generations; i++) {
		const size_t from = n * i / s.generations, to = n * (i + 1) / s.generations;
		const struct weir_keys part = weir_keys_hashes(hashes + from, to - from);
		err = i ? weir_window_advance(f) : 0;
		if (!err && weir_insert_keys(f, part, NULL) < 0)
			err = -EIO;
	}
	return err;
}

/* Fill an empty filter with keys of these hashes. If the kind takes no inserts, replace the filter
 * by one from weir_build(). Return: 0 or a negative errno. */
static inline int test_fill(struct weir_filter **f, const uint64_t *hashes, size_t n)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *built = NULL;
	if (weir_can(*f, WEIR_CAN_FORGET))
		return test_fill_window(*f, hashes, n);
	if (test_takes_inserts(*f)) {
		int64_t answer = weir_insert_keys(*f, weir_keys_hashes(hashes, n), NULL);
		return answer < 0 ? (int)answer : 0;
	}
	int err = weir_params_of(*f, &params);
	if (!err)
		err = weir_build(&built, &params, weir_keys_hashes(hashes, n), NULL);
	if (err)
		return err;
	weir_destroy(*f);
	*f = built;
	return 0;
}

#endif
