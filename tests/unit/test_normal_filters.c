/* SPDX-License-Identifier: MIT
 * Filters that normalise their keys: lookups, inserts, images, copies, merges and refreshes. */
#include <errno.h>
#include <stdlib.h>
#include "../folder.h"
#include "../handles.h"
#include "../test.h"

static struct weir_filter *with(const struct weir_text *t)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 10000;
	params.fp_rate = 1e-9;
	params.kind = WEIR_CLASSIC;
	params.seed = 1;
	params.text = *t;
	assert_ok(weir_create(&f, &params));
	return f;
}

static struct weir_filter *empty(uint32_t steps)
{
	return with(&(struct weir_text){ .steps = steps });
}

static void put(struct weir_filter *f, const char *text)
{
	assert_int_equal(weir_insert(f, text, strlen(text)), WEIR_NEW);
}

static int has(const struct weir_filter *f, const char *text)
{
	return weir_contains(f, text, strlen(text));
}

/* Asserts that a set that contains only @had refuses @text if it is closed (WEIR_TEXT_CLOSED), and
 * accepts @text if it is not closed.
 * @why: part of the error message. */
static void refuses(uint32_t steps, const char *had, const char *text, const char *why)
{
	struct weir_filter *f = empty(steps), *closed;
	struct weir_text t;
	put(f, had);
	weir_text_of(f, &t);
	t.steps |= WEIR_TEXT_CLOSED;
	closed = with(&t);
	put(closed, had);
	assert_refused(weir_insert(closed, text, strlen(text)), -EINVAL, text, why);
	assert_int_equal(weir_insert(f, text, strlen(text)), WEIR_NEW);
	assert_int_equal(has(f, text), 1);
	weir_destroy(f);
	weir_destroy(closed);
}

static void a_prefix_covers_its_addresses(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_TRIM | WEIR_TEXT_CIDR);
	(void)state;
	assert_int_equal(has(f, "10.0.0.1"), 0); /* the set has no prefix length yet */
	put(f, "10.0.0.0/8");
	put(f, "192.0.2.128/25");
	put(f, "2001:db8::/32");
	put(f, "::1");
	assert_int_equal(has(f, " 10.255.0.1\r"), 1);
	assert_int_equal(has(f, "::ffff:10.1.2.3"), 1);
	assert_int_equal(has(f, "10.0.0.0/9"), 1);
	assert_int_equal(has(f, "10.0.0.0/7"), 0); /* a larger network than 10.0.0.0/8 */
	assert_int_equal(has(f, "11.0.0.1"), 0);
	assert_int_equal(has(f, "192.0.2.129"), 1);
	assert_int_equal(has(f, "192.0.2.127"), 0);
	assert_int_equal(has(f, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), 1);
	assert_int_equal(has(f, "2001:db9::"), 0);
	assert_int_equal(has(f, "::1"), 1);
	assert_int_equal(has(f, "::2"), 0);
	assert_int_equal(has(f, "no address"), 0);
	assert_refused(weir_insert(f, "no address", 10), -EINVAL, "no address", "IP address");
	refuses(WEIR_TEXT_CIDR, "10.0.0.0/8", "1.2.3.0/24", "a prefix length");
	put(f, "0.0.0.0/0");
	assert_int_equal(has(f, "203.0.113.9"), 1);
	assert_int_equal(has(f, "::2"), 0); /* 0.0.0.0/0 does not cover IPv6 addresses */
	put(f, "::/0");
	assert_int_equal(has(f, "ff02::2"), 1);
	weir_destroy(f);
}

static void an_address_is_not_lowercased(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_CIDR | WEIR_TEXT_LOWERCASE);
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	char room[WEIR_TEXT_ROOM(11)];
	(void)state;
	put(f, "65.66.67.68"); /* the bytes of "ABCD" */
	assert_true(has(f, "65.66.67.68"));
	assert_false(has(f, "97.98.99.100"));
	assert_int_equal(weir_text_matches(f, "65.66.67.68", 11, room, keys), 1);
	put(f, "2001:DB8::4142");
	assert_true(has(f, "2001:db8::4142"));
	assert_false(has(f, "2001:db8::6162"));
	weir_destroy(f);
}

