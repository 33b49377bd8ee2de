/* SPDX-License-Identifier: MIT
 * A manifest has one form: if it can be read, it is written back unchanged. A text that differs in
 * a byte is refused or has another meaning. */
#include <errno.h>
#include <weir/kinds.h>
#include "../../test.h"
#include "format/manifest.h"

#define HASH "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"

static const char good[] =
	"weir-generation 2\n"
	"set addresses.v4\n"
	"version 2.12\n"
	"id 00000000000000aa\n"
	"position 7-55 00000000000000bb\n"
	"parent 2.11 00000000000000cc\n"
	"source set\n"
	"pure\n"
	"image " HASH " 1048513 2\n"
	"kind blocked\n"
	"hashing 00000000deadbeef\n"
	"steps 3\n"
	"publisher 00000000000000ff\n"
	"signed 1526919030999\n"
	"expires 1526919031000\n"
	"has 00000000000000aa\n"
	"has 00000000000000cc\n";

static void test_every_field_is_read(void **state)
{
	struct weir_manifest m;
	(void)state;
	assert_ok(weir__manifest_read(&m, good, strlen(good)));
	assert_string_equal(m.set, "addresses.v4");
	assert_true(m.version.era == 2 && m.version.number == 12 && m.id == 0xaa);
	assert_true(m.position.epoch == 7 && m.position.n == 55 && m.tag == 0xbb);
	assert_true(m.parent.era == 2 && m.parent.number == 11 && m.parent_id == 0xcc);
	assert_true(m.source == WEIR_SOURCE_SET && m.pure);
	for (unsigned i = 0; i < WEIR_IMAGE_HASH; i++)
		assert_int_equal(m.image[i], i + 1);
	assert_true(m.bytes == 1048513 && m.chunks == 2);
	assert_true(m.kind == WEIR_BLOCKED && m.hashing == 0xdeadbeef && m.steps == 3);
	assert_true(m.publisher == 255 && m.signed_ms == 1526919030999 &&
	            m.expires_ms == 1526919031000);
	assert_true(m.has.n == 2 && m.has.id[0] == 0xaa && m.has.id[1] == 0xcc);
}

/* Read @text. If that succeeds, the manifest must be written back unchanged. Return: the result. */
static int read_and_write(const char *text, size_t len)
{
	struct weir_manifest m = { .id = 4711 };
	char written[WEIR_MANIFEST_TEXT];
	int err = weir__manifest_read(&m, text, len);
	if (err) {
		assert_int_equal(m.id, 4711);
		return err;
	}
	assert_int_equal(weir__manifest_write(written, &m), len);
	assert_memory_equal(written, text, len);
	return 0;
}

/* Copy the good manifest with @from replaced by @to. Return: the length of the copy. */
static size_t with(char text[2 * WEIR_MANIFEST_TEXT], const char *from, const char *to)
{
	const char *at = strstr(good, from);
	assert_non_null(at);
	size_t n = (size_t)snprintf(text, 2 * WEIR_MANIFEST_TEXT, "%.*s%s%s", (int)(at - good),
	                            good, to, at + strlen(from));
	return n;
}

/* Add the line "seen", which generations have after redis has lost the set. */
static size_t with_seen(char text[2 * WEIR_MANIFEST_TEXT])
{
	return with(text, "source set\n", "seen 00000000000000dd 6-77\nsource set\n");
}

/* @whole: a valid manifest of @n bytes. */
static void change_and_cut(const char *whole, size_t n)
{
	static char text[2 * WEIR_MANIFEST_TEXT];
	assert_ok(read_and_write(whole, n));
	for (size_t i = 0; i < n; i++) {
		/* A separate allocation, so that a sanitizer detects reads beyond its end. */
		char *cut = malloc(i ? i : 1);
		assert_non_null(cut);
		memcpy(cut, whole, i);
		int err = read_and_write(cut, i);
		assert_true(err == -EBADMSG || err == -ENOTSUP ||
		            (err == 0 && whole[i - 1] == '\n'));
		free(cut);
		for (unsigned byte = 0; byte < 256; byte++) {
			memcpy(text, whole, n);
			text[i] = (char)byte;
			(void)read_and_write(text, n);
		}
	}
}

static void test_every_byte_changed_and_every_cut_is_refused_or_says_something_else(void **state)
{
	static char text[2 * WEIR_MANIFEST_TEXT];
	(void)state;
	change_and_cut(good, strlen(good));
	change_and_cut(text, with_seen(text));
}

