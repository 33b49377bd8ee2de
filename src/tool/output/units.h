/* SPDX-License-Identifier: MIT
 * Parses figures from the command line, and formats figures for people. */
#ifndef WEIR_TOOL_UNITS_H
#define WEIR_TOOL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* ---- parse: each call returns false after a message if the text is not valid ---- */

/* Parses a number of keys, at least 1, such as 1000000, 1e6, 1M or 1.5G. K, M, G and T are powers
 * of 1000. */
bool parse_keys(const char *option, const char *text, uint64_t *out);

/* Parses a size of at least 1 byte, with the suffixes of GNU tools. K, M, G, T and KiB, MiB, ...
 * are powers of 1024, and KB, MB, ... are powers of 1000. A fraction of a byte is dropped. */
bool parse_bytes(const char *option, const char *text, uint64_t *out);

/* Parses a rate in the library's range, 1e-9 to 0.5, such as 0.1%, 0.001, 1e-3 or 1/1000. */
bool parse_rate(const char *option, const char *text, double *out);

/* Parses a share from @least to 1, such as 10%, 0.1 or 1/10. */
bool parse_share(const char *option, const char *text, double least, double *out);

/* Return: @number rounded up to three significant digits, for advice based on estimates. */
uint64_t round_up(uint64_t number);

/* Parses a number of seconds from @least to @most, such as 2 or 0.5. */
bool parse_seconds(const char *option, const char *text, double least, double most, double *out);

/* Parses a whole number from @least to @most, decimal or hexadecimal (0x...). */
bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
                  uint64_t *out);
/* Parses a whole number from 1 to @most into 32 bits. */
bool parse_small(const char *option, const char *text, uint32_t most, uint32_t *out);

/* ---- format: each call writes into the caller's buffer and returns it ---- */

struct shown {
	char text[40];
};

#define SHOW (&(struct shown){ { 0 } })

const char *show_count(struct shown *to, uint64_t count);   /* 663,473 */
const char *show_estimate(struct shown *to, double count);  /* 663 k, or countless */
const char *show_about(struct shown *to, double count);     /* about 663 k */
const char *show_short(struct shown *to, double count);     /* 663 k, 12.3 M */
const char *show_bytes(struct shown *to, uint64_t bytes);   /* 831 KiB, 1.19 GiB, 64 bytes */
const char *show_time(struct shown *to, double ns);         /* 1.23 ns, 45.6 ms, or - for NAN */
const char *show_rate(struct shown *to, double rate);       /* 1.003 % */
const char *show_clock(struct shown *to, double seconds);   /* 0:07, 12:31, 1:02:03 */

#endif
