/* SPDX-License-Identifier: MIT
 * Entries of the stream: what is written is read, and nothing else is. */
#include <errno.h>
#include "../test.h"
#include "format/entry.h"

enum { STRINGS = 10 };

static struct iovec of(const char *text)
{
	return (struct iovec){ (void *)(uintptr_t)text, strlen(text) };
}

/* An entry whose last name and value are these. */
static void make(struct iovec strings[STRINGS], const char *name, const void *data, size_t bytes)
{
	static const char *const head[] = { "v", "1", "n", "00000000000000ff", "q", "12",
	                                    "s", "0123456789abcdef" };
	for (size_t i = 0; i < COUNT_OF(head); i++)
		strings[i] = of(head[i]);
	strings[8] = of(name);
	strings[9] = (struct iovec){ (void *)(uintptr_t)data, bytes };
}

static void refused(const struct iovec *strings, size_t n, int err, const char *why)
{
	struct weir_entry e = { .node = 4711 };
	assert_refused(weir__entry_read(&e, strings, n), err, "entry of the stream", why);
	assert_int_equal(e.node, 4711);
}

static void test_hashes(void **state)
{
	static const uint64_t hashes[] = { 0, 1, UINT64_MAX, 0x0123456789abcdef };
	unsigned char data[sizeof hashes];
	struct iovec strings[STRINGS];
	struct weir_entry e;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(hashes); i++)
		weir__entry_put_hash(data, i, hashes[i]);
	assert_int_equal(data[24], 0xef);
	make(strings, "h", data, sizeof data);
	assert_ok(weir__entry_read(&e, strings, STRINGS));
	assert_int_equal(e.kind, WEIR_ENTRY_HASHES);
	assert_true(e.node == 255 && e.sequence == 12 && e.hashing == 0x0123456789abcdef);
	assert_int_equal(weir__entry_hashes(&e), COUNT_OF(hashes));
	for (size_t i = 0; i < COUNT_OF(hashes); i++)
		assert_true(weir__entry_hash(&e, i) == hashes[i]);
	make(strings, "h", data, 9);
	refused(strings, STRINGS, -EBADMSG, "8 bytes each");
	make(strings, "h", data, 0);
	assert_ok(weir__entry_read(&e, strings, STRINGS));
	assert_int_equal(weir__entry_hashes(&e), 0);
}

static void test_keys(void **state)
{
	static const char *const keys[] = { "a key", "", "another" };
	unsigned char data[64];
	struct iovec strings[STRINGS], key;
	struct weir_entry e;
	size_t bytes = 0, at = 0;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		weir__entry_put_key(data + bytes, keys[i], (uint32_t)strlen(keys[i]));
		bytes += weir__entry_key_room(strlen(keys[i]));
	}
	make(strings, "k", data, bytes);
	assert_ok(weir__entry_read(&e, strings, STRINGS));
	assert_int_equal(weir__entry_hashes(&e), 0);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		assert_true(weir__entry_key(&e, &at, &key));
		assert_int_equal(key.iov_len, strlen(keys[i]));
		assert_memory_equal(key.iov_base, keys[i], key.iov_len);
	}
	assert_false(weir__entry_key(&e, &at, &key));
	assert_int_equal(at, bytes);
	/* cut anywhere it is refused, but between two keys */
	for (size_t cut = 0; cut < bytes; cut++) {
		make(strings, "k", data, cut);
		if (cut == 0 || cut == 9 || cut == 13)
			assert_ok(weir__entry_read(&e, strings, STRINGS));
		else
			refused(strings, STRINGS, -EBADMSG, "ends after the entry");
	}
	memset(data, 0xff, 4);
	make(strings, "k", data, bytes);
	refused(strings, STRINGS, -EBADMSG, "ends after the entry");
}

