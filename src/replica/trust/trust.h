/* SPDX-License-Identifier: MIT
 * Signed manifests, key files and a state file: which keys this machine trusts to sign a set, and
 * which version it accepted last, as in a client of The Update Framework. The redis server and its
 * network are untrusted.
 *
 * A signature is a line beside the manifest, without a newline, with exactly one form:
 *
 *     ed25519 KEY SIGNATURE      16 and 128 hexadecimal digits in lower case
 *
 * KEY is the first 8 bytes of the BLAKE2b-256 of the public key; it only selects the key. SIGNATURE
 * is Ed25519ph (RFC 8032) over "weir-signature 2\n" and the manifest's text, which contains the
 * image's hash. Ed25519ph needs no buffer that holds the two texts together. Its signatures are
 * never valid as plain Ed25519, for which the key may also be used.
 *
 * Key files are text with exactly one form:
 *
 *     weir-key-secret 1 HEX      one line: the seed of a pair of keys
 *     weir-key-public 1 HEX      one to 64 lines: the keys whose signatures are trusted
 *
 * HEX is 64 digits in lower case; each line ends with a newline. A file must belong to this user or
 * to root. A file that its group or others can write is refused, and so is a secret that others
 * can read. The group may read a secret.
 *
 * Functions return 0 or a negative errno with a sentence: -ENOTSUP libsodium fails; -ENOMEM; errors
 * of system calls, such as open() and rename(); -EACCES owner, mode or type; -ELOOP a symbolic
 * link; -EBADMSG damage. */
#ifndef WEIR_REPLICA_TRUST_H
#define WEIR_REPLICA_TRUST_H

#include <string.h>
#include "../format/manifest.h"

enum { WEIR_SIGNATURE_TEXT = 8 + 16 + 1 + 128 + 1 }; /* including the NUL byte */

/* Make a pair of keys in new files of mode 0600 and 0644. On success both files are on the disk. On
 * failure the call leaves no new file. Return: also -EEXIST if one of the files existed. */
int weir__key_make(const char *secret_file, const char *public_file);

/* ---- publishers ---- */

struct weir_signer;
/* The key stays in locked memory. weir__signer_close() overwrites that memory. */
int weir__signer_open(struct weir_signer **out, const char *secret_file);
void weir__signer_close(struct weir_signer *signer); /* NULL: no-op */
/* Any number of threads may sign concurrently. */
int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      char line[WEIR_SIGNATURE_TEXT]);
/* Check that this machine's clock is good enough to sign. @server_ms: weir_head.now_ms.
 * Return: 0; -ERANGE the clocks differ by more than ten minutes. */
int weir__signer_clock(uint64_t now_ms, uint64_t server_ms);
/* Return: true if @m must be signed again, as a new version of its image: a quarter of @life_ms has
 *   passed, its signer's clock ran ahead, or @m never expires. @life_ms 0: false. */
bool weir__signer_must_sign(const struct weir_manifest *m, uint64_t now_ms, uint64_t life_ms);

/* ---- nodes that join ---- */

/* A time by the wall clock and by a clock that never goes back (CLOCK_BOOTTIME). */
struct weir_now {
	uint64_t wall_ms, run_ms;
};

/* The newest version that this machine accepted: the content of the state file. */
struct weir_accepted {
	struct weir_version version; /* 0.0: none yet */
	uint64_t id;
	unsigned char manifest[32];  /* BLAKE2b-256 of the manifest's text */
	unsigned char image[WEIR_IMAGE_HASH];
	uint64_t signed_ms, expires_ms;
	uint64_t ran_ms;             /* the version's age on this machine: a lower bound */
};

struct weir_trust;
/* Read the keys and the state. One thread at a time may use the result; other processes may use the
 * same state file. The first weir__trust_accept() creates a missing state file. The folder of the
 * state file must also belong to this user or to root. Writers create STATE.lock there and, during
 * a write, STATE.new. */
int weir__trust_open(struct weir_trust **out, const char *public_file, const char *state_file,
                     const char *set, struct weir_now now);
void weir__trust_close(struct weir_trust *trust); /* NULL: no-op */
/* Check that a trusted key signed @m, which was read from @text, for this set. The version may be
 * stale, so this alone does not allow the use of @m. Return: 0; -EKEYREJECTED. */
int weir__trust_signed(const struct weir_trust *trust, const struct weir_manifest *m,
                       const char *text, size_t len, const char *signature, size_t signature_len);
/* Check that this machine may use @m, which was read from @text. If the version of @m is above
 * the state's version, the call first writes @m's version to the state file on the disk. The caller
 * then checks the image's length and hash.
 * Return: 0; -EKEYREJECTED no signature by a trusted key, another set, or a version below the
 *   state's; -EKEYEXPIRED; -EEXIST the state has another generation of that version: the caller may
 *   merge @m and reports it, but must not replace its set with @m. */
int weir__trust_accept(struct weir_trust *trust, const struct weir_manifest *m, const char *text,
                       size_t len, const char *signature, size_t signature_len,
                       struct weir_now now);
/* Check that the accepted version is still valid. Call it at least once a minute: it reads the
 * state file, and writes the version's age there about 24 times in the version's life. Return: 0,
 * also if no version is accepted yet; -EKEYEXPIRED: a running node keeps its set and reports the
 * error. */
int weir__trust_recheck(struct weir_trust *trust, struct weir_now now);
/* The accepted version; valid until the next call with @trust. While redis has an older head, a
 * node may open with a file whose hash is accepted.image if weir__trust_recheck() returns 0. */
const struct weir_accepted *weir__trust_accepted(const struct weir_trust *trust);

#endif
