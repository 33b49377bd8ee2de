/* SPDX-License-Identifier: MIT
 * The caller gives a reload memory that a filter of the handle still uses. The reload would clear
 * the memory before the commit, so weir_reload_begin() fails. */
#include "../handles.h"

enum { LINE = 64, PAGE = 4096, PAGES = 3 }; /* a filter occupies one page */

static struct weir_params in_memory(void *at)
{
	struct weir_params p = { .struct_size = sizeof p, .max_bytes = PAGE,
	                         .capacity = PAGE / 2, .seed = 42, .memory = at,
	                         .memory_bytes = PAGE };
	return p;
}

static void swap(struct weir_handle *h, const struct weir_reload_options *o)
{
	struct weir_reload *r;
	assert_ok(weir_reload_begin(&r, h, o));
	assert_ok(weir_reload_commit(r));
}

/* Asserts that a reload fails and writes nothing if the memory of its next filter overlaps the page
 * at @at, which is in use. The memory begins at @at, or less than a page before or after it. */
static void expect_refused(struct weir_handle *h, char *at, const char *whose)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	const int moves[] = { 0, LINE, -LINE, PAGE - LINE, LINE - PAGE };
	struct weir_reload *none = NULL;
	char before[PAGES * PAGE];
	memcpy(before, at - PAGE, sizeof before);
	for (unsigned i = 0; i < COUNT_OF(moves); i++) {
		struct weir_params p = in_memory(at + moves[i]);
		o.params = &p;
		assert_refused(weir_reload_begin(&none, h, &o), -EINVAL, "params.memory", whose);
		assert_memory_equal(before, at - PAGE, sizeof before);
	}
	assert_null(none);
}

/* Replace the filter at @at. Until call_rcu frees the filter, no reload may use the memory. After
 * that, reloads may use the memory and the page after it. */
static void retired(const struct flavor *flavor, struct weir_handle *h, char *at,
                    struct weir_reload_options o)
{
	struct weir_params p = in_memory(at);
	struct weir_reload *r;
	struct sitter sitter;
	o.defer_free = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	sitter_start(&sitter, flavor->rcu);
	assert_ok(weir_reload_commit(r));
	expect_refused(h, at, "a filter that call_rcu has still to free");
	sitter_end(&sitter);
	expect_bytes(flavor, h, (o.keep_previous ? 2 : 1) * figures_of(h).bytes);
	o = (struct weir_reload_options)WEIR_RELOAD_OPTIONS_INIT;
	o.params = &p;
	swap(h, &o);
	p = in_memory(at + PAGE);
	swap(h, &o);
	p = in_memory(at);
	swap(h, &o);
}

static void test_memory_in_use_is_refused(void **state)
{
	char *memory = aligned_alloc(PAGE, PAGES * PAGE), *at = memory + PAGE;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	assert_non_null(memory);
	FOR_EACH_FLAVOR(flavor) {
		struct weir_params p = in_memory(at);
		struct weir_filter *f;
		struct weir_handle *h;
		memset(memory, 0x5a, PAGES * PAGE);
		flavor->rcu->register_thread();
		assert_ok(weir_create(&f, &p));
		assert_ok(handle_with(&h, f, flavor->given));
		insert_into(h, 0, 100);
		expect_refused(h, at, "the current filter");
		assert_int_equal(missing_in(h, 0, 100), 0);

		o.params = NULL;
		o.keep_previous = true;
		swap(h, &o);
		expect_refused(h, at, "the previous filter");
		assert_ok(weir_handle_rollback(h));
		assert_int_equal(missing_in(h, 0, 100), 0);

		o.keep_previous = false;
		retired(flavor, h, at, o);
		o.keep_previous = true;
		swap(h, &o);
		retired(flavor, h, at, o); /* the filter at @at is the previous filter now */
		close_handle(flavor, h);
	}
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_in_use_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
