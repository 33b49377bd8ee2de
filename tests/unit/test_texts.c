/* SPDX-License-Identifier: MIT
 * Keys as people write them, through a handle. Each filter applies its own normalisation steps. The
 * steps of a file may differ from those of the current filter. A refresh accepts such a file only
 * if the program allows this. */
#include <weir/follow.h>
#include <weir/refresh.h>
#include <weir/reload.h>
#include "../folder.h"
#include "../handles.h"
#include "set/generation.h"

static const struct weir_text lower = { .steps = WEIR_TEXT_LOWERCASE };
static const struct weir_text nets = { .steps = WEIR_TEXT_CIDR, .ipv4 = 1u << 24 };

static struct weir_filter *of(const struct weir_text *n, const char *text)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 1000;
	p.fp_rate = 0.0001;
	p.seed = 7;
	if (n)
		p.text = *n;
	assert_ok(weir_create(&f, &p));
	if (text)
		assert_int_equal(weir_insert(f, text, strlen(text)), WEIR_NEW);
	return f;
}

static void save(const struct weir_text *n, const char *text)
{
	struct weir_filter *f = of(n, text);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static int asks(const struct weir_handle *h, const char *text)
{
	return weir_handle_contains(h, text, strlen(text));
}

static int inserts(struct weir_handle *h, const char *text)
{
	return weir_handle_insert(h, text, strlen(text));
}

static void have_its_steps(const struct flavor *flavor)
{
	struct weir_handle *h;
	flavor->rcu->register_thread();
	assert_ok(handle_with(&h, of(&lower, "Key"), flavor->given));
	assert_int_equal(asks(h, "KEY"), 1);
	/* numbers are never normalised */
	assert_false(weir_handle_contains_u64(h, UINT64_C(0x2079656b2079656b)));
	assert_int_equal(asks(h, "other"), 0);
	assert_int_equal(inserts(h, "OTHER"), WEIR_NEW);
	assert_int_equal(inserts(h, "other"), WEIR_SEEN);
	assert_int_equal(asks(h, "oTHER"), 1);
	assert_int_equal(weir_handle_insert(h, NULL, 0), WEIR_NEW);
	assert_int_equal(weir_handle_contains(h, NULL, 0), 1);
	close_handle(flavor, h);
}

static void test_each_filter_applies_its_own_steps(void **state)
{
	struct weir_handle *h;
	(void)state;
	FOR_EACH_FLAVOR(flavor)
		have_its_steps(flavor);

	assert_ok(weir_handle_create(&h, of(&nets, "192.0.2.0/24"), NULL));
	assert_int_equal(asks(h, "192.0.2.77"), 1);
	assert_int_equal(asks(h, "192.0.3.77"), 0);
	assert_int_equal(asks(h, "Key"), 0);
	assert_refused(inserts(h, "Key"), -EINVAL, "'Key'", "not an IP address");
	assert_int_equal(inserts(h, "192.0.9.77"), WEIR_NEW); /* a new prefix length */
	assert_int_equal(asks(h, "192.0.9.77"), 1);
	assert_int_equal(figures_of(h).lookups, 2);
	char longest[73];
	memset(longest, ' ', sizeof longest);
	memcpy(longest + 70, "::", 3);
	struct weir_filter *f = of(&(struct weir_text){ .steps = WEIR_TEXT_CIDR |
	                                                           WEIR_TEXT_TRIM }, NULL);
	assert_int_equal(weir_insert(f, longest, 72), WEIR_NEW);
	assert_true(weir_contains(f, "::", 2));
	weir_destroy(f);
	assert_int_equal(inserts(h, "192.0.3.0/24"), WEIR_NEW);
	assert_int_equal(asks(h, "::ffff:192.0.3.77"), 1);
	assert_ok(weir_handle_destroy(h));
}

/* Single inserts and batches are refused. The error message quotes only the beginning of a long
 * text. */
static void test_a_closed_set_refuses_new_lengths(void **state)
{
	const struct weir_text closed = { .steps = WEIR_TEXT_TRIM | WEIR_TEXT_CIDR |
		                                   WEIR_TEXT_CLOSED,
		                          .ipv4 = 1u << 24 };
	static char net[] = "192.0.4.0/24", other[] = "192.0.3.77";
	struct iovec texts[] = { { net, 12 }, { other, 10 } };
	struct weir_handle *h;
	(void)state;
	assert_ok(weir_handle_create(&h, of(&closed, "192.0.2.0/24"), NULL));
	assert_refused(inserts(h, other), -EINVAL, "'192.0.3.77'", "a prefix length");
	assert_refused(weir_handle_insert_keys(h, weir_keys_iov(texts, 2), NULL), -EINVAL,
	               "'192.0.3.77'", "a prefix length");
	char longest[73];
	memset(longest, ' ', sizeof longest);
	memcpy(longest + 70, "::", 3);
	assert_refused(inserts(h, longest), -EINVAL, "'   ", "a prefix length");
	assert_null(strstr(weir_error_detail(), "::"));
	assert_int_equal(asks(h, other), 0);
	assert_int_equal(figures_of(h).lookups, 1);
	/* this key precedes the refused key in the batch */
	assert_int_equal(asks(h, "192.0.4.77"), 1);
	assert_ok(weir_handle_destroy(h));
}

/* Fixed keys become addresses in a set with WEIR_TEXT_CIDR, even during a reload. A closed set that
 * refuses a kept key cannot become the first set, so the key is not lost. */
static void test_kept_keys_are_in_the_first_set(void **state)
{
	static const unsigned char four[2][4] = { { 10, 1, 2, 3 }, { 192, 0, 2, 9 } };
	const struct weir_keys addresses = weir_keys_fixed(four, 4, 2);
	struct weir_text closed = nets;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload_options ro = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	o.absent = WEIR_ABSENT_YES;
	o.keep_inserts = 1 << 20;
	p.capacity = 1000;
	p.fp_rate = 1e-6;
	p.text.steps = WEIR_TEXT_CIDR;
	ro.params = &p;
	for (unsigned beside = 0; beside < 2; beside++) {
		assert_ok(weir_handle_create(&h, NULL, &o));
		if (beside)
			assert_ok(weir_reload_begin(&r, h, &ro));
		assert_ok(weir_handle_insert_keys(h, addresses, NULL));
		if (!beside) {
			assert_ok(weir_handle_insert_keys(h, weir_keys_fixed("no address", 10, 1),
			                                  NULL));
			assert_int_equal(inserts(h, "no address"), WEIR_SEEN);
			assert_ok(weir_reload_begin(&r, h, &ro));
		}
		assert_ok(weir_reload_commit(r));
		assert_int_equal(weir_handle_contains_keys(h, addresses, NULL), 2);
		assert_int_equal(asks(h, "10.1.2.3"), 1);
		assert_int_equal(asks(h, "10.1.2.4"), 0);
		assert_ok(weir_handle_destroy(h));
	}
	closed.steps |= WEIR_TEXT_CLOSED;
	save(&closed, "192.0.2.0/24");
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_int_equal(inserts(h, "192.0.3.9"), WEIR_SEEN);
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, "'192.0.3.9'", "it is closed");
	assert_int_equal(asks(h, "192.0.3.9"), 1);
	save(&nets, "192.0.2.0/24");
	assert_ok(weir_handle_refresh(h, path, NULL));
	assert_int_equal(asks(h, "192.0.3.9"), 1);
	assert_int_equal(asks(h, "192.0.3.8"), 0);
	assert_ok(weir_handle_destroy(h));
}

