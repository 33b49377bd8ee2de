/* SPDX-License-Identifier: MIT
 * Messages and the ends that they lead to. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "exit.h"
#include "images/images.h"
#include "plain.h"
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

const char *unopened(int err, enum say_file what)
{
	static const char *const remedies[] = {
		[SAY_IMAGE] = ": no image to read: weir build -o makes one",
		[SAY_ROUTER] = ": no image to read: weir route --build -o makes one",
		[SAY_KEYS] = ": no keys to read: give another file",
		[SAY_DELTA] = ": no delta to read: weir delta -o makes one",
		[SAY_HASH_KEY] = ": no hash key to read: give the one that weir build had, or for "
		                 "a new set make one: head -c 16 /dev/urandom",
		[SAY_KEY_PAIR] = ": no key to read: weir replicate key makes a pair",
		[SAY_PASSWORD] = ": no password to read: give another file",
		[SAY_PARQUET] = ": no Parquet file to read: give another name",
	};
	static _Thread_local char text[200];
	snprintf(text, sizeof text, "%s%s", strerror(err), err == ENOENT ? remedies[what] : "");
	return text;
}

int trouble_unopened(int err, const char *file, enum say_file what)
{
	return trouble("%s: %s", file, unopened(err, what));
}

bool is_there(const char *file, enum say_file what)
{
	if (!file || access(file, F_OK) == 0 || errno != ENOENT)
		return true;
	(void)trouble_unopened(ENOENT, file, what);
	return false;
}

const char *opened_or(int err, const char *detail, enum say_file what)
{
	static const char begin[] = "cannot open it: ";
	return strncmp(detail, begin, sizeof begin - 1) == 0 ? unopened(-err, what) : detail;
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
	const char *detail = file ? opened_or(err, detail_without(file), SAY_IMAGE) :
	                            weir_error_detail();
	if (!*detail)
		detail = weir_strerror(err);
	if (file && err == -EBADMSG && image_begins(file))
		say("%s: damaged: %s: restore it, or build it anew", file, detail);
	else if (file)
		say("%s: %s", file, detail);
	else
		say("%s", detail);
}

int trouble_weir(int err, const char *file)
{
	say_weir(err, file);
	return TOOL_TROUBLE;
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
