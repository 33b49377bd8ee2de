/* SPDX-License-Identifier: MIT
 * The build of the library for det includes this header before all others (-include). The header
 * gives the declared libc functions the symbols of det_libc.c. The symbol of a first declaration
 * holds for the whole file, so the sources need no change. */
#ifndef WEIR_TESTS_SCHEDULE_DET_REDIRECT_H
#define WEIR_TESTS_SCHEDULE_DET_REDIRECT_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

struct timespec;
extern void *malloc(size_t bytes) __asm__("det_libc_malloc");
extern void *calloc(size_t n, size_t bytes) __asm__("det_libc_calloc");
extern int posix_memalign(void **out, size_t alignment,
                          size_t bytes) __asm__("det_libc_posix_memalign");
extern void free(void *block) __asm__("det_libc_free");
extern int munmap(void *at, size_t bytes) __asm__("det_libc_munmap");
extern void *memset(void *to, int byte, size_t bytes) __asm__("det_libc_memset");
extern void *memcpy(void *to, const void *from, size_t bytes) __asm__("det_libc_memcpy");
extern void *memmove(void *to, const void *from, size_t bytes) __asm__("det_libc_memmove");
extern int sched_yield(void) __asm__("det_libc_sched_yield");
extern int pthread_mutex_lock(pthread_mutex_t *mutex) __asm__("det_libc_mutex_lock");
extern int pthread_mutex_unlock(pthread_mutex_t *mutex) __asm__("det_libc_mutex_unlock");
extern long syscall(long number, ...) __asm__("det_libc_syscall");
extern int clock_gettime(clockid_t clock, struct timespec *t) __asm__("det_libc_clock_gettime");
extern int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left) __asm__("det_libc_clock_nanosleep");

/* With 64-bit offsets, libc's own declaration gives mmap() a symbol, and clang rejects a second
 * symbol. */
extern void *det_libc_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
#define mmap(...) det_libc_mmap(__VA_ARGS__)

#endif
