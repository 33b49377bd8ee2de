/* SPDX-License-Identifier: MIT
 * A window against a model, in random steps, with a simulated clock: inserts, advances, ticks and
 * images. An image is loaded at once, later, on a machine with another clock, or with forget_older.
 * After each step every key is in the generation that the model names, or forgotten, and no key is
 * forgotten within the span. */
#include <math.h>
#include <time.h>
#include "../test.h"

enum { KEYS = 250, STEPS = 300, GENERATION_KEYS = 40 };
enum { SPAN = 6 };

static uint64_t monotonic_ns, real_ns;

/* Replaces the C library's clock, for the library and for this program. */
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	uint64_t now = id == CLOCK_REALTIME ? real_ns : monotonic_ns;
	t->tv_sec = (time_t)(now / 1000000000);
	t->tv_nsec = (long)(now % 1000000000);
	return 0;
}

static void pass(uint64_t ns)
{
	monotonic_ns += ns;
	real_ns += ns;
}

struct model {
	struct weir_filter *w;
	uint64_t random;
	uint32_t generations;
	uint64_t period;
	bool by_number;                 /* the window also advances after a number of keys,
	                                   and the test advances the window early */
	uint64_t turn;                  /* number of the newest generation, from 0 */
	uint64_t since[1 << 16];        /* when each generation became the newest */
	uint64_t advances, counted;     /* expected weir_window_stats.advances, .keys_counted */
	uint64_t keys;                  /* number of inserted keys; key i is test_key(i) */
	uint64_t in[12 * STEPS],        /* the generation of each key */
	         at[12 * STEPS];        /* the time of each key's last insert */
};

static uint64_t below(struct model *m, uint64_t n)
{
	return test_random(&m->random) % n;
}

static void turn(struct model *m, uint64_t since)
{
	assert_true(m->turn + 1 < COUNT_OF(m->since));
	m->since[++m->turn] = since;
	m->advances++;
	m->counted = 0;
}

/* ---- steps ---- */

static void put(struct model *m, uint64_t key, int answer)
{
	m->in[key] = m->turn;
	m->at[key] = monotonic_ns;
	m->counted += answer;
}

static void insert(struct model *m)
{
	for (uint64_t n = 1 + below(m, 12); n; n--) {
		uint64_t key = m->keys++;
		assert_int_equal(weir_insert_u64(m->w, test_key(key)), WEIR_NEW);
		put(m, key, 1);
	}
}

/* Insert a key again that is in the window or was forgotten. */
static void insert_again(struct model *m)
{
	if (!m->keys)
		return;
	uint64_t recent = m->keys < 100 ? m->keys : 100, key = m->keys - 1 - below(m, recent);
	bool there = m->turn - m->in[key] < m->generations;
	assert_int_equal(weir_insert_u64(m->w, test_key(key)), there ? WEIR_SEEN : WEIR_NEW);
	put(m, key, m->in[key] != m->turn);
}

static bool due(const struct model *m)
{
	return monotonic_ns - m->since[m->turn] >= m->period ||
	       (m->by_number && m->counted >= GENERATION_KEYS);
}

static void tick(struct model *m)
{
	bool now = due(m);
	assert_int_equal(weir_window_tick(m->w), now);
	if (now)
		turn(m, monotonic_ns);
}

/* Advance early, which voids the promised span, so only runs with by_number do so. */
static void advance(struct model *m)
{
	if (!m->by_number)
		return;
	assert_ok(weir_window_advance(m->w));
	turn(m, monotonic_ns);
}

/* Tick on time, as the timer's thread does. */
static void wait(struct model *m)
{
	uint64_t until = monotonic_ns + below(m, 3 * m->period);
	for (uint64_t next; next = m->since[m->turn] + m->period, next <= until;) {
		pass(next > monotonic_ns ? next - monotonic_ns : 0);
		tick(m);
	}
	pass(until - monotonic_ns);
}

static void wait_too_long(struct model *m)
{
	pass(below(m, 2 * m->period));
}

/* ---- images ---- */

