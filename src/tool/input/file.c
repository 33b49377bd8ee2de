/* SPDX-License-Identifier: MIT
 * Opens files that the command reads, and words the messages about files that cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/weir.h>
#include "file.h"
#include "output/say.h"

/* Return: a duplicate of the descriptor, if the path names a FIFO that is already open, else -1.
 * Opening the FIFO again would block until another process opens it for writing. */
static int open_already(const char *path)
{
	struct stat st;
	int fd = -1, end = 0;
	if (strcmp(path, "/dev/stdin") == 0)
		fd = STDIN_FILENO;
	else if (sscanf(path, "/dev/fd/%d%n", &fd, &end) != 1 || path[end])
		return -1;
	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
}

int open_to_read(const char *path)
{
	int fd = open_already(path);
	while (fd < 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno != EINTR)
			break;
	}
	return fd;
}

static bool begins(const char *path, const char name[8])
{
	char begin[8];
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && read(fd, begin, sizeof begin) == sizeof begin &&
	            memcmp(begin, name, sizeof begin) == 0;
	if (fd >= 0)
		close(fd);
	return same;
}

bool image_begins(const char *path)
{
	return begins(path, "WEIRIMG1");
}

bool delta_begins(const char *path)
{
	return begins(path, "WEIRDLT1");
}

const char *unopened(int err, enum say_file what)
{
	static const char *const remedies[] = {
		[SAY_IMAGE] = ": no image to read: weir build -o makes one",
		[SAY_ROUTER] = ": no image to read: weir route --build -o makes one",
		[SAY_KEYS] = ": no keys to read: give another file",
		[SAY_DELTA] = ": no delta to read: weir delta -o makes one",
		[SAY_HASH_KEY] = (": no hash key to read: give the one that weir build had, or "
		                  "for a new set make one: (umask 077; head -c 16 /dev/urandom > "
		                  "FILE)"),
		[SAY_KEY_PAIR] = ": no key to read: weir replicate key makes a pair",
		[SAY_PASSWORD] = ": no password to read: give another file",
		[SAY_PARQUET] = ": no Parquet file to read: give another name",
	};
	static _Thread_local char text[200];
	snprintf(text, sizeof text, "%s%s", strerror(err), err == ENOENT ? remedies[what] : "");
	return text;
}

int trouble_unopened(int err, const char *file, enum say_file what)
{
	return trouble("%s: %s", file, unopened(err, what));
}

bool is_there(const char *file, enum say_file what)
{
	if (!file || access(file, F_OK) == 0 || errno != ENOENT)
		return true;
	(void)trouble_unopened(ENOENT, file, what);
	return false;
}

const char *opened_or(int err, const char *detail, enum say_file what)
{
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	weir_error_last(&info);
	return info.code == WEIR_ERROR_OPEN && info.err == err ? unopened(-err, what) : detail;
}

const char *detail_without(const char *file)
{
	const char *detail = weir_error_detail();
	char *shown = plain_copy(file); /* escaped, like the library's message */
	size_t len = strlen(shown);
	int descriptor = 0;
	if (strncmp(detail, shown, len) == 0 && strncmp(detail + len, ": ", 2) == 0)
		detail += len + 2;
	else
		(void)sscanf(detail, "file descriptor %*d: %n", &descriptor);
	free(shown);
	return detail + descriptor;
}

void say_weir(int err, const char *file)
{
	const char *detail = file ? opened_or(err, detail_without(file), SAY_IMAGE) :
	                            weir_error_detail();
	if (!*detail)
		detail = weir_strerror(err);
	if (file && err == -EBADMSG && image_begins(file))
		say("%s: damaged: %s: restore it, or build it anew", file, detail);
	else if (file)
		say("%s: %s", file, detail);
	else
		say("%s", detail);
}

int trouble_delta(int err, const char *file)
{
	const char *detail = opened_or(err, detail_without(file), SAY_DELTA);
	if (err != -EBADMSG || !delta_begins(file))
		return trouble("%s: %s", file, detail);
	return trouble("%s: damaged: %s: fetch it again, or make it anew by weir delta", file,
	               detail);
}

int trouble_weir(int err, const char *file)
{
	say_weir(err, file);
	return TOOL_TROUBLE;
}

static struct stat keyfile; /* the file of the secret key; st_nlink is 0 if no key was read */

const void *keyfile_read(const char *path)
{
	static unsigned char key[WEIR_SECRET_BYTES];
	int err = weir_secret_read(key, path);
	if (!err && stat(path, &keyfile)) /* stat() fails if the path is a pipe closed by now */
		keyfile.st_nlink = 0;
	if (!err)
		return key;
	say("%s: %s", path, opened_or(err, detail_without(path), SAY_HASH_KEY));
	return NULL;
}

bool keyfile_is(const char *path)
{
	struct stat st;
	return keyfile.st_nlink && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_dev == keyfile.st_dev && st.st_ino == keyfile.st_ino;
}