/* Its length has four bytes. */
static void test_a_long_key(void **state)
{
	enum { LONG = 70000 };
	static unsigned char data[LONG + 4], long_key[LONG];
	const struct weir_entry e = { .kind = WEIR_ENTRY_KEYS, .data = data, .bytes = sizeof data };
	struct iovec key;
	size_t at = 0;
	(void)state;
	assert_int_equal(weir__entry_key_room(LONG), sizeof data);
	memset(long_key, 'x', sizeof long_key);
	weir__entry_put_key(data, long_key, LONG);
	assert_true(weir__entry_key(&e, &at, &key));
	assert_int_equal(key.iov_len, LONG);
	assert_memory_equal(key.iov_base, long_key, LONG);
	assert_int_equal(at, sizeof data);
}

static void test_no_keys(void **state)
{
	static const char *const wrong[] = { "", "00000000000000aa", "00000000000000aa ",
		"00000000000000aa 0", "00000000000000aa 01", "00000000000000aa  1",
		"0000000000000aa 1", "00000000000000AA 1", "00000000000000aa 1 " };
	struct iovec strings[STRINGS];
	struct weir_entry e;
	(void)state;
	make(strings, "i", "", 0);
	assert_ok(weir__entry_read(&e, strings, STRINGS));
	assert_int_equal(e.kind, WEIR_ENTRY_IDLE);
	make(strings, "i", "x", 1);
	refused(strings, STRINGS, -EBADMSG, "no data");
	make(strings, "w", "00000000000000aa 34", 19);
	assert_ok(weir__entry_read(&e, strings, STRINGS));
	assert_int_equal(e.kind, WEIR_ENTRY_WANTED);
	assert_true(e.wanted_node == 0xaa && e.wanted_sequence == 34);
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		make(strings, "w", wrong[i], strlen(wrong[i]));
		refused(strings, STRINGS, -EBADMSG, "whose batches");
	}
}

static void test_refused(void **state)
{
	static const struct {
		unsigned string;
		const char *text;
		int err;
		const char *why;
	} cases[] = {
		{ 0, "V", -EBADMSG, "version" }, { 0, "", -EBADMSG, "version" },
		{ 1, "", -EBADMSG, "version" },  { 1, "2", -ENOTSUP, "version 2" },
		{ 1, "01", -EBADMSG, "version" }, { 2, "m", -EBADMSG, "no node" },
		{ 3, "ff", -EBADMSG, "no node" }, { 3, "00000000000000fF", -EBADMSG, "no node" },
		{ 4, "p", -EBADMSG, "sequence" }, { 5, "", -EBADMSG, "sequence" },
		{ 5, "-1", -EBADMSG, "sequence" }, { 5, "1 ", -EBADMSG, "sequence" },
		{ 6, "t", -EBADMSG, "hashed" },   { 7, "0", -EBADMSG, "hashed" },
		{ 8, "z", -EBADMSG, "no data" },  { 8, "", -EBADMSG, "no data" },
	};
	struct iovec strings[STRINGS + 2];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		make(strings, "i", "", 0);
		strings[cases[i].string] = of(cases[i].text);
		refused(strings, STRINGS, cases[i].err, cases[i].why);
	}
	make(strings, "h", "", 0); /* a batch has a number, who is idle may have none */
	strings[5] = of("0");
	refused(strings, STRINGS, -EBADMSG, "sequence");
	make(strings, "k", "", 0);
	strings[5] = of("0");
	refused(strings, STRINGS, -EBADMSG, "sequence");
	struct weir_entry idle;
	make(strings, "i", "", 0);
	strings[5] = of("0");
	assert_ok(weir__entry_read(&idle, strings, STRINGS));
	assert_int_equal(idle.sequence, 0);
	make(strings, "i", "", 0);
	strings[10] = strings[11] = of("more");
	for (size_t n = 0; n <= STRINGS + 2; n++)
		if (n != STRINGS)
			refused(strings, n, -EBADMSG, n < 2 ? "version" : "fields");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_a_long_key),
		cmocka_unit_test(test_no_keys),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
