/* SPDX-License-Identifier: MIT
 * The parts of keyer_take(): from a line to texts. */
#ifndef WEIR_TOOL_KEYER_H
#define WEIR_TOOL_KEYER_H

#include "keying.h"

/* Bytes that live as long as the group. */
void *keyer_bytes(struct keyer *k, size_t bytes);
/* The text without one final carriage return, and then without blanks and tabs around it. */
struct iovec text_trim(struct iovec text);
/* A text of the line. Return: as keyer_take(). */
bool keyer_text(struct keyer *k, struct iovec text, const char **why);

/* The texts of a line: its domains; its field. Return: as keyer_take(). */
bool hosts_texts(struct keyer *k, struct iovec line, const char **why);
bool field_text(struct keyer *k, struct iovec line, const char **why);
void field_end(struct keyer *k);
/* Hand each field of a line to @take. False if it is wrong: *@why has a sentence. */
bool field_each(struct keyer *k, struct iovec line,
                void (*take)(void *bytes, size_t len, void *arg), void *arg, const char **why);

/* The fields of a line, quoted or not, also where no libcsv reads them. */
struct row_shape {
	uint32_t fields;
	bool open; /* the last one is quoted, and goes on over the end of the line */
};
struct row_shape row_shape(const struct keying *how, struct iovec line);

bool is_comment(const struct keying *how, struct iovec line);
/* For lines_options.header: @how is a struct keying. Find the column that it names. */
int header_line(const void *how, const char *file, struct iovec line, uint32_t *field);

#endif
