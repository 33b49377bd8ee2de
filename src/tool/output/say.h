/* SPDX-License-Identifier: MIT
 * Messages on stderr, each led by the command's name: "weir build: keys.txt: No such file or
 * directory". Quoted names and keys are escaped (plain.h). */
#ifndef WEIR_TOOL_SAY_H
#define WEIR_TOOL_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name that leads every message: "weir", then "weir build". */
void say_as(const char *name);
const char *said_as(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As say(); returns TOOL_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As trouble(), with a line that points to --help. */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
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

/* The command has saved its file to @path: close_stdout() says so if only the report is lost. */
void say_saved(const char *path);
/* Flush and close stdout: a full disk shows only here. Returns TOOL_TROUBLE if something was
 * lost, else @status. */
int close_stdout(int status);

#endif
