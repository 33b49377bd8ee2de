/* SPDX-License-Identifier: MIT
 * Filters that know what is done to their keys: lookups, inserts, images, copies, merges and
 * refreshes. */
#include <errno.h>
#include <stdlib.h>
#include "../folder.h"
#include "../handles.h"
#include "../test.h"

static struct weir_filter *empty(uint32_t steps)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_normal n = { .steps = steps };
	struct weir_filter *f;
	params.capacity = 10000;
	params.fp_rate = 1e-9;
	params.kind = WEIR_CLASSIC;
	params.seed = 1;
	assert_ok(weir_create(&f, &params));
	assert_ok(weir_normal_set(f, &n));
	return f;
}

/* Insert, with the lengths noted first. */
static void put(struct weir_filter *f, const char *text)
{
	struct weir_normal n;
	char room[4096];
	struct iovec key;
	weir_normal_of(f, &n);
	assert_ok(weir_normal_key(&n, text, strlen(text), room, &key));
	weir_normal_note(&n, &key);
	assert_ok(weir_normal_set(f, &n));
	assert_int_equal(weir_normal_insert(f, text, strlen(text)), WEIR_NEW);
}

static int has(const struct weir_filter *f, const char *text)
{
	return weir_normal_contains(f, text, strlen(text));
}

static void a_prefix_covers_its_addresses(void **state)
{
	struct weir_filter *f = empty(WEIR_NORMAL_TRIM | WEIR_NORMAL_CIDR);
	(void)state;
	assert_int_equal(has(f, "10.0.0.1"), 0); /* no length at all */
	put(f, "10.0.0.0/8");
	put(f, "192.0.2.128/25");
	put(f, "2001:db8::/32");
	put(f, "::1");
	assert_int_equal(has(f, " 10.255.0.1\r"), 1);
	assert_int_equal(has(f, "::ffff:10.1.2.3"), 1);
	assert_int_equal(has(f, "10.0.0.0/9"), 1);
	assert_int_equal(has(f, "10.0.0.0/7"), 0); /* not covered as a whole */
	assert_int_equal(has(f, "11.0.0.1"), 0);
	assert_int_equal(has(f, "192.0.2.129"), 1);
	assert_int_equal(has(f, "192.0.2.127"), 0);
	assert_int_equal(has(f, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), 1);
	assert_int_equal(has(f, "2001:db9::"), 0);
	assert_int_equal(has(f, "::1"), 1);
	assert_int_equal(has(f, "::2"), 0);
	assert_int_equal(has(f, "no address"), -EINVAL);
	assert_int_equal(weir_normal_insert(f, "1.2.3.0/24", 10), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "a prefix length"));
	assert_int_equal(weir_normal_insert(f, "no address", 10), -EINVAL);
	put(f, "0.0.0.0/0");
	assert_int_equal(has(f, "203.0.113.9"), 1);
	assert_int_equal(has(f, "::2"), 0); /* ::/0 is another one */
	put(f, "::/0");
	assert_int_equal(has(f, "ff02::2"), 1);
	weir_destroy(f);
}

/* Every length of both families: as many lookups as there can be. */
static void every_length_at_once(void **state)
{
	struct weir_filter *f = empty(WEIR_NORMAL_CIDR);
	struct weir_normal n = { .steps = WEIR_NORMAL_CIDR };
	char room[4096];
	struct iovec keys[WEIR_NORMAL_LOOKUPS];
	(void)state;
	n.ipv4 = (UINT64_C(1) << 33) - 1;
	n.ipv6[0] = n.ipv6[1] = UINT64_MAX;
	n.ipv6[2] = 1;
	assert_ok(weir_normal_set(f, &n));
	assert_int_equal(weir_normal_most(&n), WEIR_NORMAL_LOOKUPS);
	assert_int_equal(weir_normal_lookups(&n, "::1", 3, room, keys), WEIR_NORMAL_LOOKUPS);
	assert_true(weir_normal_room(&n, 3) >= WEIR_NORMAL_LOOKUPS * WEIR_CIDR_KEY);
	assert_int_equal(weir_normal_lookups(&n, "1.2.3.4", 7, room, keys), 33);
	for (unsigned length = 0; length <= 128; length++) {
		char text[64];
		snprintf(text, sizeof text, "a5a5:5a5a:a5a5:5a5a:a5a5:5a5a:a5a5:5a5a/%u", length);
		struct weir_filter *one = empty(WEIR_NORMAL_CIDR);
		assert_ok(weir_normal_set(one, &n));
		assert_int_equal(weir_normal_insert(one, text, strlen(text)), WEIR_NEW);
		assert_int_equal(has(one, "a5a5:5a5a:a5a5:5a5a:a5a5:5a5a:a5a5:5a5a"), 1);
		weir_destroy(one);
	}
	weir_destroy(f);
}

