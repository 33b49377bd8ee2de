/* SPDX-License-Identifier: MIT
 * A manifest has one form: what is read is written back the same, and whatever differs from it in a
 * byte is refused or says something else. */
#include <errno.h>
#include <weir/kinds.h>
#include "../test.h"
#include "format/manifest.h"

static const char good[] =
	"weir-manifest 1\n"
	"set addresses.v4\n"
	"epoch 0123456789abcdef0123456789abcdef0123456789abcdef01234567\n"
	"generation 12\n"
	"base 11\n"
	"lineage 00000000000000fe\n"
	"position 1526919030474-55\n"
	"entries 1000\n"
	"covered 1526919030474-0\n"
	"kind blocked\n"
	"hashing 00000000deadbeef\n"
	"stream keys\n"
	"source set\n"
	"follows 0f1e2d3c4b5a69788796a5b4c3d2e1f0\n"
	"image 1000001 0123456789abcdeffedcba9876543210\n"
	"chunks 11 100000 00000000000abcde\n"
	"publisher 00000000000000ff\n"
	"published 1526919030999\n"
	"path sets/addresses-12.weir\n"
	"origin 0000000000000001 7\n"
	"origin 00000000000000ff 18446744073709551615\n";

static void test_every_field(void **state)
{
	struct weir_manifest m;
	struct weir_origins o = { 0 };
	(void)state;
	assert_ok(weir__manifest_read(&m, &o, good, strlen(good)));
	assert_string_equal(m.set, "addresses.v4");
	assert_string_equal(m.epoch, "0123456789abcdef0123456789abcdef0123456789abcdef01234567");
	assert_true(m.generation == 12 && m.base == 11 && m.lineage == 254);
	assert_true(m.cursor.at.ms == 1526919030474 && m.cursor.at.number == 55);
	assert_int_equal(m.cursor.consumed, 1000);
	assert_true(m.covered.ms == 1526919030474 && m.covered.number == 0);
	assert_int_equal(m.kind, WEIR_BLOCKED);
	assert_int_equal(m.hashing, 0xdeadbeef);
	assert_true(m.of_keys && m.source == WEIR_SOURCE_SET && m.follows);
	assert_true(m.followed[0] == 0x0f1e2d3c4b5a6978 && m.followed[1] == 0x8796a5b4c3d2e1f0);
	assert_int_equal(m.bytes, 1000001);
	assert_true(m.checksum[0] == 0x0123456789abcdef && m.checksum[1] == 0xfedcba9876543210);
	assert_true(m.chunks == 11 && m.chunk_bytes == 100000 && m.stored == 0xabcde);
	assert_true(m.publisher == 255 && m.published_ms == 1526919030999);
	assert_string_equal(m.path, "sets/addresses-12.weir");
	assert_int_equal(o.n, 2);
	assert_int_equal(weir__origins_find(&o, 1)->sequence, 7);
	assert_true(weir__origins_find(&o, 255)->sequence == UINT64_MAX);
	assert_int_equal(o.waiting, 0);
	weir__origins_free(&o);
}

/* Read it; if that succeeds it must be written back as it was. Return: the answer. */
static int read_and_write(const char *text, size_t len)
{
	struct weir_manifest m;
	struct weir_origins o = { 0 };
	char *written;
	size_t bytes;
	int err = weir__manifest_read(&m, &o, text, len);
	if (!err) {
		assert_ok(weir__manifest_write(&written, &bytes, &m, &o));
		assert_int_equal(bytes, len);
		assert_memory_equal(written, text, len);
		free(written);
	}
	weir__origins_free(&o);
	return err;
}