static void test_a_plan_counts_the_keys_of_a_lookup(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.lookups, 1);
	p.text = (struct weir_text){ .steps = WEIR_TEXT_CIDR, .ipv4 = 7u << 22, .ipv6 = { 3 } };
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.lookups, 3);
}

/* [DUAL-WRITE]: an insert reaches the current, the next and the previous filter. */
static void test_texts_are_inserted_into_every_filter(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	struct weir_handle *h;
	(void)state;
	assert_ok(weir_handle_create(&h, of(&lower, NULL), NULL));
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_int_equal(inserts(h, "During"), WEIR_NEW);
	assert_int_equal(asks(h, "during"), 1);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(asks(h, "during"), 1);
	assert_int_equal(inserts(h, "After"), WEIR_NEW);
	assert_ok(weir_handle_rollback(h));
	assert_int_equal(asks(h, "during") + asks(h, "after"), 2);
	assert_ok(weir_handle_destroy(h));
}

/* Single inserts and batches stop at a wrong text. Earlier keys of the batch are inserted. */
static void test_wrong_texts_are_refused_during_a_reload(void **state)
{
	static char net[] = "10.1.0.0/24", bad[] = "nonsense";
	struct iovec texts[] = { { net, 11 }, { bad, 8 }, { net, 11 } };
	struct weir_reload *r;
	struct weir_handle *h;
	const uint64_t hash = 7;
	(void)state;
	assert_ok(weir_handle_create(&h, of(&nets, NULL), NULL));
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_refused(inserts(h, bad), -EINVAL, "'nonsense'", "IP address");
	assert_refused(weir_handle_insert_keys(h, weir_keys_iov(texts, 3), NULL), -EINVAL,
	               "'nonsense'", "IP address");
	assert_int_equal(weir_error_taken(), 1);
	assert_refused(weir_handle_insert_keys(h, weir_keys_fixed(bad, 5, 1), NULL), -EINVAL,
	               "5 bytes", "4 or 16");
	assert_refused(weir_reload_insert(r, bad, 8), -EINVAL, "'nonsense'", "IP address");
	assert_refused(weir_reload_insert_hash(r, hash), -EINVAL, "a hash", "the text");
	assert_ok(weir_reload_commit(r));
	assert_int_equal(asks(h, "10.1.0.9"), 1);
	assert_ok(weir_handle_destroy(h));
}

