/* SPDX-License-Identifier: MIT
 * Reads the secret of keyed filters from a file. A keyed filter hashes its keys with 16 secret
 * bytes (weir_params.secret), so that clients cannot find keys that collide.
 *
 *     unsigned char secret[WEIR_SECRET_BYTES];
 *     if (weir_secret_read(secret, "/etc/app/key") == 0)
 *             params.secret = secret;
 */
#ifndef WEIR_SECRET_H
#define WEIR_SECRET_H

#include <weir/export.h>

WEIR_BEGIN_DECLS

/** Size of weir_params.secret in bytes. */
#define WEIR_SECRET_BYTES 16

/**
 * Read a secret, as "weir build --keyed-by=FILE" does. The file has 16 bytes, or 32 hexadecimal
 * digits with or without a newline. Make one by (umask 077; head -c 16 /dev/urandom > FILE). A user
 * who can read the file can choose keys that collide, and a user who can write it chooses the
 * secret. So the file must belong to root or to this process's effective user. Only its owner may
 * write it, and only its owner and its group may read it.
 * @secret: receives WEIR_SECRET_BYTES bytes; untouched after an error. The caller wipes it.
 * @path: a regular file, or a FIFO, whose writer the call waits for.
 * Return: 0 or a negative errno.
 * Errors: the errno of open, fstat and read (EISDIR for a directory); -EACCES if another user owns
 *   the file, or its permissions are too wide; -EBADMSG if it does not hold a secret; -EINVAL if
 *   @secret or @path is NULL.
 * Threads: any.  Progress: blocking.  Cost: a file read.
 */
WEIR_API WEIR_MUST_CHECK int weir_secret_read(void *secret, const char *path);

WEIR_END_DECLS

#endif
