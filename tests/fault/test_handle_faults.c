/* SPDX-License-Identifier: MIT
 * The n-th system call of weir fails, for every n, in each call of the list verbs: calls that
 * create, reload, refresh and roll back a handle, and some others. The call reports the failure in
 * an error text, or does without the system call. The current filter still has every key, the
 * handle accepts the next writer, and nothing leaks. */
#include <errno.h>
#include "faults.h"
#include "../handles.h"
#include "../sharded.h"

enum { MOST_CALLS = 500, KEYS = 300 };

static struct weir_handle *h;
static int level; /* zstd level of the image for a refresh */

static void save_image(void)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	o.zstd_level = level;
	assert_ok(weir_save(f, weir_location_path(path), &o));
	weir_destroy(f);
}

/* ---- the calls under test: none leaves a reload open ---- */

static int do_create(void)
{
	struct weir_handle *another;
	struct weir_filter *f = NULL;
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 100;
	p.fp_rate = 0.01;
	int err = weir_create(&f, &p);
	if (!err) {
		err = weir_handle_create(&another, f, NULL);
		if (err)
			weir_destroy(f); /* the test still owns the filter */
		else
			assert_ok(weir_handle_destroy(another));
	}
	return err;
}

static int keep(struct weir_handle *absent, bool text)
{
	return text ? weir_handle_insert(absent, "kept", 4) :
	              weir_handle_insert(absent, "kept", 4);
}

/* Insert into a handle without a set, then load its first set. */
static int load_first(struct weir_handle *absent, bool text)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload *r;
	p.capacity = 100;
	p.fp_rate = 0.01;
	o.params = &p;
	int err = keep(absent, text);
	if (err < 0) /* the failed insert used no capacity */
		assert_ok(keep(absent, text));
	else
		err = weir_reload_begin(&r, absent, &o);
	if (err < 0)
		return err;
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(absent, "kept", 4));
	return 0;
}

static int without_a_set(bool text)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *absent;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.absent = WEIR_ABSENT_YES;
	o.keep_inserts = 40; /* bytes for one key */
	int err = weir_handle_create(&absent, NULL, &o);
	if (err)
		return err;
	err = load_first(absent, text);
	assert_ok(weir_handle_destroy(absent));
	return err;
}

static int do_absent(void)
{
	return without_a_set(false);
}

static int do_absent_text(void)
{
	return without_a_set(true);
}

static int reload_with(const struct weir_params *params, bool commit)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.params = params;
	o.keep_previous = true;
	int err = weir_reload_begin(&r, h, &o);
	if (err)
		return err;
	unsigned calls = shim.calls;
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(i)));
	if (commit)
		assert_ok(weir_reload_commit(r));
	else
		weir_reload_abort(r);
	assert_int_equal(shim.calls, calls); /* no call here can fail */
	return 0;
}

static int do_reload(void) { return reload_with(NULL, true); }
static int do_abort(void) { return reload_with(NULL, false); }

static int do_resize(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 50000;
	p.fp_rate = 0.001;
	return reload_with(&p, true);
}

static int do_rollback(void) { return weir_handle_rollback(h); }
static int do_drop(void) { return weir_handle_drop_previous(h); }

static int do_refresh(void)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	o.carry = true;
	return weir_handle_refresh(h, path, &o);
}

static int do_fold(void)
{
	struct weir_filter *f, *folded;
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 100, p.max_bytes = 128;
	int err = weir_create(&f, &p);
	if (err)
		return err;
	err = weir_fold(&folded, f, 2);
	if (!err)
		weir_destroy(folded);
	weir_destroy(f);
	return err;
}

static int do_sharded(void)
{
	struct weir_handle *set;
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	int err = sharded_create(&set, &p, 4, NULL);
	if (!err)
		assert_ok(weir_handle_destroy(set));
	return err;
}

/* Insert and look up a text so long that weir hashes it piece by piece. */
static int do_long_text(void)
{
	static const char text[100000];
	struct weir_filter *f = NULL;
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 100;
	p.fp_rate = 0.01;
	p.text.steps = WEIR_TEXT_LOWERCASE;
	int err = weir_create(&f, &p);
	if (err)
		return err;
	err = weir_insert(f, text, sizeof text);
	if (err >= 0)
		err = weir_contains(f, text, sizeof text);
	weir_destroy(f);
	return err < 0 ? err : 0;
}

static int do_metrics(void)
{
	char text[4096];
	const struct weir_metrics sets[] = { weir_metrics_handle(h, "n=\"1\""),
	                                     weir_metrics_handle(h, "n=\"2\"") };
	int64_t n = weir_metrics_write(sets, 2, text, sizeof text);
	return n < 0 ? (int)n : 0;
}

/* Create a guard and a thread that asks the guard. */
static int do_guard(void)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct weir_guard *g;
	struct weir_guard_thread *t = NULL;
	o.handle = h;
	int err = weir_guard_create(&g, &o);
	if (err)
		return err;
	err = weir_guard_join(&t, g);
	assert_true(err || weir_guard_ask(t, "key", 3) != WEIR_GUARD_BYPASSED);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
	return err;
}

