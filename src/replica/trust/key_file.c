/* SPDX-License-Identifier: MIT
 * Reading files of keys. Digits are taken in constant time, and text is compared with what it
 * should have been: so there is one way of writing each key. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>
#include "trust/sign.h"

enum { HEX = 2 * WEIR_KEY_SEED, FIRST = WEIR_KEY_LINE - HEX - 1 };

static const char secret_first[] = "weir-key-secret 1 ", public_first[] = "weir-key-public 1 ";
_Static_assert(sizeof secret_first - 1 == FIRST && sizeof public_first - 1 == FIRST, "as long");

/* @others: the rights that nobody else may have. */
static int check_rights(int fd, const char *path, mode_t others)
{
	struct stat st;
	if (fstat(fd, &st))
		return weir_fail(-errno, "%s: %s", path, weir_strerror(errno));
	if (!S_ISREG(st.st_mode))
		return weir_fail(-EACCES, "%s: is no regular file, and no file of keys", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return weir_fail(-EACCES, "%s: belongs to user %u, who may write it: a file of "
		                 "keys must be yours or root's", path, (unsigned)st.st_uid);
	if (st.st_mode & others)
		return weir_fail(-EACCES, "%s: its mode is %04o: others must have no right to %s a "
		                 "file of %s", path, (unsigned)(st.st_mode & 07777),
		                 others & S_IROTH ? "read or write" : "write",
		                 others & S_IROTH ? "secret keys" : "trusted keys");
	return 0;
}

static int open_checked(const char *path, mode_t others)
{
	int fd;
	do /* not blocking, in case that it is a FIFO, which is refused below */
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return weir_fail(-errno, "%s: cannot open it: %s", path, weir_strerror(errno));
	int err = check_rights(fd, path, others);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* @n: receives how many bytes are there, at most @room. */
static int read_file(const char *path, mode_t others, char *text, size_t room, size_t *n)
{
	ssize_t got = 1;
	int fd = open_checked(path, others), err = 0;
	if (fd < 0)
		return fd;
	for (*n = 0; *n < room && got != 0; *n += got > 0 ? (size_t)got : 0) {
		got = read(fd, text + *n, room - *n);
		if (got < 0 && errno != EINTR) {
			err = weir_fail(-errno, "%s: cannot read it: %s", path,
			                weir_strerror(errno));
			break;
		}
	}
	close(fd);
	return err;
}

/* Is it the one line of that key? */
static bool parse_line(unsigned char key[WEIR_KEY_SEED], const char *line, const char *first)
{
	char again[HEX + 1];
	size_t bytes = 0;
	if (memcmp(line, first, FIRST) != 0 || line[WEIR_KEY_LINE - 1] != '\n')
		return false;
	bool is = sodium_hex2bin(key, WEIR_KEY_SEED, line + FIRST, HEX, NULL, &bytes, NULL) == 0 &&
	          bytes == WEIR_KEY_SEED;
	if (is) {
		sodium_bin2hex(again, sizeof again, key, WEIR_KEY_SEED);
		is = sodium_memcmp(again, line + FIRST, HEX) == 0; /* no upper case */
		sodium_memzero(again, sizeof again);
	}
	return is;
}

int weir__key_file_secret(unsigned char seed[WEIR_KEY_SEED], const char *path)
{
	size_t n = 0;
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	char *text = sodium_malloc(WEIR_KEY_LINE + 1);
	if (!text)
		return weir_fail(-ENOMEM, "%s: no memory to read a secret key", path);
	/* Its group may read it: that is how a secret is handed to a service of another user. */
	int err = read_file(path, S_IRWXO | S_IWGRP, text, WEIR_KEY_LINE + 1, &n);
	if (!err && (n != WEIR_KEY_LINE || !parse_line(seed, text, secret_first))) {
		sodium_memzero(seed, WEIR_KEY_SEED);
		err = weir_fail(-EBADMSG, "%s: is no secret key: one line of \"%s\", %d digits in "
		                "lower case and a newline", path, secret_first, HEX);
	}
	sodium_free(text); /* overwrites it */
	return err;
}

static int take_public(unsigned char keys[][WEIR_KEY_PUBLIC], size_t n, const char *line,
                       const char *path)
{
	if (!parse_line(keys[n], line, public_first))
		return weir_fail(-EBADMSG, "%s: line %d is no public key: \"%s\", %d digits in "
		                 "lower case and a newline", path, (int)n + 1, public_first, HEX);
	if (!crypto_core_ed25519_is_valid_point(keys[n]))
		return weir_fail(-EBADMSG, "%s: line %d is no public key: no secret belongs to "
		                 "that number", path, (int)n + 1);
	for (size_t i = 0; i < n; i++)
		if (memcmp(keys[i], keys[n], WEIR_KEY_PUBLIC) == 0)
			return weir_fail(-EBADMSG, "%s: line %d has the key of line %d", path,
			                 (int)n + 1, (int)i + 1);
	return 0;
}

int weir__key_file_public(unsigned char keys[][WEIR_KEY_PUBLIC], size_t *n, const char *path)
{
	char text[WEIR_KEYS_TRUSTED * WEIR_KEY_LINE + 1];
	size_t bytes = 0, taken = 0;
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	int err = read_file(path, S_IWGRP | S_IWOTH, text, sizeof text, &bytes);
	if (!err && bytes == 0)
		err = weir_fail(-EBADMSG, "%s: is empty: it trusts no key", path);
	if (!err && bytes == sizeof text)
		err = weir_fail(-EBADMSG, "%s: is longer than %d public keys", path,
		                WEIR_KEYS_TRUSTED);
	for (; !err && taken * WEIR_KEY_LINE + WEIR_KEY_LINE <= bytes; taken++)
		err = take_public(keys, taken, text + taken * WEIR_KEY_LINE, path);
	if (!err && taken * WEIR_KEY_LINE != bytes)
		err = weir_fail(-EBADMSG, "%s: line %d is cut short", path, (int)taken + 1);
	if (!err)
		*n = taken;
	return err;
}
