/* SPDX-License-Identifier: MIT
 * What others named (keys, files) where people read it: escaped, so that it cannot write to their
 * terminal. A pipe or a file gets it byte by byte. */
#ifndef WEIR_TOOL_PLAIN_H
#define WEIR_TOOL_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Does the stream go to people: standard error, or a terminal? */
bool plain_wanted(FILE *to);

/* Write @len bytes, escaped by weir_escape(). Return: false if they cannot be written. */
bool plain_write(const char *text, size_t len, FILE *to);

/* Write text that may hold others', escaped if plain_wanted(). */
void plain_put(const char *text, FILE *to);

/* The text escaped, to be freed. */
char *plain_bytes(const char *text, size_t len);
char *plain_copy(const char *text);

#endif
