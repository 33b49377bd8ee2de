/* SPDX-License-Identifier: MIT
 * The names and texts of all error codes, and the last error of each thread. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/version.h>
#include "ground/error.h"

/* Escapes untrusted text for a log or a terminal, in the style of `ls -b`. An unescaped file name
 * or key could send control sequences to the reader's terminal. */

enum { UNIT_MOST = 4 }; /* the largest number of bytes in a UTF-8 character */

/* Return: the length in bytes of the UTF-8 character at the start of @text, or 0 if the text starts
 * with anything else. Overlong forms, surrogates and code points above U+10FFFF are not characters
 * (Unicode 15, table 3-7). */
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

/* The code point of a UTF-8 character of @bytes bytes. */
static uint32_t number(const unsigned char *text, size_t bytes)
{
	uint32_t n = bytes == 1 ? text[0] : text[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++)
		n = n << 6 | (text[i] & 0x3f);
	return n;
}

/* Return: true for control characters and for common characters that a terminal interprets or shows
 * as nothing. The list is a choice, not complete. A bidirectional control, for example, can make a
 * sentence read as a different sentence. */
static bool is_hidden(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },       { 0x7f, 0x9f },     /* C0, DEL and C1 */
		{ 0xad, 0xad },                           /* the soft hyphen */
		{ 0x61c, 0x61c },     { 0x180e, 0x180e }, /* the Arabic and Mongolian marks */
		{ 0x200b, 0x200f },                       /* zero-width characters; directions */
		{ 0x2028, 0x202e },                       /* line ends; directions */
		{ 0x2060, 0x206f },                       /* zero-width characters; directions */
		{ 0xfeff, 0xfeff },   { 0xfff9, 0xfffb }, /* the byte order mark; annotations */
		{ 0xe0000, 0xe007f },                     /* tags */
	};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (character <= ranges[i].last)
			return character >= ranges[i].first;
	return false;
}

/* Write a byte as an escape. Return: the length of the escape. */
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

/* Write the first unit of the text. A unit is a visible character, a hidden character as escapes,
 * or the escape of a byte that belongs to no character. Return: the length written; @bytes receives
 * the length read. */
