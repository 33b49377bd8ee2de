/* SPDX-License-Identifier: MIT
 * BLAKE2b by libsodium. */
#include <errno.h>
#include <sodium.h>
#include <weir/error.h>
#include "trust/sign.h"

_Static_assert(sizeof(crypto_generichash_state) <= WEIR_IMAGE_HASH_STATE, "it has room");
_Static_assert(_Alignof(crypto_generichash_state) <= _Alignof(struct weir_image_hash), "aligned");

static crypto_generichash_state *state_of(struct weir_image_hash *h)
{
	return (crypto_generichash_state *)(void *)h->state;
}

int weir__image_hash_begin(struct weir_image_hash *h)
{
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	crypto_generichash_init(state_of(h), NULL, 0, WEIR_IMAGE_HASH);
	return 0;
}

void weir__image_hash_add(struct weir_image_hash *h, const void *bytes, size_t len)
{
	if (len)
		crypto_generichash_update(state_of(h), bytes, len);
}

void weir__image_hash_end(struct weir_image_hash *h, unsigned char out[WEIR_IMAGE_HASH])
{
	crypto_generichash_final(state_of(h), out, WEIR_IMAGE_HASH);
}
