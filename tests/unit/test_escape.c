/* SPDX-License-Identifier: MIT
 * Names from untrusted sources in error messages and in weir_escape(). No byte of a name reaches
 * the terminal as a control sequence. */
#include <errno.h>
#include "../test.h"

static void bytes_are_escaped_or_kept(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "" },
		{ "keys.txt", "keys.txt" },
		{ "a b\\c\"d'", "a b\\c\"d'" },
		{ "two\nlines\tand\rmore", "two\\nlines\\tand\\rmore" },
		{ "\033[2J\a\x7f", "\\033[2J\\007\\177" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\x9b" "2J\xc2\x80\xc2\x9f", "\\302\\2332J\\302\\200\\302\\237" },
		{ "\xc2\xa0", "\xc2\xa0" },
		{ "caf\xe9", "caf\\351" },               /* Latin-1 */
		/* a C1 control on a terminal without UTF-8 */
		{ "\x9b" "2J", "\\2332J" },
		{ "\xc0\x8a", "\\300\\212" },            /* overlong */
		{ "\xe0\x9f\xbf", "\\340\\237\\277" },   /* overlong */
		{ "\xf0\x8f\xbf\xbf", "\\360\\217\\277\\277" }, /* overlong */
		{ "\xe1\x80\xc0", "\\341\\200\\300" }, /* no continuation byte */
		{ "\xe1\xc0\x80", "\\341\\300\\200" },
		{ "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80" },
		{ "\xef\xbf\xbd\xf1\x80\x80\x80", "\xef\xbf\xbd\xf1\x80\x80\x80" },
		{ "\xed\xa0\x80", "\\355\\240\\200" },   /* a surrogate */
		{ "\xf4\x90\x80\x80", "\\364\\220\\200\\200" }, /* above U+10FFFF */
		{ "\xe2\x82", "\\342\\202" },            /* truncated */
		{ "\xe2\x82x\xf0\x9f\x98y", "\\342\\202x\\360\\237\\230y" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char out[100];
		size_t len = strlen(cases[i].from);
		assert_int_equal(weir_escape(out, sizeof out, cases[i].from, len), len);
		assert_string_equal(out, cases[i].to);
		assert_int_equal(weir_escape(out, sizeof out, cases[i].to, strlen(cases[i].to)),
		                 strlen(cases[i].to));
		assert_string_equal(out, cases[i].to); /* escaping again changes nothing */
	}
}

/* Invisible characters could reverse or end the line of a report. */
static void invisible_characters_are_escaped(void **state)
{
	static const struct {
		const char *text;
		bool hidden;
	} cases[] = {
		{ "\u061c", true }, { "\u200e", true }, { "\u200f", true }, { "\u202a", true },
		{ "\u202e", true }, { "\u2066", true }, { "\u2069", true }, /* directions */
		{ "\u2028", true }, { "\u2029", true }, /* line and paragraph separators */
		{ "\u200b", true }, { "\u200d", true }, { "\u2060", true }, { "\u206f", true },
		{ "\ufeff", true }, { "\u180e", true }, { "\ufff9", true }, { "\ufffb", true },
		{ "\xc2\xad", true }, { "\U000e0001", true }, { "\U000e007f", true },
		/* these code points are next to a hidden range, but are text */
		{ "\u061b", false }, { "\u061d", false }, { "\u200a", false }, { "\u2010", false },
		{ "\u2027", false }, { "\u202f", false }, { "\u205f", false }, { "\u2070", false },
		{ "\ufefe", false }, { "\uff00", false }, { "\ufff8", false }, { "\ufffc", false },
		{ "\xc2\xac", false }, { "\xc2\xae", false }, { "\U000e0080", false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *text = cases[i].text;
		const size_t len = strlen(text);
		char out[17], octal[17] = "";
		for (size_t k = 0; k < len; k++)
			sprintf(octal + 4 * k, "\\%03o", (unsigned char)text[k]);
		assert_int_equal(weir_escape(out, sizeof out, text, len), len);
		assert_string_equal(out, cases[i].hidden ? octal : text);
	}
}

/* Asserts that @text has no control character: C0, DEL or C1 (C2 80 to C2 9F in UTF-8). */
static void assert_plain(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	for (; *p; p++) {
		assert_true(*p >= 0x20 && *p != 0x7f);
		assert_false(p[0] == 0xc2 && p[1] < 0xa0);
	}
}

static void no_pair_of_bytes_is_a_control_character(void **state)
{
	char out[32];
	(void)state;
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b++) {
			const char pair[2] = { (char)a, (char)b };
			assert_int_equal(weir_escape(out, sizeof out, pair, 2), 2);
			assert_plain(out);
		}
}

