/* SPDX-License-Identifier: MIT
 * A follower is a thread of the library that watches an image file: when the file is replaced, it
 * replaces the handle's filter.
 *
 *     weir_follower_start(&follower, set, "blocked.weir", NULL)   once, after the last fork()
 *     weir_follower_stop(follower)                                before weir_handle_destroy()
 *
 * The thread looks, that is, it calls weir_handle_refresh(). It does so at once, every
 * poll_seconds, and whenever inotify reports that a file was renamed to that name, written and
 * closed under it, or removed. Only polling finds some changes: on a file system without inotify
 * (network), past the limits of inotify, behind a symbolic link into another folder, or when a
 * parent folder was replaced. A folder that goes away and comes back is watched again.
 *
 * The thread is named "weir-follow". It blocks every signal, has the default size of stack, and is
 * registered with the handle's flavor of RCU. It calls report, the gate's check and the refresh
 * options' progress.
 */
#ifndef WEIR_FOLLOW_H
#define WEIR_FOLLOW_H

#include <weir/refresh.h>

WEIR_BEGIN_DECLS

struct weir_follower;

/** How to follow a file. Start from WEIR_FOLLOW_OPTIONS_INIT. */
struct weir_follow_options {
	size_t struct_size;  /* sizeof(struct weir_follow_options) */
	/* for each look; NULL: the defaults. Copied, and its gate too, but the keys and the context
	 * that the gate points to, and progress_arg, must live until weir_follower_stop(). */
	const struct weir_refresh_options *refresh;
	double poll_seconds; /* between looks without a notice: 0.001 to 86400; 0: 1 */
	bool poll_only;      /* without inotify */
	/* Called on the follower's thread after a look that swapped (@result 1) or failed (a
	 * negative errno). @sentence is valid until the callback returns; after a swap it says so
	 * if the set has over 1 % more keys than its capacity. A look that fails with the sentence
	 * of the look before is not reported again. NULL: write a line to standard error
	 * (descriptor 2), "weir: /path: ...", when looks begin to fail, when the sentence changes,
	 * and when looks no longer fail; after ten lines at once, one in five seconds. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;       /* for report */
	bool quiet;          /* no such lines: for a program that closes or uses descriptor 2 */
};
#define WEIR_FOLLOW_OPTIONS_INIT WEIR__INIT(weir_follow_options)

/**
 * Start to follow a file. A look that fails (a reload runs, no memory, no such file yet) is
 * repeated after 50 ms, then each time after twice as long, up to poll_seconds. So is one that
 * finds an image marked live. A file that was refused is checked again only when it changes, or, if
 * it was refused beside the current filter (refresh.h), when another filter is current.
 * @out: receives the follower; untouched on failure.
 * @path: copied. If it is relative, each look starts from the current folder of the process.
 *   Replace the file by renaming, as weir_save() does.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL, or an option is out of its range; -ENOTSUP the set is sharded; -EBUSY this
 *   handle has a follower already; -ENOMEM; -EMFILE, -ENFILE no descriptor for the stop signal;
 *   -EAGAIN no thread. Errors of a look go to report, or to standard error; weir_handle_measure()
 *   counts swaps and refusals, and has the last refusal's sentence.
 * Threads: any one. Other threads may reload, roll back and refresh between two looks.
 *   A child of fork() has no such thread. It calls weir_follower_stop() and may follow again. But
 *   if fork() came during a look that swaps, the child's copy of the handle stays -EBUSY. So a
 *   server forks first and follows then.
 * Progress: blocking (a thread's start).
 */
WEIR_API WEIR_MUST_CHECK int weir_follower_start(struct weir_follower **out, struct weir_handle *h,
                                         const char *path,
                                         const struct weir_follow_options *options);

/**
 * Stop following and free the follower. A look that still reads the file, counts its bits or
 * carries keys gives up, however long that would take: this is not a verdict on the file, and not
 * reported. A look that is past these steps is waited for, with the grace period it may need.
 * @f: a follower, or NULL for nothing. In a child of fork() it is freed without waiting.
 * Return: 0 or a negative errno, and the follower goes on.
 * Errors: -EDEADLK inside a read-side section, or on the follower's own thread (report, the gate).
 * Threads: one. With qsbr the calling thread, if online, passes through a quiescent state.
 * Progress: blocking.  Cost: microseconds; if a look is under way, the time to read, count or carry
 *   1 MiB, a tenth of a second of its pace, the time of the gate's check and canaries, and that of
 *   a grace period or two.
 */
WEIR_API int weir_follower_stop(struct weir_follower *f);

WEIR_END_DECLS

#endif