static void test_a_contradiction_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *from, *to, *line, *why;
	} wrong[] = {
		{ "set addresses.v4", "set a/b", "line 2", "name of a set" },
		{ "set addresses.v4", "set ", "line 2", "name of a set" },
		{ "version 2.12", "version 2.0", "line 3", "from 1.1 on" },
		{ "version 2.12", "version 0.12", "line 3", "from 1.1 on" },
		{ "version 2.12", "version 2.9007199254740992", "line 3", "UNLINK the head" },
		{ "version 2.12", "version 9007199254740992.1", "line 3", "UNLINK the head" },
		{ "id 00000000000000aa\np", "id 0000000000000000\np", "line 4", "not 0" },
		{ "7-55 00000000000000bb", "7-55 0000000000000000", "line 5", "no tag" },
		{ "7-55 00000000000000bb", "0-0 00000000000000bb", "line 5", "no tag" },
		{ "7-55 00000000000000bb", "7-0 00000000000000bb", "line 5", "no tag" },
		{ "7-55 00000000000000bb", "7-55", "line 5", "value is missing" },
		{ "2.11 00000000000000cc", "2.12 00000000000000cc", "line 6", "not older" },
		{ "2.11 00000000000000cc", "3.1 00000000000000cc", "line 6", "not older" },
		{ "2.11 00000000000000cc", "2.11 00000000000000aa", "line 6", "parent" },
		{ "2.11 00000000000000cc", "2.11 0000000000000000", "line 6", "parent" },
		{ "2.11 00000000000000cc", "0.0 00000000000000cc", "line 6", "parent" },
		{ "2.11 00000000000000cc", "1.9007199254740992 00000000000000cc", "line 6",
		  "parent" },
		{ "parent 2.11 00000000000000cc", "parent none", "line 8", "no parent" },
		{ "parent 2.11 00000000000000cc", "parent 1.11 00000000000000cc", "line 8",
		  "no parent of its era" },
		{ "source set", "source image", "line 7", "record" },
		{ " 1048513 2\n", " 1048512 2\n", "line 9", "so many chunks" },
		{ " 1048513 2\n", " 0 0\n", "line 9", "so many chunks" },
		{ " 1048513 2\n", " 0 1\n", "line 9", "so many chunks" },
		{ " 1048513 2\n", " 18446744073709551615 17593259786241\n", "line 9", "so many" },
		{ "image 01", "image 0x", "line 9", "64 hexadecimal digits" },
		{ "image 01", "image 0", "line 9", "64 hexadecimal digits" },
		{ "steps 3", "steps 4294967296", "line 12", "no such steps" },
		{ "steps 3", "steps 03", "line 12", "not a number" },
		{ "publisher 00000000000000ff", "publisher 0000000000000000", "line 13", "node" },
		{ "1526919031000", "1526919030999", "line 15", "expired before" },
		{ "has 00000000000000cc", "has 00000000000000aa", "line 17", "stands once" },
		{ "has 00000000000000cc", "has 0000000000000000", "line 17", "not 0" },
		{ "has 00000000000000cc\n", "has 00000000000000cc", "line 17", "no end" },
		{ "has 00000000000000cc\n", "has 00000000000000cc\nmore\n", "line 18", "not has" },
		{ "kind blocked", "kind  blocked", "line 10", "no kind" },
	};
	static char text[2 * WEIR_MANIFEST_TEXT];
	struct weir_manifest m;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		size_t n = with(text, wrong[i].from, wrong[i].to);
		int err = weir__manifest_read(&m, text, n);
		assert_refused(err, strstr(wrong[i].to, "kind") ? -ENOTSUP : -EBADMSG,
		               wrong[i].line, wrong[i].why);
	}
}

static void test_later_formats_and_other_kinds_are_not_supported(void **state)
{
	static const struct { const char *from, *to, *why; } wrong[] = {
		{ "weir-generation 2", "weir-generation 3", "upgrade" },
		{ "kind blocked", "kind newest", "upgrade" },
		{ "kind blocked", "kind counting", "count twice" },
		{ "kind blocked", "kind window", "count twice" },
	};
	static char text[2 * WEIR_MANIFEST_TEXT];
	struct weir_manifest m;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		size_t n = with(text, wrong[i].from, wrong[i].to);
		assert_refused(weir__manifest_read(&m, text, n), -ENOTSUP, "", wrong[i].why);
	}
	size_t n = with(text, "kind blocked", "kind fuse");
	assert_ok(read_and_write(text, n));
}

static void test_optional_lines_may_be_missing(void **state)
{
	static const struct { const char *from, *to; } other[] = {
		{ "pure\n", "" }, { "parent 2.11 00000000000000cc\nsource set\npure\n",
		                    "parent none\nsource rollback\n" },
		{ "source set\n", "source record\n" }, /* like a record that is signed again */
		{ "7-55 00000000000000bb", "0-0 0000000000000000" },
		{ "expires 1526919031000", "expires 0" },
		{ "has 00000000000000aa\nhas 00000000000000cc\n", "" },
	};
	static char text[2 * WEIR_MANIFEST_TEXT];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(other); i++) {
		size_t n = with(text, other[i].from, other[i].to);
		assert_ok(read_and_write(text, n));
	}
}

