/* SPDX-License-Identifier: MIT
 * Statistics files. Each file has a thread that writes it.
 *
 *  [REPORT-LOCK]  Files, their parts and their intervals change only under the lock.
 *  [REPORT-TEXT]  A thread makes the text under the lock, so that the handles of the parts are
 *     valid. It writes the text without the lock, so a slow disk delays neither a reload of the
 *     configuration nor another file.
 *  [REPORT-LAST]  The last part to leave ends the file's thread, then frees the file. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "bind.h"
#include "report.h"

struct report_file {
	struct report_file *next;
	struct report_part *parts; /* newest first */
	char *path, *temporary;
	uint32_t seconds;
	bool due, stop;
	int failed; /* errno of the last write, already logged; 0: success */
	pthread_cond_t wake;
	pthread_t thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct report_file *files;

static int put(int fd, const char *text)
{
	for (size_t left = strlen(text); left;) {
		ssize_t n = write(fd, text, left);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

/* Write without a sync: after a power failure and a restart, named writes a new file at once.
 * Remove the temporary file first: a killed process may have left it, or root may own it, since
 * named starts as root. */
static int replace(const struct report_file *f, const char *text)
{
	unlink(f->temporary);
	int fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	int error = put(fd, text) < 0 ? errno : 0;
	if (close(fd) < 0 && !error)
		error = errno;
	if (!error && rename(f->temporary, f->path) < 0)
		error = errno;
	if (error)
		unlink(f->temporary);
	return error;
}

/* Call this with the lock held. The function unlocks while it writes, and returns with the lock. */
static void write_file(struct report_file *f)
{
	char *text = text_of(f->parts);
	pthread_mutex_unlock(&lock); /* [REPORT-TEXT] */
	int error = text ? replace(f, text) : ENOMEM;
	free(text);
	if (error && error != f->failed)
		LOG(ISC_LOG_ERROR, "%s: the statistics cannot be written: %s", f->path,
		    strerror(error));
	else if (!error && f->failed)
		LOG(ISC_LOG_INFO, "%s: the statistics are written again", f->path);
	f->failed = error;
	pthread_mutex_lock(&lock);
}

static void *writer(void *context)
{
	struct report_file *f = context;
	bool last;
	pthread_setname_np(pthread_self(), "weir-statistics");
	pthread_mutex_lock(&lock);
	do {
		struct timespec at;
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_sec += f->seconds;
		int result = 0;
		while (!f->due && !f->stop && result == 0)
			result = pthread_cond_timedwait(&f->wake, &lock, &at);
		f->due = false;
		last = f->stop;
		write_file(f);
	} while (!last);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void discard(struct report_file *f)
{
	pthread_cond_destroy(&f->wake);
	free(f->path);
	free(f->temporary);
	free(f);
}

/* The thread blocks all signals, so that it gets no signal for named. */
static int start(struct report_file *f)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&f->thread, NULL, writer, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static struct report_file *make(const char *path)
{
	struct report_file *f = calloc(1, sizeof *f);
	pthread_condattr_t clock;
	if (!f)
		return NULL;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&f->wake, &clock);
	pthread_condattr_destroy(&clock);
	f->path = strdup(path);
	if (!f->path || asprintf(&f->temporary, "%s.tmp", path) < 0) {
		f->temporary = NULL;
		discard(f);
		return NULL;
	}
	return f;
}

int report_join(struct report_part *part, const char *path, uint32_t seconds)
{
	int result = 0;
	pthread_mutex_lock(&lock);
	struct report_file *f = files;
	while (f && strcmp(f->path, path) != 0)
		f = f->next;
	bool made = !f;
	if (made && !(f = make(path))) {
		result = -ENOMEM;
		goto out;
	}
	part->next = f->parts;
	f->parts = part;
	f->seconds = seconds;
	f->due = true;
	if (made && (result = start(f)) < 0) {
		discard(f);
		goto out;
	}
	if (made) {
		f->next = files;
		files = f;
	}
	part->file = f;
	pthread_cond_signal(&f->wake);
out:
	pthread_mutex_unlock(&lock);
	return result;
}

void report_leave(struct report_part *part)
{
	struct report_file *f = part->file;
	if (!f)
		return;
	part->file = NULL;
	pthread_mutex_lock(&lock);
	bool last = f->parts == part && !part->next;
	if (last) { /* the part stays in the list, so that the thread writes it once more */
		struct report_file **at = &files;
		while (*at != f)
			at = &(*at)->next;
		*at = f->next;
		f->stop = true;
		pthread_cond_signal(&f->wake);
	} else {
		struct report_part **at = &f->parts;
		while (*at != part)
			at = &(*at)->next;
		*at = part->next;
	}
	pthread_mutex_unlock(&lock);
	if (last) {
		pthread_join(f->thread, NULL);
		discard(f);
	}
}
