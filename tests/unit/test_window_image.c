/* SPDX-License-Identifier: MIT
 * Images of windows: what goes through a file, a stream or memory is the same window at the same
 * moment; time stands still in between, or is counted; and such images made by somebody else. */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include "../image_bytes.h"
#include "../folder.h"
#include "window.h"

enum { KEYS = 400, ROW = 16, OWN = 192, SAVED = OWN + 24 };

static uint64_t key(unsigned generation, unsigned i)
{
	return test_key(1000 * (uint64_t)generation + i);
}

/* After so many advances, one a second. Key (a, i) was inserted after a of them. */
static struct weir_window *lived(const struct weir_window_options *o, unsigned advances)
{
	struct weir_window *w = make(o);
	for (unsigned a = 0;; a++) {
		for (unsigned i = 0; i < KEYS; i++)
			assert_true(weir_window_insert_u64(w, key(a, i)) >= 0);
		if (a == advances)
			return w;
		wait_for(1);
		assert_ok(weir_window_advance(w));
	}
}

static struct weir_window_load_options load_options(void)
{
	struct weir_window_load_options o = WEIR_WINDOW_LOAD_OPTIONS_INIT;
	o.clock = test_clock;
	return o;
}

static struct weir_window *loaded_from(const char *name,
                                       const struct weir_window_load_options *o)
{
	struct weir_window *w = NULL;
	assert_ok(weir_window_load(&w, name, o));
	assert_non_null(w);
	return w;
}

/* The two answer alike, with the ages of every key. */
static void assert_alike(const struct weir_window *a, const struct weir_window *b,
                         unsigned advances)
{
	struct weir_window_stats x = stats_of(a), y = stats_of(b);
	assert_memory_equal(&x.plan, &y.plan, sizeof x.plan);
	assert_memory_equal(x.fill, y.fill, sizeof x.fill);
	assert_memory_equal(x.age_seconds, y.age_seconds, sizeof x.age_seconds);
	assert_true(x.due_seconds == y.due_seconds && x.keys_counted == y.keys_counted &&
	            x.span_seconds == y.span_seconds && x.generation_keys == y.generation_keys &&
	            x.keys_estimated == y.keys_estimated);
	for (unsigned g = 0; g <= advances + 1; g++)
		for (unsigned i = 0; i < KEYS; i++) {
			uint64_t k = key(g, i);
			assert_int_equal(weir_window_age(a, &k, 8), weir_window_age(b, &k, 8));
			assert_int_equal(weir_window_contains_u64(a, k),
			                 weir_window_contains_u64(b, k));
		}
}

/* In every shape, before the first advance, in the first round of slots, and after many. */
static void saved_and_loaded(void **state)
{
	const struct weir_window_load_options load = load_options();
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	unsigned n = 0;
	(void)state;
	FOR_EACH_SHAPE(o) {
		unsigned advances[] = { 0, o.generations / 2, 3 * o.generations + 1 };
		for (unsigned i = 0; i < COUNT_OF(advances); i++) {
			struct weir_window *w = lived(&o, advances[i]), *back;
			wait_for(0.25);
			save.zstd_level = n++ % 2 && TEST_ZSTD ? 3 : 0;
			assert_ok(weir_window_save(w, path, &save));
			assert_ok(weir_image_verify(path, NULL));
			back = loaded_from(path, &load);
			assert_alike(w, back, advances[i]);
			/* and they go on alike */
			for (unsigned more = 0; more < o.generations; more++) {
				assert_int_equal(weir_window_insert(w, &more, sizeof more),
				                 weir_window_insert(back, &more, sizeof more));
				assert_ok(weir_window_advance(w));
				assert_ok(weir_window_advance(back));
				wait_for(0.5);
				assert_alike(w, back, advances[i]);
			}
			weir_window_destroy(w);
			weir_window_destroy(back);
		}
	}
}

