/* SPDX-License-Identifier: MIT
 * The wrapped calls that have to do with threads, waits and notifications. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include "shim_wrap.h"

WRAP(int, eventfd, -1, (unsigned value, int flags), (value, flags))
WRAP(int, pthread_create, shim.error,
     (pthread_t *out, const pthread_attr_t *a, void *(*start)(void *), void *argument),
     (out, a, start, argument))

int __real_usleep(unsigned microseconds);
int __wrap_usleep(unsigned microseconds);
int __wrap_usleep(unsigned microseconds)
{
	return shim.no_waiting ? 0 : __real_usleep(microseconds);
}

/* A poll of two descriptors is the wait of a follower, because no other code polls two. */
int __real_poll(struct pollfd *fds, nfds_t n, int milliseconds);
int __wrap_poll(struct pollfd *fds, nfds_t n, int milliseconds);
int __wrap_poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
	return n == 2 && shim.wait && shim.wait(milliseconds) ? 0 :
	                                                        __real_poll(fds, n, milliseconds);
}

/* The shim does not count inotify calls, because a follower's thread makes them at any time. */
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
	if (shim.watch)
		shim.watch(path);
	if (!shim.no_watch)
		return __real_inotify_add_watch(fd, path, mask);
	errno = ENOSPC;
	return -1;
}