static void test_every_byte_and_every_cut(void **state)
{
	char text[sizeof good];
	unsigned taken = 0;
	(void)state;
	assert_ok(read_and_write(good, strlen(good)));
	for (size_t i = 0; i < strlen(good); i++) {
		for (int value = 0; value < 256; value++) {
			memcpy(text, good, sizeof good);
			text[i] = (char)value;
			taken += read_and_write(text, strlen(good)) == 0;
		}
	}
	assert_in_range(taken, strlen(good), 100 * strlen(good)); /* itself, and other digits */
	for (size_t cut = 0; cut < strlen(good); cut++) {
		char *exact = malloc(cut ? cut : 1); /* a sanitizer finds who reads on */
		memcpy(exact, good, cut);
		int err = read_and_write(exact, cut);
		/* between its last lines it is whole: those of nodes, and the path */
		assert_true(err == 0 || err == -EBADMSG || err == -ENOTSUP);
		assert_true(err < 0 || good[cut - 1] == '\n');
		free(exact);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *line, *instead;
		int err;
		const char *why;
	} cases[] = {
		{ "weir-manifest 1", "weir-manifest 2", -ENOTSUP, "version 2" },
		{ "weir-manifest 1", "weir-manifest 0", -EBADMSG, "line 1" },
		{ "set addresses.v4", "set ", -EBADMSG, "name" },
		{ "set addresses.v4", "set a{b}", -EBADMSG, "name" },
		{ "set addresses.v4", "name addresses.v4", -EBADMSG, "it is not set" },
		{ "generation 12", "generation 0", -EBADMSG, "begin with 1" },
		{ "generation 12", "generation 9223372036854775807", 0, "" },
		{ "generation 12", "generation 9223372036854775808", -EBADMSG, "none could" },
		{ "generation 12", "generation 11", -EBADMSG, "not below" },
		{ "generation 12", "generation 012", -EBADMSG, "no number" },
		{ "generation 12", "generation 12 ", -EBADMSG, "no number" },
		{ "position 1526919030474-55", "position 0-0", 0, "" },
		{ "entries 1000", "entries 0", -EBADMSG, "do not agree" },
		{ "position 1526919030474-55\nentries 1000", "position 0-1\nentries 0", -EBADMSG,
		  "do not agree" },
		{ "covered 1526919030474-0", "covered 0", -EBADMSG, "no id" },
		{ "kind blocked", "kind counting", -ENOTSUP, "count twice" },
		{ "kind blocked", "kind window", -ENOTSUP, "cannot be replicated" },
		{ "kind blocked", "kind unheard", -ENOTSUP, "unknown here" },
		{ "stream keys\n", "", 0, "" },
		{ "source set\n", "", 0, "" },
		{ "source set", "source record", 0, "" },
		{ "source set", "source again", -EBADMSG, "source of an image" },
		{ "source set", "source s", -EBADMSG, "source of an image" },
		{ "source set", "source ", -EBADMSG, "source of an image" },
		{ "stream keys", "stream key", -EBADMSG, "content of batches" },
		{ "source set", "source record record", -EBADMSG, "source of an image" },
		{ "stream keys", "stream hashes", -EBADMSG, "content of batches" },
		{ "stream keys", "stream keys keys", -EBADMSG, "content of batches" },
		{ "follows 0f1e2d3c4b5a69788796a5b4c3d2e1f0\n", "", 0, "" },
		{ "follows 0f1e", "follows 0f1", -EBADMSG, "hexadecimal" },
		{ "follows 0f1e", "follows 00f1e", -EBADMSG, "hexadecimal" },
		{ "image 1000001 0123", "image 1000001 00123", -EBADMSG, "hexadecimal" },
		{ "follows 0f1e", "follow 0f1e", -EBADMSG, "it is not image" },
		{ "stream keys", "streams keys", -EBADMSG, "it is not image" },
		{ "chunks 11 100000", "chunks 10 100000", -EBADMSG, "do not make the image" },
		{ "chunks 11 100000", "chunks 12 100000", -EBADMSG, "do not make the image" },
		{ "chunks 11 100000", "chunks 0 0", -EBADMSG, "do not make the image" },
		{ "chunks 11 100000", "chunks 1 100000000", -EBADMSG, "do not make the image" },
		{ "chunks 11 100000", "chunks 1000001 1", 0, "" },
		{ "image 1000001 0123456789abcdeffedcba9876543210\nchunks 11 100000",
		  "image 1048576 0123456789abcdeffedcba9876543210\nchunks 1048576 1", 0, "" },
		{ "image 1000001 0123456789abcdeffedcba9876543210\nchunks 11 100000",
		  "image 1048577 0123456789abcdeffedcba9876543210\nchunks 1048577 1", -EBADMSG,
		  "do not make the image" },
		{ "chunks 11 100000 00000000000abcde", "chunks 11 100000", -EBADMSG, "lacking" },
		{ "00000000000abcde", "0000000000abcde", -EBADMSG, "hexadecimal" },
		{ "path sets/addresses-12.weir", "path ../x", -EBADMSG, "no path" },
		{ "path sets/addresses-12.weir", "path /x", -EBADMSG, "no path" },
		{ "path sets/addresses-12.weir", "path a//b", -EBADMSG, "no path" },
		{ "path sets/addresses-12.weir", "path a/./b", -EBADMSG, "no path" },
		{ "path sets/addresses-12.weir", "path a/", -EBADMSG, "no path" },
		{ "path sets/addresses-12.weir", "path a?b", -EBADMSG, "no path" },
		{ "origin 0000000000000001 7", "origin 0000000000000001 0", -EBADMSG, "node" },
		{ "origin 0000000000000001 7", "origin 00000000000000ff 7", -EBADMSG, "order" },
		{ "origin 0000000000000001 7", "origins 0000000000000001 7", -EBADMSG, "origin" },
		{ "origin 0000000000000001 7\n", "\n", -EBADMSG, "it is not origin" },
	};
	char text[2 * sizeof good];
	struct weir_manifest m = { .generation = 4711 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_origins o = { 0 };
		const char *at = strstr(good, cases[i].line);
		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].instead,
		         at + strlen(cases[i].line));
		if (cases[i].err == 0) {
			struct weir_manifest as_read;
			assert_ok(read_and_write(text, strlen(text)));
			assert_ok(weir__manifest_read(&as_read, &o, text, strlen(text)));
			assert_int_equal(as_read.of_keys, strstr(text, "keys") != NULL);
			assert_int_equal(as_read.follows, strstr(text, "follows") != NULL);
			weir__origins_free(&o);
			continue;
		}
		assert_refused(weir__manifest_read(&m, &o, text, strlen(text)), cases[i].err,
		               cases[i].why, "");
		assert_int_equal(m.generation, 4711);
		weir__origins_free(&o);
	}
}

