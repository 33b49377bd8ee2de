/* SPDX-License-Identifier: MIT
 * Passwords in memory and in files. */
#ifndef WEIR_REPLICA_SECRET_H
#define WEIR_REPLICA_SECRET_H

/* The first line of a file. @out: receives malloc'ed text.
 * Return: 0; -EINVAL it is empty or too long; -ENOMEM; the errno of reading. */
int weir__secret_read(char **out, const char *path);
void weir__secret_free(char *secret);

#endif
