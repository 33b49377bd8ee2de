/* SPDX-License-Identifier: MIT
 * Signatures of generations: who publishes one has the secret key, who joins one trusts public
 * keys. Checksums prove damage only, and a server or its network may be anybody's.
 *
 * A signature is a line of text beside the manifest, without a newline, of one form only:
 *
 *     ed25519 KEY IMAGE SIGNATURE       16, 64 and 128 hexadecimal digits in lower case
 *
 * KEY: the first 8 bytes of the BLAKE2b-256 of the public key; it only finds the key sooner.
 * IMAGE: the hash of the whole image (sign.h).
 * SIGNATURE: Ed25519ph (RFC 8032) over "weir-signature 1\n", the 32 bytes of that hash, and the
 * manifest's text. The first two have a fixed length, so the three can be cut in one way only. The
 * variant that hashes first takes them as they are, where the other would need a copy of all in one
 * piece; and its signatures are never valid as plain Ed25519, whatever else a key is used for.
 *
 * A signature says who made a generation, not that it is the newest: L12 in rules.h, and the
 * generation's number in the signed text, are for that. */
#ifndef WEIR_REPLICA_TRUST_SIGN_H
#define WEIR_REPLICA_TRUST_SIGN_H

#include <stddef.h>

/* Files of keys: text of one form only,
 *
 *     weir-key-secret 1 HEX        one line: the seed from which the pair of keys is made
 *     weir-key-public 1 HEX        one to 64 lines: whose signatures are trusted
 *
 * each line with a newline, HEX 64 digits in lower case. A file that others can write, or a secret
 * one that others can read, is refused: whoever writes the file of public keys chooses who is
 * trusted. Also how files of keys are made. */

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

/* The cryptographic hash of an image, which is what is signed: BLAKE2b of 256 bits without a key,
 * as b2sum -l 256 prints it. An image may be larger than memory, so it is hashed piece by piece. */

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

/* ---- signatures ---- */

enum { WEIR_SIGNATURE_TEXT = 8 + 16 + 1 + 64 + 1 + 128 + 1 }; /* with a NUL byte */

struct weir_signer;
/* Read the secret key. It stays in memory that is locked where that is permitted, without rights
 * to write it, and overwritten by weir__signer_close().
 * Return: 0; as weir__key_file_secret(); -ENOTSUP this build has no libsodium; -ENOMEM. */
int weir__signer_open(struct weir_signer **out, const char *secret_file);
/* @signer: NULL for nothing. */
void weir__signer_close(struct weir_signer *signer);
/* Any number of threads may sign at once. Return: 0, or -EIO if libsodium refuses. */
int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      const unsigned char image_hash[WEIR_IMAGE_HASH],
                      char line[WEIR_SIGNATURE_TEXT]);

struct weir_trust;
/* Read the public keys that are trusted: one, or several while keys are exchanged.
 * Return: 0; as weir__key_file_public(); -ENOTSUP this build has no libsodium; -ENOMEM. */
int weir__trust_open(struct weir_trust **out, const char *public_file);
/* @trust: NULL for nothing. */
void weir__trust_close(struct weir_trust *trust);
/* Is @line a signature of the manifest @text by a key that is trusted? Any number of threads may
 * ask at once.
 * @line: @line_len bytes, NULL or 0 if there is none.
 * @image_hash: receives the hash that the image must have; only if it is.
 * Return: 0; -EKEYREJECTED with the reason. */
int weir__trust_check(const struct weir_trust *trust, const char *line, size_t line_len,
                      const char *text, size_t len, unsigned char image_hash[WEIR_IMAGE_HASH]);

#endif