static void test_limits(void **state)
{
	static char text[WEIR_MANIFEST_TEXT + 1];
	struct weir_manifest m;
	struct weir_origins o = { 0 };
	char *written;
	size_t bytes, head = (size_t)(strstr(good, "origin") - good);
	(void)state;
	memset(text, 'a', sizeof text);
	assert_refused(weir__manifest_read(&m, &o, text, sizeof text), -EBADMSG, "4194305", "");
	assert_ok(weir__manifest_read(&m, &o, good, head));
	for (uint64_t i = 1; i <= WEIR_ORIGINS; i++)
		assert_ok(weir__origins_cover(&o, i, UINT64_MAX));
	assert_ok(weir__manifest_write(&written, &bytes, &m, &o));
	assert_true(bytes < WEIR_MANIFEST_TEXT);
	assert_ok(read_and_write(written, bytes));
	char *more = malloc(bytes + 64);
	memcpy(more, written, bytes);
	bytes += (size_t)sprintf(more + bytes, "origin ffffffffffffffff 1\n");
	weir__origins_free(&o);
	assert_refused(weir__manifest_read(&m, &o, more, bytes), -EBADMSG, "too many nodes", "");
	weir__origins_free(&o);
	free(more);
	free(written);
}

static void test_which_kinds(void **state)
{
	static const struct {
		uint32_t kind;
		enum weir_replicable is;
	} kinds[] = {
		{ WEIR_BLOCKED, WEIR_REPLICABLE_INSERTS },
		{ WEIR_CLASSIC, WEIR_REPLICABLE_INSERTS },
		{ WEIR_GROWING, WEIR_REPLICABLE_INSERTS },
		{ WEIR_SPLIT, WEIR_REPLICABLE_INSERTS },
		{ WEIR_FUSE, WEIR_REPLICABLE_IMAGES },
		{ WEIR_LAYERED, WEIR_REPLICABLE_IMAGES },
		{ WEIR_COUNTING, WEIR_REPLICABLE_NOT },
		{ WEIR_CUCKOO, WEIR_REPLICABLE_NOT },
		{ WEIR_FREQUENCY, WEIR_REPLICABLE_NOT },
		{ WEIR_ROUTER, WEIR_REPLICABLE_NOT },
		{ WEIR_WINDOW, WEIR_REPLICABLE_NOT },
		{ 4711, WEIR_REPLICABLE_NOT },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		assert_int_equal(weir__replicable(kinds[i].kind), kinds[i].is);
		if (kinds[i].is != WEIR_REPLICABLE_NOT)
			assert_ok(weir__replicable_check(kinds[i].kind));
		else
			assert_refused(weir__replicable_check(kinds[i].kind), -ENOTSUP,
			               "cannot be replicated",
			               kinds[i].kind == 4711 ? "4711" :
			                                       weir_kind_name(kinds[i].kind));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_every_byte_and_every_cut),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_which_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
