/* SPDX-License-Identifier: MIT
 * Images of windows. A loaded window equals the saved window at the moment of the save. The time
 * between save and load counts only if the load asks for it. */
#include <time.h>
#include "window_image.h"

/* Windows of every shape are saved before the first advance, after a few advances, and after the
 * window has reused slots. */
static void a_loaded_window_continues_as_the_saved_one(void **state)
{
	const struct weir_load_options load = load_options();
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	unsigned n = 0;
	(void)state;
	FOR_EACH_SHAPE(o) {
		unsigned advances[] = { 0, o.window.generations / 2, 3 * o.window.generations + 1 };
		for (unsigned i = 0; i < COUNT_OF(advances); i++) {
			struct weir_filter *w = lived(&o, advances[i]), *back;
			wait_for(0.25);
			save.zstd_level = n++ % 2 && TEST_ZSTD ? 3 : 0;
			assert_ok(weir_save(w, weir_location_path(path), &save));
			assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
			back = loaded_from(path, &load);
			assert_alike(w, back, advances[i]);
			/* from now on, both windows have equal inserts, advances and answers */
			for (unsigned more = 0; more < o.window.generations; more++) {
				assert_int_equal(weir_insert(w, &more, sizeof more),
				                 weir_insert(back, &more, sizeof more));
				assert_ok(weir_window_advance(w));
				assert_ok(weir_window_advance(back));
				wait_for(0.5);
				assert_alike(w, back, advances[i]);
			}
			weir_destroy(w);
			weir_destroy(back);
		}
	}
}

static void time_between_save_and_load_does_not_count(void **state)
{
	struct weir_params o = options(7, 0);
	const struct weir_load_options load = load_options();
	struct weir_filter *w = lived(&o, 3), *back;
	(void)state;
	wait_for(0.75);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	wait_for(3600);
	back = loaded_from(path, &load);
	struct weir_window_stats s = stats_of(back);
	for (unsigned i = 0; i <= 3; i++)
		assert_true(fabs(s.age_seconds[i] - 0.75 - i) < 1e-6);
	assert_true(s.age_seconds[4] == 0);
	assert_true(fabs(s.due_seconds - 0.25) < 1e-6 && s.advances == 3);
	assert_int_equal(weir_window_tick(back), 0);
	wait_for(0.2501);
	assert_int_equal(weir_window_tick(back), 1);
	assert_int_equal(weir_window_tick(back), 0);
	/* the new clock may show less than the age of the window */
	now_ns = 5;
	weir_destroy(back);
	back = loaded_from(path, &load);
	assert_true(fabs(stats_of(back).age_seconds[3] - 3.75) < 1e-6);
	assert_int_equal(weir_window_tick(back), 0);
	wait_for(0.2501);
	assert_int_equal(weir_window_tick(back), 1);
	weir_destroy(w);
	weir_destroy(back);
}

/* The CLOCK_REALTIME that the library sees, in ns. 0: the machine's clock. */
static uint64_t real_ns;
static bool fake_time_set; /* true: the library sees fake_time instead of real_ns */
static struct timespec fake_time;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (id == CLOCK_REALTIME && fake_time_set) {
		*t = fake_time;
		return 0;
	}
	if (id != CLOCK_REALTIME || !real_ns)
		return __real_clock_gettime(id, t);
	t->tv_sec = (time_t)(real_ns / 1000000000);
	t->tv_nsec = (long)(real_ns % 1000000000);
	return 0;
}

/* Change the image at path so that it was saved @seconds ago. */
static void saved_ago(double seconds)
{
	size_t n = 0;
	unsigned char *bytes = image_slurp(path, &n);
	assert_non_null(bytes);
	real_ns = UINT64_C(1700000000) * 1000000000;
	image_put64(bytes + SAVED, real_ns - (uint64_t)(int64_t)(seconds * 1e9));
	image_repair(bytes, n);
	assert_true(image_spit(path, bytes, n));
	free(bytes);
}

/* The window has seven generations of one second each. The newest generation is 0.75 s old at
 * the save. */
