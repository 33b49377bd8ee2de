/* SPDX-License-Identifier: MIT
 * Opens files that the command reads, and words the messages about files that cannot be read. */
#ifndef WEIR_TOOL_FILE_H
#define WEIR_TOOL_FILE_H

#include <stdbool.h>

/* Opens a file for reading. For a FIFO, the call blocks until a writer opens it, even if signals
 * arrive. Return: a descriptor, or -1 with errno. */
int open_to_read(const char *path);

/* Return: true if the path is a regular file that begins like an image (image_begins()), or like a
 * delta (delta_begins()). */
bool image_begins(const char *path);
bool delta_begins(const char *path);

/* Reads the secret key of --keyed-by=FILE: 16 bytes, raw or as 32 hexadecimal digits. The key stays
 * in memory until the process ends. Return: NULL after a message. */
const void *keyfile_read(const char *path);
/* Return: true if the key was read from @path. A command must not overwrite such a file, which may
 * be the only copy. */
bool keyfile_is(const char *path);

/* The use of a file. unopened() returns the message for a file that cannot be opened: the text of
 * errno @err and, if the file is missing, a remedy that depends on the use. */
enum say_file { SAY_IMAGE, SAY_ROUTER, SAY_KEYS, SAY_DELTA, SAY_HASH_KEY, SAY_KEY_PAIR,
                SAY_PASSWORD, SAY_PARQUET };
const char *unopened(int err, enum say_file what);
/* Prints "FILE: " and unopened(). Return: TOOL_TROUBLE. */
int trouble_unopened(int err, const char *file, enum say_file what);
/* Return: false after a message if the file does not exist. A @file of NULL counts as existing. */
bool is_there(const char *file, enum say_file what);
/* Return: the library's message for the last error, without the file name or descriptor at its
 * start. */
const char *detail_without(const char *file);
/* Return: unopened() if the library could not open a file, else @detail. */
const char *opened_or(int err, const char *detail, enum say_file what);
/* Print the library's message for a call on an image that failed with @err. If @file is not NULL,
 * the message begins with its name, and for a damaged image names a remedy. trouble_weir() returns
 * TOOL_TROUBLE. */
int trouble_weir(int err, const char *file);
void say_weir(int err, const char *file);
/* Prints the library's message for a failed call on a delta. Return: TOOL_TROUBLE. */
int trouble_delta(int err, const char *file);

#endif
