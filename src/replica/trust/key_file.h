/* SPDX-License-Identifier: MIT
 * Files of keys: text of one form only,
 *
 *     weir-key-secret 1 HEX        one line: the seed from which the pair of keys is made
 *     weir-key-public 1 HEX        one to 64 lines: whose signatures are trusted
 *
 * each line with a newline, HEX 64 digits in lower case. A file that others can write, or a secret
 * one that others can read, is refused: whoever writes the file of public keys chooses who is
 * trusted. Also how files of keys are made. */
#ifndef WEIR_REPLICA_TRUST_KEY_FILE_H
#define WEIR_REPLICA_TRUST_KEY_FILE_H

#include <stddef.h>

enum {
	WEIR_KEY_SEED = 32,
	WEIR_KEY_PUBLIC = 32,
	WEIR_KEY_LINE = 83, /* characters of either line, its newline included */
	WEIR_KEYS_TRUSTED = 64,
};

/* @seed: receives the seed; memory that stays out of core files and swap is the caller's affair.
 * Return: 0; -ENOENT and so on as open(); -EACCES its owner or mode; -EBADMSG it is no such file.
 *   The text that was read is overwritten, whatever is returned. */
int weir__key_file_secret(unsigned char seed[WEIR_KEY_SEED], const char *path);
/* @keys: receives @n keys; none of them is there twice.
 * Return: as weir__key_file_secret(); -EBADMSG also for a key to which no secret can belong. */
int weir__key_file_public(unsigned char keys[][WEIR_KEY_PUBLIC], size_t *n, const char *path);

/* Make a pair of keys, in new files of mode 0600 and 0644. Both are on the disk when it returns 0;
 * else neither is there, and whatever had such a name before is as it was.
 * Return: 0; -EEXIST there is such a file; -ENOTSUP this build has no libsodium; as open(),
 *   write(), fsync(), link(); -ENOMEM. */
int weir__key_make(const char *secret_file, const char *public_file);

#endif
