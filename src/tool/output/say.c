/* SPDX-License-Identifier: MIT
 * Messages and the ends that they lead to; names of others, escaped. */
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

void *need_more(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);
	if (!p) {
		say("no memory for %zu bytes more", bytes);
		exit(TOOL_TROUBLE);
	}
	return p;
}

void *need(size_t bytes)
{
	return need_more(NULL, bytes);
}

void *need_lines(size_t bytes)
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
	enum { LONGEST = 4 }; /* of one byte */
	size_t room = len * LONGEST + 2 * LONGEST + 1;
	char *copy = need(room);
	weir_escape(copy, room, text, len);
	return copy;
}

char *plain_copy(const char *text)
{
	return plain_bytes(text, strlen(text));
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

/* ---- the distance of Damerau and Levenshtein, row by row ---- */

enum { MOST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][MOST + 1] = { 0 };
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
			               least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word)
{
	size_t word_len = strlen(word);
	if (!len || len > MOST || word_len > MOST)
		return;
	size_t d = distance(typed, len, word, word_len);
	size_t most = word_len < 6 ? 2 : word_len / 3;
	bool begins = len >= 2 && strncmp(typed, word, len) == 0;
	if ((!begins && (d >= len || d > most)) || (nearest->word && d >= nearest->distance))
		return;
	*nearest = (struct nearest){ word, d };
}

/* ---- what others named ---- */

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
	(void)plain_write(text, strlen(text), to); /* shows when the stream is closed */
}
