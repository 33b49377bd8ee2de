/* SPDX-License-Identifier: MIT
 * Reads a secret key, and refuses a file that holds no key or is not secret. The file may be a
 * FIFO: the checks of its owner and mode do not wait for a writer to open it. */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/secret.h>
#include "ground/error.h"

#define MAKE "(umask 077; head -c 16 /dev/urandom > FILE)"

enum { DIGITS = 2 * WEIR_SECRET_BYTES };

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;
	int value = at ? (int)(at - digits) : -1;
	return value < 16 ? value : value - 6;
}

static bool parse_hex(const char *text, unsigned char key[WEIR_SECRET_BYTES])
{
	for (unsigned i = 0; i < WEIR_SECRET_BYTES; i++) {
		int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		key[i] = (unsigned char)(16 * high + low);
	}
	return true;
}

static int open_nonblocking(const char *path)
{
	int fd;
	do
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Read the file to its end, at most @size bytes. Return: the bytes read, or a negative errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	while (n < size) {
		/* If a FIFO has no writer, read() returns 0, so wait in poll(). */
		ssize_t got = poll(&ready, 1, -1) < 0 ? -1 : read(fd, bytes + n, size - n);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/* Refuse a file that another user owns (except root), that its group may write, or that other users
 * may read or write. A user who knows the key can choose keys that collide. A user who can write
 * the file can replace the key. */
static int check_secret(int fd, const char *path)
{
	struct stat st;
	if (fstat(fd, &st))
		return weir__fail(-errno, "%s: %s", path, weir_strerror(errno));
	if (S_ISDIR(st.st_mode))
		return weir__fail(-EISDIR, "%s: a directory, not a key", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return weir__fail(-EACCES, "%s: belongs to user %u, who may write it: a key must "
		                  "be yours or root's", path, (unsigned)st.st_uid);
	if (st.st_mode & (S_IRWXO | S_IWGRP))
		return weir__fail(-EACCES, "%s: its mode is %04o, so others may read or write the "
		                  "key: create another key: " MAKE,
		                  path, (unsigned)(st.st_mode & 07777));
	return 0;
}

static int parse(unsigned char *key, const char *bytes, ssize_t n, const char *path)
{
	unsigned char parsed[WEIR_SECRET_BYTES];
	bool digits = n == DIGITS || (n == DIGITS + 1 && bytes[DIGITS] == '\n');
	if (n < 0)
		return weir__fail((int)n, "%s: cannot read it: %s", path, weir_strerror((int)n));
	if (n == WEIR_SECRET_BYTES)
		memcpy(key, bytes, WEIR_SECRET_BYTES);
	else if (digits && parse_hex(bytes, parsed))
		memcpy(key, parsed, WEIR_SECRET_BYTES);
	else
		return weir__fail(-EBADMSG, "%s: not a key of 16 bytes, or of 32 hexadecimal "
		                  "digits and a newline: create one: " MAKE, path);
	return 0;
}

int weir_secret_read(void *key, const char *path)
{
	char bytes[DIGITS + 2];
	if (!key || !path)
		return weir__fail(-EINVAL, "%s is NULL", key ? "path" : "key");
	int fd = open_nonblocking(path);
	if (fd < 0)
		return weir__unopened(-errno, path);
	int err = check_secret(fd, path);
	if (!err)
		err = parse(key, bytes, read_all(fd, bytes, sizeof bytes), path);
	close(fd);
	explicit_bzero(bytes, sizeof bytes);
	return err;
}
