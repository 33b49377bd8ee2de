/* SPDX-License-Identifier: MIT
 * Declarations that the files of this folder share. */
#ifndef WEIR_REPLICA_TRUST_PARTS_H
#define WEIR_REPLICA_TRUST_PARTS_H

#include <sys/types.h>
#include "trust.h"

enum { WEIR_KEY_BYTES = 32, WEIR_KEY_LINE = 83, WEIR_KEYS_TRUSTED = 64 };

/* @others: mode bits that the file must not have. @flags: added to those of open(). Return: bytes
 *   read, at most @room, or a negative errno. */
ssize_t weir__file_read(const char *path, mode_t others, int flags, char *text, size_t room);
/* Write a file atomically. @replace: replace an old file, whose lock the caller holds; false: fail
 * if the file exists. */
int weir__file_write(const char *path, const char *text, size_t len, mode_t mode, bool replace);
/* Sync @path's folder. @others: mode bits that the folder must not have unless it is sticky; 0:
 * allow any mode and owner. */
int weir__folder_sync(const char *path, mode_t others);
/* Lock @path for writers. Return: a descriptor, whose close() unlocks; or a negative errno. */
int weir__file_lock(const char *path);

/* @keys: receives the public keys. Return: the number of keys, or a negative errno. */
int weir__keys_read(unsigned char keys[][WEIR_KEY_BYTES], const char *path);
/* @keys: @n public keys, contiguous. Return: 0, or -EKEYREJECTED. */
int weir__signature_check(const unsigned char *keys, size_t n, const char *text, size_t len,
                          const char *line, size_t line_len);

/* Sync the state file's folder, and read the state. @held: receives version 0.0 if the file is
 * missing. */
int weir__state_read(struct weir_accepted *held, const char *path, const char *set);
int weir__state_write(const struct weir_accepted *held, const char *path, const char *set);

#endif
