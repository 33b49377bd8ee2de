/* SPDX-License-Identifier: MIT
 * Lookups through a guard in every form, single and in batches, compared with a model. The model
 * looks up each key in the filter itself. The guard chooses at random which keys bypass the filter,
 * so the model learns these keys from the guard. The model checks that a bypass was allowed. */
#include <errno.h>
#include "../guards.h"

enum { KEYS = 4000, MOST = 3000, ROUNDS = 600, SOONER = 16 };

/* The store has the numbers below KEYS. The filter has the same keys, plus false positives. */
static struct weir_filter *filter;

static bool in_filter(const void *set, const void *key, size_t len)
{
	return weir_contains(set, key, len);
}

static bool hash_in_filter(const void *set, uint64_t hash)
{
	return weir_contains_hash(set, hash);
}

struct model {
	struct weir_guard_stats s; /* only the counts */
	const struct weir_guard_options *o;
	uint32_t measured, stopped;
	bool bypassing;
};

static void model_measured(struct model *m, uint32_t asked, uint32_t stopped)
{
	const uint32_t window = m->bypassing ? m->o->window / SOONER : m->o->window;
	m->s.stopped += stopped;
	m->measured += asked;
	m->stopped += stopped;
	if (m->measured < window)
		return;
	const double share = (double)m->stopped / m->measured;
	const bool bypass = m->bypassing ? share <= m->o->resume_above : share < m->o->bypass_below;
	m->s.switches += bypass != m->bypassing;
	m->bypassing = bypass;
	m->measured = m->stopped = 0;
}

/* Account for one key that the guard answered with @answer. */
static void model_key(struct model *m, uint64_t key, int answer)
{
	const bool maybe = weir_contains_u64(filter, key), there = key < KEYS;
	m->s.asked++;
	if (answer == WEIR_GUARD_BYPASSED) {
		assert_true(m->bypassing);
		m->s.bypassed++;
		m->s.bypassed_absent += !there;
		return;
	}
	assert_int_equal(answer, maybe);
	m->s.true_positives += maybe && there;
	m->s.false_positives += maybe && !there;
	model_measured(m, 1, !maybe);
}

struct batch {
	const uint64_t *keys, *bitmap, *bypassed;
	size_t n;
};

static bool bit_of(const uint64_t *bitmap, size_t i)
{
	return bitmap[i / 64] >> i % 64 & 1;
}

/* During a bypass, account for a word of up to 64 keys. The guard looks up one key of a full word,
 * and at most one key of a shorter word. Return: the index after the word. */
static size_t model_word(struct model *m, const struct batch *b, size_t i)
{
	const size_t end = i + 64 < b->n ? i + 64 : b->n, keys = end - i;
	size_t asked = 0, at = 0;
	for (; i < end; i++)
		if (!bit_of(b->bypassed, i)) {
			asked++;
			at = i;
		} else {
			assert_true(bit_of(b->bitmap, i));
			m->s.bypassed++;
			m->s.bypassed_absent += b->keys[i] >= KEYS;
		}
	assert_true(asked == 1 || (asked == 0 && keys < 64));
	m->s.asked += keys - asked;
	if (asked)
		model_key(m, b->keys[at], bit_of(b->bitmap, at));
	return end;
}

/* Account for a run of whole words that ends where the guard next decides whether to bypass the
 * filter. Return: the index after the run. */
static size_t model_run(struct model *m, const struct batch *b, size_t i)
{
	const uint32_t window = m->bypassing ? m->o->window / SOONER : m->o->window;
	uint32_t run = 0, stopped = 0;
	for (; i < b->n && (run % 64 || m->measured + run < window); i++, run++) {
		const bool maybe = weir_contains_u64(filter, b->keys[i]);
		assert_int_equal(bit_of(b->bitmap, i), maybe);
		assert_false(b->bypassed && bit_of(b->bypassed, i));
		m->s.true_positives += maybe && b->keys[i] < KEYS;
		m->s.false_positives += maybe && b->keys[i] >= KEYS;
		stopped += !maybe;
	}
	m->s.asked += run;
	model_measured(m, run, stopped);
	return i;
}

