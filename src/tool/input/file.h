/* SPDX-License-Identifier: MIT
 * Files that the command reads: opening them, and the sentences about one that cannot be read. */
#ifndef WEIR_TOOL_FILE_H
#define WEIR_TOOL_FILE_H

#include <stdbool.h>

/* Open a file, which for a FIFO waits until somebody writes to it, through all signals. Return: the
 * descriptor, or -1 with errno. */
int open_to_read(const char *path);

/* Is it a regular file that begins as images do? As deltas do? */
bool image_begins(const char *path);
bool delta_begins(const char *path);

/* The secret key of --keyed-by=FILE: the 16 bytes in a file, raw or as 32 hexadecimal digits. They
 * are kept as long as the process: there is one key. Return: NULL after a message. */
const void *keyfile_read(const char *path);
/* Is @path the file that the key was read from? It may be the only copy. */
bool keyfile_is(const char *path);

/* A file that the command was to read. The sentence about one that cannot be opened, alike for all:
 * the system's word for @err, an errno, and if nothing stands there the remedy. */
enum say_file { SAY_IMAGE, SAY_ROUTER, SAY_KEYS, SAY_DELTA, SAY_HASH_KEY, SAY_KEY_PAIR,
                SAY_PASSWORD, SAY_PARQUET };
const char *unopened(int err, enum say_file what);
/* "FILE: " and that sentence; returns TOOL_TROUBLE. */
int trouble_unopened(int err, const char *file, enum say_file what);
/* Is there such a file? False after that message; true if @file is NULL. */
bool is_there(const char *file, enum say_file what);
/* The sentence of a weir call that failed, without the file (or the descriptor) that it begins
 * with. */
const char *detail_without(const char *file);
/* @detail, or if that is about a file that cannot be opened, unopened(). */
const char *opened_or(int err, const char *detail, enum say_file what);
/* A weir call on an image failed with @err: its sentence, led by @file unless that is NULL. A
 * damaged image is called so, and the message ends with the remedy. */
int trouble_weir(int err, const char *file);
void say_weir(int err, const char *file);
/* Likewise, of a call on a delta. Return: TOOL_TROUBLE. */
int trouble_delta(int err, const char *file);

#endif