static void test_a_reload_cannot_change_the_steps(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload *r = NULL;
	struct weir_handle *h;
	(void)state;
	p.capacity = 1000, p.fp_rate = 0.0001, p.text = nets;
	o.params = &p;
	assert_ok(weir_handle_create(&h, of(&lower, NULL), NULL));
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "params.text", "cidr");
	assert_ok(weir_handle_destroy(h));
}

/* The first set is closed (WEIR_TEXT_CLOSED). A kept key of 4 or 16 bytes becomes an address of a
 * new length, so the set refuses it. The set ignores a kept key that cannot be an address. */
static void test_kept_fixed_keys_become_addresses(void **state)
{
	static const unsigned char four[] = { 192, 0, 3, 9 };
	static const struct { const void *key; size_t width; bool taken; } kept[] = {
		{ four, 4, false }, { "sixteen bytes of", 16, false }, { "five!", 5, true },
	};
	struct weir_text closed = nets;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	o.absent = WEIR_ABSENT_NO;
	o.keep_inserts = 1 << 20;
	closed.steps |= WEIR_TEXT_CLOSED;
	for (unsigned i = 0; i < COUNT_OF(kept); i++) {
		const struct weir_keys one = weir_keys_fixed(kept[i].key, kept[i].width, 1);
		assert_ok(weir_handle_create(&h, NULL, &o));
		assert_ok(weir_handle_insert_keys(h, one, NULL));
		save(&closed, "192.0.2.0/24");
		assert_int_equal(weir_handle_refresh(h, path, NULL), kept[i].taken ? 1 : -EINVAL);
		if (!kept[i].taken) { /* a set without steps accepts every key */
			save(NULL, NULL);
			assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
			assert_int_equal(weir_handle_contains_keys(h, one, NULL), 1);
		}
		assert_ok(weir_handle_destroy(h));
	}
	const struct weir_text names = { .steps = WEIR_TEXT_SUFFIXES | WEIR_TEXT_CLOSED,
		                         .labels = { 2 } };
	save(&names, "com");
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_ok(weir_handle_insert_keys(h, weir_keys_fixed("a.b.c", 5, 1), NULL));
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, "a number of labels", "closed");
	assert_ok(weir_handle_destroy(h));
}

/* The flag is needed, because otherwise a wrong file could be published by mistake. Then
 * weir_handle_contains() would answer no for every key that a server asks for. */