/* Of the same window, a second later. Time stands still while it is a file. */
static void time_stands_still(void **state)
{
	struct weir_window_options o = options(7, 0);
	const struct weir_window_load_options load = load_options();
	struct weir_window *w = lived(&o, 3), *back;
	(void)state;
	wait_for(0.75);
	assert_ok(weir_window_save(w, path, NULL));
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
	/* also if the new clock is younger than the window */
	now_ns = 5;
	weir_window_destroy(back);
	back = loaded_from(path, &load);
	assert_true(fabs(stats_of(back).age_seconds[3] - 3.75) < 1e-6);
	assert_int_equal(weir_window_tick(back), 0);
	wait_for(0.2501);
	assert_int_equal(weir_window_tick(back), 1);
	weir_window_destroy(w);
	weir_window_destroy(back);
}

static uint64_t real_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Let the image at path have been saved so many seconds ago. */
static void saved_ago(double seconds)
{
	size_t n = 0;
	unsigned char *bytes = image_slurp(path, &n);
	assert_non_null(bytes);
	image_put64(bytes + SAVED, real_ns() - (uint64_t)(int64_t)(seconds * 1e9));
	image_repair(bytes, n);
	assert_true(image_spit(path, bytes, n));
	free(bytes);
}

/* Seven generations of a second; the newest is 0.75 s old at the save. */
static void forgets_older(void **state)
{
	static const struct {
		double seconds, newest;
		int age; /* of what was the newest */
	} rows[] = { { 0.0, 0.75, 0 }, { 0.1, 0.85, 0 },  { 0.35, 0.1, 1 }, { 1.35, 0.1, 2 },
		     { 4.5, 0.25, 5 }, { 5.75, 0.5, 6 },  { 6.35, 0.1, -1 }, { 1e6, -1, -1 },
		     { 1.5e9, -1, -1 },  { -50, 0.75, 0 } };
	struct weir_window_options o = options(7, 0);
	struct weir_window_load_options load = load_options();
	const unsigned last = 9;
	(void)state;
	o.generation_keys = 9000;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct weir_window *w = lived(&o, last), *back;
		wait_for(0.75);
		assert_ok(weir_window_save(w, path, NULL));
		saved_ago(rows[i].seconds);
		load.forget_older = 0;
		back = loaded_from(path, &load);
		assert_true(stats_of(back).age_seconds[0] == 0.75);
		weir_window_destroy(back);
		load.forget_older = 1;
		back = loaded_from(path, &load);
		struct weir_window_stats s = stats_of(back);
		if (rows[i].newest >= 0)
			assert_true(fabs(s.age_seconds[0] - rows[i].newest) < 0.09);
		for (unsigned g = 0; g < 6; g++)
			assert_true(s.age_seconds[g + 1] >= s.age_seconds[g] &&
			            s.age_seconds[g + 1] < s.age_seconds[g] + 1.3);
		assert_int_equal(s.keys_counted != 0, rows[i].age == 0);
		for (unsigned k = 0; k < 7; k++) {
			int age = rows[i].age < 0 || rows[i].age + (int)k > 6 ?
			                  -ENOENT : rows[i].age + (int)k;
			for (unsigned j = 0; j < KEYS; j++) {
				uint64_t one = key(last - k, j);
				assert_int_equal(weir_window_age(back, &one, 8), age);
			}
		}
		weir_window_destroy(w);
		weir_window_destroy(back);
	}
}

/* A late advance is not caught up, neither by the window nor in its image: what was inserted just
 * before the save is remembered for all of T after it. */
static void an_advance_that_was_late(void **state)
{
	struct weir_window_options o = options(7, 0);
	struct weir_window_load_options load = load_options();
	struct weir_window *w = lived(&o, 2), *back;
	(void)state;
	wait_for(100.6);
	assert_int_equal(weir_window_insert(w, "late", 4), WEIR_NEW);
	assert_ok(weir_window_save(w, path, NULL));
	saved_ago(5.5);
	load.forget_older = 1;
	back = loaded_from(path, &load);
	assert_int_equal(weir_window_age(back, "late", 4), 6);
	assert_true(fabs(stats_of(back).age_seconds[0] - 0.5) < 0.09);
	weir_window_destroy(back);
	saved_ago(6.5);
	back = loaded_from(path, &load);
	assert_int_equal(weir_window_age(back, "late", 4), -ENOENT);
	weir_window_destroy(back);
	weir_window_destroy(w);
}

/* What is looked at between the publication of an advance and the note of its time: the newest is
 * as old as the look, in figures, in an image, and to who asks whether an advance is due. */
