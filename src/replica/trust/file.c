/* SPDX-License-Identifier: MIT
 * Read and write the small files of keys and state, a whole file in each call. A new file is synced
 * under a temporary name before it gets its own name, so a reader never sees half a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>
#include "parts.h"

enum { LOCK_SECONDS = 10, TRIES_A_SECOND = 100 };

static int failed(const char *path, const char *what)
{
	int error = errno;
	return weir_fail(-error, "%s: cannot %s: %s", path, what, weir_strerror(error));
}

ssize_t weir__file_read(const char *path, mode_t others, int flags, char *text, size_t room)
{
	struct stat st; /* open() has O_NONBLOCK, since the file may be a FIFO */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	ssize_t n = fd < 0 || fstat(fd, &st) ? failed(path, "open it") : 0;
	if (n == 0 && !S_ISREG(st.st_mode))
		n = weir_fail(-EACCES, "%s: not a regular file: give the name of one", path);
	else if (n == 0 && st.st_uid != geteuid() && st.st_uid != 0)
		n = weir_fail(-EACCES, "%s: belongs to user %u, who may write it: make it yours or "
		              "root's", path, (unsigned)st.st_uid);
	else if (n == 0 && st.st_mode & others)
		n = weir_fail(-EACCES, "%s: its mode is %04o: others must have no right to %s it",
		              path, (unsigned)(st.st_mode & 07777),
		              others & S_IROTH ? "read or write" : "write");
	if (n == 0 && (n = read(fd, text, room)) < 0)
		n = failed(path, "read it");
	if (fd >= 0)
		close(fd);
	return n;
}

int weir__file_write(const char *path, const char *text, size_t len, mode_t mode, bool replace)
{
	char *new;
	if (asprintf(&new, "%s.new", path) < 0)
		return weir_fail(-ENOMEM, "%s: no memory for a file's name", path);
	if (replace) /* a killed process may have left a temporary file */
		(void)unlinkat(AT_FDCWD, new, 0);
	int fd = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		errno = ENOSPC; /* a short write sets no errno */
	int err = 0;
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, mode) || fsync(fd) ||
	    (replace ? renameat(AT_FDCWD, new, AT_FDCWD, path) :
	               linkat(AT_FDCWD, new, AT_FDCWD, path, 0))) {
		const bool there = !replace && fd >= 0 && errno == EEXIST;
		/* A failed replacement must not return -EEXIST, which has another meaning in
		 * weir__trust_accept(). */
		err = weir_fail(replace && errno == EEXIST ? -EACCES : -errno,
		                "%s: cannot write it%s%s: %s", path, there ? "" : " by way of ",
		                there ? "" : new, weir_strerror(errno));
	}
	if (fd >= 0) {
		close(fd);
		(void)unlinkat(AT_FDCWD, new, 0);
	}
	free(new);
	if (err)
		return err;
	err = weir__folder_sync(path, 0);
	if (err && !replace)
		(void)unlinkat(AT_FDCWD, path, 0);
	return err;
}

int weir__folder_sync(const char *path, mode_t others)
{
	struct stat st;
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!folder)
		return weir_fail(-ENOMEM, "%s: no memory for a folder's name", path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	if (fd < 0 || fstat(fd, &st) || fsync(fd))
		err = failed(folder, "bring it to the disk");
	else if (others && ((st.st_mode & others && !(st.st_mode & S_ISVTX)) ||
	                    (st.st_uid != geteuid() && st.st_uid != 0)))
		err = weir_fail(-EACCES, "%s: is user %u's, of mode %04o, so others may remove %s: "
		                "choose a folder of your own", folder, (unsigned)st.st_uid,
		                (unsigned)(st.st_mode & 07777), path);
	if (fd >= 0)
		close(fd);
	free(folder);
	return err;
}

int weir__file_lock(const char *path)
{
	char *lock;
	if (asprintf(&lock, "%s.lock", path) < 0)
		return weir_fail(-ENOMEM, "%s: no memory for a file's name", path);
	struct stat st; /* O_NONBLOCK, since another user may have made a FIFO */
	int fd = open(lock, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	              0600);
	int tries = LOCK_SECONDS * TRIES_A_SECOND, err = 0;
	if (fd >= 0 && fstat(fd, &st))
		err = failed(lock, "look at it");
	else if (fd >= 0 && !S_ISREG(st.st_mode))
		err = weir_fail(-EACCES, "%s: not a regular file: remove it, and choose a folder "
		                "where others cannot create files", lock);
	while (fd >= 0 && !err && flock(fd, LOCK_EX | LOCK_NB))
		if (errno != EWOULDBLOCK || !tries--)
			err = weir_fail(-errno, "%s: cannot lock it within %d s: %s: end the "
			                "process that has it", lock, LOCK_SECONDS,
			                weir_strerror(errno));
		else
			usleep(1000000 / TRIES_A_SECOND);
	if (fd < 0)
		err = failed(lock, "open it");
	else if (err)
		close(fd);
	free(lock);
	return err ? err : fd;
}
