/* SPDX-License-Identifier: MIT
 * Images of windows in use: streams, secrets, advances after a number of keys, timers, progress,
 * and errors. */
#include <sys/mman.h>
#include "window_image.h"

static void images_can_be_streamed(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	const struct weir_load_options load = load_options();
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_filter *w = lived(&o, 2), *back = NULL;
		int fd = memfd_create("windows", 0);
		size_t n = 0;
		save.zstd_level = shape % 2 && TEST_ZSTD;
		assert_int_equal(write(fd, "before", 6), 6);
		assert_ok(weir_save(w, weir_location_fd(fd), &save));
		assert_int_equal(write(fd, "behind", 6), 6);
		assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
		assert_ok(weir_image_verify(weir_location_fd(fd), NULL, NULL));
		assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
		assert_ok(weir_load(&back, weir_location_fd(fd), &load));
		assert_alike(w, back, 2);
		weir_destroy(back);
		close(fd);
		assert_ok(weir_save(w, weir_location_path(path), &save));
		unsigned char *bytes = image_slurp(path, &n);
		assert_ok(weir_load(&back, weir_location_memory(bytes, n), &load));
		assert_alike(w, back, 2);
		free(bytes);
		weir_destroy(w);
		weir_destroy(back);
	}
}

static size_t member_at(const unsigned char *bytes, unsigned i)
{
	size_t at = IMAGE_PAGE;
	for (; i > 0; i--)
		at += (image_get(bytes + at + 96, 8) + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	return at;
}

/* [WINDOW-BLOCKED]: the image of a generation has the keys of that generation. */
static void each_member_is_a_blocked_filter(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_filter *w = lived(&o, o.window.generations - 1);
		size_t n = 0;
		assert_ok(weir_save(w, weir_location_path(path), NULL));
		unsigned char *bytes = image_slurp(path, &n);
		int fd = open(path, O_RDONLY);
		for (unsigned g = 0; g < o.window.generations; g++) {
			const unsigned age = o.window.generations - 1 - g;
			struct weir_filter *f = NULL;
			off_t at = (off_t)member_at(bytes, g);
			assert_int_equal(lseek(fd, at, SEEK_SET), at);
			assert_ok(weir_load(&f, weir_location_fd(fd), NULL));
			for (unsigned i = 0; i < KEYS; i++)
				assert_true(weir_contains_u64(f, key(age, i)));
			weir_destroy(f);
		}
		close(fd);
		free(bytes);
		weir_destroy(w);
	}
}

static void save_options_apply_to_streams(void **state)
{
	const struct weir_params o = options(3, 0);
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *w = lived(&o, 1);
	unsigned char head[IMAGE_TABLE];
	int fd = memfd_create("image", 0);
	(void)state;
	save.generation = 77;
	assert_ok(weir_save(w, weir_location_fd(fd), &save));
	assert_int_equal(pread(fd, head, sizeof head, 0), sizeof head);
	assert_int_equal(image_get(head + IMAGE_GENERATION, 8), 77);
	close(fd);
	weir_destroy(w);
}

static void keyed_windows_need_their_secret(void **state)
{
	static const unsigned char secret[16] = "fifteen letters", other[16] = "fifteen others.";
	struct weir_params o = options(5, 0);
	struct weir_load_options load = load_options();
	struct weir_stats whole = WEIR_STATS_INIT;
	struct weir_filter *w, *back = NULL;
	int age = -2;
	(void)state;
	o.seed = 0;
	o.secret = secret;
	w = lived(&o, 3);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	assert_refused(weir_load(&back, weir_location_path(path), &load), -EKEYREJECTED, path,
	               "keyed");
	load.secret = other;
	assert_refused(weir_load(&back, weir_location_path(path), &load), -EKEYREJECTED, path,
	               "another key");
	load.secret = secret;
	back = loaded_from(path, &load);
	assert_alike(w, back, 3);
	load.secret = NULL;
	load.run.timer = true; /* no effect, because only a loaded window has a timer */
	assert_ok(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &load, &whole));
	assert_true(whole.fill == figures_of(w).fill);
	weir_destroy(back);
	/* without the secret every key is reported as present, but the fill of each generation is
	 * known */
	load = load_options();
	load.keyless = true;
	back = loaded_from(path, &load);
	assert_memory_equal(stats_of(back).fill, stats_of(w).fill, sizeof stats_of(w).fill);
	assert_true(weir_contains(back, "any", 3) && weir_contains_u64(back, 1));
	assert_int_equal(weir_age(back, "any", 3), 0);
	assert_int_equal(weir_age_u64(back, 1), 0);
	assert_int_equal(weir_age_hash(back, 1), 0);
	assert_int_equal(weir_age_keys(back, weir_keys_fixed("any", 3, 1), &age), 1);
	assert_int_equal(age, 0);
	assert_int_equal(weir_insert(back, "any", 3), -EROFS);
	weir_destroy(w);
	weir_destroy(back);
}