static size_t unit(char out[4 * UNIT_MOST], const unsigned char *text, size_t len, size_t *bytes)
{
	size_t n = character(text, len), length = 0;
	*bytes = n ? n : 1;
	if (n && !is_hidden(number(text, n))) {
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

/* ---- names and texts ---- */

#define WEIR_ERRORS(X) \
	X(EINVAL, "a parameter is out of its range") \
	X(ENOMEM, "not enough memory") \
	X(ENOTSUP, "not supported by this kind, machine or build") \
	X(EFBIG, "larger than the limit that was given") \
	X(EROFS, "the filter or file system is read-only") \
	X(EBADMSG, "the image is damaged") \
	X(EBUSY, "in use by another thread or process") \
	X(EKEYREJECTED, "the key is missing, or another one") \
	X(EKEYEXPIRED, "what was signed has expired") \
	X(ECANCELED, "stopped by the caller") \
	X(EDEADLK, "would wait for itself") \
	X(EINPROGRESS, "on its way") \
	X(ENODATA, "not known") \
	X(EDOM, "the hashes are not uniform") \
	X(ENOBUFS, "no room is left for it") \
	X(ENOLCK, "the system has no lock left") \
	X(ENOENT, "no such file or directory") \
	X(EACCES, "permission denied") \
	X(EPERM, "operation not permitted") \
	X(EEXIST, "the file exists") \
	X(EISDIR, "is a directory") \
	X(ENOTDIR, "a part of the path is not a directory") \
	X(ENOSPC, "no space left") \
	X(EDQUOT, "the disk quota is used up") \
	X(EIO, "input or output error") \
	X(EPIPE, "the reader has gone") \
	X(EINTR, "interrupted") \
	X(EAGAIN, "try again") \
	X(EBADF, "not an open file") \
	X(EMFILE, "too many open files in the process") \
	X(ENFILE, "too many open files in the system") \
	X(ENODEV, "the file cannot be mapped") \
	X(ENXIO, "no such device") \
	X(ELOOP, "too many levels of symbolic links") \
	X(ENAMETOOLONG, "the file name is too long") \
	X(ESTALE, "the file has gone from its server") \
	X(ETXTBSY, "the file is being executed") \
	X(EOVERFLOW, "a number does not fit") \
	X(ERANGE, "a clock is too far from the others") \
	X(ECONNRESET, "the other end has gone") \
	X(ECONNREFUSED, "no server listens there") \
	X(EHOSTUNREACH, "no way to that host") \
	X(ENETUNREACH, "no way to that network") \
	X(EPROTO, "the other end does not speak the protocol") \
	X(EMSGSIZE, "more than the other end may send") \
	X(ENOTCONN, "the socket is not connected") \
	X(ETIMEDOUT, "the other end does not answer") \
	X(ESPIPE, "a pipe or socket has no position") \
	X(EXDEV, "the file would leave its file system") \
	X(EMLINK, "too many links to the file") \
	X(EFAULT, "an address that is not the caller's") \
	X(ENOTRECOVERABLE, "done, but inserts made during it are lost") \
	X(ENOSYS, "the kernel has no such call")

enum { DETAIL = WEIR_SENTENCE_BYTES, CHARACTER = 4 };

/* The thread's last failure. tests/schedule relies on the order of these members. */
static _Thread_local struct {
	char detail[DETAIL];
	size_t taken;
	struct weir_error_info info;
} last;

const char *weir_strerror(int err)
{
	switch (err < 0 ? -(long long)err : err) {
	case 0:
		return "success";
#define TEXT(name, text) \
	case name: \
		return text;
	WEIR_ERRORS(TEXT)
#undef TEXT
	}
	return "unknown error";
}

const char *weir_error_name(int err)
{
	switch (err < 0 ? -(long long)err : err) {
	case 0:
		return "OK";
#define NAME(name, text) \
	case name: \
		return #name;
	WEIR_ERRORS(NAME)
#undef NAME
	}
	return "E?";
}

const char *weir_error_detail(void)
{
	return last.detail;
}

/* The size of every struct is a multiple of its alignment, and SIZE_STEP is the largest alignment
 * of a member. So no number or pointer crosses a multiple of SIZE_STEP, and a size that is such a
 * multiple never ends inside a field. */
enum { SIZE_STEP = _Alignof(struct { size_t size; uint64_t number; }) };

static bool is_size(size_t given)
{
	return given >= sizeof given && given % SIZE_STEP == 0;
}

void weir_error_last(struct weir_error_info *out)
{
	struct weir_error_info info = last.info;
	if (!is_size(out->struct_size))
		return;
	info.struct_size = out->struct_size;
	memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
}

int weir__refused(int err, enum weir_error_code code, const char *thing, double a, double b,
                  double c, double d)
{
	last.info = (struct weir_error_info){ 0, err, code, thing, { a, b, c, d } };
	return err;
}

int weir__unopened(int err, const char *path)
{
	(void)weir__fail(err, "%s: cannot open it: %s", path, weir_strerror(err));
	return weir__refused(err, WEIR_ERROR_OPEN, "errno", -err, 0, 0, 0);
}

size_t weir_error_taken(void)
{
	return last.taken;
}

int64_t weir__stopped(size_t taken, int64_t err)
{
	last.taken = taken;
	return err;
}

static void explain(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void explain(const char *format, va_list args)
{
	/* One character longer than the sentence, so that truncation here cannot split a character
	 * that fits in the sentence. The buffer is separate, since an argument may be the previous
	 * sentence in last.detail. */
	char plain[DETAIL + CHARACTER];
	vsnprintf(plain, sizeof plain, format, args);
	weir_escape(last.detail, sizeof last.detail, plain, strlen(plain));
}

int weir__fail(int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	explain(format, args);
	va_end(args);
	last.info = (struct weir_error_info){ .err = err };
	return err;
}

int weir_fail(int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	explain(format, args);
	va_end(args);
	last.info = (struct weir_error_info){ .err = err };
	return err;
}

const char *weir_version(void)
{
	return WEIR_VERSION_STRING;
}

/* ---- structs that begin with their own size ---- */

int weir__size_check(const void *sized, size_t size, const char *whose)
{
	size_t given;
	if (!sized)
		return weir__fail(-EINVAL, "%s is NULL: start from its _INIT macro", whose);
	memcpy(&given, sized, sizeof given);
	if (!is_size(given) || given > size)
		return weir__fail(-EINVAL, "%s.struct_size %zu: a multiple of %d from %zu to %zu, "
		                  "as its _INIT macro sets it", whose, given, SIZE_STEP,
		                  sizeof given, size);
	return 0;
}

int weir__options_copy(void *out, size_t size, const void *options, const char *whose)
{
	int err = options ? weir__size_check(options, size, whose) : 0;
	if (options && !err)
		memcpy(out, options, *(const size_t *)options);
	return err;
}

/* ---- the result of a progress function as an error ---- */

int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit)
{
	if (!progress || progress(arg, done, total) == 0)
		return 0;
	return weir__fail(-ECANCELED,
	                  "stopped by the caller's progress function after %llu of %llu %s",
	                  (unsigned long long)done, (unsigned long long)total, unit);
}
