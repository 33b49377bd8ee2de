/* SPDX-License-Identifier: MIT
 * The wrapped calls. At calls that cannot fail in a way that matters (close, munmap, unlinkat) the
 * process can only be killed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shim.h"

struct shim shim;

static void look(const struct shim_call *call)
{
	void (*looks)(const struct shim_call *) = shim.look;
	if (!looks)
		return;
	shim.look = NULL;
	looks(call);
	shim.look = looks;
}

static bool refused(const char *what)
{
	return (shim.refused && strcmp(what, shim.refused) == 0) ||
	       (shim.refused2 && strcmp(what, shim.refused2) == 0);
}

bool shim_strikes(const struct shim_call *call)
{
	look(call);
	if (refused(call->what)) {
		errno = shim.refused_error;
		return true;
	}
	if (!shim.armed || ++shim.calls != shim.at)
		return false;
	shim.what = call->what;
	if (shim.die)
		kill(getpid(), SIGKILL);
	errno = shim.error;
	return true;
}

static bool strikes(const char *what)
{
	return shim_strikes(&(struct shim_call){ .what = what, .fd = -1 });
}

void shim_done(struct shim_call *call)
{
	call->done = true;
	look(call);
}

/* A disk that does not do what it is asked to. */
static bool ignored(const char *what)
{
	return shim.ignored && strcmp(what, shim.ignored) == 0 && shim.ignored_at &&
	       --shim.ignored_at == 0;
}

/* __wrap_NAME: fail with @failed on its turn, else call through. */
#define WRAP(type, name, failed, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return strikes(#name) ? (failed) : __real_##name arguments; \
	}

WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, fchown, -1, (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAP(void *, fdopendir, NULL, (int fd), (fd))
WRAP(ssize_t, fgetxattr, -1, (int fd, const char *name, void *value, size_t n),
     (fd, name, value, n))
WRAP(int, flock, -1, (int fd, int how), (fd, how))
WRAP(int, fremovexattr, -1, (int fd, const char *name), (fd, name))
WRAP(int, fstatat64, -1, (int fd, const char *path, void *st, int flags), (fd, path, st, flags))
WRAP(ssize_t, getrandom, -1, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
WRAP(off_t, lseek64, -1, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(int, madvise, -1, (void *p, size_t n, int advice), (p, n, advice))
WRAP(int, mprotect, -1, (void *p, size_t n, int protection), (p, n, protection))
WRAP(ssize_t, readlink, -1, (const char *path, char *buffer, size_t n), (path, buffer, n))
WRAP(int, renameat, -1, (int a, const char *from, int b, const char *to), (a, from, b, to))

WRAP(int, stat64, -1, (const char *path, void *st), (path, st))
WRAP(int, eventfd, -1, (unsigned value, int flags), (value, flags))
WRAP(int, pthread_create, shim.error,
     (pthread_t *out, const pthread_attr_t *a, void *(*start)(void *), void *argument),
     (out, a, start, argument))

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
	if (ignored("fsync"))
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
	if (ignored("msync"))
		return 0;
	int answer = __real_msync(p, n, flags);
	if (answer == 0)
		shim_done(&call);
	return answer;
}

int __real_usleep(unsigned microseconds);
int __wrap_usleep(unsigned microseconds);
int __wrap_usleep(unsigned microseconds)
{
	return shim.no_waiting ? 0 : __real_usleep(microseconds);
}

/* What only asks whether a link could be made has a name of its own. */
int __real_linkat(int a, const char *from, int b, const char *to, int flags);
int __wrap_linkat(int a, const char *from, int b, const char *to, int flags);
int __wrap_linkat(int a, const char *from, int b, const char *to, int flags)
{
	return strikes(strcmp(to, ".") ? "linkat" : "linkat .") ? -1 :
	       __real_linkat(a, from, b, to, flags);
}

/* Locks alone: of the calls that take a structure, the library makes no others. */
int __real_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...)
{
	va_list more;
	va_start(more, what);
	void *argument = va_arg(more, void *);
	va_end(more);
	return strikes("fcntl") ? -1 : __real_fcntl64(fd, what, argument);
}

void *__real_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at);
void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at);
void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
	void *got = strikes("mmap64") ? MAP_FAILED :
	                                __real_mmap64(p, n, protection, flags, fd, at);
	shim.mapped += shim.armed && got != MAP_FAILED ? (long)n : 0;
	return got;
}

/* A part of a mapping too. */
int __real_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n)
{
	if (shim.die)
		(void)strikes("munmap");
	shim.mapped -= shim.armed ? (long)n : 0;
	return __real_munmap(p, n);
}

#define WRAP_KILL(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		if (shim.die) \
			(void)strikes(#name); \
		return __real_##name arguments; \
	}

WRAP_KILL(int, close, (int fd), (fd))
WRAP_KILL(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))

/* Every other call is interrupted, the rest move at most 1000 bytes. */
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
	return strikes("pread") ? -1 : __real_pread64(fd, bytes, n, at);
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

/* What a fortified build calls in their place. */
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

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	void *p = strikes("malloc") ? NULL : __real_malloc(n);
	shim.allocated += shim.armed && p;
	return p;
}

void *__real_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each)
{
	void *p = strikes("calloc") ? NULL : __real_calloc(n, each);
	shim.allocated += shim.armed && p;
	return p;
}

/* Not counted: a follower's thread calls them at any time. */
int __real_inotify_init1(int flags);
int __wrap_inotify_init1(int flags);
int __wrap_inotify_init1(int flags)
{
	if (!shim.no_inotify)
		return __real_inotify_init1(flags);
	errno = EMFILE;
	return -1;
}

int __real_inotify_add_watch(int fd, const char *path, unsigned mask);
int __wrap_inotify_add_watch(int fd, const char *path, unsigned mask);
int __wrap_inotify_add_watch(int fd, const char *path, unsigned mask)
{
	if (!shim.no_watch)
		return __real_inotify_add_watch(fd, path, mask);
	errno = ENOSPC;
	return -1;
}

int __real_posix_memalign(void **out, size_t align, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n)
{
	int error = strikes("posix_memalign") ? ENOMEM : __real_posix_memalign(out, align, n);
	shim.allocated += shim.armed && !error;
	return error;
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	shim.allocated -= shim.armed && p;
	__real_free(p);
}