static void reload(struct model *m, uint32_t forget_older)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_ok(weir_save(m->w, weir_location_fd(fileno(file)), NULL));
	weir_destroy(m->w);
	m->w = NULL;
	uint64_t saved = monotonic_ns;
	uint64_t passed = below(m, 3) ? below(m, 9 * m->period) : 0;
	pass(passed);
	if (below(m, 2)) /* as if the machine had rebooted */
		monotonic_ns = UINT64_C(1) << 50 | below(m, UINT64_C(1) << 40);
	o.run.forget_older = forget_older;
	rewind(file);
	assert_ok(weir_load(&m->w, weir_location_fd(fileno(file)), &o));
	fclose(file);
	/* An image has ages instead of times. So a load shifts all times of the model equally. */
	uint64_t gone = forget_older ? passed : 0, shift = monotonic_ns - saved - gone;
	for (uint64_t i = 0; i <= m->turn; i++)
		m->since[i] += shift;
	for (uint64_t i = 0; i < m->keys; i++)
		m->at[i] += shift;
	uint64_t next = m->since[m->turn] + m->period, then = monotonic_ns - gone;
	for (next = next > then ? next : then; gone && next <= monotonic_ns; next += m->period)
		turn(m, next);
	m->advances = m->turn < m->generations - 1 ? m->turn : m->generations - 1;
}

static void load(struct model *m) { reload(m, 0); }
static void load_and_forget(struct model *m) { reload(m, 1); }

/* ---- checks ---- */

static void check_key(const struct model *m, uint64_t key)
{
	const uint64_t age = m->turn - m->in[key];
	const bool there = age < m->generations;
	assert_int_equal(weir_contains_u64(m->w, test_key(key)), there);
	uint64_t number = test_key(key);
	assert_int_equal(weir_age(m->w, &number, sizeof number),
	                 there ? (int)age : -1);
	if (!there && !m->by_number)
		assert_true(monotonic_ns - m->at[key] >= UINT64_C(1000000000) * SPAN);
}

static void check(const struct model *m)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	assert_ok(weir_window_measure(m->w, WEIR_SAMPLED, &s));
	assert_int_equal(s.advances, m->advances);
	if (m->by_number)
		assert_int_equal(s.keys_counted, m->counted);
	for (uint32_t i = 0; i < m->generations; i++) {
		uint64_t age = i > m->turn ? 0 : monotonic_ns - m->since[m->turn - i];
		assert_true(fabs(s.age_seconds[i] - (double)age * 1e-9) < 1e-6);
	}
	for (uint64_t i = m->keys < KEYS ? 0 : m->keys - KEYS; i < m->keys; i++)
		check_key(m, i);
}

/* ---- runs ---- */

static void begin(struct model *m, uint64_t seed)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	memset(m, 0, sizeof *m);
	m->random = seed << 32;
	m->generations = (uint32_t)(2 + below(m, 15));
	m->period = (uint64_t)(SPAN * 1e9 / (m->generations - 1)) + 1;
	m->by_number = below(m, 3) == 0;
	monotonic_ns = 1 + below(m, 2) * below(m, UINT64_C(1) << 50);
	real_ns = UINT64_C(1700000000) * 1000000000;
	m->since[0] = monotonic_ns;
	o.kind = WEIR_WINDOW;
	o.window.generations = m->generations;
	o.window.layout = (uint32_t)below(m, 3);
	o.window.words_per_key = o.window.layout == WEIR_WINDOW_RING ? (uint32_t)below(m, 2) : 0;
	o.capacity = UINT64_C(300) * m->generations;
	o.fp_rate = 2e-8;
	o.window.span_seconds = SPAN;
	o.window.generation_keys = m->by_number ? GENERATION_KEYS : 0;
	o.seed = 1 + seed;
	assert_ok(weir_create(&m->w, &o));
}

typedef void step_fn(struct model *m);

static void run(struct model *m, uint64_t seed)
{
	static step_fn *const steps[] = {
		insert, insert, insert_again, insert_again, tick, tick, advance, wait,
		wait_too_long, load, load_and_forget,
	};
	begin(m, seed);
	for (unsigned i = 0; i < STEPS; i++) {
		steps[below(m, COUNT_OF(steps))](m);
		check(m);
	}
	weir_destroy(m->w);
}

static uint64_t runs = 40;

static void test_window_and_model(void **state)
{
	struct model *m = malloc(sizeof *m);
	(void)state;
	assert_non_null(m);
	for (uint64_t seed = 1; seed <= runs; seed++)
		run(m, seed);
	free(m);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_window_and_model) };
	if (argc > 1 && strcmp(argv[1], "slow") == 0)
		runs = 2000;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
