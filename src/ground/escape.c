/* SPDX-License-Identifier: MIT
 * Text of others made fit for a log or a terminal, as `ls -b` does. Whoever names a file, or a key,
 * would otherwise write to the terminal of whoever reads about it. */
#include <stdbool.h>
#include <string.h>
#include <weir/error.h>

enum { UNIT_MOST = 4 }; /* bytes of one character of UTF-8 */

/* Bytes of the character of UTF-8 that the text begins with; 0: it begins with none. Not one is an
 * overlong form, a surrogate, or above U+10FFFF (Unicode 15, table 3-7). */
static size_t character(const unsigned char *text, size_t len)
{
	static const struct {
		unsigned char first, last, bytes, second_from, second_to;
	} forms[] = {
		{ 0x00, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};
	size_t form = 0, n;
	while (form < sizeof forms / sizeof *forms && text[0] > forms[form].last)
		form++;
	if (form == sizeof forms / sizeof *forms || text[0] < forms[form].first)
		return 0;
	n = forms[form].bytes;
	if (n > len || (n > 1 && (text[1] < forms[form].second_from ||
	                          text[1] > forms[form].second_to)))
		return 0;
	for (size_t i = 2; i < n; i++)
		if (text[i] >> 6 != 2)
			return 0;
	return n;
}

/* C0, DEL and C1. */
static bool is_control(const unsigned char *text, size_t bytes)
{
	return bytes == 1 ? *text < 0x20 || *text == 0x7f :
	                    bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

/* Write a byte as an escape. Return: its length. */
static size_t escape(char out[4], unsigned char byte)
{
	const char *letter = byte ? strchr("\nn\tt\rr", byte) : NULL;
	out[0] = '\\';
	if (letter) {
		out[1] = letter[1];
		return 2;
	}
	out[1] = (char)('0' + (byte >> 6));
	out[2] = (char)('0' + (byte >> 3 & 7));
	out[3] = (char)('0' + (byte & 7));
	return 4;
}

/* Write what the text begins with, whole: a character, or the escapes of one, or of a byte that
 * belongs to none. Return: how long it is; @bytes: how many of the text's it stands for. */
static size_t unit(char out[4 * UNIT_MOST], const unsigned char *text, size_t len, size_t *bytes)
{
	size_t n = character(text, len), length = 0;
	*bytes = n ? n : 1;
	if (n && !is_control(text, n)) {
		memcpy(out, text, n);
		return n;
	}
	for (size_t i = 0; i < *bytes; i++)
		length += escape(out + length, text[i]);
	return length;
}

size_t weir_escape(char *out, size_t room, const char *text, size_t len)
{
	size_t taken = 0, length = 0, bytes;
	char next[4 * UNIT_MOST];
	if (!room)
		return 0;
	while (taken < len) {
		size_t n = unit(next, (const unsigned char *)text + taken, len - taken, &bytes);
		if (n >= room - length)
			break;
		memcpy(out + length, next, n);
		length += n;
		taken += bytes;
	}
	out[length] = '\0';
	return taken;
}