static struct weir_window *looked_at;
static unsigned looks;

static uint64_t looking_clock(void *unused)
{
	struct weir_window *w = looked_at, *back;
	(void)unused;
	looked_at = NULL; /* the figures ask the clock too */
	struct weir_window_stats s = w ? stats_of(w) : (struct weir_window_stats){ 0 };
	if (s.advances != 12) {
		looked_at = w;
	} else {
		const struct weir_window_load_options load = load_options();
		looks++;
		assert_true(s.age_seconds[0] == 0 && s.due_seconds > 0.99);
		assert_int_equal(weir_window_tick(w), 0);
		assert_ok(weir_window_save(w, path, NULL));
		back = loaded_from(path, &load);
		s = stats_of(back);
		assert_true(s.age_seconds[0] == 0 && s.age_seconds[1] > 0.99);
		weir_window_destroy(back);
	}
	return now_ns;
}

static void in_the_midst_of_an_advance(void **state)
{
	struct weir_window_options o = options(7, 0);
	(void)state;
	o.clock = looking_clock;
	looked_at = NULL;
	looks = 0;
	struct weir_window *w = lived(&o, 11);
	wait_for(1);
	looked_at = w;
	assert_ok(weir_window_advance(w));
	assert_int_equal(looks, 1);
	weir_window_destroy(w);
}

static struct weir_window *inserted_into;

static uint64_t inserting_clock(void *unused)
{
	(void)unused;
	if (inserted_into)
		assert_int_equal(weir_window_insert(inserted_into, "young", 5), WEIR_NEW);
	return now_ns;
}

/* The clock is read after the words (W10): no key in the image is younger than that. */
static void the_clock_comes_last(void **state)
{
	struct weir_window_options o = options(7, 0);
	const struct weir_window_load_options load = load_options();
	(void)state;
	o.clock = inserting_clock;
	struct weir_window *w = lived(&o, 2), *back;
	inserted_into = w;
	assert_ok(weir_window_save(w, path, NULL));
	inserted_into = NULL;
	back = loaded_from(path, &load);
	assert_true(weir_window_contains(w, "young", 5));
	assert_false(weir_window_contains(back, "young", 5));
	weir_window_destroy(back);
	weir_window_destroy(w);
}

/* A clock of the caller's that goes back makes no image that is refused. */
static void the_clock_goes_back(void **state)
{
	struct weir_window_options o = options(7, 0);
	const struct weir_window_load_options load = load_options();
	struct weir_window *w = lived(&o, 3), *back;
	(void)state;
	now_ns -= 2500000000;
	assert_ok(weir_window_advance(w));
	wait_for(0.5);
	assert_ok(weir_window_save(w, path, NULL));
	back = loaded_from(path, &load);
	assert_true(fabs(stats_of(back).age_seconds[0] - 0.5) < 1e-6);
	weir_window_destroy(back);
	weir_window_destroy(w);
}

/* Numbers of a clock that wrap are no age of centuries. */
static void the_clock_wraps(void **state)
{
	struct weir_window_options o = options(7, 0);
	(void)state;
	now_ns = UINT64_MAX - 1500000000;
	struct weir_window *w = make(&o);
	for (unsigned i = 1; i < 9; i++) {
		assert_int_equal(weir_window_tick(w), 0);
		assert_true(stats_of(w).age_seconds[0] == 0);
		wait_for(1.0001);
		assert_int_equal(weir_window_tick(w), 1);
		assert_true(fabs(stats_of(w).age_seconds[1] - 1.0001) < 1e-6);
	}
	assert_true(stats_of(w).late_seconds < 0.001);
	weir_window_destroy(w);
}

static void streamed(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	const struct weir_window_load_options load = load_options();
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_window *w = lived(&o, 2), *back = NULL;
		int fd = memfd_create("windows", 0);
		size_t n = 0;
		save.zstd_level = shape % 2 && TEST_ZSTD;
		assert_int_equal(write(fd, "before", 6), 6);
		assert_ok(weir_window_save_fd(w, fd, &save));
		assert_int_equal(write(fd, "behind", 6), 6);
		assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
		assert_ok(weir_image_verify_fd(fd, NULL));
		assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
		assert_ok(weir_window_load_fd(&back, fd, &load));
		assert_alike(w, back, 2);
		weir_window_destroy(back);
		close(fd);
		assert_ok(weir_window_save(w, path, &save));
		unsigned char *bytes = image_slurp(path, &n);
		assert_ok(weir_window_load_memory(&back, bytes, n, &load));
		assert_alike(w, back, 2);
		free(bytes);
		weir_window_destroy(w);
		weir_window_destroy(back);
	}
}