static void test_a_file_with_other_steps_needs_a_flag(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *h;
	(void)state;
	save(&nets, "192.0.2.0/24");
	assert_ok(weir_handle_create(&h, of(&lower, "Key"), &o));
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, "by cidr",
	               "WEIR_HANDLE_ANY_STEPS");
	assert_int_equal(asks(h, "KEY"), 1);
	assert_ok(weir_handle_destroy(h));

	o.flags = WEIR_HANDLE_ANY_STEPS;
	assert_ok(weir_handle_create(&h, of(&lower, "Key"), &o));
	refresh.carry = true; /* filters with different steps cannot be merged */
	assert_refused(weir_handle_refresh(h, path, &refresh), -EINVAL, "lowercase", "cidr");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	save(&nets, "192.0.2.0/24");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(asks(h, "192.0.2.1"), 1);
	save(NULL, "KEY");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(asks(h, "KEY"), 1);
	assert_int_equal(asks(h, "key"), 0);
	assert_ok(weir_handle_destroy(h));
	unlink(path);
}

/* The handle keeps the texts before it knows the normalisation steps of the file. The file has no
 * key with the prefix length of a kept text. */
static void test_kept_texts_are_found_in_the_first_file(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	o.absent = WEIR_ABSENT_NO;
	o.keep_inserts = 4096;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_int_equal(inserts(h, "198.51.100.9"), WEIR_NEW);
	assert_int_equal(inserts(h, "2001:db8::/32"), WEIR_NEW);
	assert_int_equal(inserts(h, "no address"), WEIR_NEW);
	assert_int_equal(weir_handle_insert_u64(h, 8), WEIR_NEW);
	assert_int_equal(asks(h, "198.51.100.9"), 0);
	save(&nets, "192.0.2.0/24");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(asks(h, "192.0.2.77"), 1);
	assert_int_equal(asks(h, "198.51.100.9"), 1);
	assert_int_equal(asks(h, "198.51.100.8"), 0);
	assert_int_equal(asks(h, "2001:db8::7"), 1);
	assert_int_equal(asks(h, "no address"), 0);
	assert_true(weir_handle_contains_u64(h, 8));
	assert_ok(weir_handle_destroy(h));

	o.absent = WEIR_ABSENT_YES;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_int_equal(inserts(h, "Key"), WEIR_SEEN);
	assert_int_equal(asks(h, "whatever"), 1);
	save(&lower, "other");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(asks(h, "kEY") + asks(h, "OTHER"), 2);
	assert_int_equal(asks(h, "whatever"), 0);
	assert_ok(weir_handle_destroy(h));
	unlink(path);
}

enum way { RELOAD, REFRESH, FOLLOW, WAYS };

/* Publish the first set, in which domains have at most two labels. */
static void have_a_first_set(struct weir_handle *h, enum way way)
{
	const struct weir_text domains = { .steps = WEIR_TEXT_SUFFIXES };
	struct weir_follow_options follow = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_follower *f;
	struct weir_reload *r;
	o.next = of(&domains, "example.org");
	assert_ok(weir_save(o.next, weir_location_path(path), NULL));
	if (way == RELOAD) {
		assert_ok(weir_reload_begin(&r, h, &o));
		assert_ok(weir_reload_commit(r));
		return;
	}
	weir_destroy(o.next);
	if (way == REFRESH) {
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
		return;
	}
	assert_ok(weir_follower_start(&f, h, path, &follow));
	while (stats_of(h).absent)
		usleep(1000);
	assert_ok(weir_follower_stop(f));
}

/* A lookup probes only keys whose number of labels is recorded in the set. So the first set must
 * also record the numbers of labels of the kept texts. */
static void test_the_first_set_has_the_lengths_of_kept_texts(void **state)
{
	static char one[] = "test", four[] = "a.b.c.net", five[] = "d.a.b.c.com";
	struct iovec batch[] = { { one, 4 }, { four, 9 } };
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	o.absent = WEIR_ABSENT_NO;
	o.keep_inserts = 4096;
	for (enum way way = RELOAD; way < WAYS; way++) {
		assert_ok(weir_handle_create(&h, NULL, &o));
		assert_int_equal(weir_handle_insert_keys(h, weir_keys_iov(batch, 2), NULL), 2);
		assert_int_equal(inserts(h, five), WEIR_NEW);
		have_a_first_set(h, way);
		assert_int_equal(asks(h, "www.example.org"), 1);
		assert_int_equal(asks(h, "a.b.c.d.e.f.test"), 1);
		assert_int_equal(asks(h, four) + asks(h, "x.y.a.b.c.net"), 2);
		assert_int_equal(asks(h, five) + asks(h, "x.d.a.b.c.com"), 2);
		assert_int_equal(asks(h, "b.c.net") + asks(h, "a.b.c.com"), 0);
		assert_int_equal(figures_of(h).lookups, 4);
		assert_ok(weir_handle_destroy(h));
		unlink(path);
	}
}

