/* SPDX-License-Identifier: MIT
 * Messages on stderr. Each begins with the command's name: "weir build: keys.txt: No such file or
 * directory". Quoted names and keys are escaped. Also exit codes, and memory that never fails. */
#ifndef WEIR_TOOL_SAY_H
#define WEIR_TOOL_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- exit codes: man weir has the table ---- */

/* The numbers are in order of severity: for several files, the largest is the exit code. */
enum tool_exit {
	/* Done; found; nothing was lost; all is well. */
	TOOL_OK = 0,
	/* Not found; a key was lost; a set is not well. Or refused, with nothing written: the
	 * input was read, but the result would be wrong or is probably a mistake. The message
	 * names the remedy. */
	TOOL_NO = 1,
	/* Wrong options; a kind that cannot do this; a file that is missing, damaged or cannot be
	 * read or written; no memory. */
	TOOL_TROUBLE = 2,
};

/* ---- messages ---- */

/* Sets the name at the start of every message: "weir", then "weir build". */
void say_as(const char *name);
const char *said_as(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like say(), but returns TOOL_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like trouble(), with a line that points to --help. */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Return: the last refusal of weir_plan_make(), weir_create() or weir_builder_create(), as a
 * message with its numbers (weir_error_last()) and the options of this command. Valid until the
 * next call. */
const char *refusal(void);
/* Prints refusal(). Return: TOOL_TROUBLE. */
int trouble_refused(void);
/* Prints a line that points to --help, after option_next() has reported the fault. */
int misuse_reported(void);
/* Reports the number of input lines that could not be keys, if any. @skipped: --skip-bad was given;
 * else they are an error. */
void say_unanswered(uint64_t lines, bool skipped);

/* Return: memory; without memory, they print a message and exit. */
void *need(size_t bytes);
void *need_more(void *old, size_t bytes);
/* The same, zeroed and aligned to a cache line, for data of threads side by side. */
void *need_lines(size_t bytes);

/* Reports that the file at @path was replaced or removed while the command worked on it.
 * @lost: the end of the message, such as "added is not in it". */
void say_gone(const char *path, const char *lost);
/* Records that the command has saved its file to @path: close_stdout() says so if it loses only the
 * report. */
void say_saved(const char *path);
/* Flushes and closes stdout: a full disk shows only here. Return: TOOL_TROUBLE if output was lost,
 * else @status. */
int close_stdout(int status);

/* ---- the word that a user mistyped ---- */

/* The nearest of the words offered so far. Start from { 0 }. */
struct nearest {
	const char *word; /* NULL: none is near */
	size_t distance;
};

/* Offers a word. A letter inserted, deleted or replaced, or two swapped, is a distance of 1. A word
 * is near if it begins with the typed text, or is at most a third of its letters away (2 of a short
 * word). @len: of @typed. */
void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word);

/* ---- names and keys from outside ---- */

/* Do people read the stream: is it standard error or a terminal? A command escapes the input lines
 * that it selects only then; a pipe gets their bytes. */
bool plain_wanted(FILE *to);

/* Writes @len bytes, escaped by weir_escape(). Return: false if they cannot be written. */
bool plain_write(const char *text, size_t len, FILE *to);

/* Writes text with names from outside, escaped even into a pipe: it may end at a terminal. */
void plain_put(const char *text, FILE *to);

/* Return: the text escaped, for the caller to free. */
char *plain_bytes(const char *text, size_t len);
char *plain_copy(const char *text);

#endif
