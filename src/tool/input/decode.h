/* SPDX-License-Identifier: MIT
 * A file's bytes, decompressed if they are compressed. */
#ifndef WEIR_TOOL_DECODE_H
#define WEIR_TOOL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct decoder;

/*
 * @name: a path, or "-" for standard input.
 * @as_is: take the bytes as they are, whatever they look like.
 * Return: NULL after a message.
 */
struct decoder *decoder_open(const char *name, bool as_is);

/* Up to @room bytes, as soon as there are any. Return: how many; 0 at the end; -1 after a
 * message. */
ssize_t decoder_read(struct decoder *d, char *to, size_t room);

/* Bytes taken from the file so far, before decompression. */
uint64_t decoder_taken(const struct decoder *d);
void decoder_close(struct decoder *d);

#endif
