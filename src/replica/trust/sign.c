/* SPDX-License-Identifier: MIT
 * Ed25519ph by libsodium, and the line that it is written in. */
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "format/number.h"
#include "trust/sign.h"

enum { ID = 8, SIGNATURE = crypto_sign_BYTES };

static const char algorithm[] = "ed25519 ", domain[] = "weir-signature 1\n";

/* Bytes alone: sodium_malloc() aligns nothing. */
struct weir_signer {
	unsigned char id[ID], secret[crypto_sign_SECRETKEYBYTES];
};

struct weir_trust {
	size_t n;
	unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_PUBLIC], ids[WEIR_KEYS_TRUSTED][ID];
};

static void put_id(unsigned char id[ID], const unsigned char key[WEIR_KEY_PUBLIC])
{
	unsigned char hash[32];
	crypto_generichash(hash, sizeof hash, key, WEIR_KEY_PUBLIC, NULL, 0);
	memcpy(id, hash, ID);
}

/* What is signed. */
static void begin(crypto_sign_state *state, const char *text, size_t len,
                  const unsigned char image_hash[WEIR_IMAGE_HASH])
{
	crypto_sign_init(state);
	crypto_sign_update(state, (const unsigned char *)domain, sizeof domain - 1);
	crypto_sign_update(state, image_hash, WEIR_IMAGE_HASH);
	if (len)
		crypto_sign_update(state, (const unsigned char *)text, len);
}

/* ---- the one who publishes ---- */

int weir__signer_open(struct weir_signer **out, const char *secret_file)
{
	unsigned char key[WEIR_KEY_PUBLIC];
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	struct weir_signer *s = sodium_malloc(sizeof *s);
	unsigned char *seed = sodium_malloc(WEIR_KEY_SEED);
	int err = s && seed ? weir__key_file_secret(seed, secret_file) :
	                      weir_fail(-ENOMEM, "%s: no memory for a secret key", secret_file);
	if (!err) {
		crypto_sign_seed_keypair(key, s->secret, seed);
		put_id(s->id, key);
		(void)sodium_mprotect_readonly(s);
		*out = s;
	}
	sodium_free(seed);
	if (err)
		sodium_free(s);
	return err;
}

void weir__signer_close(struct weir_signer *signer)
{
	sodium_free(signer); /* overwrites it */
}

int weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                      const unsigned char image_hash[WEIR_IMAGE_HASH],
                      char line[WEIR_SIGNATURE_TEXT])
{
	crypto_sign_state state;
	unsigned char signature[SIGNATURE];
	begin(&state, text, len, image_hash);
	int refused = crypto_sign_final_create(&state, signature, NULL, signer->secret);
	if (refused)
		return weir_fail(-EIO, "libsodium cannot sign a manifest of %zu bytes", len);
	char *to = mempcpy(line, algorithm, sizeof algorithm - 1);
	sodium_bin2hex(to, 2 * ID + 1, signer->id, ID);
	to[2 * ID] = ' ';
	to += 2 * ID + 1;
	sodium_bin2hex(to, 2 * WEIR_IMAGE_HASH + 1, image_hash, WEIR_IMAGE_HASH);
	to[2 * WEIR_IMAGE_HASH] = ' ';
	to += 2 * WEIR_IMAGE_HASH + 1;
	sodium_bin2hex(to, 2 * SIGNATURE + 1, signature, SIGNATURE);
	return 0;
}

/* ---- the one who joins ---- */

int weir__trust_open(struct weir_trust **out, const char *public_file)
{
	struct weir_trust *t = malloc(sizeof *t);
	if (!t)
		return weir_fail(-ENOMEM, "%s: no memory for public keys", public_file);
	int err = weir__key_file_public(t->keys, &t->n, public_file);
	if (err) {
		free(t);
		return err;
	}
	for (size_t i = 0; i < t->n; i++)
		put_id(t->ids[i], t->keys[i]);
	*out = t;
	return 0;
}

void weir__trust_close(struct weir_trust *trust)
{
	free(trust);
}

struct parsed {
	unsigned char id[ID], image_hash[WEIR_IMAGE_HASH], signature[SIGNATURE];
};

/* Digits up to @after, which follows them. Return: what follows that, or NULL. */
static const char *parse_hex(unsigned char *out, size_t bytes, const char *at, char after)
{
	if (!weir__is_hex(at, 2 * bytes, 2 * bytes) ||
	    sodium_hex2bin(out, bytes, at, 2 * bytes, NULL, NULL, NULL) ||
	    (after && at[2 * bytes] != after))
		return NULL;
	return at + 2 * bytes + (after ? 1 : 0);
}

static bool parse(struct parsed *p, const char *line, size_t len)
{
	if (len != WEIR_SIGNATURE_TEXT - 1 || memcmp(line, algorithm, sizeof algorithm - 1) != 0)
		return false;
	const char *at = parse_hex(p->id, ID, line + sizeof algorithm - 1, ' ');
	at = at ? parse_hex(p->image_hash, WEIR_IMAGE_HASH, at, ' ') : NULL;
	return at && parse_hex(p->signature, SIGNATURE, at, '\0');
}

int weir__trust_check(const struct weir_trust *trust, const char *line, size_t line_len,
                      const char *text, size_t len, unsigned char image_hash[WEIR_IMAGE_HASH])
{
	char id[2 * ID + 1];
	struct parsed p;
	bool known = false;
	if (!line || line_len == 0)
		return weir_fail(-EKEYREJECTED, "the manifest has no signature, and one of a "
		                 "key that is trusted is wanted: publish with a secret key "
		                 "(secret_key, --secret)");
	if (!parse(&p, line, line_len))
		return weir_fail(-EKEYREJECTED, "the manifest's signature of %zu bytes is not of "
		                 "the form \"ed25519 KEY IMAGE SIGNATURE\"", line_len);
	for (size_t i = 0; i < trust->n; i++) {
		crypto_sign_state state;
		if (memcmp(trust->ids[i], p.id, ID) != 0)
			continue;
		known = true;
		begin(&state, text, len, p.image_hash);
		if (crypto_sign_final_verify(&state, p.signature, trust->keys[i]) == 0) {
			memcpy(image_hash, p.image_hash, WEIR_IMAGE_HASH);
			return 0;
		}
	}
	sodium_bin2hex(id, sizeof id, p.id, ID);
	if (known)
		return weir_fail(-EKEYREJECTED, "the manifest's signature by key %s does not "
		                 "verify: it is another's, or of another manifest or image", id);
	return weir_fail(-EKEYREJECTED, "the manifest is signed by key %s, which is none of the "
	                 "%zu that are trusted: their file is read when a node begins, so who "
	                 "is to trust another is started again", id, trust->n);
}
