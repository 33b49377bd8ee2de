/* SPDX-License-Identifier: MIT
 * Entries of the log: a written entry reads back the same, and all other forms are refused. */
#include <errno.h>
#include "../../test.h"
#include "format/entry.h"

enum { STRINGS = 6 };
static const struct weir_log_id id = { 3, 12 };

static struct iovec of(const char *text)
{
	return (struct iovec){ (void *)(uintptr_t)text, strlen(text) };
}

static void make(struct iovec strings[STRINGS], const char *name, const void *data, size_t bytes)
{
	static const char *const head[] = { "t", "00000000000000ff", "a", "0123456789abcdef" };
	for (size_t i = 0; i < COUNT_OF(head); i++)
		strings[i] = of(head[i]);
	strings[4] = of(name);
	strings[5] = (struct iovec){ (void *)(uintptr_t)data, bytes };
}

static void refused_at(struct weir_log_id at, const struct iovec *strings, size_t n, int err,
                       const char *why)
{
	struct weir_entry e = { .node = 4711 };
	assert_refused(weir__entry_read(&e, at, strings, n), err, "of the log", why);
	assert_int_equal(e.node, 4711);
}

static void refused(const char *name, const void *data, size_t bytes, int err, const char *why)
{
	struct iovec strings[STRINGS];
	make(strings, name, data, bytes);
	refused_at(id, strings, STRINGS, err, why);
}

static void refused_text(const char *name, const char *value, const char *why)
{
	refused(name, value, strlen(value), -EBADMSG, why);
}

static struct weir_entry read_as(struct weir_log_id at, const char *name, const void *data,
                                 size_t bytes)
{
	struct iovec strings[STRINGS];
	struct weir_entry e;
	make(strings, name, data, bytes);
	assert_ok(weir__entry_read(&e, at, strings, STRINGS));
	assert_true(e.tag == 255 && e.before == 0x0123456789abcdef);
	assert_true(weir__log_id_compare(e.id, at) == 0);
	return e;
}

static void test_a_batch_is_read_as_it_was_written(void **state)
{
	static const unsigned char hashes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0, 0, 0, 0, 0, 0,
		                                0x80 };
	static unsigned char data[WEIR_ENTRY_BYTES];
	const struct weir_entry batch = { .kind = WEIR_ENTRY_BATCH, .node = 0xabc,
		                          .hashing = 0x0123456789abcdef, .hashes = hashes, .n = 2 };
	(void)state;
	assert_int_equal(weir__entry_write(data, &batch), 32);
	assert_true(data[0] == 0xbc && data[1] == 0x0a && data[8] == 0xef);
	struct weir_entry e = read_as(id, "b", data, 32);
	assert_int_equal(e.kind, WEIR_ENTRY_BATCH);
	assert_true(e.node == 0xabc && e.hashing == 0x0123456789abcdef && e.n == 2);
	assert_true(weir__entry_hash(&e, 0) == 0x0807060504030201);
	assert_true(weir__entry_hash(&e, 1) == 0x80000000000000ff);
}

static void test_a_batch_has_1_to_8190_whole_hashes_and_a_node(void **state)
{
	static const unsigned char none[WEIR_ENTRY_BYTES + 8];
	static unsigned char data[WEIR_ENTRY_BYTES + 8];
	(void)state;
	data[0] = 1;
	assert_int_equal(read_as(id, "b", data, WEIR_ENTRY_BYTES).n, WEIR_ENTRY_HASHES);
	refused("b", data, WEIR_ENTRY_BYTES + 8, -EBADMSG, "1 to 8190 hashes");
	refused("b", data, 31, -EBADMSG, "1 to 8190 hashes");
	refused("b", data, 16, -EBADMSG, "1 to 8190 hashes");
	refused("b", data, 0, -EBADMSG, "1 to 8190 hashes");
	refused("b", none, 24, -EBADMSG, "no node");
}

