/* SPDX-License-Identifier: MIT
 * The secret key of --keyed-by=FILE. */
#ifndef WEIR_TOOL_KEYFILE_H
#define WEIR_TOOL_KEYFILE_H

/* The 16 bytes in a file, which has them raw or as 32 hexadecimal digits. They are kept as long as
 * the process: there is one key. Return: NULL after a message. */
const void *keyfile_read(const char *path);

#endif