/* With every prefix length of both address families, a lookup makes the largest possible number of
 * keys. */
static void a_lookup_may_probe_every_length(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_CIDR);
	struct weir_text n = { .steps = WEIR_TEXT_CIDR };
	char room[4096];
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	(void)state;
	n.ipv4 = (UINT64_C(1) << 33) - 1;
	n.ipv6[0] = n.ipv6[1] = UINT64_MAX;
	n.ipv6[2] = 1;
	assert_int_equal(weir_text_most(&n), WEIR_TEXT_LOOKUPS);
	assert_int_equal(weir_text_lookups(&n, "::1", 3, room, keys), WEIR_TEXT_LOOKUPS);
	assert_true(WEIR_TEXT_ROOM(3) >= WEIR_TEXT_LOOKUPS * WEIR_TEXT_CIDR_BYTES);
	assert_int_equal(weir_text_lookups(&n, "1.2.3.4", 7, room, keys), 33);
	for (unsigned length = 0; length <= 128; length++) {
		char text[64];
		snprintf(text, sizeof text, "a5a5:5a5a:a5a5:5a5a:a5a5:5a5a:a5a5:5a5a/%u", length);
		struct weir_filter *one = with(&n);
		put(one, text);
		assert_int_equal(has(one, "a5a5:5a5a:a5a5:5a5a:a5a5:5a5a:a5a5:5a5a"), 1);
		weir_destroy(one);
	}
	weir_destroy(f);
}

static void a_domain_covers_its_children(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_LOWERCASE | WEIR_TEXT_SUFFIXES);
	char long_name[1024] = "";
	(void)state;
	put(f, "Example.COM.");
	put(f, "*.a.b.test");
	put(f, ".org");
	assert_int_equal(has(f, "example.com"), 1);
	assert_int_equal(has(f, "WWW.deep.er.example.com."), 1);
	assert_int_equal(has(f, "notexample.com"), 0);
	assert_int_equal(has(f, "com"), 0);
	assert_int_equal(has(f, "x.a.b.test"), 1);
	assert_int_equal(has(f, "a.b.test"), 1);
	assert_int_equal(has(f, "b.test"), 0);
	assert_int_equal(has(f, "any.org"), 1);
	assert_int_equal(has(f, ""), 0);
	for (unsigned i = 0; i < 200; i++)
		strcat(long_name, "x.");
	strcat(long_name, "example.com");
	/* a domain has at most 127 labels, so the lookup ignores the other labels */
	assert_int_equal(has(f, long_name), 1);
	assert_int_equal(weir_insert(f, long_name, strlen(long_name)), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "labels"));
	refuses(WEIR_TEXT_SUFFIXES, "example.com", "a.b.c.d.e", "a number of labels");
	weir_destroy(f);
}

static void long_texts_are_normalised(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_LOWERCASE);
	char *text = malloc(100000);
	(void)state;
	memset(text, 'A', 100000);
	assert_int_equal(weir_insert(f, text, 100000), WEIR_NEW);
	text[77777] = 'a';
	assert_int_equal(weir_contains(f, text, 100000), 1);
	text[77777] = 'b';
	assert_int_equal(weir_contains(f, text, 100000), 0);
	free(text);
	weir_destroy(f);
}

static void without_steps_a_text_is_the_key(void **state)
{
	struct weir_filter *f = empty(0);
	struct weir_text n;
	(void)state;
	assert_int_equal(weir_insert(f, " A ", 3), WEIR_NEW);
	assert_int_equal(weir_contains(f, " A ", 3), 1);
	assert_int_equal(weir_contains(f, "a", 1), 0);
	weir_text_of(f, &n);
	assert_int_equal(n.steps, 0);
	weir_destroy(f);
}

