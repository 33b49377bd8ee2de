/* SPDX-License-Identifier: MIT
 * A follower is a thread of the library that watches an image file. When the file is replaced, the
 * thread replaces the handle's filter.
 *
 *     weir_follower_start(&follower, set, "blocked.weir", NULL)   once, after the last fork()
 *     weir_follower_stop(follower)                                before weir_handle_destroy()
 *
 * The thread checks the file by weir_handle_refresh(): at its start, every poll_seconds, and when
 * inotify reports that the file was replaced by a rename, written and closed, or removed. Only
 * polling finds some changes: on a file system without inotify (network), past the limits of
 * inotify, behind a symbolic link into another folder, or when a parent folder was replaced. If the
 * file's folder is removed and made again, the thread watches the new folder.
 *
 * The thread is named "weir-follow". It blocks every signal, has the default stack size, and is
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
	/* Options of each check, copied with their gate; NULL: the defaults. The gate's keys and
	 * context, and progress_arg, must live until the follower is stopped. */
	const struct weir_refresh_options *refresh;
	double poll_seconds; /* seconds between checks if inotify reports nothing: 0.001 to 86400;
	                        0: 1 */
	bool poll_only;      /* do not use inotify */
	/* Called on the follower's thread after a check that swapped (@result 1) or failed (a
	 * negative errno). @sentence is valid until the callback returns. After a swap @sentence
	 * warns if the set has over 1 % more keys than its capacity. A failure whose sentence
	 * equals that of the last check is not reported again. NULL: write a line to standard
	 * error (descriptor 2), "weir: /path: ...", when checks begin to fail, when the sentence
	 * changes, and when checks succeed again. At most ten lines come at once, and then one in
	 * five seconds. */
	void (*report)(void *context, int result, const char *sentence);
	void *context;       /* for report */
	bool quiet;          /* if report is NULL, write nothing to standard error. Set it in a
	                        program that closes descriptor 2 or uses it for something else */
};
#define WEIR_FOLLOW_OPTIONS_INIT WEIR__INIT(weir_follow_options)

/**
 * Start to follow a file. A check that fails (since a reload runs, no memory is left, or the file
 * is missing or marked live) is repeated after 50 ms, then each time after twice as long, up to
 * poll_seconds. A refused file is checked again only when it changes. If the refusal depends on the
 * current filter too (refresh.h), the file is also checked again when another filter is current.
 * @out: receives the follower; untouched on failure.
 * @path: copied. If it is relative, each check starts from the process's current folder. Replace
 *   the file by renaming, as weir_save() does.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if an argument is NULL or an option is out of its range; -ENOTSUP if the set is
 *   sharded; -EBUSY if the handle has a follower already; -ENOMEM; -EMFILE, -ENFILE if there is no
 *   descriptor for the stop signal; -EAGAIN if no thread can start. Errors of a check go to report,
 *   or to standard error; weir_handle_measure() counts refused files and has the last error.
 * Threads: any, one at a time. Other threads may reload, roll back and refresh between two checks.
 *   A child of fork() does not have the follower's thread. The child calls weir_follower_stop() and
 *   may then follow again. But if fork() came during a check that swaps, the child cannot refresh
 *   or reload its copy of the handle (-EBUSY). So a server should fork before it follows.
 * Progress: blocking (a thread's start).
 */
WEIR_API WEIR_MUST_CHECK int weir_follower_start(struct weir_follower **out, struct weir_handle *h,
                                         const char *path,
                                         const struct weir_follow_options *options);

/**
 * Stop following and free the follower. If a check still reads the file, counts its bits or merges
 * keys, the check gives up at once. This says nothing about the file, so it is not reported. Once a
 * check is past these steps, the call waits until the check and its grace period have ended.
 * @f: a follower; NULL is a no-op. In a child of fork() it is freed without waiting.
 * Return: 0 or a negative errno. After an error the follower still runs.
 * Errors: -EDEADLK inside a read-side section, or on the follower's own thread (report, the gate).
 * Threads: one. With qsbr the calling thread, if online, passes through a quiescent state.
 * Progress: blocking.  Cost: microseconds. If a check runs, the call also takes the time to read,
 *   count or merge 1 MiB, a tenth of a second if the check has a pace, the time of the gate's check
 *   and canaries, and one or two grace periods.
 */
WEIR_API int weir_follower_stop(struct weir_follower *f);

WEIR_END_DECLS

#endif
