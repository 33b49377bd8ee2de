/* SPDX-License-Identifier: MIT
 * Which keys this machine trusts to sign a set, and which version it took last, as in a client of
 * The Update Framework: signed manifests, key files and a state file. The redis server and its
 * network are untrusted.
 *
 * A signature is a line beside the manifest, without a newline, with exactly one form:
 *
 *     ed25519 KEY SIGNATURE      16 and 128 hexadecimal digits in lower case
 *
 * KEY is the first 8 bytes of the BLAKE2b-256 of the public key; it only selects the key. SIGNATURE
 * is Ed25519ph (RFC 8032) over "weir-signature 2\n" and the manifest's text, which names the
 * image's hash. Ed25519ph needs no contiguous copy of both, and its signatures are never valid as
 * plain Ed25519, whatever other uses the key has.
 *
 * Key files are text with exactly one form:
 *
 *     weir-key-secret 1 HEX      one line: the seed of a pair of keys
 *     weir-key-public 1 HEX      one to 64 lines: the keys whose signatures are trusted
 *
 * HEX is 64 digits in lower case; each line ends with a newline. Every file must be this user's or
 * root's. A file that others can write is refused, and so is a secret that others can read.
 *
 * Calls return 0 or a negative errno with its sentence: -ENOTSUP libsodium fails, -ENOMEM, those of
 * open() to rename(), -EACCES owner, mode or file type, -ELOOP a symbolic link, -EBADMSG damage. */
#ifndef WEIR_REPLICA_TRUST_H
#define WEIR_REPLICA_TRUST_H

#include <string.h>
#include "../format/manifest.h"

enum { WEIR_SIGNATURE_TEXT = 8 + 16 + 1 + 128 + 1 }; /* with a NUL byte */

/* Make a pair of keys in new files of mode 0600 and 0644. After 0 both are on the disk, else
 * neither is. Return: also -EEXIST. */
int weir__key_make(const char *secret_file, const char *public_file);

/* ---- publishers ---- */

struct weir_signer;
/* The key stays in locked memory, which weir__signer_close() overwrites. */
int weir__signer_open(struct weir_signer **out, const char *secret_file);
void weir__signer_close(struct weir_signer *signer); /* NULL: no-op */
/* Any number of threads may sign at once. */
int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      char line[WEIR_SIGNATURE_TEXT]);
/* Is this machine's clock good enough to sign? @server_ms: weir_head.now_ms.
 * Return: 0; -ERANGE the two differ by more than ten minutes. */
int weir__signer_clock(uint64_t now_ms, uint64_t server_ms);
/* Must a publisher sign @m again, as a new version of the same image? Yes if a quarter of @life_ms
 * has passed, if a clock that ran ahead signed it, or if it never expires. @life_ms 0: never. */
bool weir__signer_due(const struct weir_manifest *m, uint64_t now_ms, uint64_t life_ms);

/* ---- nodes that join ---- */

/* One moment, by the wall clock and by a clock that never goes back (CLOCK_BOOTTIME). */
struct weir_now {
	uint64_t wall_ms, run_ms;
};

/* The newest version that this machine took: the content of the state file. */
struct weir_held {
	struct weir_version version; /* 0.0: none yet */
	uint64_t id;
	unsigned char manifest[32];  /* BLAKE2b-256 of its text */
	unsigned char image[WEIR_IMAGE_HASH];
	uint64_t signed_ms, expires_ms;
	uint64_t ran_ms;             /* how long it has been held: a lower bound */
};

struct weir_trust;
/* Read the keys and the state. One thread at a time may use the result; other processes may use the
 * same state file. The first weir__trust_take() creates a missing one. Its folder also gets
 * STATE.lock and, during a write, STATE.new; it must be this user's or root's too. */
int weir__trust_open(struct weir_trust **out, const char *public_file, const char *state_file,
                     const char *set, struct weir_now now);
void weir__trust_close(struct weir_trust *trust); /* NULL: no-op */
/* Did a trusted key sign @m, which was read from @text, for this set? The version may be stale, so
 * this alone does not allow its use. Return: 0; -EKEYREJECTED. */
int weir__trust_signed(const struct weir_trust *trust, const struct weir_manifest *m,
                       const char *text, size_t len, const char *signature, size_t signature_len);
/* May this machine use @m, which was read from @text? When this returns 0, a version above the
 * state's is on the disk. The caller then checks the image's length and hash.
 * Return: 0; -EKEYREJECTED no signature by a trusted key, another set, or a version below the
 *   state's; -EKEYEXPIRED; -EEXIST the state has another generation of that version: the caller
 *   may merge @m, must not replace its set with it, and reports it. */
int weir__trust_take(struct weir_trust *trust, const struct weir_manifest *m, const char *text,
                     size_t len, const char *signature, size_t signature_len,
                     struct weir_now now);
/* Is the version held still valid? Call it about once a minute: it reads the state file, and notes
 * there how long the version has been held. Return: 0, also if none is held; -EKEYEXPIRED: a
 * running node keeps its set and reports it. */
int weir__trust_fresh(struct weir_trust *trust, struct weir_now now);
/* The result is valid until the next call. While redis has an older head, a node may open with a
 * file whose hash is held.image if weir__trust_fresh() returns 0. */
const struct weir_held *weir__trust_held(const struct weir_trust *trust);

#endif
