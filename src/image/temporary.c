/* SPDX-License-Identifier: MIT
 * The new file has no name while it is written (O_TMPFILE), so a killed process leaves no file. To
 * replace an old file, the new file needs a temporary name for a moment, since linkat cannot
 * replace a file. If the file system lacks O_TMPFILE, or refuses linkat, the new file has the
 * temporary name from the start. If a saver is killed while its file has a temporary name, the next
 * save of the same target removes that file.
 *
 * [TEMP-RANDOM]  A temporary name is random: no process can take it beforehand, and no two savers
 *    share one.
 * [TEMP-LOCKED]  A running saver holds its file's lock (flock) while the file has a temporary name.
 *    A file created with a name is locked only afterwards, so the saver uses it only if it still
 *    has the name.
 * [TEMP-REMOVED]  A saver removes a file only after it has locked the file and then found it under
 *    the name. So it never removes the file of a running saver. It also never removes a stranger's
 *    file: the file is this user's own, or only this user and root can write to the folder.
 * [TEMP-CLAIM]  One temporary name is fixed: the claim. A saver that replaces only the image that
 *    was read ([REPLACE-READ] in map.h) gives its file this name before its last check of the old
 *    file. The rename ends the claim and replaces the old file in one step. So of two such savers,
 *    the second makes its last check only after the rename by the first. This holds even if readers
 *    have locked the old file, so that neither saver can lock it.
 * [TEMP-STICKY]  In a folder with the sticky bit a claim counts only if its owner may rename a file
 *    over the image: this user, the image's owner, the folder's owner or root. Any other user could
 *    take the name to prevent all saves. A saver that finds such a file takes a random name
 *    instead. Then only the lock of the old file orders two savers ([REPLACE-READ]), not
 *    [TEMP-CLAIM].
 * [TEMP-MODE]  A claiming file has mode 0600, so a reader cannot lock it. But a saver that is
 *    killed between the last fchmod and the rename leaves a file that readers can lock. The next
 *    saver removes this file too. A running saver holds LOCK_EX from before its file has a name, so
 *    a granted LOCK_SH shows that the file's saver was killed. But two savers may both get LOCK_SH
 *    on that file. If one saver removes the file, a third saver can claim the name, and the other
 *    saver would then remove the third saver's claim. So a saver removes a file that readers have
 *    locked only while its own file has the second fixed name, the heir. Only one file can have the
 *    heir's name, and that file has mode 0600 and is locked. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/system.h"
#include "hash/hash.h"
#include "image/replace.h"

enum { MOST_TRIES = 100, WAIT_US = 10000, PREFIX = WEIR_TEMPORARY_NAME - 17 };
enum { CLAIM = 0, HEIR = 1 }; /* the numbers in the two fixed names: [TEMP-CLAIM], [TEMP-MODE] */

static void put_prefix(char name[WEIR_TEMPORARY_NAME], const struct weir_target *target)
{
	snprintf(name, PREFIX + 1, ".weir-new-%016" PRIx64 "-",
	         weir__checksum(target->base, strlen(target->base)));
}

static void put_name(char name[WEIR_TEMPORARY_NAME], const struct weir_target *target,
                     uint64_t number)
{
	put_prefix(name, target);
	snprintf(name + PREFIX, WEIR_TEMPORARY_NAME - PREFIX, "%016" PRIx64, number);
}

static int choose_name(struct weir_temporary *t)
{
	uint64_t number;
	int err = weir__random(&number);
	if (!err)
		put_name(t->name, t->target, number);
	return err;
}

