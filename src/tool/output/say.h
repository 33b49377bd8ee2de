/* SPDX-License-Identifier: MIT
 * Prints messages on stderr. Each message begins with the command's name: "weir build: keys.txt: No
 * such file or directory". Quoted names and keys are escaped. This header also declares the exit
 * codes, and allocators that exit if memory is short. */
#ifndef WEIR_TOOL_SAY_H
#define WEIR_TOOL_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- exit codes: man weir has the table ---- */

/* The numbers are in order of severity. A command that reads several files exits with the
 * largest. */
enum tool_exit {
	/* The command succeeded: a query found a line, a drill lost no key, a set is healthy. */
	TOOL_OK = 0,
	/* The answer is no: a query found no line, a drill lost a key, a set is unhealthy. Also
	 * used if the command refused to write a result that would be wrong or is probably a
	 * mistake; the message then names the remedy. */
	TOOL_NO = 1,
	/* An error: a wrong option, a kind that cannot do what was asked, no memory, or a file that
	 * is missing, damaged, unreadable or not writable. */
	TOOL_TROUBLE = 2,
};

/* ---- messages ---- */

/* Sets the name at the start of every message, such as "weir build". The default is "weir". */
void say_as(const char *name);
const char *said_as(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like say(), but returns TOOL_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a message and a line that points to --help. Return: TOOL_TROUBLE. */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Return: a message for the last error of weir_plan_make(), weir_create() or weir_builder_create().
 * The message names the options of this command instead of the library's parameters, and is valid
 * until the next call. */
const char *refusal(void);
/* Prints refusal(). Return: TOOL_TROUBLE. */
int trouble_refused(void);
/* Prints a line that points to --help, after option_next() has reported the fault. Return:
 * TOOL_TROUBLE. */
int misuse_reported(void);
/* Reports how many input lines could not be keys. Prints nothing if @lines is 0. @skipped: true if
 * --skip-bad was given. */
void say_unanswered(uint64_t lines, bool skipped);

/* These allocators never return NULL. They print a message and exit if memory is short. */
void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);
/* Allocates zeroed memory that begins at a cache line, for data of several threads. Exits with a
 * message if memory is short. */
void *xzalloc_lines(size_t bytes);

/* Reports that the file at @path was replaced or removed while the command worked on it.
 * @lost: the end of the message, such as "added is not in it". */
void say_gone(const char *path, const char *lost);
/* Records that the command has saved its file to @path. If the report cannot be written to stdout
 * afterwards, the message of close_stdout() says that the file was saved. */
void say_saved(const char *path);
/* Flushes and closes stdout, since a full disk may show only then. Return: TOOL_TROUBLE if output
 * was lost, else @status. */
int close_stdout(int status);

/* ---- the word that a user mistyped ---- */

/* The nearest of the words offered so far. Initialise with { 0 }. */
struct nearest {
	const char *word; /* NULL if no word is near */
	size_t distance;
};

/* Records @word if it is near @typed, and nearer than nearest->word. @len: bytes of @typed. The
 * distance is the number of typing errors: a letter inserted, deleted or replaced, or two
 * neighbours swapped. A word that begins with @typed is near if @typed has at least 2 letters. Any
 * other word is near if the distance is below @len and within a limit. The limit is 2 for a word of
 * under 6 letters, and a third of the word's length for a longer word. */
void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word);

/* ---- names and keys from outside ---- */

/* Return: true if the stream is stderr or a terminal, which people read. Commands escape the input
 * lines that they select for people, and write the raw bytes to a pipe. */
bool plain_wanted(FILE *to);

/* Writes @len bytes, escaped by weir_escape(). Return: false if the write fails. */
bool plain_write(const char *text, size_t len, FILE *to);

/* Writes text that may contain names from outside. The text is escaped even for a pipe, since the
 * pipe may end at a terminal. */
void plain_put(const char *text, FILE *to);

/* Return: an escaped copy of the text, which the caller frees. */
char *plain_bytes(const char *text, size_t len);
char *plain_copy(const char *text);

#endif
