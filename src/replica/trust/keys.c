/* SPDX-License-Identifier: MIT
 * Key files and signatures, with libsodium. Digits are parsed in constant time, and secrets stay in
 * memory of sodium_malloc(). */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>
#include "parts.h"

enum { HEX = 2 * WEIR_KEY_BYTES, FIRST = WEIR_KEY_LINE - HEX - 1, ID = 16,
       SIGNATURE = crypto_sign_BYTES, CLOCK_MS = 10 * 60 * 1000 };

static const char secret_first[] = "weir-key-secret 1 ", public_first[] = "weir-key-public 1 ",
                  algorithm[] = "ed25519 ", domain[] = "weir-signature 2\n";

static int start(void)
{
	return sodium_init() < 0 ? weir_fail(-ENOTSUP, "libsodium finds no random numbers") : 0;
}

/* ---- files ---- */

static void put_line(char line[WEIR_KEY_LINE], const char *first,
                     const unsigned char key[WEIR_KEY_BYTES])
{
	memcpy(line, first, FIRST);
	sodium_bin2hex(line + FIRST, HEX + 1, key, WEIR_KEY_BYTES);
	line[WEIR_KEY_LINE - 1] = '\n'; /* replaces the NUL byte */
}

static bool parse_line(unsigned char key[WEIR_KEY_BYTES], const char *line, const char *first)
{
	char lower = 0x20; /* 0 after an upper-case digit, which lacks this bit */
	for (int i = 0; i < HEX; i++)
		lower &= line[FIRST + i];
	return lower && memcmp(line, first, FIRST) == 0 && line[WEIR_KEY_LINE - 1] == '\n' &&
	       !sodium_hex2bin(key, WEIR_KEY_BYTES, line + FIRST, HEX, NULL, NULL, NULL);
}

/* Return: the number of keys, or a negative errno. */
static int read_keys(unsigned char keys[][WEIR_KEY_BYTES], size_t most, const char *path,
                     const char *first, mode_t others)
{
	int n = 0;
	const size_t room = most * WEIR_KEY_LINE + 1;
	char *text = sodium_malloc(room);
	if (!text)
		return weir_fail(-ENOMEM, "%s: no memory to read keys", path);
	ssize_t bytes = weir__file_read(path, others, 0, text, room);
	while (bytes >= (n + 1) * WEIR_KEY_LINE &&
	       parse_line(keys[n], text + n * WEIR_KEY_LINE, first))
		n++;
	if (bytes >= 0 && (n == 0 || bytes != n * WEIR_KEY_LINE))
		bytes = weir_fail(-EBADMSG, "%s: line %d of at most %zu is not \"%s\", %d digits "
		                  "in lower case and a newline", path, n + 1, most, first, HEX);
	sodium_free(text); /* overwrites the text */
	return bytes < 0 ? (int)bytes : n;
}

int weir__keys_read(unsigned char keys[][WEIR_KEY_BYTES], const char *path)
{
	int err = start();
	return err ? err : read_keys(keys, WEIR_KEYS_TRUSTED, path, public_first,
	                             S_IWGRP | S_IWOTH);
}

/* Allocated in locked memory, which sodium_free() overwrites. */
struct pair {
	unsigned char seed[1][WEIR_KEY_BYTES], secret[crypto_sign_SECRETKEYBYTES];
	char line[WEIR_KEY_LINE];
};

int weir__key_make(const char *secret_file, const char *public_file)
{
	unsigned char public[WEIR_KEY_BYTES];
	char line[WEIR_KEY_LINE];
	int err = start();
	struct pair *p = err ? NULL : sodium_malloc(sizeof *p);
	if (!p)
		return err ? err : weir_fail(-ENOMEM, "%s: no memory for a key", secret_file);
	randombytes_buf(p->seed, sizeof p->seed);
	crypto_sign_seed_keypair(public, p->secret, p->seed[0]);
	put_line(p->line, secret_first, p->seed[0]);
	put_line(line, public_first, public);
	err = weir__file_write(secret_file, p->line, WEIR_KEY_LINE, 0600, false);
	if (!err) {
		err = weir__file_write(public_file, line, WEIR_KEY_LINE, 0644, false);
		if (err)
			(void)unlink(secret_file);
	}
	sodium_free(p);
	return err;
}

/* ---- signatures ---- */

struct weir_signer {
	unsigned char seed[1][WEIR_KEY_BYTES], public[WEIR_KEY_BYTES];
	unsigned char secret[crypto_sign_SECRETKEYBYTES];
};