static void model_batch(struct model *m, const struct batch *b)
{
	for (size_t i = 0; i < b->n;)
		i = b->bypassed && m->bypassing ? model_word(m, b, i) : model_run(m, b, i);
}

enum form { HASHES, KEY_VECTORS, FIXED, ONE_KEY, ONE_NUMBER, ONE_HASH, FORMS };

static struct keys {
	uint64_t number[MOST], hash[MOST];
	struct iovec vector[MOST];
	uint64_t bitmap[WEIR_BITMAP_WORDS(MOST) + 1], bypassed[WEIR_BITMAP_WORDS(MOST) + 1];
	uint64_t found[WEIR_BITMAP_WORDS(MOST)];
} k;

/* Choose @n random keys. On average, @there of 1000 are in the store. */
static void choose(size_t n, unsigned there, uint64_t *random)
{
	memset(k.found, 0, sizeof k.found);
	for (size_t i = 0; i < n; i++) {
		const bool is = test_random(random) % 1000 < there;
		k.number[i] = is ? test_random(random) % KEYS : KEYS + test_random(random) % 100000;
		k.hash[i] = weir_hash(filter, &k.number[i], 8);
		k.vector[i] = (struct iovec){ &k.number[i], 8 };
		k.found[i / 64] |= (uint64_t)is << i % 64;
	}
}

static int ask_one(struct weir_guard_thread *t, enum form form, size_t i)
{
	return form == ONE_KEY ? weir_guard_ask(t, &k.number[i], 8) :
	       form == ONE_NUMBER ? weir_guard_ask_u64(t, k.number[i]) :
	                            weir_guard_ask_hash(t, k.hash[i]);
}

static void ask_batch(struct weir_guard_thread *t, struct model *m, enum form form, size_t n,
                      bool may_bypass)
{
	uint64_t *bypassed = may_bypass ? k.bypassed : NULL;
	const size_t words = WEIR_BITMAP_WORDS(n);
	memset(k.bitmap, 0x5a, sizeof k.bitmap);
	memset(k.bypassed, 0x5a, sizeof k.bypassed);
	const struct weir_keys keys = form == HASHES      ? weir_keys_hashes(k.hash, n) :
	                              form == KEY_VECTORS ? weir_keys_iov(k.vector, n) :
	                                                    weir_keys_u64(k.number, n);
	const int64_t passed = weir_guard_ask_keys(t, keys, k.bitmap, bypassed);
	int64_t set = 0;
	for (size_t i = 0; i < words; i++)
		set += __builtin_popcountll(k.bitmap[i]);
	assert_int_equal(passed, set);
	assert_true(n % 64 == 0 || (k.bitmap[words - 1] >> n % 64 == 0 &&
	                            (!bypassed || k.bypassed[words - 1] >> n % 64 == 0)));
	assert_true(k.bitmap[words] == UINT64_C(0x5a5a5a5a5a5a5a5a) &&
	            k.bypassed[words] == UINT64_C(0x5a5a5a5a5a5a5a5a));
	model_batch(m, &(struct batch){ k.number, k.bitmap, bypassed, n });
	weir_guard_saw_keys(t, k.bitmap, bypassed, k.found, n);
}

static void assert_as_the_model(struct weir_guard *g, const struct model *m)
{
	const struct weir_guard_stats s = stats_of(g);
	assert_int_equal(s.asked, m->s.asked);
	assert_int_equal(s.stopped, m->s.stopped);
	assert_int_equal(s.true_positives, m->s.true_positives);
	assert_int_equal(s.false_positives, m->s.false_positives);
	assert_int_equal(s.bypassed, m->s.bypassed);
	assert_int_equal(s.bypassed_absent, m->s.bypassed_absent);
	assert_int_equal(s.switches, m->s.switches);
	assert_int_equal(s.bypassing, m->bypassing);
	assert_int_equal(s.unreported, 0);
}

/* In each round, ask for a random number of keys in a random form, by single calls or by a batch.
 * In 50 rounds 40 % of the keys are present, in the next 50 rounds 95 %, and so on. */