/* A lookup probes only prefix lengths that the filter has recorded. The next filter has no key of
 * the text's length, so the replay must record this length. */
static void test_replaying_a_kept_text_records_its_length(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	const struct weir_given text = { .key = "203.0.113.9", .len = 11 };
	struct weir_filter *placeholder, *next = of(&nets, NULL);
	struct weir_absence *a;
	uint64_t dropped;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	o.absent = WEIR_ABSENT_YES;
	o.keep_inserts = 4096;
	assert_ok(weir__absence_make(&a, &placeholder, &o));
	assert_int_equal(weir__absence_keep(a, &text), WEIR_SEEN);
	/* the handle keeps the second insert, too */
	assert_int_equal(weir__absence_keep(a, &text), WEIR_SEEN);
	assert_false(weir_contains(next, text.key, text.len));
	assert_ok(weir__absence_replay(a, next, &dropped));
	assert_int_equal(dropped, 0);
	assert_true(weir_contains(next, text.key, text.len));
	weir__absence_free(a);
	weir_destroy(placeholder);
	weir_destroy(next);

	o.keep_inserts = 8; /* too small for any key */
	assert_ok(weir__absence_make(&a, &placeholder, &o));
	assert_refused(weir__absence_keep(a, &text), -ENOBUFS, "keep_inserts 8", "11 bytes");
	weir__absence_free(a);
	weir_destroy(placeholder);
}

/* A set that normalises texts refuses hashes even if it takes inserts. Nevertheless the error says
 * that the set is read-only. */
static void test_a_read_only_set_reports_that_it_is_read_only(void **state)
{
	const struct iovec text = { (char[]){ "a.example" }, 9 };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	const uint64_t hash = 7;
	(void)state;
	p.capacity = 100, p.fp_rate = 0.01;
	p.text.steps = WEIR_TEXT_SUFFIXES;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_refused(weir_insert(f, "a.example", 9), -EROFS, "read-only", "");
	assert_refused(weir_insert_u64(f, 7), -EROFS, "read-only", "");
	assert_refused(weir_insert_hash(f, 7), -EROFS, "read-only", "");
	assert_refused(weir_insert_keys(f, weir_keys_iov(&text, 1), NULL), -EROFS, "read-only", "");
	assert_refused(weir_insert_keys(f, weir_keys_hashes(&hash, 1), NULL), -EROFS, "read-only",
	               "");
	assert_refused(weir_fill_keys(f, weir_keys_hashes(&hash, 1)), -EROFS, "read-only", "");
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_filter_applies_its_own_steps),
		cmocka_unit_test(test_a_closed_set_refuses_new_lengths),
		cmocka_unit_test(test_kept_keys_are_in_the_first_set),
		cmocka_unit_test(test_a_plan_counts_the_keys_of_a_lookup),
		cmocka_unit_test(test_texts_are_inserted_into_every_filter),
		cmocka_unit_test(test_wrong_texts_are_refused_during_a_reload),
		cmocka_unit_test(test_a_reload_cannot_change_the_steps),
		cmocka_unit_test(test_kept_fixed_keys_become_addresses),
		cmocka_unit_test(test_a_file_with_other_steps_needs_a_flag),
		cmocka_unit_test(test_kept_texts_are_found_in_the_first_file),
		cmocka_unit_test(test_the_first_set_has_the_lengths_of_kept_texts),
		cmocka_unit_test(test_replaying_a_kept_text_records_its_length),
		cmocka_unit_test(test_a_read_only_set_reports_that_it_is_read_only),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
