/* SPDX-License-Identifier: MIT
 * Shared by the parts of keyer_take(), which splits a line into texts. */
#ifndef WEIR_TOOL_KEYER_H
#define WEIR_TOOL_KEYER_H

#include "keying.h"

/* Return: memory that stays valid until keyer_clear(). */
void *keyer_bytes(struct keyer *k, size_t bytes);
/* Return: the text without a final carriage return and without blanks and tabs around the rest. */
struct iovec text_trim(struct iovec text);
/* Adds a text of the current line to the group of keys in @k. Return: as keyer_take(). */
bool keyer_text(struct keyer *k, struct iovec text, const char **why);

/* hosts_texts() adds the domains in a line of a hosts file. field_text() adds field number k->field
 * of a line. Return: as keyer_take(). */
bool hosts_texts(struct keyer *k, struct iovec line, const char **why);
bool field_text(struct keyer *k, struct iovec line, const char **why);
void field_end(struct keyer *k);
/* Passes each field of a line to @take. Return: false if the line is wrong, with the fault in
 * *@why. */
bool field_each(struct keyer *k, struct iovec line,
                void (*take)(void *bytes, size_t len, void *arg), void *arg, const char **why);

/* The number of fields in a line. Any field may be quoted. row_shape() works without libcsv. */
struct row_shape {
	uint32_t fields;
	bool open; /* the last field is quoted and continues on the next line */
};
struct row_shape row_shape(const struct keying *how, struct iovec line);

bool is_comment(const struct keying *how, struct iovec line);
/* A callback for lines_options.header. Finds the column that @how, a struct keying, names. */
int header_line(const void *how, const char *file, struct iovec line, uint32_t *field);

#endif