static void every_form(struct weir_guard_options o)
{
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	struct model m = { .o = &o };
	uint64_t random = 7;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const size_t n = test_random(&random) % (round % 4 ? 200 : MOST + 1);
		const enum form form = test_random(&random) % FORMS;
		choose(n, round / 50 % 2 ? 950 : 400, &random);
		if (form <= FIXED)
			ask_batch(t, &m, form, n, test_random(&random) % 8 != 0);
		for (size_t i = 0; form > FIXED && i < n; i++) {
			const int answer = ask_one(t, form, i);
			model_key(&m, k.number[i], answer);
			weir_guard_saw(t, answer, k.number[i] < KEYS);
		}
		assert_as_the_model(g, &m);
	}
	assert_true(m.s.false_positives > 100 && m.s.switches >= 8);
	assert_true(m.s.bypassed > 20000 && m.s.stopped > 20000);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

static struct weir_guard_options shares(void)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	o.bypass_below = 0.2;
	o.resume_above = 0.3;
	o.window = WINDOW;
	return o;
}

static void asks_through_a_handle(void **state)
{
	struct weir_guard_options o = shares();
	struct weir_handle *h = NULL;
	struct weir_filter *copy = NULL;
	(void)state;
	assert_ok(weir_clone(&copy, filter));
	assert_ok(weir_handle_create(&h, copy, NULL));
	o.handle = h;
	every_form(o);
	assert_ok(weir_handle_destroy(h));
}

static void asks_of_a_filter(void **state)
{
	struct weir_guard_options o = shares();
	(void)state;
	o.filter = filter;
	every_form(o);
}

/* The filter lowercases texts, but must find each number as it is, before a bypass and during
 * it. */
static void numbers_are_never_normalised(void **state)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	const uint64_t number = UINT64_C(0x4141414141414141); /* "AAAAAAAA" */
	uint64_t numbers[64], bitmap, bypassed;
	struct weir_filter *f;
	(void)state;
	p.capacity = 1000, p.fp_rate = 1e-6, p.seed = 1;
	p.text.steps = WEIR_TEXT_LOWERCASE;
	assert_ok(weir_create(&f, &p));
	assert_int_equal(weir_insert_u64(f, number), WEIR_NEW);
	for (unsigned i = 0; i < 64; i++)
		numbers[i] = number;
	o.filter = f;
	o.window = 1024;
	o.bypass_below = 0.5; /* the filter stops no key, so the guard soon bypasses it */
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(weir_guard_ask_u64(t, number) == WEIR_GUARD_ABSENT, 0);
		assert_int_equal(weir_guard_ask_keys(t, weir_keys_u64(numbers, 64), &bitmap,
		                                     &bypassed), 64);
	}
	assert_true(stats_of(g).bypassed > 0 && stats_of(g).stopped == 0);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
	weir_destroy(f);
}

static void asks_of_the_callers_own_set(void **state)
{
	struct weir_guard_options o = shares();
	(void)state;
	o.contains = in_filter;
	o.contains_hash = hash_in_filter;
	o.set = filter;
	every_form(o);
}

/* The number of calls of is_next(). Each call expects the next key of the batch. */
static unsigned asked;

static bool is_next(const void *wanted, const void *key, size_t len)
{
	const struct iovec *next = (const struct iovec *)wanted + asked++;
	return len == next->iov_len && memcmp(key, next->iov_base, len) == 0;
}

