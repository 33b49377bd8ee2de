/* SPDX-License-Identifier: MIT
 * Making files of keys. Each is written and on the disk under a temporary name beside its own, and
 * linked to its own name only then: a link replaces nothing, and a name never stands for half a
 * key. A process that is killed may leave a temporary file, of mode 0600. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>
#include "trust/sign.h"

enum { HEX = 2 * WEIR_KEY_SEED };

struct new_file {
	const char *path;
	char *temporary;
	int fd; /* -1: there is no file */
};

static int failed(const struct new_file *f, const char *what)
{
	int error = errno;
	return weir_fail(-error, "%s: cannot %s: %s", f->path, what, weir_strerror(error));
}

static int write_all(const struct new_file *f, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(f->fd, text, len);
		if (n < 0 && errno != EINTR)
			return failed(f, "write it");
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* @f: to be ended also after a failure. */
static int make_temporary(struct new_file *f, const char *path, mode_t mode, const char *line)
{
	*f = (struct new_file){ .path = path, .fd = -1 };
	if (asprintf(&f->temporary, "%s.XXXXXX", path) < 0) {
		f->temporary = NULL;
		return weir_fail(-ENOMEM, "%s: no memory for a file's name", path);
	}
	f->fd = mkostemp(f->temporary, O_CLOEXEC); /* of mode 0600 */
	if (f->fd < 0)
		return failed(f, "make a file beside it");
	int err = write_all(f, line, WEIR_KEY_LINE);
	if (!err && fchmod(f->fd, mode))
		err = failed(f, "set its mode");
	if (!err && fsync(f->fd))
		err = failed(f, "bring it to the disk");
	return err;
}

/* It keeps the other name, if it has one. */
static void drop_temporary(struct new_file *f)
{
	if (f->fd >= 0) {
		(void)unlink(f->temporary);
		close(f->fd);
	}
	free(f->temporary);
	*f = (struct new_file){ .path = f->path, .fd = -1 };
}

static int give_name(const struct new_file *f)
{
	return link(f->temporary, f->path) ? failed(f, "make it") : 0;
}

static int sync_folder(const struct new_file *f)
{
	const char *slash = strrchr(f->path, '/');
	char *folder = !slash ? strdup(".") : strndup(f->path, (size_t)(slash - f->path) + 1);
	if (!folder)
		return weir_fail(-ENOMEM, "%s: no memory for a folder's name", f->path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	int err = fd < 0 || fsync(fd) ? failed(f, "bring its folder to the disk") : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

/* The temporary names go first, so that the folders are brought to the disk without them. */
static int name_both(struct new_file *secret, struct new_file *public)
{
	int err = give_name(secret);
	if (err)
		return err;
	err = give_name(public);
	if (!err) {
		drop_temporary(secret);
		drop_temporary(public);
		err = sync_folder(secret);
		if (!err)
			err = sync_folder(public);
		if (err)
			(void)unlink(public->path);
	}
	if (err)
		(void)unlink(secret->path);
	return err;
}

static int make_files(const char *secret_file, const char *secret_line, const char *public_file,
                      const char *public_line)
{
	struct new_file secret, public = { .fd = -1 };
	int err = make_temporary(&secret, secret_file, 0600, secret_line);
	if (!err)
		err = make_temporary(&public, public_file, 0644, public_line);
	if (!err)
		err = name_both(&secret, &public);
	drop_temporary(&public);
	drop_temporary(&secret);
	return err;
}

/* All of the pair in memory that is locked and overwritten when it is freed. */
struct pair {
	unsigned char seed[WEIR_KEY_SEED], secret[crypto_sign_SECRETKEYBYTES];
	char line[WEIR_KEY_LINE + 1];
};

int weir__key_make(const char *secret_file, const char *public_file)
{
	unsigned char public[WEIR_KEY_PUBLIC];
	char line[WEIR_KEY_LINE + 1], hex[HEX + 1];
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	struct pair *p = sodium_malloc(sizeof *p);
	if (!p)
		return weir_fail(-ENOMEM, "%s: no memory to make a secret key", secret_file);
	randombytes_buf(p->seed, sizeof p->seed);
	crypto_sign_seed_keypair(public, p->secret, p->seed);
	snprintf(line, sizeof line, "weir-key-public 1 %s\n",
	         sodium_bin2hex(hex, sizeof hex, public, sizeof public));
	/* written where it stays: printf() or memcpy() may leave a copy on the stack */
	memcpy(p->line, "weir-key-secret 1 ", WEIR_KEY_LINE - HEX - 1);
	sodium_bin2hex(p->line + WEIR_KEY_LINE - HEX - 1, HEX + 1, p->seed, sizeof p->seed);
	p->line[WEIR_KEY_LINE - 1] = '\n';
	int err = make_files(secret_file, p->line, public_file, line);
	sodium_free(p);
	return err;
}