/* A window that counts only a sample of the keys continues the sample after a load. */
static void a_loaded_window_continues_its_count(void **state)
{
	static const uint64_t each[] = { 500, 200000 };
	const struct weir_load_options load = load_options();
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(each); i++) {
		struct weir_params o = options(3, 0);
		o.window.span_seconds = 0;
		o.capacity = 3 * each[i];
		o.window.generation_keys = each[i];
		struct weir_filter *w = make(&o), *back;
		uint64_t n = 0, more = 0;
		for (; n < each[i] / 2; n++)
			(void)weir_insert_u64(w, test_key(n));
		assert_ok(weir_save(w, weir_location_path(path), NULL));
		back = loaded_from(path, &load);
		assert_true(stats_of(back).keys_counted == stats_of(w).keys_counted);
		assert_true(fabs((double)stats_of(w).keys_counted / (double)n - 1) < 0.05);
		while (weir_window_tick(back) == 0 && more < each[i])
			(void)weir_insert_u64(back, test_key(n + more++));
		assert_true(fabs((double)(n + more) / (double)each[i] - 1) < 0.05);
		struct weir_load_options older = load;
		struct weir_filter *none = NULL;
		older.run.forget_older = 1;
		assert_refused(weir_load(&none, weir_location_path(path), &older), -EINVAL, path,
		               "by number alone");
		weir_destroy(w);
		weir_destroy(back);
	}
}

/* Only a window has generations. */
static void windows_cannot_be_published_or_mapped(void **state)
{
	struct weir_params o = options(4, 0);
	struct weir_filter *w = lived(&o, 1), *f = NULL;
	struct weir_handle *h = NULL;
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_window_stats ages = WEIR_WINDOW_STATS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	size_t n = 0;
	(void)state;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	unsigned char *bytes = image_slurp(path, &n);
	unsigned char *aligned = aligned_alloc(64, (n + 63) / 64 * 64);
	assert_non_null(aligned);
	memcpy(aligned, bytes, n);
	assert_refused(weir_load(&f, weir_location_map_memory(aligned, n), NULL), -ENOTSUP,
	               "memory", "be mapped");
	free(aligned);
	for (int mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++)
		assert_refused(weir_load(&f, weir_location_map(path, (enum weir_map_mode)mode),
		                         NULL),
		               -ENOTSUP, path,
		               "kind window cannot be mapped: load it");
	assert_ok(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL, &stats));
	assert_true(stats.bytes == figures_of(w).bytes && stats.fill == figures_of(w).fill);
	ho.absent = WEIR_ABSENT_NO;
	ho.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOTSUP, "window", "WEIR_CAN_PUBLISH");
	assert_non_null(strstr(weir_error_detail(), path));
	assert_ok(weir_handle_destroy(h));
	h = NULL;
	assert_refused(weir_handle_create(&h, w, NULL), -ENOTSUP, "window", "WEIR_CAN_PUBLISH");
	assert_null(h);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.shape.kind == WEIR_WINDOW && info.shape.field[1] == 4 &&
	            info.format == 3 && info.capacity == o.capacity && info.fp_rate == 0.01);
	assert_string_equal(weir_kind_name(WEIR_WINDOW), "window");
	f = test_filter(WEIR_BLOCKED, 100, 0.01);
	assert_refused(weir_window_advance(f), -ENOTSUP, "kind blocked", "advance");
	assert_refused(weir_window_tick(f), -ENOTSUP, "kind blocked", "advance");
	assert_refused(weir_window_measure(f, WEIR_SAMPLED, &ages), -ENOTSUP, "kind blocked",
	               "generations");
	weir_destroy(f);
	weir_destroy(w);
	free(bytes);
}

static void wrong_options_are_refused(void **state)
{
	struct weir_params o = options(7, 0);
	struct weir_filter *w = lived(&o, 1), *none = NULL;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT, bad = load;
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	assert_refused(weir_save(w, weir_location_path(NULL), NULL), -EINVAL, "path", "NULL");
	save.marks = WEIR_MARK_OVERFULL_ALLOWED;
	assert_refused(weir_save(w, weir_location_path(path), &save), -EINVAL, "marks", "0x2");
	save.marks = 0;
	save.zstd_level = 20;
	assert_refused(weir_save(w, weir_location_fd(1), &save), -EINVAL, "zstd_level", "20");
	assert_refused(weir_save(w, weir_location_fd(12345), NULL), -EBADF, "12345", "not open");
	assert_refused(weir_load(NULL, weir_location_path(path), NULL), -EINVAL, "out", "NULL");
	bad.max_bytes = figures_of(w).bytes - 1;
	assert_refused(weir_load(&none, weir_location_path(path), &bad), -EFBIG, path, "max_bytes");
	bad.max_bytes++;
	assert_ok(weir_load(&none, weir_location_path(path), &bad));
	weir_destroy(none);
	none = NULL;
	bad = load;
	bad.flags = 1u << 30;
	assert_refused(weir_load(&none, weir_location_path(path), &bad), -EINVAL, "flags", "");
	bad = load;
	bad.run.timer = true;
	bad.run.clock = test_clock;
	assert_refused(weir_load(&none, weir_location_path(path), &bad), -EINVAL, "timer", "clock");
	bad = load;
	bad.run.reserved = 2;
	assert_refused(weir_load(&none, weir_location_path(path), &bad), -EINVAL, "reserved", "2");
	bad = load;
	bad.struct_size = 4096;
	assert_refused(weir_load(&none, weir_location_path(path), &bad), -EINVAL, "struct_size",
	               "4096");
	assert_refused(weir_load(&none, weir_location_memory(NULL, 5), NULL), -EINVAL, "NULL", "5");
	assert_refused(weir_load(&none, weir_location_path(folder), NULL), -EISDIR, folder, "");
	assert_null(none);
	weir_destroy(w);
}