/* Where member i begins. */
static size_t member_at(const unsigned char *bytes, unsigned i)
{
	size_t at = IMAGE_PAGE;
	for (; i > 0; i--)
		at += (image_get(bytes + at + 96, 8) + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	return at;
}

/* W9: each member is a blocked filter that has the generation's keys. */
static void a_generation_is_a_filter(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_window *w = lived(&o, o.generations - 1);
		size_t n = 0;
		assert_ok(weir_window_save(w, path, NULL));
		unsigned char *bytes = image_slurp(path, &n);
		int fd = open(path, O_RDONLY);
		for (unsigned g = 0; g < o.generations; g++) {
			struct weir_filter *f = NULL;
			off_t at = (off_t)member_at(bytes, g);
			assert_int_equal(lseek(fd, at, SEEK_SET), at);
			assert_ok(weir_load_fd(&f, fd, NULL));
			for (unsigned i = 0; i < KEYS; i++)
				assert_true(weir_contains_u64(f,
				                              key(o.generations - 1 - g, i)));
			weir_destroy(f);
		}
		close(fd);
		free(bytes);
		weir_window_destroy(w);
	}
}

static void keyed(void **state)
{
	static const unsigned char hash_key[16] = "fifteen letters", other[16] = "fifteen others.";
	struct weir_window_options o = options(5, 0);
	struct weir_window_load_options load = load_options();
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	struct weir_window *w, *back = NULL;
	(void)state;
	o.seed = 0;
	o.hash_key = hash_key;
	w = lived(&o, 3);
	assert_ok(weir_window_save(w, path, NULL));
	assert_refused(weir_window_load(&back, path, &load), -EKEYREJECTED, path, "keyed");
	load.hash_key = other;
	assert_refused(weir_window_load(&back, path, &load), -EKEYREJECTED, path, "another key");
	load.hash_key = hash_key;
	back = loaded_from(path, &load);
	assert_alike(w, back, 3);
	load.hash_key = NULL;
	assert_ok(weir_window_image_stats(path, &load, &s));
	assert_memory_equal(s.fill, stats_of(w).fill, sizeof s.fill);
	weir_window_destroy(w);
	weir_window_destroy(back);
}

/* By number: the count goes on, in a sample too. */
static void numbers_go_on(void **state)
{
	static const uint64_t each[] = { 500, 200000 };
	const struct weir_window_load_options load = load_options();
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(each); i++) {
		struct weir_window_options o = options(3, 0);
		o.span_seconds = 0;
		o.capacity = 3 * each[i];
		o.generation_keys = each[i];
		struct weir_window *w = make(&o), *back;
		uint64_t n = 0, more = 0;
		for (; n < each[i] / 2; n++)
			(void)weir_window_insert_u64(w, test_key(n));
		assert_ok(weir_window_save(w, path, NULL));
		back = loaded_from(path, &load);
		assert_true(stats_of(back).keys_counted == stats_of(w).keys_counted);
		assert_true(fabs((double)stats_of(w).keys_counted / (double)n - 1) < 0.05);
		while (weir_window_tick(back) == 0 && more < each[i])
			(void)weir_window_insert_u64(back, test_key(n + more++));
		assert_true(fabs((double)(n + more) / (double)each[i] - 1) < 0.05);
		struct weir_window_load_options older = load;
		struct weir_window *none = NULL;
		older.forget_older = 1;
		assert_refused(weir_window_load(&none, path, &older), -EINVAL, path,
		               "by number alone");
		weir_window_destroy(w);
		weir_window_destroy(back);
	}
}