/* weir_escape() writes as much of the text as fits into the buffer. Each call continues where the
 * call before it ended, so the outputs together are the whole escaped text. */
static void no_escape_is_split(void **state)
{
	static const char text[] = "a\033b\xc2\x9b" "c\xe2\x82\xac\n\xf0\x9f\x98\x80\xff";
	static const char whole[] = "a\\033b\\302\\233c\xe2\x82\xac\\n\xf0\x9f\x98\x80\\377";
	(void)state;
	assert_int_equal(weir_escape(NULL, 0, text, 5), 0);
	for (size_t room = 1; room < 40; room++) {
		char out[48], all[128] = "";
		size_t at = 0, n;
		do {
			memset(out, '#', sizeof out);
			n = weir_escape(out, room, text + at, sizeof text - 1 - at);
			assert_true(strlen(out) < room);
			for (size_t i = room; i < sizeof out; i++)
				assert_int_equal(out[i], '#');
			strcat(all, out);
			at += n;
		} while (n);
		assert_true(room < 9 || at == sizeof text - 1);
		assert_memory_equal(all, whole, strlen(all));
		assert_true(strlen(all) == strlen(whole) || room < 9);
	}
}

/* Return: the error message of weir_load() for a missing file. The message begins with @path. */
static const char *sentence_about(const char *path)
{
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_path(path), NULL);
	assert_true(err == -ENOENT || err == -ENAMETOOLONG);
	return weir_error_detail();
}

static void a_file_name_cannot_write_to_the_terminal(void **state)
{
	(void)state;
	const char *sentence = sentence_about("/nowhere/\033]0;owned\a\n\xc2\x9b" "2J\xff.weir");
	assert_plain(sentence);
	assert_non_null(strstr(sentence, "/nowhere/\\033]0;owned\\007\\n\\302\\2332J\\377.weir: "));
	sentence = sentence_about("/nowhere/gr\xc3\xb6\xc3\x9f" "e.weir");
	assert_non_null(strstr(sentence, "/nowhere/gr\xc3\xb6\xc3\x9f" "e.weir: "));
}

/* For a name of any length, the error message ends in a whole escape or a whole character. */
static void a_long_sentence_is_cut_between_characters(void **state)
{
	static const char *const units[] = { "\033", "\xc2\x9b", "\xff", "\xe2\x82\xac",
	                                     "\xf0\x9f\x98\x80", "x" };
	(void)state;
	for (size_t u = 0; u < COUNT_OF(units); u++)
		for (size_t shift = 0; shift < 8; shift++) {
			char path[700] = "/nowhere/", again[600];
			memset(path + 9, 'x', shift);
			while (strlen(path) < 600)
				strcat(path, units[u]);
			const char *sentence = sentence_about(path);
			size_t length = strlen(sentence);
			assert_plain(sentence);
			assert_true(length <= 511 && length > 511 - 8);
			/* escaping again changes nothing */
			assert_int_equal(weir_escape(again, sizeof again, sentence, length),
			                 length);
			assert_string_equal(again, sentence);
			char *last = strrchr(sentence, '\\');
			assert_true(!last || strlen(last) == 4);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_escaped_or_kept),
		cmocka_unit_test(invisible_characters_are_escaped),
		cmocka_unit_test(no_pair_of_bytes_is_a_control_character),
		cmocka_unit_test(no_escape_is_split),
		cmocka_unit_test(a_file_name_cannot_write_to_the_terminal),
		cmocka_unit_test(a_long_sentence_is_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
