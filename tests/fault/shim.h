/* SPDX-License-Identifier: MIT
 * Between weir and the C library (ld --wrap on the static library): the n-th call fails, or the
 * process dies there, or every transfer is short and interrupted; all calls of one name are
 * refused; a test looks on. Counts what is allocated or mapped and not given back. */
#ifndef WEIR_TESTS_FAULT_SHIM_H
#define WEIR_TESTS_FAULT_SHIM_H

#include <stdbool.h>
#include <stddef.h>

/* A call to the system, or (shim_steps.c) a step of the library. */
struct shim_call {
	const char *what;
	int fd;         /* fsync: of what */
	const void *at; /* msync: from where, */
	size_t n;       /* and how many bytes */
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
	bool no_inotify;  /* the limit of inotify instances is reached, armed or not */
	bool no_watch;    /* the limit of watches, likewise */
	bool same_times;  /* every file has the same times, likewise */
	bool no_waiting;  /* usleep returns at once */
	const char *refused;  /* every call of this name fails (a sandbox), armed or not */
	const char *refused2; /* and of this one */
	int refused_error;    /* with this errno */
	/* Sees every call before it is made, and fsync and msync again when they are done. What it
	 * calls itself it does not see. */
	void (*look)(const struct shim_call *call);
	/* A follower waits for so many milliseconds, on its thread; true: that is over at once. */
	bool (*wait)(int milliseconds);
	void (*watch)(const char *folder); /* is about to be watched, on the follower's thread */
	const char *ignored;  /* calls of this name are not made and answer 0, */
	unsigned ignored_at;  /* this one of them, from 1; 0: none */
	_Atomic unsigned calls; /* so far, by every thread */
	const char *what;       /* the call that failed */
	_Atomic long allocated; /* by weir and not freed yet */
	_Atomic long mapped;    /* bytes, likewise */
};

extern struct shim shim;

/* Is it this call's turn to fail? Then errno is set, or the process dies. */
bool shim_strikes(const struct shim_call *call);
/* The call has succeeded: look at it again. */
void shim_done(struct shim_call *call);
/* A disk that does not do what it is asked to: is it this call's turn? */
bool shim_ignored(const char *what);

#endif
