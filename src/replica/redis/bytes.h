/* SPDX-License-Identifier: MIT
 * Checksum and hash of the bytes of an image in a file. */
#ifndef WEIR_REPLICA_BYTES_H
#define WEIR_REPLICA_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include "../trust/sign.h"

struct weir_bytes_sum {
	uint64_t checksum[2];                /* XXH3 of 128 bits, the high half first */
	unsigned char hash[WEIR_IMAGE_HASH]; /* if it was asked for */
};

/* @bytes: of the file, from its beginning. Return: 0 or a negative errno; -EBADMSG it is shorter.
 */
int weir__bytes_sum(struct weir_bytes_sum *out, int fd, uint64_t bytes, bool hash);

#endif
