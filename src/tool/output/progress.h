/* SPDX-License-Identifier: MIT
 * Draws the progress line on stderr, and runs long work in several threads. The line is redrawn in
 * place if stderr is a terminal, and wiped at the end. Without a terminal, the line is never
 * drawn. */
#ifndef WEIR_TOOL_PROGRESS_H
#define WEIR_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Enables the progress line if @wanted is true and stderr is a terminal that can redraw a line. */
void progress_allow(bool wanted);

/* Begins a piece of work. @what: the name of the work on the line, such as "counting". */
void progress_begin(const char *what);
/* Draws the progress line, at most ten times a second. @part: the share done, 0 to 1, or negative
 * if unknown. @keys: the number of keys so far, or 0 if the work does not count keys. */
void progress_at(double part, uint64_t keys);
/* Draws the progress line for @done of @total bytes. @total: 0 if unknown. */
void progress_of(uint64_t done, uint64_t total);
/* Calls progress_of(), as a progress callback of the library. Return: 0, which tells the library to
 * continue. */
int progress_reported(void *unused, uint64_t done, uint64_t total);
/* Draws the progress line with the caller's text in place of the number of keys and the time. */
void progress_show(double part, const char *figures);
void progress_end(void);

/* Wipes the progress line before a message is printed. The next progress_at() redraws the line. */
void progress_wipe(void);

/* Return: seconds of a monotonic clock. */
double seconds_now(void);

/* ---- several threads at one piece of work ---- */

#define THREADS_MOST 1024

/* Return: the number of CPUs that this process may use, at most THREADS_MOST. */
unsigned threads_default(void);

/* Runs work(arg) in @threads threads and waits for all of them. If @tick is not NULL, the calling
 * thread calls tick(arg) ten times a second while it waits. */
void run_threads(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg);

#endif
