/* SPDX-License-Identifier: MIT
 * Figures for people to read. Each writes into the caller's buffer and returns it. */
#ifndef WEIR_TOOL_SHOW_H
#define WEIR_TOOL_SHOW_H

#include <stdint.h>

struct shown {
	char text[40];
};

#define SHOW (&(struct shown){ { 0 } })

const char *show_count(struct shown *to, uint64_t count);   /* 663,473 */
const char *show_estimate(struct shown *to, double count);  /* as show_short(), and infinity */
const char *show_short(struct shown *to, double count);     /* 663 k, 12.3 M */
const char *show_bytes(struct shown *to, uint64_t bytes);   /* 831 KiB, 1.19 GiB, 64 bytes */
const char *show_time(struct shown *to, double ns);         /* 1.23 ns, 45.6 ms; NAN: - */
const char *show_rate(struct shown *to, double rate);       /* 1.003 % */
const char *show_clock(struct shown *to, double seconds);   /* 0:07, 12:31, 1:02:03 */

#endif
