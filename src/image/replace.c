/* SPDX-License-Identifier: MIT
 * Replacing a file at once: a reader always finds either the old file or the new one, whole, even
 * after a crash or on a full disk.
 *
 * The new file has no name while it is written (O_TMPFILE), so a process that is killed leaves
 * nothing. linkat cannot replace a name. So if the path exists, the file is first linked to a
 * temporary name and that is renamed. Linux cannot join these two calls, and a kill between them
 * leaves the temporary name. A path always has the same temporary name, and the next save to the
 * path removes it. But it must not remove that of a saver at work: a file that has lost its only
 * name cannot get another. So each saver locks its file before it links it, and a name whose file
 * is not locked was left by a dead saver.
 *
 * On a file system without O_TMPFILE the file has a random name from the start.
 *
 * A symbolic link is followed: the file it names is replaced, the link stays. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error.h"
#include "hash.h"
#include "image/replace.h"

enum { MOST_LINKS = 40, MOST_TRIES = 100 };

static int fail(const struct weir_replace *r, int error, const char *what)
{
	return weir__fail(-error, "%s: cannot %s: %s", r->path, what, weir_strerror(error));
}

/* Put the path into @target, with links in its last part resolved. Other faults of the path are
 * found when it is opened. */
static int follow_links(struct weir_replace *r, char target[PATH_MAX])
{
	char link[PATH_MAX];
	if (strlen(r->path) >= PATH_MAX)
		return fail(r, ENAMETOOLONG, "save to this name");
	strcpy(target, r->path);
	for (unsigned hops = 0; hops < MOST_LINKS; hops++) {
		ssize_t n = readlink(target, link, sizeof link);
		if (n < 0)
			return 0;
		char *slash = strrchr(target, '/');
		size_t keep = link[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - target);
		if (keep + (size_t)n >= PATH_MAX)
			return fail(r, ENAMETOOLONG, "follow the link");
		memcpy(target + keep, link, (size_t)n);
		target[keep + (size_t)n] = 0;
	}
	return fail(r, ELOOP, "follow the link");
}

