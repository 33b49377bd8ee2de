/* SPDX-License-Identifier: MIT
 * The wrapped calls that have to do with files. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shim_wrap.h"

WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, fchown, -1, (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAP(void *, fdopendir, NULL, (int fd), (fd))
WRAP(ssize_t, fgetxattr, -1, (int fd, const char *name, void *value, size_t n),
     (fd, name, value, n))
WRAP(int, flock, -1, (int fd, int how), (fd, how))
WRAP(int, fremovexattr, -1, (int fd, const char *name), (fd, name))
WRAP(int, fstatat64, -1, (int fd, const char *path, void *st, int flags), (fd, path, st, flags))
WRAP(int, ftruncate64, -1, (int fd, off_t n), (fd, n))
WRAP(ssize_t, getrandom, -1, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
WRAP(off_t, lseek64, -1, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(ssize_t, readlink, -1, (const char *path, char *buffer, size_t n), (path, buffer, n))
WRAP(int, renameat, -1, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, renameat2, -1, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags))
WRAP(int, stat64, -1, (const char *path, void *st), (path, st))

WRAP_KILL(int, close, (int fd), (fd))
WRAP_KILL(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))

int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st)
{
	int answer = strikes("fstat64") ? -1 : __real_fstat64(fd, st);
	if (answer == 0 && shim.same_times)
		st->st_atim = st->st_mtim = st->st_ctim = (struct timespec){ 1, 1 };
	return answer;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct shim_call call = { .what = "fsync", .fd = fd };
	if (shim_strikes(&call))
		return -1;
	if (shim_ignored("fsync"))
		return 0;
	int answer = __real_fsync(fd);
	if (answer == 0)
		shim_done(&call);
	return answer;
}

int __real_msync(void *p, size_t n, int flags);
int __wrap_msync(void *p, size_t n, int flags);
int __wrap_msync(void *p, size_t n, int flags)
{
	struct shim_call call = { .what = "msync", .fd = -1, .at = p, .n = n };
	if (shim_strikes(&call))
		return -1;
	if (shim_ignored("msync"))
		return 0;
	int answer = __real_msync(p, n, flags);
	if (answer == 0)
		shim_done(&call);
	return answer;
}

/* A link to "." only probes whether links can be made, so the shim names such a call "linkat .". */
int __real_linkat(int a, const char *from, int b, const char *to, int flags);
int __wrap_linkat(int a, const char *from, int b, const char *to, int flags);
int __wrap_linkat(int a, const char *from, int b, const char *to, int flags)
{
	return strikes(strcmp(to, ".") ? "linkat" : "linkat .") ? -1 :
	       __real_linkat(a, from, b, to, flags);
}

/* The library passes a third argument to fcntl64() only for locks. That argument is a pointer. */
int __real_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...)
{
	va_list more;
	va_start(more, what);
	void *argument = va_arg(more, void *);
	va_end(more);
	return strikes(what == F_OFD_GETLK ? "getlk" : "fcntl") ? -1 :
	       __real_fcntl64(fd, what, argument);
}

/* Interrupt every other read or write, and limit the rest to 1000 bytes. */
static bool interrupted(size_t *n)
{
	static unsigned turns;
	if (!shim.armed || !shim.trickle)
		return false;
	*n = *n < 1000 ? *n : 1000;
	errno = EINTR;
	return ++turns % 2;
}

#define WRAP_TRANSFER(name, parameters, arguments) \
	ssize_t __real_##name parameters; \
	ssize_t __wrap_##name parameters; \
	ssize_t __wrap_##name parameters \
	{ \
		return interrupted(&n) || strikes(#name) ? -1 : __real_##name arguments; \
	}

WRAP_TRANSFER(read, (int fd, void *bytes, size_t n), (fd, bytes, n))
WRAP_TRANSFER(write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRAP_TRANSFER(pwrite64, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at))
ssize_t __real_pread64(int fd, void *bytes, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *bytes, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *bytes, size_t n, off_t at)
{
	return interrupted(&n) || strikes("pread") ? -1 : __real_pread64(fd, bytes, n, at);
}

int __real_fallocate64(int fd, int mode, off_t at, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t at, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t at, off_t n)
{
	if (shim.armed && shim.no_reserve) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return strikes("fallocate") ? -1 : __real_fallocate64(fd, mode, at, n);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	return strikes(strcmp(path, "/dev/urandom") ? "open" : "/dev/urandom") ? -1 :
	       __real_open64(path, flags, mode);
}

int __real_openat64(int fd, const char *path, int flags, ...);
int __wrap_openat64(int fd, const char *path, int flags, ...);
int __wrap_openat64(int fd, const char *path, int flags, ...)
{
	va_list more;
	bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
	va_start(more, flags);
	mode_t mode = flags & O_CREAT || unnamed ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (shim.armed && shim.no_tmpfile && unnamed) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return strikes(flags & O_PATH ? "openat O_PATH" : "openat") ? -1 :
	       __real_openat64(fd, path, flags, mode);
}

/* A build with _FORTIFY_SOURCE calls these checked variants instead of the plain functions. */
#define FORTIFIED(type, name, parameters, plain) \
	type __wrap___##name parameters; \
	type __wrap___##name parameters \
	{ \
		return plain; \
	}
FORTIFIED(int, open64_2, (const char *path, int flags), __wrap_open64(path, flags))
FORTIFIED(int, openat64_2, (int fd, const char *path, int flags),
          __wrap_openat64(fd, path, flags))
FORTIFIED(ssize_t, read_chk, (int fd, void *bytes, size_t n, size_t room),
          __wrap_read(fd, bytes, n < room ? n : room))
FORTIFIED(ssize_t, pread64_chk, (int fd, void *bytes, size_t n, off_t at, size_t room),
          __wrap_pread64(fd, bytes, n < room ? n : room, at))
FORTIFIED(ssize_t, readlink_chk, (const char *path, char *buffer, size_t n, size_t room),
          __wrap_readlink(path, buffer, n < room ? n : room))
