/* SPDX-License-Identifier: MIT
 * Parses figures from the command line, and formats figures for people. */
#ifndef WEIR_TOOL_UNITS_H
#define WEIR_TOOL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* ---- parse: each call returns false after a message if the text is not valid ---- */

/* A number of keys, at least 1: 1000000, 1e6, 1M, 1.5G. K, M, G and T are powers of 1000: keys
 * are counted, not addressed. */
bool parse_keys(const char *option, const char *text, uint64_t *out);

/* Bytes, at least 1, as GNU tools take them: K, M, G, T and KiB, MiB, ... are powers of 1024,
 * KB, MB, ... of 1000. A fraction of a byte is dropped. */
bool parse_bytes(const char *option, const char *text, uint64_t *out);

/* A rate from 1e-9 to 0.5, as the library takes them: 0.1%, 0.001, 1e-3 or 1/1000. */
bool parse_rate(const char *option, const char *text, double *out);

/* A share from @least to 1, written as a rate is. */
bool parse_share(const char *option, const char *text, double least, double *out);

/* Return: @number rounded up to three digits and zeros. Estimates err by less. */
uint64_t round_up(uint64_t number);

/* Seconds from @least to @most: 2 or 0.5. */
bool parse_seconds(const char *option, const char *text, double least, double most, double *out);

/* A whole number from @least to @most, decimal or 0x... */
bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
                  uint64_t *out);
/* The same for a number from 1 to @most, 32 bits wide. */
bool parse_small(const char *option, const char *text, uint32_t most, uint32_t *out);

/* ---- format: each call writes into the caller's buffer and returns it ---- */

struct shown {
	char text[40];
};

#define SHOW (&(struct shown){ { 0 } })

const char *show_count(struct shown *to, uint64_t count);   /* 663,473 */
const char *show_estimate(struct shown *to, double count);  /* as show_short(), and infinity */
const char *show_about(struct shown *to, double count);     /* in a sentence: about 663 k */
const char *show_short(struct shown *to, double count);     /* 663 k, 12.3 M */
const char *show_bytes(struct shown *to, uint64_t bytes);   /* 831 KiB, 1.19 GiB, 64 bytes */
const char *show_time(struct shown *to, double ns);         /* 1.23 ns, 45.6 ms; NAN: - */
const char *show_rate(struct shown *to, double rate);       /* 1.003 % */
const char *show_clock(struct shown *to, double seconds);   /* 0:07, 12:31, 1:02:03 */

#endif