static void test_a_generation_and_a_call_are_read_as_they_were_written(void **state)
{
	static unsigned char data[WEIR_ENTRY_BYTES];
	struct weir_entry given = { .kind = WEIR_ENTRY_GENERATION, .version = { 2, UINT64_MAX } };
	size_t n = weir__entry_write(data, &given);
	(void)state;
	assert_memory_equal(data, "2.18446744073709551615", n);
	struct weir_entry e = read_as(id, "g", data, n);
	assert_true(e.kind == WEIR_ENTRY_GENERATION && e.version.era == 2 &&
	            e.version.number == UINT64_MAX);
	given = (struct weir_entry){ .kind = WEIR_ENTRY_CALL, .node = 0xbeef, .version = { 0, 0 } };
	n = weir__entry_write(data, &given);
	assert_memory_equal(data, "000000000000beef 0.0", n);
	e = read_as(id, "c", data, n);
	assert_true(e.kind == WEIR_ENTRY_CALL && e.node == 0xbeef && e.version.era == 0);
}

static void test_damaged_generations_and_calls_are_refused(void **state)
{
	(void)state;
	refused_text("g", "", "no version");
	refused_text("g", "1", "no version");
	refused_text("g", "1.01", "no version");
	refused_text("g", "1.0", "no version");
	refused_text("g", "0.1", "no version");
	refused_text("g", "1.2 ", "no version");
	refused_text("c", "000000000000beef", "a node and a version");
	refused_text("c", "000000000000beef ", "a node and a version");
	refused_text("c", "000000000000BEEF 1.2", "a node and a version");
	refused_text("c", "0000000000000000 1.2", "a node and a version");
	refused_text("c", "000000000000beef-1.2", "a node and a version");
}

static void test_an_epoch_begins_once_and_after_an_older_one(void **state)
{
	static const struct weir_log_id first = { 3, 1 };
	struct iovec strings[STRINGS];
	(void)state;
	struct weir_entry e = read_as(first, "p", "2-77", 4);
	assert_true(e.kind == WEIR_ENTRY_EPOCH && e.last.epoch == 2 && e.last.n == 77);
	refused_text("p", "2-77", "not the first");
	make(strings, "p", "3-0", 3);
	refused_at(first, strings, STRINGS, -EBADMSG, "not the first");
	make(strings, "p", "2-", 2);
	refused_at(first, strings, STRINGS, -EBADMSG, "after which entry");
}

static void test_entries_of_a_later_version_are_not_supported(void **state)
{
	struct iovec strings[STRINGS + 2];
	(void)state;
	refused("x", "1", 1, -ENOTSUP, "upgrade");
	refused("bb", "1", 1, -ENOTSUP, "upgrade");
	make(strings, "g", "1.2", 3);
	strings[6] = strings[7] = of("z");
	refused_at(id, strings, STRINGS + 2, -ENOTSUP, "upgrade");
}

static void test_an_entry_without_its_tags_or_id_is_refused(void **state)
{
	static const struct { unsigned at; const char *text; } wrong[] = {
		{ 0, "T" }, { 1, "" }, { 1, "0000000000000000" }, { 1, "00000000000000fg" },
		{ 2, "b" }, { 3, "0123456789abcde" }, { 3, "0123456789ABCDEF" } };
	static const struct weir_log_id bad_ids[] = { { 0, 12 }, { 3, 0 } };
	struct iovec strings[STRINGS];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		make(strings, "g", "1.2", 3);
		strings[wrong[i].at] = of(wrong[i].text);
		refused_at(id, strings, STRINGS, -EBADMSG, "its tag and the one before");
	}
	make(strings, "g", "1.2", 3);
	for (size_t n = 0; n < STRINGS; n++)
		refused_at(id, strings, n, -EBADMSG, "its tag and the one before");
	for (size_t i = 0; i < COUNT_OF(bad_ids); i++)
		refused_at(bad_ids[i], strings, STRINGS, -EBADMSG, "counted from 1");
	strings[3] = of("0000000000000000"); /* the first entry of a log */
	struct weir_entry e;
	assert_ok(weir__entry_read(&e, id, strings, STRINGS));
	assert_int_equal(e.before, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_batch_is_read_as_it_was_written),
		cmocka_unit_test(test_a_batch_has_1_to_8190_whole_hashes_and_a_node),
		cmocka_unit_test(test_a_generation_and_a_call_are_read_as_they_were_written),
		cmocka_unit_test(test_damaged_generations_and_calls_are_refused),
		cmocka_unit_test(test_an_epoch_begins_once_and_after_an_older_one),
		cmocka_unit_test(test_entries_of_a_later_version_are_not_supported),
		cmocka_unit_test(test_an_entry_without_its_tags_or_id_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
