/* SPDX-License-Identifier: MIT
 * Prints messages, and escapes names from outside. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "progress.h"
#include "say.h"

static const char *name = "weir";

void say_as(const char *new_name)
{
	name = new_name;
}

const char *said_as(void)
{
	return name;
}

static void say_list(const char *format, va_list args)
{
	char *text = NULL;
	int len = vasprintf(&text, format, args);
	flockfile(stderr);
	progress_wipe();
	fprintf(stderr, "%s: ", name);
	if (len >= 0)
		plain_write(text, (size_t)len, stderr);
	else
		fputs("no memory for a message", stderr);
	fputc('\n', stderr);
	funlockfile(stderr);
	if (len >= 0)
		free(text);
}

void say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_list(format, args);
	va_end(args);
}

int trouble(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_list(format, args);
	va_end(args);
	return TOOL_TROUBLE;
}

int misuse_reported(void)
{
	fprintf(stderr, "Try '%s --help'.\n", name);
	return TOOL_TROUBLE;
}

int misuse(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_list(format, args);
	va_end(args);
	return misuse_reported();
}

void say_unanswered(uint64_t lines, bool skipped)
{
	if (lines && skipped)
		say("lines passed over: %llu", (unsigned long long)lines);
	else if (lines)
		say("lines without an answer: %llu: all others were looked up",
		    (unsigned long long)lines);
}

void *xrealloc(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);
	if (!p) {
		say("no memory for %zu bytes more", bytes);
		exit(TOOL_TROUBLE);
	}
	return p;
}

void *xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

void *xzalloc_lines(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
	if (!p) {
		say("no memory for %zu bytes more", bytes);
		exit(TOOL_TROUBLE);
	}
	return memset(p, 0, bytes);
}

char *plain_bytes(const char *text, size_t len)
{
	enum { LONGEST = 4 }; /* characters of the longest escape for one byte */
	size_t room = len * LONGEST + 2 * LONGEST + 1;
	char *copy = xmalloc(room);
	weir_escape(copy, room, text, len);
	return copy;
}

char *plain_copy(const char *text)
{
	return plain_bytes(text, strlen(text));
}

void say_gone(const char *path, const char *lost)
{
	say("%s: was replaced or removed during the call, so what was to be %s", path, lost);
}

static const char *saved;

void say_saved(const char *path)
{
	saved = path;
}

int close_stdout(int status)
{
	errno = 0;
	int lost = ferror(stdout);
	if (!fclose(stdout) && !lost)
		return status;
	const char *why = strerror(errno ? errno : EIO);
	if (saved)
		return trouble("%s was saved, but its report could not be written: %s", saved, why);
	return trouble("cannot write the output: %s", why);
}

/* ---- names and keys from outside ---- */

bool plain_wanted(FILE *to)
{
	return to == stderr || isatty(fileno(to));
}

bool plain_write(const char *text, size_t len, FILE *to)
{
	char part[4096];
	while (len) {
		size_t taken = weir_escape(part, sizeof part, text, len);
		if (fputs(part, to) < 0)
			return false;
		text += taken;
		len -= taken;
	}
	return true;
}

void plain_put(const char *text, FILE *to)
{
	(void)plain_write(text, strlen(text), to); /* close_stdout() reports the failure */
}
