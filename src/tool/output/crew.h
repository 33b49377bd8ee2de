/* SPDX-License-Identifier: MIT
 * Several threads at one piece of work. */
#ifndef WEIR_TOOL_CREW_H
#define WEIR_TOOL_CREW_H

#define CREW_MOST 1024

/* As many threads as this process may use CPUs. */
unsigned crew_default(void);

/* Run work(arg) in @threads threads and wait for all; meanwhile tick(arg), unless NULL, ten
 * times a second in this one. */
void crew_run(unsigned threads, void (*work)(void *arg), void (*tick)(void *arg), void *arg);

#endif
