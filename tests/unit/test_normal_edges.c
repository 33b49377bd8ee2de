/* SPDX-License-Identifier: MIT
 * Normalisation at its limits: the largest number of labels and lengths, the longest texts, merges
 * of every recorded length, and no write beyond the caller's buffer. */
#include <errno.h>
#include <stdlib.h>
#include <weir/text.h>
#include "../test.h"

enum { LABELS = 127, GUARD = 64 };

static struct weir_text of_steps(uint32_t steps)
{
	return (struct weir_text){ .steps = steps };
}

/* Write a domain of @labels labels. Return: the length of the domain. */
static size_t domain_of(char *text, unsigned labels)
{
	for (unsigned i = 0; i < labels; i++)
		memcpy(text + 2 * i, "x.", 2);
	return 2 * labels - 1;
}

static void domains_of_the_most_labels_are_found(void **state)
{
	struct weir_text n = of_steps(WEIR_TEXT_SUFFIXES);
	struct iovec key, keys[WEIR_TEXT_LOOKUPS];
	char text[600];
	(void)state;
	assert_ok(weir_text_key(&n, text, domain_of(text, LABELS), NULL, &key));
	assert_true(weir_text_note(&n, &key));
	for (unsigned labels = LABELS; labels < 300; labels += 100) {
		size_t len = domain_of(text, labels);
		assert_int_equal(weir_text_lookups(&n, text, len, NULL, keys), 1);
		assert_int_equal(keys[0].iov_len, 2 * LABELS - 1);
		assert_ptr_equal((char *)keys[0].iov_base + keys[0].iov_len, text + len);
	}
	for (unsigned labels = LABELS + 1; labels < 300; labels++)
		assert_refused(weir_text_key(&n, text, domain_of(text, labels), NULL, &key),
		               -EINVAL, "not a domain", "at most 127");
	for (unsigned labels = 1; labels < LABELS; labels++) {
		assert_ok(weir_text_key(&n, text, domain_of(text, labels), NULL, &key));
		assert_true(weir_text_note(&n, &key));
	}
	assert_int_equal(weir_text_most(&n), LABELS);
	assert_int_equal(weir_text_lookups(&n, text, domain_of(text, 299), NULL, keys), LABELS);
}

static void domains_have_the_right_key(void **state)
{
	static const char *const rows[][2] = {
		{ "*.a.b.", "a.b" }, { ".a", "a" }, { "a.", "a" }, { "a..", "a." }, { ".", "." },
		{ "*", "*" }, { "*.", "*" }, { "..", "." }, { "", "" }, { "a*.b", "a*.b" },
		{ "*ab", "*ab" },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct weir_text n = of_steps(WEIR_TEXT_SUFFIXES);
		struct iovec key;
		assert_ok(weir_text_key(&n, rows[i][0], strlen(rows[i][0]), NULL, &key));
		assert_int_equal(key.iov_len, strlen(rows[i][1]));
		assert_memory_equal(key.iov_base, rows[i][1], key.iov_len);
	}
	const struct weir_text trim = of_steps(WEIR_TEXT_TRIM);
	struct iovec trimmed;
	assert_ok(weir_text_key(&trim, "\t\t a\t", 5, NULL, &trimmed));
	assert_int_equal(trimmed.iov_len, 1);
}

/* With every prefix length of both address families, a lookup probes the largest number of keys. */
static void no_byte_is_written_beyond_the_buffer(void **state)
{
	struct weir_text n = of_steps(WEIR_TEXT_CIDR), lower = of_steps(WEIR_TEXT_LOWERCASE);
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	(void)state;
	n.ipv4 = (UINT64_C(1) << 33) - 1;
	assert_int_equal(weir_text_most(&n), 33);
	n.ipv6[0] = n.ipv6[1] = UINT64_MAX;
	n.ipv6[2] = 1;
	assert_int_equal(weir_text_most(&n), 129);
	assert_int_equal(weir_text_most(&lower), 1);
	for (unsigned i = 0; i < 2; i++) {
		const struct weir_text *of = i ? &lower : &n;
		size_t bytes = WEIR_TEXT_ROOM(3);
		unsigned char *room = malloc(bytes + GUARD);
		assert_non_null(room);
		memset(room, 0x5a, bytes + GUARD);
		assert_ok(weir_text_lookups(of, "::F", 3, room, keys));
		for (unsigned at = 0; at < GUARD; at++)
			assert_int_equal(room[bytes + at], 0x5a);
		free(room);
	}
}

