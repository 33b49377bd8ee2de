/* SPDX-License-Identifier: MIT
 * Messages on stderr, each led by the command's name: "weir build: keys.txt: No such file or
 * directory". Quoted names and keys are escaped. The exit codes; memory, or a message and exit. */
#ifndef WEIR_TOOL_SAY_H
#define WEIR_TOOL_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- exit codes: man weir has the table ---- */

/* The numbers are in order: of several files the worst counts. */
enum tool_exit {
	/* Done; found; nothing was lost; all is well. */
	TOOL_OK = 0,
	/* Not found; a key was lost; a set is not well. Or refused, and nothing was written: all
	 * was read, but the result would be wrong or is hardly meant. The message names the
	 * remedy. */
	TOOL_NO = 1,
	/* Wrong options; a kind that cannot do this; a file that is missing, damaged or cannot be
	 * read or written; no memory. */
	TOOL_TROUBLE = 2,
};

/* ---- messages ---- */

/* The name that leads every message: "weir", then "weir build". */
void say_as(const char *name);
const char *said_as(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As say(); returns TOOL_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As trouble(), with a line that points to --help. */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last refusal of weir_plan_make(), weir_create() or weir_builder_create(), worded from its
 * numbers (weir_error_last()) with the options of this command. Valid until the next call. */
const char *refusal(void);
/* As trouble(), with that sentence. */
int trouble_refused(void);
/* After option_next() has reported what is wrong: a line that points to --help. */
int misuse_reported(void);
/* Report how many input lines could not be keys, if any. @skipped: --skip-bad was given; else they
 * are an error. */
void say_unanswered(uint64_t lines, bool skipped);

/* Memory, or a message and exit. */
void *need(size_t bytes);
void *need_more(void *old, size_t bytes);
/* Zeroed, at the beginning of a cache line: for what threads write side by side. */
void *need_lines(size_t bytes);

/* Say that the file at @path was replaced or removed while the command worked on it.
 * @lost: the sentence's end, such as "added is not in it". */
void say_gone(const char *path, const char *lost);
/* The command has saved its file to @path: close_stdout() says so if only the report is lost. */
void say_saved(const char *path);
/* Flush and close stdout: a full disk shows only here. Returns TOOL_TROUBLE if something was
 * lost, else @status. */
int close_stdout(int status);

/* ---- the word that somebody meant who mistyped it ---- */

/* Of what was offered so far, the nearest. Start from { 0 }. */
struct nearest {
	const char *word; /* NULL: none is near */
	size_t distance;
};

/* A letter more, less, another, or two exchanged make a distance of 1. A word is near that is at
 * most a third of its letters away, or that begins with what was typed. @len: of @typed. */
void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word);

/* ---- what others named, where people read it ---- */

/* Does the stream go to people: standard error, or a terminal? A line of the input that a command
 * selects is escaped there alone: a pipe gets its bytes. */
bool plain_wanted(FILE *to);

/* Write @len bytes, escaped by weir_escape(). Return: false if they cannot be written. */
bool plain_write(const char *text, size_t len, FILE *to);

/* Write text that may hold others', escaped to a pipe too: it may end at a terminal. */
void plain_put(const char *text, FILE *to);

/* The text escaped, to be freed. */
char *plain_bytes(const char *text, size_t len);
char *plain_copy(const char *text);

#endif