/* A window is no filter, and a filter no window; the sentence says who reads it. */
static void each_to_its_own(void **state)
{
	struct weir_window_options o = options(4, 0);
	struct weir_window *w = lived(&o, 1), *none = NULL;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	size_t n = 0;
	(void)state;
	assert_ok(weir_window_save(w, path, NULL));
	unsigned char *bytes = image_slurp(path, &n);
	const char *who = "is a window and no filter: weir_window_load() reads it";
	assert_refused(weir_load(&f, path, NULL), -ENOTSUP, path, who);
	assert_refused(weir_load_memory(&f, bytes, n, NULL), -ENOTSUP, "memory", who);
	for (int mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++)
		assert_refused(weir_map(&f, path, (enum weir_map_mode)mode, NULL), -ENOTSUP, path,
		               who);
	assert_refused(weir_image_stats(path, NULL, &stats), -ENOTSUP, path, who);
	ho.absent = WEIR_ABSENT_NO;
	ho.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_refused(weir_handle_refresh(h, path), -ENOTSUP, path, who);
	assert_ok(weir_handle_destroy(h));
	assert_ok(weir_image_info(path, &info));
	assert_true(info.shape.kind == WEIR_WINDOW && info.shape.field[1] == 4 &&
	            info.format == 3 && info.capacity == o.capacity && info.fp_rate == 0.01);
	assert_string_equal(weir_kind_name(WEIR_WINDOW), "window");
	struct weir_params params = WEIR_PARAMS_INIT;
	params.capacity = 10;
	params.fp_rate = 0.01;
	params.kind = WEIR_WINDOW;
	assert_refused(weir_create(&f, &params), -ENOTSUP, "window", "weir_window_create()");
	f = test_filter(WEIR_BLOCKED, 100, 0.01);
	assert_ok(weir_save(f, path, NULL));
	assert_refused(weir_window_load(&none, path, NULL), -ENOTSUP, path,
	               "is a filter of kind blocked and no window: weir_load() reads it");
	assert_null(none);
	weir_destroy(f);
	weir_window_destroy(w);
	free(bytes);
}

static void wrong_options(void **state)
{
	struct weir_window_options o = options(7, 0);
	struct weir_window *w = lived(&o, 1), *none = NULL;
	struct weir_window_load_options load = WEIR_WINDOW_LOAD_OPTIONS_INIT, bad = load;
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	assert_ok(weir_window_save(w, path, NULL));
	assert_refused(weir_window_save(w, NULL, NULL), -EINVAL, "path", "NULL");
	save.marks = WEIR_MARK_OVERFULL_ALLOWED;
	assert_refused(weir_window_save(w, path, &save), -EINVAL, "marks", "0x2");
	save.marks = 0;
	save.zstd_level = 20;
	assert_refused(weir_window_save_fd(w, 1, &save), -EINVAL, "zstd_level", "20");
	assert_refused(weir_window_save_fd(w, 12345, NULL), -EBADF, "12345", "not open");
	assert_refused(weir_window_load(NULL, path, NULL), -EINVAL, "out", "NULL");
	bad.max_bytes = stats_of(w).plan.bytes - 1;
	assert_refused(weir_window_load(&none, path, &bad), -EFBIG, path, "max_bytes");
	bad.max_bytes++;
	assert_ok(weir_window_load(&none, path, &bad));
	weir_window_destroy(none);
	none = NULL;
	bad = load;
	bad.flags = 1u << 30;
	assert_refused(weir_window_load(&none, path, &bad), -EINVAL, "flags", "");
	bad = load;
	bad.timer = 2;
	assert_refused(weir_window_load(&none, path, &bad), -EINVAL, "timer", "2");
	bad.timer = 1;
	bad.clock = test_clock;
	assert_refused(weir_window_load(&none, path, &bad), -EINVAL, "timer", "clock");
	bad = load;
	bad.forget_older = 7;
	assert_refused(weir_window_load(&none, path, &bad), -EINVAL, "forget_older", "7");
	bad = load;
	bad.struct_size = 4096;
	assert_refused(weir_window_load(&none, path, &bad), -EINVAL, "struct_size", "4096");
	assert_refused(weir_window_load_memory(&none, NULL, 5, NULL), -EINVAL, "NULL", "5");
	assert_refused(weir_window_load(&none, folder, NULL), -EISDIR, folder, "");
	assert_null(none);
	weir_window_destroy(w);
}

