/* SPDX-License-Identifier: MIT
 * A window compared with a model through random operations: inserts, waits, late ticks, saves,
 * and loads with another clock, with or without forget_older. Within the span, no key is lost, and
 * no key is reported as WEIR_NEW twice. If ticks are punctual, no key stays too long. */
#include <time.h>
#include "window_image.h"

enum { NAMES = 60, LIVES = 30, STEPS = 200 };

struct life {
	struct weir_filter *w;
	uint64_t span, period;   /* ns */
	uint64_t counted;        /* ns that have passed for the window's keys */
	uint64_t at[NAMES];      /* value of counted at the last insert of each key */
	bool in[NAMES];
	bool punctual;
	uint32_t generations;
};

static uint64_t state_of_random = 1;

static uint64_t below(uint64_t n)
{
	return test_random(&state_of_random) % n;
}

static void pass(struct life *l, uint64_t ns)
{
	const uint64_t step = l->period / 20 + 1;
	for (uint64_t left = ns; left; left -= left < step ? left : step) {
		const uint64_t part = l->punctual && left > step ? step : left;
		now_ns += part;
		if (l->punctual)
			assert_true(weir_window_tick(l->w) >= 0);
		if (!l->punctual)
			break;
	}
	l->counted += ns;
}

static uint64_t real_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Save and load, with @out ns of CLOCK_REALTIME in between. If @out is negative, the clock was set
 * back. */
static void restart(struct life *l, int64_t out, bool forget)
{
	struct weir_load_options load = load_options();
	size_t n;
	unsigned char *bytes = saved_bytes(l->w, &n);
	weir_destroy(l->w);
	l->w = NULL;
	const uint64_t before = real_time(); /* the time that the test itself takes also counts */
	image_put64(bytes + SAVED, before - (uint64_t)out);
	image_repair(bytes, n);
	load.run.forget_older = forget;
	now_ns = below(2) ? below(UINT64_MAX) : now_ns;
	assert_ok(weir_load(&l->w, weir_location_memory(bytes, n), &load));
	free(bytes);
	if (forget && out > 0)
		l->counted += (uint64_t)out + (real_time() - before) + 10000000;
	if (l->punctual)
		assert_true(weir_window_tick(l->w) >= 0);
}

static void insert(struct life *l)
{
	const unsigned k = (unsigned)below(NAMES);
	const bool within = l->in[k] && l->counted - l->at[k] < l->span;
	const int answer = weir_insert_u64(l->w, test_key(k));
	assert_true(answer == WEIR_SEEN || (answer == WEIR_NEW && !within));
	l->in[k] = true;
	l->at[k] = l->counted;
}

static void look(const struct life *l)
{
	const uint64_t longest = l->span + 2 * l->period +
	                         l->generations * (l->period / 20 + 2) + UINT64_C(4000000000);
	for (unsigned k = 0; k < NAMES; k++) {
		if (!l->in[k])
			continue;
		const uint64_t old = l->counted - l->at[k];
		const bool there = weir_contains_u64(l->w, test_key(k));
		assert_true(there || old >= l->span);
		assert_true(!there || !l->punctual || old <= longest);
	}
}

static void live(struct life *l)
{
	for (unsigned step = 0; step < STEPS; step++) {
		const uint64_t p = l->period;
		switch (below(7)) {
		case 0:
		case 1: insert(l); break;
		case 2: pass(l, below(p / 10 + 1) + 1); break;
		case 3: pass(l, below(2) ? p - below(2) : below(2 * p) + 1); break;
		case 4: restart(l, (int64_t)below(2 * l->span), below(2)); break;
		case 5:
			if (below(3) == 0)
				restart(l, -(int64_t)below(UINT64_C(1000000000000)), true);
			break;
		default: assert_true(weir_window_tick(l->w) >= 0); break;
		}
		look(l);
	}
}

static void a_window_agrees_with_the_model(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LIVES; i++) {
		struct weir_params o = options(2 + i % 15, 1 + i / 15 % 2);
		struct life l = { .punctual = i % 2, .generations = o.window.generations };
		o.capacity = 2000;
		o.fp_rate = 1e-6;
		o.window.span_seconds = 1000;
		l.w = make(&o);
		l.span = UINT64_C(1000000000000);
		l.period = l.span / (o.window.generations - 1) + 1;
		live(&l);
		weir_destroy(l.w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_window_agrees_with_the_model) };
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
