/* SPDX-License-Identifier: MIT
 * Parts of keyer_take(), which splits a line into texts. */
#ifndef WEIR_TOOL_KEYER_H
#define WEIR_TOOL_KEYER_H

#include "keying.h"

/* Return: bytes that live as long as the group. */
void *keyer_bytes(struct keyer *k, size_t bytes);
/* Return: the text without one final carriage return, then without blanks and tabs around it. */
struct iovec text_trim(struct iovec text);
/* Takes a text of the line. Return: as keyer_take(). */
bool keyer_text(struct keyer *k, struct iovec text, const char **why);

/* Take the texts of a line: its domains, or its field. Return: as keyer_take(). */
bool hosts_texts(struct keyer *k, struct iovec line, const char **why);
bool field_text(struct keyer *k, struct iovec line, const char **why);
void field_end(struct keyer *k);
/* Passes each field of a line to @take. Return: false if the line is wrong; *@why says why. */
bool field_each(struct keyer *k, struct iovec line,
                void (*take)(void *bytes, size_t len, void *arg), void *arg, const char **why);

/* The fields of a line, quoted or not. This needs no libcsv. */
struct row_shape {
	uint32_t fields;
	bool open; /* the last one is quoted, and continues on the next line */
};
struct row_shape row_shape(const struct keying *how, struct iovec line);

bool is_comment(const struct keying *how, struct iovec line);
/* The callback lines_options.header: finds the column that @how, a struct keying, names. */
int header_line(const void *how, const char *file, struct iovec line, uint32_t *field);

#endif