static void wrong_steps_are_refused(void **state)
{
	static const struct weir_text wrong[] = {
		{ .steps = 32 }, { .steps = 12 }, { .steps = 1, .reserved = 1 },
		{ .steps = 3, .ipv4 = 1 }, { .steps = 4, .ipv4 = UINT64_C(1) << 33 },
		{ .steps = 4, .ipv6 = { 0, 0, 2 } }, { .steps = 8, .ipv6 = { 0, 1, 0 } },
		{ .steps = 8, .labels = { 1, 0 } }, { .steps = 4, .labels = { 2, 0 } },
		{ .ipv6 = { 1, 0, 0 } },
	};
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_builder *b;
	struct weir_filter *f;
	(void)state;
	params.capacity = 100;
	params.fp_rate = 0.01;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		params.text = wrong[i];
		assert_int_equal(weir_create(&f, &params), -EINVAL);
		params.kind = WEIR_FUSE;
		assert_int_equal(weir_builder_create(&b, &params, NULL), -EINVAL);
		params.kind = WEIR_BLOCKED;
	}
	assert_non_null(strstr(weir_error_detail(), "steps 0x0"));
}

static void an_image_has_the_steps_and_lengths(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f = empty(WEIR_TEXT_CIDR), *g;
	(void)state;
	put(f, "10.0.0.0/8");
	put(f, "2001:db8::/48");
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.format, 2);
	assert_memory_equal(&info.text, (&(struct weir_text){
		.steps = 4, .ipv4 = 256, .ipv6 = { UINT64_C(1) << 48 } }), sizeof info.text);
	for (unsigned i = 0; i < 3; i++) {
		if (i == 0)
			assert_ok(weir_load(&g, weir_location_path(path), NULL));
		else if (i == 1)
			assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_READ), NULL));
		else
			assert_ok(weir_clone(&g, f));
		assert_int_equal(has(g, "10.1.1.1"), 1);
		assert_int_equal(has(g, "2001:db8::1"), 1);
		weir_destroy(g);
	}
	weir_destroy(f);
	f = empty(0); /* without normalisation steps, the image has format 1 */
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.format, 1);
	weir_destroy(f);
}

static void merge_refuses_other_steps_and_adds_lengths(void **state)
{
	struct weir_filter *a = empty(WEIR_TEXT_CIDR), *b = empty(WEIR_TEXT_CIDR),
	                   *c = empty(WEIR_TEXT_TRIM),
	                   *closed = empty(WEIR_TEXT_CIDR | WEIR_TEXT_CLOSED);
	struct weir_text n, m;
	(void)state;
	put(a, "10.0.0.0/8");
	put(b, "11.0.0.0/9");
	assert_int_equal(weir_merge(a, c), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "what is done to keys differs: cidr in the"));
	assert_refused(weir_merge(closed, b), -EINVAL, "prefix lengths", "closed");
	weir_destroy(closed);
	weir_text_of(a, &n);
	assert_ok(weir_merge(a, b));
	assert_int_equal(has(a, "11.1.1.1"), 1);
	assert_int_equal(has(a, "10.1.1.1"), 1);
	weir_text_of(c, &m);
	assert_int_equal(weir_text_unite(&n, &m), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "cidr here, trim there"));
	weir_destroy(a);
	weir_destroy(b);
	weir_destroy(c);
}

static int refreshed(struct weir_handle *h, struct weir_filter *f, bool carry)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	o.carry = carry;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	return weir_handle_refresh(h, path, &o);
}