static void a_domain_covers_its_children(void **state)
{
	struct weir_filter *f = empty(WEIR_NORMAL_LOWERCASE | WEIR_NORMAL_SUFFIXES);
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
	assert_int_equal(has(f, long_name), 1); /* more labels than a domain can have */
	assert_int_equal(weir_normal_insert(f, long_name, strlen(long_name)), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "labels"));
	assert_int_equal(weir_normal_insert(f, "a.b.c.d.e", 9), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "a number of labels"));
	weir_destroy(f);
}

static void a_long_text(void **state)
{
	struct weir_filter *f = empty(WEIR_NORMAL_LOWERCASE);
	char *text = malloc(100000);
	(void)state;
	memset(text, 'A', 100000);
	assert_int_equal(weir_normal_insert(f, text, 100000), WEIR_NEW);
	text[77777] = 'a';
	assert_int_equal(weir_normal_contains(f, text, 100000), 1);
	text[77777] = 'b';
	assert_int_equal(weir_normal_contains(f, text, 100000), 0);
	free(text);
	weir_destroy(f);
}

static void without_steps_a_text_is_the_key(void **state)
{
	struct weir_filter *f = empty(0);
	struct weir_normal n;
	(void)state;
	assert_int_equal(weir_normal_insert(f, " A ", 3), WEIR_NEW);
	assert_int_equal(weir_normal_contains(f, " A ", 3), 1);
	assert_int_equal(weir_normal_contains(f, "a", 1), 0);
	assert_ok(weir_normal_set(f, NULL));
	weir_normal_of(f, &n);
	assert_int_equal(n.steps, 0);
	weir_destroy(f);
}

static void what_cannot_be_set(void **state)
{
	static const struct weir_normal wrong[] = {
		{ .steps = 16 }, { .steps = 12 }, { .steps = 1, .reserved = 1 },
		{ .steps = 3, .ipv4 = 1 }, { .steps = 4, .ipv4 = UINT64_C(1) << 33 },
		{ .steps = 4, .ipv6 = { 0, 0, 2 } }, { .steps = 8, .ipv6 = { 0, 1, 0 } },
		{ .steps = 8, .labels = { 1, 0 } }, { .steps = 4, .labels = { 2, 0 } },
		{ .ipv6 = { 1, 0, 0 } },
	};
	struct weir_filter *f = empty(WEIR_NORMAL_TRIM);
	struct weir_normal n;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(weir_normal_set(f, &wrong[i]), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "steps 0x0"));
	weir_normal_of(f, &n);
	assert_int_equal(n.steps, WEIR_NORMAL_TRIM);
	weir_destroy(f);
}

static void it_stands_in_the_image(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f = empty(WEIR_NORMAL_CIDR), *g;
	(void)state;
	put(f, "10.0.0.0/8");
	put(f, "2001:db8::/48");
	assert_ok(weir_save(f, path, NULL));
	assert_ok(weir_image_info(path, &info));
	assert_int_equal(info.format, 2);
	assert_memory_equal(&info.normal, (&(struct weir_normal){
		.steps = 4, .ipv4 = 256, .ipv6 = { UINT64_C(1) << 48 } }), sizeof info.normal);
	for (unsigned i = 0; i < 3; i++) {
		if (i == 0)
			assert_ok(weir_load(&g, path, NULL));
		else if (i == 1)
			assert_ok(weir_map(&g, path, WEIR_MAP_READ, NULL));
		else
			assert_ok(weir_clone(&g, f));
		assert_int_equal(has(g, "10.1.1.1"), 1);
		assert_int_equal(has(g, "2001:db8::1"), 1);
		weir_destroy(g);
	}
	assert_ok(weir_normal_set(f, NULL)); /* nothing is done: the old format */
	assert_ok(weir_save(f, path, NULL));
	assert_ok(weir_image_info(path, &info));
	assert_int_equal(info.format, 1);
	weir_destroy(f);
}