/* Return: true if @name in the target's folder leads to the open file @fd and is its only name. */
static bool is_only_name(const struct weir_target *target, const char *name, int fd)
{
	struct stat file, there;
	return fstat(fd, &file) == 0 && file.st_nlink == 1 &&
	       fstatat(target->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

/* ---- files that killed savers left ---- */

/* Remove the file @name if the saver that wrote it was killed. @heir: the calling saver's own file
 * has the second fixed name (the heir), so also remove a file that only readers have locked
 * ([TEMP-MODE]). Return: true if the file @name stays although only readers have locked it. */
static bool remove_if_killed(const struct weir_target *target, const char *name, bool heir)
{
	struct stat st;
	if (fstatat(target->folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != geteuid() && !target->private))
		return false;
	int fd = openat(target->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool all = flock(fd, LOCK_EX | LOCK_NB) == 0;
	bool read = !all && errno == EWOULDBLOCK && flock(fd, LOCK_SH | LOCK_NB) == 0;
	bool removes = all || (read && heir);
	if (removes && is_only_name(target, name, fd)) /* [TEMP-REMOVED] */
		(void)unlinkat(target->folder, name, 0);
	close(fd);
	return read && !heir;
}

static void sweep(const struct weir_target *target)
{
	char prefix[WEIR_TEMPORARY_NAME];
	int fd = openat(target->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	put_prefix(prefix, target);
	for (const struct dirent *e; (e = readdir(folder)) != NULL;)
		if (strncmp(e->d_name, prefix, PREFIX) == 0 &&
		    strlen(e->d_name) == WEIR_TEMPORARY_NAME - 1)
			(void)remove_if_killed(target, e->d_name, false);
	closedir(folder);
}

/* ---- this saver's own file ---- */

int weir__temporary_link_as(const struct weir_temporary *t, const char *name)
{
	char self[32];
	snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
	return linkat(AT_FDCWD, self, t->target->folder, name, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* Open a file without a name. Test that it can be linked later by linking it as ".", which must
 * fail with EEXIST. Any other error means that /proc is not mounted or a sandbox refuses linkat. */
static bool open_unnamed(struct weir_temporary *t, mode_t mode)
{
	t->fd = openat(t->target->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (t->fd < 0)
		return false;
	/* [TEMP-LOCKED]: the lock is free, since no other process has opened the file */
	(void)flock(t->fd, LOCK_EX | LOCK_NB);
	if (weir__temporary_link_as(t, ".") == EEXIST)
		return true;
	close(t->fd);
	return false;
}

/* Return: 0; EEXIST: try another name; or another errno. */
static int open_by_name(struct weir_temporary *t, mode_t mode)
{
	t->fd = openat(t->target->folder, t->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
	if (t->fd < 0)
		return errno;
	t->named = true;
	/* A file system may lack locks. Then no other saver can lock the file and remove it. */
	bool lost = flock(t->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	/* [TEMP-LOCKED]: the file still has the name */
	if (!lost && is_only_name(t->target, t->name, t->fd))
		return 0;
	weir__temporary_end(t);
	return EEXIST;
}

static int open_named(struct weir_temporary *t, mode_t mode)
{
	int error = EEXIST;
	for (unsigned tries = 0; error == EEXIST && tries < MOST_TRIES; tries++) {
		int err = choose_name(t);
		if (err)
			return err;
		error = open_by_name(t, mode);
	}
	return error ? weir__fail(-error, "%s: cannot create a temporary file beside it: %s",
	                          t->path, weir_strerror(error)) : 0;
}

int weir__temporary_begin(struct weir_temporary *t, const struct weir_target *target,
                          const char *path, mode_t mode, bool named)
{
	*t = (struct weir_temporary){ .target = target, .path = path };
	sweep(target);
	return !named && open_unnamed(t, mode) ? 0 : open_named(t, mode);
}

int weir__temporary_link(struct weir_temporary *t)
{
	int error = EEXIST;
	for (unsigned tries = 0; error == EEXIST && tries < MOST_TRIES; tries++) {
		int err = choose_name(t);
		if (err)
			return err;
		error = weir__temporary_link_as(t, t->name);
	}
	t->named = error == 0;
	return error ? 1 : 0;
}

static int rename_new(const struct weir_target *target, const char *from, const char *to)
{
	return renameat2(target->folder, from, target->folder, to, RENAME_NOREPLACE) ? errno : 0;
}

/* ---- the claim ---- */

/* Give the file @name. Return: 0 or an errno, EEXIST if another file has @name. */
static int give_name(const struct weir_temporary *t, const char *name)
{
	return t->named ? rename_new(t->target, t->name, name) : weir__temporary_link_as(t, name);
}

/* Return: true if the file with the fixed name @name (the claim or the heir) counts
 * ([TEMP-STICKY]). In a sticky folder a file with further names does not count, since a saver's
 * file has only one name. */
static bool claim_counts(const struct weir_target *target, const char *name)
{
	struct stat st, folder, image;
	if (fstatat(target->folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return true; /* the file was removed, so try again */
	if (!S_ISREG(st.st_mode))
		return false;
	if (fstat(target->folder, &folder) || fstat(target->held, &image) ||
	    !(folder.st_mode & S_ISVTX))
		return true;
	return st.st_nlink == 1 && (st.st_uid == geteuid() || st.st_uid == image.st_uid ||
	                            st.st_uid == folder.st_uid || st.st_uid == 0);
}

/* Remove the claim @name if the saver that made it was killed. To remove a claim that readers have
 * locked, this saver's own file first takes the second fixed name, the heir's. Return: false if the
 * claim, or another file with the heir's name, does not count ([TEMP-STICKY]). */
static bool remove_claim(struct weir_temporary *t, const char *name)
{
	char heir[WEIR_TEMPORARY_NAME];
	if (!claim_counts(t->target, name))
		return false;
	if (!remove_if_killed(t->target, name, false))
		return true;
	put_name(heir, t->target, HEIR);
	const bool is = t->named && strcmp(t->name, heir) == 0;
	const int error = is ? 0 : give_name(t, heir);
	if (error == EEXIST) {
		(void)remove_if_killed(t->target, heir, false);
		return claim_counts(t->target, heir);
	}
	if (error)
		return true;
	memcpy(t->name, heir, sizeof heir);
	t->named = true;
	(void)remove_if_killed(t->target, name, true);
	return true;
}

int weir__temporary_claim(struct weir_temporary *t)
{
	char name[WEIR_TEMPORARY_NAME];
	put_name(name, t->target, CLAIM);
	int error = give_name(t, name);
	for (unsigned tries = 1; error == EEXIST && tries < MOST_TRIES; tries++) {
		if (!remove_claim(t, name))
			return t->named ? 0 : weir__temporary_link(t);
		usleep(WAIT_US);
		error = give_name(t, name);
	}
	if (error == EEXIST)
		return weir__fail(-EAGAIN, "%s: not replaced: another save of it is under way: "
		                  "repeat this one; if none is, remove %s beside it", t->path,
		                  name);
	if (error) /* a named file keeps its name: the file system lacks RENAME_NOREPLACE */
		return t->named ? 0 : 1;
	memcpy(t->name, name, sizeof name);
	t->named = true;
	return 0;
}

void weir__temporary_end(struct weir_temporary *t)
{
	if (t->named)
		(void)unlinkat(t->target->folder, t->name, 0);
	t->named = false;
	close(t->fd);
}