/* Return: the length of the key of a prefix, or a negative errno. */
static int cidr(unsigned char *key, const char *text, size_t len)
{
	const struct weir_text t = of_steps(WEIR_TEXT_CIDR);
	struct iovec made;
	int err = weir_text_key(&t, text, len, key, &made);
	return err ? err : (int)made.iov_len;
}

static void the_longest_prefix_texts_are_parsed(void **state)
{
	static const char most[] = "0000:0000:0000:0000:0000:ffff:255.255.255.255/128";
	unsigned char key[WEIR_TEXT_CIDR_BYTES];
	char text[64];
	(void)state;
	assert_int_equal(cidr(key, most, strlen(most)), 5);
	assert_memory_equal(key, "\x20\xff\xff\xff\xff", 5);
	memset(text, '1', sizeof text);
	for (size_t len = 40; len < sizeof text; len++) /* a sanitizer would report an overrun */
		assert_refused(cidr(key, text, len), -EINVAL, "not an IP address", "");
	assert_refused(cidr(key, "1.2.3.4/33", 10), -EINVAL, "1.2.3.4/33",
	               "the length is 0 to 32");
	assert_refused(cidr(key, "::/129", 6), -EINVAL, "::/129",
	               "the length is 0 to 128");
}

static struct weir_filter *with(const struct weir_text *t, double fp_rate)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 100;
	p.fp_rate = fp_rate;
	p.seed = 7;
	p.text = *t;
	assert_ok(weir_create(&f, &p));
	return f;
}

/* The lengths are around the number of bytes that are hashed in one piece. */
static void long_texts_are_hashed_in_pieces(void **state)
{
	static const size_t lengths[] = { 1, 255, 256, 257, 511, 512, 513, 8193 };
	const struct weir_text n = of_steps(WEIR_TEXT_LOWERCASE);
	struct weir_filter *f = with(&n, 1e-6);
	char text[8193];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(lengths); i++) {
		memset(text, 'A', sizeof text);
		assert_int_equal(weir_insert(f, text, lengths[i]), WEIR_NEW);
		text[lengths[i] - 1] = 'a';
		assert_int_equal(weir_contains(f, text, lengths[i]), 1);
		text[lengths[i] - 1] = 'b';
		assert_int_equal(weir_contains(f, text, lengths[i]), 0);
	}
	weir_destroy(f);
}

static void a_merge_includes_every_recorded_bit(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 6 * 64; bit++) {
		struct weir_text a = of_steps(1), b = a;
		uint64_t mask = UINT64_C(1) << bit % 64;
		*(bit < 64 ? &b.ipv4 : bit < 256 ? &b.ipv6[bit / 64 - 1] :
		                                   &b.labels[bit / 64 - 4]) = mask;
		assert_ok(weir_text_unite(&a, &b));
		assert_memory_equal(&a, &b, sizeof a);
	}
}

static void a_merge_adds_lengths_unless_the_set_is_closed(void **state)
{
	static const struct weir_text other[] = {
		{ .steps = 4, .ipv4 = 1 }, { .steps = 4, .ipv6 = { 1 } },
		{ .steps = 4, .ipv6 = { 0, 1 } }, { .steps = 4, .ipv6 = { 0, 0, 1 } },
		{ .steps = 8, .labels = { 2 } }, { .steps = 8, .labels = { 0, 1 } },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(other); i++) {
		const struct weir_text none = of_steps(other[i].steps),
		                       closed = of_steps(other[i].steps | WEIR_TEXT_CLOSED);
		struct weir_filter *a = with(&closed, 0.01), *b = with(&other[i], 0.01);
		assert_refused(weir_merge(a, b), -EINVAL, "cannot merge",
		               i < 4 ? "prefix lengths" : "numbers of labels");
		assert_ok(weir_merge(b, a));
		weir_destroy(a);
		a = with(&none, 0.01);
		assert_ok(weir_merge(a, b));
		struct weir_text has;
		weir_text_of(a, &has);
		assert_memory_equal(&has, &other[i], sizeof has);
		weir_destroy(a);
		weir_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_of_the_most_labels_are_found),
		cmocka_unit_test(domains_have_the_right_key),
		cmocka_unit_test(no_byte_is_written_beyond_the_buffer),
		cmocka_unit_test(the_longest_prefix_texts_are_parsed),
		cmocka_unit_test(long_texts_are_hashed_in_pieces),
		cmocka_unit_test(a_merge_includes_every_recorded_bit),
		cmocka_unit_test(a_merge_adds_lengths_unless_the_set_is_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