static void test_the_largest_manifest_has_room_and_one_more_id_is_refused(void **state)
{
	struct weir_manifest m;
	static char text[2 * WEIR_MANIFEST_TEXT];
	(void)state;
	assert_ok(weir__manifest_read(&m, good, strlen(good)));
	memset(m.set, 'x', WEIR_SET_NAME);
	m.version = m.parent = (struct weir_version){ 9007199254740991, 9007199254740991 };
	m.parent.number--;
	m.position = (struct weir_log_id){ 9007199254739999, 9007199254739999 };
	m.seen = (struct weir_seen){ UINT64_MAX, m.position };
	m.bytes = (uint64_t)WEIR_CHUNK * WEIR_CHUNKS;
	m.chunks = WEIR_CHUNKS;
	m.steps = UINT32_MAX;
	m.signed_ms = UINT64_MAX - 1;
	m.expires_ms = UINT64_MAX;
	for (m.has.n = 0; m.has.n < WEIR_HAS; m.has.n++)
		m.has.id[m.has.n] = UINT64_MAX - m.has.n;
	size_t n = weir__manifest_write(text, &m);
	assert_ok(read_and_write(text, n));
	n += (size_t)sprintf(text + n, "has 0000000000000001\n");
	assert_refused(weir__manifest_read(&m, text, n), -EBADMSG, "too many ids", "line");
	assert_refused(weir__manifest_read(&m, text, WEIR_MANIFEST_TEXT + 1), -EBADMSG, "4097",
	               "4096");
}

static void test_seen_line_is_read_and_may_be_absent(void **state)
{
	static char text[2 * WEIR_MANIFEST_TEXT];
	struct weir_manifest m;
	(void)state;
	const size_t n = with_seen(text);
	assert_ok(weir__manifest_read(&m, text, n));
	assert_true(m.seen.mark == 0xdd && m.seen.id.epoch == 6 && m.seen.id.n == 77);
	assert_ok(read_and_write(text, n));
	assert_ok(weir__manifest_read(&m, good, strlen(good)));
	assert_true(!m.seen.mark && !m.seen.id.epoch && !m.seen.id.n);
	m.seen.id.epoch = 6; /* the writer ignores this id, since mark is 0 */
	assert_int_equal(weir__manifest_write(text, &m), strlen(good));
}

static void test_malformed_seen_line_is_refused(void **state)
{
#define SEEN "seen 00000000000000dd 6-77\n"
	static const struct { const char *from, *to, *line, *why; } wrong[] = {
		{ "source", "seen 0000000000000000 6-77\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 0-0\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 0-77\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 9007199254740992-1\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 6-9007199254740992\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 6-18446744073709551616\nsource", "line 7",
		  "mark" },
		{ "source", "seen 00000000000000dd 6-077\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 6\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd 6-77 \nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000DD 6-77\nsource", "line 7", "mark" },
		{ "source", "seen 000000000000dd 6-77\nsource", "line 7", "mark" },
		{ "source", "seen 00000000000000dd\nsource", "line 7", "value is missing" },
		{ "source", "seen\nsource", "line 7", "not source" },
		{ "source", SEEN SEEN "source", "line 8", "not source" },
		{ "parent", SEEN "parent", "line 6", "not parent" },
		{ "pure", SEEN "pure", "line 8", "not image" },
		{ "image", SEEN "image", "line 9", "not image" },
		{ "has 0", SEEN "has 0", "line 16", "not has" },
	};
#undef SEEN
	static char text[2 * WEIR_MANIFEST_TEXT];
	struct weir_manifest m;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		const size_t n = with(text, wrong[i].from, wrong[i].to);
		assert_refused(weir__manifest_read(&m, text, n), -EBADMSG, wrong[i].line,
		               wrong[i].why);
	}
}

static void test_a_position_that_no_node_makes_is_refused(void **state)
{
	const uint64_t beyond = 9007199254740000;
	const struct weir_log_id wrong[] = { { beyond, 1 }, { 1, beyond },
		                             { UINT64_MAX, UINT64_MAX } };
	struct weir_manifest m, read;
	char text[WEIR_MANIFEST_TEXT];
	(void)state;
	assert_ok(weir__manifest_read(&m, good, strlen(good)));
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		m.position = wrong[i];
		const size_t n = weir__manifest_write(text, &m);
		assert_refused(weir__manifest_read(&read, text, n), -EBADMSG, "line 5", "id");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_is_read),
		cmocka_unit_test(
			test_every_byte_changed_and_every_cut_is_refused_or_says_something_else),
		cmocka_unit_test(test_a_contradiction_is_refused_with_its_line),
		cmocka_unit_test(test_later_formats_and_other_kinds_are_not_supported),
		cmocka_unit_test(test_seen_line_is_read_and_may_be_absent),
		cmocka_unit_test(test_malformed_seen_line_is_refused),
		cmocka_unit_test(test_a_position_that_no_node_makes_is_refused),
		cmocka_unit_test(test_optional_lines_may_be_missing),
		cmocka_unit_test(test_the_largest_manifest_has_room_and_one_more_id_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
