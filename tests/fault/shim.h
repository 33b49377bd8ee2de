/* SPDX-License-Identifier: MIT
 * Stands between weir and the C library (ld --wrap on the static library). It can fail the n-th
 * call, kill the process there, make every transfer short and interrupted, refuse all calls of one
 * name, or show the calls to a test. It counts what is allocated or mapped and not given back. */
#ifndef WEIR_TESTS_FAULT_SHIM_H
#define WEIR_TESTS_FAULT_SHIM_H

#include <stdbool.h>
#include <stddef.h>

/* A call to the system, or (shim_steps.c) a step of the library. */
struct shim_call {
	const char *what;
	int fd;         /* fsync: of this file */
	const void *at; /* msync: from here, */
	size_t n;       /* this many bytes */
	bool done;      /* it has succeeded; else it is about to be made */
};

struct shim {
	bool armed;
	unsigned at;      /* the call that fails, from 1; 0: none */
	int error;        /* the errno it fails with */
	bool die;         /* SIGKILL before that call instead */
	bool trickle;     /* read and write move a few bytes, every other call is interrupted */
	bool no_tmpfile;  /* a file system without O_TMPFILE */
	bool no_reserve;  /* a file system without fallocate */
	bool no_inotify;  /* the limit of inotify instances is reached, even if not armed */
	bool no_watch;    /* the limit of watches is reached, even if not armed */
	bool same_times;  /* every file has the same times, even if not armed */
	bool no_waiting;  /* usleep returns at once */
	const char *refused;  /* every call of this name fails (a sandbox), even if not armed */
	const char *refused2; /* and of this one */
	int refused_error;    /* with this errno */
	/* Called before each wrapped call, and also after an fsync or msync that succeeded. It sees
	 * close, unlinkat and munmap only if die is set, and none of the calls that it makes. */
	void (*look)(const struct shim_call *call);
	/* A follower's wait of this many ms, on its own thread; true ends it at once. */
	bool (*wait)(int milliseconds);
	void (*watch)(const char *folder); /* the follower is about to watch it; on its thread */
	const char *ignored;  /* calls of this name are skipped and answer 0, */
	unsigned ignored_at;  /* but only this one, from 1; 0: none */
	_Atomic unsigned calls; /* so far, by every thread */
	const char *what;       /* the call that failed */
	_Atomic long allocated; /* blocks allocated by weir and not freed yet */
	_Atomic long mapped;    /* bytes mapped and not unmapped yet */
};

extern struct shim shim;

/* Does this call fail? Then errno is set. The process may die here instead. */
bool shim_strikes(const struct shim_call *call);
/* The call has succeeded: look at it again. */
void shim_done(struct shim_call *call);
/* Simulates a disk that ignores a request: is this call ignored? */
bool shim_ignored(const char *what);

#endif