struct verb {
	const char *name;
	int (*run)(void);
	bool keeps,     /* run() needs a previous filter */
	        refreshes; /* run() needs an image file */
	int level;
	unsigned swaps; /* number of swaps of the filter if run() succeeds */
};

static const struct verb verbs[] = {
	{ .name = "create", .run = do_create },
	{ .name = "create without a set", .run = do_absent },
	{ .name = "create without a set, keep a text", .run = do_absent_text },
	{ .name = "create and fold a filter", .run = do_fold },
	{ .name = "create a sharded set", .run = do_sharded },
	{ .name = "insert and look up a long text", .run = do_long_text },
	{ .name = "metrics", .run = do_metrics },
	{ .name = "a guard", .run = do_guard },
	{ .name = "reload", .run = do_reload, .swaps = 1 },
	{ .name = "reload beside a previous one", .run = do_reload, .keeps = true, .swaps = 1 },
	{ .name = "reload to another size", .run = do_resize, .swaps = 1 },
	{ .name = "begin and abort", .run = do_abort },
	{ .name = "rollback", .run = do_rollback, .keeps = true, .swaps = 1 },
	{ .name = "drop", .run = do_drop, .keeps = true },
	{ .name = "refresh", .run = do_refresh, .refreshes = true, .swaps = 1 },
#if TEST_ZSTD
	{ .name = "refresh from a compressed file", .run = do_refresh, .refreshes = true,
	  .level = 1, .swaps = 1 },
#endif
};

static void prepare(const struct verb *verb)
{
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 10000, 0.01), NULL));
	if (verb->keeps)
		assert_ok(reload_with(NULL, true));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_handle_insert_hash(h, test_key(i)));
}

/* Call run() again without a failure. The handle must not remember a refusal that was not the
 * file's fault. */
static void again(const struct verb *verb)
{
	unsigned swaps = stats_of(h).swaps;
	assert_ok(verb->run());
	assert_int_equal(stats_of(h).swaps, swaps + verb->swaps);
	assert_int_equal(missing_in(h, 0, KEYS), 0);
}

/* Run the verb while its n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(const struct verb *verb, unsigned n, int error)
{
	char what[64];
	unsigned descriptors = open_descriptors();
	level = verb->level;
	if (verb->refreshes)
		save_image();
	shim.allocated = 0;
	shim.what = NULL;
	shim.armed = true;
	prepare(verb);
	struct weir_handle_stats before = stats_of(h);
	/* set another error text first, so that the check below notices a missing one */
	assert_int_equal(weir_handle_create(NULL, NULL, NULL), -EINVAL);
	shim.calls = 0;
	shim.at = n;
	shim.error = error;
	int answer = verb->run();
	shim.at = 0;
	snprintf(what, sizeof what, "%s", shim.what ? shim.what : "none");
	if (answer < 0 &&
	    (strstr(weir_error_detail(), "out is NULL") || !*weir_error_detail() || !shim.what))
		fail_msg("%s: call %u (%s, %s): answered %d, \"%s\"", verb->name, n, what,
		         strerror(error), answer, weir_error_detail());
	struct weir_handle_stats after = stats_of(h);
	assert_int_equal(after.swaps, before.swaps + (answer < 0 ? 0 : verb->swaps));
	assert_false(after.reloading);
	assert_int_equal(missing_in(h, 0, KEYS), 0);
	if (answer < 0) {
		assert_int_equal(after.generation, before.generation);
		assert_int_equal(after.bytes, before.bytes);
		assert_int_equal(after.refused, before.refused);
		assert_int_equal(after.previous_kept, verb->keeps);
		again(verb);
	}
	assert_ok(weir_handle_destroy(h));
	shim.armed = false;
	if (shim.allocated || open_descriptors() != descriptors || mappings_of(folder))
		fail_msg("%s: call %u (%s): %ld allocations, %u descriptors more, %u mappings",
		         verb->name, n, what, shim.allocated, open_descriptors() - descriptors,
		         mappings_of(folder));
	return strcmp(what, "none") != 0;
}

static void test_every_call_fails(void **state)
{
	/* weir itself uses some of these errors, such as EBADMSG, to refuse a file. From a system
	 * call they are ordinary errors. */
	static const int errors[] = { ENOMEM, EIO,    EMFILE, EACCES,  ENFILE, EAGAIN,
	                              EINVAL, EROFS,  ENOTSUP, EISDIR, EBADMSG, EBUSY,
	                              ECANCELED };
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++) {
			unsigned n = 1;
			if (test_is_short() && (v + e) % 3 != 0)
				continue;
			while (n < MOST_CALLS && fail_at(&verbs[v], n, errors[e]))
				n++;
			assert_in_range(n, 2, MOST_CALLS - 1);
			if (e == 0)
				print_message("%s: %u calls\n", verbs[v].name, n - 1);
		}
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_every_call_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
