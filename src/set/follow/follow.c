/* SPDX-License-Identifier: MIT
 * The thread that follows a file. It refreshes the handle, then waits for a notice, the time of the
 * next refresh, or the stop. */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/follow.h>
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "set/follow/follow.h"
#include "set/generation.h"
#include "set/reload/pace.h"
#include "set/reload/reload.h"

static const double first_retry = 0.05; /* seconds */

struct weir_follower {
	struct weir_handle *handle;
	struct weir_refresh_options refresh; /* refresh.gate, if set, points to the next field */
	struct weir_gate gate;
	weir_progress_fn *progress; /* the caller's function; may_go_on() calls it */
	void *progress_arg;
	struct weir_follow_options options;
	struct weir_notice notice;
	pid_t process; /* the process that started the thread */
	pthread_t thread;
	int stop;           /* eventfd: readable when the thread must end */
	bool was_stopped;   /* weir_follower_stop() stopped the last refresh */
	double delay;       /* seconds until the next refresh; a notice starts it earlier */
	double retry;       /* the last delay after a failure; 0 after a success */
	struct weir_announcer announcer;     /* used if the caller gave no report() */
	char reported[WEIR_SANITY_TEXT]; /* the last message of a failure; empty after a success */
	size_t length;      /* length of path */
	char path[];        /* the file's path, then the folder's path */
};

/* Report a success or a failure, but not a failure with the same message as the previous refresh.
 * If two files are refused for the same reason, both refusals are reported: soon after the first
 * refusal (first_retry), a refresh finds that file unchanged and returns 0, which empties
 * f->reported. */
static void report(struct weir_follower *f, int result, const char *sentence)
{
	if (result >= 0)
		f->reported[0] = 0;
	if (result == 0 || strcmp(f->reported, sentence) == 0)
		return;
	if (result < 0)
		snprintf(f->reported, sizeof f->reported, "%s", sentence);
	if (f->options.report)
		f->options.report(f->options.context, result, sentence);
}

static bool stopped(const struct weir_follower *f)
{
	struct pollfd fd = { .fd = f->stop, .events = POLLIN };
	return poll(&fd, 1, 0) > 0;
}

/* The progress function while a file is read, while its keys are counted, and while inserts are
 * carried over. After weir_follower_stop(), a call of this function ends the step, unless it is
 * the step's last call. So a step that makes only one call, for a small file, is completed. */
static int may_go_on(void *argument, uint64_t done, uint64_t total)
{
	struct weir_follower *f = argument;
	f->was_stopped = done < total && stopped(f);
	if (f->was_stopped)
		return 1;
	return f->progress ? f->progress(f->progress_arg, done, total) : 0;
}

static void refresh_once(struct weir_follower *f)
{
	char sentence[sizeof f->reported] = "";
	int result = weir_handle_refresh(f->handle, f->path, &f->refresh);
	if (f->was_stopped)
		return;
	if (result < 0) {
		/* copy the message, since the user's report() may change weir_error_detail() */
		snprintf(sentence, sizeof sentence, "%s", weir_error_detail());
		f->delay = f->retry = fmin(f->retry > 0 ? 2 * f->retry : first_retry,
		                           f->options.poll_seconds);
	} else {
		f->retry = 0;
		if (result > 0)
			weir__sanity_report(f->handle, f->path, sentence);
		f->delay = f->options.poll_seconds;
	}
	report(f, result, sentence);
	if (!f->options.report && !f->options.quiet)
		weir__announce(&f->announcer, f->path, result, sentence,
		               weir__refused_now(f->handle));
}

/* Return: false when the thread must end. */
static bool wait_for_more(struct weir_follower *f)
{
	double now = weir__seconds(), until = now + f->delay;
	do {
		struct pollfd fds[] = { { .fd = f->stop, .events = POLLIN },
		                        { .fd = f->notice.fd, .events = POLLIN } };
		if (poll(fds, 2, (int)ceil((until - now) * 1e3)) <= 0)
			/* the next refresh is due, or poll() failed for lack of memory */
			return true;
		if (fds[0].revents)
			return false;
		if (weir__notice_read(&f->notice))
			return true;
		now = weir__seconds();
	} while (now < until);
	return true;
}

/* With qsbr a grace period cannot end while an online thread waits, so this thread goes offline to
 * wait. With other flavors, going offline and going online are no-ops. */
