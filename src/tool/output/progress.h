/* SPDX-License-Identifier: MIT
 * The progress line: one line on a terminal's stderr, drawn over itself and wiped at the end.
 * Elsewhere nothing is drawn. */
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

#endif