static void merge_refuses_other_steps_and_new_lengths(void **state)
{
	struct weir_filter *a = empty(WEIR_NORMAL_CIDR), *b = empty(WEIR_NORMAL_CIDR),
	                   *c = empty(WEIR_NORMAL_TRIM);
	struct weir_normal n, m;
	(void)state;
	put(a, "10.0.0.0/8");
	put(b, "11.0.0.0/9");
	assert_int_equal(weir_merge(a, c), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "what is done to keys differs: cidr in the"));
	assert_int_equal(weir_merge(a, b), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "prefix lengths"));
	weir_normal_of(a, &n);
	weir_normal_of(b, &m);
	assert_ok(weir_normal_unite(&n, &m));
	assert_ok(weir_normal_set(a, &n));
	assert_ok(weir_merge(a, b));
	assert_int_equal(has(a, "11.1.1.1"), 1);
	assert_int_equal(has(a, "10.1.1.1"), 1);
	weir_normal_of(c, &m);
	assert_int_equal(weir_normal_unite(&n, &m), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "cidr here, trim there"));
	weir_destroy(a);
	weir_destroy(b);
	weir_destroy(c);
}

static int refreshed(struct weir_handle *h, struct weir_filter *f, bool carry)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	o.carry = carry;
	assert_ok(weir_save(f, path, NULL));
	weir_destroy(f);
	return weir_handle_refresh_with(h, path, &o);
}

static void refresh_refuses_other_steps_and_keeps_what_it_carries(void **state)
{
	struct weir_filter *f = empty(WEIR_NORMAL_CIDR), *next = empty(WEIR_NORMAL_SUFFIXES);
	struct weir_reload *r;
	struct weir_handle *h;
	(void)state;
	put(f, "10.0.0.0/8");
	assert_ok(handle_with(&h, f, NULL));
	put(next, "example.com");
	assert_int_equal(refreshed(h, next, false), -EINVAL);
	assert_non_null(strstr(weir_error_detail(), "what is done to its keys is suffixes"));
	next = empty(WEIR_NORMAL_CIDR);
	put(next, "11.0.0.0/9");
	assert_int_equal(refreshed(h, next, true), 1);
	assert_int_equal(has(weir_handle_get(h), "11.1.1.1"), 1);
	assert_int_equal(has(weir_handle_get(h), "10.1.1.1"), 1);
	next = empty(WEIR_NORMAL_CIDR);
	put(next, "12.0.0.0/10");
	assert_int_equal(refreshed(h, next, false), 1);
	assert_int_equal(has(weir_handle_get(h), "12.1.1.1"), 1);
	assert_int_equal(has(weir_handle_get(h), "10.1.1.1"), 0);
	/* a reload's next filter has the line of the current one, whatever its size */
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	params.capacity = 10;
	params.fp_rate = 0.01;
	o.params = &params;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	struct weir_normal n;
	weir_normal_of(weir_handle_get(h), &n);
	assert_int_equal(n.steps, WEIR_NORMAL_CIDR);
	assert_int_equal(n.ipv4, 1 << 10);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_covers_its_addresses),
		cmocka_unit_test(every_length_at_once),
		cmocka_unit_test(a_domain_covers_its_children),
		cmocka_unit_test(a_long_text),
		cmocka_unit_test(without_steps_a_text_is_the_key),
		cmocka_unit_test(what_cannot_be_set),
		cmocka_unit_test(it_stands_in_the_image),
		cmocka_unit_test(merge_refuses_other_steps_and_new_lengths),
		cmocka_unit_test(refresh_refuses_other_steps_and_keeps_what_it_carries),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
