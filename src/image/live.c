/* SPDX-License-Identifier: MIT
 * The descriptor of a live mapping stays open for its lock alone. A daemon that closes every
 * descriptor closes this one too, and its number may be another file's by then: so it is compared
 * with the file before each use. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/map.h"

enum { MOST_WAITS = 100, WAIT_US = 10000 };

static int set_lock(int fd, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = WEIR_IMAGE_COMMIT,
		.l_len = WEIR_IMAGE_HEAD - WEIR_IMAGE_COMMIT
	};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

static bool held_by_others(int error)
{
	return error == EAGAIN || error == EACCES;
}

static int cannot_lock(const char *name)
{
	return weir__fail(-errno, "%s: cannot lock its commit record, which WEIR_MAP_LIVE needs: "
	                  "%s", name, weir_strerror(errno));
}

int weir__live_share(int fd, const char *name)
{
	unsigned waits = 0;
	while (set_lock(fd, F_RDLCK)) {
		if (!held_by_others(errno))
			return cannot_lock(name);
		if (waits++ == MOST_WAITS)
			return weir__fail(-EBUSY, "%s: is being sealed: map it when that has ended",
			                  name);
		(void)usleep(WAIT_US);
	}
	return 0;
}

static bool is_open(const struct weir_mapping *m)
{
	struct stat st;
	if (m->fd < 0)
		return false;
	if (fstat(m->fd, &st))
		return errno != EBADF;
	return st.st_dev == m->device && st.st_ino == m->inode;
}

int weir__live_claim(const struct weir_mapping *m)
{
	if (!is_open(m))
		return weir__fail(-EBADF, "%s: somebody closed descriptor %d, which held the lock "
		                  "of this live mapping: map the image live again to seal it",
		                  m->name, m->fd);
	if (set_lock(m->fd, F_WRLCK) == 0)
		return 0;
	return held_by_others(errno) ?
	       weir__fail(-EBUSY, "%s: is mapped live elsewhere too, in this process or another: "
	                  "seal it when that mapping has gone", m->name) : cannot_lock(m->name);
}

void weir__live_unclaim(const struct weir_mapping *m)
{
	/* Should it fail, the lock stays exclusive: others cannot map then, but nothing is lost. */
	(void)set_lock(m->fd, F_RDLCK);
}

void weir__live_release(struct weir_mapping *m)
{
	(void)set_lock(m->fd, F_UNLCK);
	weir__live_close(m);
	m->fd = -1;
}

void weir__live_close(const struct weir_mapping *m)
{
	if (is_open(m))
		close(m->fd);
}