static void refresh_refuses_other_steps_and_carries_lengths(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_CIDR), *next = empty(WEIR_TEXT_SUFFIXES);
	struct weir_reload *r;
	struct weir_handle *h;
	(void)state;
	put(f, "10.0.0.0/8");
	assert_ok(handle_with(&h, f, NULL));
	put(next, "example.com");
	assert_int_equal(refreshed(h, next, false), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "it normalises keys by suffixes"));
	next = empty(WEIR_TEXT_CIDR);
	put(next, "11.0.0.0/9");
	assert_int_equal(refreshed(h, next, true), 1);
	assert_int_equal(has(weir_handle_get(h), "11.1.1.1"), 1);
	assert_int_equal(has(weir_handle_get(h), "10.1.1.1"), 1);
	next = empty(WEIR_TEXT_CIDR);
	put(next, "12.0.0.0/10");
	assert_int_equal(refreshed(h, next, false), 1);
	assert_int_equal(has(weir_handle_get(h), "12.1.1.1"), 1);
	assert_int_equal(has(weir_handle_get(h), "10.1.1.1"), 0);
	/* the next filter of a reload gets the steps and lengths of the current filter, but may
	 * have another capacity */
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	params.capacity = 10;
	params.fp_rate = 0.01;
	o.params = &params;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	struct weir_text n;
	weir_text_of(weir_handle_get(h), &n);
	assert_int_equal(n.steps, WEIR_TEXT_CIDR);
	assert_int_equal(n.ipv4, 1 << 10);
	assert_ok(weir_handle_destroy(h));
}

/* A read-only map refuses texts and hashes. A live map refuses new prefix lengths, even in a
 * merge. */
static void maps_refuse_new_texts_or_lengths(void **state)
{
	struct weir_filter *f = empty(WEIR_TEXT_CIDR), *more = empty(WEIR_TEXT_CIDR);
	(void)state;
	put(f, "10.0.0.0/8");
	put(more, "11.0.0.0/9");
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_refused(weir_insert(f, "10.0.0.0/8", 10), -EROFS, "", "");
	assert_refused(weir_insert_hash(f, 7), -EROFS, "", "");
	struct iovec texts[100];
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		texts[i] = (struct iovec){ "10.0.0.0/8", 10 };
	assert_refused(weir_insert_keys(f, weir_keys_iov(texts, COUNT_OF(texts)), NULL), -EROFS,
	               "", "");
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_int_equal(weir_insert(f, "10.0.0.0/8", 10), WEIR_SEEN);
	assert_refused(weir_insert(f, "11.0.0.0/9", 10), -EINVAL, "a prefix length", "live");
	assert_refused(weir_merge(f, more), -EINVAL, "prefix lengths", "mapped live");
	assert_ok(weir_seal(f));
	weir_destroy(f);
	weir_destroy(more);
}

static void prefetching_does_not_change_answers(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	p.capacity = 20000000;
	p.fp_rate = 0.001;
	p.seed = 7;
	p.text.steps = WEIR_TEXT_CIDR;
	assert_ok(weir_create(&f, &p));
	put(f, "10.0.0.0/8");
	put(f, "192.0.2.0/24");
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(has(f, i % 2 ? "10.9.8.7" : "192.0.2.9"), 1);
	assert_int_equal(has(f, "11.0.0.1"), 0);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_covers_its_addresses),
		cmocka_unit_test(an_address_is_not_lowercased),
		cmocka_unit_test(a_lookup_may_probe_every_length),
		cmocka_unit_test(a_domain_covers_its_children),
		cmocka_unit_test(long_texts_are_normalised),
		cmocka_unit_test(without_steps_a_text_is_the_key),
		cmocka_unit_test(wrong_steps_are_refused),
		cmocka_unit_test(an_image_has_the_steps_and_lengths),
		cmocka_unit_test(merge_refuses_other_steps_and_adds_lengths),
		cmocka_unit_test(refresh_refuses_other_steps_and_carries_lengths),
		cmocka_unit_test(maps_refuse_new_texts_or_lengths),
		cmocka_unit_test(prefetching_does_not_change_answers),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