/* Hash the text that a signature covers. */
static void hash_text(crypto_sign_state *state, const char *text, size_t len)
{
	crypto_sign_init(state);
	crypto_sign_update(state, (const unsigned char *)domain, sizeof domain - 1);
	crypto_sign_update(state, (const unsigned char *)text, len);
}

static void put_signature(char line[WEIR_SIGNATURE_TEXT], const unsigned char *public,
                          const unsigned char signature[SIGNATURE])
{
	unsigned char hash[crypto_generichash_BYTES];
	char *id = mempcpy(line, algorithm, sizeof algorithm - 1);
	crypto_generichash(hash, sizeof hash, public, WEIR_KEY_BYTES, NULL, 0);
	sodium_bin2hex(id, ID + 1, hash, ID / 2);
	id[ID] = ' '; /* replaces the NUL byte */
	sodium_bin2hex(id + ID + 1, 2 * SIGNATURE + 1, signature, SIGNATURE);
}

int weir__signer_open(struct weir_signer **out, const char *secret_file)
{
	int err = start();
	struct weir_signer *s = err ? NULL : sodium_malloc(sizeof *s);
	if (!s)
		return err ? err : weir_fail(-ENOMEM, "%s: no memory for a key", secret_file);
	/* Group read is allowed, so that a service of another user can share the secret. */
	err = read_keys(s->seed, 1, secret_file, secret_first, S_IRWXO | S_IWGRP);
	if (err < 0) {
		sodium_free(s);
		return err;
	}
	crypto_sign_seed_keypair(s->public, s->secret, s->seed[0]);
	(void)sodium_mprotect_readonly(s);
	*out = s;
	return 0;
}

void weir__signer_close(struct weir_signer *signer)
{
	sodium_free(signer);
}

int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      char line[WEIR_SIGNATURE_TEXT])
{
	crypto_sign_state state;
	unsigned char signature[SIGNATURE];
	hash_text(&state, text, len);
	if (crypto_sign_final_create(&state, signature, NULL, signer->secret))
		return weir_fail(-EIO, "libsodium cannot sign a manifest of %zu bytes", len);
	put_signature(line, signer->public, signature);
	return 0;
}

int weir__signature_check(const unsigned char *keys, size_t n, const char *text, size_t len,
                          const char *line, size_t line_len)
{
	enum { HEAD = sizeof algorithm + ID, KEY = sizeof algorithm - 1 };
	char again[WEIR_SIGNATURE_TEXT];
	unsigned char signature[SIGNATURE];
	bool known = false;
	if (!line || line_len != sizeof again - 1 ||
	    sodium_hex2bin(signature, SIGNATURE, line + HEAD, 2 * SIGNATURE, NULL, NULL, NULL))
		return weir_fail(-EKEYREJECTED, "the manifest's signature of %zu bytes is not "
		                 "\"ed25519 KEY SIGNATURE\": publish with a secret key that is "
		                 "trusted here", line_len);
	for (size_t i = 0; i < n; i++, keys += WEIR_KEY_BYTES) {
		crypto_sign_state state;
		put_signature(again, keys, signature);
		known |= memcmp(again, line, HEAD) == 0;
		hash_text(&state, text, len);
		if (memcmp(again, line, line_len) == 0 &&
		    crypto_sign_final_verify(&state, signature, keys) == 0)
			return 0;
	}
	return known ? weir_fail(-EKEYREJECTED, "the signature by key %.*s does not verify: it is "
	                         "forged, or of another manifest: publish again", ID, line + KEY) :
	               weir_fail(-EKEYREJECTED, "the manifest is signed by key %.*s, not by one of "
	                         "the %zu of trusted_keys: if it is yours, add it, and start again",
	                         ID, line + KEY, n);
}

int weir__signer_clock(uint64_t now_ms, uint64_t server_ms)
{
	bool ahead = now_ms > server_ms;
	uint64_t by_ms = ahead ? now_ms - server_ms : server_ms - now_ms;
	return by_ms <= CLOCK_MS ? 0 :
	       weir_fail(-ERANGE, "this machine's clock is %" PRIu64 " s %s redis's, and a "
	                 "signature names the time: set the one that is wrong, or force it",
	                 by_ms / 1000, ahead ? "ahead of" : "behind");
}

bool weir__signer_must_sign(const struct weir_manifest *m, uint64_t now_ms, uint64_t life_ms)
{
	if (!life_ms || !m->expires_ms)
		return life_ms;
	return m->signed_ms > now_ms ? m->signed_ms - now_ms > CLOCK_MS :
	                               now_ms - m->signed_ms >= life_ms / 4;
}
