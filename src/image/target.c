/* SPDX-License-Identifier: MIT
 * Finds the file that a save replaces. If the last part of the path is a symbolic link, the target
 * is the file that the link leads to. The kernel resolves the link, so a link that it refuses to
 * follow (fs.protected_symlinks: another user's link in a folder like /tmp) is refused here too.
 * Then this code opens that file's folder, and checks that the name there is the same file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/head.h"
#include "image/io.h"
#include "image/replace.h"

enum { MOST_TRIES = 100 }; /* tries to follow a link whose file other processes keep replacing */

static int fail(const char *path, int error, const char *what)
{
	return weir__fail(-error, "%s: cannot %s: %s", path, what, weir_strerror(error));
}

/* Open the folder part of @name and copy the rest to t->base. @name is changed. */
static int open_folder(struct weir_target *t, char *name, const char *path)
{
	char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	if (!*base)
		return slash ? fail(path, EISDIR, "save to a directory") :
		               fail(path, ENOENT, "save to an empty name");
	if (strlen(base) > NAME_MAX)
		return fail(path, ENAMETOOLONG, "save to this name");
	strcpy(t->base, base);
	if (slash)
		slash[1] = 0;
	t->folder = open(slash ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->folder < 0 ? fail(path, errno, "open the directory") : 0;
}

static int refuse_kind(const char *path, mode_t mode)
{
	return S_ISDIR(mode) ? fail(path, EISDIR, "replace a directory") :
	       weir__fail(-EINVAL, "%s: is not a regular file, which an image replaces: name one",
	                  path);
}

/* Point @t to the file that a link leads to. @link: that file, opened with O_PATH.
 * Return: 0; 1 if the file was replaced since it was opened; or a negative errno. */
static __attribute__((noinline)) int go_to(struct weir_target *t, int link, const char *path)
{
	char self[32], name[PATH_MAX];
	struct weir_target to = { .folder = -1, .held = -1 };
	struct stat st;
	if (fstat(link, &st))
		return fail(path, errno, "ask for the link's file");
	if (!S_ISREG(st.st_mode))
		return refuse_kind(path, st.st_mode);
	snprintf(self, sizeof self, "/proc/self/fd/%d", link);
	ssize_t n = readlink(self, name, sizeof name - 1);
	if (n < 0)
		return weir__fail(-errno, "%s: cannot follow the link without /proc: give the name "
		                  "of the file itself", path);
	name[n] = 0;
	int err = open_folder(&to, name, path);
	if (err)
		return err;
	if (fstatat(to.folder, to.base, &to.old, AT_SYMLINK_NOFOLLOW) ||
	    to.old.st_dev != st.st_dev || to.old.st_ino != st.st_ino) {
		weir__target_close(&to);
		return 1;
	}
	weir__target_close(t);
	*t = to;
	return 0;
}

static int follow_link(struct weir_target *t, const char *path)
{
	int moved = 1;
	for (unsigned tries = 0; moved > 0 && tries < MOST_TRIES; tries++) {
		int link = openat(t->folder, t->base, O_PATH | O_CLOEXEC);
		if (link < 0 && errno == ENOENT)
			return weir__fail(-ENOENT, "%s: is a link to a file that does not exist: "
			                  "remove it, or give the name of the file itself", path);
		if (link < 0)
			return fail(path, errno, "follow the link");
		moved = go_to(t, link, path);
		close(link);
	}
	return moved > 0 ? weir__fail(-EBUSY, "%s: cannot follow the link: its file is not where "
	                              "it leads to", path) : moved;
}

bool weir__acl_has(int fd)
{
	return fgetxattr(fd, "system.posix_acl_access", NULL, 0) >= 0 ||
	       (errno != ENODATA && errno != ENOTSUP);
}

/* Read from one descriptor the old file's state, and whether it has an access control list. If the
 * file cannot be opened, it counts as having a list. */
static void look_at_old(struct weir_target *t)
{
	int fd = openat(t->folder, t->base,
	                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	t->exists = true;
	t->old_acl = true;
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		t->old = st;
		t->old_acl = weir__acl_has(fd);
	}
	close(fd);
}

void weir__target_look_again(struct weir_target *t)
{
	struct stat now;
	if (fstatat(t->folder, t->base, &now, AT_SYMLINK_NOFOLLOW) || !S_ISREG(now.st_mode))
		return;
	t->old = now;
	look_at_old(t);
}

/* Return: true if the file is an image or empty. If false, errno is the error of a system call, or
 * 0 if none failed. */
static bool is_image(int fd)
{
	char begin[8];
	struct stat st;
	errno = 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	ssize_t n = read(fd, begin, sizeof begin);
	return n == 0 || (n == sizeof begin && memcmp(begin, "WEIRIMG1", sizeof begin) == 0);
}

int weir__target_check_image(const struct weir_target *t, const char *path)
{
	int fd = openat(t->folder, t->base,
	                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(path, errno, "see whether it is an image");
	bool is = is_image(fd);
	int error = errno;
	close(fd);
	return is    ? 0 :
	       error ? fail(path, error, "see whether it is an image") :
	               weir__fail(-EEXIST, "%s: it is neither empty nor an image: it stays", path);
}

/* ---- [REPLACE-READ] of map.h: replace only the image that was read ---- */

static int is_live(const char *path)
{
	return weir__fail(-EAGAIN, "%s: not replaced: it is live: a process inserts into it, or "
	                  "one that may write it has locked it (lslocks): repeat the change when "
	                  "that has ended", path);
}

int weir__target_is_another(const char *path)
{
	return weir__fail(-EAGAIN, "%s: not replaced: it was replaced, removed or inserted into "
	                  "since it was read: repeat the change on what it holds now", path);
}

static bool keeps_name(const struct weir_target *t)
{
	struct stat held, there;
	return fstat(t->held, &held) == 0 &&
	       fstatat(t->folder, t->base, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

/* Fail for another process's exclusive lock on the image, but not for a shared lock, which any
 * reader may hold. A mapper that has only the shared lock marks the image live before it inserts,
 * and the commit record shows that mark. */
int weir__target_check_held(const struct weir_target *t, const char *path)
{
	const uint64_t now = weir__commit_now(t->held);
	struct stat st;
	if (now == WEIR_IMAGE_LIVE || weir__commit_written(t->held))
		return is_live(path);
	const bool is = t->commit == WEIR_REPLACES_NOTHING ?
	                fstat(t->held, &st) == 0 && st.st_size == 0 : now == t->commit;
	return is && keeps_name(t) ? 0 : weir__target_is_another(path);
}

int weir__target_hold(struct weir_target *t, uint64_t commit, const char *path)
{
	t->commit = commit;
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	t->held = openat(t->folder, t->base, O_RDWR | flags); /* as F_WRLCK needs */
	if (t->held < 0)
		t->held = openat(t->folder, t->base, O_RDONLY | flags);
	if (t->held < 0 && errno == ENOENT)
		return commit == WEIR_REPLACES_NOTHING ? 0 : weir__target_is_another(path);
	if (t->held < 0)
		return fail(path, errno, "open the old image");
	t->unlocked = weir__commit_lock(t->held, F_WRLCK) != 0;
	return weir__target_check_held(t, path);
}

int weir__target_look(struct weir_target *t, uint64_t commit, const char *path)
{
	int err = weir__target_hold(t, commit, path);
	if (t->held >= 0)
		close(t->held);
	t->held = -1;
	return err;
}

int weir__target_release(struct weir_target *t, const char *path)
{
	if (t->held < 0)
		return 0;
	const bool lost = t->unlocked && t->commit != WEIR_REPLACES_NOTHING &&
	                  weir__commit_now(t->held) != t->commit;
	close(t->held);
	t->held = -1;
	return lost ? weir__fail(-ENOTRECOVERABLE, "%s: the new image is in place, but a process "
	                         "mapped the old one live during the save: insert its keys again",
	                         path) : 0;
}

static int find_name(struct weir_target *t, const char *path)
{
	if (fstatat(t->folder, t->base, &t->old, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : fail(path, errno, "ask for the old file");
	int err = S_ISLNK(t->old.st_mode) ? follow_link(t, path) : 0;
	if (!err && !S_ISREG(t->old.st_mode))
		err = refuse_kind(path, t->old.st_mode);
	if (!err)
		look_at_old(t);
	return err;
}

/* Return: true if only this user and root can have put files into the folder. If an access
 * control list lets more users write, the group's bits in the mode show that too. */
static bool is_private(int folder)
{
	struct stat st;
	return fstat(folder, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

int weir__target_find(struct weir_target *t, const char *path)
{
	char name[PATH_MAX];
	*t = (struct weir_target){ .folder = -1, .held = -1 };
	if (strlen(path) >= sizeof name)
		return fail(path, ENAMETOOLONG, "save to this name");
	strcpy(name, path);
	int err = open_folder(t, name, path);
	if (err)
		return err;
	err = find_name(t, path);
	if (err)
		weir__target_close(t);
	else
		t->private = is_private(t->folder);
	return err;
}

void weir__target_close(const struct weir_target *t)
{
	if (t->held >= 0)
		close(t->held);
	close(t->folder);
}
