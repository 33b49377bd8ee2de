/* SPDX-License-Identifier: MIT
 * The progress line and the threads of long work. The line is redrawn in place on a terminal's
 * stderr and wiped at the end. Elsewhere it is never drawn. */
#ifndef WEIR_TOOL_PROGRESS_H
#define WEIR_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Allows the line from now on, if stderr is a terminal that can draw it. */
void progress_allow(bool wanted);

/* Begins a piece of work: "counting", "building", "saving". */
void progress_begin(const char *what);
/* Draws the line, at most ten times a second. @part: 0 to 1, or negative if unknown. @keys: so far;
 * 0 if the work does not count keys. */
void progress_at(double part, uint64_t keys);
/* Like progress_at(), for bytes. @total 0: unknown. */
void progress_of(uint64_t done, uint64_t total);
/* The same as a callback of the library. Return: 0, to go on. */
int progress_reported(void *unused, uint64_t done, uint64_t total);
/* Like progress_at(), with the caller's figures. */
void progress_show(double part, const char *figures);
void progress_end(void);

/* Wipes the line to make room for a message. The next progress_at() draws it again. */
void progress_wipe(void);

/* Return: seconds of a monotonic clock. */
double seconds_now(void);

/* ---- several threads at one piece of work ---- */

#define CREW_MOST 1024

/* Return: the number of CPUs that this process may use, at most CREW_MOST. */
unsigned crew_default(void);

/* Runs work(arg) in @threads threads and waits for all. Unless NULL, the caller's thread runs
 * tick(arg) ten times a second. */
void crew_run(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg);

#endif
