/* SPDX-License-Identifier: MIT
 * The shim stands between weir and the C library (ld --wrap on the static library). It can fail the
 * n-th call, kill the process before that call, shorten and interrupt transfers, refuse all calls
 * of a name, or show the calls to a test. It counts memory that is not released. */
#ifndef WEIR_TESTS_FAULT_SHIM_H
#define WEIR_TESTS_FAULT_SHIM_H

#include <stdbool.h>
#include <stddef.h>

/* A system call, or a step inside the library (shim_steps.c). */
struct shim_call {
	const char *what;
	int fd;         /* for fsync: the file */
	const void *at; /* for msync: the first byte */
	size_t n;       /* for msync: the number of bytes */
	bool done;      /* true: the call has succeeded; false: the call is about to be made */
};

struct shim {
	bool armed;
	unsigned at;      /* number of the call that fails, from 1; 0: no call fails */
	int error;        /* the errno of the failing call */
	bool die;         /* call @at does not fail: the process is killed before it */
	bool trickle;     /* every other read or write is interrupted, and the rest are short */
	bool no_tmpfile;  /* a file system without O_TMPFILE */
	bool no_reserve;  /* a file system without fallocate */
	bool no_inotify;  /* inotify_init1 fails, as at its limit, even if armed is false */
	bool no_watch;    /* inotify_add_watch fails, as at its limit, even if armed is false */
	bool same_times;  /* fstat() shows the same times for every file, even if armed is false */
	bool no_waiting;  /* usleep returns at once */
	const char *refused;  /* calls of this name fail, as in a sandbox, even if armed is false */
	const char *refused2; /* a second name whose calls fail in the same way */
	int refused_error;    /* the errno of refused calls */
	/* Called before each wrapped call, and again after a successful fsync or msync. Two sorts
	 * of calls are left out: the calls that look() makes and, unless die is set, close,
	 * unlinkat and munmap. */
	void (*look)(const struct shim_call *call);
	/* Called on a follower's thread before a wait of @milliseconds. If the function returns
	 * true, the shim skips the wait. */
	bool (*wait)(int milliseconds);
	void (*watch)(const char *folder); /* called on a follower's thread before a watch */
	const char *ignored;  /* one call of this name is skipped and returns 0 */
	unsigned ignored_at;  /* number of the skipped call, from 1; 0: none */
	_Atomic unsigned calls; /* number of calls so far, on all threads */
	const char *what;       /* name of the call that has failed; NULL: no call has failed */
	_Atomic long allocated; /* blocks allocated by weir and not freed yet */
	_Atomic long mapped;    /* bytes mapped and not unmapped yet */
};

extern struct shim shim;

/* Return: true if this call must fail, with errno set. The process may be killed here instead. */
bool shim_strikes(const struct shim_call *call);
/* Show the test a call that has succeeded. */
void shim_done(struct shim_call *call);
/* Return: true if this call must be skipped, as on a disk that ignores a request. */
bool shim_ignored(const char *what);

#endif