static void forget_older_counts_the_time_since_the_save(void **state)
{
	static const struct {
		double seconds, newest;
		int age; /* age of the keys in the newest generation */
	} rows[] = { { 0.0, 0.75, 0 }, { 0.1, 0.85, 0 },  { 0.35, 0.1, 1 }, { 1.35, 0.1, 2 },
		     { 4.5, 0.25, 5 }, { 5.75, 0.5, 6 },  { 6.35, 0.1, -1 }, { 1e6, -1, -1 },
		     { 1.5e9, -1, -1 },  { -50, 0.75, 0 } };
	struct weir_params o = options(7, 0);
	struct weir_load_options load = load_options();
	const unsigned last = 9;
	(void)state;
	o.window.generation_keys = 9000;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct weir_filter *w = lived(&o, last), *back;
		wait_for(0.75);
		assert_ok(weir_save(w, weir_location_path(path), NULL));
		saved_ago(rows[i].seconds);
		load.run.forget_older = 0;
		back = loaded_from(path, &load);
		assert_true(stats_of(back).age_seconds[0] == 0.75);
		weir_destroy(back);
		load.run.forget_older = 1;
		back = loaded_from(path, &load);
		struct weir_window_stats s = stats_of(back);
		if (rows[i].newest >= 0)
			assert_true(fabs(s.age_seconds[0] - rows[i].newest) < 1e-6);
		for (unsigned g = 0; g < 6; g++)
			assert_true(s.age_seconds[g + 1] >= s.age_seconds[g] &&
			            s.age_seconds[g + 1] < s.age_seconds[g] + 1.3);
		assert_int_equal(s.keys_counted != 0, rows[i].age == 0);
		for (unsigned k = 0; k < 7; k++) {
			int age = rows[i].age < 0 || rows[i].age + (int)k > 6 ?
			                  -1 : rows[i].age + (int)k;
			for (unsigned j = 0; j < KEYS; j++) {
				uint64_t one = key(last - k, j);
				assert_int_equal(weir_age(back, &one, 8), age);
			}
		}
		weir_destroy(w);
		weir_destroy(back);
	}
}

static void any_real_time_can_be_saved(void **state)
{
	static const struct timespec times[] = { { -5, 7 }, { 0, 0 }, { (time_t)1 << 60, 1 } };
	struct weir_params o = options(3, 0);
	struct weir_load_options load = load_options();
	(void)state;
	load.run.forget_older = 1;
	for (unsigned i = 0; i < COUNT_OF(times); i++) {
		struct weir_filter *w = make(&o), *back;
		fake_time_set = true;
		fake_time = times[i];
		assert_int_equal(weir_insert(w, "key", 3), WEIR_NEW);
		assert_ok(weir_save(w, weir_location_path(path), NULL));
		back = loaded_from(path, &load);
		assert_int_equal(weir_age(back, "key", 3), 0);
		weir_destroy(back);
		weir_destroy(w);
		fake_time_set = false;
	}
}

/* The load makes more advances than 32 bits can count. */
static void after_very_many_advances_all_keys_are_forgotten(void **state)
{
	struct weir_params o = options(16, 0);
	struct weir_load_options load = load_options();
	struct weir_filter *w, *back;
	const double period = 66667e-9; /* 1 ms / 15, rounded up */
	(void)state;
	o.window.span_seconds = 0.001;
	w = make(&o);
	assert_int_equal(weir_insert(w, "key", 3), WEIR_NEW);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	load.run.forget_older = 1;
	for (int i = -1; i <= 1; i++) {
		saved_ago((0x1p32 + i + 0.5) * period);
		back = loaded_from(path, &load);
		assert_int_equal(weir_age(back, "key", 3), -1);
		weir_destroy(back);
	}
	weir_destroy(w);
}

/* A key that is inserted just before the save is remembered for the whole span after the save. */
static void a_late_advance_is_not_caught_up(void **state)
{
	struct weir_params o = options(7, 0);
	struct weir_load_options load = load_options();
	struct weir_filter *w = lived(&o, 2), *back;
	(void)state;
	wait_for(100.6);
	assert_int_equal(weir_insert(w, "late", 4), WEIR_NEW);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	saved_ago(5.5);
	load.run.forget_older = 1;
	back = loaded_from(path, &load);
	assert_int_equal(weir_age(back, "late", 4), 6);
	assert_true(fabs(stats_of(back).age_seconds[0] - 0.5) < 1e-6);
	weir_destroy(back);
	saved_ago(6.5);
	back = loaded_from(path, &load);
	assert_int_equal(weir_age(back, "late", 4), -1);
	weir_destroy(back);
	weir_destroy(w);
}

/* measuring_clock() measures the window after an advance is published and before the advance's time
 * is recorded. Until then, statistics, images and ticks take the age of the newest generation as
 * 0. */
static struct weir_filter *measured_window;
static unsigned looks;

static uint64_t measuring_clock(void *unused)
{
	struct weir_filter *w = measured_window, *back;
	(void)unused;
	measured_window = NULL; /* reading the statistics reads the clock, too */
	struct weir_window_stats s = w ? stats_of(w) : (struct weir_window_stats){ 0 };
	if (s.advances != 12) {
		measured_window = w;
	} else {
		const struct weir_load_options load = load_options();
		looks++;
		assert_true(s.age_seconds[0] == 0 && s.due_seconds > 0.99);
		assert_int_equal(weir_window_tick(w), 0);
		assert_ok(weir_save(w, weir_location_path(path), NULL));
		back = loaded_from(path, &load);
		s = stats_of(back);
		assert_true(s.age_seconds[0] == 0 && s.age_seconds[1] > 0.99);
		weir_destroy(back);
	}
	return now_ns;
}

static void the_newest_generation_begins_with_the_publication(void **state)
{
	struct weir_params o = options(7, 0);
	(void)state;
	o.window.run.clock = measuring_clock;
	measured_window = NULL;
	looks = 0;
	struct weir_filter *w = lived(&o, 11);
	wait_for(1);
	measured_window = w;
	assert_ok(weir_window_advance(w));
	assert_int_equal(looks, 1);
	weir_destroy(w);
}

