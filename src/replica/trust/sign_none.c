/* SPDX-License-Identifier: MIT
 * A build without libsodium: nothing is signed, and no signature is taken for good. */
#include <errno.h>
#include <string.h>
#include <weir/error.h>
#include "trust/sign.h"

static int none(const char *what)
{
	return weir_fail(-ENOTSUP, "%s: this build has no signatures: it was made without "
	                 "libsodium: install libsodium-dev, and build weir again", what);
}

int weir__image_hash_begin(struct weir_image_hash *h)
{
	(void)h;
	return none("an image's hash");
}

void weir__image_hash_add(struct weir_image_hash *h, const void *bytes, size_t len)
{
	(void)h, (void)bytes, (void)len;
}

void weir__image_hash_end(struct weir_image_hash *h, unsigned char out[WEIR_IMAGE_HASH])
{
	(void)h;
	memset(out, 0, WEIR_IMAGE_HASH);
}

int weir__key_make(const char *secret_file, const char *public_file)
{
	(void)public_file;
	return none(secret_file);
}

int weir__signer_open(struct weir_signer **out, const char *secret_file)
{
	(void)out;
	return none(secret_file);
}

void weir__signer_close(struct weir_signer *signer)
{
	(void)signer;
}

int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      const unsigned char image_hash[WEIR_IMAGE_HASH],
                      char line[WEIR_SIGNATURE_TEXT])
{
	(void)signer, (void)text, (void)len, (void)image_hash, (void)line;
	return none("a manifest");
}

int weir__trust_open(struct weir_trust **out, const char *public_file)
{
	(void)out;
	return none(public_file);
}

void weir__trust_close(struct weir_trust *trust)
{
	(void)trust;
}

int weir__trust_check(const struct weir_trust *trust, const char *line, size_t line_len,
                      const char *text, size_t len, unsigned char image_hash[WEIR_IMAGE_HASH])
{
	(void)trust, (void)line, (void)line_len, (void)text, (void)len, (void)image_hash;
	return none("a manifest");
}
