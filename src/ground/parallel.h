/* SPDX-License-Identifier: MIT
 * One piece of work by several threads. */
#ifndef WEIR_SRC_GROUND_PARALLEL_H
#define WEIR_SRC_GROUND_PARALLEL_H

/*
 * Call @work(@arg) on so many threads, the caller's among them, or on fewer if the machine has no
 * more. Each is to take what nobody else has taken, until nothing is left or another one failed.
 * Return: 0, or what one that failed returned, with its sentence.
 */
int weir__parallel(unsigned threads, int (*work)(void *arg), void *arg);

#endif
