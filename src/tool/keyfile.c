/* SPDX-License-Identifier: MIT
 * Reads a key, and refuses one that is none or no secret. It may come through a FIFO; whose FIFO
 * that is shows before its writer comes, which may be never. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "keyfile.h"
#include "say.h"

#define MAKE "(umask 077; head -c 16 /dev/urandom > FILE)"

enum { KEY = 16, DIGITS = 2 * KEY };

static int digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;
	int value = at ? (int)(at - digits) : -1;
	return value < 16 ? value : value - 6;
}

static bool from_digits(const char *text, unsigned char key[KEY])
{
	for (unsigned i = 0; i < KEY; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		key[i] = (unsigned char)(16 * high + low);
	}
	return true;
}

static int open_at_once(const char *path)
{
	int fd;
	do
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* All of a file, if that is less than @room bytes: else @room of them. A negative errno. */
static ssize_t read_all(int fd, char *bytes, size_t room)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	while (n < room) {
		/* Without a writer yet a FIFO would be at its end. */
		ssize_t got = poll(&ready, 1, -1) < 0 ? -1 : read(fd, bytes + n, room - n);
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

/* Whoever may read the file can choose colliding keys, and whoever may write it, the key. */
static bool secret(int fd, const char *path)
{
	struct stat st;
	if (fstat(fd, &st)) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		say("%s: is a directory, and no key", path);
		return false;
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		say("%s: belongs to user %u, who may write it: a key must be yours or root's", path,
		    (unsigned)st.st_uid);
		return false;
	}
	bool safe = !(st.st_mode & (S_IRWXO | S_IWGRP));
	if (!safe)
		say("%s: its mode is %04o: a key that others may read or write, or its group "
		    "write, is no secret; make another one: " MAKE, path,
		    (unsigned)(st.st_mode & 07777));
	return safe;
}

const void *keyfile_read(const char *path)
{
	static unsigned char key[KEY];
	char bytes[DIGITS + 2];
	int fd = open_at_once(path);
	if (fd < 0) {
		say("%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!secret(fd, path)) {
		close(fd);
		return NULL;
	}
	ssize_t n = read_all(fd, bytes, sizeof bytes);
	close(fd);
	if (n < 0) {
		say("%s: %s", path, strerror((int)-n));
		return NULL;
	}
	if (n == KEY) {
		memcpy(key, bytes, KEY);
		return key;
	}
	bool digits = n == DIGITS || (n == DIGITS + 1 && bytes[DIGITS] == '\n');
	if (digits && from_digits(bytes, key))
		return key;
	say("%s: is no key: 16 bytes, or 32 hexadecimal digits and a newline; make one: " MAKE,
	    path);
	return NULL;
}
