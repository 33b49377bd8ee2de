/* SPDX-License-Identifier: MIT
 * Whom this machine lets say what a set is, and which version it took last, as the client of The
 * Update Framework does it: signed manifests, files of keys, a state file. A redis server and its
 * network may be anybody's.
 *
 * A signature is a line beside the manifest, without a newline, of one form only:
 *
 *     ed25519 KEY SIGNATURE      16 and 128 hexadecimal digits in lower case
 *
 * KEY is the first 8 bytes of the BLAKE2b-256 of the public key; it only finds the key. SIGNATURE
 * is Ed25519ph (RFC 8032) over "weir-signature 2\n" and the manifest's text, which names the
 * image's hash. To hash first needs no copy of both in one piece, and makes no signature that is
 * valid as plain Ed25519, whatever else a key is used for.
 *
 * Files of keys are text of one form only:
 *
 *     weir-key-secret 1 HEX      one line: the seed of a pair of keys
 *     weir-key-public 1 HEX      one to 64 lines: whose signatures are trusted
 *
 * HEX is 64 digits in lower case; each line ends with a newline. Every file must be this user's or
 * root's. One that others can write is refused, and a secret that others can read.
 *
 * Calls return 0 or a negative errno with its sentence: -ENOTSUP without libsodium, -ENOMEM, those
 * of open() to rename(), -EACCES an owner or mode, -ELOOP a symbolic link, -EBADMSG damage. */
#ifndef WEIR_REPLICA_TRUST_H
#define WEIR_REPLICA_TRUST_H

#include <string.h>
#include "../format/manifest.h"

enum { WEIR_SIGNATURE_TEXT = 8 + 16 + 1 + 128 + 1 }; /* with a NUL byte */

/* Make a pair of keys in new files of mode 0600 and 0644. After 0 both are on the disk, else
 * neither is. Return: also -EEXIST. */
int weir__key_make(const char *secret_file, const char *public_file);

/* ---- who publishes ---- */

struct weir_signer;
/* The key stays in locked memory, which weir__signer_close() overwrites. */
int weir__signer_open(struct weir_signer **out, const char *secret_file);
void weir__signer_close(struct weir_signer *signer); /* NULL: nothing */
/* Any number of threads may sign at once. */
int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      char line[WEIR_SIGNATURE_TEXT]);
/* May this machine sign by its clock? @server_ms: weir_head.now_ms. Return: 0; -ERANGE they differ
 * by more than ten minutes. */
int weir__signer_clock(uint64_t now_ms, uint64_t server_ms);
/* Is @m to be signed again, as a new version of the same image? It is if a quarter of @life_ms has
 * passed, a clock that ran ahead signed it, or it never expires. @life_ms: 0: none expires. */
bool weir__signer_due(const struct weir_manifest *m, uint64_t now_ms, uint64_t life_ms);

/* ---- who joins ---- */

/* One moment, by the wall clock and by a clock that never goes back (CLOCK_BOOTTIME). */
struct weir_now {
	uint64_t wall_ms, run_ms;
};

/* The newest version that was taken, as the state file has it. */
struct weir_held {
	struct weir_version version; /* 0.0: none was */
	uint64_t id;
	unsigned char manifest[32];  /* BLAKE2b-256 of its text */
	unsigned char image[WEIR_IMAGE_HASH];
	uint64_t signed_ms, expires_ms;
	uint64_t ran_ms;             /* how long it has been held, at least */
};

struct weir_trust;
/* Read the keys and the state. One thread at a time may use the result; other processes may have
 * the same state file. A missing one is made by the first weir__trust_take(). Beside it stand
 * STATE.lock and, while it is written, STATE.new; its folder must be this user's or root's too. */
int weir__trust_open(struct weir_trust **out, const char *public_file, const char *state_file,
                     const char *set, struct weir_now now);
void weir__trust_close(struct weir_trust *trust); /* NULL: nothing */
/* Did a trusted key sign @m, which was read from @text, for this set? An older version may be, so
 * this lets none be used. Return: 0; -EKEYREJECTED. */
int weir__trust_signed(const struct weir_trust *trust, const struct weir_manifest *m,
                       const char *text, size_t len, const char *signature, size_t signature_len);
/* May @m, which was read from @text, be used? A version above the state's is on the disk when this
 * returns 0. The caller then checks the image's length and hash.
 * Return: 0; -EKEYREJECTED no signature by a trusted key, another set, or a version below the
 *   state's; -EKEYEXPIRED; -EEXIST the state has another generation of that version: it may be
 *   merged, must never replace, and is to be reported. */
int weir__trust_take(struct weir_trust *trust, const struct weir_manifest *m, const char *text,
                     size_t len, const char *signature, size_t signature_len,
                     struct weir_now now);
/* Is the version held still valid? Ask about once a minute: it reads the state file, and notes
 * there how long the version has been held. Return: 0, also if none is held; -EKEYEXPIRED: a
 * running node keeps its set and reports. */
int weir__trust_fresh(struct weir_trust *trust, struct weir_now now);
/* Valid until the next call. While redis has an older head, a node may open with a file whose hash
 * is held.image, if weir__trust_fresh() says 0. */
const struct weir_held *weir__trust_held(const struct weir_trust *trust);

#endif
