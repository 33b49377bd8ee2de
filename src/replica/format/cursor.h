/* SPDX-License-Identifier: MIT
 * Where in the stream a node is, and whether something before it has gone unread (L7, rules.h). */
#ifndef WEIR_REPLICA_CURSOR_H
#define WEIR_REPLICA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an entry of a stream: milliseconds of the server's clock, and a number within them. */
struct weir_stream_id {
	uint64_t ms, number;
};

enum { WEIR_STREAM_ID_TEXT = 42 }; /* two numbers of 20 digits, a dash and a NUL byte */

/* @text: two decimal numbers joined by a dash, without sign, blank or needless zeros.
 * Return: whether it is one; if not, @out is untouched. */
bool weir__stream_id_parse(struct weir_stream_id *out, const char *text, size_t len);
/* Return: @text. */
const char *weir__stream_id_print(char text[WEIR_STREAM_ID_TEXT], struct weir_stream_id id);
/* Return: below, at or above 0, as @a is before, at or after @b. */
int weir__stream_id_compare(struct weir_stream_id a, struct weir_stream_id b);

struct weir_cursor {
	struct weir_stream_id at; /* everything up to it was applied */
	uint64_t consumed;        /* how many entries were ever added up to there */
};

/* What the server says of the stream, read together with the entries that follow a cursor. */
struct weir_stream_counts {
	uint64_t added;  /* ever: entries-added */
	uint64_t length; /* there now */
	struct weir_stream_id last; /* that was given, also if its entry has gone */
};

#define WEIR_STREAM_LEAP (UINT64_C(1) << 40)

enum weir_gap {
	WEIR_GAP_NONE,
	WEIR_GAP_TRIMMED, /* entries that the cursor had not passed have gone */
	WEIR_GAP_ANEW,    /* fewer were ever added than the cursor has passed, or none has come to
	                     where it is: another stream, or its ids were set back */
};

/* Have all entries up to those that follow the cursor been consumed?
 * @missed: receives how many were not, at least; of another stream 0. May be NULL. */
enum weir_gap weir__cursor_gap(const struct weir_cursor *c, const struct weir_stream_counts *s,
                               uint64_t *missed);

/* An entry was applied. Return: false: it does not follow the cursor, which stays where it is. */
bool weir__cursor_advance(struct weir_cursor *c, struct weir_stream_id id);

#endif
