/* SPDX-License-Identifier: MIT
 * Between weir and the C library (ld --wrap on the static library): the n-th call fails, or the
 * process dies there, or every transfer is short and interrupted. Counts what is allocated or
 * mapped and not given back. */
#ifndef WEIR_TESTS_FAULT_SHIM_H
#define WEIR_TESTS_FAULT_SHIM_H

#include <stdbool.h>

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
	unsigned calls;   /* so far */
	const char *what; /* the call that failed */
	long allocated;   /* by weir and not freed yet */
	long mapped;      /* bytes, likewise */
};

extern struct shim shim;

#endif
