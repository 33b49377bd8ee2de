/* SPDX-License-Identifier: MIT
 * An example: a server that asks a set before it asks its store. Each worker thread has an epoll.
 * The server appends each new key to a file, the record. A job builds the image from the record,
 * and the server follows the image. Until the job's first run, every answer is "maybe".
 *
 *     epoll IMAGE RECORD [PORT]        listens on 127.0.0.1; SIGTERM ends it
 *
 *     ? KEY     answers "no", or "maybe" if the client must ask the store
 *     + KEY     adds a key that the application has made; answers "new" or "seen"
 *     stats     answers with a name and a value in each line, and an empty line at the end
 *
 * The job runs once a minute, as the user of the server, from a file in /etc/cron.d. weir replaces
 * the file by renaming, and keeps the old file if anything fails; cron mails the output. Each run
 * keeps the seed of the last image, and -n keeps the size, because refresh.carry below needs both.
 *
 *     PATH=/usr/local/bin:/usr/bin:/bin
 *     * * * * *  app  weir build -q -n 1M -p 0.001 -o /var/lib/app/set.weir /var/lib/app/record
 */
#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <weir/weir.h>
#include "lines.h"

enum { WORKERS = 2, EVENTS = 64 };

static struct weir_handle *set; /* created at the start, used by every thread */
static int record = -1;         /* descriptor of the file of all keys; append-only */
static int listener, stopping;  /* stopping: an eventfd that signals the end */

struct connection {
	int s;
	struct lines lines;
};

/* Write the record first, then the set. A job that reads the record after the write finds the
 * key there. If the job read the record earlier, the reload carries the key over from the set. */
static const char *add(const char *key, size_t len)
{
	char line[4096];
	if (len >= sizeof line)
		return "error: the key is too long\n";
	memcpy(line, key, len); /* any bytes */
	line[len] = '\n';
	if (write(record, line, len + 1) != (ssize_t)len + 1)
		return "error: the record cannot be written\n";
	int inserted = weir_handle_insert(set, key, len);
	return inserted < 0 ? "error: the set takes no keys\n" :
	       inserted == WEIR_NEW ? "new\n" : "seen\n";
}

static void statistics(int s)
{
	struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	char text[512];
	if (weir_handle_measure(set, &now, &filter) < 0) {
		reply(s, "error: no statistics\n\n");
		return;
	}
	snprintf(text, sizeof text,
	         "generation %llu\nage_seconds %.1f\nkeys %.0f\ncapacity %llu\nrate %.6f\n"
	         "saturated %d\nswaps %llu\nrefused %llu\nbytes %llu\n\n",
	         (unsigned long long)now.generation, now.age, filter.keys_estimated,
	         (unsigned long long)filter.capacity, filter.fp_rate_estimated,
	         filter.saturated, (unsigned long long)now.swaps,
	         (unsigned long long)now.refused, (unsigned long long)now.bytes);
	reply(s, text);
}

static void answer(void *context, char *line, size_t len)
{
	struct connection *c = context;
	if (len > 2 && !memcmp(line, "? ", 2))
		reply(c->s, weir_handle_contains(set, line + 2, len - 2) ? "maybe\n" : "no\n");
	else if (len > 2 && !memcmp(line, "+ ", 2))
		reply(c->s, add(line + 2, len - 2));
	else if (!strcmp(line, "stats"))
		statistics(c->s);
	else
		reply(c->s, "error: ? KEY, + KEY or stats\n");
}

static void accept_one(int epoll)
{
	int s = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (s < 0)
		return; /* another worker accepted it, or the peer has gone */
	struct connection *c = calloc(1, sizeof *c);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	if (c && epoll_ctl(epoll, EPOLL_CTL_ADD, s, &event) == 0) {
		c->s = s;
		return;
	}
	free(c);
	close(s);
}

static void serve(struct connection *c)
{
	int more = read_lines(&c->lines, c->s, answer, c);
	if (more > 0 || (more < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	close(c->s); /* this also removes it from the epoll */
	free(c);
}

/* Each worker waits for connections and requests. The end of the process closes all connections. */
static void *work(void *unused)
{
	struct epoll_event events[EVENTS], event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	(void)unused;
	event.data.ptr = &listener;
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
		abort();
	event = (struct epoll_event){ .events = EPOLLIN, .data.ptr = &stopping };
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, stopping, &event) < 0)
		abort();
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			void *what = events[i].data.ptr;
			if (what == &stopping)
				return NULL;
			if (what == &listener)
				accept_one(epoll);
			else
				serve(what);
		}
	}
}

/* Log messages for the operator: each swap, and each file that is refused. */
static void report(void *context, int result, const char *sentence)
{
	(void)context;
	fprintf(stderr, "%s%s\n", result < 0 ? "the set stays as it is: " : "", sentence);
}

static int start(const char *image, struct weir_follower **follower)
{
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follow_options follow = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	options.flags = WEIR_HANDLE_ANY_SEED; /* accept any seed of the first file */
	options.absent = WEIR_ABSENT_YES;
	options.keep_inserts = 1 << 20;       /* bytes of keys inserted before the first load */
	int err = weir_handle_create(&set, NULL, &options);
	if (err < 0)
		return err;
	refresh.carry = true; /* keep keys inserted after the job read the record */
	follow.refresh = &refresh;
	follow.report = report;
	return weir_follower_start(follower, set, image, &follow);
}

int main(int argc, char **argv)
{
	unsigned short port = argc > 3 ? (unsigned short)atoi(argv[3]) : 0;
	struct weir_follower *follower;
	pthread_t workers[WORKERS];
	sigset_t end;
	int signal_number;
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: %s IMAGE RECORD [PORT]\n", argv[0]);
		return 2;
	}
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	pthread_sigmask(SIG_BLOCK, &end, NULL); /* blocked in all threads; main waits */
	record = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	listener = listen_on(&port, SOCK_NONBLOCK);
	stopping = eventfd(0, EFD_CLOEXEC);
	if (record < 0 || listener < 0 || stopping < 0) {
		perror(argv[0]);
		return 1;
	}
	if (start(argv[1], &follower) < 0) {
		fprintf(stderr, "%s: %s\n", argv[0], weir_error_detail());
		return 1;
	}
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, work, NULL) != 0)
			abort();
	printf("listening on %u\n", port);
	fflush(stdout);
	sigwait(&end, &signal_number);
	eventfd_write(stopping, 1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return weir_follower_stop(follower) < 0 || weir_handle_destroy(set) < 0;
}