static void *follow(void *argument)
{
	struct weir_follower *f = argument;
	const struct rcu_flavor_struct *flavor = f->handle->rcu.flavor;
	bool goes_on;
	pthread_setname_np(pthread_self(), "weir-follow");
	flavor->register_thread();
	do {
		if (!f->options.poll_only)
			/* before the refresh, so that no later change is missed */
			weir__notice_renew(&f->notice);
		refresh_once(f);
		flavor->thread_offline();
		goes_on = wait_for_more(f);
		flavor->thread_online();
	} while (goes_on);
	flavor->unregister_thread();
	return NULL;
}

/* Use the default stack size, since the stack also holds the program's thread-local variables. */
static int start_thread(struct weir_follower *f)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&f->thread, NULL, follow, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void free_follower(struct weir_follower *f)
{
	weir__flag_release(&f->handle->followed); /* after this store the handle may be freed */
	weir__notice_close(&f->notice);
	if (f->stop >= 0)
		close(f->stop);
	free(f);
}

/* Split the path into folder and name: "set.weir" is in ".", "/set.weir" in "/". */
static void split_path(struct weir_follower *f)
{
	const char *slash = strrchr(f->path, '/');
	char *folder = f->path + f->length + 1;
	size_t n = slash ? (size_t)(slash - f->path) : 0;
	memcpy(folder, n ? f->path : slash ? "/" : ".", n ? n : 1);
	f->notice = weir__notice(folder, slash ? slash + 1 : f->path,
	                         f->refresh.deltas ? WEIR__DELTA_MARK : NULL);
}

static int begin(struct weir_follower *f)
{
	split_path(f);
	f->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->stop < 0)
		return weir__fail(-errno, "%s: no eventfd to stop its follower: %s", f->path,
		                  weir_strerror(errno));
	f->delay = f->options.poll_seconds;
	f->process = getpid();
	int error = start_thread(f);
	return error ? weir__fail(-error, "%s: no thread to follow it: %s", f->path,
	                          weir_strerror(error)) :
	               0;
}

/* Copy the options over the defaults and check them. */
static int read_options(struct weir_follow_options *out, struct weir_refresh_options *refresh,
                        struct weir_gate *gate, const struct weir_follow_options *options)
{
	int err = weir__options_copy(out, sizeof *out, options, "weir_follow_options");
	if (!err)
		err = weir__options_copy(refresh, sizeof *refresh, out->refresh,
		                         "weir_refresh_options");
	if (!err)
		err = weir__pace_check(refresh->pace);
	if (!err)
		err = weir__gate_take(gate, &refresh->gate);
	if (!err && out->poll_seconds == 0)
		out->poll_seconds = 1;
	if (!err && !(out->poll_seconds >= 0.001 && out->poll_seconds <= 86400))
		err = weir__fail(-EINVAL, "poll_seconds %g: allowed: 0.001 to 86400, or 0",
		                 out->poll_seconds);
	/* the copy is complete: fields that an older header lacks have their defaults */
	refresh->struct_size = sizeof *refresh;
	out->refresh = NULL; /* @refresh has the copy */
	return err;
}

/* Allocate a follower and do not start it. Return: NULL if there is no memory. */
static struct weir_follower *make(struct weir_handle *h, const char *path,
                                  const struct weir_follow_options *options,
                                  const struct weir_refresh_options *refresh)
{
	size_t length = strlen(path);
	struct weir_follower *f = calloc(1, sizeof *f + 2 * length + 3);
	if (!f)
		return NULL;
	*f = (struct weir_follower){
		.handle = h,
		.refresh = *refresh,
		.progress = refresh->progress,
		.progress_arg = refresh->progress_arg,
		.options = *options,
		.length = length
	};
	if (refresh->gate) {
		f->gate = *refresh->gate;
		f->refresh.gate = &f->gate;
	}
	f->refresh.progress = may_go_on;
	f->refresh.progress_arg = f;
	memcpy(f->path, path, length + 1);
	return f;
}

