/* SPDX-License-Identifier: MIT
 * A job as root replaces files in folders that others may write to. What stands there was perhaps
 * put there to get something from the job, so:
 *
 *  - Permissions that the caller gives are the file's, and all: an access control list that it
 *    has from its folder goes. Else setuid, setgid, sticky and the right of
 *    group and others to write are never inherited.
 *  - The owner is inherited only in a folder where nobody but the saver and root can have put the
 *    file. If the group is not inherited, or the old file had an access control list (which makes
 *    its group's permissions look wider than they are), the new group may do no more than others.
 *  - A stranger's file in such a folder cannot widen what the saver's umask leaves either.
 *  - At no moment has the file more permissions than in the end. */
#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "image/permissions.h"

enum { AS_NEW = 0644, MOST_INHERITED = 0755 };

static mode_t group_as_others(mode_t mode)
{
	return (mode & ~(mode_t)S_IRWXG) | (mode & (mode & S_IRWXO) << 3);
}

/* May the old file have been put there by somebody else? */
static bool planted(const struct weir_target *t)
{
	return !t->private && t->old.st_uid != geteuid();
}

mode_t weir__rights_at_first(const struct weir_target *t, unsigned given)
{
	if (!given && !t->exists)
		return AS_NEW;
	return !given && planted(t) ? AS_NEW & group_as_others(t->old.st_mode) : 0600;
}

/* Root may keep both, others their own user and the groups they are in. */
static void keep_owner(const struct weir_target *t, int fd)
{
	if (fchown(fd, t->old.st_uid, t->old.st_gid) && fchown(fd, (uid_t)-1, t->old.st_gid))
		return; /* it stays the saver's */
}

/* Remove the list that a new file has from its folder; whether it has none now. */
static bool drop_acl(int fd)
{
	return fremovexattr(fd, "system.posix_acl_access") == 0 || errno == ENODATA ||
	       errno == ENOTSUP;
}

int weir__rights_settle(const struct weir_target *t, unsigned given, int fd)
{
	struct stat now;
	if (t->exists && t->private)
		keep_owner(t, fd);
	if (!t->exists && !given)
		return 0;
	mode_t mode = given;
	if (given && !drop_acl(fd))
		return errno; /* the folder's list would let others in beside them */
	if (!given) {
		if (fstat(fd, &now))
			return errno;
		mode = planted(t) ? now.st_mode & AS_NEW : t->old.st_mode & MOST_INHERITED;
		if (!drop_acl(fd) || t->old_acl || now.st_gid != t->old.st_gid)
			mode = group_as_others(mode);
	}
	return fchmod(fd, mode) ? errno : 0;
}
