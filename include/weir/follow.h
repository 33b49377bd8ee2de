/* SPDX-License-Identifier: MIT
 * A thread of the library's that keeps a handle on an image file: whoever replaces the file
 * replaces the set.
 *
 *     weir_follow(&follower, set, "/var/lib/app/blocked.weir", NULL)   once, after the last fork()
 *     weir_follow_stop(follower)                                 before weir_handle_destroy()
 *
 * It calls weir_handle_refresh_with() at once, then whenever inotify tells that a file was renamed
 * to that name, written and closed there, or removed, and every poll_seconds in any case. Polling
 * alone notices what inotify cannot: a file system without it (network), its limits reached, a
 * symbolic link whose target is replaced in another folder, a parent folder that is another now. A
 * folder that goes away and comes back is watched again.
 *
 * The thread is called "weir-follow", has every signal blocked and 512 KiB of stack, and is
 * registered with the handle's flavor of RCU. report and the gate's check run on it.
 */
#ifndef WEIR_FOLLOW_H
#define WEIR_FOLLOW_H

#include <weir/refresh.h>

WEIR_BEGIN_DECLS

struct weir_follower;

/** Start from WEIR_FOLLOW_OPTIONS_INIT. */
struct weir_follow_options {
	size_t struct_size;                         /* sizeof(struct weir_follow_options) */
	/* of each look; copied; NULL: the defaults. What its gate points to must live until
	 * weir_follow_stop(). */
	const struct weir_refresh_options *refresh;
	/* between looks that nothing has asked for: 0.001 to 86400; 0: 1 */
	double poll_seconds;
	bool poll_only;                             /* without inotify */
	/* Called on the follower's thread after a look that swapped (@result 1) or failed (a
	 * negative errno): @sentence says what, and is the callback's until it returns. A look
	 * that fails again with the same sentence is not told again. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;
};
#define WEIR_FOLLOW_OPTIONS_INIT { sizeof(struct weir_follow_options), 0, 0.0, false, 0, 0 }

/**
 * Start following. What stops a look (a reload that runs, no memory, no such file yet) is tried
 * again after 50 ms, then after twice as long each time up to poll_seconds; a file that was refused
 * is looked at again when it is another.
 * @out: receives the follower; untouched on failure.
 * @path: copied. If it is relative, each look starts from the folder that the process is in then.
 *   The file is replaced by renaming, as weir_save() does.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL, or an option out of its range; -EBUSY a follower of this handle runs
 *   already; -ENOMEM; -EMFILE, -ENFILE no descriptor for the stop signal; -EAGAIN no thread. What a
 *   look answers goes to report; without one weir_handle_stats() counts swaps and refusals.
 * Threads: any one. Reloads, rollbacks and refreshes by others go on between two looks. After
 *   fork() the child has no such thread: it calls weir_follow_stop() and may follow again; if the
 *   fork came while the thread was swapping, the child's copy of the handle stays -EBUSY, which is
 *   why a server forks first and follows then.
 * Progress: blocking (a thread's start).
 */
WEIR_API WEIR_MUST_CHECK int weir_follow(struct weir_follower **out, struct weir_handle *h,
                                         const char *path,
                                         const struct weir_follow_options *options);

/**
 * Stop following and free the follower: a look that is under way is waited for, with the grace
 * period it may need.
 * @f: a follower, or NULL for nothing. In a child of fork() it is freed, and nothing is waited for.
 * Return: 0, or -EDEADLK (then it goes on): called inside a read-side section, or from report or
 *   the gate on the follower's own thread. With qsbr the calling thread, if online, passes through
 *   a quiescent state.
 * Threads: one.  Progress: blocking.  Cost: microseconds, unless a look is under way.
 */
WEIR_API int weir_follow_stop(struct weir_follower *f);

WEIR_END_DECLS

#endif
