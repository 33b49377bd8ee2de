/* SPDX-License-Identifier: MIT
 * The lock of live images; its rules are in map.h. The lock is on a lock file, which users who may
 * only read the image cannot open. These users can lock the image itself, so a lock on the image
 * does not decide whether a process may seal.
 *
 * A path to the image through another folder, a bind mount or another lock_dir leads to another
 * lock file. Only one lock file counts: the home of the image, which is the lock file that is not
 * empty. A mapper makes its lock file the home by writing one byte to it. It does so after it has
 * turned the image from sealed to live, which only one of two mappers can do, or while no other
 * process has locked the image. The sealer empties the lock file.
 *
 * A stranger, a user who may not write the image, may have put a file at the lock file's name. We
 * use the file only if its owner may write the image and the file has no other name. We never
 * follow a link at that name.
 *
 * A stranger who may rename files in the folder, as its owner can, may rename another image's lock
 * file, or an older lock file of this image, to the lock file's name. Two mappers could then each
 * hold a home, and one mapper could seal while the other inserts. So in such a folder the sealer
 * also needs the image's exclusive lock. In no other folder can a reader prevent a seal. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/head.h"
#include "image/map.h"
#include "image/replace.h"

enum { MOST_WAITS = 100, WAIT_US = 10000 };

/* Reasons to retry, as positive return values. */
enum { CHANGED = 1, SEALING, ELSEWHERE };

static const char *const why[] = {
	[CHANGED] = "it or its lock file was replaced again and again: map it once more",
	[SEALING] = "is being sealed: map it when that has ended",
	[ELSEWHERE] = "is live, and a process that has locked it does not use the lock file here: "
	              "map it by the same folder or lock_dir; or end that process (lslocks); or, "
	              "if it only reads the image, seal a copy that it cannot read",
};

struct attempt {
	struct weir_live_lock *lock;
	const struct weir_source *image;
	const char *where;  /* the folder of the lock file, for error messages */
	struct stat st;     /* state of the image */
	bool acl;           /* the image has an access control list, or may have one */
};

/* ---- descriptors ---- */

/* Remember an open file. Return: 0, or the errno of fstat. */
static int remember_file(struct weir_held *h, int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		return errno;
	*h = (struct weir_held){ fd, st.st_dev, st.st_ino };
	return 0;
}

static bool is_open(const struct weir_held *h)
{
	struct stat st;
	if (h->fd < 0)
		return false;
	if (fstat(h->fd, &st))
		return errno != EBADF;
	return st.st_dev == h->device && st.st_ino == h->inode;
}

static void close_held(struct weir_held *h)
{
	if (is_open(h))
		close(h->fd);
	h->fd = -1;
}

static int set_lock(const struct weir_held *h, short type)
{
	return weir__commit_lock(h->fd, type);
}

static bool held_by_others(int error)
{
	return error == EAGAIN || error == EACCES;
}

static int cannot_lock(const char *name)
{
	return weir__fail(-errno, "%s: cannot lock it and its lock file, which WEIR_MAP_LIVE "
	                  "needs: %s", name, weir_strerror(errno));
}

/* Return: true if the lock file still has its name. It may have been removed before it was
 * locked. */