/* A loaded window has a timer if that is asked for: here of a millisecond. */
static void with_a_timer(void **state)
{
	struct weir_window_options o = options(3, 0);
	struct weir_window_load_options load = WEIR_WINDOW_LOAD_OPTIONS_INIT;
	struct weir_window *w, *back = NULL;
	(void)state;
	o.span_seconds = 0.002;
	w = make(&o);
	assert_ok(weir_window_save(w, path, NULL));
	load.timer = 1;
	assert_ok(weir_window_load(&back, path, &load));
	while (stats_of(back).advances < 5)
		usleep(500);
	weir_window_destroy(w);
	weir_window_destroy(back);
}

static uint64_t last_done, last_total;

static int progress(void *arg, uint64_t done, uint64_t total)
{
	assert_true(done >= last_done && done <= total);
	last_done = done;
	last_total = total;
	return arg != NULL;
}

static void progress_of_all(void **state)
{
	struct weir_window_options o = options(7, 0);
	struct weir_window_load_options load = load_options();
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_window *w = lived(&o, 2), *back = NULL;
	(void)state;
	save.progress = load.progress = progress;
	last_done = 0;
	assert_ok(weir_window_save(w, path, &save));
	assert_true(last_done == last_total && last_total);
	last_done = 0;
	back = loaded_from(path, &load);
	assert_true(last_done == last_total);
	weir_window_destroy(back);
	back = NULL;
	load.progress_arg = save.progress_arg = &last_done;
	last_done = 0;
	assert_int_equal(weir_window_load(&back, path, &load), -ECANCELED);
	last_done = 0;
	assert_int_equal(weir_window_save(w, path, &save), -ECANCELED);
	assert_ok(weir_image_verify(path, NULL));
	weir_window_destroy(w);
}

/* ---- images of others ---- */

static unsigned char *image;
static size_t image_bytes;

/* Of five generations; three have been the newest. */
static int image_setup(void **state)
{
	struct weir_window_options o = options(5, 0);
	o.capacity = 300;
	o.generation_keys = 60;
	struct weir_window *w = lived(&o, 2);
	(void)state;
	assert_ok(weir_window_save(w, path, NULL));
	weir_window_destroy(w);
	image = image_slurp(path, &image_bytes);
	return image == NULL || image[IMAGE_MEMBERS] != 5;
}