/* The timer's period is 1 ms. */
static void a_loaded_window_may_have_a_timer(void **state)
{
	struct weir_params o = options(3, 0);
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *w, *back = NULL;
	(void)state;
	o.window.span_seconds = 0.002;
	w = make(&o);
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	load.run.timer = 1;
	assert_ok(weir_load(&back, weir_location_path(path), &load));
	while (stats_of(back).advances < 5)
		usleep(500);
	weir_destroy(w);
	weir_destroy(back);
}

static size_t resident_bytes(void)
{
	size_t pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%*u %zu", &pages), 1);
	fclose(statm);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Return: the bytes of resident memory that the load adds. */
static size_t taken_by_load(uint32_t flags)
{
	struct weir_load_options load = load_options();
	load.flags = flags;
	size_t before = resident_bytes();
	struct weir_filter *w = loaded_from(path, &load);
	size_t taken = resident_bytes() - before;
	weir_destroy(w);
	return taken;
}

/* A ring has one generation more than lookups read. WEIR_PREFAULT also touches the pages of that
 * generation. */
static void memory_flags_apply_to_every_generation(void **state)
{
	struct weir_params o = options(2, WEIR_WINDOW_RING);
	struct weir_load_options load = load_options();
	struct weir_filter *untouched = NULL;
	(void)state;
	if (TEST_SANITIZED)
		skip(); /* the sanitizer's own memory would count */
	o.capacity = 4000000;
	struct weir_filter *w = make(&o);
	const size_t third = figures_of(w).bytes / 3;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	weir_destroy(w);
	const size_t read = taken_by_load(WEIR_NO_HUGE_PAGES);
	const size_t all = taken_by_load(WEIR_NO_HUGE_PAGES | WEIR_PREFAULT);
	assert_true(read < third * 5 / 2 && all > third * 11 / 4);
	load.flags = WEIR_HUGETLB | WEIR_NO_HUGE_PAGES;
	assert_refused(weir_load(&untouched, weir_location_path(path), &load), -EINVAL, "flags",
	               "0x3");
	load.flags = WEIR_HUGETLB; /* succeeds if the machine has a pool of huge pages */
	int err = weir_load(&w, weir_location_path(path), &load);
	assert_true(err == 0 || (err == -ENOMEM && strstr(weir_error_detail(), "huge-page pool")));
	if (!err)
		weir_destroy(w);
}

/* A measurement enters no read section, so its thread need not register. */
static void a_measurement_needs_no_flavor(void **state)
{
	static const void *const none[64]; /* a flavor without functions */
	struct weir_params o = options(4, 0);
	struct weir_load_options load = load_options();
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_filter *w = lived(&o, 1);
	(void)state;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	weir_destroy(w);
	load.run.flavor = (const void *)none;
	assert_ok(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &load, &s));
	assert_int_equal(s.shape.field[1], 4);
	s.struct_size = 1;
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &load, &s),
	               -EINVAL, "weir_stats", "1");
}

static uint64_t last_done, last_total;

static int progress(void *arg, uint64_t done, uint64_t total)
{
	assert_true(done >= last_done && done <= total);
	last_done = done;
	last_total = total;
	return arg != NULL;
}

static void progress_counts_all_generations(void **state)
{
	struct weir_params o = options(7, 0);
	struct weir_load_options load = load_options();
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *w = lived(&o, 2), *back = NULL;
	(void)state;
	save.progress = load.progress = progress;
	last_done = 0;
	assert_ok(weir_save(w, weir_location_path(path), &save));
	assert_true(last_done == last_total && last_total);
	last_done = 0;
	back = loaded_from(path, &load);
	assert_true(last_done == last_total);
	weir_destroy(back);
	back = NULL;
	load.progress_arg = save.progress_arg = &last_done;
	last_done = 0;
	assert_int_equal(weir_load(&back, weir_location_path(path), &load), -ECANCELED);
	last_done = 0;
	assert_int_equal(weir_save(w, weir_location_path(path), &save), -ECANCELED);
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	weir_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_can_be_streamed),
		cmocka_unit_test(each_member_is_a_blocked_filter),
		cmocka_unit_test(save_options_apply_to_streams),
		cmocka_unit_test(keyed_windows_need_their_secret),
		cmocka_unit_test(a_loaded_window_continues_its_count),
		cmocka_unit_test(windows_cannot_be_published_or_mapped),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(a_loaded_window_may_have_a_timer),
		cmocka_unit_test(memory_flags_apply_to_every_generation),
		cmocka_unit_test(a_measurement_needs_no_flavor),
		cmocka_unit_test(progress_counts_all_generations),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
