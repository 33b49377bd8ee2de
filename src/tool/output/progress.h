/* SPDX-License-Identifier: MIT
 * Work that takes time: its progress line, and its threads. The line is drawn over itself on a
 * terminal's stderr and wiped at the end; elsewhere nothing is drawn. */
#ifndef WEIR_TOOL_PROGRESS_H
#define WEIR_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Draw from now on, if stderr is a terminal that can. */
void progress_allow(bool wanted);

/* A piece of work begins: "counting", "building", "saving". */
void progress_begin(const char *what);
/* @part: 0 to 1, or less than 0 where it is not known. @keys: so far; 0 where keys are not what is
 * counted. Drawn now and then. */
void progress_at(double part, uint64_t keys);
/* As progress_at(), of bytes. @total 0: not known. */
void progress_of(uint64_t done, uint64_t total);
/* The same for the library to call, which is to go on. */
int progress_reported(void *unused, uint64_t done, uint64_t total);
/* As progress_at(), with figures of the caller's. */
void progress_show(double part, const char *figures);
void progress_end(void);

/* Make place for a message; the next progress_at() draws anew. */
void progress_wipe(void);

/* Seconds of a clock that never jumps. */
double seconds_now(void);

/* ---- several threads at one piece of work ---- */

#define CREW_MOST 1024

/* As many threads as this process may use CPUs. */
unsigned crew_default(void);

/* Run work(arg) in @threads threads and wait for all; meanwhile tick(arg), unless NULL, ten
 * times a second in this one. */
void crew_run(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg);

#endif
