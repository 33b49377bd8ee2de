/* SPDX-License-Identifier: MIT
 * Windows, without Redis: the ring of generations against a model, and each of its invariants. */
#include "../../test.h"
#include "counted_memory.h"
#include "window.h"

enum { SEED = 17, HOUR = 3600 * 1000 };
static const uint64_t START = UINT64_C(1800000000000);

static struct window_settings settings(double error, uint64_t capacity, uint64_t seconds,
                                       uint64_t generations, uint64_t expansion)
{
	return (struct window_settings){ error, capacity, seconds, generations, expansion, SEED };
}

static struct window *make(const struct window_settings *s, uint64_t now)
{
	struct window *w = NULL;
	assert_ok(window_create(&w, s, now, 0, &memory));
	return w;
}

static int add(struct window *w, uint64_t i, uint64_t time)
{
	uint64_t item = test_key(i);
	return window_add(w, window_hash(w, &item, sizeof item), time, 0);
}

static bool has(const struct window *w, uint64_t i, uint64_t now)
{
	uint64_t item = test_key(i), hash = window_hash(w, &item, sizeof item);
	bool found[2];
	window_has_hashes(w, (uint64_t[]){ hash, hash }, 2, now, found);
	assert_int_equal(found[0], window_has(w, hash, now));
	assert_int_equal(found[1], found[0]);
	return found[0];
}

/* The parts of the invariants that the ring shows. */
static void check_ring(const struct window *w)
{
	uint64_t step = window_step(w);
	assert_true(w->n >= 1 && w->n <= w->generations + 1);
	for (unsigned i = 1; i < w->n; i++) {
		assert_true(w->ring[i].begin > w->ring[i - 1].begin);
		assert_int_equal((w->ring[i].begin - w->ring[0].begin) % step, 0);
	}
	assert_true(w->newest >= w->ring[w->n - 1].begin);
	assert_true(w->newest - w->ring[w->n - 1].begin < step);
}

static void assert_same(const struct window *a, const struct window *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->newest, b->newest);
	assert_int_equal(a->ahead, b->ahead);
	for (unsigned i = 0; i < a->n; i++) {
		const struct chain *c = a->ring[i].chain, *d = b->ring[i].chain;
		assert_int_equal(a->ring[i].begin, b->ring[i].begin);
		assert_int_equal(c->links, d->links);
		assert_int_equal(chain_items(c), chain_items(d));
		const struct chain_link *m = d->newest;
		for (const struct chain_link *l = c->newest; l; l = l->older, m = m->older)
			assert_memory_equal(l->bits, m->bits, l->bytes);
	}
}

/* ---- the model ---- */

enum { ITEMS = 120, STEPS = 3000, ABSENT = 1000000 };

struct model {
	uint64_t time[ITEMS]; /* at which the item was last added; 0: never */
	bool may_lack[ITEMS]; /* a write came when the item was older than the span */
	uint64_t newest;
};

static void model_add(struct model *m, uint64_t i, uint64_t clock, uint64_t span)
{
	if (clock > m->newest)
		m->newest = clock;
	for (unsigned j = 0; j < ITEMS; j++)
		m->may_lack[j] |= m->time[j] + span < m->newest;
	m->time[i] = m->newest;
	m->may_lack[i] = false;
}

/* Compare each item at a reader's time. */
static void compare(const struct window *w, const struct model *m, uint64_t now)
{
	uint64_t span = window_span(w), step = window_step(w);
	for (unsigned i = 0; i < ITEMS; i++) {
		bool found = has(w, i, now);
		if (m->time[i] && now <= m->time[i] + span && !m->may_lack[i])
			assert_true(found);
		if (!m->time[i] || now >= m->time[i] + span + step)
			assert_false(found);
	}
}

/* Move a clock: mostly forward by a part of a step, sometimes far, sometimes @back. */
static uint64_t move(uint64_t clock, const struct window *w, uint64_t random, bool back)
{
	uint64_t step = window_step(w), part = test_key(random) % step;
	switch (random % 16) {
	case 0:
		return clock + window_span(w) + part;
	case 1:
		return clock + step * (random >> 8 & 3) + (part & 1);
	case 2:
		return clock + step - (clock - w->ring[0].begin) % step - (part & 1);
	case 3:
		return back ? clock - (part & 1 ? HOUR : part) : clock;
	case 4:
		return back ? clock + (part & 1 ? HOUR : part) : clock;
	default:
		return clock + part / 4;
	}
}