/* Split @target at its last slash: open the folder, keep the name. */
static int open_folder(struct weir_replace *r, char target[PATH_MAX])
{
	char *slash = strrchr(target, '/');
	const char *base = slash ? slash + 1 : target;
	if (!*base)
		return slash ? fail(r, EISDIR, "save to a folder") :
		               fail(r, ENOENT, "save to an empty name");
	if (strlen(base) > NAME_MAX)
		return fail(r, ENAMETOOLONG, "save to this name");
	strcpy(r->base, base);
	if (slash)
		slash[1] = 0;
	r->folder = open(slash ? target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r->folder < 0 ? fail(r, errno, "open the folder") : 0;
}

/* The permissions that the new file must have, or -1: the default less the umask. */
static int choose_mode(const struct weir_replace *r, unsigned given, int *mode)
{
	struct stat st;
	*mode = given ? (int)given : -1;
	if (fstatat(r->folder, r->base, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : fail(r, errno, "ask for the old file");
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? fail(r, EISDIR, "replace a folder") :
		       weir__fail(-EINVAL, "%s: is not a regular file; open it and use "
		                  "weir_save_fd", r->path);
	*mode = st.st_mode & 07777;
	return 0;
}

/* An unnamed file is linked through /proc, which may not be mounted. */
static bool open_unnamed(struct weir_replace *r, mode_t mode)
{
	if (access("/proc/self/fd", X_OK))
		return false;
	r->fd = openat(r->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	return r->fd >= 0;
}

static int open_named(struct weir_replace *r, mode_t mode)
{
	for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
		uint64_t number;
		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return fail(r, errno, "name a temporary file");
		snprintf(r->temp, sizeof r->temp, ".weir-tmp-%016" PRIx64, number);
		r->fd = openat(r->folder, r->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
		r->named = r->fd >= 0;
		if (r->named || errno != EEXIST)
			break;
	}
	return r->named ? 0 : fail(r, errno, "create a temporary file beside it");
}

int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode)
{
	char target[PATH_MAX];
	int wanted;
	*r = (struct weir_replace){ .path = path, .folder = -1, .fd = -1 };
	int err = follow_links(r, target);
	if (!err)
		err = open_folder(r, target);
	if (!err)
		err = choose_mode(r, mode, &wanted);
	/* At no moment may the file have more permissions than in the end. */
	mode_t at_first = err || wanted < 0 ? 0644 : (mode_t)wanted & 0644;
	if (!err && !open_unnamed(r, at_first))
		err = open_named(r, at_first);
	if (!err && wanted >= 0 && fchmod(r->fd, (mode_t)wanted))
		err = fail(r, errno, "set the permissions");
	if (err)
		weir__replace_end(r);
	return err;
}

static int sync_retrying(int fd)
{
	int answer;
	do
		answer = fsync(fd);
	while (answer && errno == EINTR);
	return answer;
}

/* Has a dead saver left the file under the temporary name? An error that leaves this unknown counts
 * as yes. @fd: that file, or negative with errno if it could not be opened. */
static bool abandoned(const struct weir_replace *r, int fd)
{
	struct stat file, name;
	if (fd < 0)
		return errno != ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno != EWOULDBLOCK;
	/* Since it was opened, its saver may have renamed it and another may have taken the name.
	 * From now on the lock keeps the name with this file. */
	return fstat(fd, &file) == 0 &&
	       fstatat(r->folder, r->temp, &name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_dev == name.st_dev && file.st_ino == name.st_ino;
}

/* The temporary name is in use. Remove it if it was left behind; else wait for its saver, a little
 * longer each time. */
static void free_name(const struct weir_replace *r, unsigned tries)
{
	int fd = openat(r->folder, r->temp, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (abandoned(r, fd))
		(void)unlinkat(r->folder, r->temp, 0);
	else
		(void)usleep(200 * tries);
	if (fd >= 0)
		close(fd);
}

static int rename_linked(struct weir_replace *r)
{
	if (renameat(r->folder, r->temp, r->folder, r->base) == 0)
		return 0;
	int err = fail(r, errno, "rename the new file over the old");
	(void)unlinkat(r->folder, r->temp, 0);
	return err;
}

static int link_and_rename(struct weir_replace *r, const char *self)
{
	(void)flock(r->fd, LOCK_EX | LOCK_NB); /* nobody else has it open; close() unlocks it */
	for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
		if (linkat(AT_FDCWD, self, r->folder, r->temp, AT_SYMLINK_FOLLOW) == 0)
			return rename_linked(r);
		if (errno != EEXIST)
			return fail(r, errno, "link the new file to a temporary name");
		free_name(r, tries);
	}
	return fail(r, EBUSY, "switch the name: other savers are at it");
}

static int switch_name(struct weir_replace *r)
{
	char self[32];
	if (r->named) {
		if (renameat(r->folder, r->temp, r->folder, r->base))
			return fail(r, errno, "rename the new file over the old");
		r->named = false;
		return 0;
	}
	snprintf(self, sizeof self, "/proc/self/fd/%d", r->fd);
	if (linkat(AT_FDCWD, self, r->folder, r->base, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return fail(r, errno, "give the new file its name");
	snprintf(r->temp, sizeof r->temp, ".weir-new-%016" PRIx64,
	         weir__checksum(r->base, strlen(r->base)));
	return link_and_rename(r, self);
}

int weir__replace_publish(struct weir_replace *r)
{
	if (sync_retrying(r->fd))
		return fail(r, errno, "sync the new file");
	int err = switch_name(r);
	/* EINVAL: a file system whose folders need no sync. */
	if (!err && sync_retrying(r->folder) && errno != EINVAL)
		err = weir__fail(-errno, "%s: the new file is in place, but its folder cannot be "
		                 "synced: %s", r->path, weir_strerror(errno));
	return err;
}

void weir__replace_end(struct weir_replace *r)
{
	if (r->named)
		(void)unlinkat(r->folder, r->temp, 0);
	if (r->fd >= 0)
		close(r->fd);
	if (r->folder >= 0)
		close(r->folder);
}
