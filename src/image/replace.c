/* SPDX-License-Identifier: MIT
 * Replaces a file at once: a reader always finds the old or the new file, complete, even after a
 * crash or on a full disk. tests/fault/test_power_cut.c replays all steps, cut off after every
 * call. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/replace.h"

/* A job run as root replaces files in folders that other users may write to. A stranger may have
 * put the old file there to gain permissions by the job. So:
 *
 *  - If the caller gave permissions, the file gets exactly these, without an inherited access
 *    control list. Otherwise the file takes the old file's permissions, but never setuid, setgid,
 *    sticky, or the write permission of group and others.
 *  - The old owner is kept only in a folder where only the saver and root can have put the file.
 *  - If the new file has another group, or the old file had an access control list (which makes
 *    its group bits look wider than they are), the group gets no more rights than others.
 *  - In a folder that other users may write to, a stranger's old file cannot add to the permissions
 *    that the saver's umask leaves.
 *  - The new file never has more permissions than it has in the end. */

enum { AS_NEW = 0644, MOST_INHERITED = 0755 };

static mode_t group_as_others(mode_t mode)
{
	return (mode & ~(mode_t)S_IRWXG) | (mode & (mode & S_IRWXO) << 3);
}

/* Return: true if another user may have put the old file into the folder. */
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

/* Root may set owner and group. Other users may set only a group that they are in. */
void weir__owner_keep(int fd, const struct stat *old)
{
	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		return; /* the file keeps this process's owner and group */
}

bool weir__acl_drop(int fd)
{
	return fremovexattr(fd, "system.posix_acl_access") == 0 || errno == ENODATA ||
	       errno == ENOTSUP;
}

int weir__rights_settle(const struct weir_target *t, unsigned given, int fd, mode_t *mode)
{
	struct stat now;
	if (t->exists && t->private)
		weir__owner_keep(fd, &t->old);
	*mode = given;
	if (given) /* an inherited access control list would grant more than the caller gave */
		return weir__acl_drop(fd) ? 0 : errno;
	if (fstat(fd, &now))
		return errno;
	*mode = now.st_mode & AS_NEW;
	if (!t->exists)
		return 0;
	if (!planted(t))
		*mode = t->old.st_mode & MOST_INHERITED;
	if (!weir__acl_drop(fd) || t->old_acl || now.st_gid != t->old.st_gid)
		*mode = group_as_others(*mode);
	return 0;
}

/* ---- the steps of a save ---- */

static int fail(const struct weir_replace *r, int error, const char *what)
{
	return weir__fail(-error, "%s: cannot %s: %s", r->path, what, weir_strerror(error));
}

int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named)
{
	r->path = path;
	r->mode = mode;
	r->only_images = false;
	r->replaces = 0;
	int err = weir__target_find(&r->target, path);
	if (err)
		return err;
	err = weir__temporary_begin(&r->new, &r->target, path,
	                            weir__rights_at_first(&r->target, mode), named);
	if (err)
		weir__target_close(&r->target);
	return err;
}

/* Return: 0 or an errno. */
static int sync_retrying(int fd)
{
	while (fsync(fd))
		if (errno != EINTR)
			return errno;
	return 0;
}

/* Give the new file the target's name, which no file had at the check. If links are refused, the
 * caller renames instead, and the rename replaces a file that another save put there since the
 * check. Return: 0; 1 links are refused; or -EAGAIN. */
static int take_name(struct weir_replace *r)
{
	const struct weir_target *t = &r->target;
	struct stat st;
	if (linkat(t->folder, r->new.name, t->folder, t->base, 0))
		return errno == EEXIST ||
		       fstatat(t->folder, t->base, &st, AT_SYMLINK_NOFOLLOW) == 0 ?
		       weir__target_is_another(r->path) : 1;
	(void)unlinkat(t->folder, r->new.name, 0);
	r->new.named = false;
	return 0;
}

/* Claim the target ([TEMP-CLAIM]). Readers may open the new file only after all checks
 * ([TEMP-MODE]). */
static int claim(struct weir_replace *r)
{
	int err = fchmod(r->new.fd, 0600) ? fail(r, errno, "set the permissions") :
	                                    weir__temporary_claim(&r->new);
	if (!err)
		err = weir__target_check_held(&r->target, r->path);
	if (!err && fchmod(r->new.fd, r->last))
		err = fail(r, errno, "set the permissions");
	return err;
}

static int switch_name(struct weir_replace *r)
{
	const bool vacant = r->replaces == WEIR_REPLACES_NOTHING && r->target.held < 0;
	if (r->target.held >= 0) {
		int err = claim(r);
		if (err)
			return err < 0 ? err : WEIR_REPLACE_NAMED;
	} else if (vacant && r->new.named) {
		int err = take_name(r);
		if (err <= 0)
			return err;
	} else if (!r->new.named) {
		int error = weir__temporary_link_as(&r->new, r->target.base);
		if (error == EEXIST && vacant)
			return weir__target_is_another(r->path);
		if (error != EEXIST)
			return error ? WEIR_REPLACE_NAMED : 0;
		int err = weir__temporary_link(&r->new);
		if (err)
			return err < 0 ? err : WEIR_REPLACE_NAMED;
	}
	if (renameat(r->target.folder, r->new.name, r->target.folder, r->target.base))
		return fail(r, errno, "rename the new file over the old");
	r->new.named = false;
	return 0;
}

int weir__replace_publish(struct weir_replace *r)
{
	weir__target_look_again(&r->target);
	int error = weir__rights_settle(&r->target, r->mode, r->new.fd, &r->last);
	/* true: the new file has mode 0600 until claim() has made its checks */
	const bool waits = r->replaces && r->target.exists;
	if (!error && (r->mode || r->target.exists))
		error = fchmod(r->new.fd, waits ? 0600 : r->last) ? errno : 0;
	if (error)
		return fail(r, error, "set the permissions");
	error = sync_retrying(r->new.fd);
	if (error)
		return fail(r, error, "sync the new file");
	int err = r->only_images ? weir__target_check_image(&r->target, r->path) : 0;
	if (!err && r->replaces)
		err = weir__target_hold(&r->target, r->replaces, r->path);
	/* claim() is not called if the old file was removed, so set the permissions here */
	if (!err && waits && r->target.held < 0 && fchmod(r->new.fd, r->last))
		err = fail(r, errno, "set the permissions");
	if (!err)
		err = switch_name(r);
	if (err)
		return err;
	/* sync the permissions that claim() has set */
	error = r->target.held >= 0 ? sync_retrying(r->new.fd) : 0;
	if (!error)
		error = sync_retrying(r->target.folder);
	int lost = r->replaces ? weir__target_release(&r->target, r->path) : 0;
	if (lost)
		return lost;
	/* EINVAL comes from a file system whose folders need no sync. */
	return error && error != EINVAL ?
	       weir__fail(-error, "%s: the new file is in place, but its directory cannot be synced"
	                  ", "
	                  "so a power cut may bring the old one back: %s", r->path,
	                  weir_strerror(error)) : 0;
}

void weir__replace_end(struct weir_replace *r)
{
	weir__temporary_end(&r->new);
	weir__target_close(&r->target);
}