static void run_model(const struct window_settings *s, uint64_t first, bool back)
{
	struct window *w = make(s, START);
	struct model m = { .newest = START };
	uint64_t clock = START;
	for (uint64_t k = 0; k < STEPS; k++) {
		uint64_t random = test_key(first + k), i = random >> 32 & 0xffff;
		clock = move(clock, w, random, back);
		i %= ITEMS - 20; /* the last ones are never added */
		assert_true(add(w, i, clock) >= 0);
		model_add(&m, i, clock, window_span(w));
		check_ring(w);
		compare(w, &m, clock);
		compare(w, &m, clock + window_span(w));
		if (k % 8 == 0)
			compare(w, &m, move(clock, w, ~random, back));
	}
	window_destroy(w);
}

static const struct { unsigned seconds, generations; } shapes[] = {
	{ 1, 1 }, { 1, 3 }, { 7, 4 }, { 60, 64 }, { 7200, 2 }, { 86400, 7 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_window_finds_items_as_long_as_the_model(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES; i++) {
		struct window_settings s = settings(1e-7, 400, shapes[i].seconds,
		                                    shapes[i].generations, 2);
		run_model(&s, i * 100000, false);
	}
}

static void test_window_loses_nothing_to_clocks_set_back_and_forth(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SHAPES; i++) {
		struct window_settings s = settings(1e-7, 400, shapes[i].seconds,
		                                    shapes[i].generations, 2);
		run_model(&s, 7000000 + i * 100000, true);
	}
}

/* ---- the edges of WINDOW-AGE ---- */

