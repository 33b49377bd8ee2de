/* SPDX-License-Identifier: MIT
 * The cryptographic hash of an image, which is what is signed: BLAKE2b of 256 bits without a key,
 * as b2sum -l 256 prints it. An image may be larger than memory, so it is hashed piece by piece. */
#ifndef WEIR_REPLICA_TRUST_IMAGE_HASH_H
#define WEIR_REPLICA_TRUST_IMAGE_HASH_H

#include <stddef.h>

enum { WEIR_IMAGE_HASH = 32, WEIR_IMAGE_HASH_STATE = 384 };

/* libsodium's own state, so that users of this header need none of libsodium's. */
struct weir_image_hash {
	_Alignas(64) unsigned char state[WEIR_IMAGE_HASH_STATE];
};

/* Return: 0; -ENOTSUP this build has no libsodium, or it does not work: then call no other. */
int weir__image_hash_begin(struct weir_image_hash *h);
/* @bytes: @len bytes that follow those before; may be NULL when @len is 0. */
void weir__image_hash_add(struct weir_image_hash *h, const void *bytes, size_t len);
/* Once, at the end. */
void weir__image_hash_end(struct weir_image_hash *h, unsigned char out[WEIR_IMAGE_HASH]);

#endif
