/* SPDX-License-Identifier: MIT
 * Opens files that the command reads, and words the messages about those that it cannot read. */
#ifndef WEIR_TOOL_FILE_H
#define WEIR_TOOL_FILE_H

#include <stdbool.h>

/* Opens a file. For a FIFO it waits for a writer, even if signals interrupt it. Return: the
 * descriptor, or -1 with errno. */
int open_to_read(const char *path);

/* Is it a regular file that begins like an image, or like a delta? */
bool image_begins(const char *path);
bool delta_begins(const char *path);

/* Reads the secret key of --keyed-by=FILE: 16 bytes, raw or as 32 hexadecimal digits. The process
 * keeps the one key until it ends. Return: NULL after a message. */
const void *keyfile_read(const char *path);
/* Is @path the file that the key was read from? It may be the only copy. */
bool keyfile_is(const char *path);

/* The use of a file that the command reads. unopened() returns the message for one that it cannot
 * open: the system's words for the errno @err, and the remedy if the file is missing. */
enum say_file { SAY_IMAGE, SAY_ROUTER, SAY_KEYS, SAY_DELTA, SAY_HASH_KEY, SAY_KEY_PAIR,
                SAY_PASSWORD, SAY_PARQUET };
const char *unopened(int err, enum say_file what);
/* Prints "FILE: " and that message. Return: TOOL_TROUBLE. */
int trouble_unopened(int err, const char *file, enum say_file what);
/* Does the file exist? Return: false after that message; true if @file is NULL. */
bool is_there(const char *file, enum say_file what);
/* Return: the library's message for a failed call, without the file (or descriptor) at its
 * start. */
const char *detail_without(const char *file);
/* Return: @detail, or unopened() if the library could not open a file. */
const char *opened_or(int err, const char *detail, enum say_file what);
/* Print the library's message for a call on an image that failed with @err. It begins with @file,
 * unless NULL. For a damaged image it names the remedy. trouble_weir() returns TOOL_TROUBLE. */
int trouble_weir(int err, const char *file);
void say_weir(int err, const char *file);
/* The same for a call on a delta. Return: TOOL_TROUBLE. */
int trouble_delta(int err, const char *file);

#endif
