/* SPDX-License-Identifier: MIT
 * What the files of this folder have of each other. */
#ifndef WEIR_REPLICA_TRUST_PARTS_H
#define WEIR_REPLICA_TRUST_PARTS_H

#include <sys/types.h>
#include "trust.h"

enum { WEIR_KEY_BYTES = 32, WEIR_KEY_LINE = 83, WEIR_KEYS_TRUSTED = 64 };

/* @others: rights that nobody else may have. @flags: more for open().
 * Return: how many bytes, at most @room, or a negative errno. */
ssize_t weir__file_read(const char *path, mode_t others, int flags, char *text, size_t room);
/* Write a file whole, or not at all. @replace: the caller has locked it; else it must be new. */
int weir__file_write(const char *path, const char *text, size_t len, mode_t mode, bool replace);
/* @others: rights to the folder that nobody else may have, unless it is sticky; 0: any may. */
int weir__folder_sync(const char *path, mode_t others);
/* Keep other processes from changing the file. Return: what to close() afterwards. */
int weir__file_lock(const char *path);

/* @keys: receives the public keys. Return: how many, or a negative errno. */
int weir__keys_read(unsigned char keys[][WEIR_KEY_BYTES], const char *path);
/* @keys: one behind the other. Return: 0, or -EKEYREJECTED. */
int weir__signature_check(const unsigned char *keys, size_t n, const char *text, size_t len,
                          const char *line, size_t line_len);

/* @held: version 0.0 if there is no file. After 0 what was read is on the disk. */
int weir__state_read(struct weir_held *held, const char *path, const char *set);
int weir__state_write(const struct weir_held *held, const char *path, const char *set);

#endif