static bool keeps_name(const struct weir_live_lock *l)
{
	struct stat st;
	return fstatat(l->folder.fd, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == l->file.device && st.st_ino == l->file.inode;
}

static bool is_home(const struct weir_live_lock *l)
{
	struct stat st;
	return fstat(l->file.fd, &st) == 0 && st.st_size > 0;
}

static int set_home(const struct weir_live_lock *l, const char *name, bool home)
{
	return ftruncate(l->file.fd, home) == 0 ? 0 :
	       weir__fail(-errno, "%s: cannot %s its lock file %s: %s", name,
	                  home ? "write to" : "empty", l->name, weir_strerror(errno));
}

/* ---- the lock file ---- */

/* Only users that may write the image may lock the lock file. With an access control list, the
 * image's group bits may be wider than the group's rights, so the group gets no rights. */
static mode_t rights(const struct attempt *a, gid_t group)
{
	mode_t mode = S_IRUSR | S_IWUSR;
	if (a->st.st_mode & S_IWGRP && !a->acl && group == a->st.st_gid)
		mode |= S_IRGRP | S_IWGRP;
	return a->st.st_mode & S_IWOTH ? mode | S_IROTH | S_IWOTH : mode;
}

static bool folder_acl(int folder)
{
	/* @folder may be open with O_PATH, which cannot read attributes */
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has = fd < 0 || weir__acl_has(fd);
	if (fd >= 0)
		close(fd);
	return has;
}

/* Return: true if users who may not write the image can create or rename other users' files in the
 * folder. The folder's owner always can.
 * @unless: S_ISVTX or 0. If it is S_ISVTX and the folder has this mode bit, the function considers
 *   only the folder's owner, since other users cannot rename each other's files there. */
static bool strangers_may(const struct attempt *a, mode_t unless)
{
	struct stat st;
	if (fstat(a->lock->folder.fd, &st))
		return true;
	const mode_t mode = st.st_mode & unless ? 0 : st.st_mode;
	return mode & S_IWOTH ||
	       (mode & S_IWGRP && (a->acl || !(a->st.st_mode & S_IWGRP) ||
	                           st.st_gid != a->st.st_gid || folder_acl(a->lock->folder.fd))) ||
	       (st.st_uid != a->st.st_uid && st.st_uid != geteuid() && st.st_uid != 0);
}

/* In a set-group-ID folder a file may have the image's group although the file's owner is not in
 * that group. So the file's group counts only if no stranger can create files in the folder. */
static bool owner_may_write(const struct attempt *a, const struct stat *file)
{
	return file->st_uid == a->st.st_uid || file->st_uid == geteuid() || file->st_uid == 0 ||
	       a->st.st_mode & S_IWOTH ||
	       (a->st.st_mode & S_IWGRP && file->st_gid == a->st.st_gid && !a->acl &&
	        !strangers_may(a, 0));
}

static int refuse(const struct attempt *a, const char *what)
{
	return weir__fail(-EPERM, "%s: its lock file %s in %s %s: remove that, or give another "
	                  "lock_dir (--lock-dir)", a->image->name, a->lock->name, a->where, what);
}

static int cannot_open(const struct attempt *a, const char *what)
{
	return errno == ELOOP ? refuse(a, "is a symbolic link") :
	       weir__fail(-errno, "%s: cannot %s its lock file %s in %s: %s: let this user do so, "
	                  "or give a lock_dir (--lock-dir), the same one in each process",
	                  a->image->name, what, a->lock->name, a->where, weir_strerror(errno));
}

static int take_file(const struct attempt *a, int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		return cannot_open(a, "ask for");
	if (!S_ISREG(st.st_mode) || st.st_size > 1)
		return refuse(a, "is not a lock file");
	if (st.st_nlink == 0)
		return CHANGED;
	if (st.st_nlink > 1)
		return refuse(a, "has other names");
	if (!owner_may_write(a, &st))
		return refuse(a, "belongs to a user who may not write the image");
	mode_t allowed = rights(a, st.st_gid);
	if (st.st_mode & ALLPERMS & ~allowed && fchmod(fd, allowed))
		return refuse(a, "may be locked by users who may not write the image");
	a->lock->file = (struct weir_held){ fd, st.st_dev, st.st_ino };
	return 0;
}

static void give_rights(const struct attempt *a, int fd)
{
	struct stat st;
	weir__owner_keep(fd, &a->st);
	if (fstat(fd, &st))
		return;
	mode_t mode = rights(a, st.st_gid);
	(void)fchmod(fd, weir__acl_drop(fd) ? mode : mode & ~(mode_t)S_IRWXG);
}

/* Create the lock file. If possible, it gets its permissions first and then its name, so that other
 * processes do not find it earlier. Otherwise it has its name from the start, and mode 0600 until
 * it gets its permissions.
 * Return: a descriptor, or -1. errno EEXIST: another process created it first. */
static int make_file(const struct attempt *a)
{
	const struct weir_live_lock *l = a->lock;
	char self[32];
	int fd = openat(l->folder.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd >= 0) {
		give_rights(a, fd);
		snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
		if (linkat(AT_FDCWD, self, l->folder.fd, l->name, AT_SYMLINK_FOLLOW) == 0)
			return fd;
		int error = errno;
		close(fd);
		errno = error;
		if (error == EEXIST)
			return -1;
	}
	/* O_TMPFILE or /proc is missing, or a sandbox refuses linkat */
	fd = openat(l->folder.fd, l->name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
	            S_IRUSR | S_IWUSR);
	if (fd >= 0)
		give_rights(a, fd);
	return fd;
}

static int reopen(const struct weir_live_lock *l)
{
	return openat(l->folder.fd, l->name,
	              O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int open_file(const struct attempt *a)
{
	int fd = reopen(a->lock);
	bool new = fd < 0 && errno == ENOENT;
	if (new)
		fd = make_file(a);
	if (fd < 0)
		return new && errno == EEXIST ? CHANGED : cannot_open(a, new ? "make" : "open");
	int err = take_file(a, fd);
	if (err)
		close(fd);
	return err;
}

/* Close the lock file, and remove it if this was the last mapper and the file is empty. A process
 * forked from this one may share the open file description and its lock. So close the descriptor
 * first, and test with a new description whether another mapper holds the lock. */
static void drop_file(struct weir_live_lock *l)
{
	struct weir_held fresh = l->file;
	bool ours = is_open(&l->file) && is_open(&l->folder);
	fresh.fd = ours ? reopen(l) : -1;
	close_held(&l->file);
	if (fresh.fd < 0)
		return;
	l->file.fd = fresh.fd;
	if (is_open(&fresh) && set_lock(&fresh, F_WRLCK) == 0 && keeps_name(l) && !is_home(l))
		(void)unlinkat(l->folder.fd, l->name, 0);
	l->file.fd = -1;
	close(fresh.fd);
}

/* ---- [LIVE-LOCKS]: take shared locks on the lock file and on the image ---- */

static bool is_live(const struct attempt *a)
{
	return weir__commit_now(a->lock->image.fd) == WEIR_IMAGE_LIVE;
}

/* Lock the image, so that mappers with another lock file see this mapping. If the image is live and
 * this mapper's lock file is not the image's home, make it the home, but only if no other process
 * has locked the image. */
static int lock_image(const struct attempt *a)
{
	const struct weir_live_lock *l = a->lock;
	const bool adopt = !is_home(l) && is_live(a);
	if (set_lock(&l->image, adopt ? F_WRLCK : F_RDLCK))
		return held_by_others(errno) ? ELSEWHERE : cannot_lock(a->image->name);
	int err = adopt ? set_home(l, a->image->name, true) : 0;
	if (!err && adopt && set_lock(&l->image, F_RDLCK))
		err = cannot_lock(a->image->name);
	return err;
}

static int try_locks(const struct attempt *a)
{
	int err = open_file(a);
	if (err)
		return err;
	if (set_lock(&a->lock->file, F_RDLCK))
		err = held_by_others(errno) ? SEALING : cannot_lock(a->image->name);
	else
		err = keeps_name(a->lock) ? lock_image(a) : CHANGED;
	if (err)
		drop_file(a->lock);
	return err;
}

static int was_replaced(const char *name)
{
	return weir__fail(-ESTALE, "%s: was replaced while it was opened: map it again", name);
}

/* [REPLACE-READ]: return true if the path still leads to the image. */
static bool still_there(const struct weir_live_lock *l, const char *name)
{
	struct stat st;
	return stat(name, &st) == 0 && st.st_dev == l->image.device &&
	       st.st_ino == l->image.inode;
}

/* Some file systems report 0 links for every file, so check also that the path leads elsewhere. */
bool weir__live_is_lost(const struct weir_mapping *m)
{
	struct stat st;
	return fstat(m->lock.image.fd, &st) == 0 && st.st_nlink == 0 &&
	       !still_there(&m->lock, m->name);
}

int weir__live_confirm(const struct weir_live_lock *l, const char *name)
{
	if (still_there(l, name))
		return 0;
	if (set_lock(&l->file, F_WRLCK) == 0) /* this is the only mapper */
		(void)set_home(l, name, false); /* empty it: drop_file() removes no other file */
	return was_replaced(name);
}

/* Open the folder of the image itself, even if the path is a symbolic link. */
static int open_beside(const struct attempt *a)
{
	struct weir_target t;
	int err = weir__target_find(&t, a->image->name);
	if (err)
		return err;
	if (t.exists && t.old.st_dev == a->st.st_dev && t.old.st_ino == a->st.st_ino)
		return t.folder;
	weir__target_close(&t);
	return was_replaced(a->image->name);
}

static int open_folder(const struct attempt *a, const char *lock_dir)
{
	int fd = lock_dir ? open(lock_dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : open_beside(a);
	if (fd < 0 && !lock_dir)
		return fd;
	int error = fd < 0 ? errno : remember_file(&a->lock->folder, fd);
	if (error && fd >= 0)
		close(fd);
	return error ? weir__fail(-error, "%s: cannot open %s, the folder of its lock file: %s",
	                          a->image->name, a->where, weir_strerror(error)) : 0;
}

int weir__live_share(struct weir_live_lock *lock, const struct weir_source *image,
                     const char *lock_dir)
{
	struct attempt a = { lock, image, lock_dir ? lock_dir : "its folder", .acl = true };
	*lock = (struct weir_live_lock)WEIR_NO_LIVE_LOCK;
	if (fstat(image->fd, &a.st))
		return weir__fail(-errno, "%s: cannot ask which file it is: %s", image->name,
		                  weir_strerror(errno));
	a.acl = weir__acl_has(image->fd);
	lock->image = (struct weir_held){ image->fd, a.st.st_dev, a.st.st_ino };
	snprintf(lock->name, sizeof lock->name, ".weir-live-%016llx-%016llx",
	         (unsigned long long)a.st.st_dev, (unsigned long long)a.st.st_ino);
	int err = open_folder(&a, lock_dir);
	if (err)
		return err;
	err = try_locks(&a);
	for (unsigned waits = 0; err > 0 && waits < MOST_WAITS; waits++) {
		(void)usleep(WAIT_US);
		err = try_locks(&a);
	}
	if (!err && !still_there(lock, image->name)) {
		drop_file(lock);
		err = was_replaced(image->name);
	}
	if (err)
		close_held(&lock->folder);
	return err > 0 ? weir__fail(-EBUSY, "%s: %s", image->name, why[err]) : err;
}

void weir__live_drop(struct weir_live_lock *lock)
{
	drop_file(lock);
	close_held(&lock->folder);
	lock->image.fd = -1;
}

int weir__live_enter(const struct weir_live_lock *l, const char *name, bool marked)
{
	if (marked)
		return set_home(l, name, true);
	return is_home(l) ? 0 : weir__fail(-EBUSY, "%s: another process marked it live or sealed "
	                                   "it while it was being mapped: map it again", name);
}

/* ---- the seal ---- */

/* The lock file was removed by hand, or a process forked from this one has sealed the image and
 * removed the lock file. Lock the file that has the lock file's name now, as a new mapper does. */
static int join_again(struct weir_mapping *m, const struct attempt *a)
{
	struct weir_held old = m->lock.file;
	int err = try_locks(a);
	if (err) {
		m->lock.file = old;
		weir__live_unclaim(m);
		return err > 0 ? weir__fail(-EBUSY, "%s: %s", m->name, why[err]) : err;
	}
	close_held(&old);
	return 0;
}

/* [SEAL-EXCLUSIVE]: if a stranger could swap lock files, the sealer needs the image's exclusive
 * lock too. */
static int claim_image(const struct attempt *a)
{
	if (a->st.st_mode & S_IWOTH || !strangers_may(a, S_ISVTX) ||
	    set_lock(&a->lock->image, F_WRLCK) == 0)
		return 0;
	int err = held_by_others(errno) ?
	          weir__fail(-EBUSY, "%s: a process maps it live or locks it (see lslocks), and "
	                     "other users can rename its lock file: seal it when that process "
	                     "ends, or set a private --lock-dir",
	                     a->image->name) : cannot_lock(a->image->name);
	(void)set_lock(&a->lock->file, F_RDLCK);
	return err;
}

static int claim(const struct weir_mapping *m, const struct attempt *a)
{
	const struct weir_live_lock *l = &m->lock;
	if (set_lock(&l->file, F_WRLCK))
		return held_by_others(errno) ?
		       weir__fail(-EBUSY, "%s: is mapped live elsewhere too, in this process or "
		                  "another: seal it when that mapping has gone", m->name) :
		       cannot_lock(m->name);
	return keeps_name(l) ? claim_image(a) : CHANGED;
}

int weir__live_claim(struct weir_mapping *m)
{
	const struct weir_live_lock *l = &m->lock;
	const struct weir_source image = { .name = m->name, .fd = l->image.fd };
	struct attempt a = { &m->lock, &image, "its lock's folder", .acl = true };
	if (!is_open(&l->file) || !is_open(&l->folder) || !is_open(&l->image) ||
	    fstat(image.fd, &a.st))
		return weir__fail(-EBADF, "%s: the program closed descriptor %d, %d or %d, which "
		                  "held the locks of this live mapping: map the image live again "
		                  "to seal it", m->name, l->file.fd, l->folder.fd, l->image.fd);
	a.acl = weir__acl_has(image.fd);
	int err = claim(m, &a);
	if (err <= 0)
		return err;
	err = join_again(m, &a);
	if (!err)
		err = claim(m, &a);
	return err > 0 ? weir__fail(-EBUSY, "%s: %s", m->name, why[err]) : err;
}

void weir__live_unclaim(const struct weir_mapping *m)
{
	/* Ignore errors. A lock that stays exclusive only prevents other processes from mapping the
	 * image live. */
	(void)set_lock(&m->lock.file, F_RDLCK);
	(void)set_lock(&m->lock.image, F_RDLCK);
}

int weir__live_empty(const struct weir_mapping *m)
{
	return set_home(&m->lock, m->name, false);
}

void weir__live_release(struct weir_mapping *m)
{
	/* a process forked from this one loses the locks too */
	(void)set_lock(&m->lock.file, F_UNLCK);
	if (is_open(&m->lock.image))
		(void)set_lock(&m->lock.image, F_UNLCK);
	weir__live_close(m);
}

void weir__live_close(struct weir_mapping *m)
{
	close_held(&m->lock.image);
	weir__live_drop(&m->lock);
}