int weir_follower_start(struct weir_follower **out, struct weir_handle *h, const char *path,
                        const struct weir_follow_options *options)
{
	WEIR__UNCANCELLED;
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_gate gate;
	if (!out || !h || !path)
		return weir__fail(-EINVAL, "%s is NULL: weir_follower_start needs it",
		                  !out ? "out" :
		                  !h   ? "the handle" :
		                         "path");
	int err = weir__one_filter_check(h, "weir_follower_start");
	if (!err)
		err = read_options(&o, &refresh, &gate, options);
	if (err)
		return err;
	if (!weir__flag_claim_acquire(&h->followed))
		return weir__fail(-EBUSY, "%s: a follower of this handle runs already", path);
	struct weir_follower *f = make(h, path, &o, &refresh);
	if (!f) {
		weir__flag_release(&h->followed);
		return weir__fail(-ENOMEM, "%s: no memory to follow it", path);
	}
	err = begin(f);
	if (err)
		free_follower(f);
	else
		*out = f;
	return err;
}

/* Stop the thread and join it. The thread may be waiting for a grace period. With qsbr a grace
 * period cannot end while the caller is online, so the caller goes offline for the join. */
static void end_thread(struct weir_follower *f)
{
	const struct rcu_flavor_struct *flavor = f->handle->rcu.flavor;
	bool online = flavor->read_ongoing();
	(void)!write(f->stop, &(uint64_t){ 1 }, sizeof(uint64_t));
	if (online)
		flavor->thread_offline();
	pthread_join(f->thread, NULL);
	if (online)
		flavor->thread_online();
}

int weir_follower_stop(struct weir_follower *f)
{
	WEIR__UNCANCELLED;
	if (!f)
		return 0;
	if (f->process == getpid()) {
		if (weir__in_section(&f->handle->rcu))
			return weir__fail(-EDEADLK, "weir_follower_stop inside a read-side "
			                            "section: it would wait for its own caller");
		if (pthread_equal(f->thread, pthread_self()))
			return weir__fail(-EDEADLK, "weir_follower_stop on the follower's own "
			                            "thread: it would wait for itself");
		end_thread(f);
	}
	free_follower(f);
	return 0;
}

/* A follower's lines on standard error. Each line is one write(), so that lines of several threads
 * do not mix. Each line is escaped, since a stranger may have chosen the file's name. */

/* Write a line. Put the path in front of it if the message does not begin with the path. */
static void write_line(const char *path, const char *sentence, unsigned long held_back)
{
	char shown[WEIR_SENTENCE_BYTES], plain[3 * WEIR_SENTENCE_BYTES], line[sizeof plain];
	char others[64] = "";
	weir_escape(shown, sizeof shown, path, strlen(path));
	size_t n = strlen(shown);
	bool begins = strncmp(sentence, path, strlen(path)) == 0 || !strncmp(sentence, shown, n);
	if (held_back)
		snprintf(others, sizeof others, " (%lu lines before it were held back)", held_back);
	snprintf(plain, sizeof plain, "weir: %s%s%s%s", begins ? "" : shown, begins ? "" : ": ",
	         sentence, others);
	weir_escape(line, sizeof line - 1, plain, strlen(plain));
	n = strlen(line);
	line[n] = '\n';
	(void)!write(STDERR_FILENO, line, n + 1);
}

/* Return: true if standard error takes a write. A full pipe must not block the follower. */
static bool can_write(void)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };
	return poll(&log, 1, 0) > 0;
}

static bool may_write(struct weir_announcer *a)
{
	double now = weir__seconds(), passed = a->when > 0 ? now - a->when : INFINITY;
	a->lines = fmin(a->lines + passed / WEIR__LINE_EVERY, WEIR__LINES_AT_ONCE);
	a->when = now;
	if (a->lines < 1 || !can_write())
		return false;
	a->lines -= 1;
	return true;
}

void weir__announce(struct weir_announcer *a, const char *path, int result, const char *sentence,
                    bool refused)
{
	if (result < 0)
		snprintf(a->reason, sizeof a->reason, "%s", sentence);
	else if (!refused)
		a->reason[0] = '\0';
	if (strcmp(a->reason, a->written) == 0)
		return;
	if (!may_write(a)) {
		a->held_back += result != 0;
		return;
	}
	memcpy(a->written, a->reason, sizeof a->reason);
	write_line(path, *a->reason   ? a->reason :
	                 result > 0   ? sentence :
	                                "is as it was taken over: no longer refused", a->held_back);
	a->held_back = 0;
}
