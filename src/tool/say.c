/* SPDX-License-Identifier: MIT
 * Messages and the ends that they lead to. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "plain.h"
#include "progress.h"
#include "say.h"
#include "tool.h"

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

const char *detail_without(const char *file)
{
	const char *detail = weir_error_detail();
	char *shown = plain_copy(file); /* escaped, as all of the sentence */
	size_t len = strlen(shown);
	int descriptor = 0;
	if (strncmp(detail, shown, len) == 0 && strncmp(detail + len, ": ", 2) == 0)
		detail += len + 2;
	else
		(void)sscanf(detail, "file descriptor %*d: %n", &descriptor);
	free(shown);
	return detail + descriptor;
}

void say_weir(int err, const char *file)
{
	const char *detail = file ? detail_without(file) : weir_error_detail();
	if (!*detail)
		detail = weir_strerror(err);
	if (file)
		say("%s: %s", file, detail);
	else
		say("%s", detail);
}

int trouble_weir(int err, const char *file)
{
	say_weir(err, file);
	return TOOL_TROUBLE;
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

int close_stdout(int status)
{
	errno = 0;
	int lost = ferror(stdout);
	if (fclose(stdout) || lost)
		return trouble("cannot write the output: %s", strerror(errno ? errno : EIO));
	return status;
}
