/* SPDX-License-Identifier: MIT
 * Replaces the libc functions that the code under test calls (det_redirect.h). Memory comes from
 * det's heap, waits go to det's scheduler, and a copy counts as plain accesses to its bytes.
 * Outside of det_run() all calls go to libc. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "../futex_call.h"
#include "det_internal.h"

/* Only the linker knows these names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void *det_libc_malloc(size_t bytes)
{
	return det_running() ? det_allocate(bytes, 16) : malloc(bytes);
}

void *det_libc_calloc(size_t n, size_t bytes)
{
	return det_running() ? memset(det_allocate(n * bytes, 16), 0, n * bytes) : calloc(n, bytes);
}

int det_libc_posix_memalign(void **out, size_t alignment, size_t bytes)
{
	if (!det_running())
		return posix_memalign(out, alignment, bytes);
	*out = det_allocate(bytes, alignment);
	return 0;
}

void det_libc_free(void *block)
{
	if (det_running())
		det_free(block);
	else
		free(block);
}

/* Maps a file privately as a copy in det's heap. All other mappings are real. */
void *det_libc_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (!det_running() || fd < 0 || !(flags & MAP_PRIVATE))
		return mmap(at, bytes, protection, flags, fd, offset);
	void *copy = det_allocate(bytes, 4096);
	if (pread(fd, copy, bytes, offset) != (ssize_t)bytes)
		det_fail("a file of less than %zu bytes was mapped", bytes);
	return copy;
}

int det_libc_munmap(void *at, size_t bytes)
{
	if (!det_running() || !det_block_bytes(at))
		return munmap(at, bytes);
	det_free(at);
	return 0;
}

static void check_range(const void *address, size_t bytes, bool write)
{
	if (det_running() && !det_on_stack(address))
		det_plain_range(address, bytes, write);
}

void *det_libc_memset(void *to, int byte, size_t bytes)
{
	check_range(to, bytes, true);
	return memset(to, byte, bytes);
}

void *det_libc_memcpy(void *to, const void *from, size_t bytes)
{
	check_range(from, bytes, false);
	check_range(to, bytes, true);
	return memcpy(to, from, bytes);
}

void *det_libc_memmove(void *to, const void *from, size_t bytes)
{
	check_range(from, bytes, false);
	check_range(to, bytes, true);
	return memmove(to, from, bytes);
}

int det_libc_sched_yield(void)
{
	if (!det_running())
		return sched_yield();
	det_pause();
	return 0;
}

int det_libc_mutex_lock(pthread_mutex_t *mutex)
{
	if (!det_running())
		return pthread_mutex_lock(mutex);
	det_lock(mutex);
	return 0;
}

int det_libc_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!det_running())
		return pthread_mutex_unlock(mutex);
	det_unlock(mutex);
	return 0;
}

/* Each call advances the CPU clock by ten milliseconds, so that a loader with a pace always has a
 * reason to sleep. */
int det_libc_clock_gettime(clockid_t clock, struct timespec *t)
{
	static uint64_t calls;
	if (!det_running() || clock != CLOCK_THREAD_CPUTIME_ID)
		return clock_gettime(clock, t);
	calls++;
	*t = (struct timespec){ (time_t)(calls / 100), (long)(calls % 100 * 10000000) };
	return 0;
}

/* Sleeps as det_pause() does. A sleep in a read-side section of RCU is a failure. */
int det_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                             struct timespec *left)
{
	if (!det_running())
		return clock_nanosleep(clock, flags, until, left);
	for (enum det_flavor flavor = 0; flavor < DET_FLAVORS; flavor++)
		if (det_rcu_nesting(flavor))
			det_fail("a thread sleeps in a section");
	det_pause();
	return 0;
}

/* Supports futex(2) only. */
long det_libc_syscall(long number, ...)
{
	va_list more;
	va_start(more, number);
	struct futex_call call = futex_call_take(more);
	va_end(more);
	if (number != SYS_futex)
		det_fail("system call %ld, which det does not know", number);
	if (!det_running())
		return syscall(number, call.at, call.operation, call.value, NULL, NULL, 0);
	if (call.operation == FUTEX_WAKE_PRIVATE) {
		det_wake(call.at);
		return 0;
	}
	if (det_sleep(call.at, call.value))
		return 0;
	errno = EAGAIN;
	return -1;
}
