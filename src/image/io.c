/* SPDX-License-Identifier: MIT
 * Reads and writes whole buffers, even if a system call is interrupted or transfers only a part of
 * a buffer. Only a regular file may be an image. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/head.h"
#include "image/io.h"

enum { MOST_AT_ONCE = 1 << 30 }; /* Linux transfers at most 2 GiB less a page in a call */

int weir__source_check(const struct weir_source *source)
{
	if (S_ISREG(source->mode))
		return source->length > 0 ?
		       0 : weir__fail(-EBADMSG, "%s: is empty, not an image: weir build -o makes "
		                      "one", source->name);
	if (S_ISDIR(source->mode))
		return weir__fail(-EISDIR, "%s: is a directory, not an image: name a file in it",
		                  source->name);
	return weir__fail(-EINVAL, "%s: is not a regular file, but a pipe, a socket or a device: "
	                  "save what it holds to a file first",
	                  source->name);
}

int weir__syscall_failed(struct weir_source *source, int err)
{
	source->syscall_failed = true;
	return err;
}

bool weir__source_verdict(const struct weir_source *source, int err)
{
	return !source->syscall_failed &&
	       (err == -EBADMSG || err == -ENOTSUP || err == -EINVAL || err == -EISDIR ||
	        err == -EKEYREJECTED);
}

uint64_t weir__commit_now(int fd)
{
	unsigned char commit[8] = { 0 };
	ssize_t got;
	do
		got = pread(fd, commit, sizeof commit, WEIR_IMAGE_COMMIT);
	while (got < 0 && errno == EINTR);
	return got == sizeof commit ? weir__image_get64(commit) : 0;
}

static struct flock commit_record(short type)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = WEIR_IMAGE_COMMIT,
		.l_len = WEIR_IMAGE_HEAD - WEIR_IMAGE_COMMIT
	};
}

int weir__commit_lock(int fd, short type)
{
	struct flock lock = commit_record(type);
	return fcntl(fd, F_OFD_SETLK, &lock);
}

