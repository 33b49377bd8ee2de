/* SPDX-License-Identifier: MIT
 * Callers that were compiled with an older header, whose structs are shorter. No function reads
 * or writes beyond the end of a struct. Each struct ends where an unreadable page begins, with
 * every size that an older header may have. */
#include <sys/mman.h>
#include "../folder.h"
#include "../handles.h"
#include "../sharded.h"

enum { STEP = sizeof(size_t) };

static char *page, *end; /* page: a readable page; end: the unreadable page after it */
static struct weir_filter *filter;
static struct weir_handle *handle;
static struct weir_handle *sharded;

static int setup(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	long bytes = sysconf(_SC_PAGESIZE);
	page = mmap(NULL, (size_t)(2 * bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	            -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	end = page + bytes;
	assert_int_equal(mprotect(end, (size_t)bytes, PROT_NONE), 0);
	filter = test_filter(WEIR_BLOCKED, 10000, 0.01);
	handle = open_handle(flavors, 10000);
	p.capacity = 1000, p.fp_rate = 0.01;
	assert_ok(sharded_create(&sharded, &p, 2, NULL));
	(void)folder_setup(state);
	assert_ok(weir_save(filter, weir_location_path(path), NULL));
	return 0;
}

static int teardown(void **state)
{
	(void)folder_teardown(state);
	assert_ok(weir_handle_destroy(sharded));
	close_handle(flavors, handle);
	weir_destroy(filter);
	munmap(page, (size_t)(2 * (end - page)));
	return 0;
}

/* Copy the first @size bytes of the struct @whole to the end of the page, and set struct_size to
 * @size.
 * Return: the copy. */
static void *shortened(const void *whole, size_t size)
{
	memset(page, 0x5a, (size_t)(end - page));
	memcpy(end - size, whole, size);
	memcpy(end - size, &size, sizeof size);
	return end - size;
}

/* Evaluate @call with s as each shorter struct of the type. Asserts that @call changes neither
 * struct_size nor the bytes before the struct. */
#define WITH_EACH_OLDER(type, init, call) \
	do { \
		type newest = init; \
		for (size_t size = STEP; size <= sizeof newest; size += STEP) { \
			type *s = shortened(&newest, size); \
			assert_ok(call); \
			assert_int_equal(s->struct_size, size); \
			assert_int_equal(end[-(ptrdiff_t)size - 1], 0x5a); \
		} \
	} while (0)

static int build_reported(struct weir_build_report *report)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder *b;
	struct weir_filter *f = NULL;
	p.kind = WEIR_FUSE, p.fp_rate = 0.01;
	int err = weir_builder_create(&b, &p, NULL);
	if (err)
		return err;
	err = weir_builder_finish(&f, b, report);
	weir_builder_destroy(b);
	weir_destroy(f);
	return err;
}

static void test_outputs_fill_only_the_shorter_struct(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload *r;
	(void)state;
	p.capacity = 1000, p.fp_rate = 0.01;
	WITH_EACH_OLDER(struct weir_stats, WEIR_STATS_INIT, weir_measure(filter, WEIR_SAMPLED, s));
	WITH_EACH_OLDER(struct weir_stats, WEIR_STATS_INIT, weir_measure(filter, WEIR_EXACT, s));
	WITH_EACH_OLDER(struct weir_plan, WEIR_PLAN_INIT, weir_plan_make(&p, s));
	WITH_EACH_OLDER(struct weir_image_info, WEIR_IMAGE_INFO_INIT,
	                weir_image_inspect(weir_location_path(path), s));
	WITH_EACH_OLDER(struct weir_handle_stats, WEIR_HANDLE_STATS_INIT,
	                weir_handle_measure(handle, s, NULL));
	WITH_EACH_OLDER(struct weir_build_report, WEIR_BUILD_REPORT_INIT, build_reported(s));
	WITH_EACH_OLDER(struct weir_handle_stats, WEIR_HANDLE_STATS_INIT,
	                weir_handle_measure(sharded, s, NULL));
	assert_ok(weir_reload_begin(&r, handle, NULL));
	WITH_EACH_OLDER(struct weir_reload_stats, WEIR_RELOAD_STATS_INIT,
	                weir_reload_measure(r, s));
	weir_reload_abort(r);
}

/* The library fills every field that the caller's struct contains. */
static int measure_both(struct weir_handle_stats *whole, struct weir_stats *current)
{
	int err = weir_handle_measure(handle, whole, current);
	if (current->struct_size >= offsetof(struct weir_stats, capacity) + sizeof(uint64_t))
		assert_int_equal(current->capacity, 10000);
	return err;
}

static void test_both_statistics_of_a_handle_may_be_shorter(void **state)
{
	struct weir_handle_stats whole = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	(void)state;
	insert_into(handle, 0, 5000);
	WITH_EACH_OLDER(struct weir_stats, WEIR_STATS_INIT, measure_both(&whole, s));
	current.struct_size = sizeof current + 1;
	assert_refused(weir_handle_measure(handle, &whole, &current), -EINVAL,
	               "weir_stats.struct_size", "_INIT");
	current.struct_size = 0;
	assert_refused(weir_handle_measure(handle, &whole, &current), -EINVAL,
	               "weir_stats.struct_size 0", "_INIT");
}

static int create(const struct weir_handle_options *options)
{
	struct weir_handle *h;
	int err = weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.01), options);
	return err ? err : weir_handle_destroy(h);
}

