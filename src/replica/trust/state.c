/* SPDX-License-Identifier: MIT
 * The state file: one line of text with exactly one form.
 *
 *     weir-state 1 SET VERSION ID MANIFEST IMAGE SIGNED EXPIRES RAN CHECK
 *
 * VERSION to RAN are the members of struct weir_accepted. CHECK is the BLAKE2b-256 of the text
 * before. To detect damage, the reader writes the parsed state again and compares the texts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <weir/error.h>
#include "parts.h"

enum { HASH = crypto_generichash_BYTES, HEX = 2 * HASH, TEXT = 640 };

#define LINE(name, number, id, hash) "weir-state 1 " name " " number "." number " " id " " hash \
	" " hash " " number " " number " " number " "

/* Return: bytes written. */
static size_t format_text(char text[TEXT], const struct weir_accepted *h, const char *set)
{
	char manifest[HEX + 1], image[HEX + 1];
	unsigned char check[HASH];
	sodium_bin2hex(manifest, sizeof manifest, h->manifest, HASH);
	sodium_bin2hex(image, sizeof image, h->image, HASH);
	size_t n = (size_t)snprintf(text, TEXT, LINE("%s", "%" PRIu64, "%016" PRIx64, "%s"), set,
	                            h->version.era, h->version.number, h->id, manifest, image,
	                            h->signed_ms, h->expires_ms, h->ran_ms);
	crypto_generichash(check, HASH, (const unsigned char *)text, n, NULL, 0);
	sodium_bin2hex(text + n, HEX + 1, check, HASH);
	text[n + HEX] = '\n'; /* replaces the NUL byte */
	return n + HEX + 1;
}

/* @text: ends with a NUL byte. */
static bool parse_text(struct weir_accepted *h, char set[WEIR_SET_NAME + 1], const char *text,
                       size_t n)
{
	char manifest[HEX + 1], image[HEX + 1], again[TEXT];
	return sscanf(text, LINE("%64s", "%" SCNu64, "%" SCNx64, "%64s"), set,
	              &h->version.era, &h->version.number, &h->id, manifest, image, &h->signed_ms,
	              &h->expires_ms, &h->ran_ms) == 9 &&
	       !sodium_hex2bin(h->manifest, HASH, manifest, HEX, NULL, NULL, NULL) &&
	       !sodium_hex2bin(h->image, HASH, image, HEX, NULL, NULL, NULL) &&
	       format_text(again, h, set) == n && memcmp(again, text, n) == 0;
}

int weir__state_read(struct weir_accepted *held, const char *path, const char *set)
{
	char text[TEXT + 1], of[WEIR_SET_NAME + 1];
	*held = (struct weir_accepted){ .id = 0 };
	int err = weir__folder_sync(path, S_IWGRP | S_IWOTH);
	if (err)
		return err;
	ssize_t n = weir__file_read(path, S_IWGRP | S_IWOTH, O_NOFOLLOW, text, TEXT);
	if (n < 0)
		return n == -ENOENT ? 0 : (int)n;
	text[n] = '\0';
	if (!parse_text(held, of, text, (size_t)n))
		return weir_fail(-EBADMSG, "%s: the state file is damaged: put back a copy of it; "
		                 "without it this machine takes any version that has not expired",
		                 path);
	return strcmp(of, set) == 0 ? 0 :
	       weir_fail(-EINVAL, "%s: is the state of set %s, and not of %s: give each set a "
	                 "state_file of its own", path, of, set);
}

int weir__state_write(const struct weir_accepted *held, const char *path, const char *set)
{
	char text[TEXT];
	return weir__file_write(path, text, format_text(text, held, set), 0600, true);
}
