/* SPDX-License-Identifier: MIT
 * Reads the secret of keyed filters (weir_params.secret) from a file. */
#ifndef WEIR_SECRET_H
#define WEIR_SECRET_H

#include <weir/export.h>

WEIR_BEGIN_DECLS

/** Bytes of weir_params.secret. */
#define WEIR_SECRET_BYTES 16

/**
 * Read a secret, as "weir build --keyed-by=FILE" does. The file has its 16 bytes, or 32 hexadecimal
 * digits and perhaps a newline. One is made by (umask 077; head -c 16 /dev/urandom > FILE). Whoever
 * may read it can choose keys that collide, whoever may write it chooses the key: so it must be
 * this process's effective user's or root's, written to by that user alone, and read by no others
 * than the group.
 * @secret: receives WEIR_SECRET_BYTES bytes; untouched after an error. It is the caller's to wipe.
 * @path: a file, or a FIFO, whose writer is waited for.
 * Return: 0 or a negative errno.
 * Errors: what open, fstat and read fail with (EISDIR for a directory); -EACCES others own the
 *   file, may write to it or read it; -EBADMSG it has no secret; -EINVAL @secret or @path is NULL.
 * Threads: any.  Progress: blocking.  Cost: a file read.
 */
WEIR_API WEIR_MUST_CHECK int weir_secret_read(void *secret, const char *path);

WEIR_END_DECLS

#endif