static struct weir_filter *inserted_into;

static uint64_t inserting_clock(void *unused)
{
	(void)unused;
	if (inserted_into)
		assert_int_equal(weir_insert(inserted_into, "young", 5), WEIR_NEW);
	return now_ns;
}

/* A save reads the clock after it has copied the words of the filter ([COPY-IN-SECTION]). */
static void no_key_is_younger_than_the_image(void **state)
{
	struct weir_params o = options(7, 0);
	const struct weir_load_options load = load_options();
	(void)state;
	o.window.run.clock = inserting_clock;
	struct weir_filter *w = lived(&o, 2), *back;
	inserted_into = w;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	inserted_into = NULL;
	back = loaded_from(path, &load);
	assert_true(weir_contains(w, "young", 5));
	assert_false(weir_contains(back, "young", 5));
	weir_destroy(back);
	weir_destroy(w);
}

/* Images can still be loaded after the clock went back. */
static void the_clock_may_go_back(void **state)
{
	struct weir_params o = options(7, 0);
	const struct weir_load_options load = load_options();
	struct weir_filter *w = lived(&o, 3), *back;
	(void)state;
	now_ns -= 2500000000;
	assert_ok(weir_window_advance(w));
	wait_for(0.5);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	back = loaded_from(path, &load);
	assert_true(fabs(stats_of(back).age_seconds[0] - 0.5) < 1e-6);
	weir_destroy(back);
	weir_destroy(w);
}

/* Ages must not become centuries when the clock wraps around. */
static void the_clock_may_wrap_around(void **state)
{
	struct weir_params o = options(7, 0);
	(void)state;
	now_ns = UINT64_MAX - 1500000000;
	struct weir_filter *w = make(&o);
	for (unsigned i = 1; i < 9; i++) {
		assert_int_equal(weir_window_tick(w), 0);
		assert_true(stats_of(w).age_seconds[0] == 0);
		wait_for(1.0001);
		assert_int_equal(weir_window_tick(w), 1);
		assert_true(fabs(stats_of(w).age_seconds[1] - 1.0001) < 1e-6);
	}
	assert_true(stats_of(w).late_seconds < 0.001);
	weir_destroy(w);
}

static void a_huge_age_is_saved_as_the_largest(void **state)
{
	const struct weir_params o = options(3, 0);
	struct weir_filter *w = lived(&o, 2), *back;
	const struct weir_load_options load = load_options();
	(void)state;
	now_ns += (UINT64_C(1) << 62) + 5000000000;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	back = loaded_from(path, &load);
	for (unsigned i = 0; i < 3; i++)
		assert_true(stats_of(back).age_seconds[i] == 0x1p62 * 1e-9);
	weir_destroy(back);
	weir_destroy(w);
}

/* A clock that goes back by one nanosecond after its first call. */
static uint64_t stepping_clock(void *calls)
{
	unsigned *n = calls;
	return now_ns - ((*n)++ > 0);
}

/* The clock is 0 at a creation, an advance and a load. */
static void the_clock_may_be_0(void **state)
{
	const struct weir_params o = options(3, 0);
	const struct weir_load_options load = load_options();
	struct weir_filter *w, *back;
	(void)state;
	now_ns = 0;
	w = make(&o);
	wait_for(5);
	assert_true(fabs(stats_of(w).age_seconds[0] - 5) < 1e-6);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	/* the window began at time 0 */
	now_ns = (uint64_t)llround(stats_of(w).age_seconds[0] * 1e9);
	back = loaded_from(path, &load);
	wait_for(2);
	assert_true(fabs(stats_of(back).age_seconds[0] - 7) < 1e-6);
	weir_destroy(back);
	unsigned calls = 0;
	struct weir_load_options stepping = load;
	stepping.run.clock = stepping_clock, stepping.run.clock_arg = &calls;
	now_ns -= UINT64_C(2000000000); /* the loaded window began before time 0 */
	back = loaded_from(path, &stepping);
	assert_true(fabs(stats_of(back).age_seconds[0] - 5) < 1e-6);
	weir_destroy(back);
	now_ns = 0;
	assert_ok(weir_window_advance(w));
	wait_for(4);
	assert_true(fabs(stats_of(w).age_seconds[0] - 4) < 1e-6);
	weir_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loaded_window_continues_as_the_saved_one),
		cmocka_unit_test(time_between_save_and_load_does_not_count),
		cmocka_unit_test(forget_older_counts_the_time_since_the_save),
		cmocka_unit_test(any_real_time_can_be_saved),
		cmocka_unit_test(after_very_many_advances_all_keys_are_forgotten),
		cmocka_unit_test(a_late_advance_is_not_caught_up),
		cmocka_unit_test(the_newest_generation_begins_with_the_publication),
		cmocka_unit_test(no_key_is_younger_than_the_image),
		cmocka_unit_test(the_clock_may_go_back),
		cmocka_unit_test(the_clock_may_wrap_around),
		cmocka_unit_test(a_huge_age_is_saved_as_the_largest),
		cmocka_unit_test(the_clock_may_be_0),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
