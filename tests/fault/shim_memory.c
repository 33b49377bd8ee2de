/* SPDX-License-Identifier: MIT
 * The wrapped calls that have to do with memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "shim_wrap.h"

WRAP(int, madvise, -1, (void *p, size_t n, int advice), (p, n, advice))
WRAP(int, mprotect, -1, (void *p, size_t n, int protection), (p, n, protection))

void *__real_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at);
void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at);
void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
	void *got = strikes("mmap64") ? MAP_FAILED :
	                                __real_mmap64(p, n, protection, flags, fd, at);
	shim.mapped += shim.armed && got != MAP_FAILED ? (long)n : 0;
	return got;
}

/* munmap() may unmap a part of a mapping, so the shim counts bytes, not mappings. */
int __real_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n)
{
	if (shim.die)
		(void)strikes("munmap");
	shim.mapped -= shim.armed ? (long)n : 0;
	return __real_munmap(p, n);
}

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

void *__real_realloc(void *old, size_t n);
void *__wrap_realloc(void *old, size_t n);
void *__wrap_realloc(void *old, size_t n)
{
	void *p = strikes("realloc") ? NULL : __real_realloc(old, n);
	shim.allocated += shim.armed && p && !old;
	return p;
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