bool weir__commit_written(int fd)
{
	struct flock lock = commit_record(F_RDLCK);
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int weir__source_settle(const struct weir_source *source, int err)
{
	if (err != -EBADMSG || !source->mode ||
	    weir__commit_now(source->fd) == source->identity.commit)
		return err;
	return weir__fail(-EBUSY, "%s: was marked live, sealed or overwritten while it was read",
	                  source->name);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool weir__same_file(const struct weir_file_identity *a, const struct weir_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->commit == b->commit && a->chain == b->chain &&
	       same_time(&a->modified, &b->modified) &&
	       same_time(&a->changed, &b->changed);
}

static struct weir_file_identity identity_of(const struct stat *st, int fd)
{
	const uint64_t commit = S_ISREG(st->st_mode) ? weir__commit_now(fd) : 0;
	return (struct weir_file_identity){ .device = st->st_dev,
	                                    .inode = st->st_ino,
	                                    .size = st->st_size,
	                                    .modified = st->st_mtim,
	                                    .changed = st->st_ctim,
	                                    .commit = commit };
}

/* Ignore ctime: new links or permissions change it, but not the bytes. */
bool weir__source_changed(const struct weir_source *source)
{
	struct stat st;
	if (fstat(source->fd, &st))
		return false;
	struct weir_file_identity now = identity_of(&st, source->fd);
	now.changed = source->identity.changed;
	now.chain = source->identity.chain;
	return !weir__same_file(&now, &source->identity);
}

int weir__source_find(struct weir_source *source, const char *path, int flags)
{
	struct stat st;
	if (!path)
		return weir__fail(-EINVAL, "path is NULL: the image's file name");
	/* O_NONBLOCK: opening a FIFO must not wait for its writer. It has no effect on a regular
	 * file. Retry on EINTR, which network and user-space file systems may return. */
	int fd;
	do
		fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return weir__unopened(-errno, path);
	if (fstat(fd, &st)) {
		int err = weir__fail(-errno, "%s: cannot ask for its size: %s", path,
		                     weir_strerror(errno));
		close(fd);
		return err;
	}
	*source = (struct weir_source){
		.name = path,
		.fd = fd,
		.length = (uint64_t)st.st_size,
		.exact = true,
		.mode = st.st_mode,
		.identity = identity_of(&st, fd)
	};
	return 0;
}

int weir__source_open(struct weir_source *source, const char *path, int flags)
{
	int err = weir__source_find(source, path, flags);
	if (err)
		return err;
	err = weir__source_check(source);
	if (err)
		weir__source_close(source);
	return err;
}

void weir__source_close(struct weir_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
}

struct weir_source weir__source_of_memory(const char *name, const void *image, uint64_t bytes)
{
	return (struct weir_source){
		.name = name, .fd = -1, .memory = image, .length = bytes, .exact = true
	};
}

static int64_t copy_from_memory(struct weir_source *source, unsigned char *buffer, uint64_t n)
{
	uint64_t left = source->length - source->at, got = n < left ? n : left;
	if (got)
		memcpy(buffer, source->memory, got);
	source->memory += got;
	return (int64_t)got;
}

/* Read @n bytes, or fewer if the source ends. Return: the number of bytes read, or a negative
 * errno. */
static int64_t read_some(struct weir_source *source, unsigned char *buffer, uint64_t n)
{
	uint64_t done = 0;
	if (source->fd < 0)
		return copy_from_memory(source, buffer, n);
	while (done < n) {
		ssize_t got = read(source->fd, buffer + done,
		                   n - done < MOST_AT_ONCE ? n - done : MOST_AT_ONCE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int err = weir__syscall_failed(source, -errno);
			return weir__fail(err, "%s: cannot read at byte %llu: %s", source->name,
			                  (unsigned long long)(source->at + done),
			                  weir_strerror(err));
		}
		if (got == 0)
			break;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}

int weir__source_read(struct weir_source *source, void *buffer, uint64_t n)
{
	int64_t got = read_some(source, buffer, n);
	if (got < 0)
		return (int)got;
	source->at += (uint64_t)got;
	if ((uint64_t)got < n)
		return weir__fail(-EBADMSG, "%s: ends at byte %llu, %s", source->name,
		                  (unsigned long long)source->at,
		                  source->at ? "in the middle of the image" :
		                  "before an image begins: name an image, as weir build -o makes");
	return 0;
}

int weir__zeros_check(const char *name, const unsigned char *bytes, uint64_t at, uint64_t n)
{
	unsigned char any = 0;
	uint64_t first = 0;
	for (uint64_t i = 0; i < n; i++)
		any |= bytes[i];
	while (any && !bytes[first])
		first++;
	return any ?
	       weir__fail(-EBADMSG, "%s: reserved byte %llu holds %u where 0 should be", name,
	                  (unsigned long long)(at + first), bytes[first]) :
	       0;
}

/* since Linux 5.14 */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* The memory may be a mapped file, and the zeros a hole in it. When a process reads such a hole in
 * tmpfs, tmpfs allocates pages, and the process gets SIGBUS if none are left. So first fault the
 * pages in with MADV_POPULATE_READ, which returns an error instead. Kernels before 5.14 lack it. */
static int touch_zeros(struct weir_source *source, uint64_t n)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)source->memory,
	                before = at % page;
	const uint64_t left = source->length - source->at, bytes = before + (n < left ? n : left);
	if (source->fd >= 0 || bytes <= page ||
	    !madvise((void *)(at - before), bytes, MADV_POPULATE_READ) || errno != EFAULT)
		return 0;
	return weir__fail(weir__syscall_failed(source, -ENOSPC), "%s: its file system has no pages "
	                  "left to map the hole at byte %llu, or the file was cut short: free "
	                  "space there", source->name, (unsigned long long)source->at);
}

int weir__source_zeros(struct weir_source *source, uint64_t n)
{
	unsigned char buffer[4096];
	int err = touch_zeros(source, n);
	while (!err && n) {
		uint64_t part = n < sizeof buffer ? n : sizeof buffer;
		err = weir__source_read(source, buffer, part);
		if (!err)
			err = weir__zeros_check(source->name, buffer, source->at - part, part);
		n -= part;
	}
	return err;
}

int weir__source_end(struct weir_source *source)
{
	unsigned char byte;
	int64_t got = read_some(source, &byte, 1);
	if (got < 0)
		return (int)got;
	return got ?
	       weir__fail(-EBADMSG, "%s: goes on after the image's end at byte %llu",
	                  source->name, (unsigned long long)source->at) :
	       0;
}

static int write_fd(const struct weir_sink *sink, const unsigned char *p, uint64_t n, int64_t at)
{
	for (uint64_t done = 0; done < n;) {
		size_t part = n - done < MOST_AT_ONCE ? n - done : MOST_AT_ONCE;
		ssize_t put = at < 0 ? write(sink->fd, p + done, part) :
		                       pwrite(sink->fd, p + done, part, at + (int64_t)done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			int err = put < 0 ? -errno : -EIO;
			return weir__fail(err, "%s: cannot write: %s", sink->name,
			                  weir_strerror(err));
		}
		done += (uint64_t)put;
	}
	return 0;
}

/* Write to memory at offset @from. If the earlier bytes end before @from, fill the gap with zeros,
 * as a file system does. */
static int write_room(struct weir_sink *sink, const void *bytes, uint64_t n, uint64_t from)
{
	if (!sink->room)
		return 0;
	if (from + n > sink->bytes)
		return weir__fail(-ENOSPC, "%s: there is room for %llu bytes where %llu or more "
		                  "are needed", sink->name, (unsigned long long)sink->bytes,
		                  (unsigned long long)(from + n));
	if (from > sink->end)
		memset(sink->room + sink->end, 0, from - sink->end);
	if (n)
		memcpy(sink->room + from, bytes, n);
	return 0;
}

int weir__write(struct weir_sink *sink, const void *bytes, uint64_t n, int64_t at)
{
	const uint64_t from = at < 0 ? sink->at : (uint64_t)at, to = from + n;
	int err = sink->fd >= 0 ? write_fd(sink, bytes, n, at) : write_room(sink, bytes, n, from);
	if (err)
		return err;
	sink->at = at < 0 ? to : sink->at;
	sink->end = to > sink->end ? to : sink->end;
	return 0;
}

int weir__write_seek(struct weir_sink *sink, uint64_t at)
{
	if (sink->fd >= 0 && lseek(sink->fd, (off_t)at, SEEK_SET) < 0)
		return weir__fail(-errno, "%s: cannot go to byte %llu: %s", sink->name,
		                  (unsigned long long)at, weir_strerror(errno));
	sink->at = at;
	return 0;
}

/* Return: true if the position is at the end of a regular file, so that lseek() can leave a hole.
 * With O_APPEND a write ignores the position, so no hole is possible. */
static bool may_skip(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(fcntl(fd, F_GETFL) & O_APPEND) &&
	       lseek(fd, 0, SEEK_CUR) >= st.st_size;
}

int weir__write_zeros(struct weir_sink *sink, uint64_t n)
{
	static const unsigned char zeros[4096];
	int err = 0;
	if (n > sizeof zeros && may_skip(sink->fd) && lseek(sink->fd, (off_t)n, SEEK_CUR) >= 0) {
		sink->at += n;
		return 0;
	}
	for (uint64_t part; !err && n; n -= part) {
		part = n < sizeof zeros ? n : sizeof zeros;
		err = weir__write(sink, zeros, part, -1);
	}
	return err;
}
