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
/* A file that the command was to read. The sentence about one that cannot be opened, alike for all:
 * the system's word for @err, an errno, and if nothing stands there the remedy. */
enum say_file { SAY_IMAGE, SAY_ROUTER, SAY_KEYS, SAY_DELTA, SAY_HASH_KEY, SAY_KEY_PAIR,
                SAY_PASSWORD, SAY_PARQUET };
const char *unopened(int err, enum say_file what);
/* "FILE: " and that sentence; returns TOOL_TROUBLE. */
int trouble_unopened(int err, const char *file, enum say_file what);
/* Is there such a file? False after that message; true if @file is NULL. */
bool is_there(const char *file, enum say_file what);
/* The sentence of a weir call that failed, without the file (or the descriptor) that it begins
 * with. */
const char *detail_without(const char *file);
/* @detail, or if that is about a file that cannot be opened, unopened(). */
const char *opened_or(int err, const char *detail, enum say_file what);
/* A weir call on an image failed with @err: its sentence, led by @file unless that is NULL. A
 * damaged image is called so, and the message ends with the remedy. */
int trouble_weir(int err, const char *file);
void say_weir(int err, const char *file);

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
