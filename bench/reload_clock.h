/* SPDX-License-Identifier: MIT
 * The clock and the histogram of the command weir drill, for C++. */
#ifndef WEIR_BENCH_RELOAD_CLOCK_H
#define WEIR_BENCH_RELOAD_CLOCK_H

#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern "C" {
#include "../src/tool/drill/ticks.h"
/* ticks.c calls this function; reload_readers.cc defines it. */
double seconds_now(void);
}

#endif