static void test_item_is_found_for_the_span_and_at_most_a_step_more(void **state)
{
	struct window_settings s = settings(1e-7, 100, 4, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	assert_int_equal(window_step(w), 1000);
	assert_int_equal(add(w, 1, START), 1);
	assert_int_equal(add(w, 2, START + 999), 1);
	assert_int_equal(add(w, 3, START + 1000), 1);
	assert_int_equal(w->n, 2);
	assert_true(has(w, 1, START + 4999) && has(w, 2, START + 4999));
	assert_true(!has(w, 1, START + 5000) && !has(w, 2, START + 5000));
	assert_true(has(w, 3, START + 5999) && !has(w, 3, START + 6000));
	window_destroy(w);
}

static void test_generations_begin_at_multiples_of_the_step(void **state)
{
	struct window_settings s = settings(1e-7, 1000, 10, 3, 2);
	struct window *w = make(&s, START);
	(void)state;
	assert_int_equal(window_step(w), 3334); /* rounded up */
	for (unsigned i = 1; i < 1000; i++) {
		assert_int_equal(add(w, i, START + 3335 * i), 1);
		check_ring(w);
		assert_int_equal((w->ring[w->n - 1].begin - START) % 3334, 0);
	}
	window_destroy(w);
}

static void test_write_frees_expired_generations(void **state)
{
	struct window_settings s = settings(0.01, 100, 4, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		(void)add(w, i, START + 250 * i);
	assert_int_equal(w->n, 5);
	(void)add(w, 50, START + 10000 + 4999);
	assert_int_equal(w->n, 1);
	long blocks = counted_blocks;
	(void)add(w, 51, START + 1000000);
	assert_int_equal(counted_blocks, blocks);
	window_destroy(w);
}

/* Write a million milliseconds past the end; the others age, but reads change nothing. */
static void test_reads_change_nothing(void **state)
{
	struct window_settings s = settings(0.01, 100, 4, 4, 2);
	struct window *w = make(&s, START), *copy = NULL;
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		(void)add(w, i, START + 250 * i);
	window_note_clock(w, START + 9, START);
	assert_ok(window_copy(&copy, w));
	assert_int_equal(copy->ahead, 9);
	assert_false(has(w, 39, START + 1000000));
	assert_same(w, copy);
	assert_true(has(w, 39, START + 10000));
	window_destroy(copy);
	window_destroy(w);
}

/* ---- clocks ---- */

static void test_clock_set_back_an_hour_adds_to_the_newest_generation(void **state)
{
	struct window_settings s = settings(1e-7, 100, 60, 4, 2);
	struct window *w = make(&s, START);
	uint64_t back = START + 20000 - HOUR;
	(void)state;
	assert_int_equal(add(w, 1, START), 1);
	assert_int_equal(add(w, 2, START + 20000), 1);
	assert_int_equal(add(w, 3, back), 1);
	check_ring(w);
	assert_int_equal(w->newest, START + 20000);
	for (unsigned i = 1; i <= 3; i++)
		assert_true(has(w, i, back) && has(w, i, back + 60000));
	/* An hour later the clock is where it was, and item 3 is an hour old. Until then nothing is
	 * forgotten; then item 3 is as old as item 2. */
	assert_true(has(w, 3, START + 80000) && has(w, 2, START + 80000));
	assert_false(has(w, 3, START + 20000 + 75000));
	window_destroy(w);
}

static void test_clock_set_ahead_an_hour_forgets_by_that_clock(void **state)
{
	struct window_settings s = settings(1e-7, 100, 7200, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	assert_int_equal(add(w, 1, START), 1);
	assert_int_equal(add(w, 2, START + HOUR), 1);
	assert_true(has(w, 1, START + HOUR) && has(w, 2, START + HOUR));
	assert_true(has(w, 1, START) && has(w, 2, START)); /* the clock is right again */
	assert_int_equal(add(w, 3, START + 1000), 1);
	assert_int_equal(w->newest, START + HOUR);
	assert_true(has(w, 3, START + 1000 + 2 * HOUR));
	window_destroy(w);
}

/* [WINDOW-READ]: a step is rounded up to 3334 ms, so the first generation expires at 13334, and the
 * last one in its ring lasts until 13336. */
static void test_reader_does_not_judge_by_a_later_newest_time(void **state)
{
	struct window_settings s = settings(1e-7, 100, 10, 3, 2);
	struct window *w = make(&s, START);
	(void)state;
	assert_int_equal(add(w, 1, START + 3333), 1);
	assert_int_equal(add(w, 2, START + 10002), 1);
	assert_int_equal(add(w, 3, START + 13335), 1); /* by a clock that is 335 ms ahead */
	assert_true(has(w, 1, START + 13000));
	assert_true(has(w, 1, START + 13335 - HOUR) && has(w, 3, START + 13335 - HOUR));
	window_destroy(w);
}

static void test_duplicate_does_not_advance_the_newest_time(void **state)
{
	struct window_settings s = settings(0.01, 100, 60, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	assert_int_equal(add(w, 1, START + 5), 1);
	assert_int_equal(add(w, 1, START + 9), 0);
	assert_int_equal(w->newest, START + 5);
	window_destroy(w);
}

static void test_difference_of_clocks_is_the_largest(void **state)
{
	struct window_settings s = settings(0.01, 100, 60, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	window_note_clock(w, START, START + 5);
	assert_int_equal(w->ahead, 0);
	window_note_clock(w, START + 70, START);
	window_note_clock(w, START + 80, START + 30);
	assert_int_equal(w->ahead, 70);
	window_destroy(w);
}

/* ---- error rate, growth, limits ---- */

/* Fill a window with its capacity in each span, evenly, and ask for absent items at the worst
 * time: before a generation expires. */
static double measure(const struct window_settings *s)
{
	enum { ASKED = 400000 };
	struct window *w = make(s, START);
	uint64_t span = window_span(w), all = 3 * s->capacity, false_ = 0;
	for (uint64_t i = 0; i < all; i++)
		assert_true(add(w, i, START + i * span / s->capacity) >= 0);
	uint64_t now = w->newest;
	assert_int_equal(w->n, s->generations + 1);
	for (uint64_t i = 0; i < ASKED; i++)
		false_ += has(w, ABSENT * 10 + i, now);
	for (uint64_t i = all - s->capacity; i < all; i++)
		assert_true(has(w, i, now));
	window_destroy(w);
	return (double)false_ / ASKED;
}

static void test_whole_window_keeps_its_error_rate(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 64; n *= 4) {
		struct window_settings s = settings(0.01, 20000, 64, n, 2);
		double rate = measure(&s);
		s.expansion = 0;
		double fixed = measure(&s);
		printf("# %u generations: %.5f, not scaling %.5f\n", n, rate, fixed);
		assert_true(rate > 0.001 && rate < 0.0103 && fixed > 0.001 && fixed < 0.0103);
	}
}

static void test_full_generation_refuses_until_the_next_begins(void **state)
{
	struct window_settings s = settings(1e-7, 40, 4, 4, 0);
	struct window *w = make(&s, START);
	(void)state;
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(add(w, i, START), 1);
	assert_int_equal(add(w, 10, START), -ENOSPC);
	assert_int_equal(add(w, 9, START), 0);
	assert_int_equal(add(w, 10, START + 1000), 1);
	assert_false(has(w, 11, START + 1000));
	window_destroy(w);
}

static void test_burst_makes_a_generation_grow(void **state)
{
	struct window_settings s = settings(0.001, 40, 4, 4, 2);
	struct window *w = make(&s, START);
	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_true(add(w, i, START) >= 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(has(w, i, START));
	assert_int_equal(w->n, 1);
	assert_true(w->ring[0].chain->links > 5);
	window_destroy(w);
}

static void test_most_bounds_all_generations_together(void **state)
{
	struct window_settings s = settings(0.01, 400, 4, 4, 2);
	struct window *w = make(&s, START);
	uint64_t one = chain_bytes(w->ring[0].chain), most = 3 * one + 8;
	(void)state;
	for (uint64_t k = 0; k < 20; k++) { /* three of five steps in a row have a generation */
		int err = window_add(w, test_key(k), START + 1000 * k, most);
		assert_int_equal(err, k % 5 < 3 ? 1 : -EFBIG);
		assert_true(window_bytes(w) <= most);
		check_ring(w);
	}
	int err = 0;
	for (uint64_t k = 100; k < 1000 && err >= 0; k++)
		err = window_add(w, test_key(k), START + 22000, most);
	assert_int_equal(err, -EFBIG); /* the newest cannot grow */
	assert_true(window_bytes(w) <= most);
	assert_non_null(strstr(weir_error_detail(), "max-bytes"));
	window_destroy(w);
	assert_int_equal(window_create(&w, &s, START, one - 1, &memory), -EFBIG);
	assert_ok(window_create(&w, &s, START, one, &memory));
	window_destroy(w);
}

static void test_generation_grows_up_to_the_most(void **state)
{
	struct window_settings s = settings(0.01, 400, 4, 4, 2);
	for (unsigned less = 0; less < 2; less++) {
		struct window *w = make(&s, START);
		uint64_t k = 0;
		while (w->ring[0].chain->links < 2)
			assert_true(add(w, k++, START) >= 0);
		uint64_t most = window_bytes(w) - less;
		window_destroy(w);
		w = make(&s, START);
		int err = 0;
		for (uint64_t i = 0; i < k; i++)
			err = window_add(w, test_key(test_key(i)), START, most);
		assert_int_equal(err, less ? -EFBIG : 1);
		window_destroy(w);
	}
	(void)state;
}

/* ---- memory, copies ---- */

static void test_failed_allocations_leave_the_window_as_it_was(void **state)
{
	struct window_settings s = settings(0.001, 40000, 4, 4, 2);
	struct window *w = NULL, *copy = NULL;
	int err = -ENOMEM;
	(void)state;
	for (long n = 0; err; n++) {
		counted_left = n;
		err = window_create(&w, &s, START, 0, &memory);
		assert_true(!err || (err == -ENOMEM && !counted_blocks));
	}
	for (unsigned i = 0; i < 5; i++) {
		counted_left = -1;
		assert_ok(window_copy(&copy, w));
		err = -ENOMEM;
		for (long n = 0; err < 0; n++) {
			counted_left = n;
			err = add(w, i, START + 2000 * (i + 1));
			if (err < 0)
				assert_same(w, copy);
		}
		window_destroy(copy);
	}
	long blocks = counted_blocks;
	err = -ENOMEM;
	for (long n = 0; err; n++) {
		counted_left = n;
		err = window_copy(&copy, w);
		assert_true(!err || counted_blocks == blocks);
	}
	assert_same(w, copy);
	assert_true(window_usage(w) == window_usage(copy));
	window_destroy(copy);
	window_destroy(w);
}

static void test_equal_writes_give_equal_windows(void **state)
{
	struct window_settings s = settings(0.01, 1000, 7, 3, 2);
	struct window *a = make(&s, START), *b = make(&s, START);
	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t time = START + 9 * i - (i % 50 ? 0 : HOUR);
		assert_int_equal(add(a, i % 999, time), add(b, i % 999, window_time(a, time)));
	}
	assert_same(a, b);
	window_destroy(a);
	window_destroy(b);
}

/* ---- settings and times from an enemy ---- */

static void test_bad_settings_are_refused(void **state)
{
	static const struct window_settings bad[] = {
		{ 0, 10, 1, 4, 2, 1 }, { 1, 10, 1, 4, 2, 1 }, { -1, 10, 1, 4, 2, 1 },
		{ 0.1, 0, 1, 4, 2, 1 }, { 0.1, CHAIN_CAPACITY_MOST + 1, 1, 4, 2, 1 },
		{ 0.1, 10, 0, 4, 2, 1 }, { 0.1, 10, UINT64_C(1) << 32, 4, 2, 1 },
		{ 0.1, 10, 1, 0, 2, 1 }, { 0.1, 10, 1, 65, 2, 1 }, { 0.1, 10, 1, 256 + 4, 2, 1 },
		{ 0.1, 10, 1, 4, UINT64_C(1) << 32, 1 }, { 0.1, 10, 1, 4, 2, 0 } };
	struct window *w = NULL;
	(void)state;
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(window_create(&w, &bad[i], START, 0, &memory), -EINVAL);
}

static struct chain *chain_of(double error, uint64_t capacity, uint64_t seed, uint64_t expansion)
{
	struct chain_settings s = { error, capacity, seed, expansion, CHAIN_OWN, 0 };
	struct chain *c = NULL;
	assert_ok(chain_create(&c, &s, 0, &memory));
	return c;
}

static void append(struct window *w, uint64_t begin, struct chain *c, int should)
{
	int err = window_append(w, begin, c);
	if (err)
		chain_destroy(c);
	assert_int_equal(err, should);
}

static void test_generations_that_do_not_fit_are_refused(void **state)
{
	struct window_settings s = settings(0.25, 100, 4, 4, 2);
	struct window *w = NULL;
	double e = s.error / 5;
	(void)state;
	assert_ok(window_make(&w, &s, &memory));
	assert_int_equal(window_advance(w, START), -EBADMSG);
	append(w, START, chain_of(e * 2, 25, SEED, 2), -EBADMSG);
	append(w, START, chain_of(e, 26, SEED, 2), -EBADMSG);
	append(w, START, chain_of(e, 25, SEED + 1, 2), -EBADMSG);
	append(w, START, chain_of(e, 25, SEED, 3), -EBADMSG);
	append(w, WINDOW_TIME_MOST + 1, chain_of(e, 25, SEED, 2), -EBADMSG);
	append(w, START, chain_of(e, 25, SEED, 2), 0);
	append(w, START, chain_of(e, 25, SEED, 2), -EBADMSG);
	append(w, START + 1001, chain_of(e, 25, SEED, 2), -EBADMSG);
	append(w, START - 1000, chain_of(e, 25, SEED, 2), -EBADMSG);
	append(w, START + 5000, chain_of(e, 25, SEED, 2), -EBADMSG);
	append(w, START + 4000, chain_of(e, 25, SEED, 2), 0);
	assert_int_equal(window_advance(w, START + 3999), -EBADMSG);
	assert_int_equal(window_advance(w, START + 5000), -EBADMSG);
	assert_ok(window_advance(w, START + 4999));
	check_ring(w);
	window_destroy(w);
}

static void test_window_works_at_the_ends_of_time(void **state)
{
	struct window_settings s = settings(1e-7, 100, WINDOW_SECONDS_MOST, 64, 2);
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct window *w = make(&s, i ? WINDOW_TIME_MOST : 0);
		assert_int_equal(add(w, 1, 0), 1);
		assert_true(has(w, 1, 0));
		assert_int_equal(add(w, 2, WINDOW_TIME_MOST), 1);
		check_ring(w);
		assert_int_equal(has(w, 1, WINDOW_TIME_MOST), i);
		assert_true(has(w, 2, WINDOW_TIME_MOST));
		window_destroy(w);
	}
}

#define T(name) cmocka_unit_test_teardown(name, counted_check)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_window_finds_items_as_long_as_the_model),
		T(test_window_loses_nothing_to_clocks_set_back_and_forth),
		T(test_item_is_found_for_the_span_and_at_most_a_step_more),
		T(test_generations_begin_at_multiples_of_the_step),
		T(test_write_frees_expired_generations),
		T(test_reads_change_nothing),
		T(test_clock_set_back_an_hour_adds_to_the_newest_generation),
		T(test_clock_set_ahead_an_hour_forgets_by_that_clock),
		T(test_reader_does_not_judge_by_a_later_newest_time),
		T(test_duplicate_does_not_advance_the_newest_time),
		T(test_difference_of_clocks_is_the_largest),
		T(test_whole_window_keeps_its_error_rate),
		T(test_full_generation_refuses_until_the_next_begins),
		T(test_burst_makes_a_generation_grow),
		T(test_most_bounds_all_generations_together),
		T(test_generation_grows_up_to_the_most),
		T(test_failed_allocations_leave_the_window_as_it_was),
		T(test_equal_writes_give_equal_windows),
		T(test_bad_settings_are_refused),
		T(test_generations_that_do_not_fit_are_refused),
		T(test_window_works_at_the_ends_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
