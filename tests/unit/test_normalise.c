/* SPDX-License-Identifier: MIT
 * Normalisation: each step by itself, and that inserts and lookups make the same key. */
#include <errno.h>
#include <stdlib.h>
#include "../test.h"

static struct weir_text of_steps(uint32_t steps)
{
	return (struct weir_text){ .steps = steps };
}

static void trim_takes_blanks_and_one_final_cr(void **state)
{
	static const char *const rows[][2] = {
		{ "a", "a" },       { "", "" },         { " \t ", "" },     { "\r", "" },
		{ " a b\t\r", "a b" }, { "a\r\r", "a\r" }, { "\ra", "\ra" }, { "a \r ", "a \r" },
		{ "\xef\xbb\xbf" "a", "\xef\xbb\xbf" "a" }, { "\n", "\n" },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		const struct weir_text trim = of_steps(WEIR_TEXT_TRIM);
		struct iovec key;
		assert_ok(weir_text_key(&trim, rows[i][0], strlen(rows[i][0]), NULL, &key));
		assert_int_equal(key.iov_len, strlen(rows[i][1]));
		assert_memory_equal(key.iov_base, rows[i][1], key.iov_len);
	}
}

static void lowercase_changes_only_ascii(void **state)
{
	static const char text[] = "AZaz@[\xc3\x84-9";
	struct weir_text n = of_steps(WEIR_TEXT_LOWERCASE);
	struct iovec key;
	char room[32];
	(void)state;
	assert_ok(weir_text_key(&n, text, strlen(text), room, &key));
	assert_int_equal(key.iov_len, strlen(text));
	assert_memory_equal(key.iov_base, "azaz@[\xc3\x84-9", key.iov_len);
}

/* Return: the length of the key of a prefix, or a negative errno. */
static int cidr(unsigned char *key, const char *text, size_t len)
{
	const struct weir_text t = of_steps(WEIR_TEXT_CIDR);
	struct iovec made;
	int err = weir_text_key(&t, text, len, key, &made);
	return err ? err : (int)made.iov_len;
}

struct row {
	const char *text, *key; /* key: in hexadecimal digits, or NULL if the text is refused */
};

static void a_prefix_has_the_right_key(void **state)
{
	static const struct row rows[] = {
		{ "192.0.2.1", "20c0000201" },
		{ "192.0.2.1/32", "20c0000201" },
		{ "10.1.2.3/8", "080a000000" }, /* the host bits are cleared */
		{ "255.255.255.255/9", "09ff800000" },
		{ "1.2.3.4/0", "0000000000" },
		{ "2001:DB8::1", "8020010db8000000000000000000000001" },
		{ "2001:db8:ffff::/33", "2120010db8800000000000000000000000" },
		{ "::/0", "0000000000000000000000000000000000" },
		{ "::1/128", "8000000000000000000000000000000001" },
		{ "::ffff:192.0.2.1", "20c0000201" }, /* IPv4-mapped */
		{ "::ffff:c000:201/120", "18c0000200" },
		{ "::ffff:1.2.3.4/96", "0000000000" },
		{ "::ffff:1.2.3.4/95", "5f00000000000000000000fffe00000000" },
		/* an IPv4-compatible address stays an IPv6 address */
		{ "::192.0.2.1", "80000000000000000000000000c0000201" },
		{ "", NULL }, { "/", NULL }, { "/8", NULL }, { "1.2.3.4/", NULL },
		{ "1.2.3.4/33", NULL }, { "1.2.3.4/08", NULL }, { "1.2.3.4/+8", NULL },
		{ "1.2.3.4/4294967304", NULL }, { "1.2.3.4/8/8", NULL },
		{ "1.2.3.4/8x", NULL }, { "::/129", NULL },
		{ "10.0.0.0/255.0.0.0", NULL }, { "1.2.3", NULL }, { "1.2.3.04", NULL },
		{ "1.2.3.256", NULL }, { "fe80::1%eth0", NULL }, { " 1.2.3.4", NULL },
		{ "1.2.3.4\r", NULL }, { "1.2.3.4 ", NULL }, { "1.2.3.4x", NULL }, { "name", NULL },
		{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", NULL },
		{ "::ffff:1.2.3.4/129", NULL }, { "[::1]", NULL }, { "1.2.3.4:80", NULL },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		unsigned char key[WEIR_TEXT_CIDR_BYTES];
		char hex[2 * WEIR_TEXT_CIDR_BYTES + 1];
		int n = cidr(key, rows[i].text, strlen(rows[i].text));
		if (!rows[i].key) {
			assert_int_equal(n, -EINVAL);
			assert_non_null(strstr(weir_error_detail(), "not an IP address or prefix"));
			continue;
		}
		assert_true(n == 5 || n == WEIR_TEXT_CIDR_BYTES);
		for (int at = 0; at < n; at++)
			snprintf(hex + 2 * at, 3, "%02x", key[at]);
		assert_string_equal(hex, rows[i].key);
	}
	unsigned char key[WEIR_TEXT_CIDR_BYTES];
	assert_int_equal(cidr(key, "1.2.3.4\0", 8), -EINVAL);
	assert_int_equal(cidr(key, NULL, 0), -EINVAL);
}

static const uint32_t every_step[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
};

/* [SAME-STEPS]: an insert and a lookup of a text make the same key, with each combination of
 * steps. */
static void a_lookup_has_the_key_of_an_insert(void **state)
{
	static const char *const texts[] = {
		"10.1.2.3/8", "::1", "1.2.3.4", "2001:db8::/32", "::ffff:9.8.7.6/100", "0.0.0.0/0",
		"::/0", "example.com", "A.B.C.D.E", "*.x.y", ".x", "x.", ".", "..", "a..b", "*.",
		"*", " Blanks here ", "",
	};
	(void)state;
	for (unsigned s = 0; s < COUNT_OF(every_step); s++)
		for (unsigned i = 0; i < COUNT_OF(texts); i++) {
			struct weir_text n = of_steps(every_step[s]);
			char room[4096], again[4096];
			struct iovec key, keys[WEIR_TEXT_LOOKUPS];
			size_t len = strlen(texts[i]);
			assert_true(WEIR_TEXT_ROOM(len) <= sizeof room);
			if (weir_text_key(&n, texts[i], len, room, &key))
				continue;
			bool noted = weir_text_note(&n, &key);
			assert_true(noted == ((n.steps & 12) != 0));
			assert_false(weir_text_note(&n, &key));
			int found = weir_text_lookups(&n, texts[i], len, again, keys);
			assert_int_equal(found, 1);
			assert_int_equal(weir_text_most(&n), 1);
			assert_int_equal(keys[0].iov_len, key.iov_len);
			assert_memory_equal(keys[0].iov_base, key.iov_base, key.iov_len);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trim_takes_blanks_and_one_final_cr),
		cmocka_unit_test(lowercase_changes_only_ascii),
		cmocka_unit_test(a_prefix_has_the_right_key),
		cmocka_unit_test(a_lookup_has_the_key_of_an_insert),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