static int reload(const struct weir_reload_options *options)
{
	struct weir_reload *r;
	int err = weir_reload_begin(&r, handle, options);
	if (!err)
		weir_reload_abort(r);
	return err;
}

static int follow(const struct weir_follow_options *options)
{
	struct weir_follower *f;
	int err = weir_follower_start(&f, handle, path, options);
	return err ? err : weir_follower_stop(f);
}

static int load(const struct weir_load_options *options)
{
	struct weir_filter *f;
	int err = weir_load(&f, weir_location_path(path), options);
	if (!err)
		weir_destroy(f);
	return err;
}

static void test_options_may_be_shorter(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	WITH_EACH_OLDER(struct weir_save_options, WEIR_SAVE_OPTIONS_INIT,
	                weir_save(filter, weir_location_path(path), s));
	WITH_EACH_OLDER(struct weir_load_options, WEIR_LOAD_OPTIONS_INIT, load(s));
	/* the saved filter is empty, so for the handle the set shrinks */
	save.marks = WEIR_MARK_SHRINK_ALLOWED;
	assert_ok(weir_save(filter, weir_location_path(path), &save));
	WITH_EACH_OLDER(struct weir_handle_options, WEIR_HANDLE_OPTIONS_INIT, create(s));
	WITH_EACH_OLDER(struct weir_reload_options, WEIR_RELOAD_OPTIONS_INIT, reload(s));
	WITH_EACH_OLDER(struct weir_refresh_options, WEIR_REFRESH_OPTIONS_INIT,
	                weir_handle_refresh(handle, path, s));
	WITH_EACH_OLDER(struct weir_follow_options, WEIR_FOLLOW_OPTIONS_INIT, follow(s));
}

static int by_reload(const struct weir_gate *gate)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	o.gate = gate;
	return reload(&o);
}

static int by_refresh(const struct weir_gate *gate)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	o.gate = gate;
	return weir_handle_refresh(handle, path, &o);
}

static int by_follow(const struct weir_gate *gate)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follow_options follow_options = WEIR_FOLLOW_OPTIONS_INIT;
	o.gate = gate;
	follow_options.refresh = &o;
	return follow(&follow_options);
}

/* Two option structs point to a gate, and each of the three structs has a struct_size. */
static void test_gates_may_be_shorter(void **state)
{
	struct weir_gate whole = WEIR_GATE_INIT;
	(void)state;
	WITH_EACH_OLDER(struct weir_gate, WEIR_GATE_INIT, by_reload(s));
	WITH_EACH_OLDER(struct weir_gate, WEIR_GATE_INIT, by_refresh(s));
	WITH_EACH_OLDER(struct weir_gate, WEIR_GATE_INIT, by_follow(s));
	/* the gate ignores a field beyond the end of the caller's struct */
	whole.min_keys = 1e9;
	assert_ok(by_reload(shortened(&whole, offsetof(struct weir_gate, min_keys))));
	whole.struct_size = sizeof whole + 1;
	assert_refused(by_reload(&whole), -EINVAL, "weir_gate.struct_size", "_INIT");
	assert_refused(by_refresh(&whole), -EINVAL, "weir_gate.struct_size", "_INIT");
	assert_refused(by_follow(&whole), -EINVAL, "weir_gate.struct_size", "_INIT");
	whole.struct_size = 0;
	assert_refused(by_reload(&whole), -EINVAL, "weir_gate.struct_size 0", "_INIT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs_fill_only_the_shorter_struct),
		cmocka_unit_test(test_both_statistics_of_a_handle_may_be_shorter),
		cmocka_unit_test(test_options_may_be_shorter),
		cmocka_unit_test(test_gates_may_be_shorter),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