static int image_teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* Refused with a sentence by a load and a verification alike, or a window that works. */
static bool refused(const unsigned char *bytes, size_t n)
{
	const struct weir_window_load_options load = load_options();
	struct weir_window_load_options older = load;
	struct weir_window *w = NULL;
	older.forget_older = 1;
	int err = weir_window_load_memory(&w, bytes, n, &load);
	if (!err) {
		struct weir_window_stats s = stats_of(w);
		assert_true(s.plan.bytes >= 64 && s.age_seconds[4] >= 0);
		assert_true(weir_window_insert(w, "key", 3) >= 0);
		assert_true(weir_window_contains(w, "key", 3));
		assert_true(weir_window_tick(w) >= 0 && weir_window_advance(w) == 0);
		assert_true(weir_window_contains(w, "key", 3));
	}
	assert_true(!err || weir_error_detail()[0]);
	weir_window_destroy(w);
	int fd = memfd_create("image", 0);
	assert_true(write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	int verified = weir_image_verify_fd(fd, NULL);
	assert_true(verified == err || err == -ENOTSUP); /* of another kind */
	close(fd);
	if (!err) {
		w = NULL;
		if (weir_window_load_memory(&w, bytes, n, &older) == 0)
			assert_true(weir_window_insert(w, "key", 3) >= 0 &&
			            stats_of(w).age_seconds[0] >= 0);
		weir_window_destroy(w);
	}
	return err != 0;
}

static void every_byte_of_the_head_and_the_table(void **state)
{
	static const unsigned char values[] = { 0, 1, 2, 3, 4, 5, 0x10, 0x7f, 0x80, 0xff };
	(void)state;
	for (unsigned at = 0; at < IMAGE_TABLE + 5 * ROW + 40; at++) {
		unsigned char was = image[at];
		for (unsigned i = 0; i < COUNT_OF(values); i++) {
			image[at] = values[i];
			if (values[i] == was)
				continue;
			assert_true(refused(image, image_bytes));
			image_repair(image, image_bytes);
			(void)refused(image, image_bytes);
			image[at] = was;
			image_repair(image, image_bytes);
		}
	}
	assert_false(refused(image, image_bytes));
}

static void cut_off_anywhere(void **state)
{
	(void)state;
	for (size_t n = 0; n < image_bytes; n += n % 512 == 0 ? 511 : 1)
		assert_true(refused(image, n));
}

/* A field of the head, the checksums right; what the sentence then names. */
static void head_field(unsigned at, unsigned bytes, uint64_t value, const char *name)
{
	unsigned char was[8];
	struct weir_window *w = NULL;
	memcpy(was, image + at, bytes);
	for (unsigned i = 0; i < bytes; i++)
		image[at + i] = (unsigned char)(value >> 8 * i);
	image_repair(image, image_bytes);
	assert_refused(weir_window_load_memory(&w, image, image_bytes, NULL), -EBADMSG, name,
	               "the image in memory");
	assert_true(refused(image, image_bytes));
	memcpy(image + at, was, bytes);
	image_repair(image, image_bytes);
}

static uint64_t as_bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static void each_field_of_the_head(void **state)
{
	const uint64_t never = UINT64_MAX, second = 1000000000;
	const unsigned age = IMAGE_TABLE;
	(void)state;
	head_field(104, 4, 0, "a shape that kind window does not have");
	head_field(104, 4, 3, "layout is 3");
	head_field(108, 4, 1, "generations is 1");
	head_field(108, 4, 17, "generations is 17");
	head_field(108, 4, 4, "shape"); /* blocks do not divide */
	head_field(112, 4, 2, "words_per_key is 2");
	head_field(116, 4, 11, "bits_per_word is 11");
	head_field(116, 4, 0, "bits_per_word is 0");
	head_field(116, 4, 4, "generation 0: is of another shape");
	head_field(120, 4, 1, "shape");
	head_field(32, 8, 301, "capacity is 60 where 61 should be");
	head_field(32, 8, 295, "generation_keys is 60; allowed: up to a generation's capacity, 59");
	head_field(OWN, 8, as_bits(-1), "span_seconds is -1");
	head_field(OWN, 8, as_bits(1e-4), "span_seconds is 0.0001");
	head_field(OWN, 8, as_bits(2e9), "span_seconds is 2e+09");
	head_field(OWN, 8, as_bits(NAN), "span_seconds is nan");
	head_field(OWN + 8, 8, 61, "generation_keys is 61");
	head_field(OWN + 16, 8, (UINT64_C(1) << 48) + 1, "keys counted");
	head_field(SAVED, 8, 0, "time of saving is 0");
	head_field(SAVED, 8, never, "time of saving");
	head_field(age, 8, never, "generation 0: age is 18446744073709551615");
	head_field(age, 8, 3 * second, "generation 1: age is 1000000000 ns, less than");
	head_field(age + 2 * ROW, 8, (UINT64_C(1) << 62) + 1, "generation 2: age");
	head_field(age + ROW, 8, never, "the newer one was never the newest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_and_loaded),
		cmocka_unit_test(time_stands_still),
		cmocka_unit_test(forgets_older),
		cmocka_unit_test(an_advance_that_was_late),
		cmocka_unit_test(in_the_midst_of_an_advance),
		cmocka_unit_test(the_clock_comes_last),
		cmocka_unit_test(the_clock_goes_back),
		cmocka_unit_test(the_clock_wraps),
		cmocka_unit_test(streamed),
		cmocka_unit_test(a_generation_is_a_filter),
		cmocka_unit_test(keyed),
		cmocka_unit_test(numbers_go_on),
		cmocka_unit_test(each_to_its_own),
		cmocka_unit_test(wrong_options),
		cmocka_unit_test(with_a_timer),
		cmocka_unit_test(progress_of_all),
		cmocka_unit_test_setup_teardown(every_byte_of_the_head_and_the_table, image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(cut_off_anywhere, image_setup, image_teardown),
		cmocka_unit_test_setup_teardown(each_field_of_the_head, image_setup,
		                                image_teardown),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