/* The keys have fixed widths from 1 to 6, or different lengths within one batch. */
static void the_callers_set_gets_each_key_unchanged(void **state)
{
	static char bytes[] = "keys of any length";
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct iovec keys[3] = { { bytes, 12 }, { bytes + 1, 3 }, { bytes + 2, 16 } };
	uint64_t bitmap;
	(void)state;
	o.contains = is_next;
	o.set = keys;
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	asked = 0;
	assert_int_equal(weir_guard_ask_keys(t, weir_keys_iov(keys, 3), &bitmap, NULL), 3);
	for (size_t width = 1; width <= 6; width++) {
		for (unsigned i = 0; i < 3; i++)
			keys[i] = (struct iovec){ bytes + i * width, width };
		asked = 0;
		assert_int_equal(weir_guard_ask_keys(t, weir_keys_fixed(bytes, width, 3), &bitmap,
		                                     NULL), 3);
	}
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

/* Two reports of half a batch count the same as a report of the whole batch. */
static void a_batch_may_be_reported_in_halves(void **state)
{
	struct weir_guard_options o = of_one(0, 0);
	const uint64_t keys[4] = { 0, 1, 0, 0 }, found = 0x5;
	uint64_t bitmap, bypassed;
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	(void)state;
	assert_int_equal(weir_guard_ask_keys(t, weir_keys_u64(keys, 4), &bitmap, &bypassed),
	                 3);
	assert_true(bitmap == 0xd && bypassed == 0);
	assert_int_equal(stats_of(g).unreported, 3);
	weir_guard_saw_keys(t, &(uint64_t){ 0x1 }, NULL, &found, 4);
	assert_int_equal(stats_of(g).unreported, 2);
	weir_guard_saw_keys(t, &(uint64_t){ 0xc }, &bypassed, &found, 4);
	const struct weir_guard_stats s = stats_of(g);
	assert_true(s.unreported == 0 && s.true_positives == 2 && s.false_positives == 1);
	assert_true(s.stopped == 1 && s.asked == 4);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

/* weir_guard_saw_keys() counts only the keys that its first bitmap marks. The bitmaps of bypassed
 * keys and of found keys may mark other keys, too. */
static void a_bypassed_batch_may_be_reported_in_halves(void **state)
{
	const struct weir_guard_options o = of_one(0.5, 1);
	uint64_t keys[64], bitmap = 0, bypassed = 0;
	const uint64_t found = 1, low = UINT32_MAX;
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	(void)state;
	for (unsigned i = 0; i < 64; i++)
		keys[i] = i; /* the set has only key 0 */
	(void)ask(t, WINDOW, 0);
	const struct weir_guard_stats before = stats_of(g);
	assert_ok(weir_guard_ask_keys(t, weir_keys_u64(keys, 64), &bitmap, &bypassed));
	assert_true(bypassed && !(bypassed & ~bitmap));
	for (unsigned half = 0; half < 2; half++) {
		const uint64_t part = bitmap & (half ? ~low : low);
		weir_guard_saw_keys(t, &part, &bypassed, &found, 64);
	}
	const struct weir_guard_stats s = stats_of(g);
	assert_int_equal(s.unreported, before.unreported);
	assert_int_equal(s.bypassed - before.bypassed, __builtin_popcountll(bypassed));
	assert_int_equal(s.bypassed_absent - before.bypassed_absent,
	                 __builtin_popcountll(bypassed & ~found));
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

static void without_contains_hash_hashes_are_refused(void **state)
{
	struct weir_guard_options o = of_one(0, 0);
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	uint64_t hash = 0, bitmap = 7, bypassed = 7;
	(void)state;
	assert_refused(weir_guard_ask_hash(t, hash), -ENOTSUP, "contains_hash is NULL", "by keys");
	assert_refused(weir_guard_ask_keys(t, weir_keys_hashes(&hash, 1), &bitmap, &bypassed),
	               -ENOTSUP, "contains_hash is NULL", "");
	assert_true(bitmap == 7 && bypassed == 7 && stats_of(g).asked == 0);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
	o.contains = NULL;
	o.handle = (const struct weir_handle *)&one;
	o.contains_hash = hash_in_filter;
	assert_refused(weir_guard_create(&g, &o), -EINVAL, "contains_hash", "a handle has its own");
	o.handle = NULL;
	o.filter = filter;
	assert_refused(weir_guard_create(&g, &o), -EINVAL, "contains_hash", "a filter has its own");
}

static int fill(void **state)
{
	(void)state;
	filter = test_filter(WEIR_BLOCKED, KEYS, 0.02);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(filter, i));
	return 0;
}

static int clear(void **state)
{
	(void)state;
	weir_destroy(filter);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_through_a_handle),
		cmocka_unit_test(asks_of_the_callers_own_set),
		cmocka_unit_test(the_callers_set_gets_each_key_unchanged),
		cmocka_unit_test(asks_of_a_filter),
		cmocka_unit_test(numbers_are_never_normalised),
		cmocka_unit_test(a_batch_may_be_reported_in_halves),
		cmocka_unit_test(a_bypassed_batch_may_be_reported_in_halves),
		cmocka_unit_test(without_contains_hash_hashes_are_refused),
	};
	return cmocka_run_group_tests(tests, fill, clear);
}
